"""The folder that a corpus is saved in: one file for each array and a header in JSON, no pickle."""

from __future__ import annotations

import hashlib
import io
import json
from collections import deque
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from .._validation.json_text import parse_json
from .._validation.messages import brief
from .._validation.paths import describe_unreadable, naming
from .array_folders import check_readable
from .folders import FolderKind

HEADER = "corpus.json"
FORMAT = "skembed corpus"
VERSION = 1


class Arrays(NamedTuple):
    """All arrays of a corpus; each is one file ``<name>.npy``."""

    tokens: np.ndarray  # int32 (n_tokens,): word ids of all sentences, one sentence after the other
    sent_ptr: np.ndarray  # int64 (n_sentences + 1,): sentence i is tokens[sent_ptr[i]:sent_ptr[i + 1]]
    doc_ptr: np.ndarray  # int64 (n_documents + 1,): document d is the sentences doc_ptr[d]:doc_ptr[d + 1]
    counts: np.ndarray  # int64 (n_words,): how often each word occurs
    word_ptr: np.ndarray  # int64 (n_words + 1,): word i is text[word_ptr[i]:word_ptr[i + 1]]
    text: np.ndarray  # uint8 (n_bytes,): UTF-8 of all words


# Little-endian on disk, on every machine.
DTYPES: dict[str, np.dtype[Any]] = {
    "tokens": np.dtype("<i4"),
    "sent_ptr": np.dtype("<i8"),
    "doc_ptr": np.dtype("<i8"),
    "counts": np.dtype("<i8"),
    "word_ptr": np.dtype("<i8"),
    "text": np.dtype("u1"),
}
STEP = 1 << 22  # entries of an array that are worked on at a time


CORPUS_FOLDER = FolderKind("corpus", HEADER, frozenset([HEADER, *(f"{name}.npy" for name in Arrays._fields)]))


def corpus_digest(arrays: Arrays, settings: dict[str, Any]) -> str:
    """Return a hexadecimal digest of everything that a corpus is."""
    digest = hashlib.blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=16)
    for name, array in arrays._asdict().items():
        digest.update(f"{name} {len(array)};".encode())
        for start in range(0, len(array), STEP):  # in chunks, so that a memory map need not be in memory at once
            chunk = np.ascontiguousarray(array[start : start + STEP], dtype=DTYPES[name])
            digest.update(chunk.data)
    return digest.hexdigest()


class _NamedFile(io.FileIO):
    """A file that names itself in errors."""

    def write(self, data: Any) -> int:
        with naming(self.name):
            return super().write(data)


class GrowingArray:
    """An array of a corpus that grows at its end: in memory, or as the file of a folder."""

    def __init__(self, name: str, folder: Path | None) -> None:
        self._dtype = DTYPES[name]
        self._size = 0
        self._appended = [np.empty(0, self._dtype)]  # if there is no folder
        self._file = None if folder is None else io.BufferedRandom(_NamedFile(folder / f"{name}.npy", "w+"))
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

    def renew(self, ends: list[int]) -> tuple[deque[np.ndarray], np.ndarray]:
        """Return the values up to each of the `ends` of what was appended, and the array for others in their place.

        Of a file both are the same memory.
        """
        if self._file is None:
            values, self._appended = deque(self._appended[1:]), [np.empty(self._size, self._dtype)]
            return values, self._appended[0]
        array = np.asarray(self.array())
        return deque(array[first:last] for first, last in pairwise([0, *ends])), array

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
        # The length of the header is the same for any size: numpy pads it.
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._size,)}
        np.lib.format.write_array_header_1_0(self._file, header)
        return self._file.tell()


def write_corpus(folder: Path, arrays: Arrays, settings: dict[str, Any]) -> str:
    """Write the arrays that no :class:`GrowingArray` has written there yet, then the header."""
    for name, array in arrays._asdict().items():
        if not (folder / f"{name}.npy").exists():
            with closing(GrowingArray(name, folder)) as file:
                file.append(array)
                file.finish()
    digest = corpus_digest(arrays, settings)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "digest": digest,
        "sizes": {name: len(array) for name, array in arrays._asdict().items()},
        "settings": settings,
    }
    with io.BufferedWriter(_NamedFile(folder / HEADER, "w")) as raw:
        raw.write(json.dumps(header, indent=1).encode("ascii"))
    return digest


def read_corpus(folder: Path, *, mmap: bool, verify: bool) -> tuple[Arrays, dict[str, Any], str]:
    """Read what :func:`write_corpus` wrote: read-only arrays, settings and digest; a ValueError names a damaged file.

    The arrays are as long as the header says, and nothing else is known of them: a digest that fits, which `verify`
    checks, does not say that they are sound.
    """
    if not folder.exists():
        raise FileNotFoundError(f"There is no saved corpus at {folder}.")
    header = _read_header(folder / HEADER)
    arrays = Arrays(*(_read_array(folder, name, header["sizes"][name], mmap) for name in Arrays._fields))
    if verify and corpus_digest(arrays, header["settings"]) != header["digest"]:
        raise ValueError(f"{folder} is damaged: the arrays do not fit the digest in {HEADER}.")
    return arrays, header["settings"], header["digest"]


def _read_header(file: Path) -> dict[str, Any]:
    check_readable(file, CORPUS_FOLDER)
    try:
        header = parse_json(file.read_text(encoding="ascii"))
    except ValueError as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{file} is not the header of a skembed corpus.")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{file} has format version {brief(header.get('version'))}; this skembed reads version {VERSION}. "
            "Use the skembed that wrote it, or build the corpus again."
        )
    sizes, settings = header.get("sizes"), header.get("settings")
    if not (
        isinstance(header.get("digest"), str)
        and isinstance(sizes, dict)
        and isinstance(settings, dict)
        and set(sizes) == set(Arrays._fields)
        and all(type(size) is int for size in sizes.values())
        and set(settings) == {"options", "min_count", "max_features"}
    ):
        raise ValueError(f"{file} is damaged: entries are missing or wrong.")
    return cast(dict[str, Any], header)


def _read_array(folder: Path, name: str, size: int, mmap: bool) -> np.ndarray:
    file, dtype = folder / f"{name}.npy", DTYPES[name]
    # Mapped even if it is copied afterwards: a damaged header cannot claim more memory than the file has bytes.
    try:
        if kind := describe_unreadable(file):
            raise ValueError(f"it is {kind}")
        array = np.lib.format.open_memmap(file, mode="r")
    except FileNotFoundError:
        raise ValueError(f"{file} is missing; the corpus is not complete.") from None
    except Exception as error:  # a damaged header can raise nearly anything while numpy parses it
        raise ValueError(f"{file} is truncated, damaged or not an array: {error}") from None
    if array.dtype != dtype or array.shape != (size,):
        raise ValueError(f"{file} holds {array.dtype} {array.shape}, expected {dtype} {(size,)}.")
    plain = np.asarray(array) if mmap else np.array(array, subok=False)
    plain = plain.astype(dtype.newbyteorder("="), copy=False)
    plain.flags.writeable = False
    return plain
