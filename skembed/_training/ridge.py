"""Ridge regression from sentences to vectors, where a sentence is a sum of the features of its words.

The kernel S F F' S' of sentences (S: their words, F: features of words) is never stored, only times few vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, dia_array

from .._compiled.products import sparse_product
from .._compiled.threads import Threads

ALPHAS = 2.0 ** np.arange(-8, 6)  # that are compared; the features of a sentence have the length one
_MOST_EXACT = 1_500  # sentences whose kernel is stored, to find alpha
_WIDTH = 64  # columns that are solved at once, and directions of the kernel that are solved exactly
_N_PROBES = 128  # random vectors that estimate the diagonal of an inverse
_MOST_STEPS, _TOLERANCE = 300, 1e-2  # of conjugate gradients; length of what is left of a target of length one
_STEP = 10_000  # sentences at a time


def diagonal(weights: np.ndarray) -> dia_array:
    """Return a sparse array with these numbers on its diagonal; diags_array is younger than SciPy 1.11."""
    return dia_array((weights[np.newaxis], 0), shape=(len(weights), len(weights)))


class Features(NamedTuple):
    """Features of words: one of its own, its n-grams of characters, and a vector that was given."""

    own: np.ndarray  # (n_words,) float32
    ngrams: csr_array  # (n_words, n_buckets) float32
    given: np.ndarray  # (n_words, n_given) float32, of no column where there are no vectors

    def gram(self, rows: np.ndarray, by_ngram: csr_array) -> np.ndarray:
        """Return F F' times some columns, of shape (n_words, n_columns); `by_ngram` is the transpose of `ngrams`."""
        product = np.square(self.own)[:, None] * rows
        product += sparse_product(self.ngrams, sparse_product(by_ngram, rows))
        if self.given.shape[1]:
            product += self.given @ (self.given.T @ rows)
        return product

    def of_sentences(self, counts: csr_array) -> tuple[csr_array, csr_array, np.ndarray]:
        """Return the features of sentences, each block by itself."""
        return csr_array(counts @ diagonal(self.own)), csr_array(counts @ self.ngrams), counts @ self.given

    def squares(self, counts: csr_array) -> np.ndarray:
        """Return the squared length of each block of the features of sentences, (n_sentences, 3) float64."""
        return np.stack([np.asarray((block * block).sum(axis=1), np.float64) for block in self.of_sentences(counts)], 1)


class Solution(NamedTuple):
    """What was learned."""

    dual: np.ndarray  # (n_sentences, n_targets) float32: the weight of each sentence in the sum that predicts
    left_out: np.ndarray | None  # the same shape: predictions, each as if the sentence had not been there, if wanted
    alpha: float
    score: float  # part of the variance of the targets, of those that alpha is found on, that such predictions explain


def slices_of(n_rows: int) -> Iterator[slice]:
    """Yield slices of rows that are worked on at once."""
    return (slice(start, start + _STEP) for start in range(0, n_rows, _STEP))


def fit_ridge(
    sentences: csr_array,
    features: Features,
    targets: np.ndarray,
    alpha: float | None,
    threads: Threads,
    random_state: np.random.RandomState,
    *,
    leave_out: bool = True,
) -> Solution:
    """Learn to predict centred targets (n_sentences, n_targets) float32 from words with these features.

    ``sentences`` (n_sentences, n_words) float32 are scaled counts. An `alpha` of None is the one with the least squared
    error for sentences left out, on at most 1,500. With ``leave_out``, predictions for sentences left out are wanted.
    """
    n = len(targets)
    some = np.arange(n) if n <= _MOST_EXACT else np.sort(random_state.choice(n, _MOST_EXACT, replace=False))
    exact = _Exact(sentences[some], features, targets[some])
    if alpha is None:
        alpha = float(ALPHAS[np.argmax([exact.score(alpha) for alpha in ALPHAS])])
    of_inverse: np.ndarray | None  # the diagonal
    if n <= _MOST_EXACT:
        dual, of_inverse = exact.solve(alpha)
    else:
        kernel = _Kernel(sentences, features, alpha, random_state)
        dual = kernel.solve(targets, threads)
        of_inverse = _diagonal_of_inverse(kernel, threads, random_state) if leave_out else None
    left_out = None if of_inverse is None else (targets - dual / of_inverse[:, None]).astype(np.float32)
    return Solution(dual.astype(np.float32), left_out, alpha, exact.score(alpha))


