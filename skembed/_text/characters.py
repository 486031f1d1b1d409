"""Character n-grams of texts, their vocabulary, and how often each text has them."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._compiled.threads import Threads
from .._validation.messages import brief
from .batches import offsets
from .encoder import LEAST_BATCHES
from .ngram_trie import (
    Lengths,
    Spans,
    Trie,
    add_edges,
    count_columns,
    count_texts,
    cut_texts,
    cut_words,
    edges_of_sorted,
    find_columns,
    has_room,
    keep_beginnings,
    keep_columns,
    larger_trie,
    learn_tokens,
    new_trie,
    sort_ngrams,
    trie_of,
)
from .sources import BATCH_LENGTH, iter_slices, wrong_row

MOST_NODES = 2**31 - 1  # ids are int32
_LAST_SPACE = 0x3000


@functools.cache
def _spaces() -> np.ndarray:
    r"""Return which characters are white space (``\s``), (_LAST_SPACE + 2,) bool; no later one is."""
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 2)])


@dataclass(frozen=True)
class CharacterAnalyzer:
    """Cuts texts to character n-grams as the analyzers of :class:`~sklearn.feature_extraction.text.CountVectorizer`.

    Parameters
    ----------
    kind : {"char", "char_wb"}
        "char": n-grams of the whole text, in which two or more white spaces are one space. "char_wb": n-grams of each
        word between white space, with a space on both sides; such a word that is shorter than the shortest n-gram is
        one itself.
    ngram_range : tuple of (int, int)
        Least and most characters of an n-gram.
    lowercase : bool, default=True
        Lower the text before.
    """

    kind: str
    ngram_range: tuple[int, int]
    lowercase: bool = True

    def spans(self, texts: Sequence[str]) -> Spans:
        """Return texts cut into spans."""
        lowered = list(map(str.lower, texts)) if self.lowercase else texts
        text = np.frombuffer("".join(lowered).encode("utf-32-le", "surrogatepass"), "<u4")
        ptr = offsets(np.fromiter(map(len, lowered), np.int64, len(lowered)))
        # Of a word of one letter and the space behind it, three characters are left.
        size = len(text) + len(text) // 2 + 2 * len(texts)
        spans = Spans(np.empty(size, np.uint32), np.empty(size, np.int32), np.empty_like(ptr), np.empty_like(ptr))
        cut = cut_words if self.kind == "char_wb" else cut_texts
        n = cut(text, ptr, _spaces(), self.lengths, spans)
        return spans._replace(characters=spans.characters[:n], reach=spans.reach[:n])

    @property
    def lengths(self) -> Lengths:
        """Least and most characters of an n-gram."""
        return Lengths(*map(int, self.ngram_range))


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
        edges_of_sorted(self.depths.astype(np.int32), self.characters.astype(np.uint32), path, edges)
        columns = np.where(self.is_ngram, np.cumsum(self.is_ngram) - 1, -1).astype(np.int32)
        return trie_of(edges), columns

    def count(self, texts: Sequence[str], analyzer: CharacterAnalyzer, threads: Threads) -> Counts:
        """Count the n-grams of texts."""

        def count_some(rows: slice) -> Counts:
            spans = analyzer.spans(texts[rows])
            columns, ptr = np.empty(spans.token_ptr[-1], np.int32), np.empty_like(spans.ptr)
            find_columns(spans, analyzer.lengths, *self._table, columns, ptr)
            return _counted(columns, ptr, len(self))

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
    texts: Sequence[str], analyzer: CharacterAnalyzer, min_df: float, threads: Threads
) -> tuple[NgramVocabulary, np.ndarray, Counts]:
    """Return the n-grams that texts have, in how many texts each is, (n_ngrams,) int64, and the counts of the texts.

    Parameters
    ----------
    texts : sequence of str
        Texts.
    analyzer : CharacterAnalyzer
        How they are cut.
    min_df : int or float
        Least number of texts that have an n-gram; a float is a fraction of the texts.
    threads : Threads
        They change nothing of the result.

    Raises
    ------
    ValueError
        If no n-gram is left.
    """
    learners = [_Learner() for _ in range(threads.n_threads)]
    read = deque(_read(texts, analyzer, learners, threads))
    trie, nodes = _merged(learners)
    n_nodes = int(trie.state[0])
    last_row, n_texts = np.zeros((2, n_nodes), np.int64)
    for batch in read:
        count_texts(batch.tokens, batch.token_ptr, nodes[batch.learner], batch.first_row, last_row, n_texts)
    del last_row
    vocabulary, columns = _vocabulary(trie.edges[:n_nodes], n_texts, min_df, len(texts), analyzer)
    df = n_texts[columns >= 0][np.argsort(columns[columns >= 0])]
    del trie

    def count_batch(batch: _Batch) -> Counts:
        found, ptr = np.empty_like(batch.tokens), np.empty_like(batch.token_ptr)
        keep_columns(batch.tokens, batch.token_ptr, columns_of[batch.learner], found, ptr)
        return _counted(found, ptr, len(vocabulary))

    columns_of = [columns[its_nodes] for its_nodes in nodes]
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


class _Batch(NamedTuple):
    """Texts as nodes of the trie of a learner."""

    tokens: np.ndarray  # (n_tokens,) int32
    token_ptr: np.ndarray  # (n_texts + 1,) int64
    first_row: int
    learner: int


class _Learner:
    """A growing trie; for one thread."""

    def __init__(self) -> None:
        self.trie = new_trie()

    def read(self, spans: Spans, lengths: Lengths) -> np.ndarray:
        """Return the nodes of all n-grams of some texts, int32."""
        tokens = np.empty(spans.token_ptr[-1], np.int32)
        progress = np.zeros(2, np.int64)
        while not learn_tokens(spans, lengths, self.trie, tokens, progress):
            self.make_room(abs(int(spans.reach[progress[0]])))
        return tokens

    def make_room(self, n_nodes: int) -> None:
        """Make room for this many more nodes."""
        n_all = int(self.trie.state[0]) + n_nodes
        if n_all > MOST_NODES:
            raise ValueError(
                f"More than {MOST_NODES} distinct n-grams of characters. Lower the second number of ngram_range."
            )
        if not has_room(n_all, self.trie):
            self.trie = larger_trie(self.trie, min(2 * n_all, MOST_NODES))


def _read(
    texts: Sequence[str], analyzer: CharacterAnalyzer, learners: list[_Learner], threads: Threads
) -> Iterator[_Batch]:
    thread, new_thread = threading.local(), count()

    def read(rows: slice) -> _Batch:
        if not hasattr(thread, "learner"):
            thread.learner = next(new_thread)
        spans = analyzer.spans(texts[rows])
        tokens = learners[thread.learner].read(spans, analyzer.lengths)
        return _Batch(tokens, spans.token_ptr, rows.start, thread.learner)

    return threads.in_order(read, _slices(texts), LEAST_BATCHES)


def _merged(learners: list[_Learner]) -> tuple[Trie, list[np.ndarray]]:
    """Return a trie with all nodes, and for each learner the node in it of each of its own."""
    first = learners[0]
    nodes = [np.arange(int(first.trie.state[0]))]
    for learner in learners[1:]:
        edges = learner.trie.edges[: int(learner.trie.state[0])]
        first.make_room(len(edges))
        nodes.append(np.empty(len(edges), np.int64))
        add_edges(edges, first.trie, nodes[-1])
    return first.trie, nodes


def _vocabulary(
    edges: np.ndarray, n_texts: np.ndarray, min_df: float, n_all: int, analyzer: CharacterAnalyzer
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
    keep_beginnings(edges, kept, sizes)
    kept[0] = False  # the root
    order = np.flatnonzero(kept)
    order = order[np.argsort(edges[order])]
    depths, characters = np.empty(len(order) + 1, np.int32), np.empty(len(order) + 1, np.uint32)
    sort_ngrams(edges, order, sizes, places, depths, characters)
    is_sorted_ngram = np.zeros(len(depths), bool)
    is_sorted_ngram[places[is_ngram]] = True
    vocabulary = NgramVocabulary(_narrow(depths), _narrow(characters), is_sorted_ngram)
    columns = np.full(len(edges), -1, np.int32)
    columns[is_ngram] = (np.cumsum(is_sorted_ngram) - 1)[places[is_ngram]]
    return vocabulary, columns


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """Numbers from zero on with as few bytes as they need."""
    return numbers.astype(np.min_scalar_type(numbers.max()))


def _counted(columns: np.ndarray, ptr: np.ndarray, n_columns: int) -> Counts:
    """Count columns, which are changed in place."""
    counts = np.empty(ptr[-1], np.float32)
    spare, starts = np.empty(np.diff(ptr).max(initial=0), np.int32), np.empty(256, np.int64)
    n = count_columns(columns, ptr, (n_columns - 1).bit_length(), spare, starts, counts)
    return Counts(counts[:n], columns[:n], ptr)


def _slices(texts: Sequence[str]) -> Iterator[slice]:
    """Yield slices of the texts with about BATCH_LENGTH characters; one for no text."""
    if set(map(type, texts)) != {str}:
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise wrong_row(row, text)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return iter_slices(offsets(lengths), BATCH_LENGTH) if len(texts) else iter([slice(0, 0)])
