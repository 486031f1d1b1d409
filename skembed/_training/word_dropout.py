"""The words of sentences in training: known words that are not dropped at random."""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.random import random_bits

KEEP_ALL = 2**31
_STREAM = np.uint64(11)  # of the draws that drop words


@njit(**INLINE_LLVM)
def _list_kept(text, sentence, kept, seed, ids, first):
    """List the words of a sentence that are known and not dropped, from ``first`` on; returns where they end."""
    n = first
    for p in range(text.sent_ptr[sentence], text.sent_ptr[sentence + 1]):
        bits = random_bits(np.uint64(seed), _STREAM, np.uint64(p), np.uint64(0))
        if text.tokens[p] < text.word_weight.shape[0] and np.int64(bits >> np.uint64(33)) < kept:
            ids[n] = text.tokens[p]
            n += 1
    return n


@lean_kernel
def list_words(text, sentences, kept, seed, ids, ptr):
    """List the words of some sentences; a sentence that would lose all its words keeps all.

    ``kept`` of ``KEEP_ALL`` words are kept, a function of the seed and of the position in the text.
    """
    for i in range(sentences.shape[0]):
        last = _list_kept(text, sentences[i], kept, seed, ids, ptr[i])
        if last == ptr[i] and kept < KEEP_ALL:
            last = _list_kept(text, sentences[i], np.int64(KEEP_ALL), seed, ids, ptr[i])
        ptr[i + 1] = last
