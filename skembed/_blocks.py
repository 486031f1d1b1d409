"""Blocks of sentences: which ones, who works on what, their sums, and how their gradients reach the words.

A block is ``runs_per_block`` runs of ``run_length`` consecutive sentences. Runs are taken in random order, so a block
is a sample of the corpus, and yet each sentence has its neighbours beside it. With a ``border`` the sentences just
before and after a run are there too, as context. Each sentence of a block, border included, has a *slot*.

A *touch* is one step of one row: a row number, the vector that moves it, and a scale. Each thread lists the touches of
its own sentences and deals them out to the owners of the rows; then each owner takes the steps of its rows, in the
order of the block.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from ._compile import INLINE, LEAN
from ._kernels import below, random_bits, width_apart, zeros_apart
from ._simd import prefetch_item
from ._vectors import add_scaled, combine, prefetch_row, prefetch_row_to_write

# Below this a row has felt nothing but rounding, and the square root's reciprocal may overflow in single precision.
SMALLEST_ACCUMULATOR = np.float32(1e-30)
# What a sentence costs beside its words, in words; for sharing out the work.
WORDS_PER_SENTENCE = 8
# How many touches ahead the rows are fetched from memory, and how many runs ahead their words.
_AHEAD, _RUNS_AHEAD = 8, 2


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
    n_touches: np.ndarray  # (n_rows,) int32, all zero between blocks
    owner: np.ndarray  # (n_rows,) int16, the thread that updates each row; empty if there is but one


class Update(NamedTuple):
    """How the weights move. ``rate`` is that of block 0, and falls by ``rate_decay`` with every block."""

    rate: float
    rate_decay: float
    adagrad: bool
    max_touches: int
    learn: bool


class Slots(NamedTuple):
    """The sentences of one block."""

    sums: np.ndarray  # (n_slots, n_components) float32
    sentence: np.ndarray  # (n_slots,) int64
    document: np.ndarray  # (n_slots,) int64, -1 where there is no sentence


class Touches(NamedTuple):
    """The steps that a block takes in one matrix: ``weights[row] -= step * scale * vectors[vector]``.

    A thread's touches lie together in the order of the block, and `order` has them sorted by owner.
    """

    row: np.ndarray  # (n_touches,) int32
    vector: np.ndarray  # (n_touches,) int32
    scale: np.ndarray  # (n_touches,) float32
    threshold: np.ndarray  # (n_touches,) float32, multiplies the soft threshold of the L1 norm, where there is one
    order: np.ndarray  # (n_touches,) int32, places in the arrays above
    dealt: np.ndarray  # (n_threads, more than n_threads) int64: [t, o] is where in `order` t's touches for o begin
    vectors: np.ndarray  # (n_vectors, n_components) float32
    square: np.ndarray  # (n_vectors,) float32, the mean square of each vector


class Scores(NamedTuple):
    """Room for the scores of one vector against others, a row for each thread."""

    values: np.ndarray  # (n_threads, n) float32, n a multiple of 16
    flat: np.ndarray  # the same memory as one dimension
    which: np.ndarray  # (n_threads * n,) int32, the numbers of the others
    column: np.ndarray  # (n_threads * n,) int32, where the error of each score goes


def make_slots(plan, n_components):
    n_slots = plan.runs_per_block * (plan.run_length + 2 * plan.border)
    sentence, document = zeros_apart(n_slots, np.int64), zeros_apart(n_slots, np.int64)
    document -= 1
    return Slots(zeros_apart((n_slots, n_components), np.float32), sentence, document)


def make_touches(n_touches, n_vectors, n_components, n_threads):
    return Touches(
        zeros_apart(n_touches, np.int32),
        zeros_apart(n_touches, np.int32),
        zeros_apart(n_touches, np.float32),
        zeros_apart(n_touches, np.float32),
        zeros_apart(n_touches if n_threads > 1 else 0, np.int32),
        zeros_apart((n_threads, width_apart(n_threads + 1)), np.int64),
        zeros_apart((n_vectors, n_components), np.float32),
        zeros_apart(n_vectors, np.float32),
    )


def make_scores(n, n_threads):
    values = zeros_apart((n_threads, width_apart(n)), np.float32)
    return Scores(values, values.reshape(-1), *zeros_apart((2, values.size), np.int32))


def place_runs(text, plan):
    """How many words all runs before a run have, borders included, (n_runs + 1,) int64; and the most of any block."""
    first = np.maximum(plan.run_starts - plan.border, 0)
    last = np.minimum(plan.run_starts + plan.run_length + plan.border, len(text.document))
    run_ptr = np.zeros(len(first) + 1, np.int64)
    np.cumsum(text.sent_ptr[last] - text.sent_ptr[first], out=run_ptr[1:])
    of_block = np.diff(np.append(run_ptr[: -1 : plan.runs_per_block], run_ptr[-1]))
    return run_ptr, max(1, int(of_block.max()))


@njit(**INLINE)
def block_runs(plan, block):
    """First and last+1 of the runs of a block."""
    first = block * plan.runs_per_block
    return first, min(first + plan.runs_per_block, plan.run_starts.shape[0])


@njit(**LEAN)
def _first_run_of(thread, n_threads, run_ptr, first_run, last_run):
    n_runs = last_run - first_run
    work = run_ptr[last_run] - run_ptr[first_run] + n_runs * WORDS_PER_SENTENCE
    wanted = work * thread // n_threads
    low, high = first_run, last_run
    while low < high:
        middle = (low + high) // 2
        if run_ptr[middle] - run_ptr[first_run] + (middle - first_run) * WORDS_PER_SENTENCE < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(**LEAN)
def share_runs(run_ptr, first_run, last_run, thread, n_threads):
    """First and last+1 of a thread's runs: contiguous, with about the same number of words for each thread."""
    return (
        _first_run_of(thread, n_threads, run_ptr, first_run, last_run),
        _first_run_of(thread + 1, n_threads, run_ptr, first_run, last_run),
    )


