"""The words that a model knows, ordered by falling frequency."""

from __future__ import annotations

import operator
from collections.abc import Collection
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._compiled.threads import Threads
from .._validation.messages import brief
from .batches import decode_words, encode_words, offsets, side_by_side

LEAST_WORDS = 1 << 14  # fewer are ordered before a second thread has begun


class Vocabulary:
    """Words with their counts, in the order of falling count; words of equal count in the order of code points.

    The number of a word in this order is its id, so a higher `min_count` or a lower `max_features` keeps a prefix.

    Parameters
    ----------
    words : list of str
        Distinct words, already in that order.
    counts : array-like of shape (n_words,)
        How often each word occurs.

    Attributes
    ----------
    words : list of str
        The words. Do not change the list. Made at the first use, as most of the words of a text are rare.
    packed : tuple of two ndarray
        The words as :func:`encode_words` packs them.
    counts : ndarray of shape (n_words,), dtype int64
        Read-only.

    Examples
    --------
    >>> from skembed._text.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["c", "a", "b"], [5, 2, 1])
    >>> vocabulary.prune(min_count=2).words
    ['c', 'a']
    """

    counts: NDArray[np.int64]

    def __init__(self, words: list[str], counts: ArrayLike) -> None:
        self.words = words
        self._set_counts(counts, len(words))

    def _set_counts(self, counts: ArrayLike, n_words: int) -> None:
        self.counts = np.array(counts, dtype=np.int64)
        self.counts.flags.writeable = False
        if self.counts.shape != (n_words,):
            raise ValueError(f"{n_words} words but counts of shape {self.counts.shape}.")

    @classmethod
    def from_packed(cls, text: np.ndarray, ptr: np.ndarray, counts: np.ndarray) -> Vocabulary:
        """Make it of words in this order, as :func:`encode_words` packs them."""
        vocabulary = cls.__new__(cls)
        vocabulary.packed = text, ptr
        vocabulary._set_counts(counts, len(ptr) - 1)
        return vocabulary

    @cached_property
    def words(self) -> list[str]:
        return decode_words(*self.packed)

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        return encode_words(self.words)

    @classmethod
    def from_bytes(
        cls,
        text: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        counts: np.ndarray,
        *,
        min_count: int = 1,
        max_features: int | None = None,
        threads: Threads | None = None,
        memory: np.ndarray | None = None,
    ) -> tuple[Vocabulary, np.ndarray]:
        """Order words by falling count and keep the frequent ones; those that are the same are joined.

        Parameters
        ----------
        text, starts, ends : ndarray
            Words in UTF-8: word i, its provisional id, is ``text[starts[i]:ends[i]]``.
        counts : array-like of shape (n_words,)
            How often each occurs.
        min_count : int, default=1
            Keep words that occur at least this often.
        max_features : int or None, default=None
            Keep at most this many words.
        threads : Threads or None, default=None
            For the work; None is one thread.
        memory : ndarray or None, default=None
            To work in, and for `remap`; what is in it is lost.

        Returns
        -------
        vocabulary : Vocabulary
        remap : ndarray of shape (n_words,), dtype int32
            New id of each provisional id; -1 where the word was not kept.

        Raises
        ------
        ValueError
            If no word is left.
        """
        from .word_order import PADDING, gather_words  # numba takes a while to import

        if threads is None or len(counts) < LEAST_WORDS:
            threads = Threads(1)
        if len(text) < ends.max(initial=0) + PADDING:
            text = np.append(text, np.zeros(PADDING, np.uint8))
        counts, begins, sizes, remap = _order_words(
            text, starts, ends, np.asarray(counts, dtype=np.int64), threads, memory
        )
        n_kept = _n_kept(counts, min_count, max_features)
        if n_kept < len(counts):
            remap[remap >= n_kept] = -1
        ptr = offsets(sizes[:n_kept])
        packed = np.empty(ptr[-1], dtype=np.uint8)

        def gather(part: slice) -> None:
            gather_words(text, begins[part], packed, ptr[part.start : part.stop + 1])

        list(threads.in_order(gather, _parts(n_kept, threads)))
        return cls.from_packed(packed, ptr, counts[:n_kept]), remap

    def prune(self, min_count: int = 1, max_features: int | None = None) -> Vocabulary:
        """Return the vocabulary of the words that occur at least `min_count` times, at most `max_features` of them.

        The ids of the words that stay do not change.

        Raises
        ------
        ValueError
            If no word is left.
        """
        n_kept = _n_kept(self.counts, min_count, max_features)
        if n_kept == len(self):
            return self
        text, ptr = self.packed
        return Vocabulary.from_packed(text[: ptr[n_kept]], ptr[: n_kept + 1], self.counts[:n_kept])

    @cached_property
    def index(self) -> dict[str, int]:
        """Id of each word."""
        return dict(zip(self.words, range(len(self))))

    def ids_of(self, words: Collection[str]) -> NDArray[np.int64]:
        """Return the id of each word, ndarray of int64; -1 where it has none."""
        return np.fromiter((self.index.get(word, -1) for word in words), np.int64, len(words))

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return np.array_equal(self.counts, other.counts) and all(map(np.array_equal, self.packed, other.packed))

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {"packed": self.packed, "counts": self.counts}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.counts.flags.writeable = False

    def __repr__(self) -> str:
        return f"Vocabulary(n_words={len(self)}, n_tokens={int(self.counts.sum())})"


