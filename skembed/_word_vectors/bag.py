"""Compiled sums of word vectors, vectors for words that were never learned, and a hash of the words of a sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.simd import WIDTH, load, load_short, multiply_add, splat, store, store_short, total, zero_first
from .._compiled.sync import random_bits
from .._text.sources import encode_words, offsets

_STREAM = np.uint64(7)


def content_seeds(rows: np.ndarray, ptr: np.ndarray, seed: int) -> np.ndarray:
    """Return a hash of each sentence, uint64: a function of its known words (``rows`` from 0 on) and a seed."""
    seeds = np.empty(len(ptr) - 1, np.uint64)
    _fill_seeds(np.asarray(rows), np.asarray(ptr), seed, seeds)
    return seeds


@lean_kernel
def _fill_seeds(rows, ptr, seed, seeds):
    for sentence in range(seeds.shape[0]):
        bits = np.uint64(seed)
        n_known = np.uint64(0)
        for token in range(ptr[sentence], ptr[sentence + 1]):
            if rows[token] >= 0:
                bits = random_bits(bits, _STREAM, np.uint64(rows[token]), n_known)
                n_known += np.uint64(1)
        seeds[sentence] = bits


_FNV_OFFSET, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_U0, _U16, _U32 = np.uint64(0), np.uint64(16), np.uint64(32)
_LOW_HALVES, _LOW_HALF = np.uint64(0x0000FFFF0000FFFF), np.uint64(0xFFFFFFFF)


SUM, MEAN, UNIT = range(3)  # what becomes of the words of a sentence; UNIT is their sum at length one
_LEAST_SQUARE, _LARGEST_SQUARE = np.float32(1e-30), np.float32(1e37)  # of a length, within float32


@lean_kernel
def sum_rows(rows, weights, ptr, vectors, others, form, out):
    """Weighted sum, or mean, of the vectors of each sentence's words, added up in the order of the text.

    ``rows`` are those of ``vectors``, or -1 - i for row i of ``others``; words with lower ones are skipped. ``form`` is
    SUM, MEAN or UNIT. All vectors are float32, those that are read read-only.
    """
    for sentence in range(out.shape[0]):
        first, last = ptr[sentence], ptr[sentence + 1]
        square = _sum_of(rows, weights, first, last, vectors, others, out, sentence)
        divisor = np.float32(1.0)
        if form == UNIT and not _LEAST_SQUARE < square < _LARGEST_SQUARE:
            _to_unit_length(out, sentence)
        elif form == UNIT:
            divisor = np.sqrt(square)
        elif form == MEAN:
            n_summed = np.int64(0)
            for token in range(first, last):
                n_summed += np.int64(-1 - rows[token] < others.shape[0])
            divisor = np.float32(n_summed)
        if divisor > 0.0 and divisor != 1.0:
            for c in range(out.shape[1]):
                out[sentence, c] /= divisor


@njit(**INLINE_LLVM)
def _to_unit_length(out, row):
    """Divide a row by its length, whose square may be too large or too small for float32; zeros stay."""
    square = np.float64(0.0)
    for c in range(out.shape[1]):
        square += np.float64(out[row, c]) * np.float64(out[row, c])
    if square > 0.0:
        for c in range(out.shape[1]):
            out[row, c] = np.float32(np.float64(out[row, c]) / np.sqrt(square))


@njit(**INLINE_LLVM)
def _sum_of(rows, weights, first, last, vectors, others, out, sentence):
    """Write the weighted sum of some words, of which four vectors stay in registers; returns its squared length."""
    width = out.shape[1]
    end = width - WIDTH
    squares = splat(np.float32(0.0))
    if end < 0:
        for token in range(first, last):
            weight, row = splat(weights[token]), rows[token]
            if row >= 0:
                squares = multiply_add(weight, load_short(vectors, row), squares)
            elif -1 - row < others.shape[0]:
                squares = multiply_add(weight, load_short(others, -1 - row), squares)
        store_short(out, sentence, squares)
        return total(multiply_add(squares, squares, splat(np.float32(0.0))))
    for c in range(0, width, 4 * WIDTH):
        # A vector that would go past the end overlaps the one before it.
        c0, c1, c2, c3 = min(c, end), min(c + WIDTH, end), min(c + 2 * WIDTH, end), min(c + 3 * WIDTH, end)
        s0 = s1 = s2 = s3 = splat(np.float32(0.0))
        for token in range(first, last):
            weight, row = splat(weights[token]), rows[token]
            if row >= 0:
                s0 = multiply_add(weight, load(vectors, row, c0), s0)
                s1 = multiply_add(weight, load(vectors, row, c1), s1)
                s2 = multiply_add(weight, load(vectors, row, c2), s2)
                s3 = multiply_add(weight, load(vectors, row, c3), s3)
            elif -1 - row < others.shape[0]:
                row = -1 - row
                s0 = multiply_add(weight, load(others, row, c0), s0)
                s1 = multiply_add(weight, load(others, row, c1), s1)
                s2 = multiply_add(weight, load(others, row, c2), s2)
                s3 = multiply_add(weight, load(others, row, c3), s3)
        store(out, sentence, c0, s0)
        store(out, sentence, c1, s1)
        store(out, sentence, c2, s2)
        store(out, sentence, c3, s3)
        s0, s1 = zero_first(s0, c - c0), zero_first(s1, c + WIDTH - c1)
        s2, s3 = zero_first(s2, c + 2 * WIDTH - c2), zero_first(s3, c + 3 * WIDTH - c3)
        squares = multiply_add(s0, s0, multiply_add(s1, s1, multiply_add(s2, s2, multiply_add(s3, s3, squares))))
    return total(squares)


def first_of_each(ids: np.ndarray, ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids without repetitions within a sentence, and where the sentences begin."""
    sentences = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    _, first = np.unique(sentences * (ids.max(initial=0) + 1) + ids, return_index=True)
    return ids[np.sort(first)], offsets(np.bincount(sentences[first], minlength=len(ptr) - 1))


def hash_vectors(words: Sequence[str], n_components: int) -> np.ndarray:
    """Return a random direction for each word, (n_words, n_components) float32, a function of its text alone."""
    vectors = np.empty((len(words), n_components), np.float32)
    _fill_directions(*encode_words(words), vectors)
    return vectors


@lean_kernel
def _fill_directions(text, ptr, vectors):
    """Write a direction for each word, made of random numbers with its FNV-1a hash as the seed.

    The sum of four 16-bit numbers is nearly Gaussian. Integers up to the square root are the same on all machines.
    """
    for word in range(vectors.shape[0]):
        seed = _FNV_OFFSET
        for i in range(ptr[word], ptr[word + 1]):
            seed = (seed ^ np.uint64(text[i])) * _FNV_PRIME
        squares = np.int64(0)
        for c in range(vectors.shape[1]):
            bits = random_bits(seed, _U0, _U0, np.uint64(c))
            pairs = (bits & _LOW_HALVES) + ((bits >> _U16) & _LOW_HALVES)  # two sums of two numbers
            total = np.int64((pairs + (pairs >> _U32)) & _LOW_HALF)
            entry = 2 * total - (4 * 0xFFFF - 1)
            vectors[word, c] = entry  # exact: it is below 2**24
            squares += entry * entry
        norm = np.sqrt(float(squares))
        for c in range(vectors.shape[1]):
            vectors[word, c] = float(vectors[word, c]) / norm
