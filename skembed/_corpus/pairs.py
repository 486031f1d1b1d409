"""Pairs of sentences that mean the same, encoded once: `PairCorpus`."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Sized
from itertools import chain
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._text.sources import offsets, wrong_row
from .._text.tokenizer import Analyzer, Stemmer, StopWords, reads_strings
from .._text.vocabulary import Vocabulary
from .._validation.columns import Sentences
from .._validation.messages import brief
from .content import as_rows
from .corpus import Immutable, SentenceCorpus
from .input import as_pairs

# At the two ends of a longer chain of pairs, such as synonyms of a lexicon, the meanings may differ.
LARGEST_COMPONENT = 1000  # pairs


class PairCorpus(Immutable[tuple[list[str], list[str]]]):
    """Pairs of sentences that mean the same, tokenized once.

    Build one with :meth:`from_pairs`. It never changes, so a copy of it is the pairs themselves. A slice, a mask or a
    list of indices of pairs gives some of them. To keep it on disk, save its sentences:
    ``pairs.sentences.save(folder)``, and later ``PairCorpus(SentenceCorpus.load(folder))``.

    Parameters
    ----------
    sentences : SentenceCorpus
        The sentences of all pairs; each of its documents is one pair.

    Examples
    --------
    >>> from skembed import PairCorpus
    >>> pairs = PairCorpus.from_pairs(
    ...     [("A cat sat.", "A kitten sat down."), ("Rain fell.", "It rained.")]
    ... )
    >>> pairs
    PairCorpus(n_pairs=2, n_tokens=11, n_words=9)
    >>> pairs[1]
    (['rain', 'fell'], ['it', 'rained'])
    """

    def __init__(self, sentences: SentenceCorpus) -> None:
        if not isinstance(sentences, SentenceCorpus):
            raise TypeError(f"sentences must be a SentenceCorpus, got {brief(sentences)}. See PairCorpus.from_pairs.")
        if (np.diff(sentences.doc_ptr) != 2).any():
            raise ValueError("Each document of sentences must be a pair, of two sentences.")
        _check_sides(sentences.sent_ptr, lambda row: "")
        self._sentences = sentences

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[object],
        *,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        n_jobs: int | None = None,
    ) -> PairCorpus:
        """Encode pairs.

        Parameters
        ----------
        pairs : iterable of tuple, array of shape (n_pairs, 2), or table of two columns
            The pairs: tuples, a mapping, or a table of pandas, polars or pyarrow with a column for each side.
        analyzer, token_pattern, lowercase, stop_words, stemmer
            How a sentence becomes words: as the parameters of :class:`ParaphraseVectorizer` say, and :ref:`words`.
        n_jobs : int or None, default=None
            Number of threads for words and for characters; -1 means all cores. It does not change the result.

        Returns
        -------
        pairs : PairCorpus

        Raises
        ------
        TypeError
            If a sentence is not a string; names the row.
        ValueError
            If a row is not a pair, or one of its sentences is missing or has no word; names the row.
        """
        if isinstance(pairs, PairCorpus):
            raise TypeError("pairs is a PairCorpus already; use it as it is, or slice it.")
        pairs = list(pairs) if hasattr(pairs, "__next__") else pairs
        if holds_sets(pairs, analyzer):
            raise ValueError(
                "X holds sets of pairs, not pairs. To learn one set after the other, pass a list of PairCorpus: "
                "[PairCorpus.from_pairs(pairs) for pairs in X]. To learn them together, pass one list of all pairs."
            )
        rows = as_pairs(pairs, "X")
        check_not_empty(rows, "X")
        flat = list(chain.from_iterable(rows))
        if reads_strings(analyzer):
            for index, item in enumerate(flat):
                if not isinstance(item, str):
                    raise wrong_row(index // 2, item)
        options: dict[str, Any] = {"token_pattern": token_pattern, "lowercase": lowercase, "stop_words": stop_words}
        groups = np.repeat(np.arange(len(rows)), 2)
        sentences = SentenceCorpus.from_sentences(
            flat, groups, analyzer=analyzer, stemmer=stemmer, n_jobs=n_jobs, **options
        )
        _check_sides(sentences.sent_ptr, lambda row: f": {brief(flat[row], 60)}")
        return cls(sentences)

    @property
    def sentences(self) -> SentenceCorpus:
        """The sentences of all pairs; each document is one pair."""
        return self._sentences

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self._sentences.n_documents

    def __len__(self) -> int:
        return self.n_pairs

    def __repr__(self) -> str:
        sentences = self._sentences
        return f"PairCorpus(n_pairs={len(self)}, n_tokens={sentences.n_tokens}, n_words={len(sentences.vocabulary)})"

    def __eq__(self, other: object) -> bool:
        return self._sentences == other._sentences if isinstance(other, PairCorpus) else NotImplemented

    def __hash__(self) -> int:
        return hash(("PairCorpus", self._sentences))

    @overload
    def __getitem__(self, key: int | np.integer) -> tuple[list[str], list[str]]: ...
    @overload
    def __getitem__(self, key: Any) -> PairCorpus: ...
    def __getitem__(self, key: Any) -> tuple[list[str], list[str]] | PairCorpus:
        """Return the words of one pair, or a new corpus of some pairs."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # as scikit-learn indexes arrays
            key = key[0]
        if isinstance(key, numbers.Integral) and not isinstance(key, bool):
            row = 2 * int(as_rows([key], len(self))[0])
            return self._sentences[row], self._sentences[row + 1]
        rows = 2 * as_rows(key, len(self))
        return PairCorpus(self._sentences[np.column_stack([rows, rows + 1]).ravel()])


