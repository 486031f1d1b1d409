"""Word n-grams, hashed to rows."""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .sources import offsets

NGRAM_MULTIPLIER = np.uint64(116049371)  # of the published program of Sent2Vec, so that equal ids share a bucket


@njit(**INLINE_LLVM)
def ngram_row(words, first, order, n_words, n_buckets):
    """The row of the n-gram of ``order`` words from ``first`` on: rows of n-grams follow those of the words."""
    bits = np.uint64(words[first])
    for i in range(first + 1, first + order):
        bits = bits * NGRAM_MULTIPLIER + np.uint64(words[i])
    return n_words + np.int64(bits % np.uint64(n_buckets))


def add_ngrams(
    rows: np.ndarray,
    weights: np.ndarray,
    is_unknown: np.ndarray,
    is_skipped: np.ndarray,
    ptr: np.ndarray,
    max_order: int,
    n_words: int,
    n_buckets: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Append to each sentence the n-grams of its words that are not skipped, hashed as in training."""
    n_known = np.diff(offsets(~is_skipped)[ptr])
    orders = range(2, min(max_order, n_known.max(initial=0)) + 1)
    all_ptr = offsets(np.diff(ptr) + sum(np.maximum(n_known - order + 1, 0) for order in orders))
    n = all_ptr[-1]
    filled = np.empty(n, np.int64), np.empty(n, np.float32), np.zeros(n, bool), all_ptr
    _fill_ngrams((rows, weights, is_unknown, ptr), is_skipped, filled, max_order, n_words, n_buckets)
    return filled


@lean_kernel
def _fill_ngrams(words, is_skipped, filled, max_order, n_words, n_buckets):
    """Copy the words of each sentence and write its n-grams behind them, the shorter ones first."""
    rows, weights, is_unknown, ptr = words
    all_rows, all_weights, all_unknown, all_ptr = filled
    for sentence in range(ptr.shape[0] - 1):
        start, end, at = ptr[sentence], ptr[sentence + 1], all_ptr[sentence]
        for token in range(start, end):
            all_rows[at], all_weights[at], all_unknown[at] = rows[token], weights[token], is_unknown[token]
            at += 1
        for order in range(2, min(max_order, end - start) + 1):
            for first in range(start, end):
                bits, total, n = np.uint64(0), np.float32(0.0), np.int64(0)
                token = first
                while not is_skipped[first] and token < end and n < order:
                    if not is_skipped[token]:
                        bits = bits * NGRAM_MULTIPLIER + np.uint64(rows[token])
                        total += weights[token]
                        n += 1
                    token += 1
                if n == order:
                    all_rows[at] = n_words + np.int64(bits % np.uint64(n_buckets))
                    all_weights[at] = total / np.float32(order)
                    at += 1
