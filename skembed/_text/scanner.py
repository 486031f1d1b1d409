"""Word ids of texts: the same for any number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .._compiled.threads import Threads
from .batches import (
    PADDING,
    Batch,
    Column,
    Part,
    Text,
    lower_rows,
    lowered_characters,
    rows_in_context,
    side_by_side,
)
from .files import decoding_message
from .scan import N_IDS, SENTENCE, Scanned, new_piece, scan
from .strings import Room, join_strings
from .utf8 import CONTEXT, NOT_UTF8, join_slices, line_feeds
from .word_table import (
    ARENA_PADDING,
    FAULTS,
    N_BYTES,
    N_WORDS,
    STRIDE,
    Words,
    merge_words,
    move_slots,
    new_words,
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

    def scan(
        self, batch: Batch, known: Words | None = None, room_for: Callable[[int], np.ndarray] | None = None
    ) -> Scan:
        """Return the ids of a text: a word of `known` has the one it has there, and new words follow on.

        They are written to memory that `room_for` gives for so many ids, and that must not be given to :meth:`reuse`.

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
        room = room_for(text.n_bytes) if room_for else self._room_for(text.n_bytes)
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
            data, ends = join_strings(batch.take() if isinstance(batch, Part) else batch, self._room)
        data.flags.writeable = False
        return Text(data), ends

    def _scan(self, text: Text, ends: np.ndarray, known: Words | None, ids: np.ndarray, ptr: np.ndarray) -> int:
        progress = np.zeros(5, np.int64)
        state = self.words.state
        state[FAULTS] = n_stops = 0
        lowered = lowered_characters()
        scanned = Scanned(progress, ids, ptr)
        while not scan(text.data, ends, lowered, known, self.words, scanned, self._piece):
            if not state[FAULTS] & CONTEXT:
                self.words = with_room(self.words, self.words.slots.shape[0] // STRIDE, len(self.words.arena))
                continue
            # Python lowers this sentence, the second time all such ones; then the scan goes on at its beginning.
            row = int(progress[SENTENCE])
            n_stops += 1
            try:
                text, ends = lower_rows(text, ends, np.array([row]) if n_stops == 1 else rows_in_context(text, ends))
            except UnicodeDecodeError:
                _complain(text)
                raise
            if known is None:  # otherwise nobody asks for counts
                self._twice.append(ids[ptr[row] : progress[N_IDS]].copy())
            progress[:] = ends[row - 1] + 1 if row else 0, ptr[row], row, False, 0
            state[FAULTS] &= ~CONTEXT
        if state[FAULTS] & NOT_UTF8 or (state[FAULTS] and text.file is not None):
            _complain(text)
        return int(progress[N_IDS])


class Found(NamedTuple):
    """The words of one text, as :class:`TextTables` found them."""

    scan: Scan
    n_words: int  # of the thread's table, up to this text
    n_bytes: int


class TextTables:
    """Words in a stream of texts, scanned by some threads.

    Each thread has a table of its own, with its own ids, so that none waits for another. The words of these tables get
    numbers in the order of first appearance, which does not depend on the threads; or, if the numbers are not wanted at
    once, one table after the other, where a word may be in several.

    Parameters
    ----------
    n_threads : int
        Number of threads.
    at_once : bool, default=True
        The numbers are wanted while the texts come, not only when all are done.
    """

    def __init__(self, n_threads: int, at_once: bool = True) -> None:
        self._scanners = [Scanner() for _ in range(n_threads)]
        self._at_once = at_once and n_threads > 1
        self._numbers = [np.empty(0, np.int32) for _ in range(n_threads)]
        self._added = [(0, 0) for _ in range(n_threads)]  # words, and bytes, that have numbers
        self._merged = new_words()
        self._n_bytes_taken = 0

    @property
    def _tables(self) -> list[Words]:
        return [self._merged] if self._at_once else [scanner.words for scanner in self._scanners]

    @property
    def n_words(self) -> int:
        """Number of words so far."""
        return sum(int(table.state[N_WORDS]) for table in self._tables)

    def scan(self, batch: Batch, thread: int, room_for: Callable[[int], np.ndarray] | None = None) -> Found:
        """Find the words of a text. Each thread calls this with a number of its own, and takes the texts in order."""
        scanner = self._scanners[thread]
        found = scanner.scan(batch, None, room_for)
        state = scanner.words.state
        return Found(found, int(state[N_WORDS]), int(state[N_BYTES]))

    def reuse(self, ids: np.ndarray, thread: int) -> None:
        """Take back the memory of a thread's ids, which nobody looks at any more."""
        self._scanners[thread].reuse(ids)

    def add(self, found: Found, thread: int) -> None:
        """Give numbers to the words that are new in a text. The texts come in order."""
        (n_words, n_bytes), self._added[thread] = self._added[thread], found[1:]
        if not self._at_once or n_words == found.n_words:
            return
        # The thread may go on meanwhile: what stands in its table stays there, or is copied to a larger one.
        new = self._scanners[thread].words.arena[n_bytes : found.n_bytes + ARENA_PADDING]
        self._merged = with_room(self._merged, found.n_words - n_words, found.n_bytes - n_bytes)
        self._numbers[thread] = numbers = _with_entries(self._numbers[thread], found.n_words)
        ends = np.flatnonzero(new[:-ARENA_PADDING] == _LINE_FEED)
        merge_words(new, ends, self._merged, numbers[n_words : found.n_words])

    def numbers(self, thread: int) -> np.ndarray | None:
        """Return the number of each word of a thread's table, if these are given at once."""
        return self._numbers[thread][: self._added[thread][0]] if self._at_once else None

    def part(self, thread: int) -> slice:
        """Return which words those of a thread's table are, if numbers are not given at once and all texts are done."""
        first = sum(int(table.state[N_WORDS]) for table in self._tables[:thread])
        return slice(first, first + int(self._tables[thread].state[N_WORDS]))

    def counts(self) -> np.ndarray:
        """Return how often each word occurred, by its number, when all texts are done."""
        found = [scanner.counts() for scanner in self._scanners]
        if not self._at_once:
            return np.concatenate(found)
        counts = np.zeros(self.n_words, np.int64)
        for of_thread, numbers, (n_words, _) in zip(found, self._numbers, self._added, strict=True):
            counts[numbers[:n_words]] += of_thread
        return counts

    def take_words(self) -> list[str]:
        """Return the words that are new since the last call, in order; of one table."""
        (table,) = self._tables
        start, self._n_bytes_taken = self._n_bytes_taken, int(table.state[N_BYTES])
        return words_of(table, start)

    def packed(self, threads: Threads) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what is known of the words if numbers are not given at once and all texts are done.

        All words in UTF-8, and some bytes more; where each begins and where it ends; and how often it occurred.
        """
        n_words, n_bytes = (np.cumsum([0] + [table.state[i] for table in self._tables]) for i in (N_WORDS, N_BYTES))
        numbers = (n_words[-1], np.int64)
        starts, ends, counts, text = side_by_side(numbers, numbers, numbers, (n_bytes[-1] + len(PADDING), np.uint8))

        def pack(number: int) -> None:
            first, last = n_bytes[number : number + 2]
            words = slice(*n_words[number : number + 2])
            self._scanners[number].write_counts(counts[words])
            text[first:last] = self._tables[number].arena[: last - first]
            text[first:last][text[first:last] == 0x7F] = ord("_")
            line_feeds(text[first:], last - first, ends[words])
            ends[words] += first
            starts[words.start] = first
            np.add(ends[words][:-1], 1, out=starts[words][1:])

        used = np.flatnonzero(np.diff(n_words)).tolist()
        list(threads.in_order(pack, used, least=2))  # a thread that found nothing need not begin
        return text, starts, ends, counts

    def memory(self) -> np.ndarray:
        """Return the memory of the largest table, when nothing is asked of the tables any more."""
        return max((table.slots for table in self._tables), key=len)


def _with_entries(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array, or one with room for twice as many entries as are needed; the further ones are zero."""
    if size <= len(array):
        return array
    larger = np.zeros(2 * size, array.dtype)
    larger[: len(array)] = array
    return larger


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


def words_of(table: Words, start: int = 0) -> list[str]:
    """Return the words of a table, from a byte of its arena on."""
    text = table.arena[start : int(table.state[N_BYTES])].tobytes()
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
    merge_words(source, np.flatnonzero(source == _LINE_FEED), table, np.empty(len(words), np.int32))
    return table


def with_room(words: Words, n_words: int, n_bytes: int) -> Words:
    """Return the table, or a larger one with the same words, with room for some more."""
    slots, arena, state = words
    n_slots = len(slots) // STRIDE
    while 8 * (int(state[N_WORDS]) + n_words) > 5 * n_slots:
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
        blank[i] = text.line(starts[i], ends[i]).isspace()
    return blank
