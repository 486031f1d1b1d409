"""How gradients reach the rows of the weights: who owns which row, and the steps that a block takes.

A *touch* is one step of one row: a row number, the vector that moves it, and a scale. Touches are listed in the order
of the block. Each row has an owner, a thread that alone writes to it, and each owner takes the steps of its rows in
that order. So the number of threads decides who takes a step, never which step it is.

The rows of a matrix are in two *parts* of about the same work, whatever the number of threads. Sentences are summed
part by part (see `sum_sentences`): of two threads each reads and writes the rows of one part alone, and no row moves
from one core's cache to another's. Of more threads each part has a team.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.buffers import ARRAYS
from .._compiled.compile import INLINE, LEAN, lean_kernel
from .._compiled.rows import ONE, add_scaled, prefetch_row_to_write
from .._compiled.simd import prefetch_item
from .._compiled.sync import width_apart

N_PARTS = 2
# Below this a row has felt nothing but rounding, and the square root's reciprocal may overflow in single precision.
SMALLEST_ACCUMULATOR = np.float32(1e-30)
# The columns of the accumulators: AdaGrad's sum of squares, and the touches of the block at hand, zero between blocks
# and exact up to 2**24, far more than need telling apart.
SQUARES, COUNT = 0, 1
# Rows whose accumulators share a pair of cache lines have one owner; processors fetch lines in pairs.
SHELF = 16
# How many touches ahead the rows are fetched from memory.
AHEAD = 8
# For sharing out the rows: a block has about so many touches, and in an update the first touch of a row costs so many
# more, for the row must be fetched. Measured; only time depends on it.
TOUCHES, FETCH = 8192, 7
_STEP = SHELF << 14  # rows that are looked at at a time


class Rows(NamedTuple):
    """A matrix of weights and what its updates need."""

    weights: np.ndarray  # (n_rows, n_components) float32
    accumulator: np.ndarray  # (n_rows, 2) float32, side by side since both are needed
    part: np.ndarray  # (n_rows,) int16, 0 or 1
    owner: np.ndarray  # (n_rows,) int16, the thread that updates each row; empty if there is but one


class Update(NamedTuple):
    """How the weights move. ``rate`` is that of block 0, and falls by ``rate_decay`` with every block."""

    rate: float
    rate_decay: float
    adagrad: bool
    max_touches: int
    learn: bool


class Touches(NamedTuple):
    """The steps that a block takes in one matrix: ``weights[row] -= step * scale * vectors[vector]``.

    They lie in lists, each in the order of the block and written by one thread. Where a list has touches of several
    owners, it is copied sorted by owner behind all lists, so that an owner reads only what is its own. A row's touches
    are in lists that follow the order of the block.
    """

    n_touches: int  # places in all lists; the arrays have twice as many where lists have several owners
    row: np.ndarray  # int32
    vector: np.ndarray  # int32
    scale: np.ndarray  # float32
    threshold: np.ndarray  # float32, multiplies the soft threshold of the L1 norm, where there is one
    dealt: np.ndarray  # (n_lists, more than n_threads) int64: [l, o] is where list l's touches for owner o begin
    vectors: np.ndarray  # (n_vectors, n_components) float32
    square: np.ndarray  # (n_vectors,) float32, the mean square of each vector


def make_rows(weights: np.ndarray, accumulator: np.ndarray, mass: np.ndarray, n_threads: int) -> Rows:
    """Weights with all that their updates need; ``mass`` says how often each row is touched, in proportion."""
    part, owner = share_rows(mass, n_threads)
    return Rows(weights, accumulator, part, owner)


def share_rows(mass: np.ndarray, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Part and owner of each row, (n_rows,) int16 each, with about the same work for each part and each owner.

    Of two threads each reads and updates the rows of a part. Reading takes as long as there are touches, the update
    rather as long as there are different rows in a block, so the parts have the same of both. Owners in a team share
    the update alone. With one thread there is no list of owners.
    """
    scale = TOUCHES / max(mass.sum(), 1e-300)
    fetches = mass * -scale
    np.negative(np.expm1(fetches, out=fetches), out=fetches)  # a row is in a block with probability 1 - exp(-touches)
    n_fetches = max(fetches.sum(), 1e-300)
    both = _of_shelves(lambda rows: [mass[rows] * scale / TOUCHES, fetches[rows] / n_fetches], len(mass))
    part = deal_shelves(both, np.zeros(both.shape[1], np.int16), [[(half, 1.0) for half in range(N_PARTS)]])
    rows_of_part = np.repeat(part, SHELF)[: len(mass)]
    if n_threads <= N_PARTS:
        return rows_of_part, rows_of_part[: len(mass) if n_threads > 1 else 0]
    teams = []
    for half in range(N_PARTS):
        # In n_threads-ths of the part; with an odd number one thread has some of both.
        first = N_PARTS * np.arange(n_threads) - half * n_threads
        share = np.diff(np.clip([first, first + N_PARTS], 0, n_threads), axis=0)[0]
        teams.append([(int(thread), float(share[thread])) for thread in np.flatnonzero(share)])
    work = _of_shelves(lambda rows: [mass[rows] * scale + FETCH * fetches[rows]], len(mass))
    return rows_of_part, np.repeat(deal_shelves(work, part, teams), SHELF)[: len(mass)]


