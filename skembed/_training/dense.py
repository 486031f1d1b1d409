"""Training without a compiled kernel: numpy computes the gradients of a block in chunks, several threads at a time.

The gradients of the chunks, a fixed number of sentences each, are added up in order: no thread changes a bit.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import ThreadpoolController

from .._compiled.compile import lean_kernel
from .._compiled.threads import Threads
from .encoded_text import EncodedText, Examples, Plan, SentenceBlocks, WordBlocks
from .learned_arrays import SMALLEST_ACCUMULATOR, SQUARES, LearnedArray, Update, moving
from .state import FittedState
from .trainer import BlockLoop, LoopOptions, Objective

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # the defaults of the paper on Adam


class Chunk(NamedTuple):
    """Sentences of a block whose gradients are computed together."""

    text: EncodedText
    sentences: np.ndarray  # (n,) int64, indices in the text, in the order of the block
    draws: np.random.Generator  # keyed by pass, block and chunk


class RowGradients(NamedTuple):
    """Gradient of the rows of an array that a chunk uses; a row may be listed more than once."""

    rows: np.ndarray  # (n,) int64
    vectors: np.ndarray  # (n, n_components) float32


class Gradients(NamedTuple):
    """Loss and gradients of a chunk, or of a block."""

    loss: float  # sum over the targets
    n_targets: int
    of: dict[str, np.ndarray | RowGradients]  # array name -> gradient; empty where nothing is learned


class DenseObjective(Objective):
    """An objective that computes the gradients of whole arrays and of rows in numpy."""

    blocks: SentenceBlocks | WordBlocks
    chunk_length = 64  # sentences
    largest_norm: float | None = None  # of the gradient of a block, which is scaled down where it is longer

    def make_loop(self, options: LoopOptions) -> BlockLoop:
        solver, batch_size, n_threads, examples, state, _ = options
        return DenseTrainer(self, solver, batch_size, state.seed, n_threads, examples=examples, state=state)

    def gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        """Loss and gradients of a chunk. No thread writes to the weights meanwhile."""
        raise TypeError(f"{type(self).__name__} does not define `gradients`.")

    def activation_bytes(self, n_words: int) -> int:
        """Bytes of the activations for the gradients of a chunk of `n_words` words."""
        return 0


class SteppingLoop(BlockLoop):
    """Base of the loops without a compiled kernel: each block ends with one step. BLAS has one thread."""

    @abstractmethod
    def _compute(self, text: EncodedText, plan: Any, block: int, learn: bool, threads: Threads) -> Any:
        """Loss and gradients of a block, with `loss` and `n_targets`."""

    @abstractmethod
    def _step(self, of_block: Any, rate: float) -> None:
        """One step along the gradient of the mean loss of the block."""

    def _make_scratch(self, text: EncodedText, plan: Any) -> Any:
        return SimpleNamespace(losses=SimpleNamespace(total=np.zeros(2)))

    def _call(self, text: EncodedText, scratch: Any, plan: Any, update: Update) -> None:
        with ONE_BLAS_THREAD, Threads(self.n_threads) as threads, np.errstate(all="ignore"):  # see `_gradients`
            for block in range(plan.first_block, plan.last_block):
                of_block = self._compute(text, plan, block, update.learn, threads)
                scratch.losses.total += of_block.loss, of_block.n_targets
                if not np.isfinite(of_block.loss):
                    return  # diverged
                if update.learn and of_block.n_targets:
                    self._step(of_block, update.rate - update.rate_decay * block)


class DenseTrainer(SteppingLoop):
    """Runs a `DenseObjective`; updates the learned arrays and their accumulators in place."""

    def __init__(
        self,
        objective: DenseObjective,
        solver: str,
        batch_size: int | str,
        seed: int,
        n_threads: int,
        *,
        examples: Examples = None,
        state: FittedState,
    ) -> None:
        super().__init__(objective, solver, batch_size, seed, n_threads, examples=examples)
        self.records, self.arrays = moving(state.records), state.arrays
        self.n_steps, self._n_frozen = state.n_steps, state.n_frozen

    def scratch_bytes(self, text: EncodedText) -> int:
        plan = self.plan(text, 0)
        n_chunks = min(2 * self.n_threads, -(-plan.runs_per_block * plan.run_length // self.objective.chunk_length)) + 1
        # An estimate: one gradient for each word of a chunk, and for as many negatives.
        n_words = self.objective.chunk_length * (len(text.tokens) // max(1, len(text.document)) + 1)
        of_row = sum(array.n_bytes // array.shape[0] for array in self.records if array.update == "rows")
        dense = sum(array.n_bytes for array in self.records if array.update == "dense")
        activations = self.n_threads * self.objective.activation_bytes(n_words)
        order = text.document.nbytes + plan.run_starts.nbytes
        return int(order + n_chunks * (dense + 2 * n_words * of_row) + activations)

    def _compute(self, text: EncodedText, plan: Plan, block: int, learn: bool, threads: Threads) -> Gradients:
        chunks = self._chunks(text, plan, block)
        return add_up(threads.in_order(lambda chunk: self._gradients(chunk, learn), chunks))

    def _gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        with np.errstate(all="ignore"):  # the caller checks the weights after the pass
            gradients: Gradients = self.objective.gradients(chunk, learn)
        return gradients

    def _chunks(self, text: EncodedText, plan: Plan, block: int) -> Iterator[Chunk]:
        first = block * plan.runs_per_block
        starts = plan.run_starts[first : first + plan.runs_per_block]
        sentences = (starts[:, None] + np.arange(plan.run_length)).ravel()
        sentences = sentences[sentences < len(text.document)]  # the last run may end with the text
        for index, start in enumerate(range(0, len(sentences), self.objective.chunk_length)):
            draws = np.random.Generator(np.random.Philox(np.random.SeedSequence([plan.seed, block, index])))
            yield Chunk(text, sentences[start : start + self.objective.chunk_length], draws)

    def _step(self, of_block: Gradients, rate: float) -> None:
        """One step of each array, along the gradient of the mean loss of the block."""
        self.n_steps = n_steps = (self.n_steps or 0) + 1
        moved = [array for array in self.records if array.name in of_block.of]
        found = [self._rows_and_gradient(array, of_block.of[array.name]) for array in moved]
        divisor = float(of_block.n_targets)
        if self.objective.largest_norm is not None:
            norm = np.sqrt(sum(float(np.vdot(gradient, gradient)) for _, gradient in found)) / divisor
            divisor *= max(1.0, norm / self.objective.largest_norm)
        for array, (rows, gradient) in zip(moved, found):
            weights, accumulator = self.arrays[array.name], self.arrays[array.accumulator]
            if self.solver == "adam":
                move_by_adam(weights, accumulator, rows, gradient, divisor, rate, n_steps)
                continue
            gradient = gradient / np.float32(divisor)
            if self.solver == "adagrad":
                weights[rows] -= adagrad_step(accumulator, rows, gradient, rate)
            else:
                weights[rows] -= np.float32(rate) * gradient

    def _rows_and_gradient(self, array: LearnedArray, found: np.ndarray | RowGradients) -> tuple[Any, np.ndarray]:
        if not isinstance(found, RowGradients):
            return ..., found
        first = np.searchsorted(found.rows, self._n_frozen if array.is_source else 0)  # they ascend
        return found.rows[first:], found.vectors[first:]


def add_up(chunks: Iterator[Gradients]) -> Gradients:
    """Add up the chunks of a block, in their order; each row is listed once in the result."""
    loss, n_targets = 0.0, 0
    dense: dict[str, np.ndarray] = {}
    of_rows: dict[str, list[RowGradients]] = {}
    for chunk in chunks:
        loss, n_targets = loss + chunk.loss, n_targets + chunk.n_targets
        for name, found in chunk.of.items():
            if isinstance(found, RowGradients):
                of_rows.setdefault(name, []).append(found)
            elif name in dense:
                dense[name] += found
            else:
                dense[name] = found.copy()
    return Gradients(loss, n_targets, dense | {name: _sum_by_row(found) for name, found in of_rows.items()})


def _sum_by_row(found: list[RowGradients]) -> RowGradients:
    rows, index = np.unique(np.concatenate([gradient.rows for gradient in found]), return_inverse=True)
    vectors = np.concatenate([gradient.vectors for gradient in found])
    order = np.argsort(index, kind="stable")  # of the block, so that the sums do not depend on the threads
    ptr = np.searchsorted(index[order], np.arange(len(rows) + 1))
    of_each = csr_array((np.ones(len(order), np.float32), order, ptr), (len(rows), len(order)))
    return RowGradients(rows, of_each @ vectors)


def move_by_adam(
    weights: np.ndarray,
    moments: np.ndarray,
    rows: Any,
    gradient: np.ndarray,
    divisor: float,
    rate: float,
    n_steps: int,
    unit: Any = 1.0,
) -> None:
    """Move ``rows`` of the weights, or ``...`` for all, by a step of Adam (Kingma and Ba, 2015) times ``unit``.

    The moments are (2, ...) for all, and (n_rows, 2, ...) for rows, which are lazy: one that a block does not use stays
    as it is. ``n_steps`` counts the blocks. ``unit`` is a number, one for each column, or an array (..., 1).
    """
    n_columns = gradient.shape[-1]
    matrices = tuple(array.reshape(-1, n_columns) for array in (weights, moments, gradient))
    which = np.arange(gradient.size // n_columns) if rows is ... else rows
    # Where the moments are: those of a row side by side, or all the first ones before all the second ones.
    apart = (1, len(which)) if rows is ... else (2, 1)
    units = np.asarray(unit, np.float32)
    of_rows, of_columns = np.ones(len(which), np.float32), np.ones(n_columns, np.float32)
    if units.ndim == 1:
        of_columns *= units
    else:
        of_rows *= np.broadcast_to(units, (*gradient.shape[:-1], 1)).ravel()
    rate *= float(np.sqrt(1 - _BETA_2**n_steps) / (1 - _BETA_1**n_steps))  # both moments start at zero
    settings = divisor, rate, _BETA_1, 1 - _BETA_1, _BETA_2, 1 - _BETA_2, _EPSILON
    _adam_rows(matrices, which, apart, (of_rows, of_columns), tuple(map(np.float32, settings)))


@lean_kernel
def _adam_rows(matrices, rows, apart, units, settings):
    weights, moments, gradient = matrices
    of_rows, of_columns = units
    divisor, rate, keep_1, take_1, keep_2, take_2, epsilon = settings
    for i in range(rows.shape[0]):
        row, unit = rows[i], of_rows[i]
        first = row * apart[0]
        second = first + apart[1]
        for c in range(weights.shape[1]):
            slope = gradient[i, c] / divisor
            mean = keep_1 * moments[first, c] + take_1 * slope
            square = keep_2 * moments[second, c] + take_2 * (slope * slope)
            moments[first, c], moments[second, c] = mean, square
            weights[row, c] -= unit * of_columns[c] * (rate * mean / (np.sqrt(square) + epsilon))


def adagrad_step(accumulator: np.ndarray, rows: Any, gradient: np.ndarray, rate: float) -> np.ndarray:
    """The step of AdaGrad: elementwise for a whole array, with one sum of squares a row for rows, as in the kernels."""
    if rows is ...:
        accumulator += np.square(gradient)
        squares = accumulator
    else:
        accumulator[rows, SQUARES] += np.square(gradient).mean(axis=1)
        squares = accumulator[rows, SQUARES][:, None]
    return np.float32(rate) * gradient / np.sqrt(np.maximum(squares, SMALLEST_ACCUMULATOR))


class _OneBlasThread:
    """Limits BLAS to one thread, in the whole process, since their number changes the rounding of matrix products."""

    def __init__(self) -> None:
        self._lock, self._n_inside = threading.Lock(), 0
        self._limit: Any = None

    @cached_property
    def _libraries(self) -> Any:
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = self._libraries.limit(limits=1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
