"""Paths that users give."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .messages import brief

PathLike = str | os.PathLike[str]

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}
# s3://bucket, dbfs:/folder, simplecache::s3://bucket; not C:/folder. pathlib makes one slash of two.
_URL = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):(:.*:)?/")


def user_path(path: PathLike) -> Path:
    """Return the path with a leading ``~`` expanded to the home folder, or refuse a URL.

    As a path, a URL would be a new folder on this machine. Only Parquet files are read from URLs, elsewhere.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"A path must be a string or a pathlib.Path, got {brief(path)}.")
    if not os.fspath(path):
        raise ValueError("A path is an empty string. For the current folder, pass '.'.")
    if url := _URL.match(os.fspath(path)):
        if url[1].lower() == "file":
            raise ValueError(f"{brief(path)} is a URL. Pass the path alone, without file://.")
        raise ValueError(
            f"{brief(path)} is a URL. Only local files are read and written here: save to a local folder and copy it, "
            "fs, target = fsspec.url_to_fs(url); fs.put(folder, target, recursive=True); or copy what is there first, "
            "fs.get(target, folder, recursive=True)."
        )
    return Path(os.path.expanduser(path))


def describe_unreadable(path: Path) -> str:
    """Return "" for a regular file, else its kind. Reading a pipe or a device may block."""
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "a folder")


def listed_paths(paths: PathLike | Iterable[PathLike]) -> list[PathLike]:
    """Return a path, or each of several, as a list."""
    if isinstance(paths, (str, os.PathLike)):
        return [paths]
    if isinstance(paths, (set, frozenset, dict, bytes, io.IOBase)) or not isinstance(paths, Iterable):
        raise TypeError(f"path must be a path or a list of paths, got {brief(paths)} of type {type(paths).__name__}.")
    if not (found := list(paths)):
        raise ValueError("path is an empty list of paths.")
    return found


def files_below(folder: Path, hidden: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders, also in folders that links lead to, each folder once.

    Names that begin with one of `hidden` are left out.
    """
    seen = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        # A link may lead to a folder above it. Sorted: of two ways to a folder, the same on every system.
        folders[:] = [] if real in seen else sorted(name for name in folders if not name.startswith(hidden))
        if real not in seen:
            yield from (Path(place, name) for name in names if not name.startswith(hidden))
        seen.add(real)


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Add the file name to an OSError that has none, such as "No space left on device"."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise
