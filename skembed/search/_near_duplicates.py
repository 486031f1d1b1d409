"""All pairs of rows whose cosine is at least a threshold."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from .._compiled.threads import Threads, count_threads
from .._validation.columns import Rows
from .._validation.constraints import INT64_MAX, Constraints, check_values, integers
from ..metrics import paired_cosine_similarity
from ._nearest import ranges
from ._rows import SearchRows, search_rows
from ._tiles import list_pairs

__all__ = ["near_duplicates"]

CONSTRAINTS: Constraints = {
    "threshold": [Interval(Real, 0, 1, closed="both")],
    "max_pairs": [integers(1, INT64_MAX), None],
    "n_jobs": [Integral, None],
}
_STEP = 10_000  # pairs whose cosines are computed at once
Pairs = tuple[np.ndarray, np.ndarray]  # (n_pairs, 2) int64, and scores (n_pairs,) float32


def near_duplicates(
    vectors: Rows, *, threshold: float = 0.9, max_pairs: int | None = 10_000_000, n_jobs: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find all pairs of rows whose cosine is at least a threshold, exactly.

    Parameters
    ----------
    vectors : array-like, data frame or sparse matrix of shape (n_vectors, n_features)
        Sentence vectors; an array may be memory-mapped.
    threshold : float, default=0.9
        Least cosine of a pair. Which one is right depends on the vectors: look at pairs of your own.
    max_pairs : int or None, default=10_000_000
        If there are more pairs, of 20 bytes each, raise an error; None for no limit. A group of n equal rows has
        n (n - 1) / 2 pairs, so remove exact copies first.
    n_jobs : int or None, default=None
        Number of threads; -1 for one per core. It changes no bit of the result.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2), dtype int64
        Indices of the rows, the lower one first, in ascending order.
    scores : ndarray of shape (n_pairs,), dtype float32
        Their cosines.

    Raises
    ------
    TypeError
        If `vectors` does not hold numbers.
    ValueError
        If a number is NaN or infinite, there are more than `max_pairs` pairs, or a parameter is invalid.

    See Also
    --------
    nearest : The nearest rows of each query.
    communities : Groups of similar rows.

    Notes
    -----
    Time grows with the square of the number of rows. A row of zeros is in no pair. Cosines are computed in float32, and
    anew in float64 where rounding decides; so ``threshold=1`` finds rows of the same direction.

    Examples
    --------
    >>> from skembed.search import near_duplicates
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.0, 0.0], [2.0, 0.0]]
    >>> pairs, scores = near_duplicates(vectors, threshold=0.95)
    >>> pairs
    array([[0, 2],
           [0, 4],
           [2, 4]])
    >>> scores.round(3)
    array([0.994, 1.   , 0.994], dtype=float32)
    """
    values = {"threshold": threshold, "max_pairs": max_pairs, "n_jobs": n_jobs}
    check_values(CONSTRAINTS, values, "near_duplicates")
    n_threads = count_threads(n_jobs)
    (rows,) = search_rows({"vectors": vectors}, True)
    limit = INT64_MAX if max_pairs is None else max_pairs

    def pairs_of(block: range) -> Pairs:
        return _pairs_of_block(rows, block, np.float32(threshold), limit)

    found: list[Pairs] = [(np.zeros((0, 2), np.int64), np.zeros(0, np.float32))]
    n_pairs = 0
    for pairs in Threads(n_threads).in_order(pairs_of, ranges(len(rows), rows.block_size)):
        n_pairs += len(pairs[0])
        _check_number(n_pairs, limit)
        found.append(pairs)
    indices, scores = zip(*found)
    return np.concatenate(indices), np.concatenate(scores)


def _check_number(n_pairs: int, limit: int) -> None:
    if n_pairs > limit:
        raise ValueError(
            f"More than max_pairs={limit:,} pairs have a cosine of at least the threshold. Raise the threshold, remove "
            "exact copies first, or raise max_pairs."
        )


def _pairs_of_block(rows: SearchRows, block: range, threshold: np.float32, limit: int) -> Pairs:
    """The pairs of a row of a block and a later row, in ascending order."""
    queries = rows.queries(block)
    error = np.float32((rows.n_terms + 16) * 2.0**-24)  # of a cosine in float32, at most
    floors = queries.floors(threshold - 2 * error)
    found: list[Pairs] = []
    n_pairs = 0
    for first, tile in rows.tiles(queries, range(block.start, len(rows))):
        pairs, scores = np.empty((2, tile.size), np.int64), np.empty(tile.size, np.float32)
        n_found = list_pairs(tile, first, block.start, floors, pairs[0], pairs[1], scores)
        found.append(_decided(rows, pairs[:, :n_found].T, scores[:n_found], threshold, error))
        n_pairs += len(found[-1][0])
        _check_number(n_pairs, limit)
    indices, cosines = (np.concatenate(arrays) for arrays in zip(*found))
    order = np.lexsort((indices[:, 1], indices[:, 0]))
    return indices[order], cosines[order]


def _decided(
    rows: SearchRows, pairs: np.ndarray, scores: np.ndarray, threshold: np.float32, error: np.float32
) -> Pairs:
    """Keep the pairs at or above the threshold; scores that are too close to it are computed anew in float64."""
    scores = np.minimum(scores, np.float32(1))
    close = np.flatnonzero(scores <= threshold + 2 * error)
    for start in range(0, len(close), _STEP):
        some = close[start : start + _STEP]
        scores[some] = paired_cosine_similarity(rows.take(pairs[some, 0]), rows.take(pairs[some, 1]))
    kept = scores >= threshold
    return pairs[kept], scores[kept]
