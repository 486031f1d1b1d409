"""Similarity of sentence vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["paired_cosine_similarity"]


def paired_cosine_similarity(A: Any, B: Any) -> np.ndarray:
    """Cosine of each row of `A` with the same row of `B`; 0 where one of them is zero.

    A sentence without a known word has the zero vector. Its cosine is taken as 0 here, so one such sentence does not
    turn a correlation over thousands of pairs into NaN.

    Parameters
    ----------
    A, B : array-like or sparse matrix of shape (n_pairs, n_features)
        Sentence vectors.

    Returns
    -------
    cosine : ndarray of shape (n_pairs,), dtype float64
        Between -1 and 1.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> from skembed.metrics import paired_cosine_similarity
    >>> paired_cosine_similarity([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [-1.0, -1.0], [1.0, 0.0]]).round(6)
    array([ 1., -1.,  0.])
    """
    if hasattr(A, "multiply") and hasattr(B, "multiply"):
        A, B = A.astype(np.float64), B.astype(np.float64)
        if A.shape != B.shape:
            raise ValueError(f"A and B must have the same shape, got {A.shape} and {B.shape}.")
        dots, squares_a, squares_b = (
            np.asarray(x.multiply(y).sum(axis=1)).ravel() for x, y in ((A, B), (A, A), (B, B))
        )
    else:
        A, B = (np.asarray(M.toarray() if hasattr(M, "toarray") else M, dtype=np.float64) for M in (A, B))
        if A.shape != B.shape or A.ndim != 2:
            raise ValueError(f"A and B must have the same shape (n_pairs, n_features), got {A.shape} and {B.shape}.")
        dots, squares_a, squares_b = (np.einsum("ij,ij->i", x, y) for x, y in ((A, B), (A, A), (B, B)))
    norms = np.sqrt(squares_a) * np.sqrt(squares_b)
    cosine = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return np.clip(cosine, -1.0, 1.0)
