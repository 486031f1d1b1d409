"""Records of the arrays of a fitted state, for start, memory, updates, warm start, saving, loading and checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from .._compiled.buffers import ALLOCATOR
from .._compiled.random import fill_uniform

FOR_INFERENCE = (
    "This model was saved for inference only, without what training needs. Save it with inference_only=False, or fit "
    "it anew with warm_start=False."
)
Start = Callable[[np.ndarray, int], None]  # fills an array of zeros with start values, from a seed


def start_zeros(array: np.ndarray, seed: int) -> None:
    """Start at zero."""


def start_uniform(limit: float, n_rows: int | None = None) -> Start:
    """Start with random numbers between minus and plus a limit, in the first `n_rows` rows or in all."""

    def fill(array: np.ndarray, seed: int) -> None:
        rows = array[:n_rows]
        fill_uniform(rows.reshape(len(rows), -1), seed, limit)

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
    """One array of float32 that a method learns.

    "rows" are updated where a block touches them, "dense" arrays as a whole. A frozen array keeps its start values. An
    array that is not kept serves training alone. The first rows of a source are the words that a sentence is made of.
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
    started = {name: ALLOCATOR.zeros(shape, np.float32) for name, shape in shapes_of(arrays, solver).items()}
    for index, array in enumerate(arrays):
        array.start(started[array.name], seed + index)
    return started


def copies_of(
    arrays: list[LearnedArray],
    fitted: Mapping[str, np.ndarray],
    copy: Callable[[str, np.ndarray], np.ndarray] = lambda _, array: array.copy(),
    share: Callable[[str, np.ndarray], np.ndarray] = lambda _, array: _writable(array),
) -> dict[str, np.ndarray]:
    """Copies of all that training will change; kernels take writable arrays.

    ``copy`` copies an array of rows, given its name; ``share`` makes a frozen array of rows writable. Dense ones are
    copied whole.

    Raises
    ------
    ValueError
        If the model was saved without what training needs.
    """
    if not all(array.accumulator in fitted for array in moving(arrays)):
        raise ValueError(FOR_INFERENCE)
    copies = {}
    for array in arrays:
        for name in [array.name] if array.frozen else [array.name, array.accumulator]:
            if array.update == "rows":
                copies[name] = (share if array.frozen else copy)(name, fitted[name])
            else:
                copies[name] = _writable(fitted[name]) if array.frozen else fitted[name].copy()
    return copies


def _writable(array: np.ndarray) -> np.ndarray:
    return array if array.flags.writeable else array.copy()


class WordRows(NamedTuple):
    """The words of a model that gets new ones, by row."""

    n_words: int
    new: np.ndarray  # rows of the new words, ascending
    vectors: np.ndarray | None  # (n_new, n_components): where a source starts the new words


def with_new_rows(
    arrays: list[LearnedArray],
    solver: str,
    fitted: Mapping[str, np.ndarray],
    seed: int,
    words: WordRows,
    grown: Callable[[str, np.ndarray, int, np.ndarray], np.ndarray],
) -> dict[str, np.ndarray]:
    """The arrays and accumulators of a model that gets new words: `arrays` are records of the larger ones.

    The words come first in each array of rows. Those that stay keep their numbers, as do the rows after the words. New
    words start at the vectors given in a source, and in other arrays at the start of the array. ``grown`` is for arrays
    of rows that end with the words.
    """
    larger: dict[str, np.ndarray] = {}
    for index, array in enumerate(arrays):
        names = [array.name] if array.frozen else [array.name, array.accumulator]
        if array.update == "dense":
            larger |= {name: fitted[name] for name in names}
            continue
        n_old = words.n_words - array.shape[0] + len(fitted[array.name])
        for name, shape in zip(names, (array.shape, array.accumulator_shape(solver))):
            if array.shape[0] == words.n_words:
                larger[name] = grown(name, fitted[name], words.n_words, words.new)
                continue
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
