"""Operations that numba does not have, written in LLVM's instructions: those on sixteen float32 at a time.

The compiler vectorises a plain loop well only where it knows how long a row is and that arrays do not overlap. Here
the vectors are explicit: `load`, `multiply_add` and the others work on sixteen float32 at once, which is one register
with AVX-512, two with AVX and four with SSE or NEON. All sums have a fixed order, which no address changes.

With ``NUMBA_DISABLE_JIT=1`` the same functions work on arrays of sixteen numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import models, register_model

if TYPE_CHECKING:
    from numba.core.cpu import CPUContext
    from numba.core.typing.context import BaseContext
    from numba.core.typing.templates import Signature

ARRAY = None  # as the type of an argument: any C-contiguous array


def intrinsic(
    result: types.Type, *arguments: types.Type | None, python: Callable[..., object]
) -> Callable[[Callable[..., ir.Value | None]], Callable[..., Any]]:
    """Return a decorator for a function that writes an operation, given numba's types of its result and arguments.

    The function receives LLVM's builder and a value for each argument: of an array the struct of pointer and shape.
    With ``NUMBA_DISABLE_JIT=1`` the operation is the function `python`.
    """

    def decorate(write: Callable[..., ir.Value | None]) -> Callable[..., Any]:
        def define(typingctx: BaseContext, *given: types.Type) -> tuple[Signature, Callable[..., ir.Value]]:
            def codegen(
                context: CPUContext, builder: ir.IRBuilder, signature: Signature, args: Sequence[ir.Value]
            ) -> ir.Value:
                values = [
                    context.make_array(kind)(context, builder, value) if argument is ARRAY else value
                    for argument, kind, value in zip(arguments, signature.args, args)
                ]
                written = write(builder, *values)
                return context.get_dummy_value() if result is types.void else written

            return result(*(argument or kind for argument, kind in zip(arguments, given))), codegen

        define.__name__, define.__doc__ = write.__name__, write.__doc__
        define.__signature__ = inspect.signature(write)  # type: ignore[attr-defined]
        return python if config.DISABLE_JIT else numba.extending.intrinsic(define)

    return decorate


def item_pointer(
    builder: ir.IRBuilder, array: cgutils.StructProxy, index: ir.Value, kind: ir.Type | None = None
) -> ir.Value:
    """Address of an item of an array, as a pointer to LLVM's type `kind` if that is given."""
    pointer = builder.gep(array.data, [index])
    return pointer if kind is None else builder.bitcast(pointer, kind.as_pointer())


