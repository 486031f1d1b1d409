"""Compiled table of words: from the bytes of a word to its id.

A slot of the hash table (open addressing) has four integers: up to 16 bytes of the word, or the hash of a longer one
and its offset in the *arena*, which has all words, each with a line feed; then its length and id; then its count.
Words are compared byte by byte. They are lowered, but "_" is 0x7F, so one bit lowers each byte of an ASCII word.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .._compiled.simd import prefetch_item
from .utf8 import fold_product, load_bytes, store_bytes

ARENA_PADDING = 16  # bytes that may be read and written beyond the end of an arena
STRIDE = 4  # integers of a slot: first bytes or hash, last bytes or offset in the arena, length and id, count
SHORT = 16  # bytes of a word that fit into its slot
N_WORDS, N_BYTES, FAULTS, MORE_WORDS, MORE_BYTES = range(5)  # `state` of a table

_LINE_FEED = 10
_AHEAD = 16  # how many words ahead slots are prefetched
_U0, _U1, _U2, _U3, _U32 = (np.uint64(n) for n in (0, 1, 2, 3, 32))
_STRIDE = np.uint64(STRIDE)
# Masks of the first n bytes of a uint64, and of those of the next one, for n from 0 to SHORT.
_MASKS_A = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(SHORT + 1)], np.uint64)
_MASKS_B = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(SHORT + 1)], np.uint64)
# Marks the offset of a longer word. 0xFF is in no UTF-8, so the last bytes of a short word never look like that.
_IS_LONG = np.uint64(0xFF00000000000000)
_MIX_A, _MIX_B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


class Words(NamedTuple):
    """A table of words; ids are given in the order in which words are added."""

    slots: np.ndarray  # (n_slots * STRIDE,) uint64; n_slots is a power of two
    arena: np.ndarray  # (capacity,) uint8
    # (5,) int64: number of words, of bytes in the arena, faults of the text read last; how many more words and bytes
    # a scan needs capacity for
    state: np.ndarray


def new_words(n_slots: int = 1024, n_bytes: int = 4096) -> Words:
    """Return a table without words."""
    arena = np.empty(n_bytes + ARENA_PADDING, np.uint8)
    return Words(np.zeros(n_slots * STRIDE, np.uint64), arena, np.zeros(5, np.int64))


def has_capacity(n_words, n_slots):
    """Whether a table is large enough for this many words: some slots stay free, so that a search ends soon."""
    return 8 * n_words <= 5 * n_slots


@njit(**INLINE_LLVM)
def first_bytes(n):
    """Masks of the first ``n`` bytes of two uint64 that follow each other."""
    i = np.uint64(min(n, SHORT))
    return _MASKS_A[i], _MASKS_B[i]


@njit(**INLINE_LLVM)
def hash_of(a, b):
    return fold_product(a ^ _MIX_A, b ^ _MIX_B)


@njit(**NO_REFCOUNT)
def _hash_bytes(arena, start, n):
    """Hash of a word of more than SHORT bytes."""
    bits = np.uint64(n)
    for i in range(0, n - 7, 8):
        bits = hash_of(load_bytes(arena, start + i), bits)
    return hash_of(load_bytes(arena, start + n - 8), bits)


@njit(**NO_REFCOUNT)
def _slot_contents(source, start, n):
    """The first two integers of the slot of a word of ``n`` bytes, and its hash; a longer one lacks its offset."""
    if n > SHORT:
        key = _hash_bytes(source, start, n)
        return key, _IS_LONG, key
    mask_a, mask_b = first_bytes(n)
    a, b = load_bytes(source, start) & mask_a, load_bytes(source, start + 8) & mask_b
    return a, b, hash_of(a, b)


@njit(**NO_REFCOUNT)
def _same_bytes(a, a_start, b, b_start, n):
    """Whether two words of ``n`` bytes, more than SHORT, are equal."""
    for i in range(0, n - 8, 8):
        if load_bytes(a, a_start + i) != load_bytes(b, b_start + i):
            return False
    return load_bytes(a, a_start + n - 8) == load_bytes(b, b_start + n - 8)


@njit(**INLINE_LLVM)
def _first_slot(slots, key):
    """Index of the slot at which the search for a word with this hash begins."""
    return (key * _STRIDE) & np.uint64(slots.shape[0] - 1)


@njit(**INLINE_LLVM)
def _next_slot(slots, slot):
    return (slot + _STRIDE) & np.uint64(slots.shape[0] - 1)


@njit(**INLINE_LLVM)
def prefetch_slot(slots, key):
    prefetch_item(slots, np.int64(_first_slot(slots, key)))


@njit(**INLINE_LLVM)
def _find_short(slots, key, a, b):
    """Slot of a word of at most SHORT bytes, or the free slot where it belongs."""
    slot = _first_slot(slots, key)
    while (slots[slot] ^ a) | (slots[slot + _U1] ^ b) != _U0 and slots[slot + _U2] != _U0:
        slot = _next_slot(slots, slot)
    return slot


@njit(**NO_REFCOUNT)
def _find_long(slots, arena, source, start, n, key):
    """The same for a longer word, ``n`` bytes of ``source`` from ``start`` on; ``key`` is its hash."""
    slot = _first_slot(slots, key)
    while slots[slot + _U2] != _U0:
        if slots[slot] == key and (slots[slot + _U2] >> _U32) == np.uint64(n):
            if _same_bytes(arena, np.int64(slots[slot + _U1] & ~_IS_LONG), source, start, n):
                break
        slot = _next_slot(slots, slot)
    return slot


@njit(**INLINE_LLVM)
def _add_word(table, slot, a, b, n):
    """Add a word to a free slot; its bytes are at the end of the arena already. Returns the id."""
    slots, arena, state = table
    word = state[N_WORDS]
    slots[slot], slots[slot + _U1] = a, b
    slots[slot + _U2] = (np.uint64(n) << _U32) | np.uint64(word)
    arena[state[N_BYTES] + n] = _LINE_FEED
    state[N_BYTES] += n + 1
    state[N_WORDS] = word + 1
    return word


@njit(**INLINE_LLVM)
def _id_at(slots, slot):
    return np.int64(slots[slot + _U2] & np.uint64(0xFFFFFFFF))


@njit(**INLINE_LLVM)
def id_of_short(known, table, a, b, key, n):
    """Id of a word of ``n`` bytes, at most SHORT, with the hash ``key``; a new word is added to ``table``."""
    slot = _find_short(known.slots, key, a, b)
    if known.slots[slot + _U2] != _U0:
        return _id_at(known.slots, slot)
    slots, arena, state = table
    slot = _find_short(slots, key, a, b)
    slots[slot + _U3] += _U1
    if slots[slot + _U2] != _U0:
        return known.state[N_WORDS] + _id_at(slots, slot)
    store_bytes(arena, state[N_BYTES], a)
    store_bytes(arena, state[N_BYTES] + 8, b)
    return known.state[N_WORDS] + _add_word(table, slot, a, b, n)


@njit(**NO_REFCOUNT)
def id_of_last(known, table, n):
    """Id of the word of ``n`` bytes beyond the end of the arena of ``table``; a new word is added."""
    slots, arena, state = table
    start = state[N_BYTES]
    a, b, key = _slot_contents(arena, start, n)
    if n <= SHORT:
        return id_of_short(known, table, a, b, key, n)
    slot = _find_long(known.slots, known.arena, arena, start, n, key)
    if known.slots[slot + _U2] != _U0:
        return _id_at(known.slots, slot)
    slot = _find_long(slots, arena, arena, start, n, key)
    slots[slot + _U3] += _U1
    if slots[slot + _U2] != _U0:
        return known.state[N_WORDS] + _id_at(slots, slot)
    return known.state[N_WORDS] + _add_word(table, slot, a, b | np.uint64(start), n)


@lean_kernel
def move_slots(slots, larger):
    """Fill ``larger``, an empty table, with the words of another."""
    for old in range(0, slots.shape[0], STRIDE):
        a, b, meta = slots[old], slots[old + 1], slots[old + 2]
        if meta == _U0:
            continue
        slot = _first_slot(larger, a if (meta >> _U32) > np.uint64(SHORT) else hash_of(a, b))
        while larger[slot + _U2] != _U0:
            slot = _next_slot(larger, slot)
        larger[slot], larger[slot + _U1], larger[slot + _U2], larger[slot + _U3] = a, b, meta, slots[old + 3]


@lean_kernel
def merge_words(source, ptr, none, table, ids):
    """Add words to a table with enough capacity, and write their ids in it; ``none`` is a table without words.

    The words are ``source``, which is padded, from ``ptr[i]`` on, each with a byte behind it.
    """
    for word in range(ids.shape[0]):
        ahead = word + _AHEAD
        if ahead < ids.shape[0]:
            _, _, key = _slot_contents(source, ptr[ahead], ptr[ahead + 1] - ptr[ahead] - 1)
            prefetch_slot(table.slots, key)
        start, n = ptr[word], ptr[word + 1] - ptr[word] - 1
        for i in range(0, n, 8):
            store_bytes(table.arena, table.state[N_BYTES] + i, load_bytes(source, start + i))
        ids[word] = id_of_last(none, table, n)


def take_counts(slots: np.ndarray, counts: np.ndarray) -> None:
    """Write how often each word of a table was found, by its id."""
    _, _, meta, found = slots.reshape(-1, STRIDE).T
    is_used = meta != 0
    counts[meta[is_used] & np.uint64(0xFFFFFFFF)] = found[is_used]
