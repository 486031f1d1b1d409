"""What a corpus holds: built from text, taken from another corpus, or read from its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._compiled.threads import Threads, count_threads
from .._text.batches import Batch
from .._text.encoder import LEAST_BATCHES, Encoder
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary, check_limits
from .._validation.messages import brief
from .._validation.paths import user_path
from .storage import Arrays, GrowingArray, check_contents, new_folder, read_folder, write_folder


class Content(NamedTuple):
    """What a corpus holds; the arrays are read-only."""

    tokens: np.ndarray  # int32 (n_tokens,)
    sent_ptr: np.ndarray  # int64 (n_sentences + 1,)
    doc_ptr: np.ndarray  # int64 (n_documents + 1,)
    vocabulary: Vocabulary

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Numbers of documents, sentences, tokens and words."""
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


def check_content(tokens: Any, sent_ptr: Any, doc_ptr: Any, vocabulary: Vocabulary) -> Content:
    """Return read-only arrays of the right types, not copied if possible, or say what is wrong with them."""
    tokens = _read_only("tokens", tokens, np.int32)
    sent_ptr, doc_ptr = _read_only("sent_ptr", sent_ptr, np.int64), _read_only("doc_ptr", doc_ptr, np.int64)
    for name, ptr, size in (("sent_ptr", sent_ptr, len(tokens)), ("doc_ptr", doc_ptr, len(sent_ptr) - 1)):
        if not len(ptr) or ptr[0] != 0 or ptr[-1] != size:
            raise ValueError(f"{name} must run from 0 to {size}.")
    check_contents(tokens, sent_ptr, doc_ptr, vocabulary.counts, name="SentenceCorpus")
    return Content(tokens, sent_ptr, doc_ptr, vocabulary)


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


def read_content(
    path: str | os.PathLike[str],
    *,
    mmap: bool,
    verify: bool,
    tokenizer: Tokenizer | None = None,
    analyzer: Callable[[Any], Iterable[str]] | None = None,
    stemmer: Callable[[str], str] | None = None,
) -> tuple[Content, Tokenizer, dict[str, Any], str]:
    """Read a saved corpus: its content, tokenizer, settings and digest. A tokenizer that is given is not read."""
    arrays, settings, digest = read_folder(path, mmap=mmap, verify=verify)
    try:
        check_limits(settings["min_count"], settings["max_features"])
        tokenizer = tokenizer or Tokenizer.from_options(settings["options"], analyzer, stemmer)
        content = Content.from_arrays(arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{user_path(path)}: {error}") from error
    return content, tokenizer, settings, digest


def read_handle(path: str, digest: str, tokenizer: Tokenizer) -> Content:
    """Read a corpus that another process sent as the name of its folder."""
    try:
        content, _, _, found = read_content(path, mmap=True, verify=False, tokenizer=tokenizer)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"This corpus is a memory map of the folder {path}, which is gone. Put the folder back, or open its new "
            "path with SentenceCorpus.load(path)."
        ) from None
    if found != digest:
        raise ValueError(f"The corpus in the folder {path} was replaced by another. Open it with SentenceCorpus.load.")
    return content


def build(
    batches: Iterable[tuple[Batch, list[int]]],
    tokenizer: Tokenizer,
    to: str | os.PathLike[str] | None,
    min_count: int,
    max_features: int | None,
    n_jobs: int | None,
) -> tuple[Content, Tokenizer, dict[str, Any], str | None, str | None]:
    """Encode batches in memory or to the folder `to`; return content, tokenizer, settings, path and digest."""
    settings = make_settings(tokenizer, min_count, max_features)
    options = min_count, max_features, n_jobs
    if to is None:
        return encode(batches, tokenizer, None, *options), tokenizer, settings, None, None
    with new_folder(to) as folder:
        built = encode(batches, tokenizer, folder, *options)
        write_folder(folder, built.arrays(), settings)
        del built  # closes the memory maps: Windows does not rename a folder that holds an open file
    return open_content(to, mmap=True, verify=False, tokenizer=tokenizer)


def open_content(
    path: str | os.PathLike[str], *, mmap: bool, verify: bool, **callables: Any
) -> tuple[Content, Tokenizer, dict[str, Any], str | None, str]:
    """Read a saved corpus as :func:`read_content` does; also return the absolute path of a memory map."""
    content, tokenizer, settings, digest = read_content(path, mmap=mmap, verify=verify, **callables)
    return content, tokenizer, settings, os.path.abspath(user_path(path)) if mmap else None, digest


def encode(
    batches: Iterable[tuple[Batch, list[int]]],
    tokenizer: Tokenizer,
    folder: Path | None,
    min_count: int,
    max_features: int | None,
    n_jobs: int | None,
) -> Content:
    """Encode batches of sentences: one pass gives provisional ids and counts, a second one ids by falling count.

    Parameters
    ----------
    batches : iterable of (sentences, starts)
        As from :func:`iter_batches` or :func:`iter_text`.
    tokenizer : Tokenizer
        The options.
    folder : Path or None
        Folder to make the arrays in, memory-mapped; None keeps everything in memory.
    min_count, max_features
        Which words to keep.
    n_jobs : int or None
        Number of threads, as everywhere.

    Returns
    -------
    content : Content
    """
    with Threads(count_threads(n_jobs)) as threads, ExitStack() as files:
        encoder = Encoder(tokenizer, threads)
        tokens, sent_ptr, doc_ptr = (
            files.enter_context(closing(GrowingArray(name, folder))) for name in ("tokens", "sent_ptr", "doc_ptr")
        )
        sent_ptr.append(np.zeros(1, np.int64))
        read: list[_Batch] = []
        for batch in encoder.read(batches):
            first_token, first_row = len(tokens), len(sent_ptr) - 1
            tokens.append(batch.ids)
            encoder.reuse(batch)
            sent_ptr.append(batch.ptr[1:] + first_token)
            doc_ptr.append(np.asarray(batch.starts, np.int64) + first_row)
            read.append(_Batch(first_token, first_row, encoder.n_rows, batch.table))
        if not encoder.n_rows:
            raise ValueError(
                "The corpus has no sentences. If it came from an iterator, it may have been consumed before."
            )
        doc_ptr.append(np.array([encoder.n_rows], np.int64))
        vocabulary, remaps = encoder.order_words(min_count, max_features)
        size = _write_final_ids(read, remaps, threads, tokens.array(), sent_ptr.array())
        return Content(tokens.finish(size), sent_ptr.finish(), doc_ptr.finish(), vocabulary)


