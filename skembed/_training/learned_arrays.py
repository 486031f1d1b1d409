"""Records of the learned arrays, and how gradients reach their rows: which thread owns which row, the steps of a block.

A sparse gradient is a list of entries in the order of the block: a row, the vector that moves it, and a scale. Each
entry is one step of its row. Each row has an owner, a thread that alone writes to it, and each owner takes the steps
of its rows in that order. So the number of threads decides who takes a step, never which step it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, unshared_width
from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.rows import ONE, add_scaled, prefetch_row
from .._compiled.sync import fill_uniform

FOR_INFERENCE = (
    "This model was saved for inference only, without what training needs. Save it with inference_only=False, or fit "
    "it anew with warm_start=False."
)
Start = Callable[[np.ndarray, int], None]  # fills an array of zeros with start values, from a seed


def start_zeros(array: np.ndarray, seed: int) -> None:
    """Start at zero."""


def start_ones(array: np.ndarray, seed: int) -> None:
    """Start at one."""
    array.fill(1)


def start_uniform(limit: float, n_rows: int | None = None, own_seed: int | None = None) -> Start:
    """Start with random numbers between minus and plus a limit; arrays with one `own_seed` start alike."""

    def fill(array: np.ndarray, seed: int) -> None:
        rows = array[:n_rows]
        fill_uniform(rows.reshape(len(rows), -1), seed if own_seed is None else own_seed, limit)

    return fill


def start_copied(given: np.ndarray) -> Start:
    """Start as a copy of what is given."""
    return lambda array, seed: np.copyto(array, given)


class ArrayRecord(NamedTuple):
    """One array of a fitted state: what is saved of it, and what is checked before a kernel reads it."""

    name: str
    shape: tuple[int | None, ...]  # None allows any size
    dtype: str | None = "float32"  # None allows any floats
    kept: bool = True  # by a model that only transforms
    axis_of_words: int | None = None  # of a matrix with a row, or a column, for each word or n-gram


class LearnedArray(NamedTuple):
    """One array of float32 that a method learns: "rows" where a block touches them, "dense" arrays as a whole.

    One that is not kept serves training alone. The first rows of a source are the words that a sentence is made of.
    """

    name: str  # of the fitted attribute
    shape: tuple[int, ...]
    start: Start = start_zeros
    update: Literal["rows", "dense"] = "rows"
    options: tuple[str, ...] = ("n_components",)  # parameters of the estimator that fix the shape and its meaning
    frozen: bool = False
    kept: bool = True
    is_source: bool = False

    @property
    def accumulator(self) -> str:
        """Name of the fitted attribute with the sums of the solver."""
        return accumulator_of(self.name)

    def accumulator_shape(self, solver: str) -> tuple[int, ...]:
        """Adam has two moments a number, side by side in a row; AdaGrad one sum a number, or one and a count a row."""
        if solver == "adam":
            return (self.shape[0], 2, *self.shape[1:]) if self.update == "rows" else (2, *self.shape)
        return (self.shape[0], 2) if self.update == "rows" else self.shape

    def records(self, solver: str) -> list[ArrayRecord]:
        """Records of the array and of its accumulator."""
        axis = 0 if self.update == "rows" and len(self.shape) == 2 else None
        own = ArrayRecord(self.name, self.shape, kept=self.kept, axis_of_words=axis)
        return (
            [own] if self.frozen else [own, ArrayRecord(self.accumulator, self.accumulator_shape(solver), kept=False)]
        )

    @property
    def n_bytes(self) -> int:
        return _n_bytes(self.shape)


def accumulator_of(name: str) -> str:
    """Name of the fitted attribute with the sums of the solver for an array."""
    return f"_{name.strip('_')}_accumulator"


def moving(arrays: Iterable[LearnedArray]) -> list[LearnedArray]:
    """The arrays that are not frozen."""
    return [array for array in arrays if not array.frozen]


def shapes_of(arrays: list[LearnedArray], solver: str) -> dict[str, tuple[int, ...]]:
    """Shapes of all fitted attributes: the arrays and their accumulators."""
    shapes = {array.name: array.shape for array in arrays}
    return shapes | {array.accumulator: array.accumulator_shape(solver) for array in moving(arrays)}


def start_arrays(arrays: list[LearnedArray], solver: str, seed: int) -> dict[str, np.ndarray]:
    """The arrays and their accumulators before the first block. Each array has different random numbers."""
    started = ALLOCATOR.named(**{name: (shape, np.float32) for name, shape in shapes_of(arrays, solver).items()})
    for index, array in enumerate(arrays):
        array.start(started[array.name], seed + index)
    return started


def copies_of(arrays: list[LearnedArray], fitted: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copies of all that training will change; a ValueError if the model was saved without what training needs."""
    if not all(array.accumulator in fitted for array in moving(arrays)):
        raise ValueError(FOR_INFERENCE)
    copies = {}
    for array in arrays:
        for name in [array.name] if array.frozen else [array.name, array.accumulator]:
            copies[name] = fitted[name].copy()
    return copies


