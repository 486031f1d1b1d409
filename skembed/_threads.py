"""How many threads, and work for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means, as scikit-learn and joblib count them, but no more than there are cores.

    The results are the same for any number, and threads that wait for a core only cost time.
    """
    from joblib import cpu_count, effective_n_jobs  # takes a while to import

    return int(min(effective_n_jobs(n_jobs), cpu_count()))


def in_order(function: Callable[[Any], Any], items: Iterable[Any], n_threads: int) -> Iterator[Any]:
    """Like `map`, but with some threads, and only a few items at a time."""
    if n_threads == 1:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="skembed") as pool:
        tasks: deque[Future[Any]] = deque()
        for item in items:
            tasks.append(pool.submit(function, item))
            if len(tasks) > 2 * n_threads:
                yield tasks.popleft().result()
        while tasks:
            yield tasks.popleft().result()
