"""Steps that objectives share which predict words: a thread's sentences, their negatives, scores, and updates.

In the scratch space of a block the data of a sentence are at indices that follow from its index in the block and from
the number of words before it, so that no two threads write to the same index.
"""

import math

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, INLINE_NUMBA, NO_REFCOUNT
from .._compiled.rows import ONE, Selection, combine_strided, dots, logistic, prefetch_row
from .._compiled.sync import random_bits
from .encoded_text import EncodedText, Plan, count_words_of_runs, longest_sentence, runs_of_thread
from .learned_arrays import sort_by_owner
from .negatives import draw_negative, half_of_words
from .sentence_blocks import end_block


def sizes_of(text: EncodedText, plan: Plan) -> tuple[np.ndarray, int, int, int]:
    """Number of words before each run; most words and sentences of a block; words of the longest sentence."""
    run_ptr, n_tokens = count_words_of_runs(text, plan)
    return run_ptr, n_tokens, plan.runs_per_block * plan.run_length, longest_sentence(text)


@njit(**INLINE_LLVM)
def sentences_of_thread(run_ptr, plan, block, team):
    """First and last+1 of a thread's sentences of a block, and the number of words before them."""
    first, last = runs_of_thread(run_ptr, block, team)
    n_words, length = run_ptr[first] - run_ptr[block.first_run], plan.run_length
    return (first - block.first_run) * length, (last - block.first_run) * length, n_words


@njit(**INLINE_LLVM)
def draw_negatives(s, block, i, negatives, n, seed, stream, target_weights, target):
    """Draw the ``n`` words that all targets of sentence i are compared with, its first entries of ``target``."""
    half = half_of_words(negatives, seed, block, i)
    for j in range(n):
        bits = random_bits(np.uint64(seed), np.uint64(stream), np.uint64(s.sentence), np.uint64(j))
        target.row[s.target + j] = draw_negative(negatives, half, bits)
        prefetch_row(target_weights, target.row[s.target + j])


@njit(**INLINE_NUMBA)
def score_words(s, n_words, n_negatives, weight_of_negative, target_weights, scratch):
    """Compare vector ``s.i`` with ``n_words`` words, entries behind the negatives; returns the loss.

    The errors are the scales of the entries. A negative's score is computed once and counts for each word but itself.
    """
    target, errors, negative_errors = scratch.target, scratch.error, scratch.negative_error
    first = s.target + n_negatives
    dots(errors, s.thread, target.vectors, s.i, Selection(target_weights, target.row, first, n_words))
    dots(negative_errors, s.thread, target.vectors, s.i, Selection(target_weights, target.row, s.target, n_negatives))
    for k in range(n_words):
        errors[s.thread, k] *= -ONE  # so that errors and losses are those of negatives
    loss = logistic(errors, s.thread, n_words)
    for k in range(n_words):
        target.scale[first + k], target.vector[first + k] = -errors[s.thread, k], s.i
    for k in range(n_negatives):
        target.scale[s.target + k] = negative_errors[s.thread, k]
    logistic(negative_errors, s.thread, n_negatives)
    for k in range(n_negatives):
        e, error = s.target + k, negative_errors[s.thread, k]
        n_others = n_words
        for other in range(first, first + n_words):
            n_others -= target.row[other] == target.row[e]
        weight = weight_of_negative * np.float32(n_others)
        # log(1 + exp(x)) from x and its derivative, whichever of the two is accurate.
        loss += weight * (max(target.scale[e], np.float32(0.0)) - math.log(max(error, ONE - error)))
        target.scale[e] = error * weight
        target.vector[e] = s.i if n_others > 0 else target.vectors.shape[0] - 1  # the last one is zero: no step
    return loss


@njit(**INLINE_NUMBA)
def gather_negatives(s, n_negatives, first_error, hidden, scratch):
    """Entries of the negatives of a sentence: what they get from all ``hidden`` vectors, by their errors."""
    target, width = scratch.target, scratch.negative_error.shape[1]
    for e in range(s.target, s.target + n_negatives):
        errors = scratch.negative_error_flat, first_error + e - s.target, width
        target.vector[e], target.scale[e] = e, ONE
        target.square[e] = combine_strided(target.vectors, e, errors, hidden)


@njit(**NO_REFCOUNT)
def end_word_block(matrices, firsts, lasts, update, losses, block, team):
    """Hand the entries that this thread has listed to the owners of their rows, then `end_block`."""
    (source_rows, source), (target_rows, target) = matrices
    sort_by_owner(source, source_rows.owner, firsts[0], lasts[0], team)
    sort_by_owner(target, target_rows.owner, firsts[1], lasts[1], team)
    return end_block(matrices, update, losses, block, team)
