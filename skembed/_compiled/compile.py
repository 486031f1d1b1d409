"""How kernels are compiled, in one piece, and how their code is kept on disk for the next process.

numba optimises each function by itself and makes machine code of it, then links it into its callers and optimises it
once more there. That is for functions that Python may call too. Of those that only kernels call, the first is half of
the work of LLVM for nothing: the code of a kernel, and its speed, are the same without it.

The code lies in one folder for each version of the sources, of Python and of numba, and each kind of processor: below
SKEMBED_CACHE_DIR, else NUMBA_CACHE_DIR, else in the user's cache folder. A folder that cannot be written is read.
Processes that need the same kernel wait for the first of them. The lock is one of the operating system, which ends
with the process that holds it. Where there is none, or nobody may write, each process compiles.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import llvmlite.binding
import numba
from numba import config, njit, version_info
from numba.core import caching, codegen, compiler
from numba.misc.appdirs import AppDirs

if TYPE_CHECKING:
    from numba.core.base import BaseContext
    from numba.core.typing.templates import Signature

try:
    import fcntl
except ImportError:  # Windows, where numba writes files so that no reader finds half of one
    fcntl = None  # type: ignore[assignment]

# numba before 0.60 calls it private.
_UserWideCacheLocator: Any = getattr(caching, "UserWideCacheLocator", None) or caching._UserWideCacheLocator

_PACKAGE = Path(__file__).parent.parent
_LONGEST_WAIT = 120.0  # seconds; then a process compiles itself
_DAY = 86_400.0
_KEPT = 30 * _DAY  # how long after its last use


def digest_of_sources() -> str:
    """Digest of the path and text of every file with compiled functions."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        source = path.read_bytes()
        if b"numba" in source or b"compile import" in source:
            digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def _name_of_folder() -> str:
    """Name of what compiled code depends on, as in "skembed-0123456789abcdef-cp313-numba0.68.0-znver3"."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    processor = config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    return f"skembed-{digest_of_sources()}-{python}-numba{numba.__version__}-{processor}"


_NAME = re.compile(r"skembed-[0-9a-f]{16}-cp\d+\w*-numba[^/]+")
_FOLDER = _name_of_folder()


def cache_folder() -> Path:
    """Return the folder with the compiled code of these sources on this machine."""
    chosen = os.environ.get("SKEMBED_CACHE_DIR") or config.CACHE_DIR
    chosen = chosen or AppDirs(appname="skembed", appauthor=False).user_cache_dir
    return Path(chosen).expanduser().absolute() / _FOLDER  # nothing expands the "~" in an image or a service file


def _sweep(folder: Path) -> None:
    """Remove the folders beside this one that nobody has used for long."""
    for other in folder.parent.iterdir():
        if other != folder and _NAME.fullmatch(other.name) and time.time() - other.stat().st_mtime > _KEPT:
            shutil.rmtree(other, ignore_errors=True)


def _note_use(folder: Path) -> None:
    """Let the time of a folder say when it was used, to a day."""
    with suppress(OSError):
        if time.time() - folder.stat().st_mtime > _DAY:
            os.utime(folder)


class _Locator(_UserWideCacheLocator):
    """Tells numba where the files of a kernel are."""

    def __init__(self, py_func: FunctionType, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(cache_folder())
        file = Path(py_file)
        self._is_ours = file.is_relative_to(_PACKAGE)
        self._place = file.relative_to(_PACKAGE).as_posix() if self._is_ours else str(file)

    def get_disambiguator(self) -> str:
        return f"{hashlib.sha256(self._place.encode()).hexdigest()[:8]}-{self._lineno}"

    def get_source_stamp(self) -> object:
        return _FOLDER if self._is_ours else super().get_source_stamp()

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator | None:
        located = super().from_function(py_func, py_file)
        if located is None and os.path.exists(py_file) and cache_folder().is_dir():  # to read what is there
            return cls(py_func, py_file)
        return located


class _Files(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """numba's cache on disk, of which one process at a time fills in a kernel."""

    _impl_class = _Files

    def load_overload(self, sig: Signature, target_context: BaseContext) -> compiler.CompileResult | None:
        found = self._load(sig, target_context)
        if found is None:
            path = f"{self._cache_file._index_path}.lock"
            if not _lock(path):
                return None
            found = self._load(sig, target_context)
            if found is not None:
                release_locks(path)
        return found

    def _load(self, sig: Signature, target_context: BaseContext) -> compiler.CompileResult | None:
        try:
            found = super().load_overload(sig, target_context)
            if found is not None:
                _note_use(Path(self._cache_path))
            return found
        except Exception:  # unpickling half a file, as after a power cut, may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Signature, data: compiler.CompileResult) -> None:
        try:
            with suppress(OSError):  # a full disk, or one that nobody may write to
                super().save_overload(sig, data)
                _sweep(Path(self._cache_path))
        finally:
            release_locks(f"{self._cache_file._index_path}.lock")


