"""Whether the arrays of a corpus are sound: compiled code uses them as indices, and does not check.

Whatever comes from outside goes through :func:`check_arrays`: a folder, a pickle, arrays that a user gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._validation.paths import PathLike, user_path
from .folders import read_whole
from .storage import CORPUS_FOLDER, STEP, Arrays, read_corpus

# Files, by identity, time and size, that were found sound or were written by this process.
_SOUND: set[tuple[tuple[int, ...], ...]] = set()


def read_folder(path: PathLike, *, mmap: bool, verify: bool) -> tuple[Arrays, dict[str, Any], str]:
    """Read a saved corpus: sound arrays, settings and digest. `verify` also checks the digest."""
    return read_whole(user_path(path), lambda folder: _read_sound(folder, mmap=mmap, verify=verify))


def _read_sound(folder: Path, *, mmap: bool, verify: bool) -> tuple[Arrays, dict[str, Any], str]:
    found = read_corpus(folder, mmap=mmap, verify=verify)
    files = _identities(folder)
    if verify or files not in _SOUND:
        check_arrays(found[0], str(folder))
        _SOUND.add(files)
    return found


def trust_folder(folder: Path) -> None:
    """Skip the check of a folder that this process has written, until its files change."""
    _SOUND.add(_identities(folder))


def _identities(folder: Path) -> tuple[tuple[int, ...], ...]:
    found = (file.stat() for file in (folder / name for name in sorted(CORPUS_FOLDER.files)))
    return tuple((file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size) for file in found)


def check_arrays(arrays: Arrays, name: str) -> None:
    """Check that offsets, ids and counts fit each other, and that words are distinct UTF-8; `name` is for errors."""
    tokens, sent_ptr, doc_ptr, counts, word_ptr, text = arrays
    for array, dtype in zip(arrays, (np.int32, np.int64, np.int64, np.int64, np.int64, np.uint8)):
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
