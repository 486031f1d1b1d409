"""Who computes the tasks of a round: this process, processes that joblib starts on this machine, or a Dask cluster.

The results are merged in a tree that only their number determines, and a task is a pure function. So an engine never
changes a bit, and a task whose worker was lost is computed again.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from pickle import PicklingError
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .._training.encoded_text import EncodedText
from .._validation.messages import brief
from .._validation.values import advice_on
from .dask_cluster import Dask
from .plan import (
    ATTEMPTS,
    LARGE,
    Advance,
    EngineLike,
    MakeTasks,
    Merge,
    Shard,
    ShardLocation,
    Work,
    in_groups,
    lost,
    memory_map_of,
    reduce_in_tree,
)


class Processes:
    """Computes tasks in processes of this machine, as joblib starts them."""

    def __init__(self, n_jobs: int | None, most: int | None = None) -> None:
        found = _count_processes(n_jobs)
        self.n_processes = found if most is None else min(found, most)
        self._shared: tuple[EncodedText, EncodedText] | None = None  # a text, and the same in files

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """See `Engine`. Files are mapped; arrays in memory are written to files once."""
        if self.n_processes == 1:
            return location
        if self._shared is None or self._shared[0] is not location.text:
            self._shared = location.text, self._in_files(location.text)
        return location._replace(text=self._shared[1])

    def _in_files(self, text: EncodedText) -> EncodedText:
        import joblib

        def mapped(name: str, array: np.ndarray) -> np.ndarray:
            if array.nbytes < LARGE or memory_map_of(array) is not None:
                return array
            path = self._path(name)
            with _full_disk_is_named(f"The text cannot be written to {path}, where processes read it"):
                joblib.dump(array, path)
            return joblib.load(path, mmap_mode="r")

        of_sentences = tuple(mapped(str(index), values) for index, values in enumerate(text.annotations))
        arrays = {name: mapped(name, array) for name, array in text._asdict().items() if name != "annotations"}
        return EncodedText(**arrays, annotations=of_sentences)

    def share_rows(self, arrays: dict[str, Any]) -> dict[str, Any]:
        """See `Engine`. The files are written anew, so that no round takes new memory for them."""
        if self.n_processes == 1:
            return arrays
        shared = dict(arrays)
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or array.nbytes < LARGE:
                continue
            path = self._path(name)
            with _full_disk_is_named(f"What is learned cannot be written to {path}, where processes read it"):
                # Never cut short: a process may still have it mapped.
                with path.open("r+b" if path.exists() else "wb") as file:
                    file.write(np.ascontiguousarray(array).data)
            shared[name] = np.memmap(path, array.dtype, "r", shape=array.shape)
        return shared

    @cached_property
    def _folder(self) -> Path:
        """The folder of all files that processes read or write; it is removed with this engine."""
        from joblib.externals.loky.backend import resource_tracker

        folder = Path(tempfile.mkdtemp(prefix="skembed-"))
        resource_tracker.register(str(folder), "folder")  # a process of joblib removes it if this one is killed
        weakref.finalize(self, _remove, folder)
        return folder

    def _path(self, name: str) -> Path:
        return self._folder / name

    def begin(self, advance: Advance) -> None:
        """See `Engine`."""

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        import joblib

        n_processes = self.n_processes
        if n_processes == 1:
            return work(common, make_tasks())
        for attempt in range(ATTEMPTS):
            # Results are mapped too: through a pipe they would be copied four times.
            with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as folder:
                groups = in_groups(make_tasks(), n_tasks, n_processes)
                calls = (
                    joblib.delayed(_write_result)(Path(folder, str(index)), work, common, group)
                    for index, group in enumerate(groups)
                )
                # Large arrays go to a file that all processes map.
                parallel = joblib.Parallel(n_processes, "loky", return_as="generator", pre_dispatch="2*n_jobs")
                try:
                    return reduce_in_tree(merge, (joblib.load(path, mmap_mode="r") for path in parallel(calls)))
                except BrokenProcessPool as error:  # a process was killed
                    if attempt == ATTEMPTS - 1:
                        raise lost("processes") from error
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


def _remove(folder: Path) -> None:
    from joblib.externals.loky.backend import resource_tracker

    shutil.rmtree(folder, ignore_errors=True)
    resource_tracker.unregister(str(folder), "folder")


def _write_result(path: Path, work: Work, common: Any, tasks: list[Any]) -> Path:
    import joblib

    result = work(common, tasks)
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


def engine_of(engine: EngineLike, n_jobs: int | None, n_shards: int | None = None) -> Engine:
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
