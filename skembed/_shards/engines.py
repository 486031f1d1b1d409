"""Who computes the tasks of a round: this process, processes on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines, and a task is a pure function. So an engine never
changes a bit, and a task whose worker was lost is computed again.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from pickle import PicklingError
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._training.encoded_text import EncodedText
from .._validation.messages import brief, warn_at_user

# Takes what the tasks have in common, and the tasks; gives their results, one after the other.
Work = Callable[[Any, Iterable[Any]], Iterable[Any]]
Merge = Callable[[Any, Any], Any]
MakeTasks = Callable[[], Iterable[Any]]  # anew each time, so that no engine holds them all
# Takes what the tasks had in common, and their merged results; gives what the tasks of the next call have in common;
# with None for the results, a copy.
Advance = Callable[[Any, Any], Any]
_LARGE = 1 << 20  # bytes, from which on arrays travel as files
_ATTEMPTS, _PAUSE = 3, 1.0  # seconds, in which a cluster notices that a worker is lost


@runtime_checkable
class Engine(Protocol):
    """What an engine offers."""

    def share(self, text: EncodedText) -> EncodedText | None:
        """The text in a form that workers read where it lies; None if each has to be sent what it learns from."""

    def share_rows(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """The rows as they are now, in a form that workers read where they lie until the next call, if there is one."""

    def begin(self, advance: Advance) -> None:
        """A pass begins; after a call of `reduce`, a worker may compute what the tasks of the next have in common."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """Merge the results of all tasks, at most `n_tasks`, in the tree of `reduce_in_tree`; None if there is none.

        Tasks may be worked on in groups of `in_groups`, whose merged results are merged in the same tree.
        """


class Inline:
    """Computes one task after the other in this process."""

    def share(self, text: EncodedText) -> EncodedText | None:
        """See `Engine`."""
        return text

    def share_rows(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        return fitted

    def begin(self, advance: Advance) -> None:
        """See `Engine`."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        return reduce_in_tree(merge, work(common, make_tasks()))


