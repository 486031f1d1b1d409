r"""Averages of word vectors with gates from a recurrent unit (Wieting and Gimpel, 2017), forward and backward.

A unit reads the word vectors :math:`x_1 \dots x_n` of a sentence and has the states :math:`h_1 \dots h_n`. A gate says
how much each number of a word counts:

.. math::

    g_t = \sigma(W_x x_t + W_h h_t + b), \qquad s = \frac{1}{n} \sum_t g_t \odot x_t

:math:`W_x x` is computed once for each distinct word of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from .._compiled.arrays import row_norms
from .._compiled.products import product_by_row
from .._training.encoded_text import EncodedText
from .._training.pairs import IndexedSentences, OverWords, PairEncoder
from ._gru import Gru, Read, Steps

_BATCH, _WINDOW = 256, 256  # sentences that are embedded together, and words of each that are in memory
_WORDS = 16_384  # of all of them
_LONGEST = 1000  # words of a sentence that are learned from: all their states are in memory
_STEP = 0.1  # of unit and gates, relative to words: a block moves all of their weights, but few words


class Gated(NamedTuple):
    """Sentences that have been read, and their averages; none is empty."""

    read: Read
    gates: np.ndarray  # (n_words, n_components) float32, in the order of the steps
    mean: csr_array  # (n_sentences, n_words), takes the mean of the words of each sentence
    averages: np.ndarray  # (n_sentences, n_components) float32


class GatedAverage:
    """A unit and its gates, from their weights: of the unit as `Gru` has them, of the gates with the same columns."""

    def __init__(self, unit: np.ndarray, gates: np.ndarray) -> None:
        d = len(gates)
        self._unit = Gru(unit, d)
        self._of_words, self._intercept = np.ascontiguousarray(gates[:, :d]), gates[:, -1]
        self._of_states = np.zeros((d, self._unit.width), np.float32)
        self._of_states[:, : self._unit.n_units] = gates[:, d:-1]

    def read(self, vectors: np.ndarray, words: np.ndarray, ptr: np.ndarray, before: np.ndarray | None = None) -> Gated:
        """Read sentences; ``words`` are rows of ``vectors``. The average of each depends on its own words alone.

        ``before`` (n_sentences, n_units), the states of the unit where earlier words have been read.
        """
        steps, d = Steps.of(ptr), len(self._of_words)
        read = self._unit.read(vectors, words, steps, before=before)
        scores = product_by_row(vectors, self._of_words)[read.words]
        scores += product_by_row(read.trace.states, self._of_states)
        gates = expit(scores[:, :d] + self._intercept)
        lengths = np.diff(ptr)
        shares = np.repeat(np.float32(1) / lengths.astype(np.float32), lengths)
        mean = csr_array((shares, np.argsort(steps.position), ptr), (len(lengths), len(words)))
        return Gated(read, gates, mean, mean @ (gates * vectors[read.words]))

    def back(self, gated: Gated, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From the gradient of the averages those of unit, gates and ``vectors``."""
        read, gates, mean, _ = gated
        vectors, words = read.vectors, read.words
        by_word = csr_array(
            (np.ones(len(words), np.float32), (words, np.arange(len(words)))), (len(vectors), len(words))
        )
        of_products = mean.T @ gradient
        of_scores = of_products * vectors[words] * gates * (1 - gates)
        of_word_scores = by_word @ of_scores
        of_unit = self._unit.back(read, of_scores @ self._of_states, None)
        of_vectors = by_word @ (of_products * gates) + of_word_scores @ self._of_words + of_unit.vectors
        columns = of_word_scores.T @ vectors, of_scores.T @ self._unit.states_of(read), of_scores.sum(axis=0)[:, None]
        return of_unit.weights, np.concatenate(columns, axis=1), of_vectors


