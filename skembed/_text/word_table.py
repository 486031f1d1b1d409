"""Compiled table of words: from the bytes of a word to its id.

A *table* of words is a hash table with open addressing. Each slot has four numbers: up to 16 bytes of the word itself,
then its length and id, and how often it was found; so all is in the cache line that the hash points at. Of a longer
word the slot has a hash and the place in the *arena*, where the bytes of all words stand, each followed by a line feed.
Words are compared byte by byte: two words never share an id.

The bytes of a word are those of the lowered word, but "_" is stored as 0x7F (a control character, in no word). So the
ASCII word is lowered by setting one bit in each byte.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, LEAN, lean_kernel
from .utf8 import fetch, fold_product, load_bytes, store_bytes

ARENA_PADDING = 16  # bytes that may be read and written beyond the end of an arena
STRIDE = 4  # numbers of a slot: first bytes or hash, last bytes or place in the arena, length and id, count
SHORT = 16  # bytes of a word that fit into its slot
N_WORDS, N_BYTES, FAULTS = 0, 1, 2  # `state` of a table
_AHEAD = 16  # words that are fetched before they are added

_LINE_FEED = 10
_U0, _U1, _U2, _U3, _U32 = (np.uint64(n) for n in (0, 1, 2, 3, 32))
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
# Marks the place of a longer word. 0xFF is in no UTF-8, so the last bytes of a short word never look like that.
_IS_LONG = np.uint64(0xFF00000000000000)
_MIX_A, _MIX_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


class Words(NamedTuple):
    """A table of words; ids are given in the order in which words are added."""

    slots: np.ndarray  # (n_slots * STRIDE,) uint64; n_slots is a power of two
    arena: np.ndarray  # (capacity,) uint8
    state: np.ndarray  # (3,) int64: number of words, of bytes in the arena, and faults of the text read last


def new_words(n_slots: int = 1024, n_bytes: int = 4096) -> Words:
    """Return a table without words."""
    arena = np.empty(n_bytes + ARENA_PADDING, np.uint8)
    return Words(np.zeros(n_slots * STRIDE, np.uint64), arena, np.zeros(3, np.int64))


@lean_kernel
def has_room(n_words, n_slots):
    """Whether so many words fit: some slots stay free, so that a search ends soon."""
    return 8 * n_words <= 5 * n_slots


@njit(**INLINE)
def first_bytes(n):
    """A mask of the lowest ``n`` bytes, 0 to 8, of a uint64."""
    if n >= 8:
        return _ALL
    return (_U1 << np.uint64(8 * n)) - _U1


@njit(**INLINE)
def hash_of(a, b):
    return fold_product(a ^ _MIX_A, b ^ _MIX_B)


@njit(**LEAN)
def _hash_bytes(arena, start, n):
    """Hash of a word of more than SHORT bytes."""
    bits = np.uint64(n)
    for i in range(0, n - 7, 8):
        bits = hash_of(load_bytes(arena, start + i), bits)
    return hash_of(load_bytes(arena, start + n - 8), bits)


@njit(**LEAN)
def _numbers_of(source, start, n):
    """The numbers of the slot of a word of ``n`` bytes, and its hash; for a longer one, of the place only the mark."""
    if n > SHORT:
        key = _hash_bytes(source, start, n)
        return key, _IS_LONG, key
    a = load_bytes(source, start) & first_bytes(n)
    b = load_bytes(source, start + 8) & first_bytes(max(n - 8, 0))
    return a, b, hash_of(a, b)


@njit(**LEAN)
def _same_bytes(a, a_start, b, b_start, n):
    """Whether two words of ``n`` bytes, more than SHORT, are equal."""
    for i in range(0, n - 8, 8):
        if load_bytes(a, a_start + i) != load_bytes(b, b_start + i):
            return False
    return load_bytes(a, a_start + n - 8) == load_bytes(b, b_start + n - 8)


@njit(**LEAN)
def shift_of(slots):
    """How far to shift a hash to the right to have a slot's number."""
    n = slots.shape[0] // STRIDE
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return np.uint64(64 - bits)


@njit(**INLINE)
def _find_short(slots, slot, last, a, b):
    """Place of the slot of a word of at most SHORT bytes, or of the free slot where it belongs."""
    while True:
        place = slot * np.uint64(STRIDE)
        if (slots[place] ^ a) | (slots[place + _U1] ^ b) == _U0 or slots[place + _U2] == _U0:
            return place
        slot = (slot + _U1) & last


@njit(**LEAN)
def _find_long(slots, slot, last, arena, source, start, n, key):
    """The same for a longer word, ``n`` bytes of ``source`` from ``start`` on; ``key`` is its hash."""
    while True:
        place = slot * np.uint64(STRIDE)
        meta = slots[place + _U2]
        if meta == _U0:
            return place
        if slots[place] == key and (meta >> _U32) == np.uint64(n):
            if _same_bytes(arena, np.int64(slots[place + _U1] & ~_IS_LONG), source, start, n):
                return place
        slot = (slot + _U1) & last


