"""Scanners: from sentences to word ids, with a table of words for each thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .files import decoding_message
from .scan import N_IDS, SEGMENT, SENTENCE, Scanned, Segment, Tables, scan
from .sources import PADDING, Batch, Column, Text, join_strings, lower_rows, lowered_characters
from .utf8 import CONTEXT, NOT_UTF8, join_slices, line_feeds
from .word_table import (
    ARENA_PADDING,
    FAULTS,
    MORE_BYTES,
    MORE_WORDS,
    N_BYTES,
    N_WORDS,
    STRIDE,
    Words,
    has_capacity,
    merge_words,
    move_slots,
    new_words,
    take_counts,
)

_NO_WORDS = new_words(1, 0)
_LINE_FEED = ord("\n")
_MERGED_AT_ONCE = 1 << 12  # words
_LONG_SPAN = 1 << 16  # words that a span may have; it has far fewer, as its letters would be single


class Buffer:
    """Memory for one text after the other, since the first write to new memory is slow."""

    most = 1 << 24  # bytes that are kept

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, size: int, dtype: type) -> np.ndarray:
        """Return an array with anything in it; the one taken before is not used any more."""
        n_bytes = size * np.dtype(dtype).itemsize
        if n_bytes > self.most:
            return np.empty(size, dtype)
        if n_bytes > len(self._bytes):
            self._bytes = np.empty(n_bytes + n_bytes // 4, np.uint8)
        return self._bytes[:n_bytes].view(dtype)


class Scan(NamedTuple):
    """Sentences as word ids."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64: offset of each sentence in the ids
    blank: np.ndarray | None  # (n_sentences,) bool: which lines of a file hold nothing but white space


class Scanner:
    """Turns one text after the other into ids, with a table of the words that are new; for one thread."""

    def __init__(self) -> None:
        self.words = new_words()
        self._twice: list[np.ndarray] = []  # ids that were counted and then found once more
        sizes = (SEGMENT + 80, np.int64), (SEGMENT * 4, np.uint64), (SEGMENT + 1, np.int64)
        self._segment = Segment(*(np.empty(*size) for size in sizes))
        self._text, self._ids = Buffer(), Buffer()

    @property
    def n_words(self) -> int:
        """Number of words in the table."""
        return int(self.words.state[N_WORDS])

    def scan(self, batch: Batch, known: Words = _NO_WORDS) -> Scan:
        """Return the ids of a text: a word of `known` keeps its id, and the ids of new words follow."""
        text, ends = _as_text(batch, self._text)
        ptr = np.zeros(len(ends) + 1, np.int64)
        ids = self._ids.take(text.n_bytes, np.int32)  # enough for twice the bytes; lowered text grows by half at most
        n_ids = self._scan(text, ends, known, Scanned(np.zeros(5, np.int64), ids, ptr)) if len(ends) else 0
        blank = None if text.file is None else _blank_lines(text, ends, ptr)
        return Scan(ids[:n_ids].copy(), ptr, blank)

    def counts(self) -> np.ndarray:
        """Return how often each word of the table was found in all texts, if no other words were known."""
        counts = np.empty(self.n_words, np.int64)
        take_counts(self.words.slots, counts)
        for ids in self._twice:
            np.subtract.at(counts, ids, 1)
        return counts

    def _scan(self, text: Text, ends: np.ndarray, known: Words, scanned: Scanned) -> int:
        """Write the ids of a text and the offsets of its sentences; returns the number of ids."""
        progress, ids, ptr = scanned
        state = self.words.state
        state[FAULTS] = 0
        lowered = lowered_characters()
        while not scan(text.data, ends, Tables(lowered, known, self.words), scanned, self._segment):
            if not state[FAULTS] & CONTEXT:
                more = int(state[MORE_WORDS])
                self.words = with_capacity(self.words, more, int(state[MORE_BYTES]), is_sparse=more > _LONG_SPAN)
                continue
            # Python lowers all sentences; then the scan goes on at the beginning of this one.
            row = int(progress[SENTENCE])
            try:
                text, ends = lower_rows(text, ends)
            except UnicodeDecodeError:
                _complain(text)
                raise
            lowered = lowered_characters(is_lowered=True)
            if known is _NO_WORDS:  # otherwise the counts are not used
                self._twice.append(ids[ptr[row] : progress[N_IDS]].copy())
            progress[:] = ends[row - 1] + 1 if row else 0, ptr[row], row, False, 0
            state[FAULTS] &= ~CONTEXT
        if state[FAULTS] & NOT_UTF8 or (state[FAULTS] and text.file is not None):
            _complain(text)
        return int(progress[N_IDS])


class PackedWords(NamedTuple):
    """Distinct words: word i is ``text[starts[i]:ends[i]]``, in UTF-8."""

    text: np.ndarray  # uint8
    starts: np.ndarray  # (n_words,) int64
    ends: np.ndarray  # (n_words,) int64
    counts: np.ndarray  # (n_words,) int64: how often each occurred