@njit(**INLINE)
def prefetch_run(text, plan, run):
    """Ask for the words of a run that comes soon; where they are must have been asked for before that."""
    n_runs = plan.run_starts.shape[0]
    prefetch_item(text.sent_ptr, plan.run_starts[min(run + 2 * _RUNS_AHEAD, n_runs - 1)])
    first = text.sent_ptr[max(plan.run_starts[min(run + _RUNS_AHEAD, n_runs - 1)] - plan.border, 0)]
    prefetch_item(text.tokens, first)
    prefetch_item(text.tokens, first + 16)


@njit(**INLINE)
def prefetch_next_words(text, plan, run, position, weights, table):
    """Ask for the rows of the words of the sentence that a block has next, and for their places in a table.

    ``position`` is the place in the run of the sentence at hand, the border before the run included.
    """
    if position == plan.run_length + 2 * plan.border - 1:
        run, position = min(run + 1, plan.run_starts.shape[0] - 1), -1
    following = plan.run_starts[run] - plan.border + position + 1
    following = max(0, min(following, text.document.shape[0] - 1))
    for p in range(text.sent_ptr[following], text.sent_ptr[following + 1]):
        word = min(np.int64(text.tokens[p]), table.shape[0] - 1)
        prefetch_row(weights, word)
        prefetch_item(table, word)


@njit(**INLINE)
def sentence_of_block(text, plan, run_ptr, block_start, i, weights, table):
    """Sentence number i of a block whose first run is ``block_start``, and how many words stand before it there.

    The last run may go past the end of the text; there the number is -1. For blocks without a border. What the next
    sentence will need of the weights and of a table of words is asked for.
    """
    run, position = block_start + i // plan.run_length, i % plan.run_length
    if position == 0:
        prefetch_run(text, plan, run)
    start = plan.run_starts[run]
    sentence = start + position
    if sentence >= text.document.shape[0]:
        return np.int64(-1), np.int64(0)
    prefetch_next_words(text, plan, run, position, weights, table)
    return sentence, run_ptr[run] - run_ptr[block_start] + text.sent_ptr[sentence] - text.sent_ptr[start]


@njit(**INLINE)
def prefetch_draw(bits, threshold, alias):
    """Ask for what `alias_draw` will look up."""
    row = below(bits, threshold.shape[0])
    prefetch_item(threshold, row)
    prefetch_item(alias, row)


@njit(**LEAN)
def sum_sentences(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads):
    """Phase 1: ``sums[slot] = sum_j weight_j * word_j`` of each sentence (CBOS, eq. 4), or its mean.

    The words are listed as touches, for the sentence's gradient will go to them with the same weights. Returns the
    first and last+1 of the thread's slots.
    """
    block_start, block_end = block_runs(plan, block)
    first_run, last_run = share_runs(run_ptr, block_start, block_end, thread, n_threads)
    width = plan.run_length + 2 * plan.border
    n_sentences = text.document.shape[0]
    n_words = text.word_weight.shape[0]
    start = place = run_ptr[first_run] - run_ptr[block_start]
    first_slot, last_slot = (first_run - block_start) * width, (last_run - block_start) * width
    for slot in range(first_slot, last_slot):
        run, position = block_start + slot // width, slot % width
        if position == 0:
            prefetch_run(text, plan, run)
        slots.document[slot] = -1
        sentence = plan.run_starts[run] - plan.border + position
        if sentence < 0 or sentence >= n_sentences:
            continue
        prefetch_next_words(text, plan, run, position, rows.weights, text.word_weight)
        first_word = place
        for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
            word = text.tokens[p]
            if word < n_words:
                touches.row[place] = word
                touches.vector[place] = slot
                touches.scale[place] = text.word_weight[word]
                place += 1
        n_known = place - first_word
        if n_known == 0:
            continue
        if mean:
            for k in range(first_word, place):
                touches.scale[k] /= np.float32(n_known)
        slots.sentence[slot] = sentence
        slots.document[slot] = text.document[sentence]
        combine(slots.sums, slot, touches.scale, first_word, 1, rows.weights, touches.row, first_word, n_known)
    deal(touches, rows.owner, start, place, thread, n_threads)
    return first_slot, last_slot


