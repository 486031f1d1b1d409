"""Why the number of threads changes no bit: the barrier where they meet, the range of each, draws without an order.

A training kernel is entered once by each of ``n_threads`` Python threads and works through many blocks of sentences.
Within a block every quantity is computed by exactly one thread against weights that nobody writes; then each row of
the weights is updated by the one thread that owns it, in the order of the corpus. The threads meet at a `barrier`
between these phases. So the number of threads decides who computes a number, never which number it is. Random numbers
are pure functions of a seed and of what is drawn.

With ``NUMBA_DISABLE_JIT=1`` everything here runs as plain Python with one thread.
"""

import sys
from typing import NamedTuple

import numpy as np
from numba import njit, types

from .compile import INLINE_LLVM, NO_REFCOUNT, kernel
from .simd import ARRAY, intrinsic, item_pointer, no_operation

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


@njit(**NO_REFCOUNT)
def random_bits(seed, stream, item, draw):
    """64 random bits as a pure function of four uint64 numbers (two rounds of the splitmix64 finaliser).

    Nothing is remembered between calls, so it does not matter which thread draws, or when.
    """
    bits = seed + stream * np.uint64(0x9E3779B97F4A7C15) + item * np.uint64(0xD1B54A32D192ED03)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = (bits ^ (bits >> np.uint64(31))) + draw * np.uint64(0x8CB92BA72F3D8DD7)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@njit(**NO_REFCOUNT)
def uniform(bits):
    """A float64 in [0, 1) from 64 random bits."""
    return float(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**NO_REFCOUNT)
def below(bits, n):
    """An int64 in [0, n) from 64 random bits, for n below 2**31."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def fill_uniform(rows, seed, scale):
    """Start values in [-scale, scale), each a function of (seed, row, column) alone."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            bits = random_bits(np.uint64(seed), np.uint64(0), np.uint64(i), np.uint64(j))
            rows[i, j] = np.float32((2.0 * uniform(bits) - 1.0) * scale)
