"""From text to word ids of a vocabulary, with a cache of the words seen."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .encoder import WordIds, encode_in_python, scan_rows
from .sources import Batch, offsets
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .characters import KnownNgrams
    from .scanner import KnownWords


_UNKNOWN = 1 << 10  # unknown words of a batch for which the rows of the vocabulary need not be copied


class EncodedSentences(NamedTuple):
    """Sentences as word ids."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64: offset of each sentence in the ids
    rows: np.ndarray  # (n_words,) or more, int64: row of each id in the vocabulary, -1 if unknown
    words: list[str]  # of the first ids
    more_words: Sequence[str] = ()  # unknown, of the ids after them: one list of both would be a copy for each batch

    def words_of(self, ids: np.ndarray) -> list[str]:
        """Return the words of some ids."""
        words, more_words, n_words = self.words, self.more_words, len(self.words)
        return [words[i] if i < n_words else more_words[i - n_words] for i in ids.tolist()]

    def unknown_words(self, ids: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return the distinct words of the ids of unknown words, and the position of each id's word among them."""
        if self.more_words:  # all are of these sentences
            return list(self.more_words), ids - len(self.words)
        distinct, positions = np.unique(ids, return_inverse=True)
        return self.words_of(distinct), positions


class KnownTokens:
    """Turns text into ids of a vocabulary; thread-safe.

    With a stemmer or stop words, Python code processes each distinct word once and caches it. If the tokenizer is
    compiled, compiled code then looks up the cached word. With neither, compiled code finds the words of the vocabulary
    itself, and nothing is cached; n-grams of characters too.
    """

    # The cache is emptied when it has more than this many words beyond the vocabulary, plus twice the size of the
    # vocabulary, so that memory does not grow with the texts.
    MOST_KEPT = 1 << 16

    def __init__(self, vocabulary: dict[str, int], tokenizer: Tokenizer) -> None:
        self._vocabulary, self._tokenizer = vocabulary, tokenizer
        self._rows = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
        self._is_plain = tokenizer.is_plain or tokenizer.characters is not None
        if self._is_plain:
            self._words = list(vocabulary)
            self._table = _table_of(self._words, tokenizer)
            self._with_unknown = np.append(self._rows, np.full(_UNKNOWN, -1))
        else:
            self._stemming = threading.RLock()  # for the stemmer, which all caches share
            self._seen = self._new_cache()

    def encode(self, batch: Batch, first_row: int = 0) -> EncodedSentences:
        """Return some sentences as ids; errors count rows from `first_row`."""
        if self._is_plain:
            ids, ptr, new = scan_rows(self._table.scan, batch, first_row)
            rows = self._with_unknown
            if len(new) > _UNKNOWN:
                rows = np.append(rows, np.full(len(new) - _UNKNOWN, -1))
            return EncodedSentences(ids, ptr, rows, self._words, new)
        seen = self._seen  # another thread may replace it
        encoded = seen.encode(batch, first_row)
        if seen.n_kept > self.MOST_KEPT + 2 * len(self._rows):
            self._seen = self._new_cache()
        return encoded

    def _new_cache(self) -> _SeenWords:
        return _SeenWords(list(self._vocabulary), self._rows, self._tokenizer, self._stemming)


def _table_of(words: list[str], tokenizer: Tokenizer) -> KnownWords | KnownNgrams:
    # numba takes a while to import
    if tokenizer.characters is not None:
        from .characters import KnownNgrams

        return KnownNgrams(words, tokenizer.characters)
    from .scanner import KnownWords

    return KnownWords(words)


class _SeenWords:
    """Cache of words seen in texts, with the ids of their stems; ids of unknown stems follow the vocabulary."""

    def __init__(
        self, vocabulary: list[str], rows: np.ndarray, tokenizer: Tokenizer, stemming: threading.RLock
    ) -> None:
        self._tokenizer = tokenizer
        self._ids = WordIds(tokenizer, vocabulary, stemming)
        self._rows = rows
        self._n_initial = len(self._ids)
        self._growing = threading.Lock()
        self._table: tuple[KnownWords, np.ndarray] | None = None  # of the words cached when it was built, and their ids

    @property
    def n_kept(self) -> int:
        return len(self._ids) - self._n_initial

    def encode(self, batch: Batch, first_row: int) -> EncodedSentences:
        if self._tokenizer.is_compiled:
            ids, ptr = self._scan(batch, first_row)
        else:
            assert isinstance(batch, list)
            ids, ptr = encode_in_python(batch, self._tokenizer, self._ids, first_row)
        words = self._ids.words
        rows, n_words = self._rows, len(words)
        if len(rows) < n_words:  # unknown words; twice what is needed, for later calls
            self._rows = rows = np.append(rows, np.full(2 * n_words - len(rows), -1))
        return EncodedSentences(ids, ptr, rows, words)

    def _scan(self, batch: Batch, first_row: int) -> tuple[np.ndarray, np.ndarray]:
        table, known = self._table or self._grow_table()
        found, ptr, new = scan_rows(table.scan, batch, first_row)
        ids = (np.append(known, self._ids.of(new)) if new else known)[found]
        if self._tokenizer.stop_words:
            kept = ids >= 0
            ids, ptr = ids[kept], offsets(kept)[ptr]
        if 4 * (len(self._ids) - len(known)) > len(known) + 1024:
            self._grow_table()
        return ids, ptr

    def _grow_table(self) -> tuple[KnownWords, np.ndarray]:
        """Rebuild the table of compiled code from all words cached so far."""
        from .scanner import KnownWords  # numba takes a while to import

        with self._growing:
            words, ids = self._ids.snapshot()
            if self._table is None or len(ids) > len(self._table[1]):
                self._table = KnownWords(words), ids
            return self._table
