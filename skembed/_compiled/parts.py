"""Compiling a kernel in one piece: LLVM optimises each function once, where it is called.

numba optimises each function by itself and makes machine code of it, then links it into its callers and optimises it
once more there. That is for functions that Python may call too. Of those that only kernels call, the first is half of
the work of LLVM for nothing: the code of a kernel, and its speed, are the same without it.
"""

from __future__ import annotations

from typing import Any

from numba import version_info
from numba.core import codegen, compiler

from .disk import release_locks

try:
    from .lowering import call_of_part
    from .passes import passes_of
except ImportError:  # from a numba that was not tested: `_IS_KNOWN` is False then, and nothing calls them
    pass


class _Part(codegen.JITCodeLibrary):
    """The code of a function that only kernels call, with that of the functions that it calls; not optimised."""

    is_by_value = False  # whether `PartLower` has lowered it

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _Kernel(codegen.JITCodeLibrary):
    """The code of a kernel and of all that it calls, optimised once.

    Where numba optimises before that, it is so that fewer references are counted; kernels count hardly any.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _PartCompiler(compiler.Compiler):
    def define_pipelines(self) -> Any:
        state = self.state
        state.flags.no_compile = True
        self._part = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state["library"] = self._part
        return passes_of(state, is_part=True)

    def compile_extra(self, func: Any) -> Any:
        # numba asks for a built-in function that is this one alone, by which it finds the code for a caller.
        result = super().compile_extra(func)._replace(entry_point=[].pop)
        if self._part.is_by_value:
            call = call_of_part(result.fndesc, self._part)
            self.state.targetctx.insert_func_defn([(call, result.entry_point, call.signature.args)])
        else:
            self.state.targetctx.insert_user_function(result.entry_point, result.fndesc, [self._part])
        return result


class _KernelCompiler(compiler.Compiler):
    def define_pipelines(self) -> Any:
        if _IS_KNOWN:
            state = self.state
            kernel = _Kernel(state.targetctx.codegen(), state.func_id.func_qualname)
            kernel.enable_object_caching()
            state["library"] = kernel
            return passes_of(state, is_part=False)
        return super().define_pipelines()

    def compile_extra(self, func: Any) -> Any:
        try:
            return super().compile_extra(func)
        except BaseException:  # such as an interrupt
            release_locks()
            raise


# What is used of numba beyond its documented `pipeline_class`. Versions without it, and those that were not tested,
# compile as numba does, which takes longer and gives the same numbers.
_TESTED = {(0, 68)}
_USED = {
    "_get_module_for_linking",
    "_optimize_final_module",
    "_optimize_functions",
    "add_linking_library",
    "enable_object_caching",
    "finalize",
}
_IS_KNOWN = (
    version_info.short in _TESTED
    and _USED <= set(dir(codegen.JITCodeLibrary))
    and "no_compile" in compiler.Flags.options
    and hasattr(codegen.JITCPUCodegen, "_module_pass_manager")
)


def options_of_parts() -> dict[str, Any]:
    """Options of `njit` for a function that only kernels call."""
    return {"pipeline_class": _PartCompiler} if _IS_KNOWN else {}


def options_of_kernels() -> dict[str, Any]:
    """Options of `njit` for a function that Python calls."""
    return {"pipeline_class": _KernelCompiler}
