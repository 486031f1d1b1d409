"""Learning in shards: rounds of tasks that begin with the same rows, and end with a merge.

A task is a pure function of the rows, a shard of the text and a seed, so it does not matter who computes it, when, or
how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from .._training.checkpoint import PartOfPass
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import accumulator_of
from .._training.state import FittedState
from .._training.trainer import BlockLoop
from .engines import Engine
from .merging import Changes, RowChanges, apply, merge, merge_into, take_changes, working_copy
from .plan import MergeSchedule, Shard, ShardLocation, cut, deal, rounds_of_pass
from .tasks import reduce_in_tree


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
    """The job of the next round: with a copy of the rows, in which the changes are made.

    The rows of sentences are not among them, since they travel with tasks.
    """
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
        self.moved: dict[str, np.ndarray] = {}  # as in `SteppingLoop`
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
            found = self.engine.reduce(
                learn, merge, job._replace(arrays=self.engine.share_rows(job.arrays)), make_tasks, plan.n_shards
            )
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
            if name in self.moved:
                self.moved[name][changes.rows] = True
            apply(changes, self.arrays[name], self.arrays[accumulator_of(name)], self.job.farthest)
