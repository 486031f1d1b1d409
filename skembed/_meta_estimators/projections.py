"""Few dense columns in place of many: the strongest directions of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, qr, svd
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.sparsefuncs import mean_variance_axis

_N_ITER = 2  # power iterations: with 5, scikit-learn's default, classifiers were no better
_MORE = 10  # directions that are found and left out again, as in scikit-learn


def fit_projection(
    rows: Any,
    n_components: int,
    random_state: np.random.RandomState,
    scale: np.ndarray | None = None,
    *,
    by_strength: bool = False,
) -> TruncatedSVD:
    """The strongest directions of some rows, at most as many as their rank; each column times `scale` afterwards.

    With `by_strength`, the length of a direction is the root of its strength, beside the first.
    """
    size = min(n_components, *rows.shape)
    model = TruncatedSVD(size, n_iter=_N_ITER, random_state=random_state)
    model.n_features_in_ = rows.shape[1]
    model.components_, model.singular_values_ = _strongest(rows, size, random_state)
    strengths = model.singular_values_
    model.explained_variance_ = np.var(rows @ model.components_.T, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # the variance of equal rows is 0
        model.explained_variance_ratio_ = model.explained_variance_ / mean_variance_axis(rows, axis=0)[1].sum()
    rank = np.count_nonzero(strengths > strengths[0] * max(rows.shape) * np.finfo(np.float32).eps)
    if scale is not None:
        model.components_ *= scale
    if by_strength:
        model.components_ *= np.sqrt(strengths / (strengths[0] or 1))[:, None]
    # Rounded to 16 bits, in which saved models hold them; in the order of memory that scipy multiplies without a copy.
    model.components_ = model.components_[:rank].astype(np.float16).astype(np.float32, order="F")
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        setattr(model, name, getattr(model, name)[:rank])
    return model


def weights_of_directions(rows: np.ndarray) -> np.ndarray:
    """The matrix that multiplies each direction of dense rows by the root of its strength, beside the first."""
    rows = rows.astype(np.float64)
    squares, directions = eigh(rows.T @ rows)
    roots = (np.clip(squares, 0, None) / (squares[-1] or 1)) ** 0.25
    return np.asarray((directions * roots @ directions.T).astype(np.float32))


def _strongest(rows: Any, size: int, random_state: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """The strongest directions and their strengths, by the random projection of scikit-learn.

    A basis is made orthonormal after each second product, on the shorter side: on the other one, which may be ten times
    as long, that would take most of the time.
    """
    tall = (rows.T if rows.shape[0] < rows.shape[1] else rows).tocsr()
    wide = tall.T.tocsr()
    basis = random_state.normal(size=(tall.shape[1], size + _MORE)).astype(np.float32)
    for _ in range(_N_ITER):
        basis = _orthonormal(wide @ (tall @ basis))
    basis = _orthonormal(tall @ basis)
    left, strengths, right = svd((wide @ basis).T, full_matrices=False, check_finite=False)
    found = right if rows.shape[0] >= rows.shape[1] else (basis @ left).T
    found = found[:size]
    largest = found[np.arange(size), np.abs(found).argmax(axis=1)]
    return found * np.where(largest < 0, -1, 1).astype(np.float32)[:, None], strengths[:size]


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    return np.asarray(qr(columns, mode="economic", check_finite=False)[0])
