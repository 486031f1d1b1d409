r"""Sums of word vectors that learn, with the direction and the length of a word apart.

The vector of word :math:`w` is :math:`s_w d_w`: a row :math:`d_w`, and a scale :math:`s_w` that starts at one. Adam
(Kingma and Ba, 2015) moves the rows and scales of the words that a block uses; after its step a row may be brought back
to the length with which it started.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import row_norms
from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.rows import ONE, Selection, add_scaled, combine, copy_scaled, dots, mean_square, prefetch_row
from .._compiled.simd import (
    WIDTH,
    divide,
    load,
    load_short,
    multiply_add,
    prefetch,
    splat,
    square_root,
    store,
    store_short,
)
from .._training.pairs import KEEP_ALL, list_words
from .._training.state import FittedState

_BETA_1, _BETA_2, _EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-8)  # the defaults of the paper on Adam
_AHEAD, _ROWS_AHEAD = 8, 3  # words, and distinct words


class LearnedWords(NamedTuple):
    """What is learned of each word."""

    directions: np.ndarray  # (n_words, n_components) float32
    scales: np.ndarray  # (n_words,) float32
    moments: np.ndarray  # (2 * n_words, n_components) float32, both moments of Adam of each direction in turn
    scale_moments: np.ndarray  # (n_words, 2) float32
    start: np.ndarray  # (n_words, n_components) float32, where the directions started
    lengths: np.ndarray  # (n_words,) float32, the lengths with which they started


class Entries(NamedTuple):
    """The words of a block, sentence after sentence, and buffers for their distinct ones."""

    row: np.ndarray  # (n_entries,) int64
    scale: np.ndarray  # (n_entries,) float32
    ptr: np.ndarray  # (n_sentences + 1,) int64, where the sentences begin
    index_of: np.ndarray  # (n_words,) int32, one more than the index of a word in `distinct`, else 0
    distinct: np.ndarray  # (n_entries,) int64
    gradient: np.ndarray  # (n_entries, n_components) float32, sum over the sentences with a word
    product: np.ndarray  # (1, 4) float32


class Step(NamedTuple):
    """How a block moves rows and scales."""

    direction_rate: float  # 0 where rows stay
    scale_rate: float  # 0 where scales stay
    keeps_length: bool
    alpha: float  # pull to the start
    correction: float  # of the second moment
    n_frozen: int  # the first words, which do not move


@njit(**INLINE_LLVM)
def prefetch_whole_row(matrix, row):
    """Prefetch a row; the rows of a block are far apart, so the processor does not prefetch them by itself."""
    for c in range(0, matrix.shape[1], WIDTH):
        prefetch(matrix, row, c)


@lean_kernel
def sum_words(words, entries, out):
    """``out[i]``: the sum of the vectors of the words of sentence i."""
    n = entries.ptr[out.shape[0]]
    for k in range(n):
        entries.scale[k] = words.scales[entries.row[k]]
    for i in range(out.shape[0]):
        first, last = entries.ptr[i], entries.ptr[i + 1]
        for k in range(min(last + _AHEAD, n), min(2 * last - first + _AHEAD, n)):
            prefetch_whole_row(words.directions, entries.row[k])
        combine(out, i, entries.scale, first, Selection(words.directions, entries.row, first, last - first))


@njit(**INLINE_LLVM)
def adam(moments, gradient, rate, correction):
    """Adam's step of one number, and its two new moments."""
    first = _BETA_1 * moments[0] + (ONE - _BETA_1) * gradient
    second = _BETA_2 * moments[1] + (ONE - _BETA_2) * gradient * gradient
    return rate * first / (np.sqrt(second * correction) + _EPSILON), first, second


