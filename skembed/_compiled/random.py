"""Random numbers as pure functions of a seed and of what is drawn: the order of the draws does not matter."""

import numpy as np
from numba import njit

from .compile import NO_REFCOUNT, kernel


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
