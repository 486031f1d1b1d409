"""Sixteen float32 at a time: the operations on vectors that numba does not have.

The compiler vectorises a plain loop well only where it knows how long a row is and that arrays do not overlap. Here
the vectors are explicit: `load`, `multiply_add` and the others work on sixteen float32 at once, which is one register
with AVX-512, two with AVX and four with SSE or NEON. All sums have a fixed order, whatever the address in memory.

With ``NUMBA_DISABLE_JIT=1`` the same functions work on arrays of sixteen numbers.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTH = 16  # float32 in a vector
_FLOATS = ir.VectorType(ir.FloatType(), WIDTH)
_INTS = ir.VectorType(ir.IntType(32), WIDTH)


class _VectorType(types.Type):
    """Numba's type of sixteen float32 in registers; they live inside one compiled function only."""

    def __init__(self) -> None:
        super().__init__(name="float32x16")


_vector = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _FLOATS)


def _address(context, builder, array_type, array, row, column):
    """Address of ``array[row, column]`` of a matrix, by plain arithmetic: nothing is counted or checked."""
    matrix = context.make_array(array_type)(context, builder, array)
    index = builder.add(builder.mul(row, builder.extract_value(matrix.shape, 1)), column)
    return builder.gep(matrix.data, [index])


def _constant(number):
    return ir.Constant(_INTS, [number] * WIDTH)


def _all(builder, number, kind):
    """A vector whose sixteen numbers are all this one."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, _constant(0))


def _call(builder, name, result, *arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _prefetch(builder, address):
    how = [ir.Constant(ir.IntType(32), number) for number in (0, 3, 1)]  # to read, into all caches, data
    _call(builder, "llvm.prefetch.p0", ir.VoidType(), builder.bitcast(address, ir.IntType(8).as_pointer()), *how)


@intrinsic
def load(typingctx, matrix, row, column):
    """``matrix[row, column : column + 16]``."""

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(address, _FLOATS.as_pointer()), align=4)

    return _vector(matrix, types.intp, types.intp), codegen


@intrinsic
def store(typingctx, matrix, row, column, vector):
    """``matrix[row, column : column + 16] = vector``."""

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args[:3])
        builder.store(args[3], builder.bitcast(address, _FLOATS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp, _vector), codegen


def _whole_row(context, builder, matrix_type, matrix, row):
    """Address of a row of at most sixteen numbers as one of a vector, and which of its numbers the row has."""
    address = _address(context, builder, matrix_type, matrix, row, ir.Constant(ir.IntType(64), 0))
    width = builder.extract_value(context.make_array(matrix_type)(context, builder, matrix).shape, 1)
    lanes = ir.Constant(_INTS, list(range(WIDTH)))
    there = builder.icmp_signed("<", lanes, _all(builder, builder.trunc(width, ir.IntType(32)), _INTS))
    return [builder.bitcast(address, _FLOATS.as_pointer()), ir.Constant(ir.IntType(32), 4), there]


@intrinsic
def load_short(typingctx, matrix, row):
    """``matrix[row]`` of at most sixteen numbers, zeros after them."""

    def codegen(context, builder, signature, args):
        row = _whole_row(context, builder, signature.args[0], *args)
        return _call(builder, "llvm.masked.load.v16f32.p0", _FLOATS, *row, ir.Constant(_FLOATS, [0.0] * WIDTH))

    return _vector(matrix, types.intp), codegen


@intrinsic
def store_short(typingctx, matrix, row, vector):
    """``matrix[row] = vector`` for a row of at most sixteen numbers."""

    def codegen(context, builder, signature, args):
        row = _whole_row(context, builder, signature.args[0], *args[:2])
        _call(builder, "llvm.masked.store.v16f32.p0", ir.VoidType(), args[2], *row)
        return context.get_dummy_value()

    return types.void(matrix, types.intp, _vector), codegen


@intrinsic
def prefetch(typingctx, matrix, row, column):
    """Prefetch the cache line of ``matrix[row, column]``."""

    def codegen(context, builder, signature, args):
        _prefetch(builder, _address(context, builder, signature.args[0], *args))
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp), codegen


@intrinsic
def prefetch_item(typingctx, array, i):
    """Prefetch the cache line of ``array[i]``."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        _prefetch(builder, builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@intrinsic
def splat(typingctx, number):
    """The same number sixteen times."""

    def codegen(context, builder, signature, args):
        return _all(builder, args[0], _FLOATS)

    return _vector(types.float32), codegen


@intrinsic
def multiply_add(typingctx, a, b, c):
    """``a * b + c``."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.fmuladd.v16f32", _FLOATS, *args)

    return _vector(_vector, _vector, _vector), codegen


@intrinsic
def divide(typingctx, a, b):
    """``a / b``."""

    def codegen(context, builder, signature, args):
        return builder.fdiv(*args)

    return _vector(_vector, _vector), codegen


@intrinsic
def square_root(typingctx, vector):
    """The square root of each number."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.sqrt.v16f32", _FLOATS, *args)

    return _vector(_vector), codegen


