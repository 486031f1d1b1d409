"""Compiled text to word ids: split, lower, hash and look up in one pass over UTF-8 bytes.

A *text* is an array of bytes in which each sentence is followed by a line feed, and the last one by 65 of them. A line
feed is in no word, so a run of bytes that may belong to a word never reaches into the next sentence.

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

from ._bytes import (
    bit_count,
    decode,
    encode,
    fetch,
    fold_product,
    is_small_greek,
    load_bytes,
    load_word,
    lowest_bit,
    store_bytes,
    word_mask,
)
from ._compile import INLINE, LEAN, lean_kernel

ARENA_PADDING = 16  # bytes that may be read and written beyond the end of an arena
STRIDE = 4  # numbers of a slot: first bytes or hash, last bytes or place in the arena, length and id, count
SHORT = 16  # bytes of a word that fit into its slot
N_WORDS, N_BYTES, FAULTS = 0, 1, 2  # `state` of a table
NOT_UTF8, SURROGATE, CONTEXT = 1, 2, 4  # bits of state[FAULTS]
IN_CONTEXT = 0xFFFFFFFF  # stands for the lowered character of one that only Python can lower

PIECE = 512  # bytes of text that are worked on at a time, a multiple of 64
_AHEAD = 16  # words that are fetched before they are added
LONG = 1 << 40  # added to the size of a run that is not plain ASCII

_LINE_FEED = 10
_DOTTED_I, _SIGMA = 0x130, 0x3C3
_U0, _U1, _U2, _U3, _U32 = (np.uint64(n) for n in (0, 1, 2, 3, 32))
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HIGH = np.uint64(0x8080808080808080)
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


class Piece(NamedTuple):
    """Room for the words of a piece of text: a kernel that makes arrays of its own pays for counting who uses them."""

    borders: np.ndarray  # (PIECE + 80,) int64: where each word begins, and where it ends
    found: np.ndarray  # (PIECE * 4,) uint64: of each its first eight bytes, lowered, the next eight, hash, and size


def new_piece() -> Piece:
    """Return room for the words of one piece of text."""
    return Piece(np.empty(PIECE + 80, np.int64), np.empty(PIECE * 4, np.uint64))


@njit(**INLINE)
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
def _hash(a, b):
    return fold_product(a ^ _MIX_A, b ^ _MIX_B)


@njit(**LEAN)
def _hash_bytes(arena, start, n):
    """Hash of a word of more than SHORT bytes."""
    bits = np.uint64(n)
    for i in range(0, n - 7, 8):
        bits = _hash(load_bytes(arena, start + i), bits)
    return _hash(load_bytes(arena, start + n - 8), bits)


@njit(**LEAN)
def _numbers_of(source, start, n):
    """The numbers of the slot of a word of ``n`` bytes, and its hash; for a longer one, of the place only the mark."""
    if n > SHORT:
        key = _hash_bytes(source, start, n)
        return key, _IS_LONG, key
    a = load_bytes(source, start) & first_bytes(n)
    b = load_bytes(source, start + 8) & first_bytes(max(n - 8, 0))
    return a, b, _hash(a, b)


@njit(**LEAN)
def _same_bytes(a, a_start, b, b_start, n):
    for i in range(n):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@njit(**LEAN)
def _shift_of(slots):
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


@njit(**LEAN)
def _id_of_last(known, known_shift, known_arena, n_known, slots, shift, arena, state, n):
    """Id of the word of ``n`` bytes that stands beyond the end of the arena; a new word is added."""
    start = state[N_BYTES]
    known_last, last = np.uint64(known.shape[0] // STRIDE - 1), np.uint64(slots.shape[0] // STRIDE - 1)
    a, b, key = _numbers_of(arena, start, n)
    if n <= SHORT:
        place = _find_short(known, key >> known_shift, known_last, a, b)
        if known[place + _U2] != _U0:
            return _id_at(known, place)
        place = _find_short(slots, key >> shift, last, a, b)
    else:
        b |= np.uint64(start)
        place = _find_long(known, key >> known_shift, known_last, known_arena, arena, start, n, key)
        if known[place + _U2] != _U0:
            return _id_at(known, place)
        place = _find_long(slots, key >> shift, last, arena, arena, start, n, key)
    slots[place + _U3] += _U1
    if slots[place + _U2] != _U0:
        return n_known + _id_at(slots, place)
    return n_known + _put(slots, place, arena, state, a, b, n)


@njit(**LEAN)
def _split_run(
    text, start, end, lowered, known, known_shift, known_arena, n_known, slots, shift, arena, state, ids, n_ids
):
    """Ids of the words of a run of bytes that holds a character above 127, or that is long; returns ``n_ids``."""
    at = start
    n = 0
    while at < end:
        code, size = np.int64(text[at]), 1
        if code >= 0x80:
            code, size = decode(text, at)
            if code < 0:
                state[FAULTS] |= NOT_UTF8
            elif 0xD800 <= code < 0xE000:
                state[FAULTS] |= SURROGATE
        lower = 0
        if 0 <= code < lowered.shape[0]:
            lower = np.int64(lowered[code])
        at += size
        ends = at >= end
        if lower == IN_CONTEXT:
            if code == _DOTTED_I:  # its dot becomes a character of its own, which is of no word
                lower, ends = np.int64(ord("i")), True
            elif is_small_greek(text, at):  # then it does not end a word
                lower = np.int64(_SIGMA)
            else:
                state[FAULTS] |= CONTEXT
                return n_ids
        if lower:
            n += encode(lower, arena, state[N_BYTES] + n)
        if n > 0 and (lower == 0 or ends):
            ids[n_ids] = _id_of_last(known, known_shift, known_arena, n_known, slots, shift, arena, state, n)
            n_ids += _U1
            n = 0
    return n_ids


@lean_kernel
def scan(
    text,
    ends,
    lowered,
    known,
    known_arena,
    n_known,
    slots,
    arena,
    state,
    progress,
    ids,
    ptr,
    borders,
    found,
):
    """Ids of all words of a text, in order; False if it stopped: enlarge the table of new words, and call again.

    It stops also at a character that only Python can lower: then state[FAULTS] has the bit CONTEXT, progress[1] is the
    number of ids so far, and progress[2] that of the sentence.

    ``text`` (n_bytes + padding,) uint8 and ``ends`` (n_sentences,) int64, the places of the line feeds after them
    ``lowered`` (n_characters,) uint32, the lowered character of each word character, else 0
    ``known`` and ``known_arena``, a table of words with the ids below ``n_known``; it is only read
    ``slots``, ``arena`` and ``state``, a table of further words: word i of it has the id ``n_known + i``
    ``progress`` (5,) int64, zeros at first: what must be remembered when the work is interrupted
    ``ids`` (n_bytes // 2 + 1,) int32 and ``ptr`` (n_sentences + 1,) int64, where the sentences begin in it, are written
    ``borders`` and ``found``, the fields of ``Piece``, are room to work in
    """
    known_shift, shift = _shift_of(known), _shift_of(slots)
    known_last, last = np.uint64(known.shape[0] // STRIDE - 1), np.uint64(slots.shape[0] // STRIDE - 1)
    n_slots = slots.shape[0] // STRIDE
    most_bytes = arena.shape[0] - ARENA_PADDING - 4 * PIECE
    first_block, sentence, start = progress[0], progress[2], progress[3]
    n_ids = np.uint64(progress[1])  # an unsigned index needs no look at whether it is negative
    inside = np.uint64(progress[4])  # 1 when the byte before the block may be of a word
    next_end = ends[sentence]
    n_bytes = ends[-1] + 1
    n_borders = _U0
    if inside != _U0:
        borders[0] = start
        n_borders = _U1
    for piece in range(first_block, n_bytes, PIECE):
        reach = piece - start if inside != _U0 else 0
        if not has_room(state[N_WORDS] + PIECE + reach // 3, n_slots) or state[N_BYTES] + 2 * reach > most_bytes:
            progress[0], progress[1], progress[2], progress[3] = piece, n_ids, sentence, start
            progress[4] = np.int64(inside)
            return False
        # First all words of a piece of text are cut out, and their slots fetched; then they are looked up. Fetching
        # ahead hides the latency of the memory.
        for block in range(piece, min(piece + PIECE, n_bytes), 64):
            word = word_mask(text, block)
            change = word ^ ((word << _U1) | inside)  # a bit where a run begins, and one after its end
            inside = word >> np.uint64(63)
            after = n_borders + bit_count(change)
            at = n_borders
            while at < after:
                for i in range(8):
                    borders[at + np.uint64(i)] = block + lowest_bit(change)
                    change &= change - _U1
                at += np.uint64(8)
            n_borders = after
        n_runs = np.int64(n_borders >> _U1)
        for run in range(n_runs):
            i = np.uint64(run)
            start = borders[i + i]
            n = borders[i + i + _U1] - start
            a, b = load_word(text, start, n)
            key = _hash(a, b)
            at = i << _U2
            found[at], found[at + _U1], found[at + _U2] = a, b, key
            found[at + _U3] = n if (a | b) & _HIGH == _U0 else n + LONG
            if n_known > 0:
                fetch(known, np.int64(key >> known_shift) * STRIDE)
            fetch(slots, np.int64(key >> shift) * STRIDE)
        for run in range(n_runs):
            i = np.uint64(run)
            start = borders[i + i]
            while start > next_end:
                sentence += 1
                ptr[sentence] = n_ids
                next_end = ends[sentence]
            at = i << _U2
            n = np.int64(found[at + _U3])
            if n > SHORT:
                end = start + (n if n < LONG else n - LONG)
                n_ids = _split_run(
                    text,
                    start,
                    end,
                    lowered,
                    known,
                    known_shift,
                    known_arena,
                    n_known,
                    slots,
                    shift,
                    arena,
                    state,
                    ids,
                    n_ids,
                )
                if state[FAULTS] & CONTEXT:
                    progress[1], progress[2] = n_ids, sentence
                    return False
                continue
            a, b, key = found[at], found[at + _U1], found[at + _U2]
            if n_known > 0:
                place = _find_short(known, key >> known_shift, known_last, a, b)
                if known[place + _U2] != _U0:
                    ids[n_ids] = _id_at(known, place)
                    n_ids += _U1
                    continue
            place = _find_short(slots, key >> shift, last, a, b)
            slots[place + _U3] += _U1
            if slots[place + _U2] != _U0:
                ids[n_ids] = n_known + _id_at(slots, place)
            else:
                store_bytes(arena, state[N_BYTES], a)
                store_bytes(arena, state[N_BYTES] + 8, b)
                ids[n_ids] = n_known + _put(slots, place, arena, state, a, b, n)
            n_ids += _U1
        start = borders[n_borders - _U1] if n_borders & _U1 else 0
        borders[0] = start
        n_borders &= _U1
    progress[1] = n_ids
    while sentence < ends.shape[0]:
        sentence += 1
        ptr[sentence] = n_ids
    return True


@lean_kernel
def move_slots(slots, larger):
    """Fill ``larger``, an empty table, with the words of another."""
    shift, last = _shift_of(larger), np.uint64(larger.shape[0] // STRIDE - 1)
    for old in range(0, slots.shape[0], STRIDE):
        a, b, meta = slots[old], slots[old + 1], slots[old + 2]
        if meta == _U0:
            continue
        slot = (a if (meta >> _U32) > np.uint64(SHORT) else _hash(a, b)) >> shift
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
    shift, last = _shift_of(slots), np.uint64(slots.shape[0] // STRIDE - 1)
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
