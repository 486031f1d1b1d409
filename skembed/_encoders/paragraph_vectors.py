r"""The vector of a sentence in a model of paragraph vectors: where a convex function of the sentence alone is small.

With all words frozen and a fixed sample :math:`N` of noise words, the same for all sentences, the function is

.. math::

    F(d) = \sum_t q_{w_t} \ell(a_t \, u_{w_t}^T d + b_{t, w_t})
    + \frac{k \sum_t q_{w_t}}{|N|} \sum_{n \in N} \ell(-a_{t_n} u_n^T d - b_{t_n, n})
    + \frac{\lambda \bar{a^2}}{2} \|d\|^2

where :math:`u` are the numbers of the target vectors that meet the sentence, :math:`b_{t, w}` is what the words around
position t add to the score of w, and each noise word is compared at one position :math:`t_n`. The penalty is in
proportion to the mean of :math:`a_t^2`, so that it is as strong where a sentence is one of many parts of a mean. A
fixed number of steps of Nesterov's accelerated gradient method, from zero, finds the vector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import read_only, read_only_view
from .._compiled.compile import INLINE_NUMBA, kernel, lean_kernel
from .._compiled.rows import (
    ONE,
    Selection,
    add_scaled,
    combine,
    copy_scaled,
    dots,
    logistic,
    mean_square,
    padded,
    prefetch_row,
)
from .._training.encoded_text import EncodedText
from .._training.negatives import noise_weights
from .._training.state import FittedState
from .._validation.messages import brief

# Chosen on the development sets: 10 and 30 steps are worse; 32 to 256 noise words are about as good.
N_NOISE, N_STEPS, RIDGE = 64, 20, np.float32(0.1)
# A vector found from half of the words overfits them: with a small ridge the loss of the others rises at first.
HELD_OUT_RIDGE = np.float32(3.0)
_STRIDE = 27  # without a common factor with N_NOISE, so that neighbours in the sample differ in frequency
_POWERS = 20  # iterations for the largest eigenvalue
_CHUNK = 8192  # sentences


class FrozenWords(NamedTuple):
    """What the vectors of sentences are found from."""

    target: np.ndarray  # (n_words, n_inputs * n_components) float32
    source: np.ndarray  # (n_words, n_components) float32, of PV-DM, or no row
    weight: np.ndarray  # (n_words,) float32
    noise: np.ndarray  # (n_noise,) int64
    curvature: np.float32  # largest eigenvalue of the mean of u u' over the noise words
    negative: int
    window: int  # 0 for PV-DBOW
    n_inputs: int
    mean: bool


class Terms(NamedTuple):
    """Buffers for the terms of one sentence: its words, then the noise words."""

    row: np.ndarray  # (n,) int64
    weight: np.ndarray  # (n,) float32
    factor: np.ndarray  # (n,) float32, of the score, negative for words
    offset: np.ndarray  # (n,) float32
    scores: np.ndarray  # (1, n or more) float32
    scores_flat: np.ndarray  # the same memory as one dimension
    context: np.ndarray  # (1, n_inputs * n_components) float32
    context_inputs: np.ndarray  # the same memory, a row for each input
    vectors: np.ndarray  # (3, n_components) float32: where the gradient is taken, the gradient, and the last vector


def noise_sample(counts: np.ndarray) -> np.ndarray:
    """Noise words at even distances in the distribution of the noise, (n_noise,) int64."""
    cumulated = np.cumsum(noise_weights(counts.astype(np.float64)))
    words = np.searchsorted(cumulated, (np.arange(N_NOISE) + 0.5) / N_NOISE)
    return np.minimum(words, len(counts) - 1)[np.arange(N_NOISE) * _STRIDE % N_NOISE]


@kernel
def _largest_eigenvalue(target, noise, vectors, scores, scores_flat):
    """The largest eigenvalue of the mean of u u' over the noise words, from below, by powers."""
    size = np.float32(0.0)
    for k in range(noise.shape[0]):
        add_scaled(vectors, 0, ONE, target, noise[k])
    for _ in range(_POWERS):
        size = np.float32(math.sqrt(mean_square(vectors, 0) * vectors.shape[1]))
        if size == 0.0:
            break
        copy_scaled(vectors, 1, ONE / size, vectors, 0)
        dots(scores, 0, vectors, 1, Selection(target, noise, 0, noise.shape[0]))
        for k in range(noise.shape[0]):
            scores[0, k] /= np.float32(noise.shape[0])
        combine(vectors, 0, scores_flat, 0, Selection(target, noise, 0, noise.shape[0]))
    return size


