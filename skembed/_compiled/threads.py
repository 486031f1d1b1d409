"""Number of threads, and a pool that maps a function in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from numbers import Integral
from typing import TypeVar

from .._validation.values import plain


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means, as joblib counts them, but no more than there are cores.

    Where joblib would start processes, its rule for threads applies: workers of celery may not start processes.
    """
    from joblib import cpu_count  # takes a while to import
    from joblib.parallel import ThreadingBackend, get_active_backend

    check_n_jobs(n_jobs)
    backend, n_jobs_of_context = get_active_backend()
    if not getattr(backend, "supports_sharedmem", False):
        backend = ThreadingBackend(nesting_level=backend.nesting_level)
    n_threads = backend.effective_n_jobs(n_jobs_of_context if n_jobs is None else n_jobs)
    return 1 if n_threads == 1 else int(min(n_threads, cpu_count()))  # joblib reads files to count the cores


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise a ValueError if `n_jobs` is no number of threads."""
    if n_jobs is not None and (not isinstance(plain(n_jobs), Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of threads, -1 for one per core, or None. Got {n_jobs!r}.")


Item = TypeVar("Item")
Found = TypeVar("Found")


class Threads:
    """A pool of threads; inside a ``with`` block, they are kept for the next call."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads
        self._stay = False
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Threads:
        self._stay = True
        return self

    def __exit__(self, *error: object) -> None:
        pool, self._pool, self._stay = self._pool, None, False
        if pool is not None:
            pool.shutdown()

    def in_order(self, function: Callable[[Item], Found], items: Iterable[Item], least: int = 1) -> Iterator[Found]:
        """Like `map`, but with all threads, and only a few items at a time; plain `map` for less than `least` items."""
        items = iter(items)
        first = list(islice(items, least if self.n_threads > 1 else 0))
        alone = self.n_threads == 1 or len(first) < least
        items = chain(first, items)
        del first  # an item that is done needs no memory
        if alone:
            yield from map(function, items)
            return
        results: deque[Future[Found]] = deque()
        pool = self._pool or ThreadPoolExecutor(self.n_threads, thread_name_prefix="skembed")
        self._pool = pool if self._stay else None
        try:
            for item in items:
                results.append(pool.submit(function, item))
                if len(results) > 2 * self.n_threads:
                    yield results.popleft().result()
            while results:
                yield results.popleft().result()
        finally:
            for result in results:
                result.cancel()
            if not self._stay:
                pool.shutdown()
