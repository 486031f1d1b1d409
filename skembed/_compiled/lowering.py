"""The steps that compile a kernel: those of numba that it needs, types found once, fewer instructions for LLVM.

For an addition of two integers numba tries some twenty definitions, for strings, lists and dates too, each time that it
passes over a function: half of the time that it takes to find the types in it. `with_memory` finds them once.

numba gives each variable a place on the stack, copies an array to the stack at each access, and clears variables at the
end of their lives. LLVM removes all that, but to write the instructions in Python, and to read and simplify them, is a
third of the work of compiling. Here a variable with one assignment is a value, and an item of a contiguous array, or a
step of a loop over a range, is a few instructions. The machine code is the same.

A function that only kernels call takes and returns values as they are (`PartLower`), while numba's take each field of
an array as an argument, and return whether they have raised an exception.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from llvmlite.ir.instructions import InsertValue
from numba import extending, types
from numba.core import cgutils, compiler, errors, lowering
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir import UNDEFINED, Assign, Block, Expr, Global, Var
from numba.core.typed_passes import NativeLowering
from numba.core.typing import signature as signature_of
from numba.cpython.builtins import do_minmax
from numba.np import arrayobj

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.funcdesc import FunctionDescriptor
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

    Values = Sequence[ir.Value]

_found: dict[tuple[object, tuple[types.Type, ...]], Signature] = {}  # (function, types of arguments) -> signature


def with_memory(context: TypingContext) -> TypingContext:
    """A typing context that shares everything with this one, and remembers signatures."""
    kind = type(context)
    remembering = type(f"Remembering{kind.__name__}", (_Memory, kind), {})
    copy: TypingContext = object.__new__(remembering)
    copy.__dict__ = context.__dict__
    return copy


class _Memory:
    def resolve_function_type(self, func: types.Type, args: tuple[types.Type, ...], kws: dict) -> Signature | None:
        if kws or (type(func) is not types.Function and func is not operator.getitem):
            return super().resolve_function_type(func, args, kws)  # type: ignore[misc]
        key = func, tuple(args)
        found = _found.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)  # type: ignore[misc]
            if found is not None:
                _found[key] = found
        return found

    def resolve_setitem(self, target: types.Type, index: types.Type, value: types.Type) -> Signature:
        key = operator.setitem, (target, index, value)
        found = _found.get(key)
        if found is None:
            found = _found[key] = super().resolve_setitem(target, index, value)  # type: ignore[misc]
        return found


class _Builder(lowering.IRBuilder):
    """Takes a field of a struct whose making it has seen from where it was put in."""

    def extract_value(self, agg: ir.Value, idx: int | Iterable[int], name: str = "") -> ir.Value:
        indices = [idx] if isinstance(idx, int) else list(idx)
        made = agg
        while isinstance(made, InsertValue):
            if made.indices == indices:
                return made.operands[1]
            if made.indices[0] == indices[0]:
                break
            made = made.operands[0]
        return super().extract_value(made, idx, name)


class KernelLower(lowering.Lower):
    """Lowers a function that Python calls."""

    def init(self) -> None:
        super().init()
        self._steps: dict[int, int] = {}  # by the id of a range or its iterator: its step

    def setup_function(self, fndesc: FunctionDescriptor) -> None:
        super().setup_function(fndesc)
        self.builder = _Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    @property
    def _is_lean(self) -> bool:
        """Whether nothing has to be done at the end of a variable's life."""
        return not (self.context.enable_nrt or self.flags.debuginfo or self.func_ir.is_generator)

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are values: their one assignment comes before all uses, also in the order here."""
        if not self._is_lean:
            super()._find_singly_assigned_variable()
            return
        assigned: dict[str, int] = {}
        others = set()
        for offset, block in self.blocks.items():
            for statement in block.find_insts(Assign):
                name = statement.target.name
                if name in assigned:
                    others.add(name)
                assigned[name] = offset
        lifetime = self.func_ir.variable_lifetime
        before = lifetime.cfg.dominators()
        for offset, names in lifetime.usedefs.usemap.items():
            others.update(name for name in names if not assigned.get(name, offset) < offset)
            others.update(name for name in names if assigned.get(name) not in before.get(offset, ()))
        self._singly_assigned_vars = set(assigned) - others
        self._blk_local_varmap: dict[str, ir.Value] = {}

    def pre_block(self, block: Block) -> None:
        if not self._is_lean:
            super().pre_block(block)

    def storevar(self, value: ir.Value, name: str, argidx: int | None = None) -> None:
        if not self._is_lean:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if not self._is_lean:
            super().delvar(name)

    def lower_expr(self, resty: types.Type, expr: Expr) -> ir.Value:
        if expr.op == "getattr" and expr.attr == "shape":
            kind = self.typeof(expr.value.name)
            if isinstance(kind, types.Array):
                return self._field(kind, self.loadvar(expr.value.name), "shape")
        if expr.op in ("getiter", "iternext"):
            value = self.loadvar(expr.value.name)
            step = self._steps.get(id(value))
            if step is not None:
                return self._iterator(resty, value, step) if expr.op == "getiter" else self._next(resty, value, step)
        return super().lower_expr(resty, expr)

    def _lower_call_normal(self, fnty: types.Type, expr: Expr, signature: Signature) -> ir.Value:
        value = super()._lower_call_normal(fnty, expr, signature)
        if isinstance(signature.return_type, types.RangeType) and fnty.typing_key is range:
            if len(expr.args) < 3:
                self._steps[id(value)] = 1
            else:
                step = self.typeof(expr.args[2].name)
                if getattr(step, "literal_value", 0) != 0:
                    self._steps[id(value)] = step.literal_value
        return value

    def _iterator(self, kind: types.Type, value: ir.Value, step: int) -> ir.Value:
        """Begin to iterate over a range."""
        builder = self.builder
        start, stop, by = (builder.extract_value(value, i) for i in range(3))
        zero, size = start.type(0), start.type(abs(step))
        count = length = builder.sub(stop, start) if step > 0 else builder.sub(start, stop)
        if abs(step) > 1:
            has_rest = builder.icmp_signed(">", builder.srem(length, size), zero)
            count = builder.add(builder.sdiv(length, size), builder.zext(has_rest, start.type))
        count = builder.select(builder.icmp_signed(">", length, zero), count, zero)
        iterator = self.context.get_constant_undef(kind)
        for i, number in enumerate((start, stop, by, count)):
            if i in (0, 3):
                place = cgutils.alloca_once(builder, number.type)
                builder.store(number, place)
                number = place
            iterator = builder.insert_value(iterator, number, i)
        self._steps[id(iterator)] = step
        return iterator

    def _next(self, kind: types.Type, iterator: ir.Value, step: int) -> ir.Value:
        """The next number of a range, and whether there was one."""
        builder = self.builder
        place, count_place = builder.extract_value(iterator, 0), builder.extract_value(iterator, 3)
        number, count = builder.load(place), builder.load(count_place)
        builder.store(builder.add(number, number.type(step)), place)
        builder.store(builder.sub(count, count.type(1)), count_place)
        pair = self.context.get_constant_undef(kind)
        pair = builder.insert_value(pair, number, 0)
        return builder.insert_value(pair, builder.icmp_signed(">", count, count.type(0)), 1)

    def lower_binop(self, resty: types.Type, expr: Expr, op: Callable[..., object]) -> ir.Value:
        if op in (operator.pow, operator.ipow):  # which have versions for constants
            return super().lower_binop(resty, expr, op)
        expr.static_lhs = expr.static_rhs = UNDEFINED
        if expr.op != "binop":
            return super().lower_binop(resty, expr, op)
        signature, context, builder = self.fndesc.calltypes[expr], self.context, self.builder
        values = [
            context.cast(builder, self.loadvar(operand.name), self.typeof(operand.name), kind)
            for operand, kind in zip((expr.lhs, expr.rhs), signature.args)
        ]
        function = context.typing_context.resolve_value_type(op)
        value = context.get_function(function, signature)(builder, values)
        return context.cast(builder, value, signature.return_type, resty)

    def lower_getitem(self, resty: types.Type, expr: Expr, value: Var, index: Var, signature: Signature) -> ir.Value:
        kind = self.typeof(value.name)
        pointer = self._pointer_to_item(kind, value, index)
        if pointer is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = arrayobj.load_item(self.context, self.builder, kind, pointer)
        return self.context.cast(self.builder, item, kind.dtype, resty)

    def lower_setitem(self, target_var: Var, index_var: Var, value_var: Var, signature: Signature) -> None:
        kind = self.typeof(target_var.name)
        pointer = self._pointer_to_item(kind, target_var, index_var)
        if pointer is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        item, given = self.loadvar(value_var.name), self.typeof(value_var.name)
        item = self.context.cast(self.builder, item, given, signature.args[2])
        item = self.context.cast(self.builder, item, signature.args[2], kind.dtype)
        return arrayobj.store_item(self.context, self.builder, kind, item, pointer)

    def _field(self, kind: types.Type, array: ir.Value, name: str) -> ir.Value:
        return self.context.data_model_manager[kind].get(self.builder, array, name)

    def _pointer_to_item(self, kind: types.Type, array: Var, index: Var) -> ir.Value | None:
        """Address of an item of a contiguous array, or None where numba's own code is needed."""
        if type(kind) is not types.Array or kind.layout != "C" or self.context.enable_boundscheck:
            return None
        kinds = self.typeof(index.name)
        is_tuple = isinstance(kinds, types.BaseTuple)
        kinds = list(kinds) if is_tuple else [kinds]
        if len(kinds) != kind.ndim or not all(isinstance(each, types.Integer) for each in kinds):
            return None
        given = self.loadvar(index.name)
        given = [self.builder.extract_value(given, i) for i in range(kind.ndim)] if is_tuple else [given]
        lengths = self._field(kind, self.loadvar(array.name), "shape")
        position = None
        for i, (number, number_kind) in enumerate(zip(given, kinds)):
            whole = types.intp if number_kind.signed else types.uintp
            number = self.context.cast(self.builder, number, number_kind, whole)
            length = self.builder.extract_value(lengths, i)
            if not getattr(number_kind, "literal_value", -1) >= 0:
                number = arrayobj.fix_integer_index(self.context, self.builder, whole, number, length)
            position = number if position is None else self.builder.add(self.builder.mul(position, length), number)
        return self.builder.gep(self._field(kind, self.loadvar(array.name), "data"), [position])


