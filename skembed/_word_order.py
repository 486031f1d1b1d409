"""Compiled ordering of words by code points, which is the order of the bytes of UTF-8 too; counts, and ids for ids."""

import numpy as np
from numba import njit

from ._bytes import load_bytes, store_bytes
from ._compile import INLINE, LEAN, lean_kernel
from ._word_table import STRIDE, first_bytes

ROOM = 160  # rows of `stack`: each range that waits is at least as long as all that came after it
_ODD, _PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_AT_ONCE = 7  # bytes of a word that are compared at a time
MOST = 0xFFFF  # from which counts on words are few
_FEW = 16  # words that are quicker sorted one by one


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
def _insert(order, keys, first, last):
    """Sort a few words by their keys."""
    for i in range(first + 1, last):
        key, word = keys[i], order[i]
        j = i
        while j > first and keys[j - 1] > key:
            keys[j], order[j] = keys[j - 1], order[j - 1]
            j -= 1
        keys[j], order[j] = key, word


@njit(**LEAN)
def _split(order, keys, first, last):
    """Bring keys below one of them, and then those equal to it if these words go on, to the front.

    Returns where the two parts end. No branch depends on a key: which way it goes cannot be foretold.
    """
    a, b, c = keys[first], keys[(first + last) // 2], keys[last - 1]
    pivot = max(min(a, b), min(max(a, b), c))
    low = first
    for i in range(first, last):
        key, word = keys[i], order[i]
        keys[i], order[i] = keys[low], order[low]
        keys[low], order[low] = key, word
        low += 1 if key < pivot else 0
    if low > first and not _goes_on(pivot):  # no other word has this key
        return low, low
    high = low
    for i in range(low, last):
        key, word = keys[i], order[i]
        keys[i], order[i] = keys[high], order[high]
        keys[high], order[high] = key, word
        high += 1 if key == pivot else 0
    return low, high


@njit(**LEAN)
def _wait(stack, waiting, first, last, depth, has_keys):
    """Put a range of words that have their first ``depth`` bytes in common on the stack."""
    if last - first > 1:
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3] = first, last, depth, has_keys
        waiting += 1
    return waiting


@njit(**LEAN)
def _sort(text, starts, ends, order, keys, first, last, stack):
    """Sort ``order[first:last]``, words that begin alike: quicksort in three parts, some bytes at a time."""
    waiting = _wait(stack, 0, first, last, _AT_ONCE, 0)
    while waiting:
        waiting -= 1
        first, last, depth, has_keys = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if not has_keys:
            for i in range(first, last):
                keys[i] = _key(text, starts[order[i]] + depth, ends[order[i]])
        if last - first <= _FEW:
            _insert(order, keys, first, last)
            start = first
            for i in range(first + 1, last + 1):
                if i == last or keys[i] != keys[start]:
                    if _goes_on(keys[start]):
                        waiting = _wait(stack, waiting, start, i, depth + _AT_ONCE, 0)
                    start = i
            continue
        low, high = _split(order, keys, first, last)
        n_less, n_alike, n_more = low - first, high - low, last - high
        alike_last = n_alike < max(n_less, n_more)  # the longest first: it waits below the others
        for turn in range(2):
            if (turn == 1) == alike_last and high > low and _goes_on(keys[low]):
                waiting = _wait(stack, waiting, low, high, depth + _AT_ONCE, 0)
            if turn == 0:
                if n_less > n_more:
                    waiting = _wait(stack, waiting, first, low, depth, 1)
                    waiting = _wait(stack, waiting, high, last, depth, 1)
                else:
                    waiting = _wait(stack, waiting, high, last, depth, 1)
                    waiting = _wait(stack, waiting, first, low, depth, 1)


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
def sort_alike(text, starts, ends, counts, keys, order, stack):
    """Sort what stands together in ``order``, of equal count and key: words that differ only later.

    ``text``, ``starts``, ``ends`` and ``counts`` as in `sort_by_count`
    ``keys`` uint64 and ``order`` int32, each (n_words,), in the same order
    ``stack`` (ROOM, 4) int64, to work in
    """
    start = 0
    for i in range(1, order.shape[0] + 1):
        if i == order.shape[0] or keys[i] != keys[start] or counts[order[i]] != counts[order[start]]:
            if i - start > 1 and _goes_on(keys[start]):
                _sort(text, starts, ends, order, keys, start, i, stack)
            start = i


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
