r"""Siamese CBOW (Kenter, Borisov and de Rijke, 2016, equation 1).

A sentence is the mean of its words' vectors. The softmax over the cosines with its neighbours and with ``n`` random
sentences that are not its neighbours is to be ``1 / |S+|`` on each neighbour:

.. math::

    p(s_i, s_j) = \frac{\exp(\cos(s_i, s_j) / \tau)}{\sum_{r \in S^+ \cup S^-} \exp(\cos(s_i, s_r) / \tau)}, \qquad
    L = -\sum_i \sum_{j \in S^+_i} \frac{1}{|S^+_i|} \log p(s_i, s_j)
"""

import math
from numbers import Integral, Real
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


class Pairs(NamedTuple):
    """Work space of one block's pairs of sentences."""

    slots: Slots
    norm: np.ndarray  # (n_slots,) float32
    source_gradient: np.ndarray  # (n_targets, n_components) float32, gradient of the unit vector in the source role
    error: np.ndarray  # (n_targets, 2 * window + 1 + negative) float32
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64


@njit(**COMPILE)
def scale_to_length_one(plan, slots, norm, n_slots, thread, n_threads):
    first, last = share(n_slots, thread, n_threads)
    for slot in range(first, last):
        if slots.document[slot] >= 0:
            norm[slot] = math.sqrt(dot(slots.sums[slot], slots.sums[slot]))
            if norm[slot] == 0.0:
                # No direction: the sentence takes no part.
                slots.document[slot] = -1
                slots.scale[slot] = 0.0
            else:
                slots.sums[slot] /= norm[slot]


@njit(**COMPILE)
def score_pairs(plan, slots, pairs, offsets, inverse_temperature, n_targets, thread, n_threads):
    first, last = share(n_targets, thread, n_threads)
    span = 2 * plan.border + 1
    for i in range(first, last):
        slot = target_slot(plan, i)
        error = pairs.error[i]
        error[:] = 0.0
        pairs.loss[i] = -1.0
        if slots.document[slot] < 0:
            continue
        n_positive = 0
        top = -np.inf
        true_score = 0.0
        for c in range(span + offsets.shape[0]):
            if c < span:
                q = slot + c - plan.border
                wanted = is_neighbour(slots, plan, slot, q)
                n_positive += wanted
            else:
                q = target_slot(plan, (i + offsets[c - span]) % n_targets)
                wanted = slots.document[q] >= 0 and not is_neighbour(slots, plan, slot, q)
            if wanted:
                error[c] = dot(slots.sums[slot], slots.sums[q]) * inverse_temperature
                top = max(top, error[c])
                if c < span:
                    true_score += error[c]
            else:
                error[c] = -np.inf
        if n_positive == 0:
            error[:] = 0.0
            continue
        z = 0.0
        for c in range(span + offsets.shape[0]):
            if error[c] != -np.inf:
                e = math.exp(error[c] - top)
                z += e
        gradient = pairs.source_gradient[i]
        gradient[:] = 0.0
        pairs.loss[i] = math.log(z) + top - true_score / n_positive
        for c in range(span + offsets.shape[0]):
            if error[c] == -np.inf:
                error[c] = 0.0
                continue
            p = math.exp(error[c] - top) / z
            if c < span:
                q = slot + c - plan.border
                p -= 1.0 / n_positive
            else:
                q = target_slot(plan, (i + offsets[c - span]) % n_targets)
            error[c] = p * inverse_temperature
            add_scaled(gradient, error[c], slots.sums[q])


