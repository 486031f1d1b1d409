"""How often texts have character n-grams: a vocabulary of n-grams, and counts of texts."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._compiled.compile import lean_kernel
from .._compiled.threads import Threads
from .._validation.messages import brief
from .character_ngrams import CharacterNgrams
from .character_spans import Lengths, cut_to_spans
from .characters import CharacterEncoder, GrowingTrie
from .encoder import LEAST_BATCHES
from .ngram_trie import Trie, find_tokens
from .sources import BATCH_LENGTH, decode_words, iter_slices, offsets, wrong_row
from .vocabulary import Vocabulary


class Counts(NamedTuple):
    """How often each text has each n-gram: the parts of a matrix in CSR format, with sorted columns."""

    data: np.ndarray  # (n,) float32
    columns: np.ndarray  # (n,) int32
    ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in them


class NgramVocabulary:
    """The n-grams that a model knows, in the order of their characters, as scikit-learn orders them.

    The table of compiled code is made at the first use and not pickled.
    """

    def __init__(self, text: np.ndarray, lengths: np.ndarray) -> None:
        self.text = text  # (n_bytes,) uint8: the n-grams in UTF-8
        self.lengths = lengths  # (n_ngrams,) unsigned: bytes of each

    def __len__(self) -> int:
        return len(self.lengths)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the n-grams as arrays for a file, uint8; none has more than 255 bytes."""
        return {"text": self.text, "lengths": self.lengths.astype(np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray | None], longest: int) -> NgramVocabulary:
        """Undo `to_arrays`; a ValueError if they are no n-grams of at most so many characters, in their order."""
        text, lengths = (np.asarray(arrays.get(name)) for name in ("text", "lengths"))
        is_sound = text.dtype == lengths.dtype == np.uint8 and text.ndim == lengths.ndim == 1
        if is_sound and len(text) == lengths.sum() > 0:
            found = cls(text, lengths)
            try:
                names = found.names()
            except UnicodeDecodeError:
                names = []
            if names and names[0] and max(map(len, names)) <= longest and all(a < b for a, b in pairwise(names)):
                return found
        raise ValueError("The n-grams of characters are none, or stand in another order than those of a model.")

    def names(self) -> list[str]:
        """Return the n-grams."""
        return decode_words(self.text, offsets(self.lengths))

    @functools.cached_property
    def _table(self) -> tuple[Trie, np.ndarray]:
        known = GrowingTrie(CharacterNgrams())
        nodes = known.add(self.names())
        column_of = np.full(known.n_nodes, -1, np.int32)
        column_of[nodes] = np.arange(len(nodes))
        return known.trie, column_of

    def count(self, texts: Sequence[str], analyzer: CharacterNgrams, threads: Threads) -> Counts:
        """Count the n-grams of texts."""

        def count_some(rows: slice) -> Counts:
            trie, column_of = self._table
            spans = cut_to_spans(texts[rows], analyzer)
            tokens = np.empty(spans.token_ptr[-1], np.int32)
            find_tokens(spans, Lengths(*analyzer.ngram_range), trie, tokens)
            return _counted(tokens, spans.token_ptr, column_of, len(self))

        counted = list(threads.in_order(count_some, _slices(texts)))
        if len(counted) == 1:
            return counted[0]
        data, columns, ptrs = zip(*counted)
        sizes = offsets(np.array([len(part) for part in data], np.int64))
        ptr = np.concatenate([ptrs[0][:1], *(its_ptr[1:] + first for its_ptr, first in zip(ptrs, sizes))])
        return Counts(np.concatenate(data), np.concatenate(columns), ptr)

    def __getstate__(self) -> dict[str, Any]:
        return {"text": self.text, "lengths": self.lengths}


def learn_ngrams(
    texts: Sequence[str], analyzer: CharacterNgrams, min_df: float, threads: Threads
) -> tuple[NgramVocabulary, np.ndarray, Counts]:
    """Return the n-grams that `min_df` texts have, their numbers of texts (int64), and the counts of the texts."""
    read, trie, nodes_of = _read(texts, analyzer, threads)
    last_row, n_texts = np.zeros((2, len(trie.edges)), np.int64)
    first_row = 0
    for tokens, ptr, index in read:
        _count_texts(tokens, ptr, nodes_of[index], first_row, last_row, n_texts)
        first_row += len(ptr) - 1
    del last_row
    vocabulary, nodes = _vocabulary(trie, n_texts, min_df, len(texts), analyzer)
    df, columns = n_texts[nodes], np.full(len(n_texts), -1, np.int32)
    columns[nodes] = np.arange(len(nodes))
    column_of = [columns[its_nodes] for its_nodes in nodes_of]
    del trie, nodes_of

    def count_batch(batch: tuple[np.ndarray, np.ndarray, int]) -> Counts:
        tokens, ptr, index = batch
        return _counted(tokens, ptr, column_of[index], len(vocabulary))

    n = int(df.sum())
    counts = Counts(np.empty(n, np.float32), np.empty(n, np.int32), np.zeros(len(texts) + 1, np.int64))
    row = 0
    # A batch is freed when it is counted.
    for data, its_columns, ptr in threads.in_order(count_batch, (read.popleft() for _ in range(len(read)))):
        first = counts.ptr[row]
        counts.data[first : first + len(data)], counts.columns[first : first + len(data)] = data, its_columns
        counts.ptr[row : row + len(ptr)] = ptr + first
        row += len(ptr) - 1
    return vocabulary, df, counts


