"""How kernels are compiled, and how their code is kept on disk for the next process."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

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
LEAN = {**COMPILE, "_nrt": False}
# The same, inlined by LLVM: for functions of a few instructions.
# Numba compiles each of these functions anew for each type of argument. So a counter begins as np.int64(0), because a
# plain 0 is another type, and all indices of rows are int64.
INLINE = {**LEAN, "forceinline": True}
# The same, inlined by numba: long functions with one caller in each kernel are then compiled and optimised once, not
# twice. The machine code is the same.
PASTE = {**LEAN, "inline": "always"}


def _digest_of_sources() -> str:
    """Digest of the path and text of every file with compiled functions."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source or b"compile import" in source:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()[:16]


_SOURCES = _digest_of_sources()


class _Files(CompileResultCacheImpl):
    """Keeps the files of a kernel in the user's cache folder, and names them after all sources.

    numba checks only the file of the kernel itself: after an upgrade it would run old code of the files it calls into.
    """

    # Not in __pycache__: pip leaves files there that it did not install, and what is left of the folder hides another
    # installation. The other folders of numba have a subfolder for each folder of sources.
    _locator_classes = [  # noqa: RUF012
        locator for locator in CompileResultCacheImpl._locator_classes if "InTree" not in locator.__name__
    ]

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}-{_SOURCES}"


class _KernelCache(FunctionCache):
    """numba's cache on disk; a full disk or a damaged file does not stop a fit."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling half a file may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def kernel(function: Any, options: dict[str, Any] = COMPILE) -> Any:
    """Compile a function that Python calls, and keep its code on disk for the next process.

    It is kept below NUMBA_CACHE_DIR, else in numba's folder in the user's cache folder. Where that cannot be written,
    every process compiles anew.
    """
    compiled = njit(**{**options, "no_cpython_wrapper": False, **options_of_kernels()})(function)
    if not config.DISABLE_JIT:
        with suppress(RuntimeError):  # "no locator available": nowhere to write
            compiled._cache = _KernelCache(function)
    return compiled


def lean_kernel(function: Any) -> Any:
    """Compile a function that Python calls and that makes no array, such as a loop over a whole text."""
    return kernel(function, LEAN)
