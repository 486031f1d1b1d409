"""The words that a model knows, ordered by falling frequency."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np

from ._text import decode_words, encode_words
from ._threads import in_order

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
    >>> from skembed._vocabulary import Vocabulary
    >>> vocabulary = Vocabulary(["c", "a", "b"], [5, 2, 1])
    >>> vocabulary.prune(min_count=2).words
    ['c', 'a']
    """

    def __init__(self, words: list[str], counts: np.ndarray) -> None:
        self.words = words
        self._set_counts(counts, len(words))

    def _set_counts(self, counts: np.ndarray, n_words: int) -> None:
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
        n_threads: int = 1,
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
        n_threads : int, default=1
            Number of threads.

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
        from ._word_order import PADDING, gather_words  # numba takes a while to import

        n_threads = n_threads if len(counts) >= LEAST_WORDS else 1
        if len(text) < ends.max(initial=0) + PADDING:
            text = np.append(text, np.zeros(PADDING, np.uint8))
        words, falling, remap = _order_of(text, starts, ends, np.asarray(counts, dtype=np.int64), n_threads)
        n_kept = _n_kept(falling, min_count, max_features)
        if n_kept < len(words):
            words = words[:n_kept]
            remap[remap >= n_kept] = -1
        ptr = np.zeros(n_kept + 1, dtype=np.int64)
        np.cumsum((ends - starts)[words], out=ptr[1:])
        packed = np.empty(ptr[-1], dtype=np.uint8)

        def gather(part: slice) -> None:
            gather_words(text, starts, words[part], packed, ptr[part.start : part.stop + 1])

        list(in_order(gather, _parts(n_kept, n_threads), n_threads))
        return cls.from_packed(packed, ptr, falling[:n_kept]), remap

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

    def ids_of(self, words: Collection[str]) -> np.ndarray:
        """Return the id of each word, ndarray of int64; -1 where it has none."""
        return np.fromiter((self.index.get(word, -1) for word in words), np.int64, len(words))

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        mine, others = (*self.packed, self.counts), (*other.packed, other.counts)
        return all(map(np.array_equal, mine, others))

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {"packed": self.packed, "counts": self.counts}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.counts.flags.writeable = False

    def __repr__(self) -> str:
        return f"Vocabulary(n_words={len(self)}, n_tokens={int(self.counts.sum())})"


def _order_of(
    text: np.ndarray, starts: np.ndarray, ends: np.ndarray, counts: np.ndarray, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Order of falling count, and of code points among equals, which is that of the bytes of UTF-8.

    Returns one word of each that are the same, in this order; how often they occur; and the place of each word in it.
    """
    # numba takes a while to import
    from ._word_order import N_PLACES, join_words, note_places, note_words, sort_by_keys, take_between, take_in_order

    n_words = len(counts)
    keys, others = np.empty((2, n_words), np.uint64)

    def note(part: slice) -> None:
        note_words(text, starts[part], ends[part], keys[part], others[part])

    def sort(keys: np.ndarray, order: np.ndarray) -> None:
        sort_by_keys(keys, order, np.empty_like(keys), np.empty_like(order), np.empty(N_PLACES, np.int64))

    def sort_range(limits: tuple[int, int]) -> tuple[np.ndarray, ...]:
        """Order the words whose keys are within limits by their bytes."""
        order, some = np.empty(n_words, np.int32), np.empty(n_words, np.uint64)
        n_some = take_between(keys, np.uint64(limits[0]), np.uint64(limits[1]), order, some)
        order, some = order[:n_some], some[:n_some]
        sort(some, order)
        numbers, words = np.empty((2, len(order)), np.int32)
        sums = np.empty(len(order), np.int64)
        n_different = join_words(text, starts, ends, counts, others, some, order, numbers, words, sums)
        return order, numbers, words[:n_different], sums[:n_different]

    list(in_order(note, _parts(n_words, n_threads), n_threads))
    some = np.sort(keys[:: max(1, n_words >> 12)])
    borders = [0, *(int(some[len(some) * i // n_threads]) for i in range(1, n_threads)), 2**64 - 1]
    ranges = list(in_order(sort_range, pairwise(borders), n_threads))
    words, sums = (np.concatenate([part[i] for part in ranges]) for i in (2, 3))
    falling, order = (~sums).view(np.uint64), np.arange(len(words), dtype=np.int32)
    sort(falling, order)
    ordered, place = np.empty((2, len(words)), np.int32)
    take_in_order(order, words, ordered, place)
    places = np.empty(n_words, np.int32)
    ends = np.cumsum([len(different) for _, _, different, _ in ranges])

    def note_range(some: tuple[tuple[np.ndarray, ...], int]) -> None:
        (order, numbers, different, _), end = some
        note_places(order, numbers, place[end - len(different) : end], places)

    list(in_order(note_range, zip(ranges, ends, strict=True), n_threads))
    return ordered, (~falling).view(np.int64), places


def _parts(size: int, n_parts: int) -> Iterator[slice]:
    """Cut so many items into parts of about the same size."""
    cuts = [size * i // n_parts for i in range(n_parts + 1)]
    return map(slice, cuts, cuts[1:])


def check_limits(min_count: int, max_features: int | None) -> tuple[int, int | None]:
    """Return both as int, or say which one is wrong."""
    for name, value in (("min_count", min_count), ("max_features", max_features)):
        if value is None and name == "max_features":
            continue
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"{name} must be an integer, got {value!r}.") from None
        if isinstance(value, (bool, np.bool_)) or number < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
    return int(min_count), None if max_features is None else int(max_features)


def _n_kept(counts: np.ndarray, min_count: int, max_features: int | None) -> int:
    """Return how many words stay, for `counts` in falling order."""
    min_count, max_features = check_limits(min_count, max_features)
    if not len(counts):
        raise ValueError(
            "The text has no words: it is empty, or token_pattern, stop_words or the analyzer left nothing of it."
        )
    n_kept = int(np.searchsorted(-counts, -min_count, side="right"))
    if not n_kept:
        raise ValueError(
            f"No word is left: the text has {len(counts)} distinct words and the most frequent occurs {counts[0]} "
            f"times, below min_count={min_count}. Lower min_count to {counts[0]} or less."
        )
    return n_kept if max_features is None else min(n_kept, max_features)
