"""Compiled ordering of words by code points, which is the order of the bytes of UTF-8 too; counts, and ids for ids."""

import numpy as np
from numba import njit

from ._bytes import load_bytes, store_bytes
from ._compile import INLINE, LEAN, lean_kernel
from ._word_table import STRIDE, first_bytes

_ODD, _PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_AT_ONCE = 7  # bytes of a word that are compared at a time
MOST = 0xFFFF  # from which counts on words are few


@njit(**LEAN)
def _key(text, start, end):
    """Some bytes from ``start`` on, then how many there are before the end, as one number.

    Numbers are in the order of the words. Equal ones are of equal words or of words that go on beyond these bytes.
    """
    n = end - start
    bits = load_bytes(text, start) & first_bytes(min(n, _AT_ONCE))
    bits = ((bits & _ODD) << np.uint64(8)) | ((bits >> np.uint64(8)) & _ODD)  # turns the bytes round
    bits = ((bits & _PAIRS) << np.uint64(16)) | ((bits >> np.uint64(16)) & _PAIRS)
    return (bits << np.uint64(32)) | (bits >> np.uint64(32)) | np.uint64(min(n, _AT_ONCE + 1))


@njit(**INLINE)
def _goes_on(key):
    return key & np.uint64(0xFF) > np.uint64(_AT_ONCE)


@njit(**INLINE)
def _byte(number, place):
    return (np.uint64(number) >> np.uint64(8 * place)) & np.uint64(0xFF)


@njit(**INLINE)
def _rank(count):
    """A number of two bytes that falls with the count."""
    return MOST - min(count, MOST)


@njit(**LEAN)
def _is_before(text, start, end, other_start, other_end):
    """Whether the bytes of a word come before those of another."""
    while True:
        key, other = _key(text, start, end), _key(text, other_start, other_end)
        if key != other or not _goes_on(key):
            return key < other
        start += _AT_ONCE
        other_start += _AT_ONCE


@njit(**LEAN)
def _merge(text, starts, ends, order, merged, low, middle, high):
    """Merge ``order[low:middle]`` and ``order[middle:high]``, each sorted."""
    i, j = low, middle
    for at in range(low, high):
        if j == high or (
            i < middle and not _is_before(text, starts[order[j]], ends[order[j]], starts[order[i]], ends[order[i]])
        ):
            merged[at] = order[i]
            i += 1
        else:
            merged[at] = order[j]
            j += 1
    for at in range(low, high):
        order[at] = merged[at]


@lean_kernel
def sort_by_count(text, starts, ends, counts, keys, order, buckets):
    """Sort all words by falling count, and equals by their keys: byte after byte, from the last to the first.

    This takes linear time. All counts from MOST on are equal here.

    ``text`` (n_bytes + 8,) uint8, ``starts`` and ``ends`` (n_words,) int64: word i is ``text[starts[i]:ends[i]]``
    ``counts`` (n_words,) int64
    ``keys`` (2, n_words) uint64 and ``order`` (2, n_words) int32: the result is in the first rows
    ``buckets`` (10, 256) int64, zeros, to work in
    """
    n_words = order.shape[1]
    for i in range(n_words):
        key = _key(text, starts[i], ends[i])
        keys[0, i], order[0, i] = key, i
        for place in range(8):
            buckets[place, _byte(key, place)] += 1
        for place in range(2):
            buckets[8 + place, _byte(_rank(counts[i]), place)] += 1
    for place in range(10):
        first = 0
        for value in range(256):
            first, buckets[place, value] = first + buckets[place, value], first
        source, target = place & 1, 1 - (place & 1)
        for i in range(n_words):
            key, word = keys[source, i], order[source, i]
            value = _byte(key, place) if place < 8 else _byte(_rank(counts[word]), place - 8)
            at = buckets[place, value]
            buckets[place, value] = at + 1
            keys[target, at], order[target, at] = key, word


@lean_kernel
def sort_alike(text, starts, ends, counts, keys, order, merged):
    """Sort what stands together in ``order``, of equal count and key: words that differ only later.

    ``text``, ``starts``, ``ends`` and ``counts`` as in `sort_by_count`
    ``keys`` uint64 and ``order`` int32, each (n_words,), in the same order
    ``merged`` (n_words,) int32, to work in
    """
    first = 0
    for last in range(1, order.shape[0] + 1):
        if last < order.shape[0] and keys[last] == keys[first] and counts[order[last]] == counts[order[first]]:
            continue
        if _goes_on(keys[first]):
            n = 1
            while n < last - first:
                for low in range(first, last - n, 2 * n):
                    _merge(text, starts, ends, order, merged, low, low + n, min(low + 2 * n, last))
                n *= 2
        first = last


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
