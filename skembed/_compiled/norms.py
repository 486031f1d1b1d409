"""Norms and directions of rows whose squares may overflow or underflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

_STEP = 1000  # rows at a time, or their squares would take as much memory as all of them
_SQUARABLE = {"float32": (1e-15, 1e15), "float64": (1e-140, 1e140)}  # range in which sums of squares are accurate


def row_norms(rows: np.ndarray) -> np.ndarray:
    """Norm of each row, without overflow or underflow; equal to that of numpy where numpy has neither."""
    if len(rows) > _STEP:
        return np.concatenate([row_norms(rows[start : start + _STEP]) for start in range(0, len(rows), _STEP)])
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(rows, axis=1)
    low, high = _SQUARABLE[rows.dtype.name]
    odd = np.flatnonzero(~((norms >= low) & (norms <= high)))
    if len(odd):
        largest = np.abs(rows[odd]).max(axis=1)
        divisors = np.where(largest > 0, largest, 1)
        norms[odd] = largest * np.linalg.norm(rows[odd] / divisors[:, None], axis=1)
    return np.asarray(norms)


def rescaled(rows: Any) -> Any:
    """Return rows of the same directions, scaled where their squares would overflow or underflow."""
    if not rows.shape[1]:
        return rows
    low, high = _SQUARABLE[rows.dtype.name]
    largest = np.maximum(_dense(rows.max(axis=1)), -_dense(rows.min(axis=1)))
    odd = (largest > 0) & ((largest < low) | (largest > high))
    if not odd.any():
        return rows
    divisors = np.where(odd, largest, largest.dtype.type(1))
    if not issparse(rows):
        return rows / divisors[:, None]
    rows = rows.copy()
    rows.data /= np.repeat(divisors, np.diff(rows.indptr))
    return rows


def cosines_of_rows(A: Any, B: Any) -> np.ndarray:
    """Cosine of each row of one array and the same row of another: finite float64, both dense or both sparse."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = _products(A, B)
    low, high = _SQUARABLE["float64"]
    squares = np.concatenate(products[1:])
    if not low * low * A.shape[1] <= squares.min(initial=1.0) <= squares.max(initial=1.0) <= high * high:
        products = _products(rescaled(A), rescaled(B))
    dots, squares_a, squares_b = products
    norms = np.sqrt(squares_a) * np.sqrt(squares_b)
    cosine = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return np.clip(cosine, -1.0, 1.0, out=cosine)


def _products(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dot product of each row of A and of B, and of each with itself: infinite or 0 where it is out of range."""
    pairs = (A, B), (A, A), (B, B)
    if issparse(A):
        dots, squares_a, squares_b = (np.asarray(x.multiply(y).sum(axis=1)).ravel() for x, y in pairs)
    else:
        dots, squares_a, squares_b = (np.einsum("ij,ij->i", x, y) for x, y in pairs)
    return dots, squares_a, squares_b


def _dense(column: Any) -> np.ndarray:
    return np.asarray(column.toarray() if issparse(column) else column).ravel()
