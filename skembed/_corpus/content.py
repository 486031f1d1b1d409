"""What a corpus holds: its arrays, in memory and in a folder, made anew or taken from another corpus.

Compiled code uses them as indices, so what comes from outside goes through :func:`check_arrays`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._storage.folders import FolderKind, Stored, content_digest, new_folder, open_folder, read_header
from .._text.sources import iter_slices, offsets
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary, check_limits
from .._validation.messages import brief
from .._validation.values import PathLike, user_path

STEP = 1 << 20  # tokens, sentences or words that are worked on at a time
GROWING = {"tokens": np.int32, "sent_ptr": np.int64, "doc_ptr": np.int64}  # arrays that are written batch by batch
CORPUS = FolderKind("corpus", "corpus.json", {"settings": dict}, tuple(GROWING))
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


_DTYPES = [*GROWING.values(), np.int64, np.int64, np.uint8]


def corpus_digest(arrays: Arrays, settings: dict[str, Any]) -> str:
    """Return a hexadecimal digest of everything that a corpus is."""
    return content_digest(CORPUS, {"settings": settings}, arrays._asdict())


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
    for array, dtype in zip(arrays, _DTYPES):
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


class Content(NamedTuple):
    """What a corpus holds; the arrays are read-only."""

    tokens: np.ndarray  # int32 (n_tokens,)
    sent_ptr: np.ndarray  # int64 (n_sentences + 1,)
    doc_ptr: np.ndarray  # int64 (n_documents + 1,)
    vocabulary: Vocabulary

    def arrays(self) -> Arrays:
        """Return everything as the arrays that a corpus has on disk."""
        text, word_ptr = self.vocabulary.packed
        return Arrays(self.tokens, self.sent_ptr, self.doc_ptr, self.vocabulary.counts, word_ptr, text)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Content:
        """Undo :meth:`arrays`."""
        vocabulary = Vocabulary.from_packed(arrays.text, arrays.word_ptr, arrays.counts)
        return cls(arrays.tokens, arrays.sent_ptr, arrays.doc_ptr, vocabulary)

    def take(self, rows: np.ndarray) -> Content:
        """Return the sentences `rows` in this order, with their words alone; a new document begins where rows jump."""
        old_tokens, old_sent_ptr, old_doc_ptr, old_vocabulary = self
        lengths = old_sent_ptr[rows + 1] - old_sent_ptr[rows]
        sent_ptr = offsets(lengths)
        tokens = np.empty(sent_ptr[-1], dtype=np.int32)
        counts = np.zeros(len(old_vocabulary), dtype=np.int64)
        for part in iter_slices(sent_ptr, STEP, STEP):
            a, b = sent_ptr[part.start], sent_ptr[part.stop]
            shift = old_sent_ptr[rows[part]] - sent_ptr[part]
            tokens[a:b] = old_tokens[np.arange(a, b) + np.repeat(shift, lengths[part])]
            np.add.at(counts, tokens[a:b], 1)
        vocabulary = Vocabulary([], counts[:0])
        if len(tokens):
            text, ptr = old_vocabulary.packed
            vocabulary, remap = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts)
            for part in iter_slices(sent_ptr, STEP, STEP):
                a, b = sent_ptr[part.start], sent_ptr[part.stop]
                tokens[a:b] = remap[tokens[a:b]]
        begins = np.zeros(len(old_sent_ptr), dtype=bool)
        begins[old_doc_ptr] = True
        border = np.ones(len(rows) + 1, dtype=bool)
        border[1:-1] = begins[rows[1:]] | (np.diff(rows) != 1)
        doc_ptr = np.flatnonzero(border) if len(rows) else np.zeros(1, dtype=np.int64)
        return Content(tokens, sent_ptr, doc_ptr, vocabulary)

    def sentence_frequencies(self) -> np.ndarray:
        """Return in how many sentences each word occurs, ndarray of shape (n_words,), dtype int64."""
        tokens, sent_ptr, _, vocabulary = self
        found = np.zeros(len(vocabulary), dtype=np.int64)
        for part in iter_slices(sent_ptr, STEP, STEP):
            ptr = sent_ptr[part.start : part.stop + 1]
            ids = tokens[ptr[0] : ptr[-1]].copy()  # a copy: scipy sorts it in place
            rows = sparse.csr_array((np.ones(len(ids), bool), ids, ptr - ptr[0]), shape=(len(ptr) - 1, len(found)))
            rows.sum_duplicates()
            found += np.bincount(rows.indices, minlength=len(found))
        return found


def check_content(tokens: np.ndarray, sent_ptr: np.ndarray, doc_ptr: np.ndarray, vocabulary: Vocabulary) -> Content:
    """Return read-only arrays of the right types, not copied if possible, or say what is wrong with them."""
    tokens = _read_only("tokens", tokens, np.int32)
    sent_ptr, doc_ptr = _read_only("sent_ptr", sent_ptr, np.int64), _read_only("doc_ptr", doc_ptr, np.int64)
    content = Content(tokens, sent_ptr, doc_ptr, vocabulary)
    check_arrays(content.arrays(), "SentenceCorpus")
    return content


def _read_only(name: str, array: np.ndarray, dtype: type) -> np.ndarray:
    given = np.asarray(array)
    view: np.ndarray = np.ascontiguousarray(given, dtype=dtype).view()
    if given.ndim != 1 or (given.dtype != dtype and not np.array_equal(given, view)):
        raise ValueError(f"{name} must be a one-dimensional array that fits {np.dtype(dtype)}.")
    view.flags.writeable = False
    return view


def make_settings(tokenizer: Tokenizer, min_count: int, max_features: int | None) -> dict[str, Any]:
    """Return the options of a corpus as JSON can hold them, or say what is wrong with them."""
    min_count, max_features = check_limits(min_count, max_features)
    return {"options": tokenizer.options(), "min_count": min_count, "max_features": max_features}


def open_content(
    path: str | os.PathLike[str],
    *,
    mmap: bool,
    verify: bool,
    tokenizer: Tokenizer | None = None,
    analyzer: Callable[[Any], Iterable[str]] | None = None,
    stemmer: Callable[[str], str] | None = None,
    token_pattern: str | None = None,
) -> tuple[Content, Tokenizer, dict[str, Any], str | None, str]:
    """Read a saved corpus: content, tokenizer, settings, absolute path of a memory map, and digest."""
    stored = open_folder(path, CORPUS, mmap=mmap, verify=verify)
    name, settings, digest = str(user_path(path)), stored.header["settings"], stored.header["digest"]
    arrays, files = arrays_of(stored, name), _identities(stored.files)
    if verify or files is None or files not in _SOUND:
        check_arrays(arrays, name)
        _SOUND.add(files)
    try:
        check_limits(settings["min_count"], settings["max_features"])
        tokenizer = tokenizer or Tokenizer.from_options(settings["options"], analyzer, stemmer, token_pattern)
        content = Content.from_arrays(arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error
    return content, tokenizer, settings, os.path.abspath(name) if mmap else None, digest


def read_handle(path: str, digest: str, tokenizer: Tokenizer) -> Content:
    """Read a corpus that another process sent as the name of its folder."""
    try:
        content, *_, found = open_content(path, mmap=True, verify=False, tokenizer=tokenizer)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"This corpus is a memory map of the folder {path}, which is gone. Put the folder back, or open its new "
            "path with SentenceCorpus.load(path)."
        ) from None
    if found != digest:
        raise ValueError(f"The corpus in the folder {path} was replaced by another. Open it with SentenceCorpus.load.")
    return content


def save_content(
    path: PathLike, content: Content, settings: dict[str, Any], *, own_path: str | None, own_digest: str | None
) -> None:
    """Save a corpus, unless it is a memory map of that very folder, which still holds it."""
    if own_path is not None and os.path.realpath(user_path(path)) == os.path.realpath(own_path):
        with suppress(OSError, ValueError):
            if read_header(path, CORPUS)["digest"] == own_digest:
                return
    with new_folder(path, CORPUS) as new:
        new.write({"settings": settings}, content.arrays()._asdict())


def as_rows(key: Any, n_rows: int) -> np.ndarray:
    """Turn a slice, a mask, or a list of (negative) integers into row indices from 0 to n_rows - 1."""
    if isinstance(key, slice):
        return np.arange(*key.indices(n_rows), dtype=np.int64)
    rows = np.asarray(key)
    if rows.ndim == 1 and rows.dtype == bool:
        if len(rows) != n_rows:
            raise IndexError(f"A mask of {len(rows)} entries for a corpus of {n_rows} sentences.")
        return np.flatnonzero(rows)
    if rows.ndim == 1 and rows.size == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise IndexError(f"Index a corpus with an int, a slice, or a list of ints or bools, not with {brief(key)}.")
    rows = rows.astype(np.int64)
    if rows.min() < -n_rows or rows.max() >= n_rows:
        raise IndexError(f"Sentence {rows[(rows < -n_rows) | (rows >= n_rows)][0]} of a corpus of {n_rows} sentences.")
    return np.where(rows < 0, rows + n_rows, rows)