class WordRows(NamedTuple):
    """The words of a model that gets new ones, by row."""

    n_words: int
    new: np.ndarray  # rows of the new words, ascending
    vectors: np.ndarray | None  # (n_new, n_components): where a source starts the new words


def with_new_rows(
    arrays: list[LearnedArray], solver: str, fitted: Mapping[str, np.ndarray], seed: int, words: WordRows
) -> dict[str, np.ndarray]:
    """The arrays of a model that gets new words, of which `arrays` are records; old rows keep their numbers."""
    larger: dict[str, np.ndarray] = {}
    for index, array in enumerate(arrays):
        names = [array.name] if array.frozen else [array.name, array.accumulator]
        if array.update == "dense":
            larger |= {name: fitted[name] for name in names}
            continue
        n_old = words.n_words - array.shape[0] + len(fitted[array.name])
        for name, shape in zip(names, (array.shape, array.accumulator_shape(solver))):
            larger[name], old = ALLOCATOR.zeros(shape, np.float32), fitted[name]
            larger[name][:n_old], larger[name][words.n_words :] = old[:n_old], old[n_old:]
            larger[name][words.new] = 0
        if array.is_source:
            larger[array.name][words.new] = words.vectors
        elif array.start is not start_zeros:
            started = ALLOCATOR.zeros(array.shape, np.float32)
            array.start(started, seed + index)
            larger[array.name][words.new] = started[words.new]
    return larger


def accumulator_bytes(arrays: list[LearnedArray], solver: str) -> int:
    return sum(_n_bytes(array.accumulator_shape(solver)) for array in moving(arrays))


def _n_bytes(shape: tuple[int, ...]) -> int:
    return np.dtype(np.float32).itemsize * math.prod(map(int, shape))


# Below this a row has received only rounding errors, and the square root's reciprocal may overflow in float32.
SMALLEST_ACCUMULATOR = np.float32(1e-30)
# The columns of the accumulators: AdaGrad's sum of squares, and the number of entries of the row in this block, zero
# between blocks and exact up to 2**24.
SQUARES, COUNT = 0, 1
# The counter of a row that no block has touched, where that counts. A block leaves 0.0 there, which has another sign.
UNTOUCHED = np.float32(-0.0)
# Rows whose accumulators share a pair of cache lines have one owner, since processors fetch lines in pairs.
ROWS_PER_GROUP = 16
# How many entries ahead the rows are prefetched.
AHEAD = 16
# To balance the owners: the usual number of entries of a block, and the cost of fetching the row of its first entry, in
# entries. Measured; only time depends on it.
ENTRIES, FETCH = 8192, 7


class Rows(NamedTuple):
    """A matrix of weights and what its updates need."""

    weights: np.ndarray  # (n_rows, n_components) float32
    accumulator: np.ndarray  # (n_rows, 2) float32, side by side since both are needed
    owner: np.ndarray  # (n_rows,) int16, the thread that updates each row; empty if there is only one
    n_frozen: int = 0  # the first rows, which do not move


