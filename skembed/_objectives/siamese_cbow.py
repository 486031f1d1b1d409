r"""Siamese CBOW (Kenter, Borisov and de Rijke, 2016, equation 1).

A sentence is the mean of its words' vectors. The softmax over the cosines with its neighbours and with ``n`` random
sentences that are not its neighbours is to be ``1 / |S+|`` on each neighbour:

.. math::

    p(s_i, s_j) = \frac{\exp(\cos(s_i, s_j) / \tau)}{\sum_{r \in S^+ \cup S^-} \exp(\cos(s_i, s_r) / \tau)}, \qquad
    L = -\sum_i \sum_{j \in S^+_i} \frac{1}{|S^+_i|} \log p(s_i, s_j)
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.buffers import ARRAYS, Arrays
from .._compiled.compile import LEAN, PASTE, lean_kernel
from .._compiled.rows import ONE, add_scaled, combine, copy_scaled, dots, mean_square, prefetch_all, softmax
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


class Pairs(NamedTuple):
    """Work space of one block's pairs of sentences."""

    run_ptr: np.ndarray  # (n_runs + 1,) int64
    slots: Slots
    touches: Touches  # its vectors are the gradients of the slots
    unit: np.ndarray  # (n_slots, n_components) float32, the sums scaled to length one
    norm: np.ndarray  # (n_slots,) float32, the lengths they had
    source_gradient: np.ndarray  # (n_targets, n_components) float32, gradient of the unit vector in the source role
    error: np.ndarray  # (n_targets, 2 * window + 1 + negative) float32
    scores: Scores
    offsets: np.ndarray  # (n_threads, negative) int64
    loss: np.ndarray  # (n_targets,) float64
    total: np.ndarray  # (2,) float64


@njit(**LEAN)
def scale_to_length_one(slots, pairs, first, last):
    for slot in range(first, last):
        if slots.document[slot] >= 0:
            square = mean_square(slots.sums, slot) * np.float32(slots.sums.shape[1])
            if square == 0.0:
                # No direction: the sentence takes no part.
                slots.document[slot] = -1
            else:
                pairs.norm[slot] = np.sqrt(square)
                copy_scaled(pairs.unit, slot, ONE / pairs.norm[slot], slots.sums, slot)


@njit(**PASTE)
def score_pairs(plan, slots, pairs, draws, inverse_temperature, thread, n_threads):
    """Phase 2: each target against its neighbours and the random sentences, eq. 1."""
    first, last = share(draws.n_targets, thread, n_threads)
    span = 2 * plan.border + 1
    values, flat, place = pairs.scores.values, pairs.scores.flat, thread * pairs.scores.values.shape[1]
    candidates, column = pairs.scores.which, pairs.scores.column
    for i in range(first, last):
        slot = slots.of_target[i]
        pairs.loss[i] = -1.0
        n = n_positive = np.int64(0)
        for c in range(span + draws.n_random):
            pairs.error[i, c] = 0.0
            is_near = c < span
            q = slot + c - plan.border if is_near else slots.of_target[random_target(draws, i, c - span)]
            if min(slots.document[slot], slots.document[q]) >= 0 and is_neighbour(slots, plan, slot, q) == is_near:
                candidates[place + n], column[place + n] = q, c
                n += 1
                n_positive += is_near
        if n_positive == 0:
            continue
        dots(values, thread, pairs.unit, slot, pairs.unit, candidates, place, n)
        true_score = np.float32(0.0)
        for c in range(n):
            values[thread, c] *= inverse_temperature
            if c < n_positive:
                true_score += values[thread, c]
        pairs.loss[i] = softmax(values, thread, n) - true_score / n_positive
        for c in range(n):
            if c < n_positive:
                values[thread, c] -= np.float32(1.0 / n_positive)
            values[thread, c] *= inverse_temperature
            pairs.error[i, column[place + c]] = values[thread, c]
        combine(pairs.source_gradient, i, flat, place, pairs.unit, candidates, place, n)


