"""Buffers of a fit, or their bytes for `estimate_memory`; norms, cosines and views of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._validation.columns import is_sparse
from .._validation.constraints import INT32_MAX

_LINES = 128  # bytes of two cache lines, which processors fetch in pairs
# Bytes between the buffers of two threads: a core that goes through memory prefetches lines beyond its own buffer.
_GAP = 1024


def unshared_zeros(shape: int | tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
    """Zeros that share no cache line with another array.

    A line that two threads write to moves between their cores each time, and a fit takes up to twice as long.
    """
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(n_bytes + _LINES + 2 * _GAP, np.uint8)
    start = _GAP + -(buffer.ctypes.data + _GAP) % _LINES
    return buffer[start : start + n_bytes].view(dtype).reshape(shape)


def unshared_width(n: int) -> int:
    """Columns, at least ``n``, of a matrix whose rows, one a thread, share no cache line."""
    return n + -n % (_GAP // 4)


def read_only_view(array: np.ndarray) -> np.ndarray:
    """A read-only view of an array of any origin, in which other code may write on."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def read_only(rows: np.ndarray) -> np.ndarray:
    """The same numbers in the form that most kernels take: float32, C-contiguous, read-only."""
    return read_only_view(np.ascontiguousarray(rows, np.float32))


def between(start: np.ndarray, end: np.ndarray, share: float) -> np.ndarray:
    """Linear interpolation: the start where `share` is 0, the end where it is 1."""
    found = end - start
    found *= np.float32(share)
    found += start
    return found


class Allocator:
    """Allocates the buffers of a fit."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        if shape[0] > INT32_MAX:  # rows have int32 indices
            raise MemoryError
        return unshared_zeros(shape, dtype)

    def named(self, **arrays: tuple[tuple[int, ...], DTypeLike]) -> dict[str, Any]:
        """Zeros of a shape and a dtype each, by name."""
        return {name: self.zeros(shape, dtype) for name, (shape, dtype) in arrays.items()}

    def values(self, n: int, dtype: DTypeLike, numbers: Callable[[], np.ndarray]) -> Any:
        """Return the ``n`` numbers that a function computes."""
        if n > INT32_MAX:
            raise MemoryError
        return numbers().astype(dtype, copy=False)


class ByteCounter(Allocator):
    """Counts bytes instead of allocating."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        self.n_bytes += math.prod(map(int, shape)) * np.dtype(dtype).itemsize + _LINES + 2 * _GAP
        return ShapeOnly(shape)

    def values(self, n: int, dtype: DTypeLike, numbers: Callable[[], np.ndarray]) -> Any:
        self.n_bytes += n * np.dtype(dtype).itemsize
        return ShapeOnly((n,))


class ShapeOnly:
    """Shape of an array that is not allocated."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> ShapeOnly:
        return ShapeOnly((len(range(len(self))[rows]), *self.shape[1:]))

    def reshape(self, _: int) -> ShapeOnly:
        """Flatten to one dimension."""
        return ShapeOnly((math.prod(self.shape),))


ALLOCATOR = Allocator()


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


def cosines_of_rows(A: Any, B: Any) -> np.ndarray:
    """Cosine of each row of one array and the same row of another: finite float64, both dense or both sparse."""
    pairs = (A, B), (A, A), (B, B)
    if is_sparse(A):
        dots, squares_a, squares_b = (np.asarray(x.multiply(y).sum(axis=1)).ravel() for x, y in pairs)
    else:
        dots, squares_a, squares_b = (np.einsum("ij,ij->i", x, y) for x, y in pairs)
    norms = np.sqrt(squares_a) * np.sqrt(squares_b)
    cosine = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
    return np.clip(cosine, -1.0, 1.0, out=cosine)
