"""Folders of arrays with a header in JSON. Whoever reads one finds what the last complete save wrote, and all of it.

Each save writes files with new names beside the old ones. Then its header, which names them, takes the place of the old
header in one step, and the old files are removed. A reader that misses a file begins again with the new header.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._validation.messages import brief
from .._validation.values import JSON, PathLike, describe_unreadable, naming, parse_json, user_path
from .array_files import digest_of_array, map_arrays, write_arrays

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_VERSION = 2
_MOST_READS = 1000  # of a folder that others replace again and again
_LARGEST_HEADER = 1 << 26  # bytes
_ENTRIES = {"format": str, "version": int, "written_by": dict, "save": str, "arrays": dict, "digest": str}
_NOT_DIGESTED = ("written_by", "save", "digest")  # they differ from save to save
_SAVE = re.compile(r"[0-9a-f]{12}")
_NAME_OF_SAVE = re.compile(rb'"save": "([0-9a-f]{12})"')
_OF_A_SAVE = re.compile(rf"[a-z_]+-({_SAVE.pattern})(\.[a-z]+)?", re.IGNORECASE)


class FolderKind(NamedTuple):
    """What is saved, and what its header has beside the entries of all folders."""

    name: str  # for messages
    header: str  # name of the file
    entries: dict[str, type]
    in_own_files: tuple[str, ...] = ()  # arrays that are written while they grow; all others are in one file
    texts: tuple[str, ...] = ()  # files for people, which are not read

    @property
    def format(self) -> str:
        """What the header calls it."""
        return f"skembed {self.name}"


class Stored(NamedTuple):
    """What a folder holds."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray]
    files: list[Path]  # of the arrays


class NewFolder:
    """A save that is being written; all of its files are new."""

    def __init__(self, folder: Path, kind: FolderKind) -> None:
        self.folder, self.kind, self.save = folder, kind, uuid.uuid4().hex[:12]
        self.header: dict[str, Any] = {}

    def path(self, name: str) -> Path:
        """Return the path of a new file or folder."""
        stem, dot, suffix = name.partition(".")
        return self.folder / f"{stem}-{self.save}{dot}{suffix}"

    def file_of(self, array: str) -> Path:
        """Return the path of an array that has a file of its own."""
        return self.path(f"{array}.safetensors")

    def write(
        self, entries: Mapping[str, JSON], arrays: Mapping[str, np.ndarray], texts: Mapping[str, str] | None = None
    ) -> int:
        """Write all that no file has yet, the header last; return the number of bytes of the save."""
        rest = dict(arrays)
        for name in self.kind.in_own_files:
            array, file = rest.pop(name), self.file_of(name)
            if not file.exists():
                write_arrays(file, {name: array})
        write_arrays(self.file_of("arrays"), rest)
        written_by = {"skembed": __version__, "numpy": np.__version__, "python": platform.python_version()}
        content = _content(self.kind, entries, arrays)
        self.header = content | {"written_by": written_by, "save": self.save, "digest": digest_of(content)}
        contents = {**(texts or {}), self.kind.header: json.dumps(self.header, allow_nan=False)}
        for name, text in contents.items():
            file = self.path(name)
            with naming(file):
                file.write_text(text, encoding="utf-8", errors="replace")
        return sum(file.stat().st_size for file in _files_of(self.folder, self.save))

    def read(self) -> Stored:
        """Map the arrays into memory. Their digests are not checked, as this process has made them."""
        return _read_arrays(self.folder, self.kind, self.header, mmap=True, verify=False)

    def put_in_place(self) -> None:
        """Make this save the one that is read."""
        for file in _files_of(self.folder, self.save):
            with file.open("rb+") as opened, naming(file):
                os.fsync(opened.fileno())
        _sync(self.folder)
        before = None
        with suppress(ValueError):  # of a damaged header
            before = _current_save(self.folder, self.kind)
        for name in (*self.kind.texts, self.kind.header):
            os.replace(self.path(name), self.folder / name)
        _sync(self.folder)
        _remove(self.folder, before)