@njit(**INLINE_NUMBA)
def join_context(terms, t, n, frozen):
    """PV-DM: what the words around word t add to a score, as `context`; returns the factor of both."""
    window, n_context = frozen.window, np.int64(0)
    for c in range(terms.context.shape[1]):
        terms.context[0, c] = 0.0
    for c in range(max(0, t - window), min(n, t + window + 1)):
        if c != t:
            nth = c - t + window + (c < t) if frozen.n_inputs > 1 else 0
            add_scaled(terms.context_inputs, nth, ONE, frozen.source, terms.row[c])
            n_context += 1
    return ONE / np.float32(1 + n_context) if frozen.mean else ONE


@njit(**INLINE_NUMBA)
def set_offsets(terms, first, n, factor, frozen):
    """Set factor and offset of some terms, and multiply the offset with the factor."""
    if frozen.window > 0:
        dots(terms.scores, 0, terms.context, 0, Selection(frozen.target, terms.row, first, n))
    for e in range(first, first + n):
        terms.factor[e] = factor
        terms.offset[e] = factor * terms.scores[0, e - first] if frozen.window > 0 else np.float32(0.0)


@njit(**INLINE_NUMBA)
def weigh_words(terms, n, first, step, frozen):
    """Give each ``step``-th of ``n`` words its weight, no weight to others, and the noise its own; returns the sum."""
    total, n_noise = np.float32(0.0), frozen.noise.shape[0]
    for t in range(n):
        terms.weight[t] = frozen.weight[terms.row[t]] if t % step == first else np.float32(0.0)
        total += terms.weight[t]
    for k in range(n, n + n_noise):
        terms.weight[k] = total * np.float32(frozen.negative) / np.float32(n_noise)
    return total


@njit(**INLINE_NUMBA)
def weigh_terms(terms, n, frozen):
    """Set weight, factor and offset of the ``n`` words, whose rows are listed, and of the noise words.

    Returns a bound of the curvature of their losses, and the mean square of the factors.
    """
    n_noise, curvature, squares = frozen.noise.shape[0], np.float32(0.0), np.float32(0.0)
    for k in range(n_noise):
        terms.row[n + k] = frozen.noise[k]
    weigh_words(terms, n, 0, 1, frozen)
    for t in range(n):
        first, last, factor = t * n_noise // n, (t + 1) * n_noise // n, ONE
        if frozen.window > 0:
            factor = join_context(terms, t, n, frozen)
        set_offsets(terms, t, 1, -factor, frozen)
        set_offsets(terms, n + first, last - first, factor, frozen)
        copy_scaled(terms.vectors, 1, ONE, frozen.target, terms.row[t])
        squares += factor * factor
        square = terms.weight[t] * mean_square(terms.vectors, 1) * np.float32(terms.vectors.shape[1])
        curvature += factor * factor * (square + np.float32(last - first) * terms.weight[n] * frozen.curvature)
    # The second derivative of a loss is at most 1 / 4.
    return np.float32(0.25) * curvature, squares / np.float32(n)


@njit(**INLINE_NUMBA)
def score_terms(terms, vector, n_terms, frozen):
    """The score of each term at one of `vectors`."""
    dots(terms.scores, 0, terms.vectors, vector, Selection(frozen.target, terms.row, 0, n_terms))
    for e in range(n_terms):
        terms.scores[0, e] = terms.factor[e] * terms.scores[0, e] + terms.offset[e]


