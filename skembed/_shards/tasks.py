"""The tasks of a round: their merge in a tree that only their number determines, and the groups that workers get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

# Takes what the tasks have in common, and some tasks; gives their results, merged in the tree of `reduce_in_tree`.
Work = Callable[[Any, Iterable[Any]], Any]
Merge = Callable[[Any, Any], Any]
MakeTasks = Callable[[], Iterable[Any]]  # anew each time, so that no engine holds them all
# Takes what the tasks had in common, and their merged results; gives what the tasks of the next call have in common;
# with None for the results, a copy.
Advance = Callable[[Any, Any], Any]
ATTEMPTS = 3  # of a round, before the fit ends


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


def lost(who: str) -> RuntimeError:
    """The error that ends a fit."""
    return RuntimeError(
        f"{who.capitalize()} were lost {ATTEMPTS} times in a row in one round, so the fit ends. The estimator is "
        "unchanged. Most often the system kills processes that run out of memory: estimate_memory says what a fit "
        "needs, and the logs of the workers say how they ended. With a checkpoint, the fit goes on from the last one "
        "written."
    )
