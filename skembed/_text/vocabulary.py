"""The words that a model knows, ordered by falling frequency."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._compiled.threads import Threads
from .._validation.messages import brief
from .sources import decode_words, encode_words, offsets

_KEY_BYTES = 8
_MANY = 20_000  # words, from which on it takes longer to order them than to start a thread
_AT_ONCE = 1 << 12  # words
_MOST_INDEXED = 64 * _AT_ONCE  # bytes
_OF_WORD = np.array([2**64 - 2 ** (64 - 8 * n) for n in range(_KEY_BYTES + 1)], np.uint64)  # masks of the first n bytes


class Vocabulary:
    """Words with their counts, in the order of falling count; words of equal count in the order of code points.

    The index of a word in this order is its id, so a higher `min_count` or a lower `max_features` keeps a prefix.
    `words` is a list, made at the first use, as most of the words of a text are rare; `packed` has them as
    :func:`encode_words` packs them; `counts` (n_words,) int64 is read-only. Do not change the list.

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

    def words_of(self, ids: slice) -> list[str]:
        """Return the words of a range of ids, without making the others."""
        if "words" in vars(self):
            return self.words[ids]
        text, ptr = self.packed
        ptr = ptr[ids.start : ids.stop + 1]
        return decode_words(text[ptr[0] : ptr[-1]], ptr - ptr[0])

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        return encode_words(self.words)

    @classmethod
    def from_bytes(
        cls,
        text: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        counts: ArrayLike,
        min_count: int = 1,
        max_features: int | None = None,
        threads: Threads | None = None,
    ) -> tuple[Vocabulary, np.ndarray]:
        """Order words ``text[starts[i]:ends[i]]`` by falling count, and keep the frequent ones.

        Also returns the new id of each word, int32; -1 where it was not kept.
        """
        given = np.asarray(counts, dtype=np.int64)
        order = _by_count(text, starts, ends, given, threads)
        falling = given[order]
        n_kept = _n_kept(falling, min_count, max_features)
        kept = order[:n_kept]
        remap = np.full(len(order), -1, np.int32)
        remap[kept] = np.arange(n_kept, dtype=np.int32)
        ptr = offsets((ends - starts)[kept])
        packed = _words_at(text, starts[kept], ptr)
        return cls.from_packed(packed, ptr, falling[:n_kept]), remap

    def prune(self, min_count: int = 1, max_features: int | None = None) -> Vocabulary:
        """Return the vocabulary of the words that occur at least `min_count` times, at most `max_features` of them."""
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

    def rows_in(self, vocabulary: Mapping[str, int]) -> NDArray[np.int64]:
        """Return the row that a model's vocabulary gives to each word, ndarray of int64; -1 where it gives none."""
        return np.fromiter((vocabulary.get(word, -1) for word in self.words), np.int64, len(self))

    def look_up(self, values: np.ndarray, words: Collection[str]) -> np.ndarray:
        """Return the value of each word, of `values` by id; 0 where it has none. A dict has the row of each word."""
        if isinstance(words, dict) and len(self) < len(words):
            rows, found = self.rows_in(words), np.zeros(len(words), values.dtype)
            found[rows[rows >= 0]] = values[rows >= 0]
            return found
        return np.asarray(np.append(values, 0)[self.ids_of(words)])  # the id -1 is the last one

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return np.array_equal(self.counts, other.counts) and all(map(np.array_equal, self.packed, other.packed))

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {"packed": self.packed, "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.packed = state["packed"]
        self._set_counts(state["counts"], len(self.packed[1]) - 1)

    def __repr__(self) -> str:
        return f"Vocabulary(n_words={len(self)}, n_tokens={int(self.counts.sum())})"


def _by_count(
    text: np.ndarray, starts: np.ndarray, ends: np.ndarray, counts: np.ndarray, threads: Threads | None
) -> np.ndarray:
    """Return the order of words by falling count, and then by the bytes of UTF-8, which is that of code points."""
    data = text.tobytes() + bytes(_KEY_BYTES)
    eight_bytes = np.ndarray(len(text) + 1, ">u8", data, strides=(1,))  # those from each offset on

    def sort(some: np.ndarray) -> np.ndarray:
        begins = eight_bytes[starts[some]].astype("<u8") & _OF_WORD[np.minimum(ends[some] - starts[some], _KEY_BYTES)]
        capped = np.minimum(counts[some], 0xFFFF).astype(np.uint16)
        order = np.arange(len(some))
        for digits in [*begins.view(np.uint16).reshape(-1, 4).T, 0xFFFF - capped]:
            order = order[np.argsort(digits[order], kind="stable")]  # numpy sorts 16 bits by radix
        # What is left are words that begin alike, and counts that do not fit into 16 bits.
        begins, capped, order = begins[order], capped[order], some[order]
        is_tie = (capped[1:] == capped[:-1]) & ((begins[1:] == begins[:-1]) | (capped[1:] == 0xFFFF))
        ties = np.flatnonzero(np.append(is_tie, False) | np.append(False, is_tie))
        tied = order[ties]
        words = [data[start:end] for start, end in zip(starts[tied].tolist(), ends[tied].tolist())]
        tied = tied[sorted(range(len(words)), key=words.__getitem__)]
        order[ties] = tied[np.argsort(-counts[tied], kind="stable")]
        return order

    is_rare = counts <= 1  # about half of the words of a text
    parts = np.flatnonzero(~is_rare), np.flatnonzero(is_rare)
    in_threads = threads.in_order(sort, parts, least=2) if threads and len(counts) > _MANY else None
    return np.concatenate(list(in_threads or map(sort, parts)))


def _words_at(text: np.ndarray, starts: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Copy words one after the other, word i from ``text[starts[i]]`` on to ``ptr[i]``."""
    packed = np.empty(ptr[-1], np.uint8)
    for first in range(0, len(starts), _AT_ONCE):  # an index of eight bytes for each byte takes memory
        some = ptr[first : first + _AT_ONCE + 1]
        if some[-1] - some[0] > _MOST_INDEXED:
            for start, to, end in zip(starts[first:], some[:-1], some[1:]):
                packed[to:end] = text[start : start + end - to]
            continue
        shifts = np.repeat(starts[first : first + _AT_ONCE] - some[:-1], np.diff(some))
        packed[some[0] : some[-1]] = text[np.arange(some[0], some[-1]) + shifts]
    return packed


def check_limits(min_count: int, max_features: int | None) -> tuple[int, int | None]:
    """Return both as int, or say which one is wrong."""
    for name, value in (("min_count", min_count), ("max_features", max_features)):
        if value is None and name == "max_features":
            continue
        try:
            integer = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"{name} must be an integer, got {brief(value)}.") from None
        if isinstance(value, (bool, np.bool_)) or not 1 <= integer <= np.iinfo(np.int64).max:
            raise ValueError(f"{name} must be an integer of at least 1 and at most 2**63 - 1, got {brief(value)}.")
    return int(min_count), None if max_features is None else int(max_features)


def _n_kept(counts: np.ndarray, min_count: int, max_features: int | None) -> int:
    """Return how many words stay, for `counts` in falling order."""
    min_count, max_features = check_limits(min_count, max_features)
    if not len(counts):
        raise ValueError(
            "The text has no words: it is empty, or shorter than the n-grams of characters that are asked for, or "
            "token_pattern, stop_words or the analyzer left nothing of it."
        )
    n_kept = int(np.count_nonzero(counts >= min_count))
    if not n_kept:
        raise ValueError(
            f"No word is left: the text has {len(counts)} distinct words and the most frequent occurs {counts[0]} "
            f"times, below min_count={min_count}. Lower min_count to {counts[0]}."
        )
    return n_kept if max_features is None else min(n_kept, max_features)


def begins_with(words: list[str], vocabulary: dict[str, int]) -> bool:
    """Whether the words of a corpus begin with a vocabulary, in the same order and with the same ids."""
    n_words = len(vocabulary)
    if len(words) < n_words:
        return False
    return list(vocabulary) == words[:n_words] and list(vocabulary.values()) == list(range(n_words))