def embed_gated(sentences: IndexedSentences, vectors: np.ndarray, unit: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """The rows of sentences, from the vectors of their distinct words."""
    averages = GatedAverage(unit, gates)
    lengths = np.diff(sentences.ptr)
    rows = np.zeros((len(lengths), len(gates)), np.float32)
    by_length = np.argsort(lengths, kind="stable")
    by_length = by_length[lengths[by_length] > 0]
    while len(by_length):
        longest = lengths[by_length[:_BATCH][-1]]
        n = min(_BATCH, _WORDS // min(longest, _WINDOW))
        which, by_length = by_length[:n], by_length[n:]
        states = None
        for first in range(0, lengths[which[-1]], _WINDOW):
            goes_on = lengths[which] > first
            which, states = which[goes_on], None if states is None else states[goes_on]
            n_words = np.minimum(lengths[which] - first, _WINDOW)
            ptr = np.append(0, np.cumsum(n_words))
            positions = np.arange(ptr[-1]) + np.repeat(sentences.ptr[which] + first - ptr[:-1], n_words)
            distinct, words = np.unique(sentences.words[positions], return_inverse=True)
            found = averages.read(vectors[distinct], words, ptr, states)
            rows[which] += found.averages * (n_words / lengths[which])[:, None]
            states = found.read.last
    return rows


def _beginnings(listed: EncodedText) -> EncodedText:
    """The first `_LONGEST` words of each sentence."""
    lengths = np.diff(listed.sent_ptr)
    if lengths.max(initial=0) <= _LONGEST:
        return listed
    place = np.arange(len(listed.tokens)) - np.repeat(listed.sent_ptr[:-1], lengths)
    ptr = np.append(0, np.cumsum(np.minimum(lengths, _LONGEST)))
    return listed._replace(tokens=listed.tokens[place < _LONGEST], sent_ptr=ptr)


class GatedAverages(OverWords):
    """Encoder of `PairTrainer`: averages of the words of another encoder, with gates."""

    def __init__(
        self, words: PairEncoder, arrays: Mapping[str, np.ndarray], *, alpha: float, dropout: float, shuffled: float
    ) -> None:
        super().__init__(words, arrays, dropout)
        self.alpha, self.shuffled = alpha, shuffled

    @cached_property
    def _unit_of_rate(self) -> np.ndarray:
        """A unit for each column: what a weight is multiplied with has a length of one for each unit."""
        start, n_columns = self.arrays["_start_vectors"], self.arrays["_gate_weights"].shape[1]
        units = np.full(n_columns, _STEP, np.float32)
        lengths = row_norms(start)
        units[: start.shape[1]] *= start.shape[1] ** 0.5 / np.median(lengths[lengths > 0])
        return units

    def encode(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        """The vectors of some sentences, or of their first words where they are very long."""
        listed = _beginnings(self._listed(text, sentences, seed, learn))
        if learn and self.shuffled:
            listed = listed._replace(tokens=self._shuffle(listed, [seed, *sentences[:1]]))
        indexed, vectors = self._indexed(listed, seed, learn)
        self._which = np.flatnonzero(np.diff(indexed.ptr))
        self._average = GatedAverage(self.arrays["_unit_weights"], self.arrays["_gate_weights"])
        ptr = np.append(indexed.ptr[:-1][self._which], indexed.ptr[-1])
        self._gated = self._average.read(vectors, indexed.words, ptr)
        out = np.zeros((len(sentences), vectors.shape[1]), np.float32)
        out[self._which] = self._gated.averages
        return out

    def _shuffle(self, listed: EncodedText, seed: list[int]) -> np.ndarray:
        """The words of all sentences, those of some sentences in random order."""
        random, lengths = np.random.default_rng(seed), np.diff(listed.sent_ptr)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        keys = np.where((random.random(len(lengths)) < self.shuffled)[sentence], random.random(len(sentence)), 0.0)
        return listed.tokens[np.lexsort((keys, sentence))]

    def step(self, gradient: np.ndarray, rate: float) -> None:
        of_unit, of_gates, of_vectors = self._average.back(self._gated, gradient[self._which])
        self.words.step(of_vectors, rate)
        for name, found in (("_unit_weights", of_unit), ("_gate_weights", of_gates)):
            self._move(name, found, self._unit_of_rate, rate, self.alpha)

    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        d, width = len(self.arrays["_gate_weights"]), self.arrays["_unit_weights"].shape[1]
        n_words = min(n_words, n_sentences * _LONGEST)
        of_word = 4 * (2 * 3 * width + 6 * d + 8 * width)
        return self.words.scratch_bytes(n_words, n_words) + n_words * of_word + 8 * n_sentences * (d + 2 * width)