# What an estimator that learns from pairs takes as its parameter `corpus`.
CorpusOrPairs: TypeAlias = SentenceCorpus | PairCorpus | list[PairCorpus]


def _check_sides(sent_ptr: np.ndarray, shown: Callable[[int], str]) -> None:
    empty = np.flatnonzero(np.diff(sent_ptr) == 0)
    if len(empty):
        row, side = divmod(int(empty[0]), 2)
        raise ValueError(
            f"Pair {row} has no word in its {('first', 'second')[side]} sentence{shown(int(empty[0]))}. Leave such "
            "pairs out."
        )


def is_pair(item: object) -> bool:
    """Whether an item of a list may be a pair: a list, tuple or array of two."""
    return isinstance(item, (list, tuple, np.ndarray)) and len(item) == 2


def holds_sets(X: Sentences, analyzer: Analyzer) -> bool:
    """Whether the items of `X` are sets of pairs, not pairs: a PairCorpus, a table, or with text a list of pairs."""
    if not isinstance(X, (list, tuple, np.ndarray)) or not len(X):
        return False
    if len(getattr(X[0], "shape", ())) == 2 or any(isinstance(item, PairCorpus) for item in X):
        return True
    are_lists = reads_strings(analyzer) and isinstance(X[0], (list, tuple)) and len(X[0]) > 0
    return are_lists and all(isinstance(item, (list, tuple)) and all(map(is_pair, item)) for item in X)


def check_not_empty(pairs: Sized, name: str) -> None:
    """Raise an error if there is no pair; `name` is what it calls them."""
    if not len(pairs):
        raise ValueError(
            f"{name} has no pairs. Pass at least two: an iterator may have been consumed before, and a slice or a mask "
            "of pairs may have left none."
        )


def joined(sets: Sequence[SentenceCorpus]) -> SentenceCorpus:
    """The sentences of several corpora, one corpus after the other, with the words of all."""
    if len(sets) == 1:
        return sets[0]
    counts: Counter[str] = Counter()
    for corpus in sets:
        counts.update(dict(zip(corpus.vocabulary.words, corpus.vocabulary.counts.tolist())))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    vocabulary = Vocabulary(words, [counts[word] for word in words])
    tokens = [vocabulary.ids_of(corpus.vocabulary.words)[corpus.tokens] for corpus in sets]
    return SentenceCorpus(
        np.concatenate(tokens),
        _end_to_end([corpus.sent_ptr for corpus in sets]),
        _end_to_end([corpus.doc_ptr for corpus in sets]),
        vocabulary,
        tokenizer=sets[0].tokenizer,
    )


def _end_to_end(ptrs: Sequence[np.ndarray]) -> np.ndarray:
    return offsets(np.concatenate([np.diff(ptr) for ptr in ptrs]))


def linked(groups: np.ndarray, texts: np.ndarray) -> NDArray[np.int64]:
    """Cluster of each sentence, (n_sentences,): groups with a common text are one, but for chains of too many pairs."""
    n_groups, n_texts = int(groups.max(initial=-1)) + 1, int(texts.max(initial=-1)) + 1
    # With indices of more than 32 bits scipy 1.11 returns wrong components.
    edges = np.ones(len(groups), bool), (groups.astype(np.int32), (n_groups + texts).astype(np.int32))
    graph = coo_array(edges, shape=(n_groups + n_texts,) * 2)
    component = connected_components(graph, directed=False)[1][groups]
    is_large = np.bincount(component)[component] > 2 * LARGEST_COMPONENT
    return np.where(is_large, len(component) + groups, component)
