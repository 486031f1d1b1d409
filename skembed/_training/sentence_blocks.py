"""The sentences of a block (see `_runs`), their sums, and their scores.

Each sentence of a block, border included, has a *slot*. What two or more methods do with slots stands here.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.buffers import ARRAYS
from .._compiled.compile import INLINE, LEAN, PASTE
from .._compiled.rows import ONE, add_scaled, combine_parts, fill_row, prefetch_row, prefetch_row_to_write
from .._compiled.simd import prefetch_item
from .._compiled.sync import barrier, below, random_bits, share, width_apart
from .encoded_text import block_runs, first_run_of, prefetch_next_words, prefetch_run, share_runs
from .updates import N_PARTS, deal, keep_list, make_touches

# How many touches ahead the rows are fetched from memory.
_AHEAD = 16
# A block of so many targets, and so many for each random one, is halved: then there is still enough to draw from.
HALVED_FROM, _TARGETS_PER_DRAW = 256, 16


class Slots(NamedTuple):
    """The sentences of one block."""

    # (N_PARTS * n_slots, n_components) float32: first those over the words of each part, then the sums of the sentences
    # in the place of the first part's.
    sums: np.ndarray
    sentence: np.ndarray  # (n_slots,) int64
    document: np.ndarray  # (n_slots,) int64, -1 where there is no sentence
    of_target: np.ndarray  # (n_targets,) int64, the slot of each sentence that is not there as border alone


class Scores(NamedTuple):
    """Room for the scores of one vector against others, a row for each thread."""

    values: np.ndarray  # (n_threads, n) float32, n a multiple of 16
    flat: np.ndarray  # the same memory as one dimension
    which: np.ndarray  # (n_threads * n,) int32, the numbers of the others
    column: np.ndarray  # (n_threads * n,) int32, where the error of each score goes


def make_slots(plan, n_words, n_components, n_threads, make=ARRAYS):
    """Room for the sentences of a block of at most ``n_words`` words, and for what their gradients do to the words.

    The gradients come when the sums of the second part are no longer needed. One thread puts them in their place; of
    several, the one that sums the second part would have to bring all of them in from the other cores, in each block.
    """
    width = plan.run_length + 2 * plan.border
    n_slots = plan.runs_per_block * width
    places = plan.border + np.arange(plan.run_length)
    of_target = make.values(
        plan.runs_per_block * plan.run_length,
        np.int64,
        lambda: (width * np.arange(plan.runs_per_block)[:, None] + places).reshape(-1),
    )
    sentence, document = make.zeros((n_slots,), np.int64), make.zeros((n_slots,), np.int64)
    sums = make.zeros((N_PARTS * n_slots, n_components), np.float32)
    # A thread writes one place past the words that it has found.
    n_touches = (n_words + n_threads) * (N_PARTS if n_threads > 1 else 1)
    gradients = sums[n_slots:] if n_threads == 1 else make.zeros((n_slots, n_components), np.float32)
    touches = make_touches(n_touches, gradients, n_threads, by_parts=True, make=make)
    return Slots(sums, sentence, document, of_target), touches


def make_scores(n, n_threads, make=ARRAYS):
    values = make.zeros((n_threads, width_apart(n)), np.float32)
    which, column = (make.zeros((n_threads * width_apart(n),), np.int32) for _ in range(2))
    return Scores(values, values.reshape(-1), which, column)


@njit(**INLINE)
def list_words(text, part_of, by_parts, mean, slot, sentence, touches, place, other):
    """List the words of a sentence as touches, for its gradient will go to them with the same weights.

    All go to one list, from ``place`` on, or by parts those of the second part to a list from ``other`` on. Returns the
    next place of both, and how many known words there are.
    """
    n_words = text.word_weight.shape[0]
    first, first_other = place, other
    for p in range(np.uint64(text.sent_ptr[sentence]), np.uint64(text.sent_ptr[sentence + 1])):
        known = np.int64(text.tokens[p] < n_words)
        row = min(text.tokens[p], n_words - 1)
        # No branch, for it would be guessed wrong half of the time.
        second = np.int64(part_of[np.uint64(row)]) if by_parts else np.int64(0)
        at = np.uint64(other if second else place)
        touches.row[at], touches.vector[at], touches.scale[at] = row, slot, text.word_weight[np.uint64(row)]
        place += known & ~second
        other += known & second
    n_known = place - first + other - first_other
    if mean and n_known > 1:
        scale = ONE / np.float32(n_known)
        for k in range(np.uint64(first), np.uint64(place)):
            touches.scale[k] *= scale
        for k in range(np.uint64(first_other), np.uint64(other)):
            touches.scale[k] *= scale
    return place, other, n_known


@njit(**INLINE)
def note_sentence(text, slots, slot, sentence, n_known):
    """What is to be known of a slot's sentence; it takes no part if it has no known word."""
    slots.document[slot] = -1
    if n_known > 0:
        slots.sentence[slot], slots.document[slot] = sentence, text.document[sentence]


