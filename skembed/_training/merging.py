r"""The changes that shards make to rows that they all began with, and their merge, row by row.

With the changes :math:`\Delta_s` of the :math:`n` shards that touched a row, and :math:`\kappa = \sqrt{S}`,

.. math::

    w \leftarrow w + \min(1, \kappa / n) \sum_s \Delta_s

Rare rows add what they learn, frequent rows average, as rows do in a block. Sums of squares add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .updates import SQUARES


class RowChanges(NamedTuple):
    """What one or more shards changed of an array."""

    rows: np.ndarray  # (n,) int64, ascending
    change: np.ndarray  # (n, n_components) float32, sum over the shards
    growth: np.ndarray  # (n,) float32, of the sums of squares
    n_shards: np.ndarray  # (n,) int32, how many touched each row


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
    growth = new[rows, SQUARES] - old[rows, SQUARES]
    return RowChanges(rows, after[rows] - before[rows], growth, np.ones(len(rows), np.int32))


def merge(one: Changes, other: Changes) -> Changes:
    """The changes of two groups of shards as those of one group."""
    of = {name: _merged(found, other.of[name]) for name, found in one.of.items()}
    return Changes(one.loss + other.loss, one.n_targets + other.n_targets, of)


def _merged(one: RowChanges, other: RowChanges) -> RowChanges:
    rows = np.union1d(one.rows, other.rows)
    merged = RowChanges(rows, *(np.zeros((len(rows), *array.shape[1:]), array.dtype) for array in one[1:]))
    for found in (one, other):
        at = np.searchsorted(rows, found.rows)
        for total, array in zip(merged[1:], found[1:]):
            total[at] += array
    return merged


def apply(changes: RowChanges, weights: np.ndarray, accumulator: np.ndarray, kappa: float) -> None:
    """Change the rows that all shards began with."""
    scale = np.minimum(1.0, kappa / changes.n_shards).astype(np.float32)
    weights[changes.rows] += scale[:, None] * changes.change
    accumulator[changes.rows, SQUARES] += changes.growth
