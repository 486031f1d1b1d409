"""Training without a kernel of its own: numpy computes partial gradients, part by part of a block, in several threads.

A part is a fixed number of sentences of a block. Its gradients are computed from the weights before the block, by
matrix products in one thread each, and are added up in the order of the parts. So the number of threads decides who
computes a part, never what comes out. Then each array takes one step by Adam or AdaGrad.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .._compiled.threads import Threads
from .encoded_text import EncodedText, Plan
from .learned_arrays import LearnedArray, moving
from .plan import SentenceBlocks, WordBlocks
from .trainer import BlockLoop
from .updates import SMALLEST_ACCUMULATOR, SQUARES, Update

_BETA_1, _BETA_2, _EPSILON = 0.9, 0.999, 1e-8  # of Adam, as its paper has them


class Part(NamedTuple):
    """Some sentences of a block, whose gradients are computed together."""

    text: EncodedText
    sentences: np.ndarray  # (n,) int64, indices in the text, in the order of the block
    draws: np.random.Generator  # keyed by pass, block and part


class RowGradients(NamedTuple):
    """Gradient of the rows of an array that a part touches; a row may be listed more than once."""

    rows: np.ndarray  # (n,) int64
    vectors: np.ndarray  # (n, n_components) float32


class Gradients(NamedTuple):
    """What a part contributes to its block."""

    loss: float  # sum over the targets
    n_targets: int
    of: dict[str, np.ndarray | RowGradients]  # by the name of the array; empty where nothing is learned


class DenseObjective:
    """Base of what a method without a kernel brings to the training loop."""

    blocks: SentenceBlocks | WordBlocks
    part_length = 64  # sentences of a part

    def gradients(self, part: Part, learn: bool) -> Gradients:
        """Loss and gradients of a part, from weights that nobody writes meanwhile."""
        raise TypeError(f"{type(self).__name__} does not say how its gradients are computed.")


class DenseTrainer(BlockLoop):
    """Runs a `DenseObjective`; `fitted` has the learned arrays and their accumulators, which are updated in place."""

    def __init__(
        self,
        objective: DenseObjective,
        solver: str,
        batch_size: int | str,
        seed: int,
        n_threads: int,
        *,
        arrays: list[LearnedArray],
        fitted: dict[str, Any],
    ) -> None:
        super().__init__(objective, solver, batch_size, seed, n_threads)
        self.arrays, self.fitted = moving(arrays), fitted

    def scratch_bytes(self, text: EncodedText) -> int:
        plan = self.plan(text, 0)
        n_parts = min(2 * self.n_threads, -(-plan.runs_per_block * plan.run_length // self.objective.part_length)) + 1
        # Rows have gradients for the words of a part, and for about as many negatives.
        n_words = 2 * self.objective.part_length * (len(text.tokens) // max(1, len(text.document)) + 1)
        rows_of_part = sum(array.n_bytes // array.shape[0] for array in self.arrays if array.update == "rows") * n_words
        dense = sum(array.n_bytes for array in self.arrays if array.update == "dense")
        return int(text.document.nbytes + plan.run_starts.nbytes + n_parts * (dense + rows_of_part))

    def _make_scratch(self, text: EncodedText, plan: Plan) -> Any:
        return SimpleNamespace(losses=SimpleNamespace(total=np.zeros(2)))

    def _call(self, text: EncodedText, scratch: Any, plan: Plan, update: Update, n_threads: int) -> None:
        with ONE_BLAS_THREAD, Threads(n_threads) as threads:
            for block in range(plan.first_block, plan.last_block):
                parts = self._parts(text, plan, block)
                of_block = add_up(threads.in_order(lambda part: self._gradients(part, update.learn), parts))
                scratch.losses.total += of_block.loss, of_block.n_targets
                if not np.isfinite(of_block.loss):
                    return  # diverged
                if update.learn and of_block.n_targets:
                    with np.errstate(all="ignore"):
                        self._step(of_block, update.rate - update.rate_decay * block)

    def _gradients(self, part: Part, learn: bool) -> Gradients:
        with np.errstate(all="ignore"):  # weights that diverge are found after the pass, with a remedy
            gradients: Gradients = self.objective.gradients(part, learn)
        return gradients

    def _parts(self, text: EncodedText, plan: Plan, block: int) -> Iterator[Part]:
        first = block * plan.runs_per_block
        starts = plan.run_starts[first : first + plan.runs_per_block]
        sentences = (starts[:, None] + np.arange(plan.run_length)).ravel()
        sentences = sentences[sentences < len(text.document)]  # the last run may end with the text
        for index, start in enumerate(range(0, len(sentences), self.objective.part_length)):
            draws = np.random.Generator(np.random.Philox(np.random.SeedSequence([plan.seed, block, index])))
            yield Part(text, sentences[start : start + self.objective.part_length], draws)

    def _step(self, of_block: Gradients, rate: float) -> None:
        """One step of each array, along the mean gradient of the targets of a block."""
        self.fitted["_n_steps"] = n_steps = self.fitted.get("_n_steps", 0) + 1
        for array in self.arrays:
            found = of_block.of.get(array.name)
            if found is None:
                continue
            weights, accumulator = self.fitted[array.name], self.fitted[array.accumulator]
            rows, gradient = (found.rows, found.vectors) if isinstance(found, RowGradients) else (..., found)
            gradient = gradient / np.float32(of_block.n_targets)
            if self.solver == "adam":
                weights[rows] -= adam_step(accumulator, rows, gradient, rate, n_steps)
            elif self.solver == "adagrad":
                weights[rows] -= adagrad_step(accumulator, rows, gradient, rate)
            else:
                weights[rows] -= np.float32(rate) * gradient


def add_up(parts: Iterator[Gradients]) -> Gradients:
    """Sums over the parts of a block, in their order. Of row gradients each row is listed once."""
    loss, n_targets = 0.0, 0
    dense: dict[str, np.ndarray] = {}
    of_rows: dict[str, list[RowGradients]] = {}
    for part in parts:
        loss, n_targets = loss + part.loss, n_targets + part.n_targets
        for name, found in part.of.items():
            if isinstance(found, RowGradients):
                of_rows.setdefault(name, []).append(found)
            elif name in dense:
                dense[name] += found
            else:
                dense[name] = found.copy()
    return Gradients(loss, n_targets, dense | {name: _join(found) for name, found in of_rows.items()})


def _join(found: list[RowGradients]) -> RowGradients:
    rows, places = np.unique(np.concatenate([part.rows for part in found]), return_inverse=True)
    vectors = np.concatenate([part.vectors for part in found])
    joined = np.zeros((len(rows), *vectors.shape[1:]), np.float32)
    np.add.at(joined, places, vectors)  # one after the other, in the order of the block
    return RowGradients(rows, joined)


def adam_step(moments: np.ndarray, rows: Any, gradient: np.ndarray, rate: float, n_steps: int) -> np.ndarray:
    """The step of Adam (Kingma and Ba, 2015) for some rows of an array, or for all of it; updates the moments."""
    first = np.float32(_BETA_1) * moments[0][rows] + np.float32(1 - _BETA_1) * gradient
    second = np.float32(_BETA_2) * moments[1][rows] + np.float32(1 - _BETA_2) * np.square(gradient)
    moments[0][rows], moments[1][rows] = first, second
    rate *= np.sqrt(1 - _BETA_2**n_steps) / (1 - _BETA_1**n_steps)
    return np.float32(rate) * first / (np.sqrt(second) + np.float32(_EPSILON))


def adagrad_step(accumulator: np.ndarray, rows: Any, gradient: np.ndarray, rate: float) -> np.ndarray:
    """The step of AdaGrad: with one sum of squares a row for rows, as the kernels have it, else elementwise."""
    if rows is ...:
        accumulator += np.square(gradient)
        squares = accumulator
    else:
        accumulator[rows, SQUARES] += np.square(gradient).mean(axis=1)
        squares = accumulator[rows, SQUARES][:, None]
    return np.float32(rate) * gradient / np.sqrt(np.maximum(squares, SMALLEST_ACCUMULATOR))


class _OneBlasThread:
    """Within it, a matrix product runs in the thread that calls it, so its rounding does not depend on the cores.

    The limit holds for the whole process: fits that overlap set it once, and the last one lifts it.
    """

    def __init__(self) -> None:
        self._lock, self._n_inside = threading.Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._limit = threadpool_limits(1, user_api="blas")
            self._n_inside += 1

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._limit.restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
