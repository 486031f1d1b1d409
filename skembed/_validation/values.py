"""Single values that users pass: scalars of numpy, paths, JSON, clients of a Dask cluster."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .messages import brief


def plain(value: Any) -> Any:
    """Return a number, boolean or string of numpy as Python has it, also within a list or tuple; others as they are."""
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.floating) else value.item()
    if type(value) in (list, tuple) and any(isinstance(item, np.generic) for item in value):
        return type(value)(plain(item) for item in value)
    return value


def changed_to_plain(values: dict[str, object]) -> dict[str, object]:
    """The values that :func:`plain` changes, as Python has them."""
    found = {name: plain(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not values[name]}


PathLike: TypeAlias = str | os.PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | None
JSON: TypeAlias = "None | bool | int | float | str | Sequence[JSON] | Mapping[str, JSON]"

_KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}
# s3://bucket, dbfs:/folder, simplecache::s3://bucket; not C:/folder. pathlib makes one slash of two.
_URL = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):(:.*:)?/")


def user_path(path: PathLike) -> Path:
    """Return the path with ``~`` expanded, or refuse a URL, which would be a new folder on this machine."""
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
    """Yield the files in a folder and its subfolders, through links too, without names that begin with `hidden`."""
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


def parse_json(text: str) -> JSON:
    """Parse JSON; a ValueError for what readers understand differently: a name that stands twice, NaN, deep nesting."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(f"{error}.") from None


def _distinct(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it.")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON.")


def check_client(client: object, name: str) -> None:
    """Raise a ValueError for a client that is closed or asynchronous; `name` is the parameter."""
    if getattr(client, "asynchronous", False):
        raise ValueError(
            f"{name} is an asynchronous client, and this call waits for results. Connect one without "
            f"asynchronous=True, or make the call in a thread: await asyncio.to_thread(function, ..., {name}=client)."
        )
    if getattr(client, "status", "running") in ("closing", "closed"):
        raise ValueError(f"{name} is a client that is closed. Connect a new one, Client(cluster).")


def advice_on(value: object) -> str:
    """The end of a message about a value that is no client: what to pass if it is a cluster or an address."""
    if isinstance(value, str) and "://" in value:
        return f" Pass Client({value!r})."
    return " Pass Client(cluster)." if hasattr(value, "get_client") else ""
