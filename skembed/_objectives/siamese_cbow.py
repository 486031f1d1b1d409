r"""Siamese CBOW (Kenter, Borisov and de Rijke, 2016, equation 1).

A sentence is the mean of its words' vectors. The softmax over its cosines with its neighbours and with ``n`` random
sentences that are not its neighbours approaches ``1 / |S+|`` on each neighbour:

.. math::

    p(s_i, s_j) = \frac{\exp(\cos(s_i, s_j) / \tau)}{\sum_{r \in S^+ \cup S^-} \exp(\cos(s_i, s_r) / \tau)}, \qquad
    L = -\sum_i \sum_{j \in S^+_i} \frac{1}{|S^+_i|} \log p(s_i, s_j)
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator
from .._compiled.compile import INLINE_NUMBA, NO_REFCOUNT, lean_kernel
from .._compiled.rows import ONE, Selection, add_scaled, combine, copy_scaled, dots, mean_square, softmax
from .._compiled.sync import Team, barrier, partition
from .._training.encoded_text import EncodedText, Plan, SentenceBlocks, block_of
from .._training.learned_arrays import Rows, Update
from .._training.sentence_blocks import (
    Bag,
    Losses,
    Sentences,
    draw_targets,
    end_block,
    is_negative,
    is_neighbour,
    make_losses,
    make_sentences,
    random_target,
    source_matrix,
    sum_sentences,
    target_compared_with,
)
from .._training.state import FittedState
from .._training.trainer import KernelObjective


class CosineOptions(NamedTuple):
    """What a sentence is, and how sharp the softmax of the cosines is."""

    bag: Bag
    inverse_temperature: np.float32


class Cosines(NamedTuple):
    """Scratch space of one block."""

    losses: Losses
    sentences: Sentences  # the columns of `error`: 2 * window + 1 around the target, then the random sentences
    unit: np.ndarray  # (n_members, n_components) float32, the sums scaled to length one
    norm: np.ndarray  # (n_members,) float32, the lengths they had
    source_gradient: np.ndarray  # (n_targets, n_components) float32, gradient of the unit vector in the source role


@njit(**NO_REFCOUNT)
def scale_to_length_one(scratch, first, last):
    sentences = scratch.sentences
    for member in range(first, last):
        if sentences.document[member] >= 0:
            square = mean_square(sentences.sums, member) * np.float32(sentences.sums.shape[1])
            if square == 0.0:
                # A sentence without a direction is left out.
                sentences.document[member] = -1
            else:
                scratch.norm[member] = np.sqrt(square)
                copy_scaled(scratch.unit, member, ONE / scratch.norm[member], sentences.sums, member)


@njit(**INLINE_NUMBA)
def score_cosines(plan, scratch, random, inverse_temperature, team):
    """Phase 2: each target against its neighbours and the random sentences, eq. 1."""
    sentences, losses, n_near = scratch.sentences, scratch.losses, 2 * plan.border + 1
    error, scores = sentences.error, sentences.scores
    values, thread, buffer = scores.values, team.thread, team.thread * scores.values.shape[1]
    first, last = partition(random.n_targets, team)
    for i in range(first, last):
        member = sentences.of_target[i]
        losses.loss[i], losses.n_targets[i] = 0.0, 0
        n = n_positive = np.int64(0)
        for c in range(n_near + random.n_random):
            error[i, c] = 0.0
            is_near = c < n_near
            q = member + c - plan.border if is_near else sentences.of_target[random_target(random, i, c - n_near)]
            if sentences.document[member] >= 0 and (
                is_neighbour(sentences, plan, member, q) if is_near else is_negative(sentences, plan, member, q)
            ):
                scores.which[buffer + n], scores.column[buffer + n] = q, c
                n += 1
                n_positive += is_near
        if n_positive == 0:
            continue
        dots(values, thread, scratch.unit, member, Selection(scratch.unit, scores.which, buffer, n))
        true_score = np.float32(0.0)
        for c in range(n):
            values[thread, c] *= inverse_temperature
            if c < n_positive:
                true_score += values[thread, c]
        losses.loss[i], losses.n_targets[i] = softmax(values, thread, n) - true_score / n_positive, 1
        for c in range(n):
            if c < n_positive:
                values[thread, c] -= np.float32(1.0 / n_positive)
            values[thread, c] *= inverse_temperature
            error[i, scores.column[buffer + c]] = values[thread, c]
        combine(scratch.source_gradient, i, scores.flat, buffer, Selection(scratch.unit, scores.which, buffer, n))


@njit(**INLINE_NUMBA)
def gather_cosine_gradients(plan, scratch, random, block, team):
    """Phase 3: a sentence's gradient from its roles as source, as random sentence and as neighbour."""
    sentences, losses = scratch.sentences, scratch.losses
    error, scores, gradient = sentences.error, sentences.scores, sentences.gradient
    width, n_near = plan.run_length + 2 * plan.border, 2 * plan.border + 1
    vectors, buffer = gradient.vectors, team.thread * scores.values.shape[1]
    first, last = partition(block.n_members, team)
    for member in range(first, last):
        gradient.square[member] = 0.0
        if sentences.document[member] < 0:
            continue
        run, position = member // width, member % width
        i, is_target = run * plan.run_length + position - plan.border, 0 <= position - plan.border < plan.run_length
        n = np.int64(0)
        if is_target:
            for r in range(random.n_random):
                t = target_compared_with(random, i, r)
                if error[t, n_near + r] != 0.0:
                    scores.which[buffer + n], scores.flat[buffer + n] = sentences.of_target[t], error[t, n_near + r]
                    n += 1
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            t = run * plan.run_length + j
            source = sentences.of_target[t]
            error_of_member = error[t, member - source + plan.border]
            if error_of_member != 0.0:
                scores.which[buffer + n], scores.flat[buffer + n] = source, error_of_member
                n += 1
        combine(vectors, member, scores.flat, buffer, Selection(scratch.unit, scores.which, buffer, n))
        if is_target and losses.n_targets[i] > 0:
            add_scaled(vectors, member, ONE, scratch.source_gradient, i)
        # From the unit vector u = s / |s| back to the sentence: ds = (du - (du . u) u) / |s|
        scores.which[buffer] = member
        dots(scores.values, team.thread, vectors, member, Selection(scratch.unit, scores.which, buffer, np.int64(1)))
        add_scaled(vectors, member, -scores.flat[buffer], scratch.unit, member)
        copy_scaled(vectors, member, ONE / scratch.norm[member], vectors, member)
        gradient.square[member] = mean_square(vectors, member)


