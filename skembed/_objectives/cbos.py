r"""Continuous Bag of Sentences (paper: Continuous Bag-of-Sentences, equations 4 to 7).

A sentence is the sum of its words' vectors, its context the mean of the sums of the sentences around it, and the
softmax over the true sentence and ``m`` random sentences is to find the true one:

.. math::

    s_i = \sum_j w_{ij}, \qquad
    c_i = \frac{1}{|N_i|} \sum_{j \in N_i} s_j, \qquad
    L = -\sum_i \log \frac{\exp(s_i \cdot c_i)}{\sum_{j \in \{i\} \cup M_i} \exp(s_j \cdot c_i)}
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.buffers import ARRAYS, Arrays
from .._compiled.compile import PASTE, lean_kernel
from .._compiled.rows import ONE, add_scaled, combine, dots, mean_square, prefetch_all, softmax
from .._compiled.sync import barrier, share
from .._training.encoded_text import EncodedText, Plan, block_runs, place_runs
from .._training.plan import SentenceBlocks
from .._training.sentence_blocks import (
    Scores,
    Slots,
    add_losses,
    asking_target,
    draw_targets,
    is_neighbour,
    make_scores,
    make_slots,
    random_target,
    sum_sentences,
)
from .._training.trainer import Matrix
from .._training.updates import Rows, Touches, Update, update_rows


class Targets(NamedTuple):
    """Work space of one block's targets."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    slots: Slots
    touches: Touches  # its vectors are the gradients of the slots
    context: np.ndarray  # (n_targets, n_components) float32, eq. 5
    context_gradient: np.ndarray  # (n_targets, n_components) float32, already divided by the number of neighbours
    error: np.ndarray  # (n_targets, 1 + negative) float32, softmax minus the true distribution
    scores: Scores
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64: sum of the losses, number of targets


@njit(**PASTE)
def score_targets(plan, slots, targets, draws, thread, n_threads):
    """Phase 2: eq. 5 and 6. Each target's context against the target and the random sentences."""
    first, last = share(draws.n_targets, thread, n_threads)
    values, flat, place = targets.scores.values, targets.scores.flat, thread * targets.scores.values.shape[1]
    candidates, column = targets.scores.which, targets.scores.column
    for i in range(first, last):
        slot = slots.of_target[i]
        targets.loss[i] = -1.0
        for c in range(targets.error.shape[1]):
            targets.error[i, c] = 0.0
        if slots.document[slot] < 0:
            continue
        n_context = np.int64(0)
        for q in range(slot - plan.border, slot + plan.border + 1):
            if is_neighbour(slots, plan, slot, q):
                candidates[place + n_context] = q
                n_context += 1
        if n_context == 0:
            continue
        for c in range(n_context):
            flat[place + c] = ONE / np.float32(n_context)
        combine(targets.context, i, flat, place, slots.sums, candidates, place, n_context)
        candidates[place] = slot
        n = np.int64(1)
        for r in range(draws.n_random):
            q = slots.of_target[random_target(draws, i, r)]
            if slots.document[q] >= 0 and not is_neighbour(slots, plan, slot, q):
                candidates[place + n], column[place + n] = q, 1 + r
                n += 1
        dots(values, thread, targets.context, i, slots.sums, candidates, place, n)
        true_score = values[thread, 0]
        targets.loss[i] = softmax(values, thread, n) - true_score
        values[thread, 0] -= ONE
        targets.error[i, 0] = values[thread, 0]
        for c in range(1, n):
            targets.error[i, column[place + c]] = values[thread, c]
        for c in range(n):
            values[thread, c] /= np.float32(n_context)
        combine(targets.context_gradient, i, flat, place, slots.sums, candidates, place, n)


@njit(**PASTE)
def gather_gradients(plan, slots, targets, draws, n_slots, thread, n_threads):
    """Phase 3: a sentence's gradient from its roles as target, as random sentence and as neighbour."""
    width = plan.run_length + 2 * plan.border
    first, last = share(n_slots, thread, n_threads)
    index, place = targets.scores.which, thread * targets.scores.values.shape[1]
    flat, gradients = targets.scores.flat, targets.touches.vectors
    prefetch_all(targets.error)
    for slot in range(first, last):
        targets.touches.square[slot] = 0.0
        if slots.document[slot] < 0:
            continue
        run, position = slot // width, slot % width
        n = np.int64(0)
        if plan.border <= position < plan.border + plan.run_length:
            i = run * plan.run_length + position - plan.border
            for r in range(1 + draws.n_random):
                t = i if r == 0 else asking_target(draws, i, r - 1)
                if targets.error[t, r] != 0.0:
                    index[place + n], flat[place + n] = t, targets.error[t, r]
                    n += 1
        combine(gradients, slot, flat, place, targets.context, index, place, n)
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            i = run * plan.run_length + j
            if targets.error[i, 0] != 0.0 and is_neighbour(slots, plan, slot, slots.of_target[i]):
                add_scaled(gradients, slot, ONE, targets.context_gradient, i)
        targets.touches.square[slot] = mean_square(gradients, slot)


@lean_kernel
def train_cbos(text, rows, mean, targets, plan, update, sync, thread, n_threads):
    slots = targets.slots
    n_passed = np.int64(0)
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        draws = draw_targets(plan, block, n_targets, targets.offsets[thread])
        n_passed = sum_sentences(
            text, rows, mean, plan, block, targets.run_ptr, slots, targets.touches, sync, n_passed, thread, n_threads
        )
        n_passed = barrier(sync, n_threads, n_passed)
        score_targets(plan, slots, targets, draws, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            add_losses(targets.loss, n_targets, targets.total)
        if update.learn:
            gather_gradients(plan, slots, targets, draws, n_slots, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * block)
            update_rows(rows, targets.touches, update, rate, 0.0, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class CBOSObjective:
    """What `CBOSVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"]
        self.matrices = [Matrix.of(fitted, "word_vectors_", lambda: counts.astype(np.float64))]
        self.blocks = SentenceBlocks(int(vectorizer.window))
        self.negative = int(vectorizer.negative)
        self.mean = vectorizer.pooling == "mean"

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Targets:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has no more strangers
        n_components = self.matrices[0].weights.shape[1]
        run_ptr, n_words = place_runs(text, plan)
        slots, touches = make_slots(plan, n_words, n_components, n_threads, make)
        return Targets(
            run_ptr=run_ptr,
            slots=slots,
            touches=touches,
            context=make.zeros((n_targets, n_components), np.float32),
            context_gradient=make.zeros((n_targets, n_components), np.float32),
            error=make.zeros((n_targets, 1 + negative), np.float32),
            scores=make_scores(max(1 + negative, 2 * plan.border), n_threads, make),
            offsets=make.zeros((n_threads, negative), np.int64),
            loss=make.zeros((n_targets,), np.float64),
            total=make.zeros((2,), np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Targets, plan: Plan, update: Update, *threads: Any
    ) -> None:
        train_cbos(text, rows[0], self.mean, scratch, plan, update, *threads)
