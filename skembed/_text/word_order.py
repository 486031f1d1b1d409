"""Compiled help for ordering words by count and code points, which is the order of the bytes of UTF-8 too."""

import numpy as np
from numba import njit

from .._compiled.compile import LEAN, lean_kernel
from .utf8 import fetch, load_bytes, store_bytes
from .word_table import first_bytes

_ODD, _PAIRS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_FIRST = 15  # bytes of a word that are compared as two numbers
PADDING = 16  # bytes that are read beyond the end of words
_DIGIT = 11  # bits that are sorted by at a time
N_PLACES = 1 << _DIGIT
_AHEAD = 16  # words that are asked for before they are looked at


@njit(**LEAN)
def _bytes_at(text, place, n):
    """The eight bytes at a place, of which the first ``n`` count, as a number in the order of the bytes."""
    bits = load_bytes(text, place) & first_bytes(max(n, 0))
    bits = ((bits & _ODD) << np.uint64(8)) | ((bits >> np.uint64(8)) & _ODD)
    bits = ((bits & _PAIRS) << np.uint64(16)) | ((bits >> np.uint64(16)) & _PAIRS)
    return (bits << np.uint64(32)) | (bits >> np.uint64(32))


@lean_kernel
def note_words(text, starts, ends, keys, others):
    """Write the first eight bytes of each word as a number, its *key*, and the next seven and its length as another.

    Both are in the order of the words. If both are equal so are the words, but for those longer than _FIRST.

    ``text`` (n_bytes + PADDING,) uint8, ``starts`` and ``ends`` (n_words,) int64: word i is ``text[starts[i]:ends[i]]``
    ``keys`` and ``others`` (n_words,) uint64
    """
    for i in range(keys.shape[0]):
        n = ends[i] - starts[i]
        keys[i] = _bytes_at(text, starts[i], n)
        others[i] = _bytes_at(text, starts[i] + 8, min(n, _FIRST) - 8) | np.uint64(min(n, _FIRST + 1))


@lean_kernel
def sort_by_keys(keys, order, room, room_for_order, places):
    """Sort numbers, and others with them; where keys are equal, `order` stays as it is.

    ``keys`` uint64 and ``order`` int32, and as much room for both
    ``places`` (N_PLACES,) int64 is room too
    """
    n = keys.shape[0]
    varies = np.uint64(0)
    for i in range(n):
        varies |= keys[i] ^ keys[0]
    from_keys, from_order, to_keys, to_order = keys, order, room, room_for_order
    is_in_room = False
    for shift in range(0, 64, _DIGIT):
        if (varies >> np.uint64(shift)) & np.uint64(N_PLACES - 1) == np.uint64(0):
            continue
        for digit in range(N_PLACES):
            places[digit] = 0
        for i in range(n):
            places[(from_keys[i] >> np.uint64(shift)) & np.uint64(N_PLACES - 1)] += 1
        at = np.int64(0)
        for digit in range(N_PLACES):
            at, places[digit] = at + places[digit], at
        for i in range(n):
            key = from_keys[i]
            digit_of_key = (key >> np.uint64(shift)) & np.uint64(N_PLACES - 1)
            to = np.uint64(places[digit_of_key])  # an unsigned index needs no look at whether it is negative
            places[digit_of_key] += 1
            to_keys[to], to_order[to] = key, from_order[i]
        from_keys, from_order, to_keys, to_order = to_keys, to_order, from_keys, from_order
        is_in_room = not is_in_room
    if is_in_room:
        for i in range(n):
            keys[i], order[i] = room[i], room_for_order[i]


@njit(**LEAN)
def _compare(text, starts, ends, others, a, b):
    """Below zero, zero or above: the order of two words that have the same key."""
    if others[a] != others[b]:
        return -1 if others[a] < others[b] else 1
    if others[a] & np.uint64(0xFF) <= np.uint64(_FIRST):
        return 0
    n_a, n_b = ends[a] - starts[a], ends[b] - starts[b]
    for i in range(_FIRST, min(n_a, n_b)):
        byte_a, byte_b = np.int64(text[starts[a] + i]), np.int64(text[starts[b] + i])
        if byte_a != byte_b:
            return byte_a - byte_b
    return n_a - n_b


@njit(**LEAN)
def _sort_alike(text, starts, ends, others, order, first, last, room):
    """Sort the words ``order[first:last]``, which have the same key, by merging longer and longer runs of them."""
    width = 1
    while width < last - first:
        for start in range(first, last - width, 2 * width):
            middle, end = start + width, min(start + 2 * width, last)
            for i in range(start, middle):
                room[i] = order[i]
            at, left, right = start, start, middle
            while left < middle:
                if right < end and _compare(text, starts, ends, others, room[left], order[right]) > 0:
                    order[at] = order[right]
                    right += 1
                else:
                    order[at] = room[left]
                    left += 1
                at += 1
        width *= 2


@lean_kernel
def join_words(text, starts, ends, counts, others, keys, order, numbers, words, sums):
    """Bring words that `sort_by_keys` sorted in the order of all their bytes, and join those that are the same.

    Returns how many different ones there are.

    ``text`` to ``others`` as in `note_words`, and ``counts`` (n_words,) int64
    ``keys`` uint64 and ``order`` int32, some of the words and their keys
    ``numbers`` int32, as many, receives which of the different words each word in ``order`` is
    ``words`` int32 and ``sums`` int64, as many, receive one of each that are the same, and how often it occurs
    """
    n = keys.shape[0]
    number = -1
    last = np.int64(0)
    while last < n:
        first = last
        while last < n and keys[last] == keys[first]:
            if last + _AHEAD < n:
                fetch(others, order[last + _AHEAD])
                fetch(counts, order[last + _AHEAD])
            last += 1
        if last - first > 1:
            _sort_alike(text, starts, ends, others, order, first, last, words)
        for i in range(first, last):
            if i == first or _compare(text, starts, ends, others, order[i - 1], order[i]) != 0:
                number += 1
                words[number], sums[number] = order[i], 0
            numbers[i] = number
            sums[number] += counts[order[i]]
    return number + 1


@lean_kernel
def gather_words(text, starts, out, ptr):
    """Copy words one after the other: what begins at ``starts[i]`` to ``out[ptr[i]:ptr[i + 1]]``, and nothing more.

    ``text`` (n_bytes + PADDING,) uint8
    """
    n = starts.shape[0]
    last = ptr[n]
    for i in range(n):
        if i + _AHEAD < n:
            fetch(text, starts[i + _AHEAD])
        start, at = starts[i], ptr[i]
        for j in range(0, ptr[i + 1] - at, 8):
            if at + j + 8 <= last:  # the next words come later
                store_bytes(out, at + j, load_bytes(text, start + j))
            else:
                for k in range(j, ptr[i + 1] - at):
                    out[at + k] = text[start + k]


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
