"""Compiled help for ordering words by count and code points, which is the order of the bytes of UTF-8 too."""

import numpy as np

from ._bytes import load_bytes, store_bytes
from ._compile import lean_kernel
from ._word_table import STRIDE, first_bytes

_ODD, _PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
AT_ONCE = 7  # bytes of a word that are compared at a time


@lean_kernel
def keys_of(text, starts, ends, keys):
    """Write a number for each word, or rest of one: its first bytes, AT_ONCE of them, then how many there are.

    Numbers are in the order of the words. Equal ones are of equal words or, if there are more bytes, which counts as
    one more, of words that go on beyond these.

    ``text`` (n_bytes + 8,) uint8, ``starts`` and ``ends`` (n_words,) int64: word i is ``text[starts[i]:ends[i]]``
    ``keys`` (n_words,) uint64
    """
    for i in range(keys.shape[0]):
        n = ends[i] - starts[i]
        bits = load_bytes(text, starts[i]) & first_bytes(min(n, AT_ONCE))
        bits = ((bits & _ODD) << np.uint64(8)) | ((bits >> np.uint64(8)) & _ODD)  # turns the bytes round
        bits = ((bits & _PAIRS) << np.uint64(16)) | ((bits >> np.uint64(16)) & _PAIRS)
        keys[i] = (bits << np.uint64(32)) | (bits >> np.uint64(32)) | np.uint64(min(n, AT_ONCE + 1))


@lean_kernel
def gather_words(text, starts, order, out, ptr):
    """Copy words one after the other: word ``order[i]`` to ``out[ptr[i]:ptr[i + 1]]``.

    Eight bytes at a time: so many may be read and written beyond the end of ``text`` and of what is asked for.
    """
    for i in range(order.shape[0]):
        start, at = starts[order[i]], ptr[i]
        for j in range(0, ptr[i + 1] - at, 8):
            store_bytes(out, at + j, load_bytes(text, start + j))


@lean_kernel
def renumber(tokens, remap, first, ends):
    """Write new ids in the place of old ones, and leave out those that are below zero; returns where they end.

    ``tokens`` int32, of which some sentences begin at ``first``
    ``remap`` (n_words,) int32
    ``ends`` (n_sentences,) int64, where these sentences end before and, when this is done, after
    """
    at = start = first
    for i in range(ends.shape[0]):
        for j in range(start, ends[i]):
            tokens[at] = remap[np.uint64(tokens[j])]  # an unsigned index needs no look at whether it is negative
            at += 1 if tokens[at] >= 0 else 0
        start = ends[i]
        ends[i] = at
    return at


@lean_kernel
def renumber_all(tokens, remap):
    """Write new ids in the place of old ones, where no word is left out."""
    for i in range(tokens.shape[0]):
        tokens[i] = remap[np.uint64(tokens[i])]


@lean_kernel
def take_counts(slots, counts):
    """Write how often each word of a table was found, by its id."""
    for place in range(0, slots.shape[0], STRIDE):
        meta = slots[place + 2]
        if meta != np.uint64(0):
            counts[meta & np.uint64(0xFFFFFFFF)] = slots[place + 3]