@njit(**INLINE_LLVM)
def adam_of_vectors(row, first, second, gradient, pull, step):
    """The same for sixteen numbers of a direction: the new numbers, and their moments.

    ``pull`` holds how far the numbers are from their start.
    """
    zero = splat(np.float32(0.0))
    scale, rate, correction, alpha = step
    gradient = multiply_add(splat(alpha), pull, multiply_add(splat(scale), gradient, zero))
    first = multiply_add(splat(_BETA_1), first, multiply_add(splat(ONE - _BETA_1), gradient, zero))
    square = multiply_add(gradient, gradient, zero)
    second = multiply_add(splat(_BETA_2), second, multiply_add(splat(ONE - _BETA_2), square, zero))
    below = square_root(multiply_add(second, splat(correction), zero))
    change = divide(first, multiply_add(below, splat(ONE), splat(_EPSILON)))
    return multiply_add(splat(-rate), change, row), first, second


@njit(**INLINE_LLVM)
def move_direction(words, row, gradient, index, step):
    """One step of a direction."""
    directions, start, moments = words.directions, words.start, words.moments
    of_first, of_second = 2 * row, 2 * row + 1
    numbers = (words.scales[row], np.float32(step.direction_rate), np.float32(step.correction), np.float32(step.alpha))
    minus_one = splat(-ONE)
    last = directions.shape[1] - WIDTH
    if last < 0:
        d = load_short(directions, row)
        pull = multiply_add(minus_one, load_short(start, row), d)
        first, second, g = load_short(moments, of_first), load_short(moments, of_second), load_short(gradient, index)
        d, first, second = adam_of_vectors(d, first, second, g, pull, numbers)
        store_short(directions, row, d)
        store_short(moments, of_first, first)
        store_short(moments, of_second, second)
        return
    # The last vector overlaps the one before, which must not be moved twice.
    d = load(directions, row, last)
    pull = d
    if step.alpha > 0.0:  # otherwise the start is not in the cache, and not needed
        pull = multiply_add(minus_one, load(start, row, last), d)
    first, second, g = load(moments, of_first, last), load(moments, of_second, last), load(gradient, index, last)
    end, end_first, end_second = adam_of_vectors(d, first, second, g, pull, numbers)
    for c in range(0, last, WIDTH):
        d = load(directions, row, c)
        pull = d
        if step.alpha > 0.0:
            pull = multiply_add(minus_one, load(start, row, c), d)
        first, second, g = load(moments, of_first, c), load(moments, of_second, c), load(gradient, index, c)
        d, first, second = adam_of_vectors(d, first, second, g, pull, numbers)
        store(directions, row, c, d)
        store(moments, of_first, c, first)
        store(moments, of_second, c, second)
    store(directions, row, last, end)
    store(moments, of_first, last, end_first)
    store(moments, of_second, last, end_second)


@njit(**INLINE_LLVM)
def restore_length(words, row):
    """Bring a direction back to the length with which it started."""
    directions = words.directions
    length = np.sqrt(mean_square(directions, row) * np.float32(directions.shape[1]))
    if length > 0.0:
        copy_scaled(directions, row, words.lengths[row] / length, directions, row)


@lean_kernel
def gather(sentences_gradient, entries):
    """Add up the gradient of each distinct word of the block; returns how many there are."""
    n = np.int64(0)
    for i in range(sentences_gradient.shape[0]):
        for k in range(entries.ptr[i], entries.ptr[i + 1]):
            row = entries.row[k]
            index = np.int64(entries.index_of[row]) - 1
            if index < 0:
                entries.distinct[n], entries.index_of[row] = row, n + 1
                copy_scaled(entries.gradient, n, ONE, sentences_gradient, i)
                n += 1
            else:
                add_scaled(entries.gradient, index, ONE, sentences_gradient, i)
    return n


@lean_kernel
def step_words(entries, n, words, step):
    """Move the ``n`` distinct words of the block."""
    for index in range(n):
        if index + _ROWS_AHEAD < n and step.direction_rate > 0.0:
            later = entries.distinct[index + _ROWS_AHEAD]
            prefetch_whole_row(words.moments, 2 * later)
            prefetch_whole_row(words.moments, 2 * later + 1)
            prefetch_row(words.directions, later)
        row = entries.distinct[index]
        entries.index_of[row] = 0
        if row < step.n_frozen:
            continue
        if step.scale_rate > 0.0:
            own = Selection(words.directions, entries.distinct, index, np.int64(1))
            dots(entries.product, 0, entries.gradient, index, own)
        if step.direction_rate > 0.0:
            move_direction(words, row, entries.gradient, index, step)
            if step.keeps_length:
                restore_length(words, row)
        if step.scale_rate > 0.0:
            gradient = entries.product[0, 0] + np.float32(step.alpha) * (words.scales[row] - ONE)
            moments = words.scale_moments
            change, first, second = adam(
                (moments[row, 0], moments[row, 1]), gradient, np.float32(step.scale_rate), np.float32(step.correction)
            )
            words.scales[row] -= change
            moments[row, 0], moments[row, 1] = first, second


