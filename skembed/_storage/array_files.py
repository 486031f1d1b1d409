"""Files written whole or not at all; arrays in the format safetensors, grown at their end, mapped into memory."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Self

import numpy as np
from numpy.typing import DTypeLike

from .._validation.values import PathLike, naming, user_path


@contextmanager
def replacing(path: PathLike) -> Iterator[IO[bytes]]:
    """Give a file to write to, beside the path, and put it there in one step if all goes well."""
    target = user_path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder. Give the name of a file.")
    with naming(target):
        file = NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", suffix=".new", delete=False)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(file.name, _mode_of_new_files())
            os.replace(file.name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise


def _mode_of_new_files() -> int:
    """Permissions that `open` would give; those of a temporary file are for its owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


_DTYPES = {"F16": "<f2", "I8": "i1", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_ALIGNMENT = 8  # of the first array; the largest numbers come first, so that all arrays are aligned
_LENGTH = 8  # bytes, of the length of the header
_HEADER_THAT_GROWS = 120  # bytes, for an array of any size


def digest_of_array(array: np.ndarray) -> str:
    """Return a digest of the type, the shape and the numbers of an array."""
    digest = hashlib.sha256(f"{_NAMES[array.dtype.newbyteorder('<')]} {array.shape};".encode())
    digest.update(_bytes_of(array))
    return digest.hexdigest()


def write_arrays(file: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a new file; older versions of safetensors copy all arrays first, and hide why they fail."""
    ordered = dict(sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])))
    with naming(file), file.open("xb") as opened:
        opened.write(_header({name: (array.dtype, array.shape) for name, array in ordered.items()}))
        for array in ordered.values():
            opened.write(_bytes_of(array))


def map_arrays(file: Path) -> dict[str, np.ndarray]:
    """Map the arrays of a file into memory, read-only; a ValueError says what is wrong with the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy"), file.open("rb") as opened:  # checks types, shapes and offsets
            length = int.from_bytes(opened.read(_LENGTH), "little")
            header = json.loads(opened.read(length))
        header.pop("__metadata__", None)
        start = _LENGTH + length
        return {
            name: _mapped(file, _DTYPES[entry["dtype"]], start + entry["data_offsets"][0], tuple(entry["shape"]))
            for name, entry in header.items()
        }
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None


def _mapped(file: Path, dtype: str, offset: int, shape: tuple[int, ...]) -> np.ndarray:
    if offset % np.dtype(dtype).itemsize:
        raise ValueError("an array is not aligned.")
    # Nothing cannot be mapped.
    array = np.asarray(np.memmap(file, dtype, "r", offset, shape)) if math.prod(shape) else np.zeros(shape, dtype)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    array.flags.writeable = False
    return array


def _bytes_of(array: np.ndarray) -> memoryview:
    """Return the bytes of an array in a file, copied only if they are not in this order in memory."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def _header(arrays: Mapping[str, tuple[np.dtype, tuple[int, ...]]], length: int = 0) -> bytes:
    """Return the begin of a file: the types, shapes and offsets of its arrays, in at least `length` bytes."""
    described: dict[str, object] = {}
    end = 0
    for name, (dtype, shape) in arrays.items():
        first, end = end, end + dtype.itemsize * math.prod(shape)
        described[name] = {"dtype": _NAMES[dtype.newbyteorder("<")], "shape": shape, "data_offsets": [first, end]}
    text = json.dumps(described).encode()
    text = text.ljust(max(length, len(text) + -len(text) % _ALIGNMENT))  # spaces, as the format allows
    return len(text).to_bytes(_LENGTH, "little") + text


class _NamedFile(io.FileIO):
    """A file that names itself in errors."""

    def write(self, data: Any) -> int:
        with naming(self.name):
            return super().write(data)


class GrowingArray:
    """An array of one axis that grows at its end: in memory, or in a file of its own."""

    def __init__(self, name: str, dtype: DTypeLike, file: Path | None) -> None:
        self._name, self._dtype = name, np.dtype(dtype).newbyteorder("<")
        self._size = 0
        self._appended = [np.empty(0, self._dtype)]  # if there is no file
        self._file = None if file is None else io.BufferedRandom(_NamedFile(file, "x+"))
        self._start = self._write_header()

    def __len__(self) -> int:
        return self._size

    def append(self, values: np.ndarray) -> None:
        """Add values at the end; in memory they are not copied yet."""
        self._size += len(values)
        if self._file is None:
            self._appended.append(values)
        else:
            self._file.write(np.ascontiguousarray(values, self._dtype).data)

    def array(self) -> np.ndarray:
        """Return the array itself: writing to it changes this one."""
        if self._file is None:
            if len(self._appended) > 1:
                self._appended = [np.concatenate(self._appended, dtype=self._dtype)]
            return self._appended[0]
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r+", self._start, (self._size,))

    def renew(self, ends: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        """The values up to each of the `ends` of what was appended, and the array for others in their place."""
        if self._file is None:
            values, self._appended = self._appended[1:], [np.empty(self._size, self._dtype)]
            return values, self._appended[0]
        array = np.asarray(self.array())
        return [array[first:last] for first, last in pairwise([0, *ends])], array

    def finish(self, size: int | None = None) -> np.ndarray:
        """Return the first `size` values, or all, as the final array. Nothing may use :meth:`array` any more."""
        self._size = self._size if size is None else size
        if self._file is None:
            array = self.array()
            array.resize(self._size, refcheck=False)
            return array
        self._file.seek(0)
        self._write_header()
        self._file.truncate(self._start + self._size * self._dtype.itemsize)
        array = self.array()
        self.close()
        return array

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()

    def _write_header(self) -> int:
        if self._file is None:
            return 0
        self._file.write(_header({self._name: (self._dtype, (self._size,))}, _HEADER_THAT_GROWS))
        return self._file.tell()


class GrowingArrays(dict[str, GrowingArray]):
    """Arrays that grow together, by name: in memory, or each in a file of its own. Leaving it closes the files."""

    def __init__(self, dtypes: Mapping[str, DTypeLike], file_of: Callable[[str], Path] | None) -> None:
        super().__init__()
        for name, dtype in dtypes.items():
            self[name] = GrowingArray(name, dtype, None if file_of is None else file_of(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for array in self.values():
            array.close()

    def append(self, **values: np.ndarray) -> None:
        """Add values at the ends of some arrays."""
        for name, added in values.items():
            self[name].append(added)

    def finish(self, **sizes: int) -> dict[str, np.ndarray]:
        """Return the final arrays, some cut to a size."""
        return {name: array.finish(sizes.get(name)) for name, array in self.items()}
