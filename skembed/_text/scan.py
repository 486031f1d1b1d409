"""Compiled text to word ids: cut, lower, hash and look up in one pass over UTF-8 bytes.

A *text* is an array of bytes in which each sentence is followed by a line feed, and the last one by 65 of them. A
*span* is a sequence of bytes that may belong to a word: not a line feed, so it ends with its sentence. All bytes above
127 may belong to a word; only the characters of spans with such bytes are decoded.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, NO_REFCOUNT, lean_kernel
from .sources import CODE, MARK, STACKED, UNSPACED
from .utf8 import CONTEXT, bit_count, encode_character, load_bytes, lowest_bit, next_lowered, store_bytes, word_mask
from .word_table import (
    ARENA_PADDING,
    FAULTS,
    MORE_BYTES,
    MORE_WORDS,
    N_BYTES,
    N_WORDS,
    SHORT,
    STRIDE,
    Words,
    first_bytes,
    has_capacity,
    hash_of,
    id_of_last,
    id_of_short,
    prefetch_slot,
)

_has_capacity = njit(**INLINE_LLVM)(has_capacity)

SEGMENT = 512  # bytes of text that are scanned at a time, a multiple of 64
# What a scan remembers when it is interrupted: the first byte to read, the number of ids so far, the index of the
# sentence, and whether the byte before is in a span, and where that begins.
FROM, N_IDS, SENTENCE, IN_SPAN, SPAN_START = range(5)

_U0, _U1, _U2, _U3 = (np.uint64(n) for n in (0, 1, 2, 3))
_NONE, _ZERO, _ONE = (np.int64(n) for n in (-1, 0, 1))  # a plain number is another type, compiled once more
_HIGH, _LOWER = np.uint64(0x8080808080808080), np.uint64(0x2020202020202020)  # a bit of each byte


class Tables(NamedTuple):
    """What a scan looks up."""

    lowered: np.ndarray  # (n_characters,) uint32, as batches.lowered_characters returns it
    known: Words  # that are only read; perhaps none
    new: Words  # the other words, whose ids follow


class Scanned(NamedTuple):
    """What a scan writes; before the first one `progress` is zeros, and the others may hold anything."""

    progress: np.ndarray  # (5,) int64, zeros at first
    ids: np.ndarray  # (n_bytes,) or more, int32, of the words in order
    ptr: np.ndarray  # (n_sentences + 1,) int64: offset of each sentence in the ids


class Segment(NamedTuple):
    """Buffers for one segment: a kernel that allocates pays for reference counting."""

    borders: np.ndarray  # (SEGMENT + 80,) int64: where each span begins, and where it ends
    # (SEGMENT * 4,) uint64: of each word its first eight bytes, lowered, the next eight, hash and size; of a span that
    # is longer, or has bytes above 127, start and end, and a size above SHORT
    words: np.ndarray
    stops: np.ndarray  # (SEGMENT + 1,) int64: number of spans to the end of each sentence, and in all


@njit(**INLINE_LLVM)
def _note_bits(borders, at, bits, first):
    """Write ``first`` plus the position of each set bit. Eight at a time, so that few branches are mispredicted."""
    while bits != _U0:
        for i in range(8):
            borders[at + np.uint64(i)] = first + lowest_bit(bits)
            bits &= bits - _U1
        at += np.uint64(8)


@njit(**INLINE_LLVM)
def _find_spans(text, ends, scanned, segment):
    """Find the borders of the spans of the next segment; returns how many they are, and how many sentences end."""
    progress, borders, stops = scanned.progress, segment.borders, segment.stops
    n_sentences = ends.shape[0]
    last_end, sentence = ends[n_sentences - 1], progress[SENTENCE]
    next_end = ends[sentence]
    inside = np.uint64(progress[IN_SPAN])
    n_borders = inside
    borders[0] = progress[SPAN_START]
    n_stops = 0
    first = progress[FROM]
    for at in range(first, min(first + SEGMENT, last_end + 1), 64):
        mask = word_mask(text, at)
        change = mask ^ ((mask << _U1) | inside)  # a bit where a span begins, and one after its end
        inside = mask >> np.uint64(63)
        while next_end < at + 64:
            before = change & ((_U2 << np.uint64(next_end - at)) - _U1)
            stops[n_stops] = (n_borders + bit_count(before)) >> _U1
            n_stops += 1
            next_end = ends[sentence + n_stops] if sentence + n_stops < n_sentences else last_end + 64
        _note_bits(borders, n_borders, change, at)
        n_borders += bit_count(change)
    progress[IN_SPAN] = np.int64(inside)
    return n_borders, n_stops


@njit(**INLINE_LLVM)
def _list_words(text, tables, segment, n_borders, n_stops):
    """List the words of a segment and prefetch their slots."""
    borders, words, stops = segment
    stops[n_stops] = n_borders >> _U1
    for span in range(n_borders >> _U1):
        at = np.uint64(span) << _U1
        start, end = borders[at], borders[at + _U1]
        n = end - start
        mask_a, mask_b = first_bytes(n)
        a = (load_bytes(text, start) | _LOWER) & mask_a
        b = (load_bytes(text, start + 8) | _LOWER) & mask_b
        has_others = (a | b) & _HIGH != _U0
        at = np.uint64(span) << _U2
        if n > SHORT or has_others:
            words[at], words[at + _U1], words[at + _U3] = start, end, SHORT + 1
            continue
        key = hash_of(a, b)
        prefetch_slot(tables.known.slots, key)
        prefetch_slot(tables.new.slots, key)
        words[at], words[at + _U1], words[at + _U2], words[at + _U3] = a, b, key, n


@njit(**NO_REFCOUNT)
def _id_of_slice(text, start, end, tables):
    """Id of the bytes of a text as a word; lowered, they are the same."""
    arena, first, n = tables.new.arena, tables.new.state[N_BYTES], end - start
    for i in range(n):
        arena[first + i] = text[start + i]
    store_bytes(arena, first + n, _U0)
    return id_of_last(tables.known, tables.new, n)


@njit(**NO_REFCOUNT)
def _split_span(text, start, end, tables, ids, n_ids):
    """Ids of the words of any span; returns ``n_ids``."""
    arena, state = tables.new.arena, tables.new.state
    n = stacked = _ZERO
    letter = before = _NONE  # where a letter of a script without spaces begins, and the one right before it
    at = start
    while at <= end:
        found, size, fault = _ZERO, _ONE, _ZERO
        if at < end:
            found, size, fault = next_lowered(text, at, tables.lowered)
        if found & stacked:
            fault = CONTEXT
        state[FAULTS] |= fault
        if fault == CONTEXT:
            return n_ids
        stacked = found & STACKED
        if letter >= 0 and not found & MARK:
            if before >= 0:
                ids[n_ids] = _id_of_slice(text, before, at, tables)
                n_ids += _U1
            ids[n_ids] = _id_of_slice(text, letter, at, tables)
            n_ids += _U1
            letter, before = _NONE, letter
        if n > 0 and (found == 0 or found & UNSPACED):
            ids[n_ids] = id_of_last(tables.known, tables.new, n)
            n_ids += _U1
            n = _ZERO
        if found & UNSPACED:
            letter = at
        elif not found & MARK:
            before = _NONE
        if found and not found & UNSPACED and (n > 0 or not found & MARK):
            n += encode_character(found & CODE, arena, state[N_BYTES] + n)
        at += size
    return n_ids


@njit(**INLINE_LLVM)
def _look_up(text, tables, scanned, segment, n_stops):
    """Write the ids of the words listed; False if it stopped at a character that only Python can lower."""
    progress, ids, ptr = scanned
    words, stops = segment.words, segment.stops
    n_ids, sentence = np.uint64(progress[N_IDS]), progress[SENTENCE]
    word = _U0
    for stop in range(n_stops + 1):
        while word < np.uint64(stops[stop]):
            at = word << _U2
            word += _U1
            a, b, key, n = words[at], words[at + _U1], words[at + _U2], np.int64(words[at + _U3])
            if n <= SHORT:
                ids[n_ids] = id_of_short(tables.known, tables.new, a, b, key, n)
                n_ids += _U1
            else:
                n_ids = _split_span(text, np.int64(a), np.int64(b), tables, ids, n_ids)
                if tables.new.state[FAULTS] & CONTEXT:
                    progress[N_IDS], progress[SENTENCE] = n_ids, sentence
                    return False
        if stop < n_stops:
            sentence += 1
            ptr[sentence] = n_ids
    progress[N_IDS], progress[SENTENCE] = n_ids, sentence
    return True


@lean_kernel
def scan(text, ends, tables, scanned, segment):
    """Write the ids of all words of a text; False if it stopped: enlarge the table of new words by what its state says.

    Then call again. It stops also at a character that only Python can lower: then state[FAULTS] of the table has the
    bit CONTEXT, and the progress is that in the sentence.

    ``text`` (n_bytes + padding,) uint8 and ``ends`` (n_sentences,) int64, the offsets of the line feeds after them
    """
    progress, table = scanned.progress, tables.new
    while progress[FROM] <= ends[ends.shape[0] - 1]:
        first = progress[FROM]
        carried = first - progress[SPAN_START] if progress[IN_SPAN] else 0
        n_words, n_bytes = SEGMENT + carried, 4 * carried + 4 * SEGMENT
        if (
            not _has_capacity(table.state[N_WORDS] + n_words, table.slots.shape[0] // STRIDE)
            or table.state[N_BYTES] + n_bytes > table.arena.shape[0] - ARENA_PADDING
        ):
            table.state[MORE_WORDS], table.state[MORE_BYTES] = n_words, n_bytes
            return False
        # First all words of a segment are cut out, and their slots prefetched; then they are looked up. This hides the
        # latency of the memory.
        n_borders, n_stops = _find_spans(text, ends, scanned, segment)
        _list_words(text, tables, segment, n_borders, n_stops)
        if not _look_up(text, tables, scanned, segment, n_stops):
            return False
        progress[FROM] = first + SEGMENT
        if n_borders & _U1:
            progress[SPAN_START] = segment.borders[n_borders - _U1]
    return True
