"""Features of words for a regression: the word itself, its n-grams of characters, a given vector."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.arrays import read_only_view
from .._compiled.products import sparse_product
from .._compiled.threads import Threads, count_threads
from .._corpus.corpus import SentenceCorpus
from .._training.learned_arrays import ArrayRecord
from .._training.ridge import Features, Solution, diagonal, fit_ridge, slices_of
from .._training.state import ABSENT, Fitted, FittedState
from .._validation.constraints import Constraints
from .._word_vectors.character_ngrams import count_ngrams, from_8_bits, in_8_bits, sum_ngrams
from .._word_vectors.matches import check_given
from .._word_vectors.read import read_source
from .pooled import PooledVectorizer
from .sources import GivenVectors, unwrapped
from .start import is_unfitted

_NGRAMS = (2, 5)  # characters of the n-grams of a word, with its two ends
_LEAST_BUCKETS, _MOST_BUCKETS = 1 << 12, 1 << 17  # rows that the n-grams share
# Given vectors have the lengths that their model gave them: beside idf, these are as good or better.
_PARTS = np.array([1.0, 1.0, 0.5])  # mean squared lengths of the three blocks of features, before the whole is scaled
_SMALLEST, _LARGEST = 1e-12, 1e12  # alpha
LEAST_FOR_WARNING = 100  # sentences, from which on it warns that nothing was learned


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, or zero, as new float32; those of numbers whose squares overflow too."""
    largest = np.abs(rows).max(axis=1, keepdims=True).astype(np.float64)
    scaled = (rows / np.where(largest > 0, largest, 1)).astype(np.float32)
    return np.asarray(normalize(scaled, copy=False))


class WordFeatures(NamedTuple):
    """Words and their features."""

    words: list[str]
    is_learned: np.ndarray  # (n_words,) bool: whether it has one of its own
    parts: Features
    bucket_weights: np.ndarray  # (n_buckets,) float32: of n-grams


class Found(NamedTuple):
    """What a regression has learned of words."""

    words: list[str]
    vectors: np.ndarray  # (n_words, n_targets) float32: what each adds to a sentence
    ngram_vectors: np.ndarray  # (n_buckets, n_targets) float32

    def coded(self, scale: float = 1.0) -> dict[str, np.ndarray]:
        """The arrays of a state with the vectors of n-grams, times a scale."""
        codes, scales = in_8_bits(self.ngram_vectors)
        return {"_ngram_codes": codes, "_ngram_scales": scales * np.float32(scale)}

    solution: Solution


@dataclass(frozen=True, eq=False, repr=False)
class RegressedState(FittedState):
    """What a ridge regression of words and their n-grams has learned."""

    alpha_: float = ABSENT
    score_: float = ABSENT


def _ngram_vectors_of(estimator: Any, state: FittedState) -> NDArray[np.float32]:
    return read_only_view(from_8_bits(state.arrays["_ngram_codes"], state.arrays["_ngram_scales"]))


class SpelledWords(GivenVectors):
    """Base of the estimators whose words are learned with their n-grams, of which unknown words are made."""

    _state = RegressedState()
    ngram_vectors_ = Fitted[NDArray[np.float32]](_ngram_vectors_of)
    norm = "l2"  # of rows; only their directions are learned
    _parameter_constraints: Constraints = {
        **GivenVectors._parameter_constraints,
        "alpha": [Interval(Real, _SMALLEST, _LARGEST, closed="both"), StrOptions({"auto"})],
        "unknown": [StrOptions({"ngrams", "zero"})],
    }
    _parameter_constraints.pop("pooling")
    _parameter_constraints.pop("weighting")
    alpha: float | str

    def _regress(
        self,
        sentences: csr_array,
        features: WordFeatures,
        targets: np.ndarray,
        random_state: np.random.RandomState,
        *,
        leave_out: bool = False,
    ) -> Found:
        """Learn to predict centred targets of some sentences."""
        alpha = None if self.alpha == "auto" else float(self.alpha)
        with Threads(count_threads(self.n_jobs)) as threads:
            found = fit_ridge(sentences, features.parts, targets, alpha, threads, random_state, leave_out=leave_out)
        of_words = sparse_product(csr_array(sentences.T), found.dual)
        # Any other word is the sum of its n-grams, as if it was unknown.
        kept = np.flatnonzero(features.is_learned | features.parts.given.any(axis=1))
        by_ngram = csr_array(features.parts.ngrams.T)
        vectors = np.ascontiguousarray(features.parts.gram(of_words, by_ngram)[kept], np.float32)
        of_ngrams = features.bucket_weights[:, None] * sparse_product(by_ngram, of_words)
        words = [features.words[row] for row in kept]
        return Found(words, vectors, np.ascontiguousarray(of_ngrams, np.float32), found)

    def _unknown_vectors(self, state: FittedState, words: list[str]) -> np.ndarray:
        return sum_ngrams(words, _NGRAMS, state.arrays["_ngram_codes"], state.arrays["_ngram_scales"])

    def _derived_arrays(self, state: Any) -> list[ArrayRecord]:
        n_buckets = len(state.arrays["_ngram_codes"])
        if not n_buckets:
            raise ValueError("_ngram_codes has no row for n-grams.")
        return [
            *super()._derived_arrays(state),
            ArrayRecord("_ngram_codes", (n_buckets, state.n_features_out_), "uint8"),
            ArrayRecord("_ngram_scales", (n_buckets,)),
        ]


