"""The best documents of a query: the exact top k of BM25 plus weighted cosines, without a look at most vectors.

A cosine is at most one. So once k documents are known, those whose BM25 is too low to overtake the last of them even
with the best cosine are passed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.simd import WIDTH, any_larger, load, multiply_add, splat, store, total
from ._tiles import ABSENT, key_of, replace_last, row_of, score_of

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_SUMMED = 64  # blocks whose scores are added as float32
_MOST, _ROUNDING = np.float32(1.0001), np.float32(1e-6)  # a cosine, and a score, with what rounding may add


class Queries(NamedTuple):
    """Queries as numbers."""

    ptr: np.ndarray  # (n_queries + 1,) int64: where the terms of each begin
    terms: np.ndarray  # (n,) int32, distinct in a query
    weights: np.ndarray  # (n,) float32: count of each term times its idf
    vectors: np.ndarray  # (n_queries, width) float32, of length one or zero
    # (n_queries,) float64: weight of the cosines over their spread; 0 where they do not count
    slopes: np.ndarray
    filters: np.ndarray  # (n_queries,) int64: row of `allowed`, -1 where all documents may be found
    allowed: np.ndarray  # (n_filters, n_documents) uint8


@njit(**INLINE_LLVM)
def dot(a, i, b, j):
    """Dot product of two rows whose width is a multiple of sixteen."""
    s0 = s1 = s2 = s3 = splat(_ZERO)
    width, c = a.shape[1], np.int64(0)
    while c + 4 * WIDTH <= width:
        s0 = multiply_add(load(a, i, c), load(b, j, c), s0)
        s1 = multiply_add(load(a, i, c + WIDTH), load(b, j, c + WIDTH), s1)
        s2 = multiply_add(load(a, i, c + 2 * WIDTH), load(b, j, c + 2 * WIDTH), s2)
        s3 = multiply_add(load(a, i, c + 3 * WIDTH), load(b, j, c + 3 * WIDTH), s3)
        c += 4 * WIDTH
    while c < width:
        s0 = multiply_add(load(a, i, c), load(b, j, c), s0)
        c += WIDTH
    one = splat(_ONE)
    return total(multiply_add(s0, one, multiply_add(s1, one, multiply_add(s2, one, s3))))


@njit(**INLINE_LLVM)
def _add_terms(queries, q, postings, scores):
    """Add the scores of BM25 to ``scores`` (n_padded,) float32."""
    for i in range(queries.ptr[q], queries.ptr[q + 1]):
        term, weight = queries.terms[i], queries.weights[i]
        for at in range(postings.ptr[term], postings.ptr[term + 1]):
            scores[postings.docs[at]] += weight * postings.weights[at]


@njit(**INLINE_LLVM)
def _spread(blocks, n_documents):
    """Standard deviation of the scores, which are zero or more, over the documents; 0 where all are equal."""
    one, first, second = splat(_ONE), 0.0, 0.0
    for start in range(0, blocks.shape[0], _SUMMED):
        sums = squares = splat(_ZERO)
        for block in range(start, min(start + _SUMMED, blocks.shape[0])):
            x = load(blocks, block, 0)
            sums, squares = multiply_add(x, one, sums), multiply_add(x, x, squares)
        first += float(total(sums))
        second += float(total(squares))
    mean, square = first / n_documents, second / n_documents
    variance = square - mean * mean
    return np.sqrt(variance) if variance > 1e-9 * square else 0.0


@njit(**INLINE_LLVM)
def _keep_best_bm25(blocks, allowed, filter_row, q, keys):
    """The k best documents by BM25 alone, of those that have a term."""
    floor = _ZERO
    for block in range(blocks.shape[0]):
        if not any_larger(load(blocks, block, 0), splat(floor)):
            continue
        for lane in range(WIDTH):
            score, row = blocks[block, lane], block * WIDTH + lane
            if score > floor and (filter_row < 0 or allowed[filter_row, row]):
                replace_last(keys, q, key_of(score, row))
                if keys[q, 0] != ABSENT:
                    floor = score_of(keys[q, 0])


@njit(**INLINE_LLVM)
def _keep_best_mixed(blocks, queries, q, slope, vectors, floor, keys):
    """The k best documents by the mixed score, of those that reach ``floor``."""
    allowed, filter_row = queries.allowed, queries.filters[q]
    for block in range(blocks.shape[0]):
        least = floor - slope * _MOST - abs(floor) * _ROUNDING  # of BM25
        if not any_larger(load(blocks, block, 0), splat(least)):
            continue
        for lane in range(WIDTH):
            bm25, row = blocks[block, lane], block * WIDTH + lane
            if not bm25 > least or row >= vectors.shape[0]:
                continue
            if filter_row >= 0 and not allowed[filter_row, row]:
                continue
            cosine = dot(vectors, row, queries.vectors, q)
            key = key_of(bm25 + slope * cosine, row)
            if (bm25 > _ZERO or cosine > _ZERO) and key < keys[q, 0]:
                replace_last(keys, q, key)
                if keys[q, 0] != ABSENT:
                    floor = max(floor, score_of(keys[q, 0]))


@lean_kernel
def rank(queries, postings, vectors, n_alive, scores, blocks, first, slopes, keys):
    """Find the k best documents of each query, among ``n_alive``.

    ``postings``: see `Postings`; ``vectors`` (n_rows, width) float32, of length one or zero
    ``scores`` (n_padded,) and ``blocks`` (n_padded / 16, 16) float32: the same memory, all zero before and after
    ``first`` (1, n) uint64: the keys of the n best by BM25 are written, n at least k
    ``slopes`` (n_queries,) float32 receives what a cosine counts: a score is BM25 plus the slope times the cosine
    ``keys`` (n_queries, k) uint64, all ABSENT, receives a heap of the best
    """
    zero, k = splat(_ZERO), keys.shape[1]
    for q in range(keys.shape[0]):
        slopes[q] = _ZERO
        if queries.ptr[q] == queries.ptr[q + 1]:
            continue
        _add_terms(queries, q, postings, scores)
        if queries.slopes[q] > 0.0:
            slopes[q] = queries.slopes[q] * _spread(blocks, n_alive)
        slope = slopes[q]
        if slope > _ZERO:
            for i in range(first.shape[1]):
                first[0, i] = ABSENT
            _keep_best_bm25(blocks, queries.allowed, queries.filters[q], np.int64(0), first)
            for i in range(first.shape[1]):
                if first[0, i] != ABSENT:
                    row = row_of(first[0, i])
                    key = key_of(scores[row] + slope * dot(vectors, row, queries.vectors, q), row)
                    if key < keys[q, 0]:
                        replace_last(keys, q, key)
            # What the last of k documents has, all others must reach.
            floor = score_of(keys[q, 0]) if keys[q, 0] != ABSENT else np.float32(-np.inf)
            for i in range(k):
                keys[q, i] = ABSENT
            _keep_best_mixed(blocks, queries, q, slope, vectors, floor, keys)
        else:
            _keep_best_bm25(blocks, queries.allowed, queries.filters[q], q, keys)
        for block in range(blocks.shape[0]):
            store(blocks, block, 0, zero)
