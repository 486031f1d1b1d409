"""What a corpus holds: taken from another corpus, or read from its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._storage.folders import new_folder, read_header
from .._text.batches import offsets
from .._text.sources import iter_slices
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary, check_limits
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from .storage import CORPUS, Arrays, check_arrays, read_corpus

_STEP = 1 << 20  # tokens, or sentences, that are worked on at once


class Content(NamedTuple):
    """What a corpus holds; the arrays are read-only."""

    tokens: np.ndarray  # int32 (n_tokens,)
    sent_ptr: np.ndarray  # int64 (n_sentences + 1,)
    doc_ptr: np.ndarray  # int64 (n_documents + 1,)
    vocabulary: Vocabulary

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Number of documents, of sentences, of tokens and of words."""
        return len(self.doc_ptr) - 1, len(self.sent_ptr) - 1, len(self.tokens), len(self.vocabulary)

    def arrays(self) -> Arrays:
        """Return everything as the arrays that a corpus has on disk."""
        text, word_ptr = self.vocabulary.packed
        return Arrays(self.tokens, self.sent_ptr, self.doc_ptr, self.vocabulary.counts, word_ptr, text)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Content:
        """Undo :meth:`arrays`."""
        vocabulary = Vocabulary.from_packed(arrays.text, arrays.word_ptr, arrays.counts)
        return cls(arrays.tokens, arrays.sent_ptr, arrays.doc_ptr, vocabulary)

    @classmethod
    def from_pickle(cls, arrays: Iterable[np.ndarray]) -> Content:
        """The same for arrays that a pickle has, which may not fit each other."""
        plain = Arrays(*map(np.asarray, arrays))  # joblib may give memory maps
        check_arrays(plain, "The pickle of a SentenceCorpus")
        return cls.from_arrays(plain)

    def take(self, rows: np.ndarray) -> Content:
        """Return the sentences `rows` in this order, with the words that occur in them.

        Words are counted again, so that nothing of the sentences that were left out remains; a new document begins
        wherever two sentences were not neighbours before.
        """
        old_tokens, old_sent_ptr, old_doc_ptr, old_vocabulary = self
        lengths = old_sent_ptr[rows + 1] - old_sent_ptr[rows]
        sent_ptr = offsets(lengths)
        tokens = np.empty(sent_ptr[-1], dtype=np.int32)
        counts = np.zeros(len(old_vocabulary), dtype=np.int64)
        for part in iter_slices(sent_ptr, _STEP, _STEP):
            a, b = sent_ptr[part.start], sent_ptr[part.stop]
            shift = old_sent_ptr[rows[part]] - sent_ptr[part]
            tokens[a:b] = old_tokens[np.arange(a, b) + np.repeat(shift, lengths[part])]
            np.add.at(counts, tokens[a:b], 1)
        vocabulary = Vocabulary([], counts[:0])
        if len(tokens):
            text, ptr = old_vocabulary.packed
            vocabulary, remap = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts)
            for part in iter_slices(sent_ptr, _STEP, _STEP):
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
        for part in iter_slices(sent_ptr, _STEP, _STEP):
            ptr = sent_ptr[part.start : part.stop + 1]
            ids = tokens[ptr[0] : ptr[-1]].copy()  # a copy: scipy sorts it in place
            rows = sparse.csr_array((np.ones(len(ids), bool), ids, ptr - ptr[0]), shape=(len(ptr) - 1, len(found)))
            rows.sum_duplicates()
            found += np.bincount(rows.indices, minlength=len(found))
        return found


def check_content(tokens: Any, sent_ptr: Any, doc_ptr: Any, vocabulary: Vocabulary) -> Content:
    """Return read-only arrays of the right types, not copied if possible, or say what is wrong with them."""
    tokens = _read_only("tokens", tokens, np.int32)
    sent_ptr, doc_ptr = _read_only("sent_ptr", sent_ptr, np.int64), _read_only("doc_ptr", doc_ptr, np.int64)
    content = Content(tokens, sent_ptr, doc_ptr, vocabulary)
    check_arrays(content.arrays(), "SentenceCorpus")
    return content


def _read_only(name: str, array: Any, dtype: type) -> np.ndarray:
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
    """Read a saved corpus: content, tokenizer, settings, absolute path of a memory map, and digest.

    A tokenizer that is given is not read.
    """
    arrays, settings, digest = read_corpus(path, mmap=mmap, verify=verify)
    try:
        check_limits(settings["min_count"], settings["max_features"])
        tokenizer = tokenizer or Tokenizer.from_options(settings["options"], analyzer, stemmer, token_pattern)
        content = Content.from_arrays(arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{user_path(path)}: {error}") from error
    return content, tokenizer, settings, os.path.abspath(user_path(path)) if mmap else None, digest


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
