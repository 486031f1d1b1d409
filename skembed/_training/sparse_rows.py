"""Large matrices with many rows of zeros, stored without these rows."""

from __future__ import annotations

from typing import Any

import numpy as np

_LARGE = 1 << 16  # bytes; smaller arrays are stored whole
_N_SAMPLED = 1024


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
