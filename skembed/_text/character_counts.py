"""How often texts have character n-grams: a vocabulary of n-grams, and counts of texts."""

from __future__ import annotations

import functools
import sys
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
from .ngram_trie import Trie, edge_to, find_tokens, parent_and_character, trie_of
from .sources import BATCH_LENGTH, iter_slices, offsets, wrong_row

_DTYPES_IN_FILE = np.uint8, np.int32, np.uint8


class Counts(NamedTuple):
    """How often each text has each n-gram: the parts of a matrix in CSR format, with sorted columns."""

    data: np.ndarray  # (n,) float32
    columns: np.ndarray  # (n,) int32
    ptr: np.ndarray  # (n_texts + 1,) int64: offset of each text in them


class NgramVocabulary:
    """The n-grams that a model knows, in the order of their characters, as scikit-learn orders them.

    They are nodes of a trie. Each is written as a character and a depth: its beginning is that of the node before. The
    table of compiled code is made at the first use and not pickled.
    """

    def __init__(self, depths: np.ndarray, characters: np.ndarray, is_ngram: np.ndarray) -> None:
        self.depths = depths  # (n_nodes,) unsigned: number of characters of each node; 0 of the first, the root
        self.characters = characters  # (n_nodes,) unsigned: the last one of each
        self.is_ngram = is_ngram  # (n_nodes,) bool; the other nodes are beginnings

    def __len__(self) -> int:
        return int(np.count_nonzero(self.is_ngram))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return the n-grams as arrays for a file: uint8, int32 and uint8; none has more than 255 characters."""
        arrays = {"depths": self.depths, "characters": self.characters, "is_ngram": self.is_ngram}
        return {name: array.astype(dtype) for (name, array), dtype in zip(arrays.items(), _DTYPES_IN_FILE)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray | None], longest: int) -> NgramVocabulary:
        """Undo `to_arrays`; a ValueError if they are no n-grams of at most so many characters, in their order."""
        found = [arrays.get(name) for name in ("depths", "characters", "is_ngram")]
        is_sound = all(array is not None and array.dtype == dtype for array, dtype in zip(found, _DTYPES_IN_FILE))
        if is_sound:
            depths, characters, is_ngram = (np.asarray(array) for array in found)
            is_sound = depths.ndim == 1 and depths.shape == characters.shape == is_ngram.shape and len(depths) > 1
        if is_sound:
            steps = np.diff(depths.astype(np.int64))
            is_sound = not depths[0] and depths[1:].min() > 0 and depths.max() <= longest and steps.max() <= 1
            is_sound = is_sound and 0 <= characters.min() <= characters.max() <= sys.maxunicode
            is_sound = is_sound and not is_ngram[0] and is_ngram.max() <= 1
        if is_sound:
            nodes = cls(depths, characters, np.append(False, np.ones(len(depths) - 1, bool))).names()
            is_sound = all(before < after for before, after in pairwise(nodes))
        if not is_sound:
            raise ValueError("The n-grams of characters are none, or stand in another order than those of a model.")
        return cls(_narrow(depths), _narrow(characters.astype(np.uint32)), is_ngram.astype(bool))

    def names(self) -> list[str]:
        """Return the n-grams."""
        names, name = [], ""
        parts = (part[1:].tolist() for part in (self.depths, self.characters, self.is_ngram))
        for depth, character, is_ngram in zip(*parts):
            name = name[: depth - 1] + chr(character)
            if is_ngram:
                names.append(name)
        return names

    @functools.cached_property
    def _table(self) -> tuple[Trie, np.ndarray]:
        edges = np.empty(len(self.depths), np.uint64)
        path = np.zeros(int(self.depths.max()) + 1, np.int64)
        _edges_of_sorted(self.depths.astype(np.int32), self.characters.astype(np.uint32), path, edges)
        columns = np.where(self.is_ngram, np.cumsum(self.is_ngram) - 1, -1).astype(np.int32)
        return trie_of(edges, len(edges)), columns

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
        return {name: value for name, value in vars(self).items() if name != "_table"}


def learn_ngrams(
    texts: Sequence[str], analyzer: CharacterNgrams, min_df: float, threads: Threads
) -> tuple[NgramVocabulary, np.ndarray, Counts]:
    """Return the n-grams that texts have, in how many texts each is, (n_ngrams,) int64, and the counts of the texts.

    ``min_df`` is the least number of texts that have an n-gram, or a fraction of them. A ValueError if none is left.
    """
    read, trie, nodes_of = _read(texts, analyzer, threads)
    last_row, n_texts = np.zeros((2, len(trie.edges)), np.int64)
    first_row = 0
    for tokens, ptr, index in read:
        _count_texts(tokens, ptr, nodes_of[index], first_row, last_row, n_texts)
        first_row += len(ptr) - 1
    del last_row
    vocabulary, columns = _vocabulary(trie.edges, n_texts, min_df, len(texts), analyzer)
    df = n_texts[columns >= 0][np.argsort(columns[columns >= 0])]
    column_of = [columns[nodes] for nodes in nodes_of]
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
    edges: np.ndarray, n_texts: np.ndarray, min_df: float, n_all: int, analyzer: CharacterNgrams
) -> tuple[NgramVocabulary, np.ndarray]:
    """Return the n-grams that enough texts have, and the column of each node, int32, -1 if it has none."""
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
    kept, sizes, places = is_ngram.copy(), np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    _keep_beginnings(edges, kept, sizes)
    kept[0] = False  # the root
    order = np.flatnonzero(kept)
    order = order[np.argsort(edges[order])]
    depths, characters = np.empty(len(order) + 1, np.int32), np.empty(len(order) + 1, np.uint32)
    _sort_ngrams(edges, order, sizes, places, depths, characters)
    is_sorted_ngram = np.zeros(len(depths), bool)
    is_sorted_ngram[places[is_ngram]] = True
    vocabulary = NgramVocabulary(_narrow(depths), _narrow(characters), is_sorted_ngram)
    columns = np.full(len(edges), -1, np.int32)
    columns[is_ngram] = (np.cumsum(is_sorted_ngram) - 1)[places[is_ngram]]
    return vocabulary, columns


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Numbers from zero on with as few bytes as they need."""
    return numbers.astype(np.min_scalar_type(numbers.max()))


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
    """Write the columns of nodes that have one, and where each text begins in them.

    ``column_of`` (n_nodes,) int32, -1 for a node that has none.
    """
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

    ``columns`` int32, of at most `n_bits` bits, and ``ptr`` (n_rows + 1,) int64 are changed in place; ``counts``
    float32, as long, is written; ``spare`` int32, as long as the longest row, and ``starts`` (256,) int64 hold anything
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
    """Add to the number of texts that have each n-gram.

    ``nodes`` are those of the tokens in the arrays of the last two arguments, (n_nodes,) int64; ``last_row`` is the
    last row in which each was found, counted from 1, and zeros at first.
    """
    for row in range(token_ptr.shape[0] - 1):
        stamp = first_row + row + 1
        for i in range(token_ptr[row], token_ptr[row + 1]):
            node = nodes[tokens[i]]
            if last_row[node] != stamp:
                last_row[node] = stamp
                n_texts[node] += 1