def with_given(corpus: SentenceCorpus, source: Any) -> tuple[list[str], np.ndarray]:
    """The words of a text, then others that a source has vectors of; and the vector of each, or zeros."""
    words = list(corpus.vocabulary.words)
    if source is None:
        return words, np.zeros((len(words), 0), np.float32)
    if is_unfitted(source):
        raise NotFittedError(f"word_vectors is a {type(source).__name__} that is not fitted. Fit it first.")
    known, analyze = set(words), corpus.tokenizer.analyze
    model = unwrapped(source)
    if isinstance(model, PooledVectorizer):
        words += [word for word in model.vocabulary_ if word not in known and analyze(word) == [word]]
        return words, _sums_of(model, words)
    theirs, vectors, _ = read_source(source)
    theirs = corpus.tokenizer.forms_of(theirs)
    check_given(corpus, theirs)
    row_of = {word: row for row, word in enumerate(theirs)}
    words += [word for word in theirs if word not in known and analyze(word) == [word]]
    rows = np.array([row_of.get(word, -1) for word in words])
    given = np.zeros((len(words), vectors.shape[1]), np.float32)
    given[rows >= 0] = vectors[rows[rows >= 0]]
    return words, given


def _sums_of(model: Any, words: list[str]) -> np.ndarray:
    """What each word adds to a sentence of a model, in which it may be several pieces."""
    model = copy(model)  # a snapshot: another thread may fit it
    model.pooling = "sum"
    model.norm = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown words
        return np.array(model.transform(words))


def features_of(
    corpus: SentenceCorpus, learned: Collection[str], words: list[str], given: np.ndarray
) -> tuple[csr_array, WordFeatures]:
    """Counts of words, scaled to sentences of length one, and the features of words; `learned` ones have their own."""
    counts = csr_array(
        (np.ones(corpus.n_tokens, np.float32), corpus.tokens.copy(), corpus.sent_ptr.copy()),
        shape=(len(corpus), len(words)),
    )
    counts.sum_duplicates()
    is_learned = np.array([word in learned for word in words], bool)
    n_buckets = min(max(1 << (4 * len(words)).bit_length(), _LEAST_BUCKETS), _MOST_BUCKETS)
    ngrams = count_ngrams(words, _NGRAMS, n_buckets)
    n_sentences = np.zeros(n_buckets, np.int64)
    for rows in slices_of(len(corpus)):
        n_sentences += np.bincount((counts[rows] @ ngrams).indices, minlength=n_buckets)
    idf, weights = (_idf(n, len(corpus)) for n in (np.bincount(counts.indices, minlength=len(words)), n_sentences))
    given = given / np.ldexp(np.float32(1), np.frexp(np.abs(given).max(initial=0))[1])  # squares of large ones overflow
    features = Features(idf * is_learned, ngrams @ diagonal(weights), given)
    squares = np.concatenate([features.squares(counts[rows]) for rows in slices_of(len(corpus))])
    means = squares.mean(axis=0)
    scales = np.where(means > 0, _PARTS / np.where(means > 0, means, 1), 0)
    own, of_ngrams, of_given = np.sqrt(scales).astype(np.float32)
    features = Features(own * features.own, features.ngrams * of_ngrams, of_given * features.given)
    lengths = np.sqrt(squares @ scales)
    sentences = diagonal((1 / np.where(lengths > 0, lengths, 1)).astype(np.float32)) @ counts
    return csr_array(sentences), WordFeatures(words, is_learned, features, of_ngrams * weights)


def _idf(n: np.ndarray, n_sentences: int) -> np.ndarray:
    return (np.log((1 + n_sentences) / (1 + n)) + 1).astype(np.float32)