@contextmanager
def new_folder(path: PathLike, kind: FolderKind) -> Iterator[NewFolder]:
    """Give a save to write to `path`, a folder of this kind or an empty one; removed if anything goes wrong."""
    folder = Path(os.path.realpath(user_path(path)))
    _check_replaceable(folder, kind)
    is_new = not folder.exists()
    try:
        with _for_writing(folder, kind):
            new = NewFolder(folder, kind)
            try:
                yield new
                _check_replaceable(folder, kind)
                new.put_in_place()
            except BaseException:
                with suppress(OSError, ValueError):
                    if _current_save(folder, kind) != new.save:  # not interrupted when it was in place already
                        _remove(folder, new.save)
                raise
        if is_new:
            _sync(folder.parent)
    except OSError as error:
        at = None if error.filename is None else Path(error.filename)
        if at is None or not (folder == at or folder in at.parents or at in folder.parents):
            raise  # an error of a source file, not of this folder
        raise OSError(error.errno, f"The {kind.name} cannot be saved to {folder}: {error.strerror}") from error
    finally:
        if is_new:
            with suppress(OSError), _locked(folder, is_shared=False) as is_alone:
                if is_alone or fcntl is None:
                    folder.rmdir()  # an error if all went well, for it holds files


def open_folder(path: PathLike, kind: FolderKind, *, mmap: bool, verify: bool = True) -> Stored:
    """Read a folder whole; a ValueError names a damaged file. With `verify`, the arrays fit their digests."""
    folder = user_path(path)
    for _ in range(_MOST_READS):
        header = read_header(folder, kind)
        try:
            return _read_arrays(folder, kind, header, mmap=mmap, verify=verify)
        except (OSError, ValueError):
            if read_header(folder, kind)["save"] == header["save"]:
                raise
    raise OSError(errno.EBUSY, "other processes replace the folder too often to read it", os.fspath(folder))


