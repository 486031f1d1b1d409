"""Word n-grams of encoded sentences: hashed to rows behind those of the words."""

import numpy as np

from .._compiled.compile import lean_kernel
from .batches import offsets

NGRAM_MULTIPLIER = np.uint64(116049371)  # of Sent2Vec's published program, so that equal ids share a bucket


def add_ngrams(
    rows: np.ndarray,
    weights: np.ndarray,
    is_unknown: np.ndarray,
    ptr: np.ndarray,
    max_order: int,
    n_words: int,
    n_buckets: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Append to each sentence the n-grams of its known words, hashed as in training.

    Unknown words are bridged over, as the training does.
    """
    known = offsets(~is_unknown)
    n_known = np.diff(known[ptr])
    max_order = min(max_order, int(n_known.max(initial=1)))  # no n-gram is longer than its sentence
    lengths = np.diff(ptr)
    for order in range(2, max_order + 1):
        lengths = lengths + np.maximum(n_known - order + 1, 0)
    all_ptr = offsets(lengths)
    all_rows = np.empty(all_ptr[-1], np.int64)
    all_weights, all_unknown = np.empty(all_ptr[-1], np.float32), np.zeros(all_ptr[-1], bool)
    outputs = all_ptr, all_rows, all_weights, all_unknown
    _fill_ngrams(rows, weights, is_unknown, ptr, max_order, n_words, n_buckets, *outputs)
    return all_rows, all_weights, all_unknown, all_ptr


@lean_kernel
def _fill_ngrams(
    rows, weights, is_unknown, ptr, max_order, n_words, n_buckets, all_ptr, all_rows, all_weights, all_unknown
):
    """Copy the words of each sentence and write its n-grams behind them, the shorter ones first."""
    for sentence in range(ptr.shape[0] - 1):
        start, end, at = ptr[sentence], ptr[sentence + 1], all_ptr[sentence]
        for token in range(start, end):
            all_rows[at], all_weights[at], all_unknown[at] = rows[token], weights[token], is_unknown[token]
            at += 1
        for order in range(2, max_order + 1):
            for first in range(start, end):
                bits, total, n = np.uint64(0), np.float32(0.0), np.int64(0)
                token = first
                while not is_unknown[first] and token < end and n < order:
                    if not is_unknown[token]:
                        bits = bits * NGRAM_MULTIPLIER + np.uint64(rows[token])
                        total += weights[token]
                        n += 1
                    token += 1
                if n == order:
                    all_rows[at] = n_words + np.int64(bits % np.uint64(n_buckets))
                    all_weights[at] = total / np.float32(order)
                    at += 1
