"""Compiled sorting of words: by falling count, then by code points."""

import numpy as np
from numba import njit

from .._compiled.compile import LEAN, lean_kernel
from .utf8 import load_bytes, store_bytes
from .word_table import first_bytes

PADDING = 8  # bytes that are read and written beyond the end of words
_ODD, _PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_MANY = 0xFFFF  # counts from here on do not fit into a key


@njit(**LEAN)
def _big_endian(text, start, n):
    """The first eight bytes of a word of ``n`` bytes as one integer, the first byte highest; zeros follow the word."""
    bits = load_bytes(text, start) & first_bytes(n)
    bits = ((bits & _ODD) << np.uint64(8)) | ((bits >> np.uint64(8)) & _ODD)
    bits = ((bits & _PAIRS) << np.uint64(16)) | ((bits >> np.uint64(16)) & _PAIRS)
    return (bits << np.uint64(32)) | (bits >> np.uint64(32))


@njit(**LEAN)
def _comes_before(text, starts, ends, counts, a, b):
    if counts[a] != counts[b]:
        return counts[a] > counts[b]
    n_a, n_b = ends[a] - starts[a], ends[b] - starts[b]
    for i in range(0, min(n_a, n_b), 8):
        bits_a, bits_b = _big_endian(text, starts[a] + i, n_a - i), _big_endian(text, starts[b] + i, n_b - i)
        if bits_a != bits_b:
            return bits_a < bits_b
    return n_a < n_b


@lean_kernel
def write_keys(text, starts, ends, counts, keys):
    """Write a key for each word that rises in the order of the words; words with the same key are not yet ordered.

    The order is that of falling count, and among equals that of the bytes of UTF-8, which is that of code points.

    ``text`` (n_bytes + PADDING,) uint8, ``starts`` and ``ends`` (n_words,) int64: word i is ``text[starts[i]:ends[i]]``
    ``counts`` (n_words,) int64; ``keys`` (n_words,) uint64: two bytes of the count, then the first six of the word
    """
    for i in range(keys.shape[0]):
        keys[i] = np.uint64(0)
        if counts[i] < _MANY:
            first_six = _big_endian(text, starts[i], ends[i] - starts[i]) >> np.uint64(16)
            keys[i] = (np.uint64(_MANY - counts[i]) << np.uint64(48)) | first_six


@lean_kernel
def sort_ties(text, starts, ends, counts, keys, order, buffer):
    """Order the words that have the same key, by merging longer and longer runs of them.

    ``text`` to ``keys`` as in `write_keys`
    ``order`` int64, the words in the order of their keys; ``buffer`` int64, of the same size
    """
    last = 0
    while last < order.shape[0]:
        first = last
        while last < order.shape[0] and keys[order[last]] == keys[order[first]]:
            last += 1
        width = 1
        while width < last - first:
            for start in range(first, last - width, 2 * width):
                middle, end = start + width, min(start + 2 * width, last)
                for i in range(start, middle):
                    buffer[i] = order[i]
                at, left, right = start, start, middle
                while left < middle:
                    if right < end and _comes_before(text, starts, ends, counts, order[right], buffer[left]):
                        order[at] = order[right]
                        right += 1
                    else:
                        order[at] = buffer[left]
                        left += 1
                    at += 1
            width *= 2


@lean_kernel
def gather_words(text, starts, out, ptr):
    """Copy words one after the other: what begins at ``starts[i]`` to ``out[ptr[i]:ptr[i + 1]]``.

    ``text`` and ``out`` (n_bytes + PADDING,) uint8
    """
    for i in range(starts.shape[0]):
        for j in range(0, ptr[i + 1] - ptr[i], 8):
            store_bytes(out, ptr[i] + j, load_bytes(text, starts[i] + j))