def call(builder: ir.IRBuilder, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
    """Call an operation of LLVM."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def no_operation(*arguments: object) -> None:
    """Do nothing."""


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


def _address(builder, matrix, row, column):
    """Address of ``matrix[row, column]`` as a pointer to a vector, without reference counts and checks of bounds."""
    index = builder.add(builder.mul(row, builder.extract_value(matrix.shape, 1)), column)
    return item_pointer(builder, matrix, index, _FLOATS)


def _constant(number):
    return ir.Constant(_INTS, [number] * WIDTH)


_LANES = ir.Constant(_INTS, list(range(WIDTH)))
_ZEROS = ir.Constant(_FLOATS, [0.0] * WIDTH)


def _all(builder, number, kind):
    """A vector whose sixteen numbers are all this one."""
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, _constant(0))


def _is_among_first(builder, n):
    """Which of sixteen numbers are among the first ``n``."""
    return builder.icmp_signed("<", _LANES, _all(builder, builder.trunc(n, ir.IntType(32)), _INTS))


def _whole_row(builder, matrix, row):
    """Address of a row of at most sixteen numbers as a pointer to a vector, its alignment, a mask of its numbers."""
    address = _address(builder, matrix, row, ir.Constant(ir.IntType(64), 0))
    width = builder.extract_value(matrix.shape, 1)
    return address, ir.Constant(ir.IntType(32), 4), _is_among_first(builder, width)


def _store(matrix, row, column, vector):
    matrix[row, column : column + WIDTH] = vector


def _store_short(matrix, row, vector):
    matrix[row] = vector[: matrix.shape[1]]


def _python_power_of_two(vector):
    return ((vector.view(np.int32) << 23) + np.int32(127 << 23)).view(np.float32)


@intrinsic(_vector, ARRAY, types.intp, types.intp, python=lambda matrix, i, c: matrix[i, c : c + WIDTH].copy())
def load(builder, matrix, row, column):
    """``matrix[row, column : column + 16]``."""
    return builder.load(_address(builder, matrix, row, column), align=4)


@intrinsic(types.void, ARRAY, types.intp, types.intp, _vector, python=_store)
def store(builder, matrix, row, column, vector):
    """``matrix[row, column : column + 16] = vector``."""
    builder.store(vector, _address(builder, matrix, row, column), align=4)


@intrinsic(
    _vector, ARRAY, types.intp, types.intp, python=lambda matrix, i, c: matrix[i, c : c + WIDTH].astype(np.float32)
)
def load_int8(builder, matrix, row, column):
    """``matrix[row, column : column + 16]`` of int8, as float32."""
    index = builder.add(builder.mul(row, builder.extract_value(matrix.shape, 1)), column)
    pointer = item_pointer(builder, matrix, index, ir.VectorType(ir.IntType(8), WIDTH))
    return builder.sitofp(builder.sext(builder.load(pointer, align=1), _INTS), _FLOATS)


def _load_short(matrix, row):
    return np.pad(matrix[row, :WIDTH], (0, max(0, WIDTH - matrix.shape[1])))


@intrinsic(_vector, ARRAY, types.intp, python=_load_short)
def load_short(builder, matrix, row):
    """The first sixteen numbers of ``matrix[row]``, or zeros after fewer."""
    return call(builder, "llvm.masked.load.v16f32.p0", _FLOATS, *_whole_row(builder, matrix, row), _ZEROS)


@intrinsic(types.void, ARRAY, types.intp, _vector, python=_store_short)
def store_short(builder, matrix, row, vector):
    """``matrix[row] = vector`` for a row of at most sixteen numbers."""
    call(builder, "llvm.masked.store.v16f32.p0", ir.VoidType(), vector, *_whole_row(builder, matrix, row))


def _prefetch(builder, address):
    how = [ir.Constant(ir.IntType(32), number) for number in (0, 3, 1)]  # to read, into all caches, data
    call(builder, "llvm.prefetch.p0", ir.VoidType(), builder.bitcast(address, ir.IntType(8).as_pointer()), *how)


@intrinsic(types.void, ARRAY, types.intp, types.intp, python=no_operation)
def prefetch(builder, matrix, row, column):
    """Prefetch the cache line of ``matrix[row, column]``."""
    _prefetch(builder, _address(builder, matrix, row, column))


@intrinsic(types.void, ARRAY, types.intp, python=no_operation)
def prefetch_item(builder, array, i):
    """Prefetch the cache line of ``array[i]``."""
    _prefetch(builder, item_pointer(builder, array, i))


@intrinsic(_vector, types.float32, python=lambda number: np.full(WIDTH, number, np.float32))
def splat(builder, number):
    """The same number sixteen times."""
    return _all(builder, number, _FLOATS)


@intrinsic(_vector, _vector, _vector, _vector, python=lambda a, b, c: a * b + c)
def multiply_add(builder, a, b, c):
    """``a * b + c``."""
    return call(builder, "llvm.fmuladd.v16f32", _FLOATS, a, b, c)


@intrinsic(_vector, _vector, _vector, python=lambda a, b: a / b)
def divide(builder, a, b):
    """``a / b``."""
    return builder.fdiv(a, b)


@intrinsic(_vector, _vector, _vector, python=lambda a, b: np.where(a < b, b, a))
def larger(builder, a, b):
    """The larger of two numbers; where ``a`` is NaN, NaN."""
    return builder.select(builder.fcmp_ordered("<", a, b), b, a)


@intrinsic(types.boolean, _vector, _vector, python=lambda a, b: bool((a > b).any()))
def any_larger(builder, a, b):
    """Whether one of the sixteen numbers of ``a`` is larger than that of ``b``."""
    bits = builder.bitcast(builder.fcmp_ordered(">", a, b), ir.IntType(WIDTH))
    return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))


@intrinsic(_vector, _vector, _vector, _vector, python=lambda x, a, b: np.where(x < 0, a, b))
def where_negative(builder, x, a, b):
    """``a`` where ``x`` is below zero, else ``b``."""
    return builder.select(builder.fcmp_ordered("<", x, _ZEROS), a, b)


@intrinsic(_vector, _vector, python=np.sqrt)
def square_root(builder, vector):
    """The square root of each number."""
    return call(builder, "llvm.sqrt.v16f32", _FLOATS, vector)


@intrinsic(_vector, _vector, python=_python_power_of_two)
def power_of_two(builder, vector):
    """``2 ** n`` for ``n + 1.5 * 2**23``: the integer lies in the low bits, an exponent in the high ones."""
    bits = builder.shl(builder.bitcast(vector, _INTS), _constant(23))
    return builder.bitcast(builder.add(bits, _constant(127 << 23)), _FLOATS)


@intrinsic(
    _vector, _vector, types.intp, types.float32, python=lambda x, n, other: np.where(np.arange(WIDTH) < n, x, other)
)
def replace_last(builder, vector, n, number):
    """The vector with all but its first ``n`` numbers replaced by another."""
    return builder.select(_is_among_first(builder, n), vector, _all(builder, number, _FLOATS))


@intrinsic(_vector, _vector, types.intp, python=lambda x, n: np.where(np.arange(WIDTH) < n, np.float32(0.0), x))
def zero_first(builder, vector, n):
    """The vector with its first ``n`` numbers set to zero."""
    return builder.select(_is_among_first(builder, n), _ZEROS, vector)


def _fold(builder, operation, vector):
    """Reduce a vector to one number: halves, quarters and so on, always in the same order."""
    half = WIDTH // 2
    while half:
        lanes = ir.Constant(_INTS, [(i + half) % WIDTH for i in range(WIDTH)])
        vector = operation(vector, builder.shuffle_vector(vector, vector, lanes))
        half //= 2
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@intrinsic(types.float32, _vector, python=np.sum)
def total(builder, vector):
    """The sum of the sixteen numbers."""
    return _fold(builder, builder.fadd, vector)


@intrinsic(types.float32, _vector, python=np.prod)
def product(builder, vector):
    """The product of the sixteen numbers."""
    return _fold(builder, builder.fmul, vector)