@lean_kernel
def _keep_beginnings(edges, kept, sizes):
    """Keep also all beginnings of the n-grams that are kept; ``sizes`` becomes the number of nodes below and at each.

    ``kept`` (n_nodes,) bool; ``sizes`` (n_nodes,) int64, zeros at first
    """
    for node in range(edges.shape[0] - 1, 0, -1):
        if kept[node]:
            parent, _ = parent_and_character(edges[node])
            sizes[node] += 1
            sizes[parent] += sizes[node]
            kept[parent] = True


@lean_kernel
def _sort_ngrams(edges, order, sizes, places, depths, characters):
    """Write the length and the last character of the kept nodes, in the order of their n-grams as strings.

    ``order`` are the kept nodes but the root by their edges, so siblings follow each other and a parent comes before
    its children; ``places`` (n_nodes,) int64, zeros at first, receives the place of each; ``sizes`` is used up
    """
    depths[0] = characters[0] = 0
    sizes[0] = 1  # from here on: where the next child of each node goes
    for i in range(order.shape[0]):
        node = order[i]
        parent, character = parent_and_character(edges[node])
        place = sizes[parent]
        sizes[parent] += sizes[node]
        sizes[node] = place + 1
        places[node] = place
        depths[place] = depths[places[parent]] + 1
        characters[place] = character


@lean_kernel
def _edges_of_sorted(depths, characters, path, edges):
    """Undo `sort_ngrams`; ``path`` (longest + 1,) int64, zeros, and ``edges`` (n_nodes,) uint64 are written."""
    edges[0] = 0
    for node in range(1, edges.shape[0]):
        depth = np.int64(depths[node])
        edges[node] = edge_to(path[depth - 1], characters[node])
        path[depth] = node
