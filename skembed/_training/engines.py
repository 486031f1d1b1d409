"""Who computes the tasks of a round: this process, processes on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines. So an engine never changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from .merging import reduce_in_tree


class Engine(Protocol):
    """What an engine offers."""

    def reduce(
        self, work: Callable[[Any, Any], Any], merge: Callable[[Any, Any], Any], common: Any, tasks: Iterable[Any]
    ) -> Any:
        """Merge ``work(common, task)`` of all tasks in the tree of `reduce_in_tree`; None if there is no task."""


class Inline:
    """Computes one task after the other in this process."""

    def reduce(
        self, work: Callable[[Any, Any], Any], merge: Callable[[Any, Any], Any], common: Any, tasks: Iterable[Any]
    ) -> Any:
        """See `Engine`."""
        return reduce_in_tree(merge, (work(common, task) for task in tasks))


def engine_of(engine: Any, n_jobs: int | None) -> Engine:
    """The engine that a fit was given."""
    if engine is None:
        return Inline()
    return engine