class Moves(NamedTuple):
    """What is learned of a word."""

    directions: bool
    scales: bool
    keeps_length: bool  # of the direction


class WordSums:
    """Encoder of `PairTrainer`: a sentence is the sum of its words, whose arrays are changed in place."""

    def __init__(self, state: FittedState, moves: Moves, alpha: float, dropout: float) -> None:
        self.arrays, self.moves, self.alpha = state.arrays, moves, float(alpha)
        self.n_steps, self.n_frozen = state.n_steps or 0, state.n_frozen
        self.kept = int((1 - dropout) * KEEP_ALL)
        self.n_words, self.n_components = self.arrays["_directions"].shape
        self._index_of = np.zeros(self.n_words, np.int32)
        self._entries = self._make_entries(0, 0)

    @property
    def n_features(self) -> int:
        return self.n_components

    @cached_property
    def words(self) -> LearnedWords:
        """What is learned of each word."""
        arrays = self.arrays
        no_rows, no_numbers = np.zeros((0, 2, self.n_components), np.float32), np.zeros((0, 2), np.float32)
        return LearnedWords(
            arrays["_directions"],
            arrays["_scales"],
            arrays.get("_directions_accumulator", no_rows).reshape(-1, self.n_components),
            arrays.get("_scales_accumulator", no_numbers),
            arrays["_start_vectors"],
            np.asarray(row_norms(arrays["_start_vectors"]), np.float32),
        )

    @cached_property
    def _units(self) -> tuple[float, float]:
        """Units of the rate: vectors of any length turn alike, and a scale moves as far as a row."""
        return float(np.median(self.words.lengths)), float(np.sqrt(self.n_components))

    def _make_entries(self, n_sentences: int, n_entries: int) -> Entries:
        return Entries(
            np.zeros(n_entries, np.int64),
            np.zeros(n_entries, np.float32),
            np.zeros(n_sentences + 1, np.int64),
            self._index_of,
            np.zeros(n_entries, np.int64),
            np.zeros((n_entries, self.n_components), np.float32),
            np.zeros((1, 4), np.float32),
        )

    def encode(self, text: Any, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        """The sums of some sentences; words are dropped where they are to be learned from."""
        n_entries = int((text.sent_ptr[sentences + 1] - text.sent_ptr[sentences]).sum())
        if n_entries > len(self._entries.row) or len(sentences) >= len(self._entries.ptr):
            self._entries = self._make_entries(len(sentences), n_entries + n_entries // 2)
        out = np.empty((len(sentences), self.n_components), np.float32)
        text = text._replace(annotations=())  # whose types differ between methods
        list_words(text, sentences, self.kept if learn else KEEP_ALL, seed, self._entries.row, self._entries.ptr)
        sum_words(self.words, self._entries, out)
        return out

    def step(self, gradient: np.ndarray, rate: float) -> None:
        self.n_steps += 1
        rate /= 1 - float(_BETA_1) ** self.n_steps
        correction = 1 / (1 - float(_BETA_2) ** self.n_steps)
        of_direction, of_scale = (rate * unit * moves for unit, moves in zip(self._units, self.moves))
        n = gather(gradient, self._entries)
        step = Step(of_direction, of_scale, self.moves.keeps_length, self.alpha, correction, self.n_frozen)
        step_words(self._entries, n, self.words, step)

    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        return int(4 * self.n_words + 3 * n_words // 2 * (20 + 4 * self.n_components))