def _read(
    texts: Sequence[str], analyzer: CharacterNgrams, threads: Threads
) -> tuple[deque[tuple[np.ndarray, np.ndarray, int]], GrowingTrie, list[np.ndarray]]:
    """Return texts as nodes of the tries of threads, the trie of all, and what becomes of the nodes of each trie."""
    encoder = CharacterEncoder(analyzer)
    read = deque(threads.in_order(lambda rows: encoder.read(texts[rows]), _slices(texts), LEAST_BATCHES))
    trie, nodes = encoder.merged()
    assert isinstance(trie, GrowingTrie), "each n-gram is counted"
    return read, trie, nodes


def _vocabulary(
    trie: GrowingTrie, n_texts: np.ndarray, min_df: float, n_all: int, analyzer: CharacterNgrams
) -> tuple[NgramVocabulary, np.ndarray]:
    """Return the n-grams that enough texts have, and their nodes, int64."""
    least = min_df if isinstance(min_df, Integral) else min_df * n_all
    is_ngram = n_texts >= max(least, 1)
    if not is_ngram.any():
        most = int(n_texts.max())
        why = (
            f"the most frequent one is in {most} of {n_all} texts, below min_df={brief(min_df)}. Lower min_df."
            if most
            else f"all {n_all} texts are shorter than ngram_range={analyzer.ngram_range} or empty."
        )
        raise ValueError(f"No n-gram of characters is left: {why}")
    nodes = np.flatnonzero(is_ngram)
    text, ptr = trie.packed(nodes)
    ordered, columns = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], np.ones(len(nodes)))  # by their bytes
    text, ptr = ordered.packed
    lengths = np.diff(ptr)
    return NgramVocabulary(text, lengths.astype(np.min_scalar_type(lengths.max()))), nodes[np.argsort(columns)]


def _counted(tokens: np.ndarray, token_ptr: np.ndarray, column_of: np.ndarray, n_columns: int) -> Counts:
    """Count the columns of nodes."""
    columns, ptr = np.empty_like(tokens), np.empty_like(token_ptr)
    _keep_columns(tokens, token_ptr, column_of, columns, ptr)
    counts = np.empty(ptr[-1], np.float32)
    spare, starts = np.empty(np.diff(ptr).max(initial=0), np.int32), np.empty(256, np.int64)
    n = _count_columns(columns, ptr, (n_columns - 1).bit_length(), spare, starts, counts)
    return Counts(counts[:n], columns[:n], ptr)


def _slices(texts: Sequence[str]) -> Iterator[slice]:
    """Yield slices of the texts with about BATCH_LENGTH characters; one for no text."""
    if set(map(type, texts)) != {str}:
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise wrong_row(row, text)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return iter_slices(offsets(lengths), BATCH_LENGTH) if len(texts) else iter([slice(0, 0)])


@lean_kernel
def _keep_columns(tokens, token_ptr, column_of, columns, ptr):
    """Write the columns of nodes that have one (not -1), and where each text begins in them."""
    n_found = np.int64(0)
    ptr[0] = 0
    for row in range(token_ptr.shape[0] - 1):
        for i in range(token_ptr[row], token_ptr[row + 1]):
            column = column_of[tokens[i]]
            if column >= 0:
                columns[n_found] = column
                n_found += 1
        ptr[row + 1] = n_found


@lean_kernel
def _count_columns(columns, ptr, n_bits, spare, starts, counts):
    """Sort the columns of each row and write each once, with how often it was there; returns how many are left.

    ``columns``, of at most `n_bits` bits, and ``ptr`` are changed in place; ``spare``, as long as the longest row, and
    ``starts`` (256,) hold anything.
    """
    n = first = np.int64(0)
    for row in range(ptr.shape[0] - 1):
        size = ptr[row + 1] - first
        source, source_start, target, target_start = columns, first, spare, np.int64(0)
        for shift in range(0, n_bits, 8):  # by digits of eight bits, the lowest one first
            for digit in range(256):
                starts[digit] = 0
            for i in range(source_start, source_start + size):
                starts[(source[i] >> shift) & 255] += 1
            end = target_start
            for digit in range(256):
                end, starts[digit] = end + starts[digit], end
            for i in range(source_start, source_start + size):
                digit = (source[i] >> shift) & 255
                target[starts[digit]] = source[i]
                starts[digit] += 1
            source, source_start, target, target_start = target, target_start, source, source_start
        begins = n
        for i in range(source_start, source_start + size):
            if n > begins and source[i] == columns[n - 1]:
                counts[n - 1] += np.float32(1.0)
            else:
                columns[n], counts[n] = source[i], np.float32(1.0)
                n += 1
        first = ptr[row + 1]
        ptr[row + 1] = n
    return n


@lean_kernel
def _count_texts(tokens, token_ptr, nodes, first_row, last_row, n_texts):
    """Add to the number of texts that have each n-gram; ``last_row`` is the last row of each, from 1, at first 0."""
    for row in range(token_ptr.shape[0] - 1):
        stamp = first_row + row + 1
        for i in range(token_ptr[row], token_ptr[row + 1]):
            node = nodes[tokens[i]]
            if last_row[node] != stamp:
                last_row[node] = stamp
                n_texts[node] += 1
