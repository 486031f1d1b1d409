"""Negative samples: words drawn at random by a power of their frequency, for one sentence from one part of the rows.

The rows are in two parts of about the same work, see `share_rows`. The first sentences of a block take their negatives
from the first part, the others from the second, and each part serves the share of the sentences that is its share of
the draws: over the blocks, which are random samples of the text, every word is drawn as often as it should. So of two
threads, each of which has half of the sentences, neither touches a negative's row that the other one owns.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, kernel
from .._compiled.simd import prefetch
from .._compiled.sync import below, random_bits, uniform, zeros_apart
from .updates import N_PARTS

# The columns of the alias tables: a word, the one that may be drawn instead, and the probability that it is not, times
# CERTAIN. One place is free, so that a draw looks at one cache line.
WORD, ALIAS, THRESHOLD, N_COLUMNS = 0, 1, 2, 4
CERTAIN = 2**31 - 1


class Negatives(NamedTuple):
    """Walker's alias tables, one for each part, one behind the other."""

    table: np.ndarray  # (n_words, N_COLUMNS) int32, the words of the first part, then those of the second
    ptr: np.ndarray  # (N_PARTS + 1,) int64, where each part begins
    share: float  # of all draws, those of the first part


def make_negatives(weight: np.ndarray, part: np.ndarray) -> Negatives:
    """From what the probability of each word is proportional to, (n_words,) float64, and the part of each."""
    word = np.argsort(part, kind="stable").astype(np.int32)
    ptr = np.searchsorted(part[word], np.arange(N_PARTS + 1))
    table = zeros_apart((len(word), N_COLUMNS), np.int32)
    table[:, WORD] = word
    for first, last in pairwise(ptr):
        threshold, alias = alias_table(weight[word[first:last]])
        table[first:last, ALIAS], table[first:last, THRESHOLD] = word[first:last][alias], CERTAIN * threshold
    return Negatives(table, ptr, float(weight[part == 0].sum() / max(weight.sum(), 1e-300)))


def alias_table(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Walker's alias method: ``threshold`` float64 and ``alias`` int32, each (n,).

    Drawing i evenly and then taking ``alias[i]`` instead with probability ``1 - threshold[i]`` gives each number with
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
    """Fill up each row that is too rarely drawn, ``small``, with the draws that one of ``large`` has too many."""
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


@njit(**INLINE)
def first_of_second_part(negatives, seed, block, n_sentences):
    """Which sentence of a block is the first that takes its negatives from the second part of the rows.

    It is rounded at random, so that on average each part has exactly its share, in blocks of one sentence too.
    """
    bits = random_bits(np.uint64(seed), np.uint64(6), np.uint64(block), np.uint64(0))
    return np.int64(negatives.share * n_sentences + uniform(bits))


@njit(**INLINE)
def _place(negatives, part, bits):
    first = negatives.ptr[part]
    return first + below(bits, negatives.ptr[part + 1] - first)


@njit(**INLINE)
def prefetch_draw(negatives, part, bits):
    """Ask for what `draw_negative` will look up."""
    place = _place(negatives, part, bits)
    prefetch(negatives.table, place, 0)


@njit(**INLINE)
def draw_negative(negatives, part, bits):
    """A word of a part, by 64 random bits."""
    place = _place(negatives, part, bits)
    # The low bits: `below` used the high ones. No branch, for it would be guessed wrong half of the time.
    stays = np.int64(bits & np.uint64(CERTAIN)) < np.int64(negatives.table[place, THRESHOLD])
    word, other = np.int64(negatives.table[place, WORD]), np.int64(negatives.table[place, ALIAS])
    return other + (word - other) * np.int64(stays)
