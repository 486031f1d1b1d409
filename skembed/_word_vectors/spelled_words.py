"""Features of words for a regression: the word itself, its n-grams of characters, a given vector."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize

from .._base.coverage import check_given
from .._base.pooled import PooledVectorizer
from .._corpus.corpus import SentenceCorpus
from .._training.ridge import Features, slices_of
from .read import read_source
from .sources import is_unfitted, unwrapped

NGRAMS = (2, 5)  # characters of the n-grams of a word, with its two ends
_LEAST_BUCKETS, _MOST_BUCKETS = 1 << 12, 1 << 17  # rows that the n-grams share
_PARTS = np.array([1.0, 1.0, 0.5])  # mean squared lengths of the three blocks of features, before the whole is scaled


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, or zero, as new float32; those of numbers whose squares overflow too."""
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    scaled = (rows / np.where(largest > 0, largest, 1)).astype(np.float32)
    return np.asarray(normalize(scaled, copy=False))


def with_given(corpus: SentenceCorpus, source: Any) -> tuple[list[str], np.ndarray]:
    """The words of a text, then others that a source has vectors of; and a vector of each, of length one or zero."""
    words = list(corpus.vocabulary.words)
    if source is None:
        return words, np.zeros((len(words), 0), np.float32)
    if is_unfitted(source):
        raise NotFittedError(f"word_vectors is a {type(source).__name__} that is not fitted. Fit it first.")
    known, analyze = set(words), corpus.tokenizer.analyze
    model = unwrapped(source)
    if isinstance(model, PooledVectorizer):
        words += [word for word in model.vocabulary_ if word not in known and analyze(word) == [word]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of unknown words
            return words, unit(model.transform(words))
    theirs, vectors, _ = read_source(source)
    check_given(corpus, theirs)
    row_of = {word: row for row, word in enumerate(theirs)}
    words += [word for word in theirs if word not in known and analyze(word) == [word]]
    rows = np.array([row_of.get(word, -1) for word in words])
    given = np.zeros((len(words), vectors.shape[1]), np.float32)
    given[rows >= 0] = unit(vectors[rows[rows >= 0]])
    return words, given


def features_of(
    corpus: SentenceCorpus, words: list[str], is_learned: np.ndarray, given: np.ndarray
) -> tuple[csr_array, Features, np.ndarray]:
    """Counts of words, scaled so that all sentences are as long; the features of words; and weights of n-grams."""
    from .._encoders.character_ngrams import count_ngrams  # numba takes a while to import

    counts = csr_array(
        (np.ones(corpus.n_tokens, np.float32), corpus.tokens.copy(), corpus.sent_ptr.copy()),
        shape=(len(corpus), len(words)),
    )
    counts.sum_duplicates()
    n_buckets = min(max(1 << (4 * len(words)).bit_length(), _LEAST_BUCKETS), _MOST_BUCKETS)
    ngrams = count_ngrams(words, NGRAMS, n_buckets)
    n_sentences = np.zeros(n_buckets, np.int64)
    for rows in slices_of(len(corpus)):
        n_sentences += np.bincount((counts[rows] @ ngrams).indices, minlength=n_buckets)
    idf, weights = (_idf(n, len(corpus)) for n in (np.bincount(counts.indices, minlength=len(words)), n_sentences))
    features = Features(idf * is_learned, ngrams @ diags_array(weights), idf[:, None] * given)
    squares = np.concatenate([features.squares(counts[rows]) for rows in slices_of(len(corpus))])
    means = squares.mean(axis=0)
    scales = np.where(means > 0, _PARTS / np.where(means > 0, means, 1), 0)
    own, of_ngrams, of_given = np.sqrt(scales).astype(np.float32)
    features = Features(own * features.own, features.ngrams * of_ngrams, of_given * features.given)
    lengths = np.sqrt(squares @ scales)
    sentences = diags_array((1 / np.where(lengths > 0, lengths, 1)).astype(np.float32)) @ counts
    return csr_array(sentences), features, of_ngrams * weights


def _idf(n: np.ndarray, n_sentences: int) -> np.ndarray:
    return (np.log((1 + n_sentences) / (1 + n)) + 1).astype(np.float32)