class _ByValue:
    """How a part takes its arguments and returns: as values, without a word on exceptions, since it raises none."""

    def __init__(self, context: BaseContext) -> None:
        self._models = context.data_model_manager

    def declare(self, module: ir.Module, fndesc: FunctionDescriptor) -> ir.Function:
        kind = ir.FunctionType(
            self._models[fndesc.restype].get_return_type(),
            [self._models[each].get_value_type() for each in fndesc.argtypes],
        )
        function = cgutils.get_or_insert_function(module, kind, fndesc.mangled_name)
        if fndesc.inline:
            function.attributes.add("alwaysinline")
        return function

    def init_call_helper(self, _: ir.IRBuilder) -> None:
        """Do nothing: it is for exceptions."""

    def decode_arguments(self, _builder: ir.IRBuilder, _kinds: Sequence[types.Type], function: ir.Function) -> Values:
        return function.args

    def return_value(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        builder.ret(value)


class PartLower(KernelLower):
    """Lowers a function that only kernels call; fails where it calls other code, or raises."""

    @property
    def call_conv(self) -> _ByValue:
        return _ByValue(self.context)

    def setup_function(self, fndesc: FunctionDescriptor) -> None:
        self.function = self.call_conv.declare(self.module, fndesc)
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = _Builder(self.entry_block)
        self.call_helper = None


def call_of_part(fndesc: FunctionDescriptor, library: object) -> Any:
    """The implementation with which numba writes calls of a function that `PartLower` has lowered."""

    def call(context: BaseContext, builder: ir.IRBuilder, _: Signature, arguments: Values) -> ir.Value:
        function = _ByValue(context).declare(builder.module, fndesc)
        value = builder.call(function, arguments)
        return context.data_model_manager[fndesc.restype].from_return(builder, value)

    call.signature = signature_of(fndesc.restype, *fndesc.argtypes)  # type: ignore[attr-defined]
    call.libs = (library,)  # type: ignore[attr-defined]
    return call


# Steps of numba for what kernels do not have: closures, comprehensions, `with`, arithmetic on whole arrays.
_NEEDLESS = {
    "IRProcessing",  # which other steps do again
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "AnnotateTypes",
    "DumpParforDiagnostics",
}


def _of_two(compare: Callable[..., bool]) -> Callable[..., object]:
    """Like `min` or `max` of two numbers, for which numba compiles a function for each pair of types."""

    @extending.intrinsic
    def chosen(typingctx: TypingContext, a: types.Type, b: types.Type) -> tuple[Signature, Callable[..., ir.Value]]:
        if not all(isinstance(kind, (types.Integer, types.Float)) for kind in (a, b)):
            raise errors.TypingError("no numbers")

        def codegen(context: BaseContext, builder: ir.IRBuilder, signature: Signature, args: Values) -> ir.Value:
            return do_minmax(context, builder, signature.args, args, compare)

        return typingctx.unify_types(a, b)(a, b), codegen

    return chosen


_OF_TWO = {min: _of_two(operator.lt), max: _of_two(operator.gt)}


@register_pass(mutates_CFG=False, analysis_only=False)
class _ReplaceMinMax(FunctionPass):
    _name = "skembed_min_max"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: compiler.StateDict) -> bool:
        found = {}
        for block in state.func_ir.blocks.values():
            for statement in block.find_insts(Assign):
                value = statement.value
                if isinstance(value, Global) and (value.value is min or value.value is max):
                    found[statement.target.name] = value
                elif isinstance(value, Expr) and value.op == "call" and len(value.args) == 2:
                    if value.func.name in found and not value.vararg:
                        called = found[value.func.name]
                        called.value = _OF_TWO[called.value]
        return bool(found)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerKernel(NativeLowering):
    _name = "skembed_lower_kernel"
    lowering_class = KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "skembed_lower_part"
    lowering_class = PartLower

    def run_pass(self, state: compiler.StateDict) -> bool:
        try:
            done = super().run_pass(state)
            state["library"].is_by_value = True
            return done
        except Exception:  # of any kind, where a part calls code of numba's that expects its own convention
            return _LowerKernel().run_pass(state)


def passes_of(state: compiler.StateDict, *, is_part: bool) -> list[compiler.PassManager]:
    """The steps for one function."""
    state.typingctx = with_memory(state.typingctx)
    needless = _NEEDLESS if state.flags.nrt else _NEEDLESS | {"IRLegalization"}  # which says when references end
    chosen = compiler.PassManager("skembed")
    for step, meaning in compiler.DefaultPassBuilder.define_nopython_pipeline(state).passes:
        if step is NativeLowering:
            lean = is_part and not state.flags.nrt
            step = _LowerPart if lean else _LowerKernel
        if step.__name__ == "ReconstructSSA":
            chosen.add_pass(_ReplaceMinMax, "replace min and max")
        if step.__name__ not in needless:
            chosen.add_pass(step, meaning)
    chosen.finalize()
    return [chosen]
