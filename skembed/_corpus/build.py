"""A corpus from a stream of text, in memory or in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .._compiled.threads import Threads, count_threads
from .._storage.array_files import GrowingArrays
from .._storage.folders import NewFolder, new_folder
from .._text.encoder import LEAST_BATCHES, CorpusTokenizer
from .._text.sources import Batch, offsets
from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary
from .._validation.values import user_path
from .content import CORPUS, GROWING, Content, arrays_of, make_settings, trust

NO_SENTENCES = "The corpus has no sentences. If it came from an iterator, it may have been consumed before."
# What a corpus is made of: content, tokenizer, settings, path and digest.
Built = tuple[Content, Tokenizer, dict[str, Any], str | None, str | None]


def build(
    batches: Iterable[tuple[Batch, list[int]]],
    tokenizer: Tokenizer,
    to: str | os.PathLike[str] | None,
    min_count: int,
    max_features: int | None,
    n_jobs: int | None,
) -> Built:
    """Encode batches in memory or to the folder `to`."""
    limits = min_count, max_features
    settings = make_settings(tokenizer, *limits)
    if to is None:
        return encode_batches(batches, tokenizer, None, *limits, n_jobs), tokenizer, settings, None, None
    return build_in_folder(
        lambda new: encode_batches(batches, tokenizer, new, *limits, n_jobs), tokenizer, settings, to
    )


def build_in_folder(
    encode: Callable[[NewFolder], Content], tokenizer: Tokenizer, settings: dict[str, Any], to: str | os.PathLike[str]
) -> Built:
    """Save what `encode` returns to the folder `to`; it is given the new folder, for its arrays."""
    with new_folder(to, CORPUS) as new:
        new.write({"settings": settings}, encode(new).arrays()._asdict())
        stored = new.read()  # before others can replace it
    trust(stored)
    content = Content.from_arrays(arrays_of(stored, os.fspath(to)))
    return content, tokenizer, settings, os.path.abspath(user_path(to)), stored.header["digest"]


def encode_batches(
    batches: Iterable[tuple[Batch, list[int]]],
    tokenizer: Tokenizer,
    new: NewFolder | None,
    min_count: int,
    max_features: int | None,
    n_jobs: int | None,
    *,
    may_be_empty: bool = False,
) -> Content:
    """Encode batches of sentences in memory, or in `new`: provisional ids first, then ids by falling count."""
    with Threads(count_threads(n_jobs)) as threads, GrowingArrays(GROWING, new.file_of if new else None) as arrays:
        encoder = CorpusTokenizer(tokenizer, threads)
        arrays.append(sent_ptr=np.zeros(1, np.int64))
        read: list[_Batch] = []
        n_tokens = n_rows = 0
        for ids, ptr, starts, table in encoder.read(batches):
            arrays.append(tokens=ids, sent_ptr=ptr[1:] + n_tokens, doc_ptr=np.asarray(starts, np.int64) + n_rows)
            first_token, first_row = n_tokens, n_rows
            n_tokens, n_rows = n_tokens + len(ids), n_rows + len(ptr) - 1
            read.append(_Batch(first_token, n_tokens, first_row, n_rows, table))
        if not (n_rows or may_be_empty):
            raise ValueError(NO_SENTENCES)
        arrays.append(doc_ptr=np.array([n_rows], np.int64))
        if may_be_empty and not n_tokens:
            return Content(**arrays.finish(), vocabulary=Vocabulary([], []))
        vocabulary, remaps = encoder.order_words(min_count, max_features)
        found, new_ids = arrays["tokens"].renew([batch.last_token for batch in read])
        size = _write_final_ids(read, remaps, found, new_ids, arrays["sent_ptr"].array(), threads)
        return Content(**arrays.finish(tokens=size), vocabulary=vocabulary)


class _Batch(NamedTuple):
    """A batch of sentences between the two passes."""

    first_token: int
    last_token: int
    first_row: int
    last_row: int
    table: int  # index of the table of words that its ids belong to


def _write_final_ids(
    batches: list[_Batch],
    remaps: list[np.ndarray],
    ids: list[Any],
    tokens: np.ndarray,
    sent_ptr: np.ndarray,
    threads: Threads,
) -> int:
    """Write the final ids of all batches, and correct the offsets if words are dropped; returns how many ids stay."""
    from .._compiled.rows import renumber  # numba takes a while to import

    def replace(index: int) -> bool:
        batch, its_ids = batches[index], ids[index]
        ids[index] = None
        return renumber(its_ids, remaps[batch.table], tokens[batch.first_token : batch.last_token])

    if not any(list(threads.in_order(replace, range(len(batches)), LEAST_BATCHES))):
        return len(tokens)
    n_tokens = 0
    for first_token, last_token, first_row, last_row, _ in batches:
        found = tokens[first_token:last_token]
        kept = found >= 0
        ends = sent_ptr[first_row + 1 : last_row + 1]
        ends[:] = n_tokens + offsets(kept)[ends - first_token]
        found = found[kept]
        tokens[n_tokens : n_tokens + len(found)] = found
        n_tokens += len(found)
    return n_tokens


def write_final_ids(tokens: np.ndarray, sent_ptr: np.ndarray, remap: np.ndarray) -> int:
    """Replace the ids of a partition, and correct its offsets if words are dropped; returns what is left."""
    whole = _Batch(0, len(tokens), 0, len(sent_ptr) - 1, 0)
    with Threads(1) as threads:
        return _write_final_ids([whole], [remap], [tokens], tokens, sent_ptr, threads)
