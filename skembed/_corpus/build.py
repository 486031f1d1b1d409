"""A corpus from a stream of text, in memory or in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._compiled.threads import Threads, count_threads
from .._text.batches import Batch
from .._text.encoder import LEAST_BATCHES, Encoder
from .._text.tokenizer import Tokenizer
from .content import Content, make_settings, open_content
from .storage import GrowingArray, new_folder, write_folder


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
    limits = min_count, max_features
    if to is None:
        return encode_batches(batches, tokenizer, None, *limits, n_jobs), tokenizer, settings, None, None
    with new_folder(to) as folder:
        built = encode_batches(batches, tokenizer, folder, *limits, n_jobs)
        write_folder(folder, built.arrays(), settings)
        del built  # closes the memory maps: Windows does not rename a folder that holds an open file
    return open_content(to, mmap=True, verify=False, tokenizer=tokenizer)


def encode_batches(
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
    from .renumber import renumber, renumber_all  # numba takes a while to import

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
