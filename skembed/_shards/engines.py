"""Who computes the tasks of a round: this process, or the workers of a Dask cluster.

A task is a pure function, and the tree of the merges depends on their number alone: no engine changes a bit.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .._validation.messages import brief
from .._validation.values import advice_on
from .dask_cluster import Dask
from .plan import Advance, EngineLike, MakeTasks, Merge, Shard, ShardLocation, Work


@runtime_checkable
class Engine(Protocol):
    """What an engine offers."""

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """What a task learns from: a copy, whose tokens may stay in a file, or the place where workers read it."""

    def begin(self, advance: Advance) -> None:
        """A pass begins; after a call of `reduce`, a worker may compute what the tasks of the next have in common."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """Merge the results of all tasks, at most `n_tasks`, in the tree of `reduce_in_tree`; None if there is none."""


class Inline:
    """Computes one task after the other in this process."""

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """See `Engine`."""
        return location

    def begin(self, advance: Advance) -> None:
        """See `Engine`."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        return work(common, make_tasks())


def engine_of(engine: EngineLike) -> Engine:
    """The engine that a fit was given: None, a client of Dask, or an `Engine`."""
    if engine is None:
        return Inline()
    if isinstance(engine, Engine):
        return engine
    if hasattr(engine, "scatter") and hasattr(engine, "submit"):
        return Dask(engine)
    raise ValueError(f"engine must be None or a client of dask.distributed. Got {brief(engine)}.{advice_on(engine)}")