@njit(**PASTE)
def gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads):
    """Phase 3: a sentence's gradient from its roles as source, as random sentence and as neighbour."""
    width = plan.run_length + 2 * plan.border
    span = 2 * plan.border + 1
    first, last = share(n_slots, thread, n_threads)
    index, place = pairs.scores.which, thread * pairs.scores.values.shape[1]
    flat, gradients = pairs.scores.flat, pairs.touches.vectors
    prefetch_all(pairs.error)
    for slot in range(first, last):
        pairs.touches.square[slot] = 0.0
        if slots.document[slot] < 0:
            continue
        run, position = slot // width, slot % width
        i, is_target = run * plan.run_length + position - plan.border, 0 <= position - plan.border < plan.run_length
        n = np.int64(0)
        if is_target:
            for r in range(draws.n_random):
                t = asking_target(draws, i, r)
                if pairs.error[t, span + r] != 0.0:
                    index[place + n], flat[place + n] = slots.of_target[t], pairs.error[t, span + r]
                    n += 1
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            t = run * plan.run_length + j
            source = slots.of_target[t]
            error = pairs.error[t, slot - source + plan.border]
            if error != 0.0:
                index[place + n], flat[place + n] = source, error
                n += 1
        combine(gradients, slot, flat, place, pairs.unit, index, place, n)
        if is_target and pairs.loss[i] != -1.0:
            add_scaled(gradients, slot, ONE, pairs.source_gradient, i)
        # From the unit vector u = s / |s| back to the sentence: ds = (du - (du . u) u) / |s|
        index[place] = slot
        dots(pairs.scores.values, thread, gradients, slot, pairs.unit, index, place, np.int64(1))
        add_scaled(gradients, slot, -flat[place], pairs.unit, slot)
        copy_scaled(gradients, slot, ONE / pairs.norm[slot], gradients, slot)
        pairs.touches.square[slot] = mean_square(gradients, slot)


@lean_kernel
def train_siamese_cbow(text, rows, mean, inverse_temperature, pairs, plan, update, sync, thread, n_threads):
    slots = pairs.slots
    n_passed = np.int64(0)
    for block in range(plan.first_block, plan.last_block):
        first_run, last_run = block_runs(plan, block)
        n_targets = (last_run - first_run) * plan.run_length
        n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
        draws = draw_targets(plan, block, n_targets, pairs.offsets[thread])
        n_passed = sum_sentences(
            text, rows, mean, plan, block, pairs.run_ptr, slots, pairs.touches, sync, n_passed, thread, n_threads
        )
        scale_to_length_one(slots, pairs, *share(n_slots, thread, n_threads))
        n_passed = barrier(sync, n_threads, n_passed)
        score_pairs(plan, slots, pairs, draws, inverse_temperature, thread, n_threads)
        n_passed = barrier(sync, n_threads, n_passed)
        if thread == 0:
            add_losses(pairs.loss, n_targets, pairs.total)
        if update.learn:
            gather_gradients(plan, slots, pairs, draws, n_slots, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
            rate = np.float32(update.rate - update.rate_decay * block)
            update_rows(rows, pairs.touches, update, rate, 0.0, thread, n_threads)
            n_passed = barrier(sync, n_threads, n_passed)
        if n_passed < 0:
            return


class SiameseCBOWObjective:
    """What `SiameseCBOWVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, fitted: dict[str, Any]) -> None:
        counts = fitted["word_counts_"]
        self.matrices = [Matrix.of(fitted, "word_vectors_", lambda: counts.astype(np.float64))]
        self.blocks = SentenceBlocks(int(vectorizer.window))
        self.negative = int(vectorizer.negative)
        self.mean = vectorizer.pooling == "mean"
        self.inverse_temperature = np.float32(1.0 / vectorizer.temperature)

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Arrays = ARRAYS) -> Pairs:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has no more strangers
        n_components = self.matrices[0].weights.shape[1]
        run_ptr, n_words = place_runs(text, plan)
        slots, touches = make_slots(plan, n_words, n_components, n_threads, make)
        n_candidates = 2 * plan.border + 1 + negative
        return Pairs(
            run_ptr=run_ptr,
            slots=slots,
            touches=touches,
            unit=make.zeros((len(slots.sentence), n_components), np.float32),
            norm=make.zeros((len(slots.sentence),), np.float32),
            source_gradient=make.zeros((n_targets, n_components), np.float32),
            error=make.zeros((n_targets, n_candidates), np.float32),
            scores=make_scores(n_candidates, n_threads, make),
            offsets=make.zeros((n_threads, negative), np.int64),
            loss=make.zeros((n_targets,), np.float64),
            total=make.zeros((2,), np.float64),
        )

    def run(
        self, text: EncodedText, rows: list[Rows], scratch: Pairs, plan: Plan, update: Update, *threads: Any
    ) -> None:
        train_siamese_cbow(text, rows[0], self.mean, self.inverse_temperature, scratch, plan, update, *threads)
