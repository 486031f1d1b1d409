"""Vectors of documents: learned from the documents themselves, and of a pretrained model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .._compiled.arrays import read_only_view
from .._compiled.compile import lean_kernel
from .._compiled.products import product_by_row
from .._compiled.rows import padded
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._pretrained.vectorizer import PretrainedVectorizer
from .._text.sources import encode_words, offsets
from .._text.vocabulary import Vocabulary
from .._validation.values import RandomState
from .._word_vectors.bag import UNIT, sum_rows
from .._word_vectors.join import unit_rows
from ._ranking import dot
from ._terms import TermReader

_ROWS = 4096  # documents at a time


class WordVectors(NamedTuple):
    """What was learned: a vector for each of some terms."""

    terms: list[str]
    vectors: np.ndarray  # (n_terms, width) float32


class Moments(NamedTuple):
    """Sums over vectors, to which those of others can be added."""

    total: np.ndarray  # (width,) float64
    products: np.ndarray  # (width, width) float64: of each two columns

    def plus(self, sign: int, other: Moments) -> Moments:
        """Return the sums with those of other vectors, or without them where `sign` is -1."""
        return Moments(self.total + sign * other.total, self.products + sign * other.products)


class DocumentVectors(NamedTuple):
    """Vectors of documents and how they lie: in the first columns those that were learned, then those of a model.

    Both parts of a row have length one or zero, and a multiple of sixteen columns.
    """

    vectors: np.ndarray  # (n_rows, width) float32; zero for a removed document
    moments: Moments
    learned: np.ndarray  # (n_learned, n_learned) float32: covariances of the first columns
    pretrained: np.ndarray  # those of the other columns

    @classmethod
    def of(cls, vectors: np.ndarray, moments: Moments, n_documents: int, n_learned: int) -> DocumentVectors:
        """Make it of the vectors and moments of so many documents."""
        mean = moments.total / max(n_documents, 1)
        covariance = (moments.products / max(n_documents, 1) - np.outer(mean, mean)).astype(np.float32)
        moments = Moments(*map(read_only_view, moments))
        learned, others = covariance[:n_learned, :n_learned], covariance[n_learned:, n_learned:]
        return cls(read_only_view(vectors), moments, *map(read_only_view, map(np.ascontiguousarray, (learned, others))))


def learn_vectors(
    pairs: Sequence[tuple[str, str]],
    reader: TermReader,
    n_components: int | None,
    n_jobs: int | None,
    random_state: RandomState,
) -> WordVectors:
    """Learn vectors of terms by which the two texts of a pair are similar; none where there are too few pairs."""
    text = reader.encode([side for pair in pairs for side in pair], n_jobs)
    has_terms = (np.diff(text.ptr) > 0).reshape(-1, 2).all(axis=1)
    if n_components is not None and np.count_nonzero(has_terms) > 1:
        corpus = PairCorpus(_corpus_of(text.tokens, text.ptr, text.terms, np.repeat(has_terms, 2)))
        learner = ParaphraseVectorizer(n_components, n_jobs=n_jobs, random_state=random_state)
        with suppress(ValueError):  # if all pairs hang together by common texts, none can be told from another
            learner.fit(corpus)
            vectors = np.zeros((len(learner.vocabulary_), padded(n_components)), np.float32)
            vectors[:, :n_components] = learner.word_vectors_ * learner.word_weights_[:, None]
            return WordVectors(list(learner.vocabulary_), vectors)
    return WordVectors([], np.zeros((0, 0), np.float32))


def _corpus_of(tokens: np.ndarray, ptr: np.ndarray, terms: list[str], kept: np.ndarray) -> SentenceCorpus:
    """The texts that are kept, two to a document, as a corpus."""
    lengths = np.diff(ptr)
    tokens, sent_ptr = tokens[np.repeat(kept, lengths)], offsets(lengths[kept])
    text, term_ptr = encode_words(terms)
    counts = np.bincount(tokens, minlength=len(terms))
    vocabulary, ids = Vocabulary.from_bytes(text, term_ptr[:-1], term_ptr[1:], counts)
    return SentenceCorpus(ids[tokens], sent_ptr, np.arange(0, len(sent_ptr), 2), vocabulary)


def vectors_of(tokens: np.ndarray, ptr: np.ndarray, rows_of_terms: np.ndarray, word_vectors: np.ndarray) -> np.ndarray:
    """Return the sums of the vectors of the terms of each text, scaled to length one; terms without one do not count.

    ``tokens`` int32 and ``ptr`` (n_texts + 1,) int64: the terms of the texts; ``rows_of_terms`` (n_terms,) int32: row
    of each term in ``word_vectors``, or -1.
    """
    found = np.zeros((len(ptr) - 1, word_vectors.shape[1]), np.float32)
    if not found.size:
        return found
    others = read_only_view(word_vectors[:0])
    for first in range(0, len(found), _ROWS):
        part = ptr[first : first + _ROWS + 1]
        rows = rows_of_terms[tokens[part[0] : part[-1]]].astype(np.int64)
        # Below -1 means: not even the vector of a word that was never learned.
        rows[rows < 0] = -2
        ones, out = np.ones(len(rows), np.float32), found[first : first + _ROWS]
        sum_rows(rows, ones, part - part[0], word_vectors, others, UNIT, out)
    return found


def pretrained_rows(model: PretrainedVectorizer | None, texts: list[str]) -> np.ndarray:
    """Return rows of length one or zero, filled with zeros to a multiple of sixteen; no columns without a model."""
    if model is None:
        return np.zeros((len(texts), 0), np.float32)
    rows = np.zeros((len(texts), padded(model.n_features_out_)), np.float32)
    rows[:, : model.n_features_out_] = unit_rows(np.array(model.transform(texts)))
    return rows


def moments_of(vectors: np.ndarray) -> Moments:
    """Return the sums over vectors."""
    width = vectors.shape[1]
    total, products = np.zeros(width), np.zeros((width, width))
    for first in range(0, len(vectors) if width else 0, _ROWS):
        part = vectors[first : first + _ROWS]
        total += part.sum(axis=0, dtype=np.float64)
        columns = np.ascontiguousarray(part.T)
        products += product_by_row(columns, columns)[:, :width]
    return Moments(total, products)


def spread_of_cosines(queries: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the cosines of each query with all documents, (n_queries,) float64."""
    spread = np.empty(len(queries))
    _spread(read_only_view(queries), covariance, spread)
    return spread


@lean_kernel
def _spread(queries, covariance, spread):
    """Write the square root of ``q @ covariance @ q`` for each query, (n, width) float32."""
    for q in range(queries.shape[0]):
        variance = 0.0
        for i in range(covariance.shape[0]):
            variance += float(queries[q, i]) * dot(covariance, i, queries, q)
        spread[q] = np.sqrt(variance) if variance > 1e-12 else 0.0
