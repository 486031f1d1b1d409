r"""The changes that shards make to rows that they all began with, and their merge, row by row.

The changes :math:`\Delta_s` of a row are added up, and their sum is cut. With their agreement :math:`\rho`, which is 1
where they are orthogonal and :math:`n` where they are equal,

.. math::

    \rho = \frac{\lVert \sum_s \Delta_s \rVert^2}{\sum_s \lVert \Delta_s \rVert^2}, \qquad
    w \leftarrow w + \min\Big(1, \frac{\min(\sqrt \rho, 4)}{\rho} \Big) \sum_s \Delta_s

So a row that few shards touched, or each in its own direction, learns all that they learned, as from one trainer after
the other. Equal changes would go :math:`n` times as far as one, where the steps of one trainer get smaller; they go
:math:`\sqrt n` times as far, at most 4 times. Sums of squares add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .updates import SQUARES

# How many times as far as that of one shard equal changes go at most; measured, see doc/tasks/more_text.rst.
_FARTHEST = np.float32(4.0)


class RowChanges(NamedTuple):
    """What one or more shards changed of an array."""

    rows: np.ndarray  # (n,) int64, ascending
    change: np.ndarray  # (n, n_components) float32, sum over the shards
    growth: np.ndarray  # (n,) float32, of the sums of squares
    square: np.ndarray  # (n,) float32, sum over the shards of the squared length of the change


class Changes(NamedTuple):
    """What one or more shards learned."""

    loss: float  # sum over the targets
    n_targets: float
    of: dict[str, RowChanges]  # by array name

    @property
    def n_bytes(self) -> int:
        return sum(array.nbytes for found in self.of.values() for array in found)


def changes_of(before: np.ndarray, old: np.ndarray, after: np.ndarray, new: np.ndarray) -> RowChanges:
    """The rows that differ; `old` and `new` are the accumulators before and after."""
    moved = new[:, SQUARES] != old[:, SQUARES]
    # Plain gradient descent has no sums of squares.
    rows = np.flatnonzero(moved) if moved.any() else np.flatnonzero((after != before).any(axis=1))
    change = after[rows] - before[rows]
    return RowChanges(rows, change, new[rows, SQUARES] - old[rows, SQUARES], _squares(change))


def merge(one: Changes, other: Changes) -> Changes:
    """The changes of two groups of shards as those of one group."""
    of = {name: _merged(found, other.of[name]) for name, found in one.of.items()}
    return Changes(one.loss + other.loss, one.n_targets + other.n_targets, of)


def _merged(one: RowChanges, other: RowChanges) -> RowChanges:
    touched = np.zeros(1 + max(found.rows.max(initial=-1) for found in (one, other)), bool)
    for found in (one, other):
        touched[found.rows] = True
    rows, position = np.flatnonzero(touched), np.cumsum(touched) - 1
    merged = [rows]
    for first, second in zip(one[1:], other[1:]):
        total = np.zeros((len(rows), *first.shape[1:]), first.dtype)
        total[position[one.rows]] = first
        total[position[other.rows]] += second
        merged.append(total)
    return RowChanges(*merged)


def apply(changes: RowChanges, weights: np.ndarray, accumulator: np.ndarray) -> None:
    """Change the rows that all shards began with."""
    of_sum = _squares(changes.change)
    agreement = np.divide(of_sum, changes.square, out=np.ones_like(of_sum), where=of_sum > changes.square)
    cut = np.minimum(np.sqrt(agreement), _FARTHEST) / agreement
    weights[changes.rows] += cut[:, None] * changes.change
    accumulator[changes.rows, SQUARES] += changes.growth


def _squares(vectors: np.ndarray) -> np.ndarray:
    return np.square(vectors).sum(axis=1)
