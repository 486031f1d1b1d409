r"""Sums over the windows of a sentence (Jiao, Wang and Feng, 2018, equations 1 to 4), forward and backward.

A filter of width :math:`h` is a matrix :math:`W_{hk}` for each of its positions. It moves over the words of a sentence:

.. math::

    z_i = b_h + \sum_{k < h} W_{hk} x_{i + k}, \qquad c_h = \sum_i f(z_i)

Each product :math:`W_{hk} x_w` is computed once for each distinct word of a block, as one matrix product. What is left
of a window is a sum of rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import row_norms
from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.products import product_by_row
from .._compiled.rows import ONE, tanh
from .._compiled.simd import WIDTH, load, multiply_add, splat, store, zero_first
from .._training.dense import ONE_BLAS_THREAD
from .._training.encoded_text import EncodedText
from .._training.pairs import IndexedSentences, OverWords, PairEncoder

GAIN = 0.3  # factor of the filters on a word vector at the start, where tanh is still nearly linear
FILTER_STEP = np.float32(0.1)  # of filters, relative to words: a block moves all filters, but few words
_ZERO = np.float32(0.0)


class Shape(NamedTuple):
    """How filters move over a sentence."""

    widths: np.ndarray  # (n_widths,) int64, words of a window
    wide: bool  # whether windows reach over both ends of the sentence
    tanh: bool

    @classmethod
    def of(cls, windows: tuple[Any, ...]) -> Shape:
        """The same from widths, whether windows are wide, and whether there is tanh."""
        widths, is_wide, is_tanh = windows
        return cls(np.array(widths, np.int64), is_wide, is_tanh)

    @property
    def is_bag(self) -> bool:
        """Whether a sentence is a matrix times the sum of its words."""
        return self.wide and not self.tanh


class WindowTerms(NamedTuple):
    """What the windows of sentences are sums of."""

    words: np.ndarray  # (n_tokens,) int64, rows of `products`
    ptr: np.ndarray  # (n_sentences + 1,) int64, where the sentences begin
    products: np.ndarray  # (n_words, n_columns) float32, of all filters of a width, for each of its positions in turn
    intercept: np.ndarray  # (n_widths, n_filters) float32, with at least sixteen filters


@njit(**INLINE_LLVM)
def bounds(first, last, width, wide):
    """Where the windows over the words from ``first`` to ``last`` begin, and where the last one has begun.

    A narrow filter has one window over a sentence that is shorter than itself, none over one without words.
    """
    if first == last:
        return first, first
    if wide:
        return first - (width - 1), last
    return first, max(last - (width - 1), first + 1)


@njit(**INLINE_LLVM)
def window(terms, s, start, filters):
    """Sixteen numbers of the window of sentence s from ``start`` on, for ``filters = (w, width, column, c)``."""
    words, ptr, products, intercept = terms
    w, width, column, c = filters
    z = load(intercept, w, c)
    for k in range(max(ptr[s] - start, 0), min(width, ptr[s + 1] - start)):
        z = multiply_add(splat(ONE), load(products, words[start + k], column + k * intercept.shape[1] + c), z)
    return z


@lean_kernel
def sum_windows(terms, shape, out):
    """``out[s]``: the sum over the windows of sentence s, of all filters of each width in turn."""
    ptr, n_filters = terms.ptr, terms.intercept.shape[1]
    for s in range(out.shape[0]):
        column = 0
        for w in range(shape.widths.shape[0]):
            width = shape.widths[w]
            begin, end = bounds(ptr[s], ptr[s + 1], width, shape.wide)
            for c in range(0, n_filters, WIDTH):
                c = min(c, n_filters - WIDTH)  # the last numbers overlap those before
                total = splat(_ZERO)
                for start in range(begin, end):
                    z = window(terms, s, start, (w, width, column, c))
                    if shape.tanh:
                        z = tanh(z)
                    total = multiply_add(splat(ONE), z, total)
                store(out, s, w * n_filters + c, total)
            column += width * n_filters


@lean_kernel
def gather_windows(terms, shape, gradient, of_products, of_intercept):
    """Add to the gradients of products and intercept, from that of the sums of `sum_windows`."""
    words, ptr, n_filters = terms.words, terms.ptr, terms.intercept.shape[1]
    for s in range(gradient.shape[0]):
        first, last, column = ptr[s], ptr[s + 1], 0
        for w in range(shape.widths.shape[0]):
            width = shape.widths[w]
            begin, end = bounds(first, last, width, shape.wide)
            for before in range(0, n_filters, WIDTH):
                c = min(before, n_filters - WIDTH)
                given = zero_first(load(gradient, s, w * n_filters + c), before - c)
                total = splat(_ZERO)
                for start in range(begin, end):
                    dz = given
                    if shape.tanh:
                        y = tanh(window(terms, s, start, (w, width, column, c)))
                        minus_y = multiply_add(splat(-ONE), y, splat(_ZERO))
                        dz = multiply_add(given, multiply_add(minus_y, y, splat(ONE)), splat(_ZERO))
                    total = multiply_add(splat(ONE), dz, total)
                    for k in range(max(first - start, 0), min(width, last - start)):
                        at = column + k * n_filters + c
                        there = load(of_products, words[start + k], at)
                        store(of_products, words[start + k], at, multiply_add(splat(ONE), dz, there))
                store(of_intercept, w, c, multiply_add(splat(ONE), total, load(of_intercept, w, c)))
            column += width * n_filters


def with_columns(array: np.ndarray) -> np.ndarray:
    """An array (n, n_filters) or (n, n_filters, d) with at least sixteen filters, as the kernels need."""
    n, n_filters, *rest = array.shape
    if n_filters >= WIDTH:
        return array
    wider = np.zeros((n, WIDTH, *rest), np.float32)
    wider[:, :n_filters] = array
    return wider


def without_columns(sums: np.ndarray, n_filters: int) -> np.ndarray:
    """The columns of sums of windows without those that `with_columns` has added."""
    if n_filters >= WIDTH:
        return sums
    n, n_widths = len(sums), sums.shape[1] // WIDTH
    return sums.reshape(n, n_widths, WIDTH)[:, :, :n_filters].reshape(n, n_widths * n_filters)


def embed_windows(
    sentences: IndexedSentences, vectors: np.ndarray, filters: np.ndarray, intercept: np.ndarray, shape: Shape
) -> Any:
    """The rows of sentences, from the vectors of their distinct words; each depends on its own words alone."""
    matrix, intercept = filter_matrix(filters), with_columns(intercept)
    sums = np.empty((len(sentences.ptr) - 1, intercept.size), np.float32)
    sum_windows(WindowTerms(sentences.words, sentences.ptr, product_by_row(vectors, matrix), intercept), shape, sums)
    return without_columns(sums, filters.shape[1])


def filter_matrix(filters: np.ndarray) -> np.ndarray:
    """All filters as the rows of a matrix."""
    return with_columns(filters).reshape(-1, filters.shape[2])


class Filters(OverWords):
    """Base of the encoders with filters over the words of another encoder."""

    def __init__(
        self, words: PairEncoder, arrays: Mapping[str, np.ndarray], shape: Shape, alpha: float, dropout: float
    ) -> None:
        super().__init__(words, arrays, dropout)
        self.shape, self.alpha = shape, alpha

    @property
    def n_features(self) -> int:
        """Length of the vectors: a number for each filter."""
        return math.prod(self.arrays["_intercept"].shape)

    @cached_property
    def _units(self) -> tuple[np.ndarray, np.float32]:
        """Units of the rate: filters of any length turn alike, an intercept moves as far as the number of a word."""
        start = self.arrays["_start_filters"]
        lengths = row_norms(start.reshape(-1, start.shape[2])).reshape(start.shape[:2])
        n, d = self.arrays["_intercept"].size, start.shape[2]
        return FILTER_STEP * lengths.mean(axis=1)[:, None, None], np.float32(FILTER_STEP * GAIN * np.sqrt(max(n, d)))

    def _step(self, of_words: np.ndarray, of_filters: np.ndarray, of_intercept: np.ndarray, rate: float) -> None:
        """One step of Adam of words, filters and intercept."""
        self.words.step(of_words, rate)
        unit_of_filters, unit_of_intercept = self._units
        self._move("_filters", of_filters, unit_of_filters, rate, self.alpha)
        self._move("_intercept", of_intercept, unit_of_intercept, rate, 0.0)


class Convolution(Filters):
    """Filters over the windows of a sentence."""

    def encode(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        text = self._listed(text, sentences, seed, learn)
        found, self._vectors = self._indexed(text, seed, learn)
        self._matrix, intercept = filter_matrix(self.arrays["_filters"]), with_columns(self.arrays["_intercept"])
        self._terms = WindowTerms(found.words, found.ptr, product_by_row(self._vectors, self._matrix), intercept)
        sums = np.empty((len(sentences), intercept.size), np.float32)
        sum_windows(self._terms, self.shape, sums)
        return without_columns(sums, self.arrays["_filters"].shape[1])

    def step(self, gradient: np.ndarray, rate: float) -> None:
        n_positions, n_filters, n_components = self.arrays["_filters"].shape
        of_products, of_intercept = np.zeros_like(self._terms.products), np.zeros_like(self._terms.intercept)
        gradient = with_columns(gradient.reshape(-1, n_filters)).reshape(len(gradient), of_intercept.size)
        gather_windows(self._terms, self.shape, gradient, of_products, of_intercept)
        of_products = of_products[:, : len(self._matrix)]
        of_filters = (of_products.T @ self._vectors).reshape(n_positions, -1, n_components)
        self._step(of_products @ self._matrix, of_filters[:, :n_filters], of_intercept[:, :n_filters], rate)

    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        n_positions, n_filters, n_components = self.arrays["_filters"].shape
        of_word = 12 + 4 * (2 * n_positions * n_filters + 2 * n_components)
        of_sentence = 8 * math.prod(self.arrays["_intercept"].shape)
        return self.words.scratch_bytes(n_words, n_words) + n_words * of_word + n_sentences * of_sentence


class LinearFilters(Filters):
    """Wide filters without an activation: a matrix times the sum of the words.

    Each word is once at each position of a filter, so the matrix is the sum over the positions.
    """

    def encode(self, text: EncodedText, sentences: np.ndarray, seed: int, learn: bool) -> np.ndarray:
        text = self._listed(text, sentences, seed, learn)
        self._sums = self.words.encode(text, np.arange(len(sentences)), seed, learn)
        self._matrix = summed(self.arrays["_filters"], self.shape)
        self._n_windows = count_windows(text.sent_ptr, self.shape)
        return self._sums @ self._matrix.T + intercepts(self._n_windows, self.arrays["_intercept"])

    def step(self, gradient: np.ndarray, rate: float) -> None:
        n_widths, n_filters = self.arrays["_intercept"].shape
        of_matrix = (gradient.T @ self._sums).reshape(n_widths, n_filters, self._sums.shape[1])
        of_filters = np.repeat(of_matrix, self.shape.widths, axis=0)
        of_intercept = np.einsum("sw,swf->wf", self._n_windows, gradient.reshape(len(gradient), n_widths, n_filters))
        self._step(gradient @ self._matrix, of_filters, of_intercept, rate)

    def scratch_bytes(self, n_sentences: int, n_words: int) -> int:
        n_components = self.arrays["_filters"].shape[2]
        of_sentence = 4 * (2 * n_components + 4 * math.prod(self.arrays["_intercept"].shape))
        return self.words.scratch_bytes(n_sentences, n_words) + 4 * n_words + n_sentences * of_sentence


def summed(filters: np.ndarray, shape: Shape) -> np.ndarray:
    """The matrix of `LinearFilters`: of each width the sum over the positions, (n_widths * n_filters, n_components)."""
    ends = np.cumsum(shape.widths).tolist()
    return np.concatenate([filters[end - width : end].sum(axis=0) for end, width in zip(ends, shape.widths.tolist())])


def count_windows(ptr: np.ndarray, shape: Shape) -> np.ndarray:
    """Windows of wide filters in each sentence, (n_sentences, n_widths) float32; none where it has no words."""
    n_words = np.diff(ptr)[:, None]
    return np.where(n_words, n_words + shape.widths - 1, 0).astype(np.float32)


def intercepts(n_windows: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """What the windows of each sentence add, (n_sentences, n_widths * n_filters)."""
    return (n_windows[:, :, None] * intercept).reshape(len(n_windows), intercept.size)


def embed_bags(sums: np.ndarray, ptr: np.ndarray, filters: np.ndarray, intercept: np.ndarray, shape: Shape) -> Any:
    """The rows of sentences from the sums of their words, where the shape is that of a `LinearFilters`."""
    of_words = product_by_row(sums, summed(filters, shape))[:, : intercept.size]
    return of_words + intercepts(count_windows(ptr, shape), intercept)


def start_filters(array: np.ndarray, widths: tuple[int, ...], length: float, seed: int) -> None:
    """Filters that pass word vectors through: those of a width add up to a rotation, and differ at random.

    So a sentence starts as a rotated bag of words, and the order of words counts as far as the activation is nonlinear.
    """
    _, n_filters, d = array.shape
    n, random = len(widths) * n_filters, np.random.default_rng([seed, 3])
    with ONE_BLAS_THREAD:
        rotation = np.linalg.qr(random.normal(size=(max(n, d), min(n, d))))[0]
    of_widths = (rotation if n >= d else rotation.T).reshape(len(widths), n_filters, d)
    first = 0
    for width, rotation in zip(widths, of_widths):
        apart = random.normal(size=(width, n_filters, d)) * row_norms(rotation)[:, None] / np.sqrt(d)
        array[first : first + width] = (rotation + apart - apart.mean(axis=0)) / width
        first += width
    array *= GAIN * np.sqrt(max(n, d)) / length
