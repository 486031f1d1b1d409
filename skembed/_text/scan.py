"""Compiled text to word ids: cut, lower, hash and look up in one pass over UTF-8 bytes.

A *text* is an array of bytes in which each sentence is followed by a line feed, and the last one by 65 of them. A line
feed is in no word, so a *run*, of bytes that may belong to a word, never reaches into the next sentence. All bytes
above 127 may: only where a run has such bytes its characters are looked at.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._compiled.compile import INLINE, LEAN, lean_kernel
from .utf8 import (
    CONTEXT,
    ENDS,
    bit_count,
    encode,
    fetch,
    load_word,
    lowest_bit,
    next_lowered,
    store_places,
    utf8,
    word_mask,
)
from .word_table import (
    ARENA_PADDING,
    FAULTS,
    N_BYTES,
    N_WORDS,
    SHORT,
    STRIDE,
    has_room,
    hash_of,
    id_of_last,
    id_of_short,
    shift_of,
)

PIECE = 512  # bytes of text that are worked on at a time, a multiple of 64
_LOWERED = 64  # bytes of a run that may be lowered before its words are looked up
_U0, _U1, _U2, _U3 = (np.uint64(n) for n in (0, 1, 2, 3))
_HIGH = np.uint64(0x8080808080808080)
_TOO_HARD = np.uint64(0xFFFFFFFFFFFFFFFF)


class Piece(NamedTuple):
    """Room for the runs of a piece of text: a kernel that makes arrays of its own pays for counting who uses them."""

    borders: np.ndarray  # (PIECE + 80,) int64: where each run begins, and where it ends
    runs: np.ndarray  # (PIECE * 4,) uint64: of each its first eight bytes, lowered, the next eight, hash, and size
    words: np.ndarray  # (PIECE * 4,) uint64: the same of the words of those that are not plain
    hard: np.ndarray  # (PIECE,) uint64: which these runs are
    stops: np.ndarray  # (PIECE + 1,) int64: how many runs there are up to the end of each sentence, and in all


def new_piece() -> Piece:
    """Return room for the runs of one piece of text."""
    runs, words = np.empty((2, PIECE * 4), np.uint64)
    return Piece(np.empty(PIECE + 80, np.int64), runs, words, np.empty(PIECE, np.uint64), np.empty(PIECE + 1, np.int64))


@njit(**INLINE)
def _note_places(borders, at, bits, first):
    """Write ``first`` and the place of a set bit, summed, for each such bit, and then some numbers more."""
    while bits != _U0:
        for i in range(8):
            borders[at + np.uint64(i)] = first + lowest_bit(bits)
            bits &= bits - _U1
        at += np.uint64(8)


@njit(**INLINE)
def _fetch_slots(key, known, known_shift, n_known, slots, shift):
    if known is not None:
        fetch(known, np.int64(key >> known_shift) * STRIDE)
    fetch(slots, np.int64(key >> shift) * STRIDE)


@njit(**LEAN)
def _lower_run(text, start, end, lowered, words, n_words):
    """Cut a run with characters above 127 into words, and note them; returns how many have been noted then.

    Returns _TOO_HARD if a word of the run is too long, or something is the matter with a character.
    """
    a = b = _U0
    n = 0
    at = start
    while at < end:
        lower, size, matter = next_lowered(text, at, lowered)
        at += size
        if matter & ~ENDS:
            return _TOO_HARD
        if lower:
            bits, size = utf8(lower)
            if n + size > SHORT:
                return _TOO_HARD
            place = np.uint64(8 * n)
            if n < 8:
                a |= bits << place
                if n + size > 8:
                    b |= bits >> (np.uint64(64) - place)
            else:
                b |= bits << (place - np.uint64(64))
            n += size
        if n > 0 and (lower == 0 or at >= end or matter):
            i = n_words << _U2
            words[i], words[i + _U1], words[i + _U2], words[i + _U3] = a, b, hash_of(a, b), n
            n_words += _U1
            a = b = _U0
            n = 0
    return n_words


@njit(**LEAN)
def _split_run(
    text, start, end, lowered, known, known_shift, known_arena, n_known, slots, shift, arena, state, ids, n_ids
):
    """Ids of the words of any run; returns ``n_ids``."""
    at = start
    n = 0
    while at < end:
        lower, size, matter = next_lowered(text, at, lowered)
        at += size
        state[FAULTS] |= matter & ~ENDS
        if matter == CONTEXT:
            return n_ids
        if lower:
            n += encode(lower, arena, state[N_BYTES] + n)
        if n > 0 and (lower == 0 or at >= end or matter == ENDS):
            ids[n_ids] = id_of_last(known, known_shift, known_arena, n_known, slots, shift, arena, state, n)
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
    runs,
    words,
    hard,
    stops,
):
    """Ids of all words of a text, in order; False if it stopped: enlarge the table of new words, and call again.

    It stops also at a character that only Python can lower: then state[FAULTS] has the bit CONTEXT, progress[1] is the
    number of ids so far, and progress[2] that of the sentence.

    ``text`` (n_bytes + padding,) uint8 and ``ends`` (n_sentences,) int64, the places of the line feeds after them
    ``lowered`` (n_characters,) uint32, the lowered character of each word character, else 0
    ``known`` and ``known_arena``, a table of words with the ids below ``n_known``; it is only read. None where there is
    no such table
    ``slots``, ``arena`` and ``state``, a table of further words: word i of it has the id ``n_known + i``
    ``progress`` (5,) int64, zeros at first: what must be remembered when the work is interrupted
    ``ids`` (n_bytes // 2 + 1,) int32 and ``ptr`` (n_sentences + 1,) int64, where the sentences begin in it, are written
    ``borders`` and the others, the fields of ``Piece``, are room to work in
    """
    shift = known_shift = shift_of(slots)
    if known is not None:
        known_shift = shift_of(known)
    n_slots = slots.shape[0] // STRIDE
    most_bytes = arena.shape[0] - ARENA_PADDING - 4 * PIECE
    first_block, sentence, start = progress[0], progress[2], progress[3]
    n_ids = np.uint64(progress[1])  # an unsigned index needs no look at whether it is negative
    inside = np.uint64(progress[4])  # 1 when the byte before the block may be of a word
    last_end = ends[-1]
    next_end = ends[sentence]
    n_borders = _U0
    if inside != _U0:
        borders[0] = start
        n_borders = _U1
    for piece in range(first_block, last_end + 1, PIECE):
        reach = piece - start if inside != _U0 else 0
        if not has_room(state[N_WORDS] + PIECE + reach // 3, n_slots) or state[N_BYTES] + 2 * reach > most_bytes:
            progress[0], progress[1], progress[2], progress[3] = piece, n_ids, sentence, start
            progress[4] = np.int64(inside)
            return False
        # First all words of a piece of text are cut out, and their slots fetched; then they are looked up. Fetching
        # ahead hides the latency of the memory.
        n_stops = 0
        for block in range(piece, min(piece + PIECE, last_end + 1), 64):
            word = word_mask(text, block)
            change = word ^ ((word << _U1) | inside)  # a bit where a run begins, and one after its end
            inside = word >> np.uint64(63)
            while next_end < block + 64:
                before = change & ((_U2 << np.uint64(next_end - block)) - _U1)
                stops[n_stops] = (n_borders + bit_count(before)) >> _U1
                n_stops += 1
                # Sentences end where the text does, at the latest.
                next_end = ends[sentence + n_stops] if next_end < last_end else last_end + 64
            n_more = bit_count(change)
            if n_more > 32 or not store_places(borders, n_borders, change, block):
                _note_places(borders, n_borders, change, block)
            n_borders += n_more
        n_runs, n_hard, n_words = n_borders >> _U1, _U0, _U0
        for run in range(np.int64(n_runs)):
            i = np.uint64(run)
            start = borders[i + i]
            n = borders[i + i + _U1] - start
            a, b = load_word(text, start, n)
            key = hash_of(a, b)
            _fetch_slots(key, known, known_shift, n_known, slots, shift)
            at = i << _U2
            runs[at], runs[at + _U1], runs[at + _U2], runs[at + _U3] = a, b, key, n
            if n > SHORT or (a | b) & _HIGH != _U0:
                hard[n_hard] = i
                n_hard += _U1
        for which in range(np.int64(n_hard)):
            i = hard[np.uint64(which)]
            start, end = borders[i + i], borders[i + i + _U1]
            first, n_words = n_words, _TOO_HARD
            at = i << _U2
            if end - start <= _LOWERED and (runs[at] | runs[at + _U1]) & _HIGH != _U0:
                n_words = _lower_run(text, start, end, lowered, words, first)
            runs[at], runs[at + _U1], runs[at + _U3] = first, n_words, SHORT + 1
            if n_words == _TOO_HARD:
                n_words = first
            for word in range(first, n_words):
                _fetch_slots(words[(np.uint64(word) << _U2) + _U2], known, known_shift, n_known, slots, shift)
        stops[n_stops] = n_runs
        run = 0
        for stop in range(n_stops + 1):
            while run < stops[stop]:
                i = np.uint64(run)
                run += 1
                at = i << _U2
                a, b, key, n = runs[at], runs[at + _U1], runs[at + _U2], np.int64(runs[at + _U3])
                if n <= SHORT:
                    ids[n_ids] = id_of_short(known, known_shift, n_known, slots, shift, arena, state, a, b, key, n)
                    n_ids += _U1
                elif b != _TOO_HARD:  # of such a run, a and b are where its words are
                    for word in range(a, b):
                        at = np.uint64(word) << _U2
                        n, key = np.int64(words[at + _U3]), words[at + _U2]
                        ids[n_ids] = id_of_short(
                            known, known_shift, n_known, slots, shift, arena, state, words[at], words[at + _U1], key, n
                        )
                        n_ids += _U1
                else:
                    n_ids = _split_run(
                        text,
                        borders[i + i],
                        borders[i + i + _U1],
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
            if stop < n_stops:
                sentence += 1
                ptr[sentence] = n_ids
        start = borders[n_borders - _U1] if n_borders & _U1 else 0
        borders[0] = start
        n_borders &= _U1
    progress[1] = n_ids
    return True