@njit(**INLINE_NUMBA)
def descend(terms, n_terms, curvature, ridge, frozen):
    """Nesterov's steps from zero; the vector that they end at is row 2 of `vectors`."""
    vectors, momentum, step = terms.vectors, 1.0, ONE / (curvature + ridge)
    for v in range(3):
        for c in range(vectors.shape[1]):
            vectors[v, c] = 0.0
    for _ in range(N_STEPS):
        score_terms(terms, 0, n_terms, frozen)
        logistic(terms.scores, 0, n_terms)
        for e in range(n_terms):
            terms.scores[0, e] *= terms.weight[e] * terms.factor[e]
        combine(vectors, 1, terms.scores_flat, 0, Selection(frozen.target, terms.row, 0, n_terms))
        before, momentum = momentum, (1.0 + math.sqrt(1.0 + 4.0 * momentum * momentum)) / 2.0
        ahead = np.float32((before - 1.0) / momentum)
        for c in range(vectors.shape[1]):
            now = vectors[0, c] - step * (vectors[1, c] + ridge * vectors[0, c])
            vectors[0, c] = now + ahead * (now - vectors[2, c])
            vectors[2, c] = now


@njit(**INLINE_NUMBA)
def weighted_loss(terms, n_terms, frozen):
    """The weighted sum of the losses of the terms at the vector that was found."""
    loss = 0.0
    score_terms(terms, 2, n_terms, frozen)
    for e in range(n_terms):
        terms.offset[e] = terms.scores[0, e]
    logistic(terms.scores, 0, n_terms)
    for e in range(n_terms):
        error = terms.scores[0, e]
        # log(1 + exp(x)) from x and its derivative, whichever of the two is accurate.
        loss += terms.weight[e] * (max(terms.offset[e], np.float32(0.0)) - math.log(max(error, ONE - error)))
    return loss


@njit(**INLINE_NUMBA)
def list_terms(rows, ptr, i, frozen, terms):
    """List the known words of a sentence; returns their number."""
    n = np.int64(0)
    for p in range(ptr[i], ptr[i + 1]):
        if rows[p] >= 0:
            terms.row[n] = rows[p]
            prefetch_row(frozen.target, rows[p])
            n += 1
    return n


@lean_kernel
def find_paragraphs(rows, ptr, frozen, terms, out, losses):
    """Find the vectors of sentences, zero where no word is known.

    If ``losses`` has rows, find them from every second word, and write the sum of the losses and of the weights of the
    other words.

    ``rows`` (n_tokens,) int64, below 0 for unknown words, and ``ptr`` (n_sentences + 1,) int64, where sentences begin
    ``out`` (n_sentences, n_components) float32; ``losses`` (n_sentences, 2) float64
    """
    for i in range(out.shape[0]):
        n = list_terms(rows, ptr, i, frozen, terms)
        n_terms = n + frozen.noise.shape[0]
        for c in range(out.shape[1]):
            out[i, c] = 0.0
        if n > 0:
            curvature, square = weigh_terms(terms, n, frozen)
            if losses.shape[0] > 0:
                weigh_words(terms, n, 0, 2, frozen)
            ridge = HELD_OUT_RIDGE if losses.shape[0] > 0 else RIDGE
            descend(terms, n_terms, curvature, ridge * square, frozen)
            for c in range(out.shape[1]):
                out[i, c] = terms.vectors[2, c]
            if losses.shape[0] > 0:
                losses[i, 1] = weigh_words(terms, n, 1, 2, frozen)
                losses[i, 0] = weighted_loss(terms, n_terms, frozen)


@lean_kernel
def clear_unknown(text, vectors):
    """Set the vectors of the sentences without a known word to zero."""
    for i in range(vectors.shape[0]):
        n = np.int64(0)
        for p in range(text.sent_ptr[i], text.sent_ptr[i + 1]):
            n += text.tokens[p] < text.word_weight.shape[0]
        if n == 0:
            for c in range(vectors.shape[1]):
                vectors[i, c] = 0.0


