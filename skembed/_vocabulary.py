"""The words that a model knows, ordered by falling frequency."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property

import numpy as np


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
        The words. Do not change the list.
    counts : ndarray of shape (n_words,), dtype int64
        Read-only.

    Examples
    --------
    >>> from skembed._vocabulary import Vocabulary
    >>> vocabulary, remap = Vocabulary.from_counts(["b", "a", "c"], [2, 2, 5], min_count=2)
    >>> vocabulary.words, vocabulary.counts.tolist()
    (['c', 'a', 'b'], [5, 2, 2])
    >>> remap.tolist()
    [2, 1, 0]
    """

    def __init__(self, words: list[str], counts: np.ndarray) -> None:
        self.words = words
        self.counts = np.array(counts, dtype=np.int64)
        self.counts.flags.writeable = False
        if self.counts.shape != (len(words),):
            raise ValueError(f"{len(words)} words but counts of shape {self.counts.shape}.")

    @classmethod
    def from_counts(
        cls,
        words: Sequence[str],
        counts: np.ndarray,
        *,
        min_count: int = 1,
        max_features: int | None = None,
    ) -> tuple[Vocabulary, np.ndarray]:
        """Order words by falling count and keep the frequent ones.

        Parameters
        ----------
        words : sequence of str
            Distinct words, by provisional id.
        counts : array-like of shape (n_words,)
            How often each occurs.
        min_count : int, default=1
            Keep words that occur at least this often.
        max_features : int or None, default=None
            Keep at most this many words.

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
        counts = np.asarray(counts, dtype=np.int64)
        order = _order_of(words, counts)
        order = order[: _n_kept(counts[order], min_count, max_features)]
        remap = np.full(len(words), -1, dtype=np.int32)
        remap[order] = np.arange(len(order), dtype=np.int32)
        return cls([words[i] for i in order.tolist()], counts[order]), remap

    def prune(self, min_count: int = 1, max_features: int | None = None) -> Vocabulary:
        """Return the vocabulary of the words that occur at least `min_count` times, at most `max_features` of them.

        The ids of the words that stay do not change.

        Raises
        ------
        ValueError
            If no word is left.
        """
        n_kept = _n_kept(self.counts, min_count, max_features)
        return self if n_kept == len(self) else Vocabulary(self.words[:n_kept], self.counts[:n_kept])

    @cached_property
    def index(self) -> dict[str, int]:
        """Id of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self.words == other.words and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, object]:
        return {"words": self.words, "counts": self.counts}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.counts.flags.writeable = False

    def __repr__(self) -> str:
        return f"Vocabulary(n_words={len(self)}, n_tokens={int(self.counts.sum())})"


def _order_of(words: Sequence[str], counts: np.ndarray) -> np.ndarray:
    """Order of falling count, and of code points among equals: that is also the order of bytes of UTF-8."""
    text, ptr = encode_words(words)
    lengths = np.diff(ptr)
    # Numbers sort faster than strings: the first 16 bytes as two of them, and only what is alike so far by the strings.
    first = np.lib.stride_tricks.sliding_window_view(np.append(text, np.zeros(16, np.uint8)), 16)[ptr[:-1]]
    first[np.arange(16) >= lengths[:, None]] = 0
    keys = first.view(">u8").astype(np.uint64)
    order = np.lexsort((keys[:, 1], keys[:, 0], -counts))
    alike = (keys[order[1:]] == keys[order[:-1]]).all(axis=1) & (counts[order[1:]] == counts[order[:-1]])
    edges = np.flatnonzero(np.diff(alike, prepend=False, append=False))
    for start, end in zip(edges[::2], edges[1::2] + 1):
        order[start:end] = sorted(order[start:end].tolist(), key=words.__getitem__)
    return order


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


def encode_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Pack words into one array of bytes; undone by :func:`decode_words`.

    Returns
    -------
    text : ndarray of shape (n_bytes,), dtype uint8
        UTF-8 of all words; lone surrogates, which UTF-8 does not allow, are kept as three bytes.
    ptr : ndarray of shape (n_words + 1,), dtype int64
        Word i is ``text[ptr[i]:ptr[i + 1]]``.
    """
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ptr = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, count=len(encoded)), out=ptr[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ptr


def decode_words(text: np.ndarray, ptr: np.ndarray) -> list[str]:
    """Undo :func:`encode_words`."""
    buffer, bounds = text.tobytes(), ptr.tolist()
    return [buffer[part].decode("utf-8", "surrogatepass") for part in map(slice, bounds[:-1], bounds[1:])]