def pack_words(scanners: Sequence[Scanner]) -> tuple[PackedWords, list[np.ndarray]]:
    """The words that some scanners found, each once; for each scanner the index in these of each of its ids."""
    counts_of = [scanner.counts() for scanner in scanners]
    table = scanners[0].words
    indices = [np.arange(len(counts_of[0]), dtype=np.int32)]
    for scanner, its_counts in zip(scanners[1:], counts_of[1:]):
        n_bytes = int(scanner.words.state[N_BYTES])
        ptr = _starts(scanner.words.arena[:n_bytes])
        indices.append(np.empty(len(its_counts), np.int32))
        for first in range(0, len(its_counts), _MERGED_AT_ONCE):  # since the table has most of them, it seldom grows
            ids = indices[-1][first : first + _MERGED_AT_ONCE]
            its_ptr = ptr[first : first + len(ids) + 1]
            table = with_capacity(table, len(ids), int(its_ptr[-1] - its_ptr[0]))
            merge_words(scanner.words.arena, its_ptr, _NO_WORDS, table, ids)
    counts = np.zeros(int(table.state[N_WORDS]), np.int64)
    for index, its_counts in zip(indices, counts_of):
        counts[index] += its_counts
    text = table.arena[: int(table.state[N_BYTES])].copy()
    ptr = _starts(text)
    text[text == 0x7F] = ord("_")
    return PackedWords(text, ptr[:-1], ptr[1:] - 1, counts), indices


def _starts(text: np.ndarray) -> np.ndarray:
    """Return where each of some words begins that are followed by a line feed, and where the next one would."""
    return np.append(0, np.flatnonzero(text == _LINE_FEED) + 1)


class KnownWords:
    """Scans texts for the words of a vocabulary; any number of threads may do so at once."""

    def __init__(self, words: Sequence[str]) -> None:
        self._table = table_of(words)
        self._idle: deque[Scanner] = deque()

    def scan(self, batch: Batch) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Return ids, the offset of each sentence in them, and the words of the ids beyond the vocabulary."""
        try:
            scanner = self._idle.pop()
        except IndexError:
            scanner = Scanner()
        ids, ptr, _ = scanner.scan(batch, self._table)
        new = words_of(scanner.words) if scanner.n_words else []
        if new:
            scanner.words = new_words()
        self._idle.append(scanner)
        return ids, ptr, new


def words_of(table: Words) -> list[str]:
    """Return the words of a table."""
    text = table.arena[: int(table.state[N_BYTES])].tobytes()
    return text.replace(b"\x7f", b"_").decode("utf-8").split("\n")[:-1]


def table_of(words: Sequence[str]) -> Words:
    """Return a table in which the id of each word is its index; a word that no text gives is never found."""
    # A line feed ends a word in the table, 0x7F stands for "_" there, and no bytes at all mark a free slot. A word with
    # any of these is replaced by one that no text has, such as "A1".
    odd = [i for i, word in enumerate(words) if not word or "\n" in word or "\x7f" in word]
    if odd:
        words = list(words)
        for i in odd:
            words[i] = f"A{i}"
    text = "\n".join([*words, ""]).replace("_", "\x7f").encode("utf-8", "surrogatepass")
    table = with_capacity(new_words(2, 0), len(words), len(text))
    source = np.frombuffer(text + bytes(ARENA_PADDING), np.uint8)
    merge_words(source, _starts(source), _NO_WORDS, table, np.empty(len(words), np.int32))
    return table


def with_capacity(words: Words, n_words: int, n_bytes: int, *, is_sparse: bool = False) -> Words:
    """The table, or a larger one, with capacity for more words and bytes; a sparse one may never use most slots."""
    slots, arena, state = words
    n_slots = len(slots) // STRIDE
    while not has_capacity(int(state[N_WORDS]) + n_words, n_slots):
        n_slots *= 2
    if n_slots * STRIDE > len(slots):
        if is_sparse:  # np.zeros takes no memory for slots that are never written
            slots = np.zeros(n_slots * STRIDE, np.uint64)
        else:
            slots = np.empty(n_slots * STRIDE, np.uint64)  # in large pages of memory, which np.zeros does not take
            slots[:] = 0
        if state[N_WORDS]:
            move_slots(words.slots, slots)
    n_used = int(state[N_BYTES])
    if n_used + n_bytes + ARENA_PADDING > len(arena):
        arena = np.empty(2 * (n_used + n_bytes + ARENA_PADDING), np.uint8)
        arena[:n_used] = words.arena[:n_used]
    return Words(slots, arena, state)


def _as_text(batch: Batch, buffer: Buffer) -> tuple[Text, np.ndarray]:
    """Return the text, and the offsets of the line feeds after its sentences."""
    if isinstance(batch, Text):
        return batch, _find_lines(batch)
    if isinstance(batch, Column):
        data = buffer.take(int(batch.offsets[-1] - batch.offsets[0]) + len(batch) + len(PADDING), np.uint8)
        ends = np.empty(len(batch), np.int64)
        join_slices(batch.data, batch.offsets, data, ends)
        data.flags.writeable = False
        return Text(data), ends
    return join_strings(batch)


def _find_lines(text: Text) -> np.ndarray:
    """Return the offsets of the line feeds."""
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
