"""Compiled steps of a search: unit rows, products with sparse rows, and what is kept of a tile of scores.

A *tile* holds the scores of some rows (its rows) for a block of queries (its columns); there are a multiple of sixteen
columns. A score is a sum in the order of the features, whatever rows and queries share a tile with it.
"""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.rows import copy_scaled, mean_square
from .._compiled.simd import WIDTH, any_larger, load, multiply_add, splat, store

SPARSE_COLUMNS = 4 * WIDTH  # of a tile of sparse rows: four sums at a time stay in registers
_LEAST, _MOST = np.float32(1e-24), np.float32(1e24)  # mean squares between them are accurate
_ZERO, _ONE, _NAN = np.float32(0.0), np.float32(1.0), np.float32(np.nan)
# A key is the bits of a score, in falling order, and the index of a row.
ABSENT = np.uint64(0xFFFF_FFFF_FFFF_FFFF)  # the last of all keys: no row
MOST_ROWS = 2**32
_HALF, _ROW = np.uint64(32), np.uint64(MOST_ROWS - 1)
_SIGN, _OTHERS = np.uint32(0x8000_0000), np.uint32(0x7FFF_FFFF)  # bits of a float32


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
    """``out = rows @ queries.T`` for sparse rows and up to 16 or 64 queries.

    ``data`` (n_numbers,) float32, ``columns`` (n_numbers,) int32 and ``ptr`` (n + 1,) int64 hold the rows
    ``positions`` (n_features,) int32: row of a feature in ``panel``, 0 if no query has it
    ``panel`` (n_positions, 16 or 64) float32, the queries as columns
    ``out`` (n, 16 or 64) float32 is written
    """
    zero = splat(_ZERO)
    if out.shape[1] == WIDTH:
        for i in range(out.shape[0]):
            total = zero
            for at in range(ptr[i], ptr[i + 1]):
                row = np.int64(positions[columns[at]])
                if row:
                    total = multiply_add(splat(data[at]), load(panel, row, 0), total)
            store(out, i, 0, total)
        return
    for i in range(out.shape[0]):
        s0 = s1 = s2 = s3 = zero
        for at in range(ptr[i], ptr[i + 1]):
            row = np.int64(positions[columns[at]])
            if row:
                number = splat(data[at])
                s0 = multiply_add(number, load(panel, row, 0), s0)
                s1 = multiply_add(number, load(panel, row, WIDTH), s1)
                s2 = multiply_add(number, load(panel, row, 2 * WIDTH), s2)
                s3 = multiply_add(number, load(panel, row, 3 * WIDTH), s3)
        store(out, i, 0, s0)
        store(out, i, WIDTH, s1)
        store(out, i, 2 * WIDTH, s2)
        store(out, i, 3 * WIDTH, s3)


@njit(**INLINE_LLVM)
def key_of(score, row):
    """An integer that sorts a row by falling score, then by index; no two rows have an equal one."""
    bits = np.float32(score + _ZERO).view(np.uint32)  # -0.0 is 0.0, which has the same place
    return np.uint64(bits if bits >= _SIGN else bits ^ _OTHERS) << _HALF | np.uint64(row)


@njit(**INLINE_LLVM)
def row_of(key):
    return np.int64(key & _ROW)


@njit(**INLINE_LLVM)
def score_of(key):
    bits = np.uint32(key >> _HALF)
    return np.uint32(bits if bits >= _SIGN else bits ^ _OTHERS).view(np.float32)


@njit(**NO_REFCOUNT)
def replace_last(keys, query, key):
    """Replace the last of the k best, which is the root of a binary heap."""
    k, at = keys.shape[1], 0
    while 2 * at + 1 < k:
        child = 2 * at + 1
        if child + 1 < k and keys[query, child + 1] > keys[query, child]:
            child += 1
        if keys[query, child] <= key:
            break
        keys[query, at] = keys[query, child]
        at = child
    keys[query, at] = key


@lean_kernel
def keep_best(tile, first, excluded, largest, floors, keys):
    """Add the rows of a tile to the k best of each query.

    ``tile`` (n, n_columns) float32, of the rows from ``first`` on; scores above ``largest`` count as that
    ``excluded`` (n_queries,) int64, the row that a query must not match
    ``floors`` (1, n_columns) float32: the score of the last of the k best, which a further one must exceed
    ``keys`` (n_queries, k) uint64: a heap of the k best, ABSENT where there are fewer
    """
    for i in range(tile.shape[0]):
        for c in range(0, tile.shape[1], WIDTH):
            if not any_larger(load(tile, i, c), load(floors, 0, c)):
                continue
            for query in range(c, min(c + WIDTH, keys.shape[0])):
                score = min(tile[i, query], largest)
                if score > floors[0, query] and first + i != excluded[query]:
                    replace_last(keys, query, key_of(score, first + i))
                    if keys[query, 0] != ABSENT:
                        floors[0, query] = score_of(keys[query, 0])


@lean_kernel
def list_all(tile, first, at, excluded, largest, floors, keys):
    """List the rows of a tile for each query, as `keep_best` takes them: in ``keys[:, at:]``, (n_queries, n) uint64."""
    for c in range(0, keys.shape[0], WIDTH):
        for i in range(tile.shape[0]):
            for query in range(c, min(c + WIDTH, keys.shape[0])):
                score = min(tile[i, query], largest)
                is_match = score > floors[0, query] and first + i != excluded[query]
                keys[query, at + i] = key_of(score, first + i) if is_match else ABSENT


@lean_kernel
def split_keys(keys, rows, scores):
    """Write the rows and scores of keys, (n_queries, k): -1 and NaN where a key is ABSENT."""
    for query in range(keys.shape[0]):
        for i in range(keys.shape[1]):
            key = keys[query, i]
            rows[query, i] = row_of(key) if key != ABSENT else np.int64(-1)
            scores[query, i] = score_of(key) if key != ABSENT else _NAN


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
