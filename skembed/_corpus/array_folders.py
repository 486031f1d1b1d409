"""Folders that hold arrays, as safetensors, and a header in JSON with their digest: written, and read back checked.

What the arrays and the entries of the header mean is not known here.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from .._validation.json_text import parse_json
from .._validation.messages import brief
from .._validation.paths import describe_unreadable, naming
from .folders import FolderKind

ARRAYS = "arrays.safetensors"
_LARGEST_HEADER = 1 << 26  # bytes
_STEP = 1 << 24  # bytes that are written and digested at a time
_DTYPES_IN_FILE = {"F16": "<f2", "I8": "i1", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}
_NAMES_OF_DTYPES = {np.dtype(dtype): name for name, dtype in _DTYPES_IN_FILE.items()}
_ALIGNMENT = 8  # of the first array; the largest ones come first, so that all are aligned
_OWN_ENTRIES = {"format": str, "version": int, "written_by": dict, "arrays": dict, "digest": str}


class ArrayFolder(NamedTuple):
    """What is in the header of a folder."""

    kind: FolderKind
    version: int
    entries: dict[str, type]  # beside those of each folder

    @property
    def format(self) -> str:
        return f"skembed {self.kind.name}"


def write_folder(folder: Path, layout: ArrayFolder, entries: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write the arrays, then the header."""
    header = {"format": layout.format, "version": layout.version, **entries}
    header["written_by"] = {"skembed": __version__, "numpy": np.__version__, "python": platform.python_version()}
    header["arrays"] = _write_arrays(folder / ARRAYS, arrays)
    header["digest"] = digest_of(header)
    file = folder / layout.kind.header
    with naming(file):
        file.write_text(json.dumps(header, indent=1, allow_nan=False), encoding="ascii")


def _write_arrays(file: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Write a file of safetensors without a second copy of the arrays; return what the header says of it.

    The library would copy all arrays, and hide the reason if the disk is full.
    """
    names = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    described, n_bytes = {}, 0
    for name in names:
        array, first = arrays[name], n_bytes
        n_bytes += array.nbytes
        dtype = _NAMES_OF_DTYPES[array.dtype.newbyteorder("<")]
        described[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [first, n_bytes]}
    text = json.dumps(described).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    digest, size = hashlib.sha256(), 0
    with naming(file), file.open("wb", buffering=0) as opened:
        before = [memoryview(len(text).to_bytes(8, "little")), memoryview(text)]
        for data in chain(before, (_file_bytes(arrays[name]) for name in names)):
            for start in range(0, len(data), _STEP):
                chunk = data[start : start + _STEP]
                digest.update(chunk)
                size += len(chunk)
                while len(chunk):
                    chunk = chunk[opened.write(chunk) :]
    return {"bytes": size, "sha256": digest.hexdigest()}


def _file_bytes(array: np.ndarray) -> memoryview:
    """The bytes of an array in the file, copied only if they are not in this order in memory."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def digest_of(header: Mapping[str, Any]) -> str:
    """Return the digest of a header, which is in it too."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def read_header(folder: Path, layout: ArrayFolder) -> dict[str, Any]:
    """Read a header and check its format, its digest and the types of its entries; a ValueError names the file."""
    if not folder.exists():
        raise FileNotFoundError(f"There is no saved {layout.kind.name} at {folder}.")
    file = folder / layout.kind.header
    check_readable(file, layout.kind)
    if file.stat().st_size > _LARGEST_HEADER:
        raise ValueError(f"{file} is larger than the header of any {layout.kind.name}. It was not written by skembed.")
    try:
        header = parse_json(file.read_text(encoding="ascii"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None
    if not isinstance(header, dict) or header.get("format") != layout.format:
        raise ValueError(f"{file} is not the header of a {layout.format}.")
    version = header.get("version")
    if type(version) is not int or version != layout.version:
        raise ValueError(
            f"{file} has the format version {brief(version)}; this skembed reads version {layout.version}. Load it "
            "with the skembed that wrote it, or a newer one."
        )
    entries = _OWN_ENTRIES | layout.entries
    if set(header) != set(entries) or any(type(header[name]) is not kind for name, kind in entries.items()):
        raise ValueError(f"{file} is damaged: entries are missing or wrong.")
    if digest_of(header) != header["digest"]:
        raise ValueError(f"{file} is damaged: it does not fit its digest. Copy or save the {layout.kind.name} again.")
    return header


def check_readable(file: Path, kind: FolderKind) -> None:
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


def read_arrays(folder: Path, layout: ArrayFolder, header: Mapping[str, Any], *, mmap: bool) -> dict[str, np.ndarray]:
    """Read the arrays that fit a header, or map them into memory; a ValueError names the file."""
    from safetensors import SafetensorError, safe_open

    file = folder / ARRAYS
    check_readable(file, layout.kind)
    if header["arrays"] != {"bytes": file.stat().st_size, "sha256": _sha256(file)}:
        raise ValueError(
            f"{file} is damaged: it does not fit its digest in {layout.kind.header}. Copy or save the "
            f"{layout.kind.name} again."
        )
    try:
        with safe_open(file, framework="numpy") as opened:  # checks the offsets and sizes of all arrays
            names = list(opened.keys())
            if not mmap:
                return {name: opened.get_tensor(name) for name in names}
        return {name: _mapped(file, *entry) for name, entry in _arrays_in(file).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _arrays_in(file: Path) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Type, shape and offset of each array of a file that safetensors has checked."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    return {
        name: (_DTYPES_IN_FILE[entry["dtype"]], tuple(entry["shape"]), 8 + length + entry["data_offsets"][0])
        for name, entry in header.items()
    }


def _mapped(file: Path, dtype: str, shape: tuple[int, ...], offset: int) -> np.ndarray:
    if offset % np.dtype(dtype).itemsize:
        raise ValueError("an array is not aligned.")
    if 0 in shape:  # which cannot be mapped
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, "r", offset, shape))