def _of_shelves(loads: Callable[[slice], list[np.ndarray]], n_rows: int) -> np.ndarray:
    """Sums of the loads of rows, (n_loads, n_shelves).

    Rows go out in shelves of 16, whose accumulators fill two cache lines. Some at a time: there may be many millions.
    """
    sums = []
    for start in range(0, n_rows, _STEP):
        rows = np.stack(loads(slice(start, start + _STEP)))
        sums.append(np.add.reduceat(rows, np.arange(0, rows.shape[1], SHELF), axis=1))
    return np.concatenate(sums, axis=1)


def deal_shelves(loads: np.ndarray, team: np.ndarray, members: list[list[tuple[int, float]]]) -> np.ndarray:
    """Give each shelf to a member of its team. ``members`` says who is in a team, and for how large a share.

    The heaviest shelf goes first, each to the member that has least; of several ``loads``, (n_loads, n_shelves), the
    one counts that a member has most of.
    """
    owner = np.empty(loads.shape[1], np.int16)
    order = np.argsort(-loads.max(axis=0), kind="stable")
    names, shares = (np.array(column) for column in zip(*(member for team in members for member in team)))
    first = np.append(0, np.cumsum([len(team) for team in members]))
    _deal_in_order(order, loads, team, first, names, shares, np.zeros((len(names), len(loads))), owner)
    return owner


@lean_kernel
def _deal_in_order(order, loads, team, first, names, shares, carried, owner):
    """Do so; members ``first[t]`` to ``first[t + 1]`` are of team t, and have ``carried`` something already."""
    n_loads = loads.shape[0]
    for shelf in order:
        t = team[shelf]
        least, chosen = np.inf, first[t]
        for member in range(first[t], first[t + 1]):
            most = 0.0
            for load in range(n_loads):
                most = max(most, carried[member, load])
            if most < least:
                least, chosen = most, member
        for load in range(n_loads):
            carried[chosen, load] += loads[load, shelf] / shares[chosen]
        owner[shelf] = names[chosen]


def make_touches(n_touches, vectors, n_threads, by_parts=False, make=ARRAYS):
    """Room for ``n_touches`` steps by the rows of ``vectors``, a list for each thread, or for each thread and part."""
    n_lists = n_threads * (N_PARTS if by_parts else 1)
    n_places = 2 * n_touches if n_threads > (N_PARTS if by_parts else 1) else n_touches
    return Touches(
        n_touches,
        make.zeros((n_places,), np.int32),
        make.zeros((n_places,), np.int32),
        make.zeros((n_places,), np.float32),
        make.zeros((n_places,), np.float32),
        make.zeros((n_lists, width_apart(n_threads + 1)), np.int64),
        vectors,
        make.zeros((len(vectors),), np.float32),
    )


@njit(**LEAN)
def keep_list(dealt, number, owner, first, last, n_threads):
    """Note that a list goes from ``first`` to ``last`` and is all of one owner's."""
    for o in range(n_threads + 1):
        dealt[number, o] = first if o <= owner else last
    if n_threads == 1:
        # It is the only list. There is room for more where this thread is trying to do the work of several.
        for other in range(1, dealt.shape[0]):
            dealt[other, 0] = dealt[other, 1] = 0


@njit(**INLINE)
def _copy_touch(touches, place, k):
    touches.row[place], touches.vector[place] = touches.row[k], touches.vector[k]
    touches.scale[place], touches.threshold[place] = touches.scale[k], touches.threshold[k]


@njit(**INLINE)
def _deal_to_two(touches, number, owner, first, last):
    """What `deal` does, for two threads, with both places in registers."""
    n_second = np.int64(0)
    for k in range(np.uint64(first), np.uint64(last)):
        n_second += np.int64(owner[np.uint64(touches.row[k])])
    place = touches.n_touches + first
    other = place + last - first - n_second
    touches.dealt[number, 0], touches.dealt[number, 1] = place, other
    for k in range(np.uint64(first), np.uint64(last)):
        second = np.int64(owner[np.uint64(touches.row[k])])
        _copy_touch(touches, np.uint64(other if second else place), k)  # no branch, it would be guessed wrong
        place += 1 - second
        other += second
    touches.dealt[number, 2] = other


