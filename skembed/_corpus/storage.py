"""The arrays of a corpus, in memory and in a folder. Compiled code uses them as indices, and does not check.

So whatever comes from outside goes through :func:`check_arrays`: a folder, a pickle, arrays that a user gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._storage.array_files import GrowingArray
from .._storage.folders import FolderKind, NewFolder, Stored, content_digest, open_folder
from .._validation.messages import brief
from .._validation.values import PathLike, user_path

STEP = 1 << 22  # entries of an array that are worked on at a time
GROWING = ("tokens", "sent_ptr", "doc_ptr")
CORPUS = FolderKind("corpus", "corpus.json", {"settings": dict}, GROWING)
# Files, by identity, time and size, that were found sound or were written by this process.
_SOUND: set[tuple[tuple[int, ...], ...] | None] = set()


class Arrays(NamedTuple):
    """All arrays of a corpus."""

    tokens: np.ndarray  # int32 (n_tokens,): word ids of all sentences, one sentence after the other
    sent_ptr: np.ndarray  # int64 (n_sentences + 1,): sentence i is tokens[sent_ptr[i]:sent_ptr[i + 1]]
    doc_ptr: np.ndarray  # int64 (n_documents + 1,): document d is the sentences doc_ptr[d]:doc_ptr[d + 1]
    counts: np.ndarray  # int64 (n_words,): how often each word occurs
    word_ptr: np.ndarray  # int64 (n_words + 1,): word i is text[word_ptr[i]:word_ptr[i + 1]]
    text: np.ndarray  # uint8 (n_bytes,): UTF-8 of all words


DTYPES = dict(zip(Arrays._fields, map(np.dtype, ("int32", "int64", "int64", "int64", "int64", "uint8"))))


def growing_arrays(new: NewFolder | None) -> list[GrowingArray]:
    """Return tokens, sent_ptr and doc_ptr as arrays that grow: in the files of a folder, or in memory."""
    return [GrowingArray(name, DTYPES[name], new.file_of(name) if new else None) for name in GROWING]


def corpus_digest(arrays: Arrays, settings: dict[str, Any]) -> str:
    """Return a hexadecimal digest of everything that a corpus is."""
    return content_digest(CORPUS, {"settings": settings}, arrays._asdict())


def read_corpus(path: PathLike, *, mmap: bool, verify: bool) -> tuple[Arrays, dict[str, Any], str]:
    """Read a saved corpus: sound, read-only arrays, settings and digest. `verify` also checks the digest."""
    stored = open_folder(path, CORPUS, mmap=mmap, verify=verify)
    arrays = arrays_of(stored, str(user_path(path)))
    files = _identities(stored.files)
    if verify or files is None or files not in _SOUND:
        check_arrays(arrays, str(user_path(path)))
        _SOUND.add(files)
    return arrays, stored.header["settings"], stored.header["digest"]


def arrays_of(stored: Stored, name: str) -> Arrays:
    """Return the arrays of a folder, read-only; a ValueError if others are there, or settings are missing."""
    if set(stored.arrays) != set(Arrays._fields):
        raise ValueError(f"{name} is damaged: it has the arrays {brief(sorted(stored.arrays))}.")
    if set(stored.header["settings"]) != {"options", "min_count", "max_features"}:
        raise ValueError(f"{name} is damaged: settings are missing or wrong.")
    for array in stored.arrays.values():
        array.flags.writeable = False
    return Arrays(**stored.arrays)


def trust(stored: Stored) -> None:
    """Skip the check of a folder that this process has written, until its files change."""
    _SOUND.add(_identities(stored.files))


def _identities(files: Iterable[Path]) -> tuple[tuple[int, ...], ...] | None:
    try:
        found = [file.stat() for file in files]
    except FileNotFoundError:  # another process has replaced the folder meanwhile
        return None
    return tuple((file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size) for file in found)


def check_arrays(arrays: Arrays, name: str) -> None:
    """Check that offsets, ids and counts fit each other, and that words are distinct UTF-8; `name` is for errors."""
    tokens, sent_ptr, doc_ptr, counts, word_ptr, text = arrays
    for array, dtype in zip(arrays, DTYPES.values()):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != dtype:
            raise ValueError(f"{name}: an array of a corpus has the wrong type.")
    for pointer, ptr, last, smallest in (
        ("sent_ptr", sent_ptr, len(tokens), 0),
        ("doc_ptr", doc_ptr, len(sent_ptr) - 1, 1),
        ("word_ptr", word_ptr, len(text), 0),
    ):
        _check_offsets(ptr, last, smallest, f"{name}: {pointer}")
    if len(counts) != len(word_ptr) - 1:
        raise ValueError(f"{name}: {len(counts)} counts for {len(word_ptr) - 1} words.")
    _check_words(text, word_ptr, name)
    _check_counts(tokens, counts, name)


def _check_offsets(ptr: np.ndarray, last: int, smallest: int, name: str) -> None:
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != last:
        raise ValueError(f"{name} must run from 0 to {last}.")
    for start in range(0, len(ptr) - 1, STEP):
        chunk = ptr[start : start + STEP + 1]
        if (chunk[1:] < chunk[:-1]).any() or (smallest and (chunk[1:] == chunk[:-1]).any()):
            raise ValueError(f"{name} must rise by at least {smallest} at each step.")


def _check_words(text: np.ndarray, word_ptr: np.ndarray, name: str) -> None:
    packed, borders = text.tobytes(), word_ptr[:-1][word_ptr[:-1] < len(text)]
    try:
        packed.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: the words are not UTF-8: {error}") from None
    if (text[borders] & 0xC0 == 0x80).any():
        raise ValueError(f"{name}: word_ptr cuts a character.")
    ends = word_ptr.tolist()
    if len({packed[start:end] for start, end in zip(ends, ends[1:])}) < len(word_ptr) - 1:
        raise ValueError(f"{name}: a word stands twice in the vocabulary.")


def _check_counts(tokens: np.ndarray, counts: np.ndarray, name: str) -> None:
    if len(tokens) and not 0 <= tokens.min() <= tokens.max() < len(counts):
        raise ValueError(f"{name}: tokens must be from 0 to {len(counts) - 1}, the ids of the words.")
    if (counts[1:] > counts[:-1]).any():
        raise ValueError(f"{name}: counts must fall, as ids are given by falling count.")
    found = np.zeros(len(counts), np.int64)
    for start in range(0, len(tokens), STEP):
        found += np.bincount(tokens[start : start + STEP], minlength=len(counts))
    if not np.array_equal(found, counts):
        raise ValueError(f"{name}: counts must say how often each word occurs in tokens.")
