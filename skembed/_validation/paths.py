"""Paths that users give."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PathLike = str | os.PathLike[str]

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}


def user_path(path: PathLike) -> Path:
    """Return the path with a leading ``~`` expanded to the home folder."""
    return Path(os.path.expanduser(path))


def describe_unreadable(path: Path) -> str:
    """Return "" for a regular file, else its kind. Reading a pipe or a device may block."""
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "a folder")


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Add the file name to an OSError that has none, such as "No space left on device"."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise
