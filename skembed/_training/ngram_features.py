"""The words and word n-grams of a sentence, as entries of the gradient of their rows."""

from typing import Any

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM
from .._compiled.random import below, random_bits
from .._text.ngrams import ngram_row
from .state import FittedState
from .trainer import Matrix


@njit(**INLINE_LLVM)
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


@njit(**INLINE_LLVM)
def list_features(s, word_weight, options, seed, scratch):
    """R(S): words, then n-grams of each order, as entries of the source gradient; returns their number."""
    words, feature, source = scratch.words, scratch.feature, scratch.source
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
                    row = ngram_row(words, i, order, n_words, options.n_buckets)
                    for j in range(i + 1, i + order):
                        weight += word_weight[words[j]]
                source.row[e], source.scale[e] = row, weight / np.float32(order)
                feature[f] = e
                e += 1
            f += 1
    return e - s.source


@njit(**INLINE_LLVM)
def features_with(i, n, order, f):
    """First and last+1 of the features of an order that hold word i of n words; ``f`` of this order and the next."""
    return f + max(0, i - order + 1), f + min(i, n - order) + 1, f + max(0, n - order + 1)


def source_matrix(vectorizer: Any, state: FittedState) -> Matrix:
    """The rows of the words, then those that all n-grams share, with the expected number of updates of each."""
    counts = state.word_counts_.astype(np.float64)
    n_rows, max_order = len(state.arrays["_source_vectors"]) - len(counts), int(vectorizer.ngram_range[1])
    of_ngram = counts.sum() * (max_order - 1) / max(1, n_rows)

    def mass() -> np.ndarray:  # not yet: an estimate of the memory does not need it
        return np.concatenate([counts, np.full(n_rows, of_ngram)])

    return Matrix.of(state.arrays, "_source_vectors", mass, state.n_frozen)
