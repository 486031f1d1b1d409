"""Pickles of estimators: without rows of zeros, and with the version that wrote them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from .. import __version__

_VERSION = "_skembed_version"
_SPARSE = "_rows_with_values"  # name -> shape, indices of the nonzero rows, and those rows
_LARGE = 1 << 16  # bytes; smaller arrays are stored whole
_N_SAMPLED = 1024


class _OtherVersionWarning(InconsistentVersionWarning):
    def __str__(self) -> str:
        saved_by = f"skembed {self.original_sklearn_version}"
        return (
            f"This {self.estimator_name} was saved by {saved_by}, and this is {self.current_sklearn_version}: its "
            f"results may differ. Fit it again, or load it with {saved_by}."
        )


class PickleMixin(BaseEstimator):
    """Base of estimators whose pickles store only rows with values."""

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # a snapshot
        sparse = {name: rows_with_values(value) for name, value in state.items() if has_empty_rows(value)}
        return {name: value for name, value in state.items() if name not in sparse} | {
            _SPARSE: sparse,
            _VERSION: __version__,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        version = state.get(_VERSION, "pre-0.1")
        if version != __version__:
            warnings.warn(
                _OtherVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=__version__,
                    original_sklearn_version=version,
                ),
                stacklevel=2,
            )
        values = {name: value for name, value in state.items() if name not in (_SPARSE, _VERSION)}
        dense = {name: with_empty_rows(*found) for name, found in state.get(_SPARSE, {}).items()}
        super().__setstate__(values | dense)


def has_empty_rows(value: Any) -> bool:
    """Whether this is a large matrix in which most rows have only zero bits (so not -0.0)."""
    if not (isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "fiu"):
        return False
    if value.nbytes < _LARGE or not value.flags.c_contiguous:
        return False
    sample = _is_used(value[:: max(1, len(value) // _N_SAMPLED)])
    return bool(2 * np.count_nonzero(sample) < len(sample))


def _is_used(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows.view(f"u{rows.itemsize}").any(axis=1))


def rows_with_values(matrix: np.ndarray) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    rows = np.flatnonzero(_is_used(matrix))
    return matrix.shape, rows, np.asarray(matrix[rows])


def with_empty_rows(shape: tuple[int, ...], rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    matrix = np.zeros(tuple(shape), values.dtype)  # untouched pages take no memory
    matrix[rows] = values
    return matrix
