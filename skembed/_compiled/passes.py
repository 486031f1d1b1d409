"""The steps that compile a kernel: those of numba that it needs."""

from __future__ import annotations

import operator
from typing import Any

from numba import extending, types
from numba.core import compiler, errors
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir import Assign, Expr, Global
from numba.core.typed_passes import NativeLowering
from numba.cpython.builtins import do_minmax

from .lowering import KernelLower, PartLower
from .signatures import with_memory

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


def _of_two(compare: Any) -> Any:
    """Like `min` or `max` of two numbers, for which numba compiles a function for each pair of types."""

    @extending.intrinsic
    def chosen(typingctx: Any, a: Any, b: Any) -> Any:
        if not all(isinstance(kind, (types.Integer, types.Float)) for kind in (a, b)):
            raise errors.TypingError("no numbers")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return do_minmax(context, builder, signature.args, args, compare)

        return typingctx.unify_types(a, b)(a, b), codegen

    return chosen


_OF_TWO = {min: _of_two(operator.lt), max: _of_two(operator.gt)}


@register_pass(mutates_CFG=False, analysis_only=False)
class _ReplaceMinMax(FunctionPass):
    _name = "skembed_min_max"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
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

    def run_pass(self, state: Any) -> bool:
        try:
            done = super().run_pass(state)
            state["library"].is_by_value = True
            return done
        except Exception:  # of any kind, where a part calls code of numba's that expects its own convention
            return _LowerKernel().run_pass(state)


def passes_of(state: Any, *, is_part: bool) -> list[Any]:
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
