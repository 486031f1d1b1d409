"""Workers of a Dask cluster that compute the tasks of a round, and the merges of their results."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.messages import warn_at_user
from .._validation.values import check_client
from .plan import (
    Advance,
    MakeTasks,
    Merge,
    Shard,
    ShardLocation,
    TokenFile,
    TokensNotFoundError,
    Work,
    file_of,
    in_groups,
)

if TYPE_CHECKING:
    from distributed import Client


_ATTEMPTS = 3  # of a round, before the fit ends
_PAUSE = 1.0  # seconds, in which a cluster notices that a worker is lost
_GOES_ON = "With a checkpoint, the fit goes on from the last one written"


class _WorkerLostError(Exception):
    """A worker was lost while this process waited for its answer, or sent something to it."""


class Dask:
    """Computes tasks, and merges of their results, on the workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        check_client(client, "engine")
        self.client = client
        self._compared: set[str] = set()  # addresses of workers
        self._common: Any = None  # a future of what the next tasks have in common, if workers have it
        self._tokens: Any = None  # token ids, and their file if all workers can read it
        self._file: TokenFile | None = None

    def share_text(self, location: ShardLocation) -> Shard | ShardLocation:
        """See `Engine`. A copy; of the tokens only their place, if all workers can read their file."""
        tokens = location.text.tokens
        if self._tokens is not tokens:
            self._tokens, self._file = tokens, self._file_that_all_read(tokens)
        return location.cut_out(self._file)

    def _file_that_all_read(self, tokens: np.ndarray) -> TokenFile | None:
        file = file_of(tokens)
        return file if file and all(self._ask(file.is_here).values()) else None

    def _ask(self, question: Callable[[], Any], **which: Any) -> dict[str, Any]:
        """The answers of workers, by their addresses."""
        try:
            return self.client.run(question, **which)
        except OSError as error:
            raise _WorkerLostError from error

    def _send(self, item: Any, **where: Any) -> Any:
        """A future of the item on some worker."""
        try:
            # In a list, or the fields of a tuple are sent one by one.
            return self.client.scatter([item], hash=False, **where)[0]
        except (KeyError, OSError) as error:  # a KeyError of the address
            raise _WorkerLostError from error

    def begin(self, advance: Advance) -> None:
        """See `Engine`. So the rows travel to the workers once in a pass, and only their changes come back."""
        self._advance, self._common = advance, None

    def reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        """See `Engine`."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        retried = CancelledError, KilledWorker, CommClosedError, TimeoutError, _WorkerLostError
        n_lost = 0
        while True:
            try:
                self._compare_workers()
                return self._reduce(work, merge, common, make_tasks, n_tasks)
            except Exception as error:  # a closed client raises nearly anything
                if self.client.status in ("closing", "closed"):
                    raise RuntimeError(
                        "The client that is the engine, or its cluster, was closed during the fit. The estimator is "
                        f"unchanged. {_GOES_ON}: connect a new client, Client(cluster)."
                    ) from error
                self._common = None  # a lost worker may have held it
                if isinstance(error, TokensNotFoundError):
                    self._file = None
                    warn_at_user(
                        f"A worker of the cluster no longer reads the corpus: {error}. So this process sends the text "
                        "to all workers. That changes no bit of the result."
                    )
                    continue
                if not isinstance(error, retried):
                    raise
                n_lost += 1
                if n_lost == _ATTEMPTS and not self.client.nthreads():
                    raise RuntimeError(
                        "The cluster has no workers any more, so the fit ends. The estimator is unchanged. "
                        f"{_GOES_ON}: start workers, and wait for them before fit: client.wait_for_workers(n)."
                    ) from error
                if n_lost == _ATTEMPTS:
                    raise RuntimeError(
                        f"Workers of the cluster were lost {_ATTEMPTS} times in a row in one round, so the fit ends. "
                        "The estimator is unchanged. Most often the system kills processes that run out of memory: "
                        "estimate_memory says what a fit needs, and the logs of the workers say how they ended. "
                        f"{_GOES_ON}."
                    ) from error
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
        own, all_found = _what_decides_bits(), self._ask(_what_decides_bits, workers=new)
        others = {worker: found for worker, found in all_found.items() if found != own}
        self._compared.update(new)
        if others:
            worker, found = next(iter(others.items()))
            warn_at_user(
                f"{len(others)} workers of the cluster may compute other bits than this process. {worker} has {found}, "
                f"this process {own}. Install the same versions on all machines."
            )

    def _reduce(self, work: Work, merge: Merge, common: Any, make_tasks: MakeTasks, n_tasks: int) -> Any:
        client = self.client
        n_threads = client.nthreads()
        # Left to itself, the scheduler has short tasks wait for the worker that already has what they have in common.
        threads = [
            worker
            for index in range(max(n_threads.values(), default=0))
            for worker, n in n_threads.items()
            if index < n
        ]
        # A copy, since workers may be threads of this process, which changes its rows while they work.
        job, level = self._common or self._send(self._advance(common, None)), []
        for index, group in enumerate(in_groups(make_tasks(), n_tasks, max(1, len(threads)))):
            where = {"workers": [threads[index % len(threads)]]} if threads else {}
            lenient = where | {"allow_other_workers": True} if threads else {}
            level.append(client.submit(work, job, self._send(group, **where), pure=False, **lenient))
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
