"""Who computes the tasks of a round: this process, processes on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines, and a task is a pure function. So an engine never
changes a bit, and a task whose worker was lost is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeVar, runtime_checkable

from .._validation.messages import brief

Work = Callable[[Any, Any], Any]  # of what the tasks have in common, and of a task
Merge = Callable[[Any, Any], Any]
MakeTasks = Callable[[], Iterable[Any]]  # anew each time, so that no engine holds them all
_Result = TypeVar("_Result")
_ATTEMPTS = 3


@runtime_checkable
class Engine(Protocol):
    """What an engine offers."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks) -> Any:
        """Merge ``work(common, task)`` of all tasks in the tree of `reduce_in_tree`; None if there is no task."""


class Inline:
    """Computes one task after the other in this process."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks) -> Any:
        """See `Engine`."""
        return reduce_in_tree(merge, (work(common, task) for task in make_tasks()))


class Processes:
    """Computes tasks in processes of this machine, as joblib starts them; merges in this process."""

    def __init__(self, n_processes: int | None) -> None:
        self.n_processes = n_processes

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks) -> Any:
        """See `Engine`."""
        from joblib import Parallel, delayed

        for attempt in range(_ATTEMPTS):
            # Large arrays go to a file that all processes map.
            parallel = Parallel(self.n_processes, "loky", return_as="generator", pre_dispatch="2*n_jobs")
            try:
                return reduce_in_tree(merge, parallel(delayed(work)(common, task) for task in make_tasks()))
            except BrokenProcessPool:  # a process was killed
                if attempt == _ATTEMPTS - 1:
                    raise


class Dask:
    """Computes tasks, and merges of their results, on the workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks) -> Any:
        """See `Engine`."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        for attempt in range(_ATTEMPTS):
            try:
                return self._reduce(work, merge, common, make_tasks)
            except (CancelledError, KilledWorker):  # a lost worker held what was sent to it
                if attempt == _ATTEMPTS - 1:
                    raise

    def _reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks) -> Any:
        client = self.client

        def sent(item: Any) -> Any:
            return client.scatter([item], hash=False)[0]  # in a list, or the fields of a tuple are sent one by one

        job = sent(common)
        level = [client.submit(work, job, sent(task), pure=False) for task in make_tasks()]
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2])
            odd = level[len(level) // 2 * 2 :]
            level = [client.submit(merge, one, other, pure=False) for one, other in pairs] + odd
        return level[0].result() if level else None


def engine_of(engine: Any, n_jobs: int | None) -> Engine:
    """The engine that a fit was given: None, "processes", a Dask client, or an object with the method `reduce`."""
    if engine is None:
        return Inline()
    if isinstance(engine, str) and engine == "processes":
        return Processes(n_jobs)
    if isinstance(engine, Engine):
        return engine
    if hasattr(engine, "scatter") and hasattr(engine, "submit"):
        return Dask(engine)
    raise ValueError(f"engine must be None, 'processes' or a client of dask.distributed. Got {brief(engine)}.")


def reduce_in_tree(merge: Merge, results: Iterable[Any]) -> Any:
    """Merge results, in their order, in a binary tree that only their number determines; None if there is none.

    Neighbours are merged as soon as both are there, so that few results are held at once.
    """
    waiting: list[tuple[int, Any]] = []  # (height, result), the highest first
    for result in results:
        height = 0
        while waiting and waiting[-1][0] == height:
            result, height = merge(waiting.pop()[1], result), height + 1
        waiting.append((height, result))
    merged = waiting.pop()[1] if waiting else None
    while waiting:
        merged = merge(waiting.pop()[1], merged)
    return merged
