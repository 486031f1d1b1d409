"""Compiled pieces that all training kernels share.

A training kernel is entered once by each of ``n_threads`` Python threads and works through many blocks of sentences.
Within a block every quantity is computed by exactly one thread against weights that nobody writes; then each row of
the weights is updated by the one thread that owns it, in the order of the corpus. The threads meet at a `barrier`
between these phases. So the number of threads decides who computes a number, never which number it is.

With ``NUMBA_DISABLE_JIT=1`` everything here runs as plain Python with one thread.
"""

import sys

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from .compile import LEAN, kernel

# sync[ARRIVED] counts arrivals at barriers, sync[ABORTED] tells waiting threads to give up. A cache line lies between.
ARRIVED, ABORTED, SYNC_SIZE = 0, 8, 16
_SPINS_BEFORE_YIELD = 2000
LINE = 128  # bytes: of two cache lines, for processors fetch them in pairs
# Bytes between what two threads write to: where one goes through memory, its core asks for some lines more.
APART = 1024

_yield_processor = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


@intrinsic
def _atomic_add(typingctx, array, index, value):
    """``array[index] += value`` as one indivisible operation on an int64 array."""

    def codegen(context, builder, signature, args):
        item = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], item, [args[1]], wraparound=False)
        return builder.atomic_rmw("add", pointer, args[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), codegen


@intrinsic
def _atomic_load(typingctx, array, index):
    """Read ``array[index]`` of an int64 array, seeing all that was written before the matching `_atomic_add`."""

    def codegen(context, builder, signature, args):
        item = context.make_array(signature.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], item, [args[1]], wraparound=False)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(array, types.intp), codegen


@njit(**LEAN)
def barrier(sync, n_threads, n_passed):
    """Wait until all threads have come here; returns the number of barriers passed, or -1 to stop.

    ``sync`` (SYNC_SIZE,) int64 is shared by the threads, ``n_passed`` is the caller's own count of barriers so far.
    """
    if n_threads == 1:
        return n_passed + 1
    if n_passed < 0:
        return -1
    _atomic_add(sync, ARRIVED, 1)
    everybody = (n_passed + 1) * n_threads
    spins = 0
    while _atomic_load(sync, ARRIVED) < everybody:
        spins += 1
        if spins > _SPINS_BEFORE_YIELD:
            # More threads than free cores: let the others arrive.
            _yield_processor()
            if _atomic_load(sync, ABORTED) != 0:
                return -1
    return n_passed + 1


def zeros_apart(shape, dtype):
    """Zeros whose cache lines hold nothing else: what a thread writes to takes nothing from the others.

    Where two threads write to one line, even to different places, it moves to and fro between their cores, and a fit
    takes up to twice as long; where numpy's own arrays begin differs from one process to the next.
    """
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + LINE + 2 * APART, np.uint8)
    start = APART + -(room.ctypes.data + APART) % LINE
    return room[start : start + n_bytes].view(dtype).reshape(shape)


def width_apart(n):
    """At least ``n`` numbers of four bytes, and so many that rows of them lie apart."""
    return n + -n % (APART // 4)


@njit(**LEAN)
def share(n_items, thread, n_threads):
    """First and last+1 of the items that a thread works on: contiguous and as equal as can be."""
    return n_items * thread // n_threads, n_items * (thread + 1) // n_threads


@njit(**LEAN)
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


@njit(**LEAN)
def uniform(bits):
    """A float64 in [0, 1) from 64 random bits."""
    return float(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(**LEAN)
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