@njit(**PASTE)
def list_sentences(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads):
    """First, a thread lists the words of its sentences, those of each part by themselves.

    One thread does so as it sums them. Of two, each asks for the places of the sums that it will make of its part,
    which the other has read since the last block: memory has little to do here, and much then.
    """
    if n_threads == 1:
        return
    width = plan.run_length + 2 * plan.border
    block_start, block_end = block_runs(plan, block)
    first_run, last_run = share_runs(run_ptr, block_start, block_end, thread, n_threads)
    first = run_ptr[first_run] - run_ptr[block_start] + thread
    first_other = first + touches.n_touches // N_PARTS
    place, other = first, first_other
    own = thread * slots.document.shape[0]
    last_own = own + (block_end - block_start) * width - 1
    for run in range(first_run, last_run):
        prefetch_run(text, plan, run)
        for position in range(width):
            slot = (run - block_start) * width + position
            sentence, n_known = plan.run_starts[run] - plan.border + position, np.int64(0)
            if 0 <= sentence < text.document.shape[0]:
                place, other, n_known = list_words(text, rows.part, True, mean, slot, sentence, touches, place, other)
            note_sentence(text, slots, slot, sentence, n_known)
            if n_threads == N_PARTS and own < last_own:
                prefetch_row_to_write(slots.sums, own)
                prefetch_row_to_write(slots.sums, own + 1)
                own += N_PARTS
    if n_threads == N_PARTS:
        keep_list(touches.dealt, N_PARTS * thread, 0, first, place, n_threads)
        keep_list(touches.dealt, N_PARTS * thread + 1, 1, first_other, other, n_threads)
    else:
        deal(touches, N_PARTS * thread, rows.owner, first, place, n_threads)
        deal(touches, N_PARTS * thread + 1, rows.owner, first_other, other, n_threads)


@njit(**INLINE)
def _first_touch_of(slot, touches, first, last):
    """The first of some touches, in the order of the slots, that is of a slot or of a later one."""
    while first < last:
        middle = (first + last) // 2
        if touches.vector[middle] < slot:
            first = middle + 1
        else:
            last = middle
    return first


@njit(**LEAN)
def sum_part(rows, part, first_slot, last_slot, slots, touches, n_threads):
    """Sum the words of a part for some slots.

    The rows are added one by one in the order of the lists: so it is never guessed wrong how many words of the part a
    sentence has.
    """
    first_sum = part * slots.document.shape[0]
    for slot in range(first_slot, last_slot):
        fill_row(slots.sums, first_sum + slot, np.float32(0.0))
    for lister in range(n_threads):
        dealt = touches.dealt[N_PARTS * lister + part]
        first = dealt[0] % touches.n_touches  # where they were listed, also if they have been dealt since
        last = first + dealt[n_threads] - dealt[0]
        first = _first_touch_of(first_slot, touches, first, last)
        last = _first_touch_of(last_slot, touches, first, last)
        for k in range(first, last):
            prefetch_row(rows.weights, np.int64(touches.row[min(k + _AHEAD, last - 1)]))
            row = np.int64(touches.row[k])
            add_scaled(slots.sums, first_sum + touches.vector[k], touches.scale[k], rows.weights, row)


@njit(**LEAN)
def sum_all(text, rows, mean, plan, first_run, last_run, slots, touches):
    """List the words of all sentences, and sum those of both parts, for one thread; returns the number of touches."""
    width = plan.run_length + 2 * plan.border
    place = other = np.int64(0)
    for slot in range((last_run - first_run) * width):
        run, position = first_run + slot // width, slot % width
        if position == 0:
            prefetch_run(text, plan, run)
        sentence, n_known = plan.run_starts[run] - plan.border + position, np.int64(0)
        if 0 <= sentence < text.document.shape[0]:
            prefetch_next_words(text, plan, run, position, rows.weights, text.word_weight)
            first = place
            place, other, n_known = list_words(text, rows.part, False, mean, slot, sentence, touches, place, other)
            room = slots.document.shape[0] + slot
            combine_parts(slots.sums, slot, room, touches.scale, rows.weights, rows.part, touches.row, first, n_known)
        note_sentence(text, slots, slot, sentence, n_known)
    return place


@njit(**PASTE)
def sum_parts(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads):
    """Second, a thread sums the words of one part, in all sentences of the block or, in a team, in some of them."""
    block_start, block_end = block_runs(plan, block)
    if n_threads == 1:
        last = sum_all(text, rows, mean, plan, block_start, block_end, slots, touches)
        keep_list(touches.dealt, 0, 0, 0, last, n_threads)
        return
    width = plan.run_length + 2 * plan.border
    for part in range(N_PARTS):
        # Each part is n_threads shares; see `share_rows`.
        share_begin = min(max(N_PARTS * thread - part * n_threads, 0), n_threads)
        share_end = min(max(N_PARTS * (thread + 1) - part * n_threads, 0), n_threads)
        first_run = first_run_of(share_begin, n_threads, run_ptr, block_start, block_end)
        last_run = first_run_of(share_end, n_threads, run_ptr, block_start, block_end)
        first_slot, last_slot = (first_run - block_start) * width, (last_run - block_start) * width
        sum_part(rows, part, first_slot, last_slot, slots, touches, n_threads)


