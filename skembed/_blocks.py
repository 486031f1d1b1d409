"""Blocks of sentences: which ones, their sums, and how their gradients reach the words.

A block is ``runs_per_block`` runs of ``run_length`` consecutive sentences. Runs are taken in random order, so a block
is a sample of the corpus, and yet each sentence has its neighbours beside it. With a ``border`` the sentences just
before and after a run are there too, as context. Each sentence of a block, border included, has a *slot*.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ._kernels import COMPILE, add_scaled, below, mean_square, random_bits, share, shrink, update_row


class EncodedText(NamedTuple):
    """The corpus as the kernels see it: word ids, sentence borders, the document of each sentence, word weights."""

    tokens: np.ndarray  # (n_tokens,) int32; ids of n_words and above are unknown words, which are skipped
    sent_ptr: np.ndarray  # (n_sentences + 1,) int64
    document: np.ndarray  # (n_sentences,) int64
    word_weight: np.ndarray  # (n_words,) float32


class Plan(NamedTuple):
    """What to work through: the runs in order, and the shape of a block."""

    run_starts: np.ndarray  # (n_runs,) int64, first sentence of each run
    run_length: int
    border: int
    runs_per_block: int
    first_block: int
    last_block: int
    seed: int


class Rows(NamedTuple):
    """A matrix of weights and what its updates need."""

    weights: np.ndarray  # (n_rows, n_components) float32
    accumulator: np.ndarray  # (n_rows,) float32, AdaGrad's sum of squares
    touches: np.ndarray  # (n_rows,) int32, all zero between blocks
    owner_ptr: np.ndarray  # (n_threads + 1,) int64, rows [owner_ptr[t], owner_ptr[t + 1]) belong to thread t


class Update(NamedTuple):
    """How the weights move. ``rate`` falls by ``rate_decay`` with every block."""

    rate: float
    rate_decay: float
    adagrad: bool
    max_touches: int
    learn: bool


class Slots(NamedTuple):
    """The sentences of one block."""

    sums: np.ndarray  # (n_slots, n_components) float32
    gradients: np.ndarray  # (n_slots, n_components) float32
    scale: np.ndarray  # (n_slots,) float32: 1 or 1 / (number of known words); 0 where there is no sentence
    sentence: np.ndarray  # (n_slots,) int64
    document: np.ndarray  # (n_slots,) int64, -1 where there is no sentence


def make_slots(plan, n_components):
    n_slots = plan.runs_per_block * (plan.run_length + 2 * plan.border)
    return Slots(
        np.zeros((n_slots, n_components), np.float32),
        np.zeros((n_slots, n_components), np.float32),
        np.zeros(n_slots, np.float32),
        np.zeros(n_slots, np.int64),
        np.full(n_slots, -1, np.int64),
    )


@njit(**COMPILE)
def block_runs(plan, block):
    """First and last+1 of the runs of a block."""
    first = block * plan.runs_per_block
    return first, min(first + plan.runs_per_block, plan.run_starts.shape[0])


@njit(**COMPILE)
def sum_sentences(text, rows, mean, plan, block, slots, thread, n_threads):
    """Phase 1: ``sums[slot] = sum_j weight_j * word_j`` of each sentence (CBOS, eq. 4), or its mean."""
    first_run, last_run = block_runs(plan, block)
    width = plan.run_length + 2 * plan.border
    n_sentences = text.document.shape[0]
    n_words = text.word_weight.shape[0]
    first, last = share((last_run - first_run) * width, thread, n_threads)
    for slot in range(first, last):
        slots.document[slot] = -1
        slots.scale[slot] = 0.0
        sentence = plan.run_starts[first_run + slot // width] - plan.border + slot % width
        if sentence < 0 or sentence >= n_sentences:
            continue
        total = slots.sums[slot]
        total[:] = 0.0
        n_known = 0
        for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
            word = text.tokens[p]
            if word < n_words:
                n_known += 1
                add_scaled(total, text.word_weight[word], rows.weights[word])
        if n_known == 0:
            continue
        slots.sentence[slot] = sentence
        slots.document[slot] = text.document[sentence]
        slots.scale[slot] = 1.0
        if mean:
            slots.scale[slot] = np.float32(1.0 / n_known)
            total *= slots.scale[slot]


@njit(**COMPILE)
def update_words(text, rows, update, rate, plan, block, slots, thread):
    """Last phase: each sentence's gradient goes to its words, each row by its owner, in the order of the block.

    A row that occurs ``c`` times in a block would take ``c`` steps computed from the same old weights; its steps are
    scaled by ``min(1, max_touches / c)``, which is what keeps large blocks as good as single sentences.
    """
    first_run, last_run = block_runs(plan, block)
    width = plan.run_length + 2 * plan.border
    n_slots = (last_run - first_run) * width
    first_row, last_row = rows.owner_ptr[thread], rows.owner_ptr[thread + 1]
    for counting in (True, False):
        for slot in range(n_slots):
            if slots.scale[slot] == 0.0:
                continue
            sentence = slots.sentence[slot]
            gradient = slots.gradients[slot]
            square = mean_square(gradient)
            if square == 0.0:
                continue
            for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
                word = text.tokens[p]
                if word < first_row or word >= last_row:
                    continue
                if counting:
                    rows.touches[word] += 1
                    continue
                step = rate
                if rows.touches[word] > update.max_touches:
                    step = np.float32(rate * update.max_touches / rows.touches[word])
                scale = slots.scale[slot] * text.word_weight[word]
                update_row(rows.weights, rows.accumulator, word, scale, gradient, square, step, update.adagrad)
    for slot in range(n_slots):
        if slots.scale[slot] == 0.0:
            continue
        sentence = slots.sentence[slot]
        for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
            word = text.tokens[p]
            if first_row <= word < last_row:
                rows.touches[word] = 0


@njit(**COMPILE)
def is_neighbour(slots, plan, a, b):
    """Whether two slots hold different sentences of one document, at most ``border`` places apart.

    They may lie in different runs: a random sentence may be the neighbour that a run has as its border.
    """
    distance = abs(slots.sentence[a] - slots.sentence[b])
    return slots.document[a] == slots.document[b] and slots.document[a] >= 0 and 0 < distance <= plan.border


@njit(**COMPILE)
def draw_offsets(seed, block, n_targets, offsets):
    """Distinct random distances in [1, n_targets): target i is compared with target i + offset of the same block.

    Returns how many there are: fewer than asked for where the block is too small.
    """
    n = min(offsets.shape[0], n_targets - 1)
    draw = 0
    for i in range(n):
        fresh = False
        while not fresh:
            offsets[i] = 1 + below(
                random_bits(np.uint64(seed), np.uint64(1), np.uint64(block), np.uint64(draw)), n_targets - 1
            )
            draw += 1
            fresh = True
            for j in range(i):
                fresh = fresh and offsets[j] != offsets[i]
    return n


@njit(**COMPILE)
def target_slot(plan, i):
    return i // plan.run_length * (plan.run_length + 2 * plan.border) + plan.border + i % plan.run_length


class Edges(NamedTuple):
    """Touches of a matrix: ``rows[row] -= step * scale * vectors[vector]``. A row of -1 is an unused place."""

    row: np.ndarray  # (n_edges,) int32
    vector: np.ndarray  # (n_edges,) int64
    scale: np.ndarray  # (n_edges,) float32
    threshold: np.ndarray  # (n_edges,) float32, multiplies the soft threshold of the L1 norm, where there is one
    vectors: np.ndarray  # (n_vectors, n_components) float32
    square: np.ndarray  # (n_vectors,) float32, the mean square of each vector


def make_edges(n_edges, n_vectors, n_components):
    return Edges(
        np.full(n_edges, -1, np.int32),
        np.zeros(n_edges, np.int64),
        np.zeros(n_edges, np.float32),
        np.zeros(n_edges, np.float32),
        np.zeros((n_vectors, n_components), np.float32),
        np.zeros(n_vectors, np.float32),
    )


@njit(**COMPILE)
def update_edges(rows, edges, n_edges, update, rate, penalty, thread):
    """Last phase of the word-by-word methods; the same rule as `update_words`.

    With ``penalty`` > 0 every touch is followed by the soft threshold of the L1 norm: each number of the row moves
    towards zero by ``step * penalty * threshold``, and stays there.
    """
    first_row, last_row = rows.owner_ptr[thread], rows.owner_ptr[thread + 1]
    for e in range(n_edges):
        if first_row <= edges.row[e] < last_row:
            rows.touches[edges.row[e]] += 1
    for e in range(n_edges):
        row = edges.row[e]
        if row < first_row or row >= last_row:
            continue
        step = rate
        if rows.touches[row] > update.max_touches:
            step = np.float32(rate * update.max_touches / rows.touches[row])
        k = edges.vector[e]
        update_row(
            rows.weights, rows.accumulator, row, edges.scale[e], edges.vectors[k], edges.square[k], step, update.adagrad
        )
        if penalty > 0.0:
            shrink(rows.weights[row], np.float32(step * penalty * edges.threshold[e]))
    for e in range(n_edges):
        if first_row <= edges.row[e] < last_row:
            rows.touches[edges.row[e]] = 0


@njit(**COMPILE)
def list_sentences(text, plan, block, first_token, sentence):
    """The sentences of a block and where each one's tokens have their places; returns how many."""
    first_run, last_run = block_runs(plan, block)
    n = 0
    first_token[0] = 0
    for run in range(first_run, last_run):
        start = plan.run_starts[run]
        for s in range(start, min(start + plan.run_length, text.document.shape[0])):
            sentence[n] = s
            first_token[n + 1] = first_token[n] + text.sent_ptr[s + 1] - text.sent_ptr[s]
            n += 1
    return n


def largest_block(text, plan):
    """Most sentences and most tokens that any block holds."""
    starts = plan.run_starts
    lengths = text.sent_ptr[np.minimum(starts + plan.run_length, len(text.document))] - text.sent_ptr[starts]
    n_tokens = np.add.reduceat(lengths, np.arange(0, len(starts), plan.runs_per_block)).max()
    return min(plan.runs_per_block, len(starts)) * plan.run_length, max(1, int(n_tokens))


def keep_probability(counts: np.ndarray, n_tokens: int, subsample: float) -> np.ndarray:
    """``q_p(w) = min(1, sqrt(t / f_w) + t / f_w)``, the probability that an occurrence of a word is taken."""
    ratio = subsample * n_tokens / np.maximum(counts, 1)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
