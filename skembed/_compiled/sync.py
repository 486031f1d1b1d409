"""The threads in a training kernel: the barrier where they meet, and which range of the work each has.

A training kernel is entered once by each of ``n_threads`` Python threads and works through many blocks of sentences.
Within a block every quantity is computed by exactly one thread against weights that nobody writes; then each row of
the weights is updated by the one thread that owns it, in the order of the corpus. The threads meet at a `barrier`
between these phases. So the number of threads decides who computes a number, never which number it is.

With ``NUMBA_DISABLE_JIT=1`` everything here runs as plain Python with one thread.
"""

import sys
from typing import NamedTuple

import numpy as np
from numba import njit, types

from .compile import INLINE_LLVM, NO_REFCOUNT
from .intrinsic import ARRAY, intrinsic, item_pointer, no_operation

# sync[ARRIVED] counts arrivals at barriers, sync[ABORTED] tells waiting threads to give up. They are on different
# cache lines.
ARRIVED, ABORTED, SYNC_SIZE = 0, 8, 16
_SPINS_BEFORE_YIELD = 2000

_yield_processor = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


class Team(NamedTuple):
    """The threads that are in a kernel at once, as one of them sees them."""

    sync: np.ndarray  # (SYNC_SIZE,) int64, which they share
    thread: int
    n_threads: int


@intrinsic(types.int64, ARRAY, types.intp, types.int64, python=no_operation)
def _atomic_add(builder, array, index, value):
    """``array[index] += value`` as one indivisible operation on an int64 array; returns the value before."""
    return builder.atomic_rmw("add", item_pointer(builder, array, index), value, "seq_cst")


@intrinsic(types.int64, ARRAY, types.intp, python=no_operation)
def _atomic_load(builder, array, index):
    """Read ``array[index]`` of an int64 array, seeing all that was written before the matching `_atomic_add`."""
    return builder.load_atomic(item_pointer(builder, array, index), "seq_cst", 8)


@njit(**NO_REFCOUNT)
def barrier(team):
    """Wait until all threads have come here, or one has failed."""
    if team.n_threads == 1:
        return
    n_before = _atomic_add(team.sync, ARRIVED, 1)
    everybody = (n_before // team.n_threads + 1) * team.n_threads
    spins = 0
    while _atomic_load(team.sync, ARRIVED) < everybody:
        spins += 1
        if spins > _SPINS_BEFORE_YIELD:
            # More threads than free cores: let the others arrive.
            _yield_processor()
            if _atomic_load(team.sync, ABORTED) != 0:
                return


@njit(**INLINE_LLVM)
def aborted(team):
    """Whether another thread has failed, so that this one should stop."""
    return team.n_threads > 1 and _atomic_load(team.sync, ABORTED) != 0


@njit(**NO_REFCOUNT)
def partition(n_items, team):
    """First and last+1 of the items that a thread works on: contiguous, with about as many for each thread."""
    return n_items * team.thread // team.n_threads, n_items * (team.thread + 1) // team.n_threads
