"""Folders that are written whole: at any moment, and after any end of a process, there is the old one or the new one.

The new folder is written beside the old one and synced. Then the old one is renamed, and the new one gets its name;
whoever finds none in between opens the old one under its other name.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from .._validation.paths import PathLike, naming, user_path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_Read = TypeVar("_Read")
_MOST_READS = 1000  # of a folder that others replace again and again


class FolderKind(NamedTuple):
    """What a folder holds."""

    name: str  # for messages
    header: str
    files: frozenset[str]  # all that may be in it


@contextmanager
def new_folder(path: PathLike, kind: FolderKind) -> Iterator[Path]:
    """Give a temporary folder to write to; it becomes `path` if all goes well, and is removed if not.

    What stands at `path` must be a saved folder of the same kind or an empty folder. Errors name path and reason.
    """
    target = Path(os.path.realpath(user_path(path)))
    _check_replaceable(target, kind)
    folder = target.with_name(f".{target.name}.{uuid.uuid4().hex}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        with _make_folder(folder):
            yield folder
            _check_replaceable(target, kind)
            sync_folder(folder)
            _put_in_place(folder, target)
            sync(target.parent)
    except OSError as error:
        at = None if error.filename is None else Path(error.filename)
        if at is None or not (folder == at or folder in at.parents or at in folder.parents):
            raise  # an error of a source file, not of this folder
        raise OSError(error.errno, f"The {kind.name} cannot be saved to {target}: {error.strerror}") from error


def read_whole(path: Path, read: Callable[[Path], _Read]) -> _Read:
    """Return ``read(path)``, all of whose files are of one save: read again if the folder was replaced meanwhile."""
    for _ in range(_MOST_READS):
        folder = _standing(path)
        if folder is None:
            return read(path)
        with _identified(folder) as is_same:
            try:
                found = read(folder)
            except (OSError, ValueError):
                if is_same() and folder == path:  # a folder of another name may be removed at any time
                    raise
            else:
                if is_same():
                    return found
    raise OSError(errno.EBUSY, "other processes replace the folder too often to read it", os.fspath(path))


@contextmanager
def _make_folder(folder: Path) -> Iterator[None]:
    """Make a folder that is locked while it is written, and removed at the end unless it was renamed."""
    while True:
        folder.mkdir()
        with _locked(folder, wait=True):
            if not folder.exists():  # swept by a process that saw it before it was locked
                continue
            try:
                yield
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return


@contextmanager
def _locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder, or give False: another process has locked it, or the system has no such locks."""
    descriptor = _descriptor(folder)
    if descriptor is None or fcntl is None:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:  # also of file systems without locks
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _descriptor(folder: Path) -> int | None:
    """Descriptor of a folder, None if there is no such folder or the system opens none."""
    if os.name != "posix":
        return None
    with suppress(OSError):
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return None


def _sweep(target: Path) -> None:
    """Remove the folders of processes that ended during a save; rename the old folder back if `target` is missing."""
    for left in _left_beside(target, "new"):
        with _locked(left) as is_dead:
            old = left.with_suffix(".old")
            if is_dead and old.exists() and not target.exists():
                with suppress(OSError):  # another process was faster
                    old.rename(target)
            if is_dead:
                shutil.rmtree(left, ignore_errors=True)
    for old in _left_beside(target, "old"):
        if not old.with_suffix(".new").exists() and target.exists():
            shutil.rmtree(old, ignore_errors=True)


def _left_beside(target: Path, kind: str) -> list[Path]:
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{32}}\.{kind}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        return [target.with_name(entry.name) for entry in entries if pattern.fullmatch(entry.name)]
    return []


def _put_in_place(folder: Path, target: Path) -> None:
    """Rename the old folder, give its name to the new one, and remove the old one."""
    old = folder.with_suffix(".old")
    while True:
        try:
            if target.exists():
                shutil.rmtree(old, ignore_errors=True)
                target.rename(old)
            folder.rename(target)
        except FileNotFoundError:
            if not folder.exists():
                raise
            continue  # another process has renamed `target`
        except OSError as error:
            if old.exists() and not target.exists():
                old.rename(target)
            if isinstance(error, PermissionError):  # Windows renames no folder with an open file
                message = f"{target} is in use and cannot be replaced. Save under another name."
                raise PermissionError(message) from error
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            continue  # another process has put its folder there
        except BaseException:
            if old.exists() and not target.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
        return


def _check_replaceable(target: Path, kind: FolderKind) -> None:
    read_whole(target, lambda folder: _check_entries(folder, kind))


def _check_entries(target: Path, kind: FolderKind) -> None:
    if not target.exists():
        return
    names = {entry.name for entry in target.iterdir()} if target.is_dir() else {""}
    if names and not (kind.header in names and names <= kind.files):
        raise FileExistsError(
            f"{target} exists and is not a saved {kind.name} (or holds other files too). Choose another name."
        )


def _standing(path: Path) -> Path | None:
    """The folder to read: `path`, or the old folder that a process has renamed to replace it; None if there is none."""
    target = Path(os.path.realpath(path))
    for _ in range(_MOST_READS):
        if path.exists():
            return path
        if old := _left_beside(target, "old"):
            return old[0]
        if not _left_beside(target, "new"):  # no process is saving
            break
    return path if path.exists() else None


@contextmanager
def _identified(folder: Path) -> Iterator[Callable[[], bool]]:
    """Give a function that tells whether this name still belongs to the same folder."""
    descriptor = _descriptor(folder)  # open, so that the system gives its number to no other folder
    before = _identity(folder) if descriptor is None else _identity(descriptor)
    try:
        yield lambda: before is not None and _identity(folder) == before
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _identity(folder: Path | int) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync_folder(folder: Path) -> None:
    """Write the files of a folder through to the disk, and the folder itself."""
    for file in folder.iterdir():
        with file.open("rb+") as opened, naming(file):
            os.fsync(opened.fileno())
    sync(folder)


def sync(folder: Path) -> None:
    """Write the names in a folder through to the disk, where the system can."""
    descriptor = _descriptor(folder)
    if descriptor is not None:
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
