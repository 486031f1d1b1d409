"""The arrays of a work space, made for a fit or counted for `estimate_memory`: one description of their shapes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._kernels import APART, LINE, zeros_apart
from ._limits import INT32_MAX


class Arrays:
    """Makes the arrays."""

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if shape[0] > INT32_MAX:  # what lies in rows is numbered by int32
            raise MemoryError
        return zeros_apart(shape, dtype)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
        """``n`` numbers that a function gives."""
        if n > INT32_MAX:
            raise MemoryError
        return numbers().astype(dtype, copy=False)


class Sizes(Arrays):
    """Makes nothing, and counts the bytes."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        self.n_bytes += math.prod(shape) * np.dtype(dtype).itemsize + LINE + 2 * APART
        return Outline(shape)

    def values(self, n: int, dtype: Any, numbers: Callable[[], np.ndarray]) -> Any:
        self.n_bytes += n * np.dtype(dtype).itemsize
        return Outline((n,))


class Outline:
    """The shape of an array that was not made."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Outline:
        return Outline((len(range(len(self))[rows]), *self.shape[1:]))

    def reshape(self, _: int) -> Outline:
        """Only to one dimension."""
        return Outline((math.prod(self.shape),))


ARRAYS = Arrays()
