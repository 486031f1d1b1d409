"""Allocation of the buffers of a fit, or counting of their bytes for `estimate_memory`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation.values import INT32_MAX

_LINES = 128  # bytes of two cache lines, which processors fetch in pairs
# Bytes between the buffers of two threads: a core that goes through memory prefetches lines beyond its own buffer.
_GAP = 1024


def unshared_zeros(shape: Any, dtype: Any) -> np.ndarray:
    """Zeros that share no cache line with another array.

    This avoids false sharing: a line that two threads write to moves between their cores each time, and a fit takes up
    to twice as long. The alignment of numpy's own arrays differs from one process to the next.
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

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if shape[0] > INT32_MAX:  # rows have int32 indices
            raise MemoryError
        return unshared_zeros(shape, dtype)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
        """Return the ``n`` numbers that a function computes."""
        if n > INT32_MAX:
            raise MemoryError
        return numbers().astype(dtype, copy=False)


class ByteCounter(Allocator):
    """Counts bytes instead of allocating."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.n_bytes += math.prod(map(int, shape)) * np.dtype(dtype).itemsize + _LINES + 2 * _GAP
        return ShapeOnly(shape)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
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
