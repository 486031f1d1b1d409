"""Compiled steps of a search: unit rows, products with sparse rows, and what is kept of a tile of scores.

A *tile* holds the scores of some rows (its rows) for a block of queries (its columns); there are a multiple of sixteen
columns. A score is a sum in the order of the features, whatever rows and queries share a tile with it.
"""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, LEAN, lean_kernel
from .._compiled.rows import copy_scaled, mean_square
from .._compiled.simd import WIDTH, any_larger, load, multiply_add, splat, store

SPARSE_COLUMNS = 4 * WIDTH  # of a tile of sparse rows: four sums at a time stay in registers
_LEAST, _MOST = np.float32(1e-24), np.float32(1e24)  # mean squares between them are accurate
_ZERO, _ONE, _NAN = np.float32(0.0), np.float32(1.0), np.float32(np.nan)


@lean_kernel
def prepare_rows(rows, scaled, limit, out):
    """Copy rows, each scaled to length one if ``scaled``; a row of zeros becomes NaN, which matches nothing.

    ``rows`` (n, d) float32, read-only; ``out`` (n, d) float32 is written. Returns the index of the first row with a
    number that is NaN or not below ``limit`` in absolute value, or n.
    """
    n, d = rows.shape
    for i in range(n):
        square = mean_square(rows, i)
        if _LEAST < square < _MOST:
            copy_scaled(out, i, _ONE / np.sqrt(square * np.float32(d)) if scaled else _ONE, rows, i)
            continue
        largest = _ZERO
        for c in range(d):
            if not abs(rows[i, c]) < limit:
                return i
            largest = max(largest, abs(rows[i, c]))
        divisor = float(largest) if scaled else 1.0
        for c in range(d):
            out[i, c] = float(rows[i, c]) / divisor if largest > _ZERO else _NAN
        if scaled and largest > _ZERO:
            copy_scaled(out, i, _ONE / np.sqrt(mean_square(out, i) * np.float32(d)), out, i)
    return n


@lean_kernel
def multiply_sparse(data, columns, ptr, positions, panel, out):
    """``out = rows @ queries.T`` for sparse rows and up to 64 queries.

    ``data`` (n_numbers,) float32, ``columns`` (n_numbers,) int32 and ``ptr`` (n + 1,) int64 hold the rows
    ``positions`` (n_features,) int32: row of a feature in ``panel``, 0 if no query has it
    ``panel`` (n_positions, 64) float32, the queries as columns; row 0 holds zeros
    ``out`` (n, 64) float32 is written
    """
    for i in range(out.shape[0]):
        s0 = s1 = s2 = s3 = splat(_ZERO)
        for at in range(ptr[i], ptr[i + 1]):
            number, row = splat(data[at]), np.int64(positions[columns[at]])
            s0 = multiply_add(number, load(panel, row, 0), s0)
            s1 = multiply_add(number, load(panel, row, WIDTH), s1)
            s2 = multiply_add(number, load(panel, row, 2 * WIDTH), s2)
            s3 = multiply_add(number, load(panel, row, 3 * WIDTH), s3)
        store(out, i, 0, s0)
        store(out, i, WIDTH, s1)
        store(out, i, 2 * WIDTH, s2)
        store(out, i, 3 * WIDTH, s3)


@njit(**INLINE)
def _is_behind(score, row, other_score, other_row):
    """Whether a row comes later in the order: by falling score, then by index."""
    return score < other_score or (score == other_score and row > other_row)


@njit(**LEAN)
def _replace_last(scores, rows, query, score, row):
    """Replace the last of the k best, which is the root of a binary heap."""
    k, at = scores.shape[1], 0
    while 2 * at + 1 < k:
        child = 2 * at + 1
        if child + 1 < k and _is_behind(
            scores[query, child + 1], rows[query, child + 1], scores[query, child], rows[query, child]
        ):
            child += 1
        if not _is_behind(scores[query, child], rows[query, child], score, row):
            break
        scores[query, at], rows[query, at] = scores[query, child], rows[query, child]
        at = child
    scores[query, at], rows[query, at] = score, row


@lean_kernel
def keep_best(tile, first, excluded, largest, floors, scores, rows):
    """Add the rows of a tile to the k best of each query.

    ``tile`` (n, n_columns) float32, of the rows from ``first`` on; scores above ``largest`` count as that
    ``excluded`` (n_queries,) int64, the row that a query must not match
    ``floors`` (1, n_columns) float32: the score of the last of the k best, which a further one must exceed
    ``scores`` (n_queries, k) float32 and ``rows`` (n_queries, k) int64: the k best, -inf and -1 where there are fewer
    """
    for i in range(tile.shape[0]):
        for c in range(0, tile.shape[1], WIDTH):
            if not any_larger(load(tile, i, c), load(floors, 0, c)):
                continue
            for query in range(c, min(c + WIDTH, scores.shape[0])):
                score = min(tile[i, query], largest)
                if score > floors[0, query] and first + i != excluded[query]:
                    _replace_last(scores, rows, query, score, first + i)
                    floors[0, query] = scores[query, 0]


@lean_kernel
def list_pairs(tile, first, first_query, floors, queries, rows, scores):
    """List the pairs of a query and a later row whose score exceeds a floor; returns their number.

    ``tile`` (n, n_columns) float32, of the rows from ``first`` on and the queries from ``first_query`` on
    ``floors`` (1, n_columns) float32; ``queries``, ``rows`` int64 and ``scores`` float32, (n n_columns,), are written
    """
    n_found = 0
    for i in range(tile.shape[0]):
        for c in range(0, tile.shape[1], WIDTH):
            if not any_larger(load(tile, i, c), load(floors, 0, c)):
                continue
            for query in range(c, c + WIDTH):
                if tile[i, query] > floors[0, query] and first_query + query < first + i:
                    queries[n_found], rows[n_found] = first_query + query, first + i
                    scores[n_found] = tile[i, query]
                    n_found += 1
    return n_found
