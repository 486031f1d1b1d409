r"""Learning in shards: rounds of tasks that begin with the same rows, and end with a merge, row by row.

A task is a pure function of the rows, a shard of the text and a seed, so it does not matter who computes it, when, or
how often. The changes :math:`\Delta_s` of a row are added up, and their sum is scaled down. With their agreement
:math:`\rho`, which is 1 where they are orthogonal and :math:`n` where they are equal,

.. math::

    \rho = \frac{\lVert \sum_s \Delta_s \rVert^2}{\sum_s \lVert \Delta_s \rVert^2}, \qquad
    w \leftarrow w + \min\Big(1, \frac{\min(\sqrt \rho, \kappa)}{\rho} \Big) \sum_s \Delta_s

So a row that few shards touched, or each in its own direction, learns all that they learned, as from one trainer after
the other. Equal changes go at most :math:`\kappa` times as far as one of them. In a long round a frequent word comes
near its optimum, and :math:`\kappa` is 1: twice as far would be beyond it by as much as it was before, and diverge.
Sums of squares add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from .._compiled.arrays import read_only_view
from .._compiled.compile import lean_kernel
from .._compiled.rows import ONE, add_scaled, blend, copy_scaled, mean_square, prefetch_row
from .._training.checkpoint import PartOfPass
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import AHEAD, COUNT, SQUARES, UNTOUCHED, accumulator_of
from .._training.state import FittedState
from .._training.trainer import BlockLoop
from .engines import Engine
from .plan import MergeSchedule, Shard, ShardLocation, cut, deal, reduce_in_tree, rounds_of_pass


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
    copy[:, COUNT] = UNTOUCHED
    return copy


def take_changes(
    before: np.ndarray, old: np.ndarray, after: np.ndarray, new: np.ndarray, memory: RowChanges | None = None
) -> RowChanges:
    """The rows that a shard has touched, in `memory` or in new memory; then `after` and `new` are as before it.

    `old` and `new` are the accumulators, `new` a `working_copy`, which tells what was touched: sums of squares may not.
    """
    rows = np.flatnonzero(~np.signbit(new[:, COUNT]))
    found = _first(len(rows), memory or _room(*after.shape))
    found.rows[:] = rows
    _take((read_only_view(before), read_only_view(old)), (after, new), found)
    return found


def merge(one: Changes, other: Changes) -> Changes:
    """The changes of two groups of shards as those of one group, in new memory."""
    copies = {name: _copy_with_room(found, other.of[name]) for name, found in one.of.items()}
    return merge_into(one._replace(of=copies), other)


def merge_into(one: Changes, other: Changes) -> Changes:
    """The changes of two groups of shards, in the memory of `one`, which is faster than new memory."""
    of = {name: _merge_into(found, other.of[name]) for name, found in one.of.items()}
    of_text = {name: parts + other.of_text[name] for name, parts in one.of_text.items()}
    return Changes(one.loss + other.loss, one.n_targets + other.n_targets, of, of_text)


def _merge_into(one: RowChanges, other: RowChanges) -> RowChanges:
    other = RowChanges(*map(read_only_view, other))
    merged = _first(_count_union(one.rows, other.rows), one)
    _add(merged, len(one.rows), other)
    return merged


def _copy_with_room(changes: RowChanges, other: RowChanges) -> RowChanges:
    """A copy, with room for the rows of `other`."""
    n, n_components = changes.change.shape
    copy = _first(n, _room(n + len(other.rows), n_components))
    for array, given in zip(copy, changes):
        array[:] = given
    return copy


def apply(changes: RowChanges, weights: np.ndarray, accumulator: np.ndarray, farthest: float) -> None:
    """Change the rows that all shards began with; `farthest` is kappa."""
    _apply(RowChanges(*map(read_only_view, changes)), weights, accumulator, np.float32(farthest))


def _room(n_rows: int, n_components: int) -> RowChanges:
    change, growth, square = (np.empty(shape, np.float32) for shape in [(n_rows, n_components), n_rows, n_rows])
    return RowChanges(np.empty(n_rows, np.int64), change, growth, square)


def _first(n: int, memory: RowChanges) -> RowChanges:
    """The first `n` rows of the arrays whose first rows these are."""
    return RowChanges(*((array if array.base is None else array.base)[:n] for array in memory))


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
        new[row, SQUARES], new[row, COUNT] = old[row, SQUARES], UNTOUCHED


@lean_kernel
def _count_union(one, other):
    """How many numbers two ascending lists have, each counted once."""
    i = j = n = np.int64(0)
    while i < one.shape[0] and j < other.shape[0]:
        row, n = min(one[i], other[j]), n + 1
        i, j = i + np.int64(one[i] == row), j + np.int64(other[j] == row)
    return n + one.shape[0] - i + other.shape[0] - j


@lean_kernel
def _add(merged, n_first, other):
    """Add changes to the first rows of `merged`, the last ones first, so that none is overwritten."""
    (rows, change, growth, square), i, j = merged, n_first - 1, other.rows.shape[0] - 1
    k = rows.shape[0] - 1
    while j >= 0:  # then what is left is in its place
        first = i >= 0 and rows[i] >= other.rows[j]
        second = i < 0 or rows[i] <= other.rows[j]
        if first:
            if k != i:
                copy_scaled(change, k, ONE, change, i)
                rows[k], growth[k], square[k] = rows[i], growth[i], square[i]
            if second:
                add_scaled(change, k, ONE, other.change, j)
                growth[k] += other.growth[j]
                square[k] += other.square[j]
        else:
            copy_scaled(change, k, ONE, other.change, j)
            rows[k], growth[k], square[k] = other.rows[j], other.growth[j], other.square[j]
        i, j, k = i - np.int64(first), j - np.int64(second), k - 1


@lean_kernel
def _apply(changes, weights, accumulator, farthest):
    for k in range(changes.rows.shape[0]):
        row, of_sum, of_all, scale = changes.rows[k], mean_square(changes.change, k), changes.square[k], ONE
        if of_sum > of_all:
            scale = min(farthest, np.sqrt(of_sum / of_all)) * of_all / of_sum if of_all > 0 else np.float32(0.0)
        add_scaled(weights, row, scale, changes.change, k)
        accumulator[row, SQUARES] += changes.growth[k]


class Job(NamedTuple):
    """What the tasks of a fit have in common."""

    make_trainer: Callable[[dict[str, np.ndarray], int], BlockLoop]  # from arrays and a seed
    arrays: dict[str, np.ndarray]  # what the trainer reads, with the learned arrays and their accumulators
    names: list[str]  # of the arrays that all tasks learn
    of_text: list[str]  # of those with a row for each sentence, of which a task gets its own
    word_weight: np.ndarray  # of the text
    n_shards: int
    pace: MergeSchedule
    farthest: float  # see `MergeSchedule`


class Task(NamedTuple):
    """What a task has of its own."""

    shard: Shard | ShardLocation
    rows: dict[str, np.ndarray]  # of its sentences
    epoch: int
    rates: tuple[float, ...]


def learn(job: Job, tasks: Iterable[Task]) -> Changes | None:
    """What a group of shards changes of the rows that all begin with; None if there is no shard."""
    merged: list[dict[str, RowChanges]] = []  # into others; the next changes are written over them

    def merge_two(one: Changes, other: Changes) -> Changes:
        merged.append(other.of)
        return merge_into(one, other)

    return reduce_in_tree(merge_two, _changes_of_each(job, tasks, merged))


def _changes_of_each(job: Job, tasks: Iterable[Task], merged: list[dict[str, RowChanges]]) -> Iterator[Changes]:
    """The tasks share one copy of the rows: after each task, the rows that it has changed are as before."""
    working = {name: np.array(job.arrays[name]) for name in job.names}  # not `copy`, see `working_copy`
    working |= {name: working_copy(job.arrays[name]) for name in map(accumulator_of, job.names)}
    trainer = None
    for task in tasks:
        shard = task.shard.cut_out() if isinstance(task.shard, ShardLocation) else task.shard
        own = {name: np.array(rows) for name, rows in task.rows.items()}  # all of them count as touched
        if trainer is None:
            trainer = job.make_trainer(job.arrays | working | own, shard.seed)
        elif own:
            trainer.objective.take_rows_of_text(own)
        trainer.seed = shard.seed
        loss, n_targets = trainer.learn_pass(shard.as_text(job.word_weight), task.epoch, rates=task.rates)
        before, after = job.arrays | task.rows, working | own
        memory, changed = merged.pop() if merged else {}, {}
        for name in job.names + job.of_text:
            sums = accumulator_of(name)
            changed[name] = take_changes(before[name], before[sums], after[name], after[sums], memory.get(name))
        of = {name: changed[name] for name in job.names}
        of_text = {n: [changed[n]._replace(rows=shard.sentences[changed[n].rows])] for n in job.of_text}
        yield Changes(loss, n_targets, of, of_text)


def advance(job: Job, changes: Changes | None) -> Job:
    """The job of the next round: with a copy of the rows that all tasks learn, in which the changes are made."""
    arrays = dict(job.arrays)
    for name in job.names:
        weights, accumulator = (np.array(arrays[each]) for each in (name, accumulator_of(name)))
        if changes is not None:
            apply(changes.of[name], weights, accumulator, job.farthest)
        arrays |= {name: weights, accumulator_of(name): accumulator}
    return job._replace(arrays=arrays)


class RoundTrainer:
    """Passes over a text in rounds; has the interface of `BlockLoop`."""

    def __init__(self, job: Job, state: FittedState, trainer: BlockLoop, engine: Engine) -> None:
        self.job, self.arrays, self.trainer, self.engine = job, state.arrays, trainer, engine
        self.seed, self.n_steps = state.seed, state.n_steps
        self.resume(PartOfPass(), lambda part: None)

    def resume(self, part: PartOfPass, write: Callable[[PartOfPass], None]) -> None:
        """Leave out the rounds that the next pass has already made; `write` is called between rounds."""
        self.part, self.write = part, write

    def compile(self, text: EncodedText) -> None:
        """Nothing: each worker compiles its kernels, or loads them from the cache."""

    def run_pass(
        self,
        text: EncodedText,
        epoch: int,
        *,
        rates: tuple[float, ...] | None,
        on_call: Callable[[float], None] = lambda fraction: None,
    ) -> float:
        """One pass over all sentences; returns the mean loss of a target. See `BlockLoop.run_pass`."""
        if rates is None:
            return self.trainer.run_pass(text, epoch, rates=None)
        job, seed = self.job, self.seed
        extents = cut(text, job.n_shards)
        order = np.random.default_rng([seed, epoch, 2]).permutation(len(extents) - 1)
        part, self.part = self.part, PartOfPass()
        plans = rounds_of_pass(len(text.tokens), job.n_shards, job.pace, warm_up=epoch == 0)
        self.engine.begin(advance)
        for index, plan in enumerate(plans):
            if index < part.n_rounds:
                continue
            falls = tuple(rates[0] + (rates[1] - rates[0]) * done for done in (plan.first, plan.last))
            locations = partial(deal, text, extents, order, plan, [seed, epoch, index])
            make_tasks = partial(self._tasks, locations, epoch, falls)
            found = self.engine.reduce(learn, merge, job, make_tasks, plan.n_shards)
            if found is not None:
                self._apply(found)
                part = PartOfPass(index + 1, part.loss + found.loss, part.n_targets + found.n_targets)
                if not np.isfinite(part.loss):
                    break  # diverged; the rest of the pass would be wasted
            if plan is not plans[-1]:
                self.write(part._replace(n_rounds=index + 1))
            on_call(plan.last)
        return part.loss / part.n_targets if part.n_targets else 0.0

    def _tasks(
        self, locations: Callable[[], Iterator[ShardLocation]], epoch: int, rates: tuple[float, ...]
    ) -> Iterator[Task]:
        names = [name for each in self.job.of_text for name in (each, accumulator_of(each))]
        for location in locations():
            sentences = location.sentences
            rows = {name: self.arrays[name][sentences] for name in names}
            yield Task(self.engine.share_text(location), rows, epoch, rates)

    def _apply(self, found: Changes) -> None:
        for name, changes in found.by_array():
            apply(changes, self.arrays[name], self.arrays[accumulator_of(name)], self.job.farthest)