@njit(**LEAN)
def deal(touches, owner, first, last, thread, n_threads):
    """Sort a thread's touches by the owner of the row, keeping their order."""
    dealt = touches.dealt
    if n_threads == 1:
        dealt[0, 0], dealt[0, 1] = first, last
        return
    for o in range(n_threads + 1):
        dealt[thread, o] = 0
    for k in range(first, last):
        dealt[thread, owner[touches.row[k]] + 1] += 1
    dealt[thread, 0] = first
    for o in range(n_threads):
        dealt[thread, o + 1] += dealt[thread, o]
    for k in range(first, last):
        o = owner[touches.row[k]]
        touches.order[dealt[thread, o]] = k
        dealt[thread, o] += 1
    # Each border has moved to the next one's place.
    for o in range(n_threads, 0, -1):
        dealt[thread, o] = dealt[thread, o - 1]
    dealt[thread, 0] = first


@njit(**LEAN)
def shrink(weights, row, threshold):
    """Soft threshold: move every number of a row towards zero by ``threshold``, not past it."""
    for c in range(weights.shape[1]):
        weights[row, c] = math.copysign(max(abs(weights[row, c]) - threshold, np.float32(0.0)), weights[row, c])


@njit(**INLINE)
def take_step(rows, row, scale, vectors, vector, square, step, adagrad):
    """One touch of one row: ``row -= step * scale * vector``.

    AdaGrad with one accumulator a row (Duchi et al., 2011): the accumulator grows by the mean over the dimensions of
    the squared gradient, and the step is divided by its root. ``square`` is the mean square of the vector.
    """
    if adagrad:
        rows.accumulator[row] += scale * scale * square
        if rows.accumulator[row] < SMALLEST_ACCUMULATOR:
            return
        step /= np.float32(math.sqrt(rows.accumulator[row]))
    add_scaled(rows.weights, row, -step * scale, vectors, vector)


@njit(**LEAN)
def update_rows(rows, touches, update, rate, penalty, thread, n_threads):
    """Last phase: the steps of a thread's rows, in the order of the block.

    A row that occurs ``c`` times in a block would take ``c`` steps computed from the same old weights; its steps are
    scaled by ``min(1, max_touches / c)``, which is what keeps large blocks as good as single sentences.

    With ``penalty`` > 0 every touch is followed by the soft threshold of the L1 norm: each number of the row moves
    towards zero by ``step * penalty * threshold``, and stays there. Otherwise a vector of zeros touches nothing.
    """
    for t in range(n_threads):
        for k in range(touches.dealt[t, thread], touches.dealt[t, thread + 1]):
            e = touches.order[k] if n_threads > 1 else k
            if touches.square[touches.vector[e]] != 0.0 or penalty > 0.0:
                rows.n_touches[touches.row[e]] += 1
    for t in range(n_threads):
        last = touches.dealt[t, thread + 1]
        for k in range(touches.dealt[t, thread], last):
            if k + _AHEAD < last:
                row = touches.row[touches.order[k + _AHEAD] if n_threads > 1 else k + _AHEAD]
                prefetch_item(rows.accumulator, row)
                prefetch_row_to_write(rows.weights, row)
            e = touches.order[k] if n_threads > 1 else k
            row, vector = touches.row[e], touches.vector[e]
            square = touches.square[vector]
            if square == 0.0 and penalty == 0.0:
                continue
            step = rate
            if rows.n_touches[row] > update.max_touches:
                step = np.float32(rate * update.max_touches / rows.n_touches[row])
            take_step(rows, row, touches.scale[e], touches.vectors, vector, square, step, update.adagrad)
            if penalty > 0.0:
                shrink(rows.weights, row, np.float32(step * penalty * touches.threshold[e]))
    for t in range(n_threads):
        for k in range(touches.dealt[t, thread], touches.dealt[t, thread + 1]):
            rows.n_touches[touches.row[touches.order[k] if n_threads > 1 else k]] = 0


@njit(**INLINE)
def is_neighbour(slots, plan, a, b):
    """Whether two slots hold different sentences of one document, at most ``border`` places apart.

    They may lie in different runs: a random sentence may be the neighbour that a run has as its border.
    """
    distance = abs(slots.sentence[a] - slots.sentence[b])
    return slots.document[a] == slots.document[b] and slots.document[a] >= 0 and 0 < distance <= plan.border


@njit(**LEAN)
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


@njit(**INLINE)
def target_slot(plan, i):
    return i // plan.run_length * (plan.run_length + 2 * plan.border) + plan.border + i % plan.run_length


@njit(**LEAN)
def add_losses(loss, n_targets, total):
    """Sum of the losses and number of targets, in the order of the block; -1 is no target."""
    for i in range(n_targets):
        if loss[i] != -1.0:
            total[0] += loss[i]
            total[1] += 1.0


def keep_probability(counts: np.ndarray, n_tokens: int, subsample: float) -> np.ndarray:
    """``q_p(w) = min(1, sqrt(t / f_w) + t / f_w)``, the probability that an occurrence of a word is taken."""
    ratio = subsample * n_tokens / np.maximum(counts, 1)
    return np.minimum(1.0, np.sqrt(ratio) + ratio).astype(np.float32)
