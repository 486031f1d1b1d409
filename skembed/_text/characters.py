"""Character n-grams, with or without words, as ids: learned from a stream of text, or those of a vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._compiled.compile import lean_kernel
from .._compiled.threads import Threads
from .character_ngrams import MARK, CharacterNgrams
from .character_spans import Lengths, Spans, cut_to_spans
from .ngram_hash import SharedRows
from .ngram_trie import add_edges, add_words, count_bytes, find_tokens, has_room, learn_tokens, new_trie, spell, trie_of
from .scanner import KnownWords, Scanner, pack_words
from .sources import decode_words, offsets
from .vocabulary import Vocabulary

MOST_NODES = 2**30 - 1  # ids are int32, and the lowest bit tells words from n-grams
_WORDS_AT_ONCE = 1 << 12


class GrowingTrie:
    """A trie of the n-grams read so far, for one thread; where words are beside n-grams, these begin at MARK."""

    def __init__(self, analyzer: CharacterNgrams) -> None:
        self.trie = new_trie()
        nodes = np.zeros(1, np.int64)
        if analyzer.words:
            add_words(np.array([ord(MARK)], np.uint32), np.array([0, 1]), self.trie, nodes)
        self.lengths = Lengths(*analyzer.ngram_range, int(nodes[0]))

    @property
    def edges(self) -> np.ndarray:
        """The edge that leads to each node."""
        return self.trie.edges[: int(self.trie.state[0])]

    @property
    def n_nodes(self) -> int:
        """How many nodes there are; all numbers of nodes are below."""
        return int(self.trie.state[0])

    def read(self, spans: Spans) -> np.ndarray:
        """Return the nodes of all n-grams of some texts, int32."""
        tokens = np.empty(spans.token_ptr[-1], np.int32)
        progress = np.zeros(2, np.int64)
        while not learn_tokens(spans, self.lengths, self.trie, tokens, progress):
            self.make_room(abs(int(spans.reach[progress[0]])))
        return tokens

    def add(self, ngrams: Sequence[str]) -> np.ndarray:
        """Return the nodes of some n-grams, int64, with what they begin with."""
        nodes = np.empty(len(ngrams), np.int64)
        for first in range(0, len(ngrams), _WORDS_AT_ONCE):
            some = ngrams[first : first + _WORDS_AT_ONCE]
            text = np.frombuffer("".join(some).encode("utf-32-le", "surrogatepass"), "<u4")
            ptr = offsets(np.fromiter(map(len, some), np.int64, len(some)))
            self.make_room(len(text))
            add_words(text, ptr, self.trie, nodes[first : first + len(some)])
        return nodes

    def make_room(self, n_nodes: int) -> None:
        """Make room for this many more nodes."""
        n_all = int(self.trie.state[0]) + n_nodes
        if n_all > MOST_NODES:
            raise ValueError(
                f"More than {MOST_NODES} distinct n-grams of characters. Lower the second number of ngram_range."
            )
        if not has_room(n_all, self.trie):
            self.trie = trie_of(self.edges, min(2 * n_all, MOST_NODES))

    def distinct(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct nodes among some, and the position of each among them."""
        is_there = np.zeros(self.n_nodes, bool)
        is_there[nodes] = True
        return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[nodes]

    def packed(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the n-grams of some nodes as :func:`~skembed._text.sources.encode_words` packs words."""
        n_bytes = np.empty(len(self.edges), np.int64)
        count_bytes(self.edges, n_bytes)
        ptr = offsets(n_bytes[nodes])
        text = np.empty(ptr[-1], np.uint8)
        spell(self.edges, nodes, ptr[1:], text)
        return text, ptr


def _table_for(analyzer: CharacterNgrams) -> GrowingTrie | SharedRows:
    return GrowingTrie(analyzer) if analyzer.n_buckets is None else SharedRows(analyzer)


class _Seen(NamedTuple):
    """What one thread has read."""

    ngrams: GrowingTrie | SharedRows
    words: Scanner | None


class CharacterEncoder:
    """Texts to provisional ids, of which each thread has its own, and their tokens when all is read.

    The id of an n-gram is its node in a trie; where words are beside n-grams, twice that, and words have odd ids.
    """

    def __init__(self, analyzer: CharacterNgrams) -> None:
        self._analyzer = analyzer
        self._seen: list[_Seen] = []
        self._thread, self._adding = threading.local(), threading.Lock()

    def _new(self) -> _Seen:
        return _Seen(_table_for(self._analyzer), Scanner() if self._analyzer.words else None)

    def read(self, texts: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the ids of all tokens, int32, the offset of each text in them, and the index of the thread."""
        if not hasattr(self._thread, "index"):
            with self._adding:
                self._thread.index = len(self._seen)
                self._seen.append(self._new())
        seen = self._seen[self._thread.index]
        spans = cut_to_spans(texts, self._analyzer)
        ids, ptr = seen.ngrams.read(spans), spans.token_ptr
        if seen.words is not None:
            words, ptr_of_words, _ = seen.words.scan(texts)
            ids, ptr = _beside(2 * words + 1, ptr_of_words, 2 * ids, ptr)
        return ids, ptr, self._thread.index

    def merged(self) -> tuple[GrowingTrie | SharedRows, list[np.ndarray]]:
        """Return a trie with all nodes, and for each trie the node in it of each of its own."""
        first = self._seen[0].ngrams if self._seen else _table_for(self._analyzer)
        nodes = [np.arange(first.n_nodes)]
        for other, _ in self._seen[1:]:
            if isinstance(first, SharedRows) or isinstance(other, SharedRows):
                nodes.append(nodes[0])
                continue
            first.make_room(len(other.edges))
            nodes.append(np.empty(len(other.edges), np.int64))
            add_edges(other.edges, first.trie, nodes[-1])
        return first, nodes

    def order(
        self, counts_of: Sequence[np.ndarray], min_count: int, max_features: int | None, threads: Threads
    ) -> tuple[Vocabulary, list[np.ndarray]]:
        """Return the tokens by falling count, and for each thread the final id of each id, -1 where it was not kept.

        `counts_of` has for each thread how often the first ids were found; others were not.
        """
        if not self._seen:
            self._seen.append(self._new())
        trie, nodes = self.merged()
        counts = np.zeros(trie.n_nodes, np.int64)
        for its_nodes, its_counts in zip(nodes, counts_of):
            its_counts = its_counts[:: 2 if self._analyzer.words else 1]
            counts[its_nodes[: len(its_counts)]] += its_counts[: len(its_nodes)]
        found = np.flatnonzero(counts)
        text, ptr = trie.packed(found)
        limits = min_count, max_features, threads
        ids = np.full(len(counts), -1, np.int32)
        if not self._analyzer.words:
            vocabulary, ids[found] = Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts[found], *limits)
            return vocabulary, [ids[its_nodes] for its_nodes in nodes]
        words, indices = pack_words([seen.words for seen in self._seen if seen.words is not None])
        starts, ends = (np.append(at, of_words + len(text)) for at, of_words in zip((ptr[:-1], ptr[1:]), words[1:3]))
        vocabulary, remap = Vocabulary.from_bytes(
            np.append(text, words.text), starts, ends, np.append(counts[found], words.counts), *limits
        )
        ids[found] = remap[: len(found)]
        of_words = remap[len(found) :]
        return vocabulary, [_of_both(of_words[index], ids[its_nodes]) for index, its_nodes in zip(indices, nodes)]


