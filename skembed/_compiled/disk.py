"""Compiled code on disk: where it lies, who compiles it, and when it is removed.

It lies in one folder for each version of the sources, of Python and of numba, and each kind of processor: below
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
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba import config
from numba.core import caching
from numba.misc.appdirs import AppDirs

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

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(cache_folder())
        file = Path(py_file)
        self._is_ours = file.is_relative_to(_PACKAGE)
        self._place = file.relative_to(_PACKAGE).as_posix() if self._is_ours else str(file)

    def get_disambiguator(self) -> str:
        return f"{hashlib.sha256(self._place.encode()).hexdigest()[:8]}-{self._lineno}"

    def get_source_stamp(self) -> Any:
        return _FOLDER if self._is_ours else super().get_source_stamp()

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        located = super().from_function(py_func, py_file)
        if located is None and os.path.exists(py_file) and cache_folder().is_dir():  # to read what is there
            return cls(py_func, py_file)
        return located


class _Files(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """numba's cache on disk, of which one process at a time fills in a kernel."""

    _impl_class = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            path = f"{self._cache_file._index_path}.lock"
            if not _lock(path):
                return None
            found = self._load(sig, target_context)
            if found is not None:
                release_locks(path)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
            if found is not None:
                _note_use(Path(self._cache_path))
            return found
        except Exception:  # unpickling half a file, as after a power cut, may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
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
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > ends:
                    break
                time.sleep(0.05)
            else:
                _held[path] = file
                return True
    except OSError:  # a file system without locks
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return False


def release_locks(*paths: str) -> None:
    """Let other processes go on: those that wait for these locks, or for any of this process."""
    for path in paths or list(_held):
        file = _held.pop(path, None)
        if file is not None:
            os.close(file)