class _Batch(NamedTuple):
    """A batch of sentences between the two passes."""

    first_token: int
    first_row: int
    last_row: int
    table: int  # of words, that its ids belong to


def _write_final_ids(
    batches: list[_Batch], remaps: list[np.ndarray], threads: Threads, tokens: np.ndarray, sent_ptr: np.ndarray
) -> int:
    """Replace provisional ids, and correct the offsets if words are dropped; returns the number of tokens."""
    from .._text.word_order import renumber, renumber_all  # numba takes a while to import

    tokens, sent_ptr = np.asarray(tokens), np.asarray(sent_ptr)  # of a memory map, what the kernels take
    drops = any((remap < 0).any() for remap in remaps)

    def write(some: list[_Batch]) -> list[int]:
        """Return where the tokens of each batch end."""
        lasts = []
        for first, first_row, last_row, table in some:
            last = int(sent_ptr[last_row])
            if drops:
                last = renumber(tokens, remaps[table], first, sent_ptr[first_row + 1 : last_row + 1])
            else:
                renumber_all(tokens[first:last], remaps[table])
            lasts.append(last)
        return lasts

    step = -(-len(batches) // threads.n_threads) if len(batches) >= LEAST_BATCHES else len(batches)
    ranges = [batches[start : start + step] for start in range(0, len(batches), step)]
    lasts = chain.from_iterable(threads.in_order(write, ranges, least=2))
    n_tokens = 0
    for (first, first_row, last_row, _), last in zip(batches, lasts):
        if n_tokens < first:  # close the gap
            tokens[n_tokens : n_tokens + last - first] = tokens[first:last]
            sent_ptr[first_row + 1 : last_row + 1] += n_tokens - first
        n_tokens += last - first
    return n_tokens


def _row_blocks(ptr: np.ndarray, size: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Cut rows into blocks of at most `size` tokens, or one longer row, to bound the memory of the work on each."""
    first, n_rows = 0, len(ptr) - 1
    while first < n_rows:
        last = int(np.searchsorted(ptr, ptr[first] + size, side="right")) - 1
        last = min(max(last, first + 1), first + size, n_rows)
        yield first, last
        first = last


def as_rows(key: Any, n_rows: int) -> np.ndarray:
    """Turn a slice, a mask, or a list of (negative) integers into row numbers from 0 to n_rows - 1."""
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


def take(content: Content, rows: np.ndarray) -> Content:
    """Return the sentences `rows` in this order, with the words that occur in them.

    Words are counted again, so that nothing of the sentences that were left out remains; a document border stands
    wherever two sentences were not neighbours before.
    """
    old_tokens, old_sent_ptr, old_doc_ptr, old_vocabulary = content
    lengths = old_sent_ptr[rows + 1] - old_sent_ptr[rows]
    sent_ptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=sent_ptr[1:])
    tokens = np.empty(sent_ptr[-1], dtype=np.int32)
    counts = np.zeros(len(old_vocabulary), dtype=np.int64)
    for first, last in _row_blocks(sent_ptr):
        a, b = sent_ptr[first], sent_ptr[last]
        shift = old_sent_ptr[rows[first:last]] - sent_ptr[first:last]
        tokens[a:b] = old_tokens[np.arange(a, b) + np.repeat(shift, lengths[first:last])]
        np.add.at(counts, tokens[a:b], 1)
    vocabulary = Vocabulary([], counts[:0])
    if len(tokens):
        text, ptr = (array.copy() for array in old_vocabulary.packed)  # kernels are compiled for arrays to write to
        vocabulary, remap = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts)
        for start in range(0, len(tokens), 1 << 20):
            tokens[start : start + (1 << 20)] = remap[tokens[start : start + (1 << 20)]]
    begins = np.zeros(len(old_sent_ptr), dtype=bool)
    begins[old_doc_ptr] = True
    border = np.ones(len(rows) + 1, dtype=bool)
    border[1:-1] = begins[rows[1:]] | (np.diff(rows) != 1)
    doc_ptr = np.flatnonzero(border) if len(rows) else np.zeros(1, dtype=np.int64)
    return Content(tokens, sent_ptr, doc_ptr, vocabulary)


def sentence_frequencies(content: Content) -> np.ndarray:
    """Return in how many sentences each word occurs, ndarray of shape (n_words,), dtype int64."""
    tokens, sent_ptr, _, vocabulary = content
    found = np.zeros(len(vocabulary), dtype=np.int64)
    for first, last in _row_blocks(sent_ptr):
        ptr = sent_ptr[first : last + 1]
        ids = tokens[ptr[0] : ptr[-1]].copy()  # a copy: scipy sorts it in place
        rows = sparse.csr_array((np.ones(len(ids), bool), ids, ptr - ptr[0]), shape=(last - first, len(found)))
        rows.sum_duplicates()
        found += np.bincount(rows.indices, minlength=len(found))
    return found