@njit(**LEAN)
def join_parts(plan, block, slots, thread, n_threads):
    """Third, a sentence's sum is that over the words of both parts; one thread has it already."""
    if n_threads == 1:
        return
    first_run, last_run = block_runs(plan, block)
    n_slots = (last_run - first_run) * (plan.run_length + 2 * plan.border)
    # Another thread has written these; one cache line after the other would take long.
    for slot in range(0, n_slots, 8):
        prefetch_item(slots.document, slot)
        prefetch_item(slots.sentence, slot)
    first, last = share(n_slots, thread, n_threads)
    for slot in range(first, last):
        add_scaled(slots.sums, slot, ONE, slots.sums, slots.document.shape[0] + slot)


@njit(**PASTE)
def sum_sentences(text, rows, mean, plan, block, run_ptr, slots, touches, sync, n_passed, thread, n_threads):
    """Phase 1: ``sums[slot] = sum_j weight_j * word_j`` of each sentence (CBOS, eq. 4), or its mean.

    It is the sum over the words of the first part plus that over the words of the second. The threads meet between
    the three steps; returns the number of barriers passed.
    """
    list_sentences(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads)
    n_passed = barrier(sync, n_threads, n_passed)
    sum_parts(text, rows, mean, plan, block, run_ptr, slots, touches, thread, n_threads)
    n_passed = barrier(sync, n_threads, n_passed)
    join_parts(plan, block, slots, thread, n_threads)
    return n_passed


@njit(**INLINE)
def is_neighbour(slots, plan, a, b):
    """Whether two slots hold different sentences of one document, at most ``border`` places apart.

    They may lie in different runs: a random sentence may be the neighbour that a run has as its border.
    """
    distance = abs(slots.sentence[a] - slots.sentence[b])
    return slots.document[a] == slots.document[b] and slots.document[a] >= 0 and 0 < distance <= plan.border


class Draws(NamedTuple):
    """Which targets of a block each one is compared with: those so many places on.

    In a large block they are in the same half of it. A half is a random sample of the text as well, and of two threads
    each has the sums of one half in its cache.
    """

    offsets: np.ndarray  # (at least n_random,) int64, distances, distinct and the same for all targets
    n_random: int
    n_targets: int
    half: int  # how many targets the first half has; 0 if the block is too small to be halved


@njit(**LEAN)
def draw_targets(plan, block, n_targets, offsets):
    """Draw as many distances as ``offsets`` has room for, or fewer where the block is too small.

    Sentences of one run are mostly of one document, and so no random ones for each other: those at hand are drawn only
    where there are not enough further away.
    """
    half = n_targets // 2 if n_targets >= max(HALVED_FROM, _TARGETS_PER_DRAW * offsets.shape[0]) else 0
    n_compared = half if half > 0 else n_targets
    nearest = max(1, min(plan.run_length, (n_compared + 1 - offsets.shape[0]) // 2))
    n_distances = n_compared - 2 * nearest + 1
    n = min(offsets.shape[0], n_distances)
    draw = 0
    for i in range(n):
        fresh = False
        while not fresh:
            bits = random_bits(np.uint64(plan.seed), np.uint64(1), np.uint64(block), np.uint64(draw))
            offsets[i] = nearest + below(bits, n_distances)
            draw += 1
            fresh = True
            for j in range(i):
                fresh = fresh and offsets[j] != offsets[i]
    return Draws(offsets, n, n_targets, half)


@njit(**INLINE)
def _half_of(draws, i):
    """First and last+1 of the targets that one may be compared with."""
    return (0, draws.half) if i < draws.half else (draws.half, draws.n_targets)


@njit(**INLINE)
def random_target(draws, i, r):
    """The target that is random sentence number ``r`` of target ``i``. No division, which would take long."""
    first, last = _half_of(draws, i)
    place = i + draws.offsets[r]
    return place - (last - first if place >= last else 0)


@njit(**INLINE)
def asking_target(draws, i, r):
    """The target whose random sentence number ``r`` is target ``i``."""
    first, last = _half_of(draws, i)
    place = i - draws.offsets[r]
    return place + (last - first if place < first else 0)


@njit(**LEAN)
def add_losses(loss, n_targets, total):
    """Sum of the losses and number of targets, in the order of the block; -1 is no target."""
    for i in range(n_targets):
        if loss[i] != -1.0:
            total[0] += loss[i]
            total[1] += 1.0
