r"""The next word, from the state of a decoder: a softmax over all words, or over a random sample of them.

With the state :math:`h`, the target vector :math:`u_w` and the intercept :math:`b_w` of a word,
:math:`s_w = u_w \cdot h + b_w`, and a sample :math:`S` that holds word :math:`j` with probability :math:`\pi_j`, the
loss of word :math:`w` is

.. math::

    -s_w + \log \hat Z, \qquad \hat Z = e^{s_w} + \sum_{j \in S, j \ne w} e^{s_j} / \pi_j

The mean of :math:`\hat Z` over all samples is the sum over all words. Frequent words are always in the sample, the
others in proportion to their frequency; with as many as there are words, this is the softmax itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._compiled.compile import lean_kernel
from .._compiled.rows import padded, softmax
from .._training.dense import RowGradients

MOST_SCORES = 1 << 21  # that are computed at once


class Sample(NamedTuple):
    """Words that the next one is compared with."""

    words: np.ndarray  # (n,) int64, distinct
    log_probability: np.ndarray  # (n,) float32, of being in the sample


class Sampler:
    """Draws samples of ``size`` words, each word at most once."""

    def __init__(self, counts: np.ndarray, size: int) -> None:
        self.size = min(size, len(counts))
        self._ends = np.cumsum(inclusion(np.maximum(counts, 1).astype(np.float64), self.size))
        self._log_probability = np.log(np.diff(self._ends, prepend=0.0)).astype(np.float32)

    def draw(self, random: np.random.Generator) -> Sample:
        """Systematic sampling: equally distant points, moved at random, each of which falls on a word."""
        points = random.random() + np.arange(self.size)
        words = np.minimum(np.searchsorted(self._ends, points, side="right"), len(self._ends) - 1)
        return Sample(np.unique(words), self._log_probability[np.unique(words)])

    def all_words(self) -> Sample:
        """All words, each with certainty."""
        return Sample(np.arange(len(self._ends)), np.zeros(len(self._ends), np.float32))


def inclusion(counts: np.ndarray, size: int) -> np.ndarray:
    """Probabilities, at most one and otherwise in proportion to the counts, that add up to ``size``."""
    ascending = np.sort(counts)
    sums = np.cumsum(ascending)
    # With the k largest certain, the others share what is left.
    for n_certain in range(size):
        n_others = len(counts) - n_certain
        if n_others and ascending[n_others - 1] * (size - n_certain) <= sums[n_others - 1]:
            return np.minimum(1.0, counts * ((size - n_certain) / sums[n_others - 1]))
    return np.ones(len(counts))


class Predicted(NamedTuple):
    """Loss of the next words, and its gradients; empty where nothing is learned."""

    loss: float
    of_states: np.ndarray  # (n, n_units) float32
    of_rows: RowGradients  # of the target vectors and their intercepts


@lean_kernel
def sample_errors(scores, intercepts, column, target_scores, own):
    """Scores (n, at least n_sample + 1) of the words of a sample become errors; returns the loss.

    ``intercepts`` (n_sample,) of the words of the sample; ``column`` (n,) of the target itself in the sample, or -1
    ``own`` (n,) receives the error of the target
    """
    loss, n_sample = 0.0, intercepts.shape[0]
    for i in range(scores.shape[0]):
        for k in range(n_sample):
            scores[i, k] += intercepts[k]
        if column[i] >= 0:
            scores[i, column[i]] = -np.inf
        scores[i, n_sample] = target_scores[i]
        loss += softmax(scores, i, n_sample + 1) - target_scores[i]
        own[i] = scores[i, n_sample] - np.float32(1.0)
    return loss


def predict(states: np.ndarray, targets: np.ndarray, rows: np.ndarray, sample: Sample, learn: bool) -> Predicted:
    """Predict the words ``targets`` from ``states``; ``rows`` hold target vectors and, last, intercepts."""
    n, n_sample = len(states), len(sample.words)
    column = np.full(len(rows), -1, np.int64)
    column[sample.words] = np.arange(n_sample)
    of_sample = rows[sample.words]
    vectors = np.ascontiguousarray(of_sample[:, :-1])
    intercepts = of_sample[:, -1] - sample.log_probability
    own, loss = np.empty(n, np.float32), 0.0
    of_states = np.empty_like(states) if learn else states[:0]
    gradient = np.zeros_like(of_sample)
    width = padded(n_sample + 1)
    n_at_once = max(1, MOST_SCORES // width)
    scores = np.empty((min(n, n_at_once), width), np.float32)
    for first in range(0, n, n_at_once):
        which = slice(first, min(first + n_at_once, n))
        of_these, found = states[which], scores[: which.stop - first]
        np.matmul(of_these, vectors.T, out=found[:, :n_sample])
        of_targets = rows[targets[which]]
        target_scores = np.einsum("nd,nd->n", of_these, of_targets[:, :-1]) + of_targets[:, -1]
        loss += sample_errors(found, intercepts, column[targets[which]], target_scores, own[which])
        if learn:
            errors = found[:, :n_sample]
            np.matmul(errors, vectors, out=of_states[which])
            of_states[which] += own[which, None] * of_targets[:, :-1]
            gradient[:, :-1] += errors.T @ of_these
            gradient[:, -1] += errors.sum(axis=0)
    if not learn:
        return Predicted(loss, of_states, RowGradients(targets[:0], gradient[:0]))
    distinct, which_target = np.unique(targets, return_inverse=True)
    by_target = csr_array((own, (which_target, np.arange(n))), (len(distinct), n))
    of_targets = np.column_stack([by_target @ states, by_target.sum(axis=1)]).astype(np.float32)
    every = RowGradients(np.concatenate([sample.words, distinct]), np.concatenate([gradient, of_targets]))
    return Predicted(loss, of_states, every)
