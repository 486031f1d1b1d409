"""Groups of similar rows, each around a center."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._validation.columns import Rows, as_matrix
from .._validation.constraints import Constraints, check_values, integers
from ._near_duplicates import CONSTRAINTS, near_duplicates

__all__ = ["communities"]

_CONSTRAINTS: Constraints = {**CONSTRAINTS, "min_size": [integers(2)]}


def communities(
    vectors: Rows,
    *,
    threshold: float = 0.75,
    min_size: int = 2,
    max_pairs: int | None = 10_000_000,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Group rows around centers: each row of a community has a cosine of at least `threshold` with its center.

    The row with the most similar rows becomes the first center, with all of them around it; then, of the other rows,
    the one with the most similar other rows, and so on. Of equal ones the lowest index is taken.

    Parameters
    ----------
    vectors : array-like, data frame or sparse matrix of shape (n_vectors, n_features)
        Sentence vectors; an array may be memory-mapped.
    threshold : float, default=0.75
        Least cosine of a row and the center of its community.
    min_size : int, default=2
        Least number of rows of a community, with its center.
    max_pairs : int or None, default=10_000_000
        Most pairs of rows above the threshold, as in :func:`~skembed.search.near_duplicates`.
    n_jobs : int or None, default=None
        Number of threads; -1 for one per core. It changes no bit of the result.

    Returns
    -------
    labels : ndarray of shape (n_vectors,), dtype int64
        Community of each row, -1 for none, as for a row of zeros. Community 0 is the largest.
    centers : ndarray of shape (n_communities,), dtype int64
        Row at the center of each community.

    Raises
    ------
    TypeError
        If `vectors` does not hold numbers.
    ValueError
        If a number is NaN or infinite, there are more than `max_pairs` pairs, or a parameter is invalid.

    See Also
    --------
    near_duplicates : The pairs from which the groups are made.

    Examples
    --------
    >>> from skembed.search import communities
    >>> vectors = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [-1.0, 0.0], [0.1, 0.9], [1.0, 0.1]]
    >>> labels, centers = communities(vectors, threshold=0.95)
    >>> labels
    array([ 0,  1,  0, -1,  1,  0])
    >>> centers
    array([0, 1])
    """
    values = {"threshold": threshold, "min_size": min_size, "max_pairs": max_pairs, "n_jobs": n_jobs}
    check_values(_CONSTRAINTS, values, "communities")
    vectors = as_matrix(vectors, "vectors")
    pairs, _ = near_duplicates(vectors, threshold=threshold, max_pairs=max_pairs, n_jobs=n_jobs)
    return _groups(pairs, vectors.shape[0], min_size)


def _groups(pairs: np.ndarray, n: int, min_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the community of each of n rows, and the centers, given the pairs of similar rows."""
    similar = csr_array((np.ones(2 * len(pairs), bool), np.vstack([pairs, pairs[:, ::-1]]).T), shape=(n, n))

    def similar_to(row: int) -> np.ndarray:
        return np.asarray(similar.indices[similar.indptr[row] : similar.indptr[row + 1]])

    labels = np.full(n, -1)
    centers: list[int] = []
    n_similar = np.diff(similar.indptr)  # without the rows that have a community
    heap = [(-count, row) for row, count in enumerate(n_similar.tolist()) if count + 1 >= min_size]
    heapify(heap)
    while heap:
        count, row = heappop(heap)
        if labels[row] >= 0 or n_similar[row] + 1 < min_size:
            continue
        if n_similar[row] < -count:  # since it was pushed, some found a community
            heappush(heap, (-int(n_similar[row]), row))
            continue
        around = similar_to(row)
        members = np.append(around[labels[around] < 0], row)
        labels[members] = len(centers)
        centers.append(row)
        for member in members.tolist():
            n_similar[similar_to(member)] -= 1
    return labels, np.array(centers, np.int64)