@njit(**COMPILE)
def gather_gradients(plan, slots, pairs, offsets, n_slots, n_targets, thread, n_threads):
    width = plan.run_length + 2 * plan.border
    span = 2 * plan.border + 1
    first, last = share(n_slots, thread, n_threads)
    for slot in range(first, last):
        gradient = slots.gradients[slot]
        gradient[:] = 0.0
        if slots.document[slot] < 0:
            continue
        run, position = slot // width, slot % width
        if plan.border <= position < plan.border + plan.run_length:
            i = run * plan.run_length + position - plan.border
            if pairs.loss[i] != -1.0:
                add_scaled(gradient, np.float32(1.0), pairs.source_gradient[i])
            for r in range(offsets.shape[0]):
                t = (i - offsets[r]) % n_targets
                if pairs.error[t, span + r] != 0.0:
                    add_scaled(gradient, pairs.error[t, span + r], slots.sums[target_slot(plan, t)])
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            i = run * plan.run_length + j
            source = target_slot(plan, i)
            error = pairs.error[i, slot - source + plan.border]
            if error != 0.0:
                add_scaled(gradient, error, slots.sums[source])
        # From the unit vector u = s / |s| back to the sentence: ds = (du - (du . u) u) / |s|
        add_scaled(gradient, -dot(gradient, slots.sums[slot]), slots.sums[slot])
        gradient /= pairs.norm[slot]


@njit(**COMPILE)
def train_siamese_cbow(text, rows, mean, inverse_temperature, pairs, plan, update, sync, thread, n_threads):
    slots = pairs.slots
    n_passed = 0
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        offsets = pairs.offsets[thread]
        offsets = offsets[: draw_offsets(plan.seed, block, n_targets, offsets)]
        sum_sentences(text, rows, mean, plan, block, slots, thread, n_threads)
        scale_to_length_one(plan, slots, pairs.norm, n_slots, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        score_pairs(plan, slots, pairs, offsets, inverse_temperature, n_targets, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            for i in range(n_targets):
                if pairs.loss[i] != -1.0:
                    pairs.total[0] += pairs.loss[i]
                    pairs.total[1] += 1.0
        if update.learn:
            gather_gradients(plan, slots, pairs, offsets, n_slots, n_targets, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * (block - plan.first_block))
            update_words(text, rows, update, rate, plan, block, slots, thread)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class SiameseCBOWObjective:
    """What `SiameseCBOWVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"]
        self.matrices = [Matrix(fitted["word_vectors_"], fitted["_accumulator"], counts.astype(np.float64))]
        self.border = vectorizer.window
        self.negative = vectorizer.negative
        self.mean = vectorizer.pooling == "mean"
        self.inverse_temperature = 1.0 / vectorizer.temperature

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int) -> Pairs:
        n_targets = plan.runs_per_block * plan.run_length
        n_components = self.matrices[0].weights.shape[1]
        slots = make_slots(plan, n_components)
        return Pairs(
            slots=slots,
            norm=np.zeros(len(slots.scale), np.float32),
            source_gradient=np.zeros((n_targets, n_components), np.float32),
            error=np.zeros((n_targets, 2 * self.border + 1 + self.negative), np.float32),
            offsets=np.zeros((n_threads, self.negative), np.int64),
            loss=np.zeros(n_targets, np.float64),
            total=np.zeros(2, np.float64),
        )

    def run(self, text: EncodedText, rows: list[Rows], scratch: Pairs, plan: Plan, update: Update, *threads: Any):
        train_siamese_cbow(text, rows[0], self.mean, self.inverse_temperature, scratch, plan, update, *threads)


class SiameseCBOWVectorizer(TrainedVectorizer):
    __doc__ = """XX"""

    _parameter_constraints: dict[str, list[Any]] = {
        **TrainedVectorizer._parameter_constraints,
        "window": [Interval(Integral, 1, None, closed="left")],
        "negative": [Interval(Integral, 1, None, closed="left")],
        "temperature": [Interval(Real, 0.0, None, closed="neither")],
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
        temperature: float = 0.1,
        pooling: str = "mean",
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
        self.temperature = temperature
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

    def _make_objective(self, fitted: dict[str, Any]) -> SiameseCBOWObjective:
        return SiameseCBOWObjective(self, fitted)