_held: dict[str, int] = {}  # path -> file descriptor of the locks of this process


def _lock(path: str) -> bool:
    """Wait until this process alone may compile a kernel; False if it may without a lock."""
    if fcntl is None or path in _held:
        return False
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # nothing is kept here
        return False
    ends = time.monotonic() + _LONGEST_WAIT
    try:
        while time.monotonic() < ends:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _held[path] = file
                return True
            time.sleep(0.05)
    except OSError:  # a file system without locks
        pass
    finally:
        if path not in _held:
            os.close(file)
    return False


def release_locks(*paths: str) -> None:
    """Let other processes go on: those that wait for these locks, or for any of this process."""
    for path in paths or list(_held):
        file = _held.pop(path, None)
        if file is not None:
            os.close(file)


# Versions of numba with which `lowering` and what follows were tested: they use more of numba than its documented
# `pipeline_class`. Other versions compile as numba does, which takes longer and gives the same numbers.
_TESTED = {(0, 68)}
_IS_KNOWN = version_info.short in _TESTED
if _IS_KNOWN:
    from .lowering import call_of_part, passes_of


class _Part(codegen.JITCodeLibrary):
    """The code of a function that only kernels call, with that of the functions that it calls; not optimised."""

    is_by_value = False  # whether `PartLower` has lowered it

    def _optimize_functions(self, module: llvmlite.binding.ModuleRef) -> None:
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

    def _optimize_functions(self, module: llvmlite.binding.ModuleRef) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


class _PartCompiler(compiler.Compiler):
    def define_pipelines(self) -> list[compiler.PassManager]:
        state = self.state
        state.flags.no_compile = True
        self._part = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state["library"] = self._part
        return passes_of(state, is_part=True)

    def compile_extra(self, func: FunctionType) -> compiler.CompileResult:
        # numba asks for a built-in function that is this one alone, by which it finds the code for a caller.
        result = super().compile_extra(func)._replace(entry_point=[].pop)
        if self._part.is_by_value:
            call = call_of_part(result.fndesc, self._part)
            self.state.targetctx.insert_func_defn([(call, result.entry_point, call.signature.args)])
        else:
            self.state.targetctx.insert_user_function(result.entry_point, result.fndesc, [self._part])
        return result


class _KernelCompiler(compiler.Compiler):
    def define_pipelines(self) -> list[compiler.PassManager]:
        if _IS_KNOWN:
            state = self.state
            kernel = _Kernel(state.targetctx.codegen(), state.func_id.func_qualname)
            kernel.enable_object_caching()
            state["library"] = kernel
            return passes_of(state, is_part=False)
        return super().define_pipelines()

    def compile_extra(self, func: FunctionType) -> compiler.CompileResult:
        try:
            return super().compile_extra(func)
        except BaseException:  # such as an interrupt
            release_locks()
            raise


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
    **({"pipeline_class": _PartCompiler} if _IS_KNOWN else {}),
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


def kernel(function: Callable[..., object], options: dict[str, object] = COMPILE) -> Any:
    """Compile a function that Python calls, and keep its code on disk for the next process, where that is possible."""
    compiled = njit(**{**options, "no_cpython_wrapper": False, "pipeline_class": _KernelCompiler})(function)
    if not config.DISABLE_JIT:
        with suppress(RuntimeError):  # "no locator available": nowhere to write
            compiled._cache = KernelCache(function)
    return compiled


def lean_kernel(function: Callable[..., object]) -> Any:
    """Compile a function that Python calls and that makes no array, such as a loop over a whole text."""
    return kernel(function, NO_REFCOUNT)