def _order_words(
    text: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    counts: np.ndarray,
    threads: Threads,
    memory: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Order words by falling count, and by code points among equals, which is the order of the bytes of UTF-8.

    Returns how often the word at each place occurs, where it begins and how many bytes it has, and the place of each
    word that was given.
    """
    # numba takes a while to import
    from .word_order import N_PLACES, join_words, note_places, note_words, place_words, sort_by_keys, take_between

    n_words, n_ranges = len(counts), threads.n_threads
    large, small = (n_words + n_ranges, np.uint64), (n_words + n_ranges, np.int32)
    arrays = side_by_side(*[large] * 5, *[small] * 7, memory=memory)
    keys, others, some, falling, sums = arrays[:5]
    order, room, numbers, words, by_count, place, remap = arrays[5:]

    # Each thread orders the words of a range of keys. A sample of the words tells where to cut.
    sample = [np.ascontiguousarray(array[:: max(1, n_words >> 12)]) for array in (starts, ends)]
    n_sample = len(sample[0])
    note_words(text, *sample, keys[:0], keys[:n_sample], others[:n_sample], np.zeros(1, np.int64))
    borders = np.sort(keys[:n_sample])[n_sample * np.arange(1, n_ranges) // n_ranges]

    def note(part: slice) -> np.ndarray:
        found = np.zeros(n_ranges, np.int64)
        note_words(text, starts[part], ends[part], borders, keys[part], others[part], found)
        return found

    n_found = np.sum(list(threads.in_order(note, _parts(n_words, threads))), axis=0)
    firsts = offsets(n_found + 1)[:-1]
    limits = np.concatenate([[np.uint64(0)], borders, [np.uint64(2**64 - 1)]])

    def sort(keys: np.ndarray, order: np.ndarray, room_for_keys: np.ndarray, room: np.ndarray) -> None:
        sort_by_keys(keys, order, room_for_keys, room, np.empty(N_PLACES, np.int64))

    def sort_range(number: int) -> int:
        """Order the words of a range by their bytes, then by count; returns how many different ones it has."""
        here = slice(firsts[number], firsts[number] + n_found[number])
        take_between(keys[:n_words], *limits[number : number + 2], order[here.start :], some[here.start :])
        sort(some[here], order[here], falling[here], room[here])
        n_different = join_words(
            text,
            starts,
            ends,
            counts,
            others,
            some[here],
            order[here],
            numbers[here],
            words[here],
            sums.view(np.int64)[here],
        )
        here = slice(here.start, here.start + n_different)
        np.invert(sums[here], out=falling[here])
        by_count[here] = np.arange(n_different, dtype=np.int32)
        sort(falling[here], by_count[here], some[here], room[here])
        return int(n_different)

    n_different = np.array(list(threads.in_order(sort_range, range(n_ranges))), np.int64)
    n_in_all = int(n_different.sum())
    # Nobody compares words, or adds up counts, any more.
    totals, begins, sizes = (array.view(np.int64)[:n_in_all] for array in (sums, keys, others))

    def place_range(number: int) -> None:
        reached = np.empty(n_ranges, np.int64)
        ordered = firsts, firsts + n_different, falling, by_count, words
        place_words(number, *ordered, starts, ends, reached, place, totals, begins, sizes)
        here = slice(firsts[number], firsts[number] + n_found[number])
        note_places(order[here], numbers[here], place[here], remap)

    list(threads.in_order(place_range, range(n_ranges)))
    return totals, begins, sizes, remap[:n_words]


def _parts(size: int, threads: Threads) -> list[slice]:
    """Cut so many items into a part of about the same size for each thread."""
    cuts = [size * i // threads.n_threads for i in range(threads.n_threads + 1)]
    return list(map(slice, cuts, cuts[1:]))


def check_limits(min_count: int, max_features: int | None) -> tuple[int, int | None]:
    """Return both as int, or say which one is wrong."""
    for name, value in (("min_count", min_count), ("max_features", max_features)):
        if value is None and name == "max_features":
            continue
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"{name} must be an integer, got {brief(value)}.") from None
        if isinstance(value, (bool, np.bool_)) or not 1 <= number <= np.iinfo(np.int64).max:
            raise ValueError(f"{name} must be an integer of at least 1 and at most 2**63 - 1, got {brief(value)}.")
    return int(min_count), None if max_features is None else int(max_features)


def _n_kept(counts: np.ndarray, min_count: int, max_features: int | None) -> int:
    """Return how many words stay, for `counts` in falling order."""
    min_count, max_features = check_limits(min_count, max_features)
    if not len(counts):
        raise ValueError(
            "The text has no words: it is empty, or token_pattern, stop_words or the analyzer left nothing of it."
        )
    n_kept = int(np.count_nonzero(counts >= min_count))
    if not n_kept:
        raise ValueError(
            f"No word is left: the text has {len(counts)} distinct words and the most frequent occurs {counts[0]} "
            f"times, below min_count={min_count}. Lower min_count to {counts[0]} or less."
        )
    return n_kept if max_features is None else min(n_kept, max_features)


def begins_with(words: list[str], vocabulary: dict[str, int]) -> bool:
    """Whether the words of a corpus begin with a vocabulary, in the same order and with the same ids."""
    n_words = len(vocabulary)
    return list(vocabulary) == words[:n_words] and list(vocabulary.values()) == list(range(n_words))