def _diagonal_of_inverse(kernel: _Kernel, threads: Threads, random_state: np.random.RandomState) -> np.ndarray:
    """The diagonal of the inverse of the kernel plus alpha, estimated."""
    sentences, features, alpha = kernel.sentences, kernel.features, kernel.alpha
    n = sentences.shape[0]
    probes = random_state.randint(0, 2, (n, _N_PROBES)).astype(np.float32) * 2 - 1
    estimates = np.einsum("ij,ij->i", probes, kernel.solve(probes, threads)) / _N_PROBES
    lengths = np.concatenate([features.squares(sentences[rows]).sum(axis=1) for rows in slices_of(n)])
    return np.clip(estimates, 1 / (alpha + lengths), 1 / alpha)  # what an inverse of such a diagonal can be


class _Exact:
    """The kernel of a few sentences by its eigenvectors, so that any penalty costs one product."""

    def __init__(self, sentences: csr_array, features: Features, targets: np.ndarray) -> None:
        own, ngrams, given = (block.astype(np.float64) for block in features.of_sentences(sentences))
        kernel = csr_array(own @ own.T + ngrams @ ngrams.T).toarray() + given @ given.T
        self.values, self.vectors = np.linalg.eigh(kernel)
        self.values = np.maximum(self.values, 0)
        self.targets = self.vectors.T @ (targets - targets.mean(axis=0))

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of the sentences, and the diagonal of the inverse."""
        dual = self.vectors @ (self.targets / (self.values + alpha)[:, None])
        return dual, np.square(self.vectors) @ (1 / (self.values + alpha))

    def score(self, alpha: float) -> float:
        """The part of the variance of the targets that predictions for sentences left out explain."""
        dual, of_inverse = self.solve(alpha)
        variance = np.square(self.targets).sum()
        return 1 - float(np.square(dual / of_inverse[:, None]).sum() / variance) if variance else 0.0


class _Kernel:
    """The kernel of many sentences plus alpha; conjugate gradients solve what its strongest directions leave."""

    def __init__(
        self, sentences: csr_array, features: Features, alpha: float, random_state: np.random.RandomState
    ) -> None:
        self.sentences, self.features, self.alpha = sentences, features, alpha
        self._by_word, self._by_ngram = csr_array(sentences.T), csr_array(features.ngrams.T)
        n = sentences.shape[0]
        directions = np.linalg.qr(self._times(random_state.normal(size=(n, min(n, _WIDTH))).astype(np.float32)))[0]
        strengths, vectors = np.linalg.eigh(directions.T @ self._times(directions))
        strengths = np.maximum(strengths, 0) + alpha
        self._strongest, self._less = directions @ vectors, (1 - strengths[0] / strengths)[:, None]

    def _times(self, columns: np.ndarray) -> np.ndarray:
        """The kernel, without alpha, times some columns."""
        words = sparse_product(self._by_word, columns)
        return sparse_product(self.sentences, self.features.gram(words, self._by_ngram))

    def _nearly_solved(self, columns: np.ndarray) -> np.ndarray:
        return columns - self._strongest @ (self._less * (self._strongest.T @ columns))

    def solve(self, targets: np.ndarray, threads: Threads) -> np.ndarray:
        """The inverse times some columns, of which each thread solves some at a time."""

        def solve(columns: slice) -> np.ndarray:
            left = np.array(targets[:, columns], np.float32, order="C")
            found, direction = np.zeros_like(left), self._nearly_solved(left)
            enough, sizes = _TOLERANCE**2 * _dots(left, left), _dots(left, direction)
            for _ in range(_MOST_STEPS):
                goes_on = _dots(left, left) > enough
                if not goes_on.any():
                    break
                product = self._times(direction)
                product += np.float32(self.alpha) * direction
                steps = np.divide(sizes, _dots(direction, product), out=np.zeros_like(sizes), where=goes_on)
                steps = steps.astype(np.float32)
                found += steps * direction
                left -= steps * product
                nearly, before = self._nearly_solved(left), sizes
                sizes = _dots(left, nearly)
                direction *= np.divide(sizes, before, out=np.zeros_like(sizes), where=goes_on).astype(np.float32)
                direction += nearly
            return found

        parts = (slice(start, start + _WIDTH) for start in range(0, targets.shape[1], _WIDTH))
        return np.concatenate(list(threads.in_order(solve, parts)), axis=1)


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The dot product of each column with that of the other array."""
    return np.einsum("ij,ij->j", a, b, dtype=np.float64)
