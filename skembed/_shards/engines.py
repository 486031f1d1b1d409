"""Who computes the tasks of a round: this process, processes on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines, and a task is a pure function. So an engine never
changes a bit, and a task whose worker was lost is computed again.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from .._validation.messages import brief
from .._validation.values import advice_on
from .dask_cluster import Dask
from .plan import Shard, ShardLocation
from .processes import Processes
from .tasks import Advance, MakeTasks, Merge, Work


@runtime_checkable
class Engine(Protocol):
    """What an engine offers."""

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """What a task learns from: a copy, whose tokens may stay in a file, or the place where workers read it."""

    def share_rows(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """The rows as they are now, in a form that workers read where they lie until the next call, if there is one."""

    def begin(self, advance: Advance) -> None:
        """A pass begins; after a call of `reduce`, a worker may compute what the tasks of the next have in common."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """Merge the results of all tasks, at most `n_tasks`, in the tree of `reduce_in_tree`; None if there is none.

        Tasks may be worked on in groups of `in_groups`, whose merged results are merged in the same tree.
        """


class Inline:
    """Computes one task after the other in this process."""

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """See `Engine`."""
        return location

    def share_rows(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        return arrays

    def begin(self, advance: Advance) -> None:
        """See `Engine`."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        return work(common, make_tasks())


def engine_of(engine: Any, n_jobs: int | None, n_shards: int | None = None) -> Engine:
    """The engine that a fit was given: None, "processes", a Dask client, or an `Engine`.

    There are no more processes than shards.
    """
    if engine is None:
        return Inline()
    if isinstance(engine, str) and engine == "processes":
        return Processes(n_jobs, n_shards)
    if isinstance(engine, Engine):
        return engine
    if hasattr(engine, "scatter") and hasattr(engine, "submit"):
        return Dask(engine)
    raise ValueError(
        f"engine must be None, 'processes' or a client of dask.distributed. Got {brief(engine)}.{advice_on(engine)}"
    )
