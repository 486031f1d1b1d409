"""Give words ids while a text streams by."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._compiled.threads import Threads
from .._validation.messages import brief
from .batches import Batch, Part, Text, encode_words, offsets
from .sources import iter_pieces, wrong_row
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .scanner import Found, TextTables


# A text of fewer batches is done before a second thread, with a table of words of its own, has made up for its start.
LEAST_BATCHES = 6


class Encoded(NamedTuple):
    """A batch of sentences."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64: where each begins in the ids, and where the last one ends
    starts: Sequence[int] | np.ndarray  # the sentences at which a document begins
    thread: int | None = None  # whose ids these are; None: they are final


class WordIds(dict[str, int]):
    """Token -> word id. A new token is stemmed once, and a new stem gets the next id; a stop word has -1.

    Threads may share it: a lock protects the lookup of a new token.

    Parameters
    ----------
    stem : callable or None
        From a token to its stem.
    stop_words : set of str, default=frozenset()
        Tokens to leave out.
    words : list of str, default=()
        Words, or stems, with the ids 0, 1, ...
    lock : RLock or None, default=None
        Held while a token is stemmed, because stemmers keep state. Objects that share a stemmer share its lock.

    Attributes
    ----------
    words : list of str
        Word, or stem, of each id.
    """

    max_words = 2**31 - 1  # ids are int32

    def __init__(
        self,
        stem: Any,
        stop_words: Set[str] = frozenset(),
        words: Sequence[str] = (),
        lock: threading.RLock | None = None,
    ) -> None:
        super().__init__()
        self.words = list(words)
        self._stem = stem
        self._id_of_stem: dict[str, int] = self if stem is None else {}
        self._id_of_stem.update(zip(self.words, range(len(self.words))))
        self.update(dict.fromkeys(stop_words, -1))
        self._lock = lock or threading.RLock()  # reentrant: a stemmer may encode text itself

    def __missing__(self, token: Any) -> int:
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string, got {brief(token)} of type {type(token).__name__}")
        token = str(token)
        with self._lock:
            number = self.get(token)
            if number is None:
                number = self[token] = self._id_of(token if self._stem is None else self._stem(token), token)
            return number

    def _id_of(self, stem: Any, token: str) -> int:
        if not isinstance(stem, str):
            raise TypeError(f"stemmer must return a string, got {brief(stem)} for the word {brief(token)}")
        stem = str(stem)
        number = self._id_of_stem.get(stem)
        if number is None:
            number = len(self.words)
            check_number(number + 1)
            self.words.append(stem)
            self._id_of_stem[stem] = number
        return number

    def of(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the ids of tokens, ndarray of int32."""
        return np.fromiter(map(self.__getitem__, tokens), np.int32, len(tokens))

    def snapshot(self) -> tuple[list[str], np.ndarray]:
        """Return the tokens seen so far, and their ids."""
        with self._lock:
            return list(self), np.fromiter(self.values(), np.int32, len(self))


def check_number(n_words: int) -> None:
    """Refuse more words than ids can count."""
    if n_words > WordIds.max_words:
        raise ValueError(
            f"More than {WordIds.max_words} distinct words. Use a stemmer, or an analyzer that returns fewer words."
        )


class Encoder:
    """Give words provisional ids while a text streams by.

    Where the tokenizer has the default pattern, compiled code reads the bytes of the text, with any number of threads;
    the words and ids are those of the Python code.

    Parameters
    ----------
    tokenizer : Tokenizer
        The options.
    threads : Threads or None, default=None
        For the work; None is one thread.
    at_once : bool, default=True
        The final ids are wanted while the text streams by. If not, :meth:`read` is called once, and words that need no
        Python have numbers in any order, some of them several, which takes less time with threads.

    Attributes
    ----------
    words : list of str
        Word (or stem) of each id, in the order of first appearance.
    n_rows : int
        Number of sentences encoded so far.
    """

    def __init__(self, tokenizer: Tokenizer, threads: Threads | None = None, at_once: bool = True) -> None:
        self.tokenizer = tokenizer
        self.n_rows = 0
        self._threads = threads or Threads(1)
        stop_words = tokenizer.stop_word_set if tokenizer.is_compiled else frozenset()
        self._word_ids = WordIds(tokenizer.build_stemmer(), stop_words)
        self._tables: TextTables | None = None
        self._is_plain = tokenizer.stemmer is None and not stop_words
        self._at_once = at_once or not self._is_plain
        # The id of each word of the tables, where that is not its number there; -1 for a stop word.
        self._id_of_word = np.empty(0, np.int32)
        self._counts = np.zeros(0, np.int64)
        self._after_blank = False  # whether the line of a file that was read last was blank

    @property
    def words(self) -> list[str]:
        self._take_words()
        return self._word_ids.words

    @property
    def counts(self) -> np.ndarray:
        """How often each word occurred in all that was encoded, ndarray of int64."""
        if self._tables is None:
            return self._counts[: len(self._word_ids.words)]
        counts = self._tables.counts()
        if self._is_plain:
            return counts
        self._take_words()
        kept = self._id_of_word >= 0
        sums = np.zeros(len(self._word_ids.words), np.int64)
        np.add.at(sums, self._id_of_word[kept], counts[kept])
        return sums

    def packed_words(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return `words` in UTF-8, where each begins, where it ends, and `counts`, when all is read."""
        if self._tables is not None and self._is_plain:
            return self._tables.packed(self._threads)
        text, ptr = encode_words(self.words)
        return text, ptr[:-1], ptr[1:], self.counts

    def memory(self) -> np.ndarray | None:
        """Return memory that nobody needs any more after `packed_words`, if there is some."""
        return self._tables.memory() if self._tables is not None and self._is_plain else None

    def part(self, thread: int | None) -> slice:
        """Return which of all words the ids of a thread mean, when all is read and final ids were not wanted before."""
        return slice(None) if thread is None or self._tables is None else self._tables.part(thread)

    def encode(self, sentences: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Encode sentences; may be called again and again, ids go on where they stopped.

        Parameters
        ----------
        sentences : iterable
            Strings, or whatever the tokenizer's callable analyzer takes. Consumed once.

        Returns
        -------
        ids : ndarray of shape (n_tokens,), dtype int32
            Word ids of all sentences, one sentence after the other.
        ptr : ndarray of shape (n_sentences + 1,), dtype int64
            Where each sentence begins in `ids`, and where the last one ends.

        Raises
        ------
        TypeError
            If an item is not a string, or the callable analyzer does not give strings; names the row, counted over
            all calls.
        """
        pieces = iter_pieces(sentences, self.tokenizer)
        found = [encoded[:2] for encoded in self.stream((piece, []) for piece in pieces)]
        if len(found) == 1:
            return found[0]
        lengths = [np.empty(0, np.int64), *(np.diff(ptr) for _, ptr in found)]
        return np.concatenate([np.empty(0, np.int32), *(ids for ids, _ in found)]), offsets(np.concatenate(lengths))

    def stream(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        """Do what :meth:`read` does, with final ids."""
        for batch in self.read(batches):
            if batch.thread is None:
                yield batch
                continue
            final = None if self._tables is None else self._tables.numbers(batch.thread)
            ids = batch.ids.copy() if final is None else final[batch.ids]
            self.reuse(batch)
            yield batch._replace(ids=ids, thread=None)

    def reuse(self, batch: Encoded) -> None:
        """Take back the memory of the ids that :meth:`read` gave, if nobody looks at them any more."""
        if batch.thread is not None and self._tables is not None:
            self._tables.reuse(batch.ids, batch.thread)

    def read(
        self, batches: Iterable[tuple[Batch, list[int]]], room_for: Callable[[int], np.ndarray] | None = None
    ) -> Iterator[Encoded]:
        """Encode batches of sentences as they come.

        Parameters
        ----------
        batches : iterable of (sentences, starts)
            As from :func:`iter_batches` or :func:`iter_text`.
        room_for : callable or None, default=None
            Where ids need not be changed, those of each batch are written to the memory that it gives for so many. With
            one thread only: nobody calls it before the batch before was dealt with.

        Yields
        ------
        encoded : Encoded
        """
        if not self.tokenizer.is_compiled:
            yield from self._read_in_python(batches)
            return
        from .scanner import TextTables  # numba takes a while to import

        if self._tables is None:
            self._tables = TextTables(self._threads.n_threads, self._at_once)
        tables = self._tables
        own, numbers = threading.local(), count()
        if not self._is_plain:
            room_for = None

        def scan(item: tuple[Batch, list[int], int]) -> tuple[Found, list[int], int]:
            if not hasattr(own, "number"):
                own.number = next(numbers)
            batch, starts, first_row = item
            return naming_rows(tables.scan, batch, first_row, own.number, room_for), starts, own.number

        for found, passed, number in self._threads.in_order(scan, self._with_rows(batches), LEAST_BATCHES):
            tables.add(found, number)
            check_number(max(tables.n_words, found.n_words))
            ids, ptr, blank = found.scan
            starts: Sequence[int] | np.ndarray = passed
            thread: int | None = number
            if not self._is_plain:
                final = tables.numbers(number)
                numbers_of_words = ids if final is None else final[ids]
                ids, ptr = self._without_stop_words(numbers_of_words, ptr)
                tables.reuse(found.scan.ids, number)
                thread = None
            if blank is not None:
                ptr, starts = self._split_documents(ptr, blank, bool(passed))
            self.n_rows += len(ptr) - 1
            yield Encoded(ids, ptr, starts, thread)

    def _with_rows(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[tuple[Batch, list[int], int]]:
        n_rows = self.n_rows  # the threads may still work on the rows before
        for batch, starts in batches:
            yield batch, starts, n_rows
            n_rows += 0 if isinstance(batch, Text) else len(batch)

    def _read_in_python(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        for batch, starts in batches:
            assert isinstance(batch, list)
            ids, ptr = encode_in_python(batch, self.tokenizer, self._word_ids, self.n_rows)
            self.n_rows += len(batch)
            n_more = len(self._word_ids.words) - len(self._counts)
            if n_more > 0:  # twice what is needed, so that it grows seldom
                self._counts = np.append(self._counts, np.zeros(2 * n_more + len(self._counts), np.int64))
            np.add.at(self._counts, ids, 1)
            yield Encoded(ids, ptr, starts)

    def _take_words(self) -> None:
        """Take over what the tables have learned since the last time."""
        words = [] if self._tables is None else self._tables.take_words()
        if self._is_plain:
            self._word_ids.words.extend(words)
            return
        self._id_of_word = np.append(self._id_of_word, self._word_ids.of(words))

    def _without_stop_words(self, ids: np.ndarray, ptr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn numbers of words into ids of stems, without stop words."""
        self._take_words()
        ids = self._id_of_word[ids]
        if self.tokenizer.stop_words:
            kept = ids >= 0
            ids, ptr = ids[kept], offsets(kept)[ptr]
        return ids, ptr

    def _split_documents(self, ptr: np.ndarray, blank: np.ndarray, new_file: bool) -> tuple[np.ndarray, np.ndarray]:
        """Leave out the blank lines of a file: a document begins after them, and with the file."""
        after_blank = np.concatenate([[self._after_blank or new_file], blank])
        self._after_blank = bool(after_blank[-1])
        return ptr[np.append(True, ~blank)], np.flatnonzero(after_blank[:-1][~blank])


def encode_in_python(
    batch: list[Any], tokenizer: Tokenizer, word_ids: WordIds, first_row: int, step: int = 64
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of some sentences and the offset of each sentence, for any tokenizer."""
    if tokenizer.analyzer == "word":
        _check_strings(batch, first_row)
    # A few sentences at a time: strings that die young stay in the processor's cache, which doubles the speed.
    ids: list[np.ndarray] = [np.empty(0, np.int32)]
    lengths: list[int] = []
    for start in range(0, len(batch), step):
        tokens = [tokenizer.analyze(item) for item in batch[start : start + step]]
        if tokenizer.analyzer != "word":
            tokens = [_as_list(found, row) for row, found in enumerate(tokens, first_row + start)]
        sizes = [len(found) for found in tokens]  # type: ignore[arg-type]
        try:
            found = np.fromiter(map(word_ids.__getitem__, chain.from_iterable(tokens)), np.int32, count=sum(sizes))
        except TypeError:
            # Finding the row is worth a second look only now that something is known to be wrong.
            _check_tokens(tokens, first_row + start)
            raise
        ids.append(found)
        lengths += sizes
    return np.concatenate(ids), offsets(np.array(lengths, np.int64))


def _check_tokens(tokens: list[Iterable[Any]], first_row: int) -> None:
    for row, found in enumerate(tokens, first_row):
        for token in found:
            if not isinstance(token, str):
                raise TypeError(
                    f"Row {row}: analyzer must return strings, got the token {brief(token)} of type "
                    f"{type(token).__name__}."
                ) from None


def naming_rows(scan: Callable[..., Any], batch: Batch, first_row: int, *args: Any) -> Any:
    """Scan a batch; the error for what is not a string names its row."""
    try:
        return scan(batch, *args)
    except TypeError:
        if isinstance(batch, (list, Part)):
            _check_strings(batch if isinstance(batch, list) else batch.take(), first_row)
        raise


def _check_strings(batch: list[Any], first_row: int) -> None:
    if set(map(type, batch)) == {str}:
        return
    for row, item in enumerate(batch, first_row):
        if not isinstance(item, str):
            raise wrong_row(row, item)


def _as_list(tokens: Any, row: int) -> Sequence[str]:
    if isinstance(tokens, (list, tuple)):
        return tokens
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(
            f"Row {row}: analyzer must return a list of tokens, got {brief(tokens)} of type {type(tokens).__name__}."
        )
    return list(tokens)