@njit(**INLINE)
def _put(slots, place, arena, state, a, b, n):
    """Add a word to a free slot; its bytes stand at the end of the arena already. Returns the id."""
    word = state[N_WORDS]
    slots[place], slots[place + _U1] = a, b
    slots[place + _U2] = (np.uint64(n) << _U32) | np.uint64(word)
    arena[state[N_BYTES] + n] = _LINE_FEED
    state[N_BYTES] += n + 1
    state[N_WORDS] = word + 1
    return word


@njit(**INLINE)
def _id_at(slots, place):
    return np.int64(slots[place + _U2] & np.uint64(0xFFFFFFFF))


@njit(**INLINE)
def id_of_short(known, known_shift, n_known, slots, shift, arena, state, a, b, key, n):
    """Id of a word of ``n`` bytes, at most SHORT, with the hash ``key``; a new word is added."""
    if known is not None:  # compiled by itself where there is none
        place = _find_short(known, key >> known_shift, np.uint64(known.shape[0] // STRIDE - 1), a, b)
        if known[place + _U2] != _U0:
            return _id_at(known, place)
    place = _find_short(slots, key >> shift, np.uint64(slots.shape[0] // STRIDE - 1), a, b)
    slots[place + _U3] += _U1
    if slots[place + _U2] != _U0:
        return n_known + _id_at(slots, place)
    store_bytes(arena, state[N_BYTES], a)
    store_bytes(arena, state[N_BYTES] + 8, b)
    return n_known + _put(slots, place, arena, state, a, b, n)


@njit(**LEAN)
def id_of_last(known, known_shift, known_arena, n_known, slots, shift, arena, state, n):
    """Id of the word of ``n`` bytes that stands beyond the end of the arena; a new word is added."""
    start = state[N_BYTES]
    a, b, key = _numbers_of(arena, start, n)
    if n <= SHORT:
        return id_of_short(known, known_shift, n_known, slots, shift, arena, state, a, b, key, n)
    b |= np.uint64(start)
    if known is not None:
        last = np.uint64(known.shape[0] // STRIDE - 1)
        place = _find_long(known, key >> known_shift, last, known_arena, arena, start, n, key)
        if known[place + _U2] != _U0:
            return _id_at(known, place)
    last = np.uint64(slots.shape[0] // STRIDE - 1)
    place = _find_long(slots, key >> shift, last, arena, arena, start, n, key)
    slots[place + _U3] += _U1
    if slots[place + _U2] != _U0:
        return n_known + _id_at(slots, place)
    return n_known + _put(slots, place, arena, state, a, b, n)


@lean_kernel
def move_slots(slots, larger):
    """Fill ``larger``, an empty table, with the words of another."""
    shift, last = shift_of(larger), np.uint64(larger.shape[0] // STRIDE - 1)
    for old in range(0, slots.shape[0], STRIDE):
        a, b, meta = slots[old], slots[old + 1], slots[old + 2]
        if meta == _U0:
            continue
        slot = (a if (meta >> _U32) > np.uint64(SHORT) else hash_of(a, b)) >> shift
        while larger[slot * np.uint64(STRIDE) + _U2] != _U0:
            slot = (slot + _U1) & last
        place = slot * np.uint64(STRIDE)
        larger[place], larger[place + _U1], larger[place + _U2] = a, b, meta
        larger[place + _U3] = slots[old + 3]


@lean_kernel
def merge_words(source, ends, slots, arena, state, ids):
    """Add words to a table with room enough; ``ids`` (n_words,) int32 receives their ids in it.

    ``source`` (n_bytes + ARENA_PADDING,) uint8 has the bytes of the words, each followed by one more
    ``ends`` (n_words,) int64, where they end in it
    """
    shift, last = shift_of(slots), np.uint64(slots.shape[0] // STRIDE - 1)
    n_words = ends.shape[0]
    start = 0
    for word in range(n_words):
        if word + _AHEAD < n_words:
            from_here = ends[word + _AHEAD - 1] + 1
            key = _numbers_of(source, from_here, ends[word + _AHEAD] - from_here)[2]
            fetch(slots, np.int64(key >> shift) * STRIDE)
        n = ends[word] - start
        a, b, key = _numbers_of(source, start, n)
        if n > SHORT:
            place = _find_long(slots, key >> shift, last, arena, source, start, n, key)
            b |= np.uint64(state[N_BYTES])
        else:
            place = _find_short(slots, key >> shift, last, a, b)
        if slots[place + _U2] != _U0:
            ids[word] = _id_at(slots, place)
        else:
            for i in range(0, n, 8):
                store_bytes(arena, state[N_BYTES] + i, load_bytes(source, start + i))
            ids[word] = _put(slots, place, arena, state, a, b, n)
        start = ends[word] + 1


@lean_kernel
def take_counts(slots, counts):
    """Write how often each word of a table was found, by its id."""
    for place in range(0, slots.shape[0], STRIDE):
        meta = slots[place + 2]
        if meta != np.uint64(0):
            counts[meta & np.uint64(0xFFFFFFFF)] = slots[place + 3]


@lean_kernel
def restore_underscores(arena, text):
    """Copy the bytes of words with "_" where 0x7F stands for it."""
    for i in range(text.shape[0]):
        text[i] = np.uint8(95) if arena[i] == np.uint8(0x7F) else arena[i]
