r"""The changes that shards make to rows that they all began with, and their merge, row by row.

The changes :math:`\Delta_s` of a row are added up, and their sum is scaled down. With their agreement :math:`\rho`,
which is 1 where they are orthogonal and :math:`n` where they are equal,

.. math::

    \rho = \frac{\lVert \sum_s \Delta_s \rVert^2}{\sum_s \lVert \Delta_s \rVert^2}, \qquad
    w \leftarrow w + \min\Big(1, \frac{\min(\sqrt \rho, \kappa)}{\rho} \Big) \sum_s \Delta_s

So a row that few shards touched, or each in its own direction, learns all that they learned, as from one trainer after
the other. Equal changes go at most :math:`\kappa` times as far as one of them. In a long round a frequent word comes
near its optimum, and :math:`\kappa` is 1: twice as far would be beyond it by as much as it was before, and diverge.
Sums of squares add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._compiled.buffers import read_only_view
from .._compiled.compile import lean_kernel
from .._compiled.rows import ONE, add_scaled, blend, copy_scaled, mean_square, prefetch_row
from .._training.updates import AHEAD, COUNT, SQUARES

# The counter of a row that no block has touched. A block leaves 0.0 there, which has another sign.
_UNTOUCHED = np.float32(-0.0)


class RowChanges(NamedTuple):
    """What one or more shards changed of an array."""

    rows: np.ndarray  # (n,) int64, ascending
    change: np.ndarray  # (n, n_components) float32, sum over the shards
    growth: np.ndarray  # (n,) float32, of the sums of squares
    square: np.ndarray  # (n,) float32, sum over the shards of the mean square of the change


class Changes(NamedTuple):
    """What one or more shards learned."""

    loss: float  # sum over the targets
    n_targets: float
    of: dict[str, RowChanges]  # by array name
    # Of the arrays with a row for each sentence, by array name: one after the other, since no two shards have a row in
    # common, and a merge would only copy them.
    of_text: dict[str, list[RowChanges]]

    def by_array(self) -> Iterator[tuple[str, RowChanges]]:
        """What is to be applied, with the name of its array."""
        yield from self.of.items()
        yield from ((name, found) for name, parts in self.of_text.items() for found in parts)


def working_copy(accumulator: np.ndarray) -> np.ndarray:
    """A copy of an accumulator, in which blocks mark the rows that they touch."""
    copy = np.array(accumulator)  # not `copy`, which keeps the class of a memory map
    copy[:, COUNT] = _UNTOUCHED
    return copy


def take_changes(before: np.ndarray, old: np.ndarray, after: np.ndarray, new: np.ndarray) -> RowChanges:
    """The rows that a shard has touched; then `after` and `new` are as before it.

    `old` and `new` are the accumulators, `new` a `working_copy`. Sums of squares alone do not tell which rows were
    touched: plain gradient descent has none, and a small step may be lost in a large sum.
    """
    rows = np.flatnonzero(~np.signbit(new[:, COUNT]))
    found = _made(rows, after.shape[1])
    _take((read_only_view(before), read_only_view(old)), (after, new), found)
    return found


def merge(one: Changes, other: Changes) -> Changes:
    """The changes of two groups of shards as those of one group."""
    of = {name: _merged(found, other.of[name]) for name, found in one.of.items()}
    of_text = {name: parts + other.of_text[name] for name, parts in one.of_text.items()}
    return Changes(one.loss + other.loss, one.n_targets + other.n_targets, of, of_text)


def _merged(one: RowChanges, other: RowChanges) -> RowChanges:
    pair = RowChanges(*map(read_only_view, one)), RowChanges(*map(read_only_view, other))
    rows = np.empty(len(one.rows) + len(other.rows), np.int64)
    merged = _made(rows[: _unite(pair[0].rows, pair[1].rows, rows)].copy(), one.change.shape[1])
    _add(*pair, merged)
    return merged


def apply(changes: RowChanges, weights: np.ndarray, accumulator: np.ndarray, farthest: float) -> None:
    """Change the rows that all shards began with; `farthest` is kappa."""
    _apply(RowChanges(*map(read_only_view, changes)), weights, accumulator, np.float32(farthest))


def _made(rows: np.ndarray, n_components: int) -> RowChanges:
    n = len(rows)
    change, (growth, square) = np.empty((n, n_components), np.float32), np.empty((2, n), np.float32)
    return RowChanges(rows, change, growth, square)


@lean_kernel
def _take(start, end, found):
    """Fill in `RowChanges` and undo them; ``start`` and ``end`` are weights and their accumulator."""
    (before, old), (after, new), (rows, change, growth, square) = start, end, found
    n = rows.shape[0]
    for k in range(n):
        row, later = rows[k], rows[min(k + AHEAD, n - 1)]
        prefetch_row(after, later)
        prefetch_row(before, later)
        square[k] = blend(change, k, (ONE, after, row), (-ONE, before, row))
        growth[k] = new[row, SQUARES] - old[row, SQUARES]
        for c in range(before.shape[1]):  # not `copy_scaled`, which turns -0.0 into 0.0
            after[row, c] = before[row, c]
        new[row, SQUARES], new[row, COUNT] = old[row, SQUARES], _UNTOUCHED


@lean_kernel
def _unite(one, other, rows):
    """The union of two ascending lists; returns its length."""
    i = j = n = np.int64(0)
    while i < one.shape[0] or j < other.shape[0]:
        first = j == other.shape[0] or (i < one.shape[0] and one[i] <= other[j])
        second = i == one.shape[0] or (j < other.shape[0] and other[j] <= one[i])
        rows[n] = one[i] if first else other[j]
        i, j, n = i + np.int64(first), j + np.int64(second), n + 1
    return n


@lean_kernel
def _add(one, other, merged):
    """Fill in what two groups change of the rows of either."""
    i = j = np.int64(0)
    for k in range(merged.rows.shape[0]):
        row = merged.rows[k]
        first = i < one.rows.shape[0] and one.rows[i] == row
        second = j < other.rows.shape[0] and other.rows[j] == row
        if first:
            copy_scaled(merged.change, k, ONE, one.change, i)
            merged.growth[k], merged.square[k] = one.growth[i], one.square[i]
            i += 1
            if second:
                add_scaled(merged.change, k, ONE, other.change, j)
                merged.growth[k] += other.growth[j]
                merged.square[k] += other.square[j]
        else:
            copy_scaled(merged.change, k, ONE, other.change, j)
            merged.growth[k], merged.square[k] = other.growth[j], other.square[j]
        j += np.int64(second)


@lean_kernel
def _apply(changes, weights, accumulator, farthest):
    for k in range(changes.rows.shape[0]):
        row, of_sum, of_all, scale = changes.rows[k], mean_square(changes.change, k), changes.square[k], ONE
        if of_sum > of_all:
            scale = min(farthest, np.sqrt(of_sum / of_all)) * of_all / of_sum if of_all > 0 else np.float32(0.0)
        add_scaled(weights, row, scale, changes.change, k)
        accumulator[row, SQUARES] += changes.growth[k]
