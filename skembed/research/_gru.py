r"""Gated recurrent units over batches of sentences, and their gradients (Cho et al., 2014).

A unit reads the word vectors :math:`x_1 \dots x_n` of a sentence. With :math:`c` what the sentence adds to each step
and :math:`h_0 = 0`,

.. math::

    r_t = \sigma(W_r x_t + U_r h_{t-1} + C_r c + b_r), \qquad
    z_t = \sigma(W_z x_t + U_z h_{t-1} + C_z c + b_z) \\
    \tilde h_t = \tanh(W x_t + U (r_t \odot h_{t-1}) + C c + b), \qquad
    h_t = h_{t-1} + z_t \odot (\tilde h_t - h_{t-1})

The sentences of a batch are sorted by their length, and a step is computed for all that have a word there, so that its
products are those of matrices. :math:`W x` is computed once for each distinct word of the batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, kernel
from .._compiled.products import multiply, panels_of, product_by_row
from .._compiled.rows import ONE, padded, tanh
from .._compiled.simd import WIDTH, load, multiply_add, splat, store
from .._training.dense import ONE_BLAS_THREAD

_HALF, _ZERO = np.float32(0.5), np.float32(0.0)
_BATCH = 256  # sentences that are encoded together


class Steps(NamedTuple):
    """Sentences in the order of computing: all first words, the longest sentence first, then all second words."""

    order: np.ndarray  # (n_sentences,) int64, the longest first
    ptr: np.ndarray  # (n_steps + 1,) int64, where the words of a step begin
    position: np.ndarray  # (n_words,) int64, of each word in the sentences as they are given
    sentence: np.ndarray  # (n_words,) int64, of each word its sentence in `order`

    @classmethod
    def of(cls, ptr: np.ndarray, reverse: bool = False) -> Steps:
        """From where sentences begin, (n_sentences + 1,); none is empty. ``reverse`` reads them from their ends."""
        lengths = np.diff(ptr)
        order = np.argsort(-lengths, kind="stable")
        n_of_step = len(lengths) - np.searchsorted(np.sort(lengths), np.arange(lengths.max(initial=0)), side="right")
        ptr_of_steps = np.append(0, np.cumsum(n_of_step)).astype(np.int64)
        step = np.repeat(np.arange(len(n_of_step)), n_of_step)
        sentence = np.arange(len(step)) - ptr_of_steps[step]
        position = ptr[1:][order][sentence] - 1 - step if reverse else ptr[:-1][order][sentence] + step
        return cls(order, ptr_of_steps, position, sentence)

    @property
    def previous(self) -> np.ndarray:
        """For each word after the first step, the index of the word before it."""
        n_first = int(self.ptr[:2][-1])  # 0 without sentences
        return np.arange(n_first, len(self.sentence)) - np.repeat(np.diff(self.ptr)[:-1], np.diff(self.ptr)[1:])


class Inputs(NamedTuple):
    """What the states of sentences are computed from."""

    ptr: np.ndarray  # (n_steps + 1,) int64, where the words of a step begin
    words: np.ndarray  # (n_words,) int64, rows of `products`, in the order of the steps
    products: np.ndarray  # (n_distinct, 3 width) float32, of each distinct word
    constant: np.ndarray  # (n_sentences, 3 width) float32, what a sentence adds to each of its steps
    start: np.ndarray  # (n_sentences, width) float32, the states before, or (0, width) for zeros


class Trace(NamedTuple):
    """What a unit has computed, for all words or only for those of a step."""

    gates: np.ndarray  # (n, 2 width) float32, r and z
    candidates: np.ndarray  # (n, width) float32
    reset: np.ndarray  # (n, width) float32, r times the state before
    states: np.ndarray  # (n, width) float32


@njit(**INLINE_LLVM)
def sigmoid(x):
    """``1 / (1 + exp(-x))`` of sixteen numbers."""
    return multiply_add(splat(_HALF), tanh(multiply_add(splat(_HALF), x, splat(_ZERO))), splat(_HALF))


@njit(**INLINE_LLVM)
def plus(a, b):
    """``a + b``."""
    return multiply_add(splat(ONE), a, b)


@njit(**INLINE_LLVM)
def times(a, b):
    """``a * b``."""
    return multiply_add(a, b, splat(_ZERO))


@njit(**INLINE_LLVM)
def minus(a, b):
    """``a - b``."""
    return multiply_add(splat(-ONE), b, a)


@kernel
def compute_states(inputs, panels, keeps, trace, last):
    """Compute the states of a unit; ``last`` receives that after the last word of each sentence.

    ``panels`` of the matrices of the states, for both gates and for the candidate
    ``keeps`` whether ``trace`` has rows for all words, or for two steps
    """
    ptr, words, products, constant, start = inputs
    n_first, width = last.shape
    from_gates, from_candidate = np.zeros((n_first, 2 * width), np.float32), np.zeros((n_first, width), np.float32)
    goes_on = start.shape[0] > 0
    before = start if goes_on else np.zeros((n_first, width), np.float32)
    for t in range(ptr.shape[0] - 1):
        n, first = ptr[t + 1] - ptr[t], ptr[t] if keeps else (t % 2) * n_first
        if t > 0 or goes_on:
            multiply(before[:n], panels[0], from_gates[:n])
        for i in range(n):
            word, p = words[ptr[t] + i], first + i
            for c in range(0, width, WIDTH):
                h = load(before, i, c)
                r = plus(load(from_gates, i, c), plus(load(products, word, c), load(constant, i, c)))
                r = sigmoid(r)
                c_z = c + width
                z = plus(load(from_gates, i, c_z), plus(load(products, word, c_z), load(constant, i, c_z)))
                store(trace.gates, p, c, r)
                store(trace.gates, p, c_z, sigmoid(z))
                store(trace.reset, p, c, times(r, h))
        if t > 0 or goes_on:
            multiply(trace.reset[first : first + n], panels[1], from_candidate[:n])
        for i in range(n):
            word, p = words[ptr[t] + i], first + i
            for c in range(0, width, WIDTH):
                c_x = c + 2 * width
                x = plus(load(from_candidate, i, c), plus(load(products, word, c_x), load(constant, i, c_x)))
                x, h = tanh(x), load(before, i, c)
                h = multiply_add(load(trace.gates, p, c + width), minus(x, h), h)
                store(trace.candidates, p, c, x)
                store(trace.states, p, c, h)
        before = trace.states[first : first + n]
        n_next = ptr[t + 2] - ptr[t + 1] if t + 2 < ptr.shape[0] else 0
        last[n_next:n] = before[n_next:n]


@kernel
def compute_gradients(ptr, trace, panels, of_states, of_last, found):
    """Write the gradients of gates, candidates and, zeros before, of ``constant``; see `compute_states`.

    ``panels`` of the transposed matrices; ``of_states`` (n_words, width) and ``of_last`` (n_sentences, width) float32,
    the gradients of all states and of the last ones
    """
    of_gates, of_candidates, of_constant = found
    n_first, width = of_last.shape
    of_before, products = np.zeros((n_first, width), np.float32), np.empty((n_first, width), np.float32)
    nothing = np.zeros((n_first, width), np.float32)
    one, n_next = splat(ONE), 0
    for t in range(ptr.shape[0] - 2, -1, -1):
        first, n = ptr[t], ptr[t + 1] - ptr[t]
        before = trace.states[ptr[t - 1] : ptr[t - 1] + n] if t > 0 else nothing
        of_before[n_next:n] = of_last[n_next:n]
        for i in range(n):
            p = first + i
            for c in range(0, width, WIDTH):
                given = plus(load(of_states, p, c), load(of_before, i, c))
                z, x = load(trace.gates, p, c + width), load(trace.candidates, p, c)
                change = times(minus(x, load(before, i, c)), times(z, minus(one, z)))
                store(of_gates, p, c + width, times(given, change))
                store(of_candidates, p, c, times(times(given, z), minus(one, times(x, x))))
                store(of_before, i, c, times(given, minus(one, z)))
        if t > 0:
            multiply(of_candidates[first : first + n], panels[1], products[:n])
        else:
            products[:] = _ZERO
        for i in range(n):
            p = first + i
            for c in range(0, width, WIDTH):
                given, r = load(products, i, c), load(trace.gates, p, c)
                store(of_gates, p, c, times(times(given, load(before, i, c)), times(r, minus(one, r))))
                store(of_before, i, c, multiply_add(given, r, load(of_before, i, c)))
                store(of_constant, i, c, plus(load(of_constant, i, c), load(of_gates, p, c)))
                c_z, c_x = c + width, c + 2 * width
                store(of_constant, i, c_z, plus(load(of_constant, i, c_z), load(of_gates, p, c_z)))
                store(of_constant, i, c_x, plus(load(of_constant, i, c_x), load(of_candidates, p, c)))
        if t > 0:
            multiply(of_gates[first : first + n], panels[0], products[:n])
            for i in range(n):
                for c in range(0, width, WIDTH):
                    store(of_before, i, c, plus(load(of_before, i, c), load(products, i, c)))
        n_next = n


@kernel
def gather_words(words, of_unit, of_products):
    """Add up the gradients of the products of each distinct word."""
    of_gates, of_candidates, _ = of_unit
    width = of_candidates.shape[1]
    for p in range(words.shape[0]):
        word = words[p]
        for c in range(0, 2 * width, WIDTH):
            store(of_products, word, c, plus(load(of_products, word, c), load(of_gates, p, c)))
        for c in range(0, width, WIDTH):
            c_x = c + 2 * width
            store(of_products, word, c_x, plus(load(of_products, word, c_x), load(of_candidates, p, c)))


class Read(NamedTuple):
    """Sentences that a unit has read."""

    steps: Steps
    words: np.ndarray  # (n_words,) int64, rows of `vectors`, in the order of the steps
    vectors: np.ndarray  # (n_distinct, n_inputs) float32
    contexts: np.ndarray  # (n_sentences, n_context) float32, in the order of the steps
    trace: Trace
    last: np.ndarray  # (n_sentences, n_units) float32, in the order of the sentences


class GruGradients(NamedTuple):
    """Gradients of what a unit has read with, and of what it has read."""

    weights: np.ndarray  # (3, n_units, n_columns) float32
    vectors: np.ndarray  # (n_distinct, n_inputs) float32
    contexts: np.ndarray  # (n_sentences, n_context) float32, in the order of the sentences


class Gru:
    """A unit, from its weights (3, n_units, n_columns) float32: of r, z and the candidate.

    The columns are those of the word, of the state, of what the sentence adds, and an intercept. Inside, states have
    a multiple of sixteen numbers; those past the last unit stay zero.
    """

    def __init__(self, weights: np.ndarray, n_inputs: int) -> None:
        self.n_units, self.n_inputs, self.width = weights.shape[1], n_inputs, padded(weights.shape[1])
        wide = np.zeros((3, self.width, weights.shape[2]), np.float32)
        wide[:, : self.n_units] = weights
        states = np.zeros((3, self.width, self.width), np.float32)
        states[:, :, : self.n_units] = wide[:, :, n_inputs : n_inputs + self.n_units]
        self._of_words = np.ascontiguousarray(wide[:, :, :n_inputs]).reshape(3 * self.width, -1)
        self._of_states = states[:2].reshape(2 * self.width, self.width), states[2]
        self._of_context = wide[:, :, n_inputs + self.n_units : -1].reshape(3 * self.width, -1)
        self._intercept = wide[:, :, -1].reshape(-1)

    def read(
        self,
        vectors: np.ndarray,
        words: np.ndarray,
        steps: Steps,
        contexts: np.ndarray | None = None,
        before: np.ndarray | None = None,
    ) -> Read:
        """Read sentences to learn from them; ``words`` are rows of ``vectors``, in the order of the sentences.

        ``before`` (n_sentences, n_units), the states where earlier words have been read; one does not learn from these.
        """
        words = words[steps.position]
        contexts = np.zeros((len(steps.order), 0), np.float32) if contexts is None else contexts[steps.order]
        products, constant = product_by_row(vectors, self._of_words), contexts @ self._of_context.T + self._intercept
        start = None if before is None else before[steps.order]
        trace, last = self._compute(steps, words, products, constant, start, keeps=True)
        return Read(steps, words, vectors, contexts, trace, last)

    def encode(self, vectors: np.ndarray, words: np.ndarray, ptr: np.ndarray, reverse: bool = False) -> np.ndarray:
        """The last states of sentences; each depends on its own words alone."""
        products, last = product_by_row(vectors, self._of_words), np.empty((len(ptr) - 1, self.n_units), np.float32)
        by_length = np.argsort(np.diff(ptr), kind="stable")
        for start in range(0, len(by_length), _BATCH):
            which = by_length[start : start + _BATCH]
            lengths = np.diff(ptr)[which]
            offsets = np.append(0, np.cumsum(lengths))
            of_batch = words[np.arange(offsets[-1]) + np.repeat(ptr[:-1][which] - offsets[:-1], lengths)]
            steps, constant = Steps.of(offsets, reverse), np.tile(self._intercept, (len(which), 1))
            _, last[which] = self._compute(steps, of_batch[steps.position], products, constant)
        return last

    def _compute(
        self,
        steps: Steps,
        words: np.ndarray,
        products: np.ndarray,
        constant: np.ndarray,
        start: np.ndarray | None = None,
        *,
        keeps: bool = False,
    ) -> tuple[Trace, np.ndarray]:
        """The trace, and the last states in the order of the sentences."""
        n_rows, n_sentences = len(words) if keeps else 2 * len(steps.order), len(steps.order)
        trace = Trace(*(np.empty((n_rows, n * self.width), np.float32) for n in (2, 1, 1, 1)))
        last, in_order = (np.empty((n_sentences, n), np.float32) for n in (self.width, self.n_units))
        panels = panels_of(self._of_states[0]), panels_of(self._of_states[1])
        wide = self._widened(np.zeros((0, self.n_units), np.float32) if start is None else start)
        compute_states(Inputs(steps.ptr, words, products, constant, wide), panels, keeps, trace, last)
        in_order[steps.order] = last[:, : self.n_units]
        return trace, in_order

    def back(self, read: Read, of_states: np.ndarray | None, of_last: np.ndarray | None) -> GruGradients:
        """From the gradients of all states, in the order of the steps, and of the last ones, of the sentences."""
        steps, trace = read.steps, read.trace
        n, n_sentences, width = len(steps.position), len(steps.order), self.width
        wide = np.zeros((n, width), np.float32) if of_states is None else self._widened(of_states)
        wide_last = np.zeros((n_sentences, width), np.float32)
        if of_last is not None:
            wide_last[:, : self.n_units] = of_last[steps.order]
        panels = panels_of(self._of_states[0].T), panels_of(self._of_states[1].T)
        of_gates, of_candidates = np.empty((n, 2 * width), np.float32), np.empty((n, width), np.float32)
        of_constant = np.zeros((n_sentences, 3 * width), np.float32)
        of_unit = of_gates, of_candidates, of_constant
        compute_gradients(steps.ptr, trace, panels, wide, wide_last, of_unit)
        of_products = np.zeros((len(read.vectors), 3 * width), np.float32)
        gather_words(read.words, of_unit, of_products)
        of_contexts = np.empty_like(read.contexts)
        of_contexts[steps.order] = of_constant @ self._of_context
        return GruGradients(self._of_weights(read, of_unit, of_products), of_products @ self._of_words, of_contexts)

    def _of_weights(self, read: Read, of_unit: tuple[np.ndarray, ...], of_products: np.ndarray) -> np.ndarray:
        """The gradient of the weights, in the order of their columns."""
        of_gates, of_candidates, of_constant = of_unit
        n, n_inputs, n_first = self.n_units, self.n_inputs, int(read.steps.ptr[:2][-1])
        before, reset = read.trace.states[read.steps.previous], read.trace.reset[n_first:]
        found = np.empty((3, self.width, n_inputs + n + read.contexts.shape[1] + 1), np.float32)
        found[:, :, :n_inputs] = self._by_gate(of_products.T @ read.vectors)
        of_states = slice(n_inputs, n_inputs + n)
        found[:2, :, of_states] = self._by_gate(of_gates[n_first:].T @ before)[:, :, :n]
        found[2, :, of_states] = (of_candidates[n_first:].T @ reset)[:, :n]
        found[:, :, n_inputs + n : -1] = self._by_gate(of_constant.T @ read.contexts)
        found[:, :, -1] = of_constant.sum(axis=0).reshape(3, -1)
        return found[:, :n]

    def _by_gate(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(len(rows) // self.width, self.width, rows.shape[1])

    def _widened(self, rows: np.ndarray) -> np.ndarray:
        if rows.shape[1] == self.width:
            return rows
        wide = np.zeros((len(rows), self.width), np.float32)
        wide[:, : self.n_units] = rows
        return wide

    def states_of(self, read: Read) -> np.ndarray:
        """The states after each word, (n_words, n_units), in the order of the steps."""
        return read.trace.states[:, : self.n_units]


def start_gru(array: np.ndarray, n_inputs: int, length: float, seed: list[int]) -> None:
    """Start values: of the states a random rotation, of the others random numbers.

    ``length`` of a word vector; a word counts as much as a state does. The intercepts start at zero.
    """
    random, n_units = np.random.default_rng([*seed, 5]), array.shape[1]
    for of_gate in array:
        of_gate[:, :n_inputs] = random.normal(size=(n_units, n_inputs)) / length
        with ONE_BLAS_THREAD:
            of_gate[:, n_inputs : n_inputs + n_units] = np.linalg.qr(random.normal(size=(n_units, n_units)))[0]
        n_context = array.shape[2] - n_inputs - n_units - 1
        of_gate[:, n_inputs + n_units : -1] = random.normal(size=(n_units, n_context)) / max(1, n_context) ** 0.5