class Processes:
    """Computes tasks in processes of this machine, as joblib starts them."""

    def __init__(self, n_jobs: int | None, most: int | None = None) -> None:
        found = _count_processes(n_jobs)
        self.n_processes = found if most is None else min(found, most)
        self._folder: Path | None = None  # of all that processes read where it lies
        self._shared: tuple[EncodedText, EncodedText] | None = None  # a text, and the same in files

    def share(self, text: EncodedText) -> EncodedText | None:
        """See `Engine`. Files are mapped; arrays in memory are written to files once."""
        import joblib

        if self.n_processes == 1:
            return text
        if self._shared is None or self._shared[0] is not text:

            def mapped(name: str, array: np.ndarray) -> np.ndarray:
                if array.nbytes < _LARGE or _is_mapped(array):
                    return array
                path = self._path(name)
                with _full_disk_is_named(f"The text cannot be written to {path}, where processes read it"):
                    joblib.dump(array, path)
                return joblib.load(path, mmap_mode="r")

            of_sentences = tuple(mapped(str(index), values) for index, values in enumerate(text.annotations))
            arrays = {name: mapped(name, array) for name, array in text._asdict().items() if name != "annotations"}
            self._shared = text, EncodedText(**arrays, annotations=of_sentences)
        return self._shared[1]

    def share_rows(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`. The files are written anew, so that no round takes new memory for them."""
        if self.n_processes == 1:
            return fitted
        shared = dict(fitted)
        for name, array in fitted.items():
            if not isinstance(array, np.ndarray) or array.nbytes < _LARGE:
                continue
            path = self._path(name)
            with _full_disk_is_named(f"What is learned cannot be written to {path}, where processes read it"):
                # Never cut short: a process may still have it mapped.
                with path.open("r+b" if path.exists() else "wb") as file:
                    file.write(np.ascontiguousarray(array).data)
            shared[name] = np.memmap(path, array.dtype, "r", shape=array.shape)
        return shared

    def _path(self, name: str) -> Path:
        """A file that is removed with this engine."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="skembed-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / name

    def begin(self, advance: Advance) -> None:
        """See `Engine`."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        import joblib

        n_processes = self.n_processes
        if n_processes == 1:
            return Inline().reduce(work, merge, common, make_tasks, n_tasks)
        for attempt in range(_ATTEMPTS):
            # Results are mapped too: through a pipe they would be copied four times.
            with tempfile.TemporaryDirectory(prefix="skembed-", ignore_cleanup_errors=True) as folder:
                groups = in_groups(make_tasks(), n_tasks, n_processes)
                calls = (
                    joblib.delayed(_write_result)(Path(folder, str(index)), work, merge, common, group)
                    for index, group in enumerate(groups)
                )
                # Large arrays go to a file that all processes map.
                parallel = joblib.Parallel(n_processes, "loky", return_as="generator", pre_dispatch="2*n_jobs")
                try:
                    return reduce_in_tree(merge, (joblib.load(path, mmap_mode="r") for path in parallel(calls)))
                except BrokenProcessPool as error:  # a process was killed
                    if attempt == _ATTEMPTS - 1:
                        raise _lost("processes") from error
                except PicklingError as error:
                    raise OSError(
                        "The work cannot be sent to the processes. Most often the folder through which joblib sends "
                        "arrays is full; the environment variable JOBLIB_TEMP_FOLDER names another."
                    ) from error


def _count_processes(n_jobs: int | None) -> int:
    """How many processes `n_jobs` means: as joblib counts them, but None is one for each core, not one in all.

    A context of joblib still decides. So does joblib in its own workers, which share the cores with others.
    """
    import joblib
    from joblib.parallel import get_active_backend

    backend, n_jobs_of_context = get_active_backend()
    is_free = n_jobs is None and n_jobs_of_context is None and not backend.nesting_level
    return int(joblib.effective_n_jobs(-1 if is_free else n_jobs))


def _write_result(path: Path, work: Work, merge: Merge, common: Any, tasks: list[Any]) -> Path:
    import joblib

    result = work_on(work, merge, common, tasks)
    with _full_disk_is_named(f"What a process has learned cannot be written to {path}"):
        joblib.dump(result, path)
    return path


@contextmanager
def _full_disk_is_named(what: str) -> Iterator[None]:
    """Say what could not be written."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{what}: {error.strerror}. TMPDIR sets the folder") from None


def _is_mapped(array: Any) -> bool:
    """Whether the array lies in a file that joblib has other processes map."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def _lost(who: str) -> RuntimeError:
    return RuntimeError(
        f"{who.capitalize()} were lost {_ATTEMPTS} times in a row in one round, so the fit ends. The estimator is "
        "unchanged. Most often the system kills processes that run out of memory: estimate_memory says what a fit "
        "needs, and the logs of the workers say how they ended. With a checkpoint, the fit goes on from the last one "
        "written."
    )


class Dask:
    """Computes tasks, and merges of their results, on the workers of a Dask cluster."""

    def __init__(self, client: Any) -> None:
        if getattr(client, "status", "running") in ("closing", "closed"):
            raise ValueError("engine is a client that is closed. Connect a new one, Client(cluster).")
        if getattr(client, "asynchronous", False):
            raise ValueError(
                "engine is an asynchronous client, and fit waits for its results. Connect one without "
                "asynchronous=True, or call fit in a thread: await asyncio.to_thread(emb.fit, X, engine=client)."
            )
        self.client = client
        self._compared: set[str] = set()  # addresses of workers
        self._common: Any = None  # a future of what the next tasks have in common, if workers have it

    def share(self, text: EncodedText) -> EncodedText | None:
        """See `Engine`. Other machines need not have the files of this one."""
        return None

    def share_rows(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`."""
        return fitted

    def begin(self, advance: Advance) -> None:
        """See `Engine`. So the rows travel to the workers once in a pass, and only their changes come back."""
        self._advance, self._common = advance, None

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        for attempt in range(_ATTEMPTS):
            try:
                self._compare_workers()
                return self._reduce(work, merge, common, make_tasks, n_tasks)
            except Exception as error:  # a closed client raises nearly anything
                if self.client.status in ("closing", "closed"):
                    raise RuntimeError(
                        "engine is a client that was closed during the fit. The estimator is unchanged. With a "
                        "checkpoint, the fit goes on from the last one written: connect a new client, Client(cluster)."
                    ) from error
                # A lost worker held what was sent to it, or was lost while that was sent.
                if not isinstance(error, (CancelledError, KilledWorker, CommClosedError, TimeoutError)):
                    raise
                self._common = None
                if attempt == _ATTEMPTS - 1:
                    raise _lost("workers of the cluster") from error
                time.sleep(_PAUSE)

    def _compare_workers(self) -> None:
        """Warn if workers may compute other bits than this process; of each worker once."""
        new = [worker for worker in self.client.nthreads() if worker not in self._compared]
        if not new and not self._compared:
            raise ValueError(
                "engine is a client of a cluster without workers. Start some, and wait for them before fit: "
                "client.wait_for_workers(n)."
            )
        if not new:
            return
        own, all_found = _what_decides_bits(), self.client.run(_what_decides_bits, workers=new)
        others = {worker: found for worker, found in all_found.items() if found != own}
        self._compared.update(new)
        for worker, found in others.items():
            warn_at_user(
                f"{len(others)} workers of the cluster may compute other bits than this process. {worker} has {found}, "
                f"this process {own}. Install the same versions on all machines."
            )
            break

    def _reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        client = self.client

        def sent(item: Any, **where: Any) -> Any:
            return client.scatter([item], hash=False, **where)[0]  # in a list, or fields of a tuple are sent one by one

        n_threads = client.nthreads()
        # Left to itself, the scheduler has short tasks wait for the worker that already has what they have in common.
        threads = [
            worker
            for index in range(max(n_threads.values(), default=0))
            for worker, n in n_threads.items()
            if index < n
        ]
        # A copy, since workers may be threads of this process, which changes its rows while they work.
        job, level = self._common or sent(self._advance(common, None)), []
        for index, group in enumerate(in_groups(make_tasks(), n_tasks, max(1, len(threads)))):
            where = {"workers": [threads[index % len(threads)]]} if threads else {}
            lenient = where | {"allow_other_workers": True} if threads else {}
            level.append(client.submit(work_on, work, merge, job, sent(group, **where), pure=False, **lenient))
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2])
            odd = level[len(level) // 2 * 2 :]
            level = [client.submit(merge, one, other, pure=False) for one, other in pairs] + odd
        if not level:
            return None
        # Begun before its result is here.
        self._common = client.submit(self._advance, job, level[0], pure=False)
        return level[0].result()


def _what_decides_bits() -> dict[str, Any]:
    """Versions of what compiles the kernels, and whether the processor has fused multiply-add."""
    import numba
    from llvmlite.binding import get_host_cpu_features

    from .. import __version__

    fused = get_host_cpu_features().get("fma", True)  # not listed where all processors have it
    return {"skembed": __version__, "numba": numba.__version__, "fused multiply-add": fused}


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
    advice = " Pass Client(cluster)." if hasattr(engine, "get_client") else ""
    raise ValueError(f"engine must be None, 'processes' or a client of dask.distributed. Got {brief(engine)}.{advice}")


def in_groups(tasks: Iterable[Any], n_tasks: int, n_workers: int) -> Iterator[list[Any]]:
    """Groups of tasks for workers, as large as they can be if all workers are to end as soon as possible.

    Each group is a subtree of the tree of `reduce_in_tree`: the tasks from a multiple of a power of two to the next.
    """

    def tasks_of_the_last(size: int) -> int:
        return -(-n_tasks // (size * n_workers)) * size

    size = min((1 << n for n in range(n_tasks.bit_length())), key=lambda size: (tasks_of_the_last(size), -size))
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
