"""The nearest rows of a matrix, exactly."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils._param_validation import StrOptions

from .._compiled.threads import Threads, count_threads
from .._validation.columns import Labels, Rows, as_column
from .._validation.constraints import Constraints, check_values, integers
from ._rows import FRACTION, SearchRows, search_rows
from ._tiles import ABSENT, MOST_ROWS, keep_best, list_all, split_keys

__all__ = ["nearest"]

_CONSTRAINTS: Constraints = {
    "k": [integers(1)],
    "metric": [StrOptions({"cosine", "dot"})],
    "exclude": [StrOptions({"self"}), "array-like", None],
    "n_jobs": [Integral, None],
}
_LEAST_ROWS = 4096  # that are worth a thread
_SORTED_PART = 64  # where more than one row in so many is wanted, it is faster to sort all


def nearest(
    queries: Rows,
    vectors: Rows,
    k: int = 10,
    *,
    metric: str = "cosine",
    exclude: str | Labels = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the `k` nearest rows of a matrix for each query, exactly.

    All scores are computed, a block at a time, and only the best are kept: beyond the result, arrays of numbers, which
    may be memory-mapped, need no memory that grows with their rows. Other tables and sparse matrices are copied first.

    Parameters
    ----------
    queries : array-like, data frame or sparse matrix of shape (n_queries, n_features)
        Vectors to search for.
    vectors : array-like, data frame or sparse matrix of shape (n_vectors, n_features)
        Vectors to search in. Arrays of float32 and float16 are read as they are, others are converted block by block.
    k : int, default=10
        How many to find for each query. Where `vectors` has fewer rows, the further columns are padding.
    metric : {"cosine", "dot"}, default="cosine"
        Cosine of the angle, or dot product.
    exclude : "self", array-like of int of shape (n_queries,) or None, default=None
        The index of a vector that each query must not match, -1 for none. "self" is for queries that are the rows of
        `vectors`: row i does not match itself.
    n_jobs : int or None, default=None
        Number of threads; -1 for one per core. It changes no bit of the result.

    Returns
    -------
    indices : ndarray of shape (n_queries, k), dtype int64
        Rows of `vectors`, by falling score, then by index; -1 where there are fewer than `k`. Zero queries return
        arrays of shape (0, k).
    scores : ndarray of shape (n_queries, k), dtype float32
        Their cosines or dot products; NaN where the index is -1.

    Raises
    ------
    TypeError
        If a matrix does not hold numbers, or is a table that is still to be computed, as a LazyFrame.
    ValueError
        If a number is NaN, infinite or masked, or, for dot products, 1e15 or more; names the row. If the numbers of
        columns differ, or a parameter is invalid.
    MemoryError
        If the result does not fit into memory, before the search begins.

    See Also
    --------
    near_duplicates : All pairs of rows above a threshold.

    Notes
    -----
    A row of zeros, such as that of a sentence without a known word, matches nothing, and nothing matches it. A score is
    a sum in float32 in the order of the features: it depends on its two rows alone, and equal rows have equal scores.
    The blocks of a thread take a sixteenth of the `working_memory` of :func:`sklearn.set_config` at most.

    Examples
    --------
    >>> from skembed.search import nearest
    >>> vectors = [[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]]
    >>> indices, scores = nearest([[2.0, 0.1], [0.0, 0.0]], vectors, k=2)
    >>> indices
    array([[ 0,  1],
           [-1, -1]])
    >>> scores.round(2)
    array([[1.  , 0.64],
           [ nan,  nan]], dtype=float32)
    >>> nearest(vectors, vectors, k=1, exclude="self")[0].ravel()
    array([ 1,  0, -1])
    """
    values = {"k": k, "metric": metric, "exclude": exclude, "n_jobs": n_jobs}
    check_values(_CONSTRAINTS, values, "nearest")
    k, n_threads = int(k), count_threads(n_jobs)  # a small integer of numpy would overflow
    is_cosine = metric == "cosine"
    asked, searched = search_rows({"queries": queries, "vectors": vectors}, is_cosine)
    (n_queries, _), (n_vectors, _) = asked.shape, searched.shape
    excluded = _as_excluded(exclude, n_queries, n_vectors)
    largest = np.float32(1.0 if is_cosine else np.inf)
    if n_vectors > MOST_ROWS:
        raise ValueError(f"vectors has {n_vectors:,} rows, more than {MOST_ROWS:,}. Search in parts of it.")

    is_sorted, block_size = min(k, n_vectors) * _SORTED_PART > n_vectors, searched.block_size
    if is_sorted:  # all keys of a block have room in a thread's memory
        n_fitting = int(get_config()["working_memory"] * 2**20 * FRACTION) // (8 * n_vectors)
        block_size = min(block_size, max(1, n_fitting))
    blocks = ranges(n_queries, block_size)
    n_parts = min(-(-n_threads // max(1, len(blocks))), n_vectors // _LEAST_ROWS)
    parts = ranges(n_vectors, -(-n_vectors // max(1, n_parts)))

    def best_of(work: tuple[range, range]) -> np.ndarray:
        block, part = work
        of_block = excluded[block.start : block.stop]
        return _first(_keys(asked, searched, block, part, of_block, largest, None if is_sorted else k), k)

    found = Threads(n_threads).in_order(best_of, ((block, part) for block in blocks for part in parts))
    indices, scores = np.full((n_queries, k), -1), np.full((n_queries, k), np.nan, np.float32)
    for block in blocks if parts else ():
        keys = next(found) if len(parts) == 1 else _first(np.hstack([next(found) for _ in parts]), k)
        split_keys(keys, indices[block.start : block.stop], scores[block.start : block.stop])
    return indices, scores


def _first(keys: np.ndarray, k: int) -> np.ndarray:
    """The first `k` keys of each row, sorted. No two are equal, so they are the same however they are sorted."""
    if k < keys.shape[1]:
        keys.partition(k - 1, axis=1)
        keys = keys[:, :k]
    keys.sort(axis=1)
    return keys


def _keys(
    asked: SearchRows,
    searched: SearchRows,
    block: range,
    part: range,
    excluded: np.ndarray,
    largest: np.float32,
    n_best: int | None,
) -> np.ndarray:
    """Keys of the best rows of a part for each query of a block, or of all, in any order."""
    queries = asked.queries(block)
    floors = queries.floors(np.float32(-np.inf))
    if n_best is None:
        keys = np.empty((len(block), len(part)), np.uint64)
    else:
        keys = np.full((len(block), min(n_best, len(part))), ABSENT)
    for first, tile in searched.tiles(queries, part):
        if n_best is None:
            list_all(tile, first, first - part.start, excluded, largest, floors, keys)
        else:
            keep_best(tile, first, excluded, largest, floors, keys)
    return keys


def ranges(n: int, size: int) -> list[range]:
    """Cut ``range(n)`` into ranges of a length."""
    return [range(start, min(start + size, n)) for start in range(0, n, max(1, size))]


def _as_excluded(exclude: str | Labels, n_queries: int, n_vectors: int) -> np.ndarray:
    """Return the row that each query must not match, (n_queries,) int64; -1 for none."""
    if exclude is None:
        return np.full(n_queries, -1)
    if isinstance(exclude, str):
        if n_queries != n_vectors:
            raise ValueError(
                f"exclude='self' needs queries that are the rows of vectors, got {n_queries} queries and {n_vectors} "
                "vectors. Pass the index of each query in vectors."
            )
        return np.arange(n_queries)
    excluded = as_column(exclude, "exclude")
    if excluded.shape != (n_queries,) or (n_queries and excluded.dtype.kind not in "iu"):
        raise ValueError(f"exclude must hold an index of vectors for each of the {n_queries} queries.")
    if n_queries and not -1 <= excluded.min() <= excluded.max() < n_vectors:
        raise ValueError(f"exclude must hold indices from -1 to {n_vectors - 1}.")
    return excluded.astype(np.int64)
