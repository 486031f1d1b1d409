"""Matrices in fewer bytes: rounded numbers, with ``name.scales`` of the rows if they have 8 bits, and no rows of zeros.

Of the others ``name.rows`` has the indices, and ``name.n_rows`` how many rows there are with the zeros.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .._training.state import has_empty_rows, rows_with_values, with_empty_rows

PACKED_DTYPES = ("float32", "float16", "int8")
_SCALES, _ROWS, _N_ROWS = ".scales", ".rows", ".n_rows"
_LARGEST = 127  # of int8
_MAY_BE_NAN = "explained_variance_ratio_"  # if all sentences are equal
_STEP = 1 << 22  # numbers at a time


def packed(arrays: Mapping[str, np.ndarray], dtype: str, axes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Return what is stored for some arrays; `axes` names the matrices to round, and the axis with a row for a word."""
    stored: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if has_empty_rows(array):
            (n_rows, _), rows, array = rows_with_values(array)
            stored |= {name + _ROWS: rows.astype(np.int64), name + _N_ROWS: np.array([n_rows])}
        _check_finite(name, array)
        if name in axes and dtype == "float16":
            with np.errstate(over="ignore"):
                array = array.astype(np.float16)
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has numbers that are too large for float16. Save it as int8 or float32.")
        elif name in axes and dtype == "int8":
            array = array.astype(np.float32)  # some are stored with 16 bits anyway
            scales = np.abs(array).max(axis=1 - axes[name], keepdims=True, initial=0) / np.float32(_LARGEST)
            array = np.rint(array / np.where(scales > 0, scales, 1)).astype(np.int8)
            stored[name + _SCALES] = scales
        stored[name] = array
    return stored


def unpacked(stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Undo :func:`packed`; a ValueError says what does not fit."""
    found = {}
    for name, array in stored.items():
        if any(name.endswith(part) for part in (_SCALES, _ROWS, _N_ROWS)):
            if name.rpartition(".")[0] not in stored:
                raise ValueError(f"{name} belongs to no array.")
            continue
        _check_finite(name, array)
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        elif array.dtype == np.int8:
            array = _scaled(name, array, stored.get(name + _SCALES))
        if name + _ROWS in stored or name + _N_ROWS in stored:
            array = _with_all_rows(name, array, stored.get(name + _ROWS), stored.get(name + _N_ROWS))
        found[name] = array
    return found


def _check_finite(name: str, array: np.ndarray) -> None:
    if array.dtype.kind != "f" or name.endswith(_MAY_BE_NAN):
        return
    flat = array.reshape(-1)
    if not all(np.isfinite(flat[start : start + _STEP]).all() for start in range(0, len(flat), _STEP)):
        raise ValueError(f"{name} has numbers that are not finite.")


def _scaled(name: str, array: np.ndarray, scales: np.ndarray | None) -> np.ndarray:
    if (
        scales is None
        or scales.dtype != np.float32
        or array.ndim != 2
        or scales.shape not in ((len(array), 1), (1, array.shape[1]))
    ):
        raise ValueError(f"{name} is int8, without a scale for each row.")
    _check_finite(name + _SCALES, scales)
    with np.errstate(over="ignore"):
        whole = array * scales
    _check_finite(name, whole)
    return whole


def _with_all_rows(name: str, array: np.ndarray, rows: np.ndarray | None, n_rows: np.ndarray | None) -> np.ndarray:
    if (
        rows is None
        or n_rows is None
        or rows.dtype != np.int64
        or n_rows.dtype != np.int64
        or n_rows.shape != (1,)
        or array.ndim != 2
        or rows.shape != (len(array),)
    ):
        raise ValueError(f"{name} is stored without some rows, but those are not named.")
    if len(rows) and (rows[0] < 0 or rows[-1] >= n_rows[0] or (rows[1:] <= rows[:-1]).any()):
        raise ValueError(f"{name}{_ROWS} must rise from 0 to {n_rows[0] - 1} at most.")
    try:
        return with_empty_rows((int(n_rows[0]), array.shape[1]), rows, array)
    except MemoryError:
        raise ValueError(f"{name} has {n_rows[0]} rows, which do not fit in memory.") from None
