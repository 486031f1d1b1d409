"""Negative samples: words drawn at random by a power of their frequency, for one sentence from one half of the words.

The halves cost about the same (`assign_rows`). The first sentences of a block draw from the first, so that of two
threads neither uses rows that the negatives of the other change. Over the blocks every word is drawn as it should.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import unshared_zeros
from .._compiled.compile import INLINE_LLVM, kernel
from .._compiled.sync import below, random_bits, uniform

# The columns of the alias tables: a word, the word that may be drawn instead, and the probability that it is not, times
# CERTAIN. One column is free, so that a draw reads one cache line.
WORD, ALIAS, THRESHOLD, N_COLUMNS = 0, 1, 2, 4
CERTAIN = 2**31 - 1


class Negatives(NamedTuple):
    """Walker's alias tables of both halves of the words, one after the other."""

    table: np.ndarray  # (n_words, N_COLUMNS) int32
    middle: int  # number of words of the first half
    first: float  # fraction of all draws that are from the first half


def noise_weights(counts: np.ndarray) -> np.ndarray:
    """Probability of each word as a negative, ``counts**0.75`` by square roots, which processors round alike."""
    drawn = np.sqrt(counts) * np.sqrt(np.sqrt(counts))
    return drawn / max(drawn.sum(), 1e-300)


def make_negatives(weight: np.ndarray, half: np.ndarray) -> Negatives:
    """Tables for probabilities in proportion to ``weight``, (n_words,) float64, and the half of each word, 0 or 1."""
    of_halves = [np.flatnonzero(half == which).astype(np.int32) for which in (0, 1)]
    word, middle = np.concatenate(of_halves), len(of_halves[0])
    table = unshared_zeros((len(word), N_COLUMNS), np.int32)
    table[:, WORD] = word
    for rows in (slice(0, middle), slice(middle, None)):
        threshold, alias = alias_table(weight[word[rows]])
        table[rows, ALIAS], table[rows, THRESHOLD] = word[rows][alias], CERTAIN * threshold
    return Negatives(table, middle, float(weight[half == 0].sum() / max(weight.sum(), 1e-300)))


def alias_table(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's alias method: ``threshold`` float64 and ``alias`` int32, each (n,).

    Drawing i evenly and then taking ``alias[i]`` instead with probability ``1 - threshold[i]`` gives each index with
    a probability in proportion to its weight, (n,) float64.
    """
    n = len(weight)
    threshold, alias = np.ones(n), np.arange(n, dtype=np.int32)
    scaled = weight * (n / max(weight.sum(), 1e-300))
    small, large = np.empty((2, n), np.int64)
    few, many = np.flatnonzero(scaled < 1), np.flatnonzero(scaled >= 1)
    small[: len(few)], large[: len(many)] = few, many
    _fill_up(scaled, small, len(few), large, len(many), threshold, alias)
    return threshold, alias


@kernel
def _fill_up(scaled, small, n_small, large, n_large, threshold, alias):
    """Fill up each row that is too rarely drawn, ``small``, with the surplus draws of one of ``large``."""
    while n_small > 0 and n_large > 0:
        n_small -= 1
        poor = small[n_small]
        rich = large[n_large - 1]
        threshold[poor] = scaled[poor]
        alias[poor] = rich
        scaled[rich] -= 1.0 - scaled[poor]
        if scaled[rich] < 1.0:
            n_large -= 1
            small[n_small] = rich
            n_small += 1


@njit(**INLINE_LLVM)
def half_of_words(negatives, seed, block, i):
    """First and last+1 of the rows of the table from which sentence i of a block draws."""
    bits = random_bits(np.uint64(seed), np.uint64(6), np.uint64(block.position), np.uint64(0))
    is_second = i >= np.int64(negatives.first * block.n_targets + uniform(bits))
    return (negatives.middle, negatives.table.shape[0]) if is_second else (0, negatives.middle)


@njit(**INLINE_LLVM)
def draw_negative(negatives, half, bits):
    """A word of a half, from 64 random bits."""
    row = half[0] + below(bits, half[1] - half[0])
    # The low bits, since `below` used the high ones. Arithmetic instead of a branch, which would be mispredicted.
    stays = np.int64(bits & np.uint64(CERTAIN)) < np.int64(negatives.table[row, THRESHOLD])
    word, other = np.int64(negatives.table[row, WORD]), np.int64(negatives.table[row, ALIAS])
    return other + (word - other) * np.int64(stays)
