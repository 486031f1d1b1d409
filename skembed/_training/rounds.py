"""Learning in shards: rounds of tasks that begin with the same rows, and end with a merge.

A task is a pure function of the rows, a shard of the text and a seed, so it does not matter who computes it, when, or
how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .encoded_text import EncodedText
from .engines import Engine
from .learned_arrays import LearnedArray
from .merging import Changes, apply, changes_of, merge
from .shards import Shard, cut, deal, rounds_of_pass
from .trainer import BlockLoop
from .updates import SQUARES


class Job(NamedTuple):
    """What the tasks of a round have in common."""

    make_trainer: Callable[[dict[str, Any]], BlockLoop]
    fitted: dict[str, Any]  # arrays of words and their accumulators too
    arrays: list[LearnedArray]
    of_text: list[LearnedArray]  # with a row for each sentence


class Task(NamedTuple):
    """What a task of a round has of its own."""

    shard: Shard
    rows: dict[str, np.ndarray]  # of its sentences
    epoch: int
    rates: tuple[float, ...]


def learn(job: Job, task: Task) -> Changes:
    """What a shard changes of the rows that it begins with."""
    names = [name for array in job.arrays for name in (array.name, array.accumulator)]
    copies = {name: job.fitted[name].copy() for name in names} | {name: rows.copy() for name, rows in task.rows.items()}
    trainer = job.make_trainer(job.fitted | copies | {"_seed": task.shard.seed})
    loss, n_targets = trainer.learn_pass(task.shard.text, task.epoch, rates=task.rates)
    of = {}
    for array in job.arrays + job.of_text:
        before = task.rows if array.name in task.rows else job.fitted
        squares = before[array.accumulator][:, SQUARES]
        of[array.name] = changes_of(before[array.name], squares, copies[array.name], copies[array.accumulator])
    for array in job.of_text:
        of[array.name] = of[array.name]._replace(rows=task.shard.sentences[of[array.name].rows])
    return Changes(loss, n_targets, of)


class RoundTrainer:
    """Passes over a text in rounds; has the interface of `BlockLoop`."""

    def __init__(self, job: Job, trainer: BlockLoop, n_shards: int, engine: Engine) -> None:
        self.job, self.trainer, self.n_shards, self.engine = job, trainer, n_shards, engine

    def compile(self, text: EncodedText) -> None:
        """Nothing: each worker compiles its kernels, or loads them from the cache."""

    def run_epoch(
        self,
        text: EncodedText,
        epoch: int,
        *,
        rates: tuple[float, ...] | None,
        on_call: Callable[[float], None] = lambda fraction: None,
    ) -> float:
        """One pass over all sentences; returns the mean loss of a target. See `BlockLoop.run_epoch`."""
        if rates is None:
            return self.trainer.run_epoch(text, epoch, rates=None)
        extents, seed = cut(text, self.n_shards), self.job.fitted["_seed"]
        order = np.random.default_rng([seed, epoch, 2]).permutation(len(extents) - 1)
        loss = n_targets = 0.0
        for index, plan in enumerate(rounds_of_pass(len(text.tokens), self.n_shards, warm_up=epoch == 0)):
            falls = tuple(rates[0] + (rates[1] - rates[0]) * done for done in (plan.first, plan.last))
            shards = deal(text, extents, order, plan, [seed, epoch, index])
            tasks = (Task(shard, self._rows_of(shard), epoch, falls) for shard in shards)
            found = self.engine.reduce(learn, merge, self.job, tasks)
            if found is not None:
                self._apply(found)
                loss, n_targets = loss + found.loss, n_targets + found.n_targets
                if not np.isfinite(loss):
                    break  # diverged; the rest of the pass would be wasted
            on_call(plan.last)
        return loss / n_targets if n_targets else 0.0

    def _rows_of(self, shard: Shard) -> dict[str, np.ndarray]:
        names = [name for array in self.job.of_text for name in (array.name, array.accumulator)]
        return {name: self.job.fitted[name][shard.sentences] for name in names}

    def _apply(self, found: Changes) -> None:
        for array in self.job.arrays + self.job.of_text:
            rows, squares = self.job.fitted[array.name], self.job.fitted[array.accumulator]
            apply(found.of[array.name], rows, squares, self.n_shards**0.5)
