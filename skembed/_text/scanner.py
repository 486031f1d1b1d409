"""Word ids of texts: the same for any number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .batches import (
    PADDING,
    Batch,
    Column,
    ListSlice,
    Text,
    lower_rows,
    lowered_characters,
    rows_in_context,
)
from .files import decoding_message
from .scan import new_piece, scan
from .strings import Room, join_strings
from .utf8 import CONTEXT, NOT_UTF8, join_slices, line_feeds
from .word_table import (
    ARENA_PADDING,
    FAULTS,
    N_BYTES,
    N_WORDS,
    STRIDE,
    Words,
    has_room,
    merge_words,
    move_slots,
    new_words,
    restore_underscores,
    take_counts,
)

_N_KEPT = 1 << 22  # ids for which a scanner keeps room
_LINE_FEED = ord("\n")


class Scan(NamedTuple):
    """Sentences as word ids."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64: where each sentence begins in the ids, and where the last one ends
    blank: np.ndarray | None  # (n_sentences,) bool: which lines of a file hold nothing but white space


class Scanner:
    """Turns one text after the other into ids, with a table of the words that are new; for one thread."""

    def __init__(self) -> None:
        self.words = new_words()
        self._rooms: deque[np.ndarray] = deque()  # for ids: used again, because fresh memory is slow
        self._twice: list[np.ndarray] = []  # ids that were counted and then found once more
        self._piece = new_piece()
        self._room = Room()

    @property
    def n_words(self) -> int:
        """Number of words in the table."""
        return int(self.words.state[N_WORDS])

    def scan(self, batch: Batch, known: Words | None = None) -> Scan:
        """Return the ids of a text: a word of `known` has the one it has there, and new words follow on.

        Raises
        ------
        TypeError
            If a sentence is not a string.
        ValueError
            If a file or a column is not valid UTF-8.
        """
        text, ends = self._as_text(batch)
        ptr = np.zeros(len(ends) + 1, np.int64)
        # Enough for twice the bytes, and a text grows by half at most when lowered.
        room = self._room_for(text.n_bytes)
        n_ids = self._scan(text, ends, known, room, ptr) if len(ends) else 0
        blank = None if text.file is None else _blank_lines(text, ends, ptr)
        return Scan(room[:n_ids], ptr, blank)

    def _room_for(self, size: int) -> np.ndarray:
        room = self._rooms.pop() if self._rooms else np.empty(0, np.int32)
        return room if len(room) >= size else np.empty(size + size // 4, np.int32)

    def reuse(self, ids: np.ndarray) -> None:
        """Take back the memory of ids that were found here and that nobody looks at any more; any thread may do so."""
        room = ids.base
        if room is not None and len(room) <= _N_KEPT:
            self._rooms.append(room)

    def counts(self) -> np.ndarray:
        """Return how often each word of the table was found in all texts, if no other words were known."""
        counts = np.empty(self.words.state[N_WORDS], np.int64)
        self.write_counts(counts)
        return counts

    def write_counts(self, counts: np.ndarray) -> None:
        """Do what :meth:`counts` does, into an array."""
        take_counts(self.words.slots, counts)
        for ids in self._twice:
            np.subtract.at(counts, ids, 1)

    def _as_text(self, batch: Batch) -> tuple[Text, np.ndarray]:
        """Return the text, and the places of the line feeds after its sentences."""
        if isinstance(batch, Text):
            return batch, _find_lines(batch)
        if isinstance(batch, Column):
            data = self._room.take(int(batch.offsets[-1] - batch.offsets[0]) + len(batch) + len(PADDING))
            ends = np.empty(len(batch), np.int64)
            join_slices(batch.data, batch.offsets, data, ends)
        else:
            data, ends = join_strings(batch.take() if isinstance(batch, ListSlice) else batch, self._room)
        data.flags.writeable = False
        return Text(data), ends

    def _scan(self, text: Text, ends: np.ndarray, known: Words | None, ids: np.ndarray, ptr: np.ndarray) -> int:
        read = (None, None, 0) if known is None else (known.slots, known.arena, int(known.state[N_WORDS]))
        progress = np.zeros(5, np.int64)
        state = self.words.state
        state[FAULTS] = n_stops = 0
        lowered = lowered_characters()
        while not scan(text.data, ends, lowered, *read, *self.words, progress, ids, ptr, *self._piece):
            if not state[FAULTS] & CONTEXT:
                self.words = with_room(self.words, self.words.slots.shape[0] // STRIDE, len(self.words.arena))
                continue
            # Python lowers this sentence, the second time all such ones; then the scan goes on at its beginning.
            row = int(progress[2])
            n_stops += 1
            try:
                text, ends = lower_rows(text, ends, np.array([row]) if n_stops == 1 else rows_in_context(text, ends))
            except UnicodeDecodeError:
                _complain(text)
                raise
            if known is None:  # otherwise nobody asks for counts
                self._twice.append(ids[ptr[row] : progress[1]].copy())
            progress[:] = ends[row - 1] + 1 if row else 0, ptr[row], row, 0, 0
            state[FAULTS] &= ~CONTEXT
        if state[FAULTS] & NOT_UTF8 or (state[FAULTS] and text.file is not None):
            _complain(text)
        return int(progress[1])


def pack_words(scanners: Sequence[Scanner]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the words of the tables of some scanners, one table after the other.

    All words in UTF-8, and some bytes more; where each begins and where it ends; and how often it occurred.
    """
    n_words, n_bytes = (np.cumsum([0] + [scanner.words.state[i] for scanner in scanners]) for i in (N_WORDS, N_BYTES))
    starts, ends, counts = (np.empty(n_words[-1], np.int64) for _ in range(3))
    text = np.empty(n_bytes[-1] + len(PADDING), np.uint8)
    for scanner, words, (first, last) in zip(scanners, map(slice, n_words, n_words[1:]), pairwise(n_bytes)):
        scanner.write_counts(counts[words])
        restore_underscores(scanner.words.arena, text[first:last])
        line_feeds(text[first:], last - first, ends[words])
        ends[words] += first
    starts[:1] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    return text, starts, ends, counts


class KnownWords:
    """Scans texts for the words of a vocabulary; any number of threads may do so at once.

    Parameters
    ----------
    words : sequence of str
        The vocabulary.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._table = table_of(words)
        self._idle: deque[Scanner] = deque()

    def scan(self, batch: Batch) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return ids, where the sentences begin, and the words that the ids beyond the vocabulary stand for."""
        try:
            scanner = self._idle.pop()
        except IndexError:
            scanner = Scanner()
        found, ptr, _ = scanner.scan(batch, self._table)
        ids = found.copy()
        scanner.reuse(found)
        new = words_of(scanner.words)
        if new:
            scanner.words = new_words()
        self._idle.append(scanner)
        return ids, ptr, new


def words_of(table: Words) -> list[str]:
    """Return the words of a table."""
    text = table.arena[: int(table.state[N_BYTES])].tobytes()
    return text.replace(b"\x7f", b"_").decode("utf-8").split("\n")[:-1]


def table_of(words: Sequence[str]) -> Words:
    """Return a table in which each word has its number as its id.

    Words that no text gives, such as those with a space or a capital letter, get ids too, and are never found.
    """
    # A line feed ends a word in the table, 0x7F stands for "_" there, and no bytes at all mark a free slot. A word with
    # any of these gives its place to one that no text has, such as "A1".
    odd = [i for i, word in enumerate(words) if not word or "\n" in word or "\x7f" in word]
    if odd:
        words = list(words)
        for i in odd:
            words[i] = f"A{i}"
    text = "\n".join([*words, ""]).replace("_", "\x7f").encode("utf-8", "surrogatepass")
    table = with_room(new_words(2, 0), len(words), len(text))
    source = np.frombuffer(text + bytes(ARENA_PADDING), np.uint8)
    merge_words(source, np.flatnonzero(source == _LINE_FEED), *table, np.empty(len(words), np.int32))
    return table


def with_room(words: Words, n_words: int, n_bytes: int) -> Words:
    """Return the table, or a larger one with the same words, with room for some more."""
    slots, arena, state = words
    n_slots = len(slots) // STRIDE
    while not has_room(int(state[N_WORDS]) + n_words, n_slots):
        n_slots *= 2
    if n_slots * STRIDE > len(slots):
        slots = np.empty(n_slots * STRIDE, np.uint64)  # not np.zeros, for which numpy asks for small pages
        slots[:] = 0
        move_slots(words.slots, slots)
    n_used = int(state[N_BYTES])
    if n_used + n_bytes + ARENA_PADDING > len(arena):
        arena = np.empty(2 * (n_used + n_bytes + ARENA_PADDING), np.uint8)
        arena[:n_used] = words.arena[:n_used]
    return Words(slots, arena, state)


def _find_lines(text: Text) -> np.ndarray:
    """Return the places of the line feeds."""
    ends = np.empty(text.n_bytes // 32 + 1, np.int64)
    n_lines = line_feeds(text.data, text.n_bytes, ends)
    if n_lines > len(ends):
        ends = np.empty(n_lines, np.int64)
        line_feeds(text.data, text.n_bytes, ends)
    return ends[:n_lines]


def _complain(text: Text) -> None:
    try:
        text.data[: text.n_bytes].tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        if text.file is None:
            raise ValueError(f"An Arrow array holds text that is not valid UTF-8: {error}") from None
        raise ValueError(decoding_message(text.file, "utf-8", error)) from None


def _blank_lines(text: Text, ends: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    starts = np.concatenate([[0], ends[:-1] + 1])
    blank = starts == ends
    for i in np.flatnonzero((ptr[1:] == ptr[:-1]) & ~blank).tolist():
        blank[i] = text.decode(starts[i], ends[i]).isspace()
    return blank
