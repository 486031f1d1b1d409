"""Similarity of sentence vectors, and how well it agrees with what people say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.utils.validation import check_array

from ._compiled.arrays import cosines_of_rows
from ._validation.columns import Labels, Rows, as_matrix, as_scores, check_same_length, is_sparse

__all__ = ["paired_cosine_similarity", "pearson_score", "spearman_score"]


def paired_cosine_similarity(A: Rows, B: Rows) -> NDArray[np.float64]:
    """Cosine of each row of `A` with the same row of `B`; 0 where one of them is zero.

    A sentence without a known word has the zero vector. Its cosine is taken as 0 here, so one such sentence does not
    turn a correlation over thousands of pairs into NaN.

    Parameters
    ----------
    A, B : array-like, data frame or sparse matrix of shape (n_pairs, n_features)
        Sentence vectors. Rows of data frames are taken by position; their index is ignored.

    Returns
    -------
    cosine : ndarray of shape (n_pairs,), dtype float64
        Between -1 and 1.

    Raises
    ------
    ValueError
        If the shapes differ, or a number is NaN or infinite.

    Examples
    --------
    >>> from skembed.metrics import paired_cosine_similarity
    >>> paired_cosine_similarity(
    ...     [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [-1.0, -1.0], [1.0, 0.0]]
    ... ).round(6)
    array([ 1., -1.,  0.])
    """
    given = as_matrix(A, "A"), as_matrix(B, "B")
    both_sparse = all(map(is_sparse, given))
    first, second = (
        check_array(
            M.toarray() if is_sparse(M) and not both_sparse else M,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name=name,
        )
        for M, name in zip(given, ("A", "B"))
    )
    if first.shape != second.shape:
        raise ValueError(
            f"A and B must have the same shape (n_pairs, n_features), got {first.shape} and {second.shape}."
        )
    return cosines_of_rows(_in_range(first), _in_range(second))


def _in_range(rows: Any) -> Any:
    """Return rows times a power of two each, so that no square leaves the range of float64."""
    if not rows.size:
        return rows
    if not is_sparse(rows):
        return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, keepdims=True))[1])
    rows = rows.copy()
    exponents = np.frexp(abs(rows).max(axis=1).toarray().ravel())[1]
    rows.data = np.ldexp(rows.data, -np.repeat(exponents, np.diff(rows.indptr)))
    return rows


def pearson_score(y_true: Labels, y_pred: Labels) -> float:
    """Pearson's correlation r of true and predicted scores; 0 where one of them is constant.

    A model that gives all pairs the same score has learned nothing about them, so its correlation is taken as 0, not
    NaN. Else the value is that of :func:`scipy.stats.pearsonr`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_pairs,)
        Scores in any unit.

    Returns
    -------
    r : float
        Between -1 and 1.

    Raises
    ------
    ValueError
        If the lengths differ, if there are fewer than two pairs, or if a score is NaN or infinite.

    Examples
    --------
    >>> from skembed.metrics import pearson_score
    >>> round(pearson_score([1, 2, 3, 4], [0.1, 0.2, 0.4, 0.3]), 6)
    0.8
    >>> pearson_score([1, 2, 3, 4], [0.5, 0.5, 0.5, 0.5])
    0.0
    """
    x, y = _checked_scores(y_true, y_pred)
    return _correlation(x, y)


def spearman_score(y_true: Labels, y_pred: Labels) -> float:
    """Spearman's rank correlation of true and predicted scores; 0 where one of them is constant.

    Ties share the mean of their ranks, as in :func:`scipy.stats.spearmanr`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_pairs,)
        Scores in any unit.

    Returns
    -------
    rho : float
        Between -1 and 1.

    Raises
    ------
    ValueError
        If the lengths differ, if there are fewer than two pairs, or if a score is NaN or infinite.

    Examples
    --------
    >>> from skembed.metrics import spearman_score
    >>> round(spearman_score([1, 2, 3, 4], [1, 10, 100, 1000]), 6)
    1.0
    """
    x, y = _checked_scores(y_true, y_pred)
    return _correlation(rankdata(x), rankdata(y))


def _checked_scores(y_true: Labels, y_pred: Labels) -> tuple[np.ndarray, np.ndarray]:
    x, y = as_scores(y_true, "y_true"), as_scores(y_pred, "y_pred")
    check_same_length({"y_true": x, "y_pred": y})
    if len(x) < 2:
        raise ValueError(f"A correlation needs two pairs or more, got {len(x)}.")
    return x, y


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    # The squares of small values would underflow float64.
    x, y = x / np.abs(x).max(), y / np.abs(y).max()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))