@njit(**LEAN)
def deal(touches, number, owner, first, last, n_threads):
    """Sort a list of touches, from ``first`` to ``last``, by the owner of the row, keeping their order."""
    dealt = touches.dealt
    if n_threads == 1:
        keep_list(dealt, number, 0, first, last, n_threads)
        return
    if n_threads == 2:
        _deal_to_two(touches, number, owner, first, last)
        return
    for o in range(n_threads + 1):
        dealt[number, o] = 0
    for k in range(np.uint64(first), np.uint64(last)):
        dealt[number, np.int64(owner[np.uint64(touches.row[k])]) + 1] += 1
    dealt[number, 0] = touches.n_touches + first
    for o in range(n_threads):
        dealt[number, o + 1] += dealt[number, o]
    for k in range(np.uint64(first), np.uint64(last)):
        o = np.uint64(owner[np.uint64(touches.row[k])])
        _copy_touch(touches, np.uint64(dealt[number, o]), k)
        dealt[number, o] += 1
    # Each border has moved to the next one's place.
    for o in range(n_threads, 0, -1):
        dealt[number, o] = dealt[number, o - 1]
    dealt[number, 0] = touches.n_touches + first


@njit(**LEAN)
def shrink(weights, row, threshold):
    """Soft threshold: move every number of a row towards zero by ``threshold``, not past it."""
    for c in range(weights.shape[1]):
        weights[row, c] = math.copysign(max(abs(weights[row, c]) - threshold, np.float32(0.0)), weights[row, c])


@njit(**INLINE)
def take_step(rows, row, scale, vectors, vector, square, step, adagrad):
    """One touch of one row: ``row -= step * scale * vector``.

    AdaGrad with one accumulator a row (Duchi et al., 2011): the accumulator grows by the mean over the dimensions of
    the squared gradient, and the step is divided by its root. ``square`` is the mean square of the vector.
    """
    if adagrad:
        rows.accumulator[row, SQUARES] += scale * scale * square
        if rows.accumulator[row, SQUARES] < SMALLEST_ACCUMULATOR:
            return
        step /= np.float32(math.sqrt(rows.accumulator[row, SQUARES]))
    add_scaled(rows.weights, row, -step * scale, vectors, vector)


@njit(**LEAN)
def update_rows(rows, touches, update, rate, penalty, thread, n_threads):
    """Last phase: the steps of a thread's rows, in the order of the block.

    A row that occurs ``c`` times in a block would take ``c`` steps computed from the same old weights; its steps are
    scaled by ``min(1, max_touches / c)``, which is what keeps large blocks as good as single sentences.

    With ``penalty`` > 0 every touch is followed by the soft threshold of the L1 norm: each number of the row moves
    towards zero by ``step * penalty * threshold``, and stays there. Otherwise a vector of zeros touches nothing.
    """
    n_lists = touches.dealt.shape[0]
    # Others have written these; one cache line after the other would take long.
    for vector in range(0, touches.square.shape[0], 16):
        prefetch_item(touches.square, vector)
    for number in range(n_lists):
        for k in range(touches.dealt[number, thread], touches.dealt[number, thread + 1]):
            if touches.square[touches.vector[k]] != 0.0 or penalty > 0.0:
                rows.accumulator[touches.row[k], COUNT] += ONE
    for number in range(n_lists):
        last = touches.dealt[number, thread + 1]
        for k in range(touches.dealt[number, thread], last):
            if k + AHEAD < last:
                row = touches.row[k + AHEAD]
                prefetch_row_to_write(rows.weights, row)
            row, vector = np.int64(touches.row[k]), np.int64(touches.vector[k])
            square = touches.square[vector]
            if square == 0.0 and penalty == 0.0:
                continue
            # No branch, for it would be guessed wrong.
            step = rate * min(ONE, np.float32(update.max_touches) / rows.accumulator[row, COUNT])
            take_step(rows, row, touches.scale[k], touches.vectors, vector, square, step, update.adagrad)
            if penalty > 0.0:
                shrink(rows.weights, row, np.float32(step * penalty * touches.threshold[k]))
    for number in range(n_lists):
        for k in range(touches.dealt[number, thread], touches.dealt[number, thread + 1]):
            rows.accumulator[touches.row[k], COUNT] = np.float32(0.0)
