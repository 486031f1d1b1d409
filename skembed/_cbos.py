r"""Continuous Bag of Sentences (paper: Continuous Bag-of-Sentences, equations 4 to 7).

A sentence is the sum of its words' vectors, its context the mean of the sums of the sentences around it, and the
softmax over the true sentence and ``m`` random sentences is to find the true one:

.. math::

    s_i = \sum_j w_{ij}, \qquad
    c_i = \frac{1}{|N_i|} \sum_{j \in N_i} s_j, \qquad
    L = -\sum_i \log \frac{\exp(s_i \cdot c_i)}{\sum_{j \in \{i\} \cup M_i} \exp(s_j \cdot c_i)}
"""

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from sklearn.utils._param_validation import Interval

from ._blocks import (
    EncodedText,
    Plan,
    Rows,
    Slots,
    Update,
    block_runs,
    draw_offsets,
    is_neighbour,
    make_slots,
    sum_sentences,
    target_slot,
    update_words,
)
from ._kernels import COMPILE, add_scaled, barrier, dot, share
from ._trained import TrainedVectorizer
from ._training import Matrix


class Targets(NamedTuple):
    """Work space of one block's targets."""

    slots: Slots
    context: np.ndarray  # (n_targets, n_components) float32, eq. 5
    context_gradient: np.ndarray  # (n_targets, n_components) float32, already divided by the number of neighbours
    error: np.ndarray  # (n_targets, 1 + negative) float32, softmax minus the true distribution
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64: sum of the losses, number of targets


@njit(**COMPILE)
def score_targets(plan, slots, targets, offsets, n_targets, thread, n_threads):
    first, last = share(n_targets, thread, n_threads)
    for i in range(first, last):
        slot = target_slot(plan, i)
        error = targets.error[i]
        error[:] = 0.0
        targets.loss[i] = -1.0
        context = targets.context[i]
        context[:] = 0.0
        if slots.document[slot] < 0:
            continue
        n_context = 0
        for q in range(slot - plan.border, slot + plan.border + 1):
            if is_neighbour(slots, plan, slot, q):
                n_context += 1
                add_scaled(context, np.float32(1.0), slots.sums[q])
        if n_context == 0:
            continue
        context /= np.float32(n_context)
        top = dot(slots.sums[slot], context)
        true_score = top
        error[0] = top
        for r in range(offsets.shape[0]):
            q = target_slot(plan, (i + offsets[r]) % n_targets)
            if slots.document[q] < 0 or is_neighbour(slots, plan, slot, q):
                error[1 + r] = -np.inf
            else:
                error[1 + r] = dot(slots.sums[q], context)
                top = max(top, error[1 + r])
        z = 0.0
        for r in range(1 + offsets.shape[0]):
            e = math.exp(error[r] - top)
            error[r] = e
            z += e
        for r in range(1 + offsets.shape[0]):
            error[r] = error[r] / z
        error[0] -= np.float32(1.0)
        targets.loss[i] = math.log(z) + top - true_score
        gradient = targets.context_gradient[i]
        gradient[:] = 0.0
        add_scaled(gradient, np.float32(error[0] / n_context), slots.sums[slot])
        for r in range(offsets.shape[0]):
            if error[1 + r] != 0.0:
                q = target_slot(plan, (i + offsets[r]) % n_targets)
                add_scaled(gradient, np.float32(error[1 + r] / n_context), slots.sums[q])


@njit(**COMPILE)
def gather_gradients(plan, slots, targets, offsets, n_slots, n_targets, thread, n_threads):
    width = plan.run_length + 2 * plan.border
    first, last = share(n_slots, thread, n_threads)
    for slot in range(first, last):
        gradient = slots.gradients[slot]
        gradient[:] = 0.0
        if slots.document[slot] < 0:
            continue
        run, position = slot // width, slot % width
        if plan.border <= position < plan.border + plan.run_length:
            i = run * plan.run_length + position - plan.border
            if targets.error[i, 0] != 0.0:
                add_scaled(gradient, targets.error[i, 0], targets.context[i])
            for r in range(offsets.shape[0]):
                t = (i - offsets[r]) % n_targets
                if targets.error[t, 1 + r] != 0.0:
                    add_scaled(gradient, targets.error[t, 1 + r], targets.context[t])
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            i = run * plan.run_length + j
            if targets.error[i, 0] != 0.0 and is_neighbour(slots, plan, slot, target_slot(plan, i)):
                add_scaled(gradient, np.float32(1.0), targets.context_gradient[i])


@njit(**COMPILE)
def train_cbos(text, rows, mean, targets, plan, update, sync, thread, n_threads):
    slots = targets.slots
    n_passed = 0
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        offsets = targets.offsets[thread]
        offsets = offsets[: draw_offsets(plan.seed, block, n_targets, offsets)]
        sum_sentences(text, rows, mean, plan, block, slots, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        score_targets(plan, slots, targets, offsets, n_targets, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for i in range(n_targets):
                if targets.loss[i] != -1.0:
                    targets.total[0] += targets.loss[i]
                    targets.total[1] += 1.0
        if update.learn:
            gather_gradients(plan, slots, targets, offsets, n_slots, n_targets, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * (block - plan.first_block))
            update_words(text, rows, update, rate, plan, block, slots, thread)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class CBOSObjective:
    """What `CBOSVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"]
        self.matrices = [Matrix(fitted["word_vectors_"], fitted["_accumulator"], counts.astype(np.float64))]
        self.border = vectorizer.window
        self.negative = vectorizer.negative
        self.mean = vectorizer.pooling == "mean"

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int) -> Targets:
        n_targets = plan.runs_per_block * plan.run_length
        n_components = self.matrices[0].weights.shape[1]
        return Targets(
            slots=make_slots(plan, n_components),
            context=np.zeros((n_targets, n_components), np.float32),
            context_gradient=np.zeros((n_targets, n_components), np.float32),
            error=np.zeros((n_targets, 1 + self.negative), np.float32),
            offsets=np.zeros((n_threads, self.negative), np.int64),
            loss=np.zeros(n_targets, np.float64),
            total=np.zeros(2, np.float64),
        )

    def run(self, text: EncodedText, rows: list[Rows], scratch: Targets, plan: Plan, update: Update, *threads: Any):
        train_cbos(text, rows[0], self.mean, scratch, plan, update, *threads)


class CBOSVectorizer(TrainedVectorizer):
    __doc__ = """XX"""

    _parameter_constraints: dict[str, list[Any]] = {
        **TrainedVectorizer._parameter_constraints,
        "window": [Interval(Integral, 1, None, closed="left")],
        "negative": [Interval(Integral, 1, None, closed="left")],
    }
    _needs_order = True
    _default_batch_size = 512
    _run_length = 4

    def __init__(
        self,
        n_components: int = 100,
        *,
        window: int = 1,
        negative: int = 10,
        pooling: str = "sum",
        weighting: str | None = None,
        unknown: str = "zero",
        solver: str = "adagrad",
        learning_rate: float = 0.1,
        max_iter: int = 3,
        batch_size: int | str = "auto",
        min_count: int = 5,
        max_features: int | None = None,
        analyzer: Any = "word",
        token_pattern: str = r"(?u)\b\w+\b",
        lowercase: bool = True,
        stop_words: Any = None,
        stemmer: Any = None,
        corpus: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.window = window
        self.negative = negative
        self.pooling = pooling
        self.weighting = weighting
        self.unknown = unknown
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.max_features = max_features
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.corpus = corpus
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_objective(self, fitted: dict[str, Any]) -> CBOSObjective:
        return CBOSObjective(self, fitted)
