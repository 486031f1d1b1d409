"""Character n-grams as ids: learned from a stream of text by growing tries, or those of a vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._compiled.threads import Threads
from .batches import decode_words, offsets
from .character_ngrams import CharacterNgrams
from .character_spans import Lengths, Spans, cut_to_spans
from .ngram_trie import (
    Trie,
    add_edges,
    add_words,
    count_bytes,
    find_tokens,
    has_room,
    larger_trie,
    learn_tokens,
    new_trie,
    spell,
)
from .vocabulary import Vocabulary

MOST_NODES = 2**31 - 1  # ids are int32
_WORDS_AT_ONCE = 1 << 12


class GrowingTrie:
    """A trie of the n-grams of the texts read so far; for one thread."""

    def __init__(self) -> None:
        self.trie = new_trie()

    @property
    def edges(self) -> np.ndarray:
        """The edge that leads to each node."""
        return self.trie.edges[: int(self.trie.state[0])]

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

    def packed(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the n-grams of some nodes as :func:`~skembed._text.batches.encode_words` packs words."""
        n_bytes = np.empty(len(self.edges), np.int64)
        count_bytes(self.edges, n_bytes)
        ptr = offsets(n_bytes[nodes])
        text = np.empty(ptr[-1], np.uint8)
        spell(self.edges, nodes, ptr[1:], text)
        return text, ptr


class CharacterEncoder:
    """Texts to nodes of a trie, of which each thread has its own, and their n-grams when all is read."""

    def __init__(self, analyzer: CharacterNgrams) -> None:
        self._analyzer, self._lengths = analyzer, Lengths(*analyzer.ngram_range)
        self._tries: list[GrowingTrie] = []
        self._thread, self._adding = threading.local(), threading.Lock()

    def read(self, texts: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the nodes of all n-grams, int32, the offset of each text in them, and the index of the trie."""
        if not hasattr(self._thread, "trie"):
            with self._adding:
                self._thread.trie = len(self._tries)
                self._tries.append(GrowingTrie())
        spans = cut_to_spans(texts, self._analyzer)
        return self._tries[self._thread.trie].read(spans, self._lengths), spans.token_ptr, self._thread.trie

    def merged(self) -> tuple[GrowingTrie, list[np.ndarray]]:
        """Return a trie with all nodes, and for each trie the node in it of each of its own."""
        first = self._tries[0] if self._tries else GrowingTrie()
        nodes = [np.arange(len(first.edges))]
        for other in self._tries[1:]:
            first.make_room(len(other.edges))
            nodes.append(np.empty(len(other.edges), np.int64))
            add_edges(other.edges, first.trie, nodes[-1])
        return first, nodes

    def order(
        self, counts_of: Sequence[np.ndarray], min_count: int, max_features: int | None, threads: Threads
    ) -> tuple[Vocabulary, list[np.ndarray]]:
        """Return the n-grams by falling count, and for each trie the id of each node, -1 where it was not kept.

        `counts_of` has for each trie how often the first nodes were found; others were not.
        """
        trie, nodes = self.merged()
        counts = np.zeros(len(trie.edges), np.int64)
        for its_nodes, its_counts in zip(nodes, counts_of):
            counts[its_nodes[: len(its_counts)]] += its_counts[: len(its_nodes)]
        found = np.flatnonzero(counts)
        text, ptr = trie.packed(found)
        vocabulary, remap = Vocabulary.from_bytes(
            text, ptr[:-1], ptr[1:], counts[found], min_count, max_features, threads
        )
        ids = np.full(len(counts), -1, np.int32)
        ids[found] = remap
        return vocabulary, [ids[its_nodes] for its_nodes in nodes]


class KnownNgrams:
    """Finds the n-grams of a vocabulary in texts; any number of threads may do so at once."""

    def __init__(self, ngrams: Sequence[str], analyzer: CharacterNgrams) -> None:
        self._analyzer, self._lengths = analyzer, Lengths(*analyzer.ngram_range)
        known = GrowingTrie()
        nodes = np.empty(len(ngrams), np.int64)
        for first in range(0, len(ngrams), _WORDS_AT_ONCE):
            some = ngrams[first : first + _WORDS_AT_ONCE]
            text = np.frombuffer("".join(some).encode("utf-32-le", "surrogatepass"), "<u4")
            ptr = offsets(np.fromiter(map(len, some), np.int64, len(some)))
            known.make_room(len(text))
            add_words(text, ptr, known.trie, nodes[first : first + len(some)])
        self._trie: Trie = known.trie
        self._id_of = np.full(len(known.edges), -1, np.int32)
        self._id_of[nodes] = np.arange(len(ngrams))
        self._id_of[0] = -1
        self._n_ngrams = len(ngrams)

    def scan(self, texts: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return ids, the offset of each text in them, and the n-grams of the ids beyond the vocabulary."""
        spans = cut_to_spans(texts, self._analyzer)
        tokens = np.empty(spans.token_ptr[-1], np.int32)
        find_tokens(spans, self._lengths, self._trie, tokens)
        ids = self._id_of[tokens]
        unknown = np.flatnonzero(ids < 0)
        if not len(unknown):
            return ids, spans.token_ptr, []
        others = GrowingTrie()
        nodes = others.read(spans, self._lengths)[unknown]
        is_unknown = np.zeros(len(others.edges), bool)
        is_unknown[nodes] = True
        ids[unknown] = self._n_ngrams + (np.cumsum(is_unknown) - 1)[nodes]
        return ids, spans.token_ptr, decode_words(*others.packed(np.flatnonzero(is_unknown)))