def check_noise(noise: Any, n_words: int) -> None:
    """Raise a ValueError where the rows of the noise words are not rows of words."""
    if not isinstance(noise, np.ndarray) or noise.dtype != np.int64 or noise.ndim != 1:
        raise ValueError(f"_noise is {brief(noise)}, expected rows of words. Fit the estimator again.")
    if len(noise) and not 0 <= noise.min() <= noise.max() < n_words:
        raise ValueError(f"_noise has a row that is not from 0 to {n_words - 1}, as expected. Fit the estimator again.")


class ParagraphEncoder:
    """Finds the vectors of sentences in a model of paragraph vectors."""

    def __init__(self, state: FittedState, options: Mapping[str, Any]) -> None:
        target, n_components = state.arrays["target_vectors_"], int(options["n_components"])
        is_bag, n_inputs = options["algorithm"] == "dbow", target.shape[1] // n_components
        noise = state.arrays["_noise"]
        buffers = np.zeros((2, n_components), np.float32), np.zeros((1, padded(len(noise))), np.float32)
        target = read_only(target)
        self.frozen = FrozenWords(
            target=target,
            source=read_only(target[:0, :n_components] if is_bag else state.arrays["word_vectors_"]),
            weight=read_only(state.word_weights_),
            noise=noise,
            curvature=_largest_eigenvalue(target, noise, *buffers, buffers[1].reshape(-1)),
            negative=int(options["negative"]),
            window=0 if is_bag else int(options["window"]),
            n_inputs=n_inputs,
            mean=not is_bag and options["combine"] == "mean",
        )

    def vectors(self, rows: np.ndarray, ptr: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the vectors of sentences, given as rows of the vocabulary, -1 for unknown words."""
        return self._find(rows, ptr, out, np.empty((0, 2)))

    def losses_of(self, text: EncodedText, sentences: np.ndarray) -> np.ndarray:
        """Sum of the losses and of the weights of every second word, predicted by the vector of the other words."""
        tokens = [text.tokens[text.sent_ptr[i] : text.sent_ptr[i + 1]] for i in sentences.tolist()]
        ptr = np.cumsum([0, *map(len, tokens)])
        losses, out = np.zeros((len(tokens), 2)), np.empty((len(tokens), self.frozen.source.shape[1]), np.float32)
        self._find(_known(np.concatenate([text.tokens[:0], *tokens]), text), ptr, out, losses)
        return losses

    def write_vectors_of(self, text: EncodedText, out: np.ndarray) -> None:
        """Write the vectors of all sentences of a text, a chunk at a time, because it is copied."""
        for start in range(0, len(out), _CHUNK):
            ptr = np.asarray(text.sent_ptr[start : start + _CHUNK + 1])
            self.vectors(_known(text.tokens[ptr[0] : ptr[-1]], text), ptr - ptr[0], out[start : start + _CHUNK])

    def _find(self, rows: np.ndarray, ptr: np.ndarray, out: np.ndarray, losses: np.ndarray) -> np.ndarray:
        n_components, n_inputs = self.frozen.source.shape[1], self.frozen.n_inputs
        n_terms = int(np.diff(ptr).max(initial=1)) + len(self.frozen.noise)
        scores, context = np.zeros((1, padded(n_terms)), np.float32), np.zeros((1, n_inputs * n_components), np.float32)
        weight, factor, offset = np.zeros((3, n_terms), np.float32)
        terms = Terms(
            row=np.zeros(n_terms, np.int64),
            weight=weight,
            factor=factor,
            offset=offset,
            scores=scores,
            scores_flat=scores.reshape(-1),
            context=context,
            context_inputs=context.reshape(n_inputs, n_components),
            vectors=np.zeros((3, n_components), np.float32),
        )
        rows, ptr = (read_only_view(np.ascontiguousarray(array, np.int64)) for array in (rows, ptr))
        find_paragraphs(rows, ptr, self.frozen, terms, out, losses)
        return out


def _known(tokens: np.ndarray, text: EncodedText) -> np.ndarray:
    """Tokens as rows of the vocabulary, -1 for unknown words."""
    return np.where(tokens < len(text.word_weight), tokens, -1)
