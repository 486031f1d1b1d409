"""Who computes the tasks of a round: this process, processes on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines, and a task is a pure function. So an engine never
changes a bit, and a task whose worker was lost is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any, Protocol, TypeVar, runtime_checkable

from .._validation.messages import brief

# Of what the tasks have in common, and of tasks; the results of these, one after the other.
Work = Callable[[Any, Iterable[Any]], Iterable[Any]]
Merge = Callable[[Any, Any], Any]
MakeTasks = Callable[[], Iterable[Any]]  # anew each time, so that no engine holds them all
_Result = TypeVar("_Result")
_ATTEMPTS = 3


@runtime_checkable
class Engine(Protocol):
    """What an engine offers."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """Merge the results of all tasks, at most `n_tasks`, in the tree of `reduce_in_tree`; None if there is none.

        Tasks may be worked on in groups of `in_groups`, whose merged results are merged in the same tree.
        """


class Inline:
    """Computes one task after the other in this process."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        return reduce_in_tree(merge, work(common, make_tasks()))


class Processes:
    """Computes tasks in processes of this machine, as joblib starts them; merges in this process."""

    def __init__(self, n_processes: int | None) -> None:
        self.n_processes = n_processes

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        from joblib import Parallel, delayed, effective_n_jobs

        for attempt in range(_ATTEMPTS):
            # Large arrays go to a file that all processes map.
            parallel = Parallel(self.n_processes, "loky", return_as="generator", pre_dispatch="2*n_jobs")
            try:
                groups = in_groups(make_tasks(), n_tasks, effective_n_jobs(self.n_processes))
                return reduce_in_tree(merge, parallel(delayed(work_on)(work, merge, common, one) for one in groups))
            except BrokenProcessPool:  # a process was killed
                if attempt == _ATTEMPTS - 1:
                    raise


class Dask:
    """Computes tasks, and merges of their results, on the workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        for attempt in range(_ATTEMPTS):
            try:
                return self._reduce(work, merge, common, make_tasks, n_tasks)
            except (CancelledError, KilledWorker):  # a lost worker held what was sent to it
                if attempt == _ATTEMPTS - 1:
                    raise

    def _reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        client = self.client

        def sent(item: Any) -> Any:
            return client.scatter([item], hash=False)[0]  # in a list, or the fields of a tuple are sent one by one

        job, groups = sent(common), in_groups(make_tasks(), n_tasks, sum(client.nthreads().values()))
        level = [client.submit(work_on, work, merge, job, sent(group), pure=False) for group in groups]
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


def in_groups(tasks: Iterable[Any], n_tasks: int, n_workers: int) -> Iterator[list[Any]]:
    """Groups of tasks for workers, about two for each, so that none waits long for another.

    Each group is a subtree of the tree of `reduce_in_tree`: the tasks from a multiple of a power of two to the next.
    """
    size = 1
    while 4 * size * n_workers <= n_tasks:
        size *= 2
    tasks = iter(tasks)
    while group := list(islice(tasks, size)):
        yield group


def work_on(work: Work, merge: Merge, common: Any, tasks: Iterable[Any]) -> Any:
    """The merged results of a group of tasks."""
    return reduce_in_tree(merge, work(common, tasks))


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
