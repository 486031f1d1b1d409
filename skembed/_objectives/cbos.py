r"""Continuous Bag of Sentences (paper: Continuous Bag-of-Sentences, equations 4 to 7).

A sentence is the sum of its words' vectors, its context the mean of the sums of the sentences around it. The softmax
over the sentence and ``m`` random sentences predicts the sentence from its context:

.. math::

    s_i = \sum_j w_{ij}, \qquad
    c_i = \frac{1}{|N_i|} \sum_{j \in N_i} s_j, \qquad
    L = -\sum_i \log \frac{\exp(s_i \cdot c_i)}{\sum_{j \in \{i\} \cup M_i} \exp(s_j \cdot c_i)}
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._compiled.arrays import ALLOCATOR, Allocator
from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, lean_kernel
from .._compiled.rows import ONE, Selection, add_scaled, combine, dots, mean_square, softmax
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


class Contexts(NamedTuple):
    """Scratch space of one block."""

    losses: Losses
    sentences: Sentences  # the columns of `error`: softmax minus the true distribution
    context: np.ndarray  # (n_targets, n_components) float32, eq. 5
    context_gradient: np.ndarray  # (n_targets, n_components) float32, already divided by the number of neighbours


@njit(**INLINE_LLVM)
def mean_of_neighbours(plan, sentences, i, context, buffer):
    """Eq. 5: ``context[i]`` is the mean of the sums of the neighbours of target i; returns their number."""
    member, scores = sentences.of_target[i], sentences.scores
    n = np.int64(0)
    for q in range(member - plan.border, member + plan.border + 1):
        if is_neighbour(sentences, plan, member, q):
            scores.which[buffer + n] = q
            n += 1
    for c in range(n):
        scores.flat[buffer + c] = ONE / np.float32(n)
    if n > 0:
        combine(context, i, scores.flat, buffer, Selection(sentences.sums, scores.which, buffer, n))
    return n


@njit(**INLINE_NUMBA)
def score_contexts(plan, scratch, random, team):
    """Phase 2: eq. 5 and 6. Each target's context against the target and the random sentences."""
    sentences, losses = scratch.sentences, scratch.losses
    error, scores = sentences.error, sentences.scores
    values, thread, buffer = scores.values, team.thread, team.thread * scores.values.shape[1]
    first, last = partition(random.n_targets, team)
    for i in range(first, last):
        member = sentences.of_target[i]
        losses.loss[i], losses.n_targets[i] = 0.0, 0
        for c in range(error.shape[1]):
            error[i, c] = 0.0
        if sentences.document[member] < 0:
            continue
        n_context = mean_of_neighbours(plan, sentences, i, scratch.context, buffer)
        if n_context == 0:
            continue
        scores.which[buffer], scores.column[buffer] = member, 0
        n = np.int64(1)
        for r in range(random.n_random):
            q = sentences.of_target[random_target(random, i, r)]
            if is_negative(sentences, plan, member, q):
                scores.which[buffer + n], scores.column[buffer + n] = q, 1 + r
                n += 1
        dots(values, thread, scratch.context, i, Selection(sentences.sums, scores.which, buffer, n))
        true_score = values[thread, 0]
        losses.loss[i], losses.n_targets[i] = softmax(values, thread, n) - true_score, 1
        values[thread, 0] -= ONE
        for c in range(n):
            error[i, scores.column[buffer + c]] = values[thread, c]
            values[thread, c] /= np.float32(n_context)
        combine(scratch.context_gradient, i, scores.flat, buffer, Selection(sentences.sums, scores.which, buffer, n))


@njit(**INLINE_NUMBA)
def gather_context_gradients(plan, scratch, random, block, team):
    """Phase 3: a sentence's gradient from its roles as target, as random sentence and as neighbour."""
    sentences, width = scratch.sentences, plan.run_length + 2 * plan.border
    error, gradient, scores = sentences.error, sentences.gradient, sentences.scores
    buffer = team.thread * scores.values.shape[1]
    first, last = partition(block.n_members, team)
    for member in range(first, last):
        gradient.square[member] = 0.0
        if sentences.document[member] < 0:
            continue
        run, position = member // width, member % width
        n = np.int64(0)
        if plan.border <= position < plan.border + plan.run_length:
            i = run * plan.run_length + position - plan.border
            for r in range(1 + random.n_random):
                t = i if r == 0 else target_compared_with(random, i, r - 1)
                if error[t, r] != 0.0:
                    scores.which[buffer + n], scores.flat[buffer + n] = t, error[t, r]
                    n += 1
        combine(gradient.vectors, member, scores.flat, buffer, Selection(scratch.context, scores.which, buffer, n))
        for j in range(max(0, position - 2 * plan.border), min(plan.run_length, position + 1)):
            i = run * plan.run_length + j
            if error[i, 0] != 0.0 and is_neighbour(sentences, plan, member, sentences.of_target[i]):
                add_scaled(gradient.vectors, member, ONE, scratch.context_gradient, i)
        gradient.square[member] = mean_square(gradient.vectors, member)


@lean_kernel
def train_cbos(text, rows, bag, scratch, plan, update, team):
    sentences = scratch.sentences
    for index in range(plan.first_block, plan.last_block):
        block = block_of(plan, index)
        random = draw_targets(plan, block, sentences.offsets[team.thread])
        sum_sentences(text, rows, bag, plan, block, sentences, team)
        barrier(team)
        score_contexts(plan, scratch, random, team)
        if update.learn:
            barrier(team)
            gather_context_gradients(plan, scratch, random, block, team)
        if end_block(((rows, sentences.gradient),), update, scratch.losses, block, team):
            return


class CBOSObjective(KernelObjective):
    """What `CBOSVectorizer` brings to the training loop."""

    def __init__(self, vectorizer: Any, state: FittedState) -> None:
        self.bag = Bag.of(vectorizer, state)
        self.matrices = [source_matrix(state, self.bag.max_order)]
        self.blocks = SentenceBlocks(int(vectorizer.window))
        self.negative = int(vectorizer.negative)

    def make_scratch(self, text: EncodedText, plan: Plan, n_threads: int, make: Allocator = ALLOCATOR) -> Contexts:
        n_targets = plan.runs_per_block * plan.run_length
        negative = min(self.negative, n_targets - 1)  # a block has only that many other targets
        n_components = self.matrices[0].weights.shape[1]
        shape = n_targets, n_components
        return Contexts(
            losses=make_losses(n_targets, make),
            sentences=make_sentences(text, plan, self.bag, n_components, negative, 1 + negative, n_threads, make),
            **make.named(context=(shape, np.float32), context_gradient=(shape, np.float32)),
        )

    def train(
        self, text: EncodedText, rows: list[Rows], scratch: Contexts, plan: Plan, update: Update, team: Team
    ) -> None:
        bag = self.bag if update.learn else self.bag._replace(kept=1.0)
        text = text._replace(annotations=())
        train_cbos(text, rows[0], bag, scratch, plan, update, team)