@intrinsic
def larger(typingctx, a, b):
    """The larger of two numbers; where ``a`` is NaN, NaN."""

    def codegen(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", *args), args[1], args[0])

    return _vector(_vector, _vector), codegen


@intrinsic
def where_negative(typingctx, x, a, b):
    """``a`` where ``x`` is below zero, else ``b``."""

    def codegen(context, builder, signature, args):
        below = builder.fcmp_ordered("<", args[0], ir.Constant(_FLOATS, [0.0] * WIDTH))
        return builder.select(below, args[1], args[2])

    return _vector(_vector, _vector, _vector), codegen


@intrinsic
def power_of_two(typingctx, vector):
    """``2 ** n`` for ``n + 1.5 * 2**23``: the integer lies in the low bits, an exponent in the high ones."""

    def codegen(context, builder, signature, args):
        bits = builder.shl(builder.bitcast(args[0], _INTS), _constant(23))
        return builder.bitcast(builder.add(bits, _constant(127 << 23)), _FLOATS)

    return _vector(_vector), codegen


@intrinsic
def replace_last(typingctx, vector, n, number):
    """The vector with all but its first ``n`` numbers replaced by another."""

    def codegen(context, builder, signature, args):
        lanes = ir.Constant(_INTS, list(range(WIDTH)))
        keep = builder.icmp_signed("<", lanes, _all(builder, builder.trunc(args[1], ir.IntType(32)), _INTS))
        return builder.select(keep, args[0], _all(builder, args[2], _FLOATS))

    return _vector(_vector, types.intp, types.float32), codegen


@intrinsic
def zero_first(typingctx, vector, n):
    """The vector with its first ``n`` numbers set to zero."""

    def codegen(context, builder, signature, args):
        lanes = ir.Constant(_INTS, list(range(WIDTH)))
        keep = builder.icmp_signed(">=", lanes, _all(builder, builder.trunc(args[1], ir.IntType(32)), _INTS))
        return builder.select(keep, args[0], ir.Constant(_FLOATS, [0.0] * WIDTH))

    return _vector(_vector, types.intp), codegen


def _fold(operation):
    """Reduce a vector to one number: halves, quarters and so on, always in the same order."""

    @intrinsic
    def fold(typingctx, vector):
        def codegen(context, builder, signature, args):
            rest, half = args[0], WIDTH // 2
            while half:
                lanes = ir.Constant(_INTS, [(i + half) % WIDTH for i in range(WIDTH)])
                rest = getattr(builder, operation)(rest, builder.shuffle_vector(rest, rest, lanes))
                half //= 2
            return builder.extract_element(rest, ir.Constant(ir.IntType(32), 0))

        return types.float32(_vector), codegen

    return fold


@intrinsic
def store_totals(typingctx, matrix, row, column, a, b, c, d):
    """``matrix[row, column : column + 4] = total(a), total(b), total(c), total(d)``, at the cost of one or two."""

    def codegen(context, builder, signature, args):
        def pick(x, y, lanes):
            return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes))

        def halves(x, y, width):
            """Both vectors side by side, each group of lanes folded to half its width; as `total` folds."""
            groups = [range(start, start + width) for start in range(0, 2 * WIDTH, width)]
            first = [lane for group in groups for lane in group[: width // 2]]
            second = [lane for group in groups for lane in group[width // 2 :]]
            return builder.fadd(pick(x, y, first), pick(x, y, second))

        vectors = args[3:]
        eights = halves(vectors[0], vectors[1], 16), halves(vectors[2], vectors[3], 16)
        fours = halves(*eights, 8)
        twos = builder.fadd(fours, pick(fours, fours, [lane ^ 2 for lane in range(WIDTH)]))
        ones = builder.fadd(twos, pick(twos, twos, [lane ^ 1 for lane in range(WIDTH)]))
        address = _address(context, builder, signature.args[0], *args[:3])
        totals = pick(ones, ones, [0, 4, 8, 12])
        builder.store(totals, builder.bitcast(address, totals.type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp, _vector, _vector, _vector, _vector), codegen


total = _fold("fadd")
product = _fold("fmul")

if config.DISABLE_JIT:  # the same, as plain Python

    def load(matrix, row, column):
        return matrix[row, column : column + WIDTH].copy()

    def store(matrix, row, column, vector):
        matrix[row, column : column + WIDTH] = vector

    def load_short(matrix, row):
        return np.pad(matrix[row], (0, WIDTH - matrix.shape[1]))

    def store_short(matrix, row, vector):
        matrix[row] = vector[: matrix.shape[1]]

    def prefetch(*address):
        pass

    prefetch_item = prefetch

    def splat(number):
        return np.full(WIDTH, number, np.float32)

    def multiply_add(a, b, c):
        return a * b + c

    def divide(a, b):
        return a / b

    square_root = np.sqrt

    def larger(a, b):
        return np.where(a < b, b, a)

    def where_negative(x, a, b):
        return np.where(x < 0, a, b)

    def power_of_two(vector):
        return ((vector.view(np.int32) << 23) + np.int32(127 << 23)).view(np.float32)

    def replace_last(vector, n, number):
        return np.where(np.arange(WIDTH) < n, vector, number)

    def zero_first(vector, n):
        return np.where(np.arange(WIDTH) < n, np.float32(0.0), vector)

    def store_totals(matrix, row, column, *vectors):
        matrix[row, column : column + 4] = [vector.sum() for vector in vectors]

    total, product = np.sum, np.prod