class Update(NamedTuple):
    """How the weights move. ``rate`` is that of block 0, and falls by ``rate_decay`` with every block."""

    rate: float
    rate_decay: float
    adagrad: bool
    max_steps: int  # a row with more entries in a block takes smaller steps
    learn: bool
    penalty: float = 0.0  # weight of the L1 norm


class SparseGradient(NamedTuple):
    """The steps that a block takes in one matrix: ``weights[row] -= step * scale * vectors[vector]``.

    Each thread writes a list of entries. Where there are several threads, a copy of the list sorted by owner is behind
    all lists, so that an owner reads only its own entries.
    """

    capacity: int  # entries of all lists; with several threads the arrays are twice as long
    row: np.ndarray  # int32
    vector: np.ndarray  # int32
    scale: np.ndarray  # float32
    threshold: np.ndarray  # float32, multiplies the soft threshold of the L1 norm; empty where there is none
    bounds: np.ndarray  # (n_threads, more than n_threads) int64: [t, o] is where thread t's entries for owner o begin
    vectors: np.ndarray  # (n_vectors, n_components) float32
    square: np.ndarray  # (n_vectors,) float32, the mean square of each vector


def make_rows(
    weights: np.ndarray, accumulator: np.ndarray, mass: np.ndarray, n_threads: int, n_frozen: int = 0
) -> Rows:
    """Weights with all that their updates need; ``mass`` is proportional to how often each row is updated."""
    return Rows(weights, accumulator, assign_rows(mass, n_threads), n_frozen)


def assign_rows(mass: np.ndarray, n_threads: int) -> np.ndarray:
    """Owner of each row, (n_rows,) int16, with about the same cost for each thread; empty for one thread."""
    if n_threads == 1:
        return np.empty(0, np.int16)
    entries = mass * (ENTRIES / max(mass.sum(), 1e-300))
    # A row is in a block with probability 1 - exp(-entries).
    cost = np.add.reduceat(entries - FETCH * np.expm1(-entries), np.arange(0, len(mass), ROWS_PER_GROUP))
    owner = np.empty(len(cost), np.int16)
    _share_out(cost, np.argsort(-cost, kind="stable"), np.zeros(n_threads), owner)
    return np.repeat(owner, ROWS_PER_GROUP)[: len(mass)]


@lean_kernel
def _share_out(cost, order, of_threads, owner):
    """Assign groups in an order to the thread with the lowest cost so far, of equal ones the first."""
    for i in range(order.shape[0]):
        least = np.int64(0)
        for thread in range(1, of_threads.shape[0]):
            if of_threads[thread] < of_threads[least]:
                least = thread
        of_threads[least] += cost[order[i]]
        owner[order[i]] = least


def make_gradient(capacity, vectors, n_threads, *, l1=False, make=ALLOCATOR):
    """Buffers for ``capacity`` entries that point to ``vectors``; ``l1``: with thresholds of the L1 norm."""
    length = 2 * capacity if n_threads > 1 else capacity
    arrays = make.named(
        row=((length,), np.int32),
        vector=((length,), np.int32),
        scale=((length,), np.float32),
        threshold=((length if l1 else 0,), np.float32),
        bounds=((n_threads, unshared_width(n_threads + 1)), np.int64),
        square=((len(vectors),), np.float32),
    )
    return SparseGradient(capacity=capacity, vectors=vectors, **arrays)