class KnownNgrams:
    """Finds the n-grams, and the words, of a vocabulary in texts; any number of threads may do so at once."""

    def __init__(self, tokens: Sequence[str], analyzer: CharacterNgrams) -> None:
        self._analyzer, self._n_tokens = analyzer, len(tokens)
        is_word = np.fromiter((analyzer.words and not token.startswith(MARK) for token in tokens), bool, len(tokens))
        self._id_of_word, ids = np.flatnonzero(is_word), np.flatnonzero(~is_word)
        self._words = KnownWords([tokens[i] for i in self._id_of_word.tolist()]) if analyzer.words else None
        self._rows = None if analyzer.n_buckets is None else SharedRows(analyzer)
        if self._rows is not None:
            self._id_of = np.full(self._rows.n_nodes, -1, np.int32)
            self._id_of[self._rows.nodes_of([tokens[i] for i in ids.tolist()])] = ids
            return
        known = GrowingTrie(analyzer)
        nodes = known.add([tokens[i] for i in ids.tolist()])
        self._trie, self._lengths = known.trie, known.lengths
        self._id_of = np.full(len(known.edges), -1, np.int32)
        self._id_of[nodes] = ids
        self._id_of[0] = -1

    def scan(self, texts: Any) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return ids, the offset of each text in them, and the tokens of the ids beyond the vocabulary."""
        if self._words is None:
            return self._scan_ngrams(texts, self._n_tokens)
        words, ptr_of_words, new_words = self._words.scan(texts)
        first = self._n_tokens + len(new_words)
        ids_of_words = np.append(self._id_of_word, np.arange(self._n_tokens, first)).astype(np.int32)
        ngrams, ptr_of_ngrams, new_ngrams = self._scan_ngrams(texts, first)
        return *_beside(ids_of_words[words], ptr_of_words, ngrams, ptr_of_ngrams), new_words + new_ngrams

    def _scan_ngrams(self, texts: Any, first_new: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
        spans = cut_to_spans(texts, self._analyzer)
        if self._rows is not None:
            tokens = self._rows.read(spans)
        else:
            tokens = np.empty(spans.token_ptr[-1], np.int32)
            find_tokens(spans, self._lengths, self._trie, tokens)
        ids = self._id_of[tokens]
        unknown = np.flatnonzero(ids < 0)
        if not len(unknown):
            return ids, spans.token_ptr, []
        others = GrowingTrie(self._analyzer) if self._rows is None else self._rows
        nodes = others.read(spans) if self._rows is None else tokens
        distinct, positions = others.distinct(nodes[unknown])
        ids[unknown] = first_new + positions
        return ids, spans.token_ptr, decode_words(*others.packed(distinct))


def _of_both(of_words: np.ndarray, of_ngrams: np.ndarray) -> np.ndarray:
    """Return what belongs to each id: those of words are odd, those of n-grams even."""
    found = np.full(2 * max(len(of_words), len(of_ngrams)), -1, np.int32)
    found[1 : 2 * len(of_words) : 2], found[: 2 * len(of_ngrams) : 2] = of_words, of_ngrams
    return found


def _beside(
    words: np.ndarray, ptr_of_words: np.ndarray, ngrams: np.ndarray, ptr_of_ngrams: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of each text and then its n-grams, int32, and the offset of each text in them."""
    ids = np.empty(len(words) + len(ngrams), np.int32)
    _put_beside(words, ptr_of_words, ngrams, ptr_of_ngrams, ids)
    return ids, ptr_of_words + ptr_of_ngrams


@lean_kernel
def _put_beside(words, ptr_of_words, ngrams, ptr_of_ngrams, ids):
    """Write the words of each text and then its n-grams."""
    n = np.int64(0)
    for row in range(ptr_of_words.shape[0] - 1):
        for i in range(ptr_of_words[row], ptr_of_words[row + 1]):
            ids[n] = words[i]
            n += 1
        for i in range(ptr_of_ngrams[row], ptr_of_ngrams[row + 1]):
            ids[n] = ngrams[i]
            n += 1