@lean_kernel
def train_siamese_cbow(text, rows, options, scratch, plan, update, team):
    sentences = scratch.sentences
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        random = draw_targets(plan, block, sentences.offsets[team.thread])
        first, last = sum_sentences(text, rows, options.bag, plan, block, sentences, team)
        scale_to_length_one(scratch, first, last)
        barrier(team)
        score_cosines(plan, scratch, random, options.inverse_temperature, team)
        if update.learn:
            barrier(team)
            gather_cosine_gradients(plan, scratch, random, block, team)
        if end_block(((rows, sentences.gradient),), update, scratch.losses, block, team):
            return


class SiameseCBOWObjective(KernelObjective):
    """What `SiameseCBOWVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        self.bag = Bag.of(vectorizer, state)
        self.matrices = [source_matrix(state, self.bag.max_order)]
        self.blocks = SentenceBlocks(int(vectorizer.window))
        self.negative = int(vectorizer.negative)
        self.inverse_temperature = np.float32(1.0 / vectorizer._option("temperature", state))

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Cosines:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has only that many other targets
        n_components = self.matrices[0].weights.shape[1]
        n_scores = 2 * plan.border + 1 + negative
        sentences = make_sentences(text, plan, self.bag, n_components, negative, n_scores, n_threads, make)
        return Cosines(
            losses=make_losses(n_targets, make),
            sentences=sentences,
            unit=make.zeros((len(sentences.sentence), n_components), np.float32),
            norm=make.zeros((len(sentences.sentence),), np.float32),
            source_gradient=make.zeros((n_targets, n_components), np.float32),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Cosines, plan: Plan, update: Update, team: Team
    ) -> None:
        bag = self.bag if update.learn else self.bag._replace(kept=1.0)
        text = text._replace(annotations=())
        train_siamese_cbow(text, rows[0], CosineOptions(bag, self.inverse_temperature), scratch, plan, update, team)