@njit(**NO_REFCOUNT)
def sort_by_owner(gradient, owner, first, last, team):
    """Sort the entries of this thread's list, from ``first`` to ``last``, by the owner of the row, stably."""
    bounds, thread = gradient.bounds, team.thread
    for o in range(team.n_threads + 1):
        bounds[thread, o] = 0
    if team.n_threads == 1:
        bounds[thread, 0], bounds[thread, 1] = first, last
        return
    for k in range(np.uint64(first), np.uint64(last)):
        bounds[thread, np.int64(owner[np.uint64(gradient.row[k])]) + 1] += 1
    bounds[thread, 0] = gradient.capacity + first
    for o in range(team.n_threads):
        bounds[thread, o + 1] += bounds[thread, o]
    for k in range(np.uint64(first), np.uint64(last)):
        o = np.uint64(owner[np.uint64(gradient.row[k])])
        to = np.uint64(bounds[thread, o])
        gradient.row[to], gradient.vector[to] = gradient.row[k], gradient.vector[k]
        gradient.scale[to] = gradient.scale[k]
        if gradient.threshold.shape[0] > 0:
            gradient.threshold[to] = gradient.threshold[k]
        bounds[thread, o] += 1
    # Each bound is now where the next one was.
    for o in range(team.n_threads, 0, -1):
        bounds[thread, o] = bounds[thread, o - 1]
    bounds[thread, 0] = gradient.capacity + first


@njit(**NO_REFCOUNT)
def shrink(weights, row, threshold):
    """Soft threshold: move every number of a row towards zero by ``threshold``, not past it."""
    for c in range(weights.shape[1]):
        weights[row, c] = math.copysign(max(abs(weights[row, c]) - threshold, np.float32(0.0)), weights[row, c])


@njit(**INLINE_LLVM)
def take_step(rows, row, entry, step, adagrad):
    """``rows.weights[row] -= step * scale * vectors[vector]`` for ``entry = (scale, vectors, vector, square)``.

    AdaGrad with one accumulator a row (Duchi et al., 2011): the accumulator grows by the mean over the dimensions of
    the squared gradient, and the step is divided by its root. ``square`` is the mean square of the vector.
    """
    scale, vectors, vector, square = entry
    if adagrad:
        rows.accumulator[row, SQUARES] += scale * scale * square
        if rows.accumulator[row, SQUARES] < SMALLEST_ACCUMULATOR:
            return
        step /= np.float32(math.sqrt(rows.accumulator[row, SQUARES]))
    add_scaled(rows.weights, row, -step * scale, vectors, vector)


@njit(**NO_REFCOUNT)
def update_rows(rows, gradient, update, block, team):
    """Last phase: the steps of a thread's rows, in the order of the block.

    The ``c`` steps of a row in a block are computed from the same old weights. They are scaled by
    ``min(1, max_steps / c)``, which keeps large blocks as good as single sentences.

    With a penalty each step is followed by the soft threshold of the L1 norm: each number of the row moves towards
    zero by ``step * penalty * threshold``, and stays there. Otherwise an entry with a vector of zeros is no step.
    """
    bounds, thread, penalty = gradient.bounds, team.thread, update.penalty
    rate = np.float32(update.rate - update.rate_decay * block.position)
    for t in range(bounds.shape[0]):
        for k in range(bounds[t, thread], bounds[t, thread + 1]):
            if gradient.square[gradient.vector[k]] != 0.0 or penalty > 0.0:
                rows.accumulator[gradient.row[k], COUNT] += ONE
    for t in range(bounds.shape[0]):
        last = bounds[t, thread + 1]
        for k in range(bounds[t, thread], last):
            if k + AHEAD < last:
                row = gradient.row[k + AHEAD]
                prefetch_row(rows.weights, row)
            row, vector = np.int64(gradient.row[k]), np.int64(gradient.vector[k])
            square = gradient.square[vector]
            if row < rows.n_frozen or (square == 0.0 and penalty == 0.0):
                continue
            step = rate * min(ONE, np.float32(update.max_steps) / rows.accumulator[row, COUNT])
            take_step(rows, row, (gradient.scale[k], gradient.vectors, vector, square), step, update.adagrad)
            if penalty > 0.0:
                shrink(rows.weights, row, np.float32(step * penalty * gradient.threshold[k]))
    for t in range(bounds.shape[0]):
        for k in range(bounds[t, thread], bounds[t, thread + 1]):
            rows.accumulator[gradient.row[k], COUNT] = np.float32(0.0)
