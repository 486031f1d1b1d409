"""Word n-grams of Sent2Vec, in training and in transform alike."""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, lean_kernel
from .._compiled.random import below, random_bits
from .._text.batches import offsets

NGRAM_MULTIPLIER = np.uint64(116049371)  # of the published program, so that equal ids share a bucket


@njit(**INLINE)
def drop_ngrams(s, seed, options, feature, first, n_ngrams):
    """Draw the n-grams that a sentence is learned without: -1 in ``feature`` from ``first`` on, 0 for the others."""
    n_dropped = min(options.dropout, n_ngrams)
    for f in range(first, first + n_ngrams):
        feature[f] = -np.int64(n_dropped == n_ngrams)
    if n_dropped == n_ngrams:
        return
    draw = 0
    for _ in range(n_dropped):
        fresh = False
        while not fresh:
            bits = random_bits(np.uint64(seed), np.uint64(3), np.uint64(s.sentence), np.uint64(draw))
            f = first + below(bits, n_ngrams)
            draw += 1
            fresh = feature[f] >= 0
        feature[f] = -1


@njit(**INLINE)
def list_features(s, word_weight, options, seed, work):
    """R(S): words, then n-grams of each order, as entries of the source gradient; returns their number."""
    words, feature, source = work.words, work.feature, work.source
    n_words, f, e = word_weight.shape[0], s.a * options.max_order, s.source
    n_ngrams = 0
    for order in range(2, options.max_order + 1):
        n_ngrams += max(0, s.n - order + 1)
    for word in range(s.n):
        feature[f + word] = 0
    drop_ngrams(s, seed, options, feature, f + s.n, n_ngrams)
    for order in range(1, options.max_order + 1):
        for i in range(s.a, s.a + s.n - order + 1):
            if feature[f] >= 0:
                weight = word_weight[words[i]]
                row = np.int64(words[i])
                if order > 1:
                    bits = np.uint64(words[i])
                    for j in range(i + 1, i + order):
                        bits = bits * NGRAM_MULTIPLIER + np.uint64(words[j])
                        weight += word_weight[words[j]]
                    row = n_words + np.int64(bits % np.uint64(options.n_buckets))
                source.row[e], source.scale[e] = row, weight / np.float32(order)
                feature[f] = e
                e += 1
            f += 1
    return e - s.source


@njit(**INLINE)
def features_with(i, n, order, f):
    """First and last+1 of the features of an order that hold word i of n words; ``f`` of this order and the next."""
    return f + max(0, i - order + 1), f + min(i, n - order) + 1, f + max(0, n - order + 1)


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
