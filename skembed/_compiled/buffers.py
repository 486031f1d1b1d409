"""Allocation of work buffers for a fit, or counting of their bytes for `estimate_memory`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._validation.limits import INT32_MAX
from .sync import APART, LINE, zeros_apart


class Arrays:
    """Allocates arrays."""

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if shape[0] > INT32_MAX:  # rows have int32 numbers
            raise MemoryError
        return zeros_apart(shape, dtype)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
        """Return the ``n`` numbers that a function computes."""
        if n > INT32_MAX:
            raise MemoryError
        return numbers().astype(dtype, copy=False)


class Sizes(Arrays):
    """Counts bytes instead of allocating."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.n_bytes += math.prod(map(int, shape)) * np.dtype(dtype).itemsize + LINE + 2 * APART
        return Outline(shape)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
        self.n_bytes += n * np.dtype(dtype).itemsize
        return Outline((n,))


class Outline:
    """Shape of an array that is not allocated."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Outline:
        return Outline((len(range(len(self))[rows]), *self.shape[1:]))

    def reshape(self, _: int) -> Outline:
        """Flatten to one dimension."""
        return Outline((math.prod(self.shape),))


ARRAYS = Arrays()
