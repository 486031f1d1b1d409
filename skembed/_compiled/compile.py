"""How kernels are compiled, and how their code is kept on disk for the next process."""

from contextlib import suppress
from typing import Any

from numba import config, njit

from .disk import KernelCache
from .parts import options_of_kernels, options_of_parts

# For functions that only compiled code calls. They are not cached on disk, since their code is part of their callers',
# and get no wrapper for Python or C, which is a fifth of the work of compiling.
# No fastmath: with it the compiler orders sums by the SIMD width, replaces divisions by estimates that differ between
# processors, and fuses only some products and sums. Fast code uses the vectors of `simd` instead, with a fixed order
# and with fused products wherever the processor has them.
COMPILE = {
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    **options_of_parts(),
}
# The same without numba's reference counts of arrays, which cost more than the arithmetic between two of them. Such a
# function makes no array and no slice of one.
NO_REFCOUNT = {**COMPILE, "_nrt": False}
# The same, inlined by LLVM: for functions of a few instructions.
# Numba compiles each of these functions anew for each type of argument. So a counter begins as np.int64(0), because a
# plain 0 is another type, and all indices of rows are int64.
INLINE_LLVM = {**NO_REFCOUNT, "forceinline": True}
# The same, inlined by numba: long functions with one caller in each kernel are then compiled and optimised once, not
# twice. The machine code is the same.
INLINE_NUMBA = {**NO_REFCOUNT, "inline": "always"}


def kernel(function: Any, options: dict[str, Any] = COMPILE) -> Any:
    """Compile a function that Python calls, and keep its code on disk for the next process.

    Where that can neither be written nor read, every process compiles anew.
    """
    compiled = njit(**{**options, "no_cpython_wrapper": False, **options_of_kernels()})(function)
    if not config.DISABLE_JIT:
        with suppress(RuntimeError):  # "no locator available": nowhere to write
            compiled._cache = KernelCache(function)
    return compiled


def lean_kernel(function: Any) -> Any:
    """Compile a function that Python calls and that makes no array, such as a loop over a whole text."""
    return kernel(function, NO_REFCOUNT)