def read_header(path: PathLike, kind: FolderKind) -> dict[str, Any]:
    """Read a header and check its format, its digest and the types of its entries; a ValueError names the file."""
    folder = user_path(path)
    file = folder / kind.header
    if not folder.exists() or _is_unfinished(folder):
        raise FileNotFoundError(f"There is no saved {kind.name} at {folder}.")
    _check_readable(file, kind)
    if file.stat().st_size > _LARGEST_HEADER:
        raise ValueError(f"{file} is larger than the header of any {kind.name}. It was not written by skembed.")
    try:
        header: Any = parse_json(file.read_text(encoding="ascii"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None
    if not isinstance(header, dict) or header.get("format") != kind.format:
        raise ValueError(f"{file} is not the header of a {kind.format}.")
    version = header.get("version")
    if type(version) is not int or version != _VERSION:
        raise ValueError(
            f"{file} has the format version {brief(version)}; this skembed reads version {_VERSION}. Load it with the "
            "skembed that wrote it, or make and save it again."
        )
    entries = _ENTRIES | kind.entries
    if set(header) != set(entries) or any(type(header[name]) is not type_ for name, type_ in entries.items()):
        raise ValueError(f"{file} is damaged: entries are missing or wrong.")
    if digest_of(header) != header["digest"] or not _SAVE.fullmatch(header["save"]):
        raise ValueError(f"{file} is damaged: it does not fit its digest. Copy or save the {kind.name} again.")
    return header


def content_digest(kind: FolderKind, entries: Mapping[str, JSON], arrays: Mapping[str, np.ndarray]) -> str:
    """Return the digest that the header would have, from what is in memory."""
    return digest_of(_content(kind, entries, arrays))


def _content(kind: FolderKind, entries: Mapping[str, JSON], arrays: Mapping[str, np.ndarray]) -> dict[str, JSON]:
    digests = {name: digest_of_array(array) for name, array in arrays.items()}
    return {"format": kind.format, "version": _VERSION, **entries, "arrays": digests}


def digest_of(header: Mapping[str, JSON]) -> str:
    """Return the digest of the content that a header describes."""
    rest = {name: value for name, value in header.items() if name not in _NOT_DIGESTED}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def _read_arrays(folder: Path, kind: FolderKind, header: Mapping[str, Any], *, mmap: bool, verify: bool) -> Stored:
    arrays: dict[str, np.ndarray] = {}
    files = [folder / f"{name}-{header['save']}.safetensors" for name in (*kind.in_own_files, "arrays")]
    for file in files:
        _check_readable(file, kind)
        for name, mapped in map_arrays(file).items():
            arrays[name] = mapped if mmap else np.array(mapped)
            if verify and digest_of_array(arrays[name]) != header["arrays"].get(name):
                raise ValueError(
                    f"{file} is damaged: {name} does not fit its digest in {kind.header}. Copy or save the {kind.name} "
                    "again."
                )
    if set(arrays) != set(header["arrays"]):
        raise ValueError(f"{folder} is damaged: it has the arrays {brief(sorted(arrays))}.")
    return Stored(dict(header), arrays, files)


def _check_readable(file: Path, kind: FolderKind) -> None:
    """Raise a ValueError unless a file of a saved folder can be read."""
    try:
        if what := describe_unreadable(file):
            raise OSError(f"it is {what}")
        with file.open("rb") as opened:
            opened.read(1)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{file.parent} is not a saved {kind.name}: it has no file {file.name}.") from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error}") from None


def _check_replaceable(folder: Path, kind: FolderKind) -> None:
    if not folder.exists():
        return
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else [""]
    own = {kind.header, *kind.texts}
    if any(name not in own and not _OF_A_SAVE.fullmatch(name) for name in names):
        raise FileExistsError(
            f"{folder} exists and is not a saved {kind.name} (or holds other files too). Choose another name."
        )


@contextmanager
def _for_writing(folder: Path, kind: FolderKind) -> Iterator[None]:
    """Make a folder if there is none, and lock it together with other processes that write to it."""
    try:
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            _sweep(folder, kind)
            with _locked(folder, is_shared=True):
                if folder.exists():  # no other process has failed to save there, and removed it
                    yield
                    return
    finally:
        _sweep(folder, kind)


def _sweep(folder: Path, kind: FolderKind) -> None:
    """Remove what processes left that ended during a save, unless another process writes now."""
    with _locked(folder, is_shared=False) as is_alone, suppress(OSError, ValueError):
        if is_alone:
            current = _current_save(folder, kind)  # an error if it is damaged: nothing is known of its files
            for save in {found[1] for name in os.listdir(folder) if (found := _OF_A_SAVE.fullmatch(name))}:
                if save != current:
                    _remove(folder, save)


@contextmanager
def _locked(folder: Path, *, is_shared: bool) -> Iterator[bool]:
    """Lock a folder, or give False: another process has locked it, or the system has no such locks."""
    descriptor = None if fcntl is None else _descriptor(folder)
    if descriptor is None:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # also of file systems without locks
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def _descriptor(folder: Path) -> int | None:
    """Return a descriptor of a folder, None if there is no such folder or the system opens none."""
    if os.name != "posix":
        return None
    with suppress(OSError):
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return None


def _sync(folder: Path) -> None:
    """Write the names in a folder through to the disk, where the system can."""
    descriptor = _descriptor(folder)
    if descriptor is not None:
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _current_save(folder: Path, kind: FolderKind) -> str | None:
    """The save that the header names, None if there is no header; no more of it is read, which may be long."""
    try:
        named = _NAME_OF_SAVE.findall((folder / kind.header).read_bytes())
    except FileNotFoundError:
        return None
    if not named:
        raise ValueError(f"{folder / kind.header} is damaged: it names no save.")
    return str(named[-1], "ascii")


def _files_of(folder: Path, save: str | None) -> list[Path]:
    found = ((name, _OF_A_SAVE.fullmatch(name)) for name in os.listdir(folder))
    return [folder / name for name, parts in found if parts and parts[1] == save]


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder is empty, or has files of a first save that has no header yet."""
    with suppress(OSError):  # of a file, or of a folder that this process may not read
        return all(_OF_A_SAVE.fullmatch(name) for name in os.listdir(folder))
    return False


def _remove(folder: Path, save: str | None) -> None:
    """Remove the files of a save. One that is in use on Windows stays until a later save."""
    with suppress(OSError):
        for path in _files_of(folder, save):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
