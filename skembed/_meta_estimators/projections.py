"""Few dense columns in place of many: the strongest directions of sparse rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array, vstack
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._compiled.arrays import read_only
from .._validation.messages import warn_at_user
from .._word_vectors.bag import SUM, sum_rows

_N_ITER = 2  # power iterations: with 5, scikit-learn's default, classifiers were no better
_MORE = 10  # directions that are found and left out again, as in scikit-learn
_ROUNDING = 4 * np.finfo(np.float32).eps  # strength of what are only rounding errors, beside the strongest
_STEP = 4_096  # rows at once
_MOST_PROJECTED = 20_000  # rows that the directions of dense output are found on


def fit_projection(
    rows: csr_array,
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
    model.components_, model.singular_values_ = _strongest(rows.tocsr(), size, random_state)
    strengths = model.singular_values_
    model.explained_variance_ = np.var(product(rows, model.components_.T), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # the variance of equal rows is 0
        model.explained_variance_ratio_ = model.explained_variance_ / mean_variance_axis(rows, axis=0)[1].sum()
    rank = np.count_nonzero(strengths > strengths[0] * max(rows.shape) * np.finfo(np.float32).eps)
    if scale is not None:
        model.components_ *= scale
    if by_strength:
        model.components_ *= np.sqrt(strengths / (strengths[0] or 1))[:, None]
    model.components_ = rounded(model.components_[:rank])
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        setattr(model, name, getattr(model, name)[:rank])
    return model


def rounded(components: np.ndarray) -> np.ndarray:
    """Directions in 16 bits, in which saved models hold them, as `product` reads them without a copy."""
    return components.astype(np.float16).astype(np.float32, order="F")


def fit_output(
    n_components: int,
    others: list[str],
    read: Callable[[list[str]], csr_array],
    rows: csr_array,
    random_state: np.random.RandomState,
) -> TruncatedSVD:
    """The directions of dense output, of some texts, whose rows `read` returns, and of the rows of more."""
    if len(others) + rows.shape[0] > _MOST_PROJECTED:
        chosen = random_state.choice(len(others) + rows.shape[0], _MOST_PROJECTED, replace=False)
        chosen.sort()
        rows = rows[chosen[chosen >= len(others)] - len(others)]
        others = [others[row] for row in chosen[chosen < len(others)]]
    projection = fit_projection(vstack([read(others), rows], format="csr"), n_components, random_state)
    if len(projection.components_) < n_components:
        warn_at_user(
            f"n_components={n_components}, but the texts have {len(projection.components_)} directions. The output has "
            "a column for each of these."
        )
    return projection


def product(rows: csr_array, columns: np.ndarray) -> np.ndarray:
    """Sparse rows times a dense matrix, which may lack the last columns of the rows: faster than scipy, in float32.

    A row has the same bits whatever the others are.
    """
    columns = read_only(columns)
    found = np.empty((rows.shape[0], columns.shape[1]), np.float32)
    for start in range(0, len(found), _STEP):
        ptr = rows.indptr[start : start + _STEP + 1].astype(np.int64)
        entries = slice(ptr[0], ptr[-1])
        indices = rows.indices[entries].astype(np.int64)
        indices[indices >= len(columns)] = -1  # `sum_rows` skips it
        part = found[start : start + _STEP]
        sum_rows(indices, rows.data[entries], ptr - ptr[0], columns, columns[:0], SUM, part)
    return found


def weights_of_directions(rows: np.ndarray) -> np.ndarray:
    """The matrix that multiplies each direction of dense rows by the root of its strength, beside the first."""
    rows = rows.astype(np.float64)
    squares, directions = eigh(rows.T @ rows)
    roots = (np.clip(squares, 0, None) / (squares[-1] or 1)) ** 0.25
    return np.asarray((directions * roots @ directions.T).astype(np.float32))


def _strongest(rows: csr_array, size: int, random_state: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """The strongest directions and their strengths, by the random projection of scikit-learn.

    A basis is made orthonormal on the shorter side alone: on the other one, that would take most of the time.
    """
    tall, wide = rows, rows.T.tocsr()
    if rows.shape[0] < rows.shape[1]:
        tall, wide = wide, tall
    basis = random_state.normal(size=(tall.shape[1], size + _MORE)).astype(np.float32)
    for _ in range(_N_ITER):
        basis = qr(product(wide, product(tall, basis)), mode="economic", check_finite=False)[0]
    longer = product(tall, basis)
    _, turn = _directions(longer)  # longer @ turn is orthonormal
    shorter = product(wide, longer) @ turn
    strengths, axes = _directions(shorter)
    found = ((shorter @ axes) if rows.shape[0] >= rows.shape[1] else longer @ (turn @ (axes * strengths))).T[:size]
    signs = np.where(found.max(axis=1) < -found.min(axis=1), np.float32(-1), np.float32(1))
    return found * signs[:, None], strengths[:size]


def _directions(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strengths of some columns, falling, and what turns the columns to orthonormal ones, or to zero.

    Zero are those that are only rounding errors of the strongest.
    """
    products = np.zeros((columns.shape[1],) * 2)
    for start in range(0, len(columns), _STEP):
        part = columns[start : start + _STEP].astype(np.float64)
        products += part.T @ part
    squares, axes = eigh(products, check_finite=False)
    squares, axes = squares[::-1], axes[:, ::-1]
    is_sound = squares > squares[0] * _ROUNDING**2
    strengths = np.where(is_sound, squares, 0) ** 0.5
    turn = axes * (is_sound / np.where(is_sound, strengths, 1))
    return strengths.astype(np.float32), turn.astype(np.float32)
