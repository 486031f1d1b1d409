"""Provisional ids for the words of a stream of text, its vocabulary when all is read, and warnings of odd words."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._compiled.threads import Threads
from .._validation.messages import brief, warn_at_user
from .sources import Batch, Column, Text, encode_words, offsets, wrong_row
from .tokenizer import Tokenizer, reads_strings
from .vocabulary import Vocabulary
from .words import UNSPACED_LETTER, marks

if TYPE_CHECKING:
    from .characters import CharacterEncoder
    from .scanner import Scan, Scanner


# The fraction of the words with such characters, and their mean length; those of a segmenter are shorter.
_MANY, _LONG = 1 / 3, 3.0
_LONGER = 20  # characters of a word in a script with spaces
_WITH_SIGNS = re.compile("[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff]")  # letters of India, Thailand and around
_BLOCK = 128  # code points of a script
_SAMPLE, _LEAST = 1000, 10  # words, the most frequent ones; how often they occur together


def warn_of_useless_stop_words(tokenizer: Tokenizer) -> None:
    """Warn of options that are not used, and of stop words that the words of a text never equal."""
    for name in tokenizer.unused_options():
        callable_ = "is a callable, which returns the words that count"
        why = callable_ if tokenizer.characters is None else "cuts the text into n-grams of characters"
        warn_at_user(f"{name} is not used, since analyzer {why}.")
    if callable(tokenizer.analyzer):
        return
    stop_words = tokenizer.stop_word_set if tokenizer.stop_words else frozenset()
    for stop_word in sorted(stop_words):
        found = tokenizer.split(stop_word)
        if not set(found) <= stop_words:
            warn_at_user(
                f"stop_words has {brief(stop_word)}, which a text never gives: it is lowered and split to "
                f"{brief(found)}, and these words stay. Put them into stop_words."
            )
            return


def warn_of_unsplit_text(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Warn of words that are whole phrases, or that a pattern has cut at the signs of vowels."""
    if callable(tokenizer.analyzer):
        return
    words = vocabulary.words_of(slice(0, _SAMPLE))
    fault = fault_of_words(tokenizer, words, vocabulary.counts[: len(words)])
    if fault:
        warn_at_user(fault)


def fault_of_words(tokenizer: Tokenizer, words: Sequence[str], counts: np.ndarray, least: int = _LEAST) -> str:
    """Why these are no words, and the option to set; "" if they seem to be, or no more than `least` are not."""
    total, lengths = max(1, counts.sum()), np.fromiter(map(len, words), np.int64)
    if tokenizer.token_pattern is not None:
        is_unsplit = np.fromiter((UNSPACED_LETTER.search(word) is not None for word in words), bool)
        n_unsplit = counts[is_unsplit].sum()
        length = np.dot(counts[is_unsplit], lengths[is_unsplit]) / max(1, n_unsplit)
        if n_unsplit > max(_MANY * total, least) and length > _LONG:
            example = next(word for word, found in zip(words, is_unsplit) if found)
            return (
                f"Words such as {brief(example, 40)} have {length:.1f} characters in the mean. They are no words: "
                "their script has no spaces between them. Leave token_pattern=None, which takes characters and pairs "
                "of them, or pass a segmenter as analyzer."
            )
        found_letters = map(_WITH_SIGNS.search, words)
        blocks = [ord(letter[0]) // _BLOCK if letter else -1 for letter in found_letters]
        cut = [block for block in set(blocks) if block >= 0 and _cuts_at_sign(tokenizer, block)]
        is_cut = np.isin(blocks, cut)
        if (n_cut := counts[is_cut].sum()) > max(_MANY * total, least):
            example = next(word for word, found in zip(words, is_cut) if found)
            return (
                f"{n_cut / total:.0%} of the words, such as {brief(example, 40)}, are of a script whose vowels are "
                f"signs, at which token_pattern={brief(tokenizer.token_pattern)} cuts words. Leave token_pattern=None, "
                "which keeps them."
            )
    is_rare = (counts == 1) & (lengths > _LONGER)
    if is_rare.sum() > max(total / 2, least):
        return (
            f"Words such as {brief(words[int(np.argmax(is_rare))], 40)} have {np.dot(counts, lengths) / total:.1f} "
            'characters in the mean, and most occur once, as in text without spaces. Set analyzer="char", which '
            "learns parts of them."
        )
    return ""


def _cuts_at_sign(tokenizer: Tokenizer, block: int) -> bool:
    """Whether a sign cuts a word of the script that has this block of code points."""
    sign = next((mark for mark in marks() if ord(mark) // _BLOCK == block), "")
    letter = next(c for c in map(chr, range(_BLOCK * block, _BLOCK * (block + 1))) if c.isalpha())
    return sign != "" and tokenizer.split(letter + sign + letter) != [letter + sign + letter]


# With fewer batches, a second thread takes longer to start and to build its own table of words than it saves.
LEAST_BATCHES = 6
# In Python few sentences at a time: strings that are freed soon stay in the cache, which doubles the speed.
_SENTENCES_AT_ONCE = 64


class Encoded(NamedTuple):
    """A batch of sentences as provisional word ids."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64: offset of each sentence in the ids
    starts: Sequence[int] | np.ndarray  # the sentences at which a document begins
    table: int  # index of the table of words that the ids belong to


class WordIds(dict[str, int]):
    """Token -> word id; a new token is stemmed once, by one thread at a time, and a stop word has -1."""

    max_words = 2**31 - 1  # ids are int32

    def __init__(self, tokenizer: Tokenizer, words: Sequence[str] = (), lock: threading.RLock | None = None) -> None:
        super().__init__()
        self.words = list(words)
        self._stem = tokenizer.build_stemmer()
        self._id_of_stem: dict[str, int] = self if self._stem is None else {}
        self._id_of_stem.update(zip(self.words, range(len(self.words))))
        if tokenizer.stop_words and tokenizer.is_compiled:
            self.update(dict.fromkeys(tokenizer.stop_word_set, -1))
        self._lock = lock or threading.RLock()  # reentrant: a stemmer may encode text itself

    def __missing__(self, token: Any) -> int:
        if not isinstance(token, str):
            raise TypeError(f"a token must be a string, got {brief(token)} of type {type(token).__name__}")
        token = str(token)
        with self._lock:
            word_id = self.get(token)
            if word_id is None:
                word_id = self[token] = self._id_of(token if self._stem is None else self._stem(token), token)
            return word_id

    def _id_of(self, stem: Any, token: str) -> int:
        if not isinstance(stem, str):
            raise TypeError(f"stemmer must return a string, got {brief(stem)} for the word {brief(token)}")
        stem = str(stem)
        word_id = self._id_of_stem.get(stem)
        if word_id is None:
            word_id = self._id_of_stem[stem] = len(self.words)
            check_n_words(word_id + 1)
            self.words.append(stem)
        return word_id

    def of(self, tokens: Sequence[str]) -> np.ndarray:
        """Return the ids of tokens, ndarray of int32."""
        return np.fromiter(map(self.__getitem__, tokens), np.int32, len(tokens))

    def snapshot(self) -> tuple[list[str], np.ndarray]:
        """Return the tokens seen so far, and their ids."""
        with self._lock:
            return list(self), np.fromiter(self.values(), np.int32, len(self))


def check_n_words(n_words: int) -> None:
    """Refuse more words than there are ids."""
    if n_words > WordIds.max_words:
        raise ValueError(
            f"More than {WordIds.max_words} distinct words. Use a stemmer, or an analyzer that returns fewer words."
        )


class CorpusTokenizer:
    """Encode a stream of sentences with provisional ids, count its words, and order them when all is read.

    Compiled code scans text for words of the default pattern or n-grams of characters, with a table for each thread;
    otherwise Python code does all of it, in one thread.
    """

    def __init__(self, tokenizer: Tokenizer, threads: Threads) -> None:
        self._tokenizer, self._threads = tokenizer, threads
        warn_of_useless_stop_words(tokenizer)
        self._word_ids = WordIds(tokenizer)
        self._scanners: list[Scanner] = []
        self._characters: CharacterEncoder | None = None
        self._counts = np.zeros(0, np.int64)
        self._counts_of_nodes: list[np.ndarray] = []  # for each trie of characters
        if tokenizer.characters is not None:
            from .characters import CharacterEncoder

            self._characters = CharacterEncoder(tokenizer.characters)
        if tokenizer.is_compiled:
            from .scanner import Scanner  # numba takes a while to import

            self._scanners = [Scanner() for _ in range(threads.n_threads)]

    def read(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        """Encode batches as they come: sentences, and the indices of those at which a document begins."""
        if self._characters is not None:
            return self._read_characters(batches)
        return self._scan_batches(batches) if self._scanners else self._encode_batches(batches)

    def order_words(self, min_count: int, max_features: int | None) -> tuple[Vocabulary, list[np.ndarray]]:
        """The vocabulary of all that was read, and for each table the final id of each provisional id, or -1."""
        vocabulary, remaps = self._ordered(min_count, max_features)
        warn_of_unsplit_text(self._tokenizer, vocabulary)
        return vocabulary, remaps

    def _ordered(self, min_count: int, max_features: int | None) -> tuple[Vocabulary, list[np.ndarray]]:
        limits = min_count, max_features
        if self._characters is not None:
            return self._characters.order(self._counts_of_nodes, *limits, self._threads)
        if not self._scanners:
            vocabulary, remap = _order_packed(self._word_ids.words, self._counts, *limits)
            return vocabulary, [remap]
        from .scanner import pack_words, words_of

        if not (self._tokenizer.stemmer or self._tokenizer.stop_words):
            words, indices = pack_words(self._scanners)
            vocabulary, remap = Vocabulary.from_bytes(*words, *limits, self._threads)
            return vocabulary, [remap[index] for index in indices]
        ids = self._word_ids.of([word for scanner in self._scanners for word in words_of(scanner.words)])
        counts = np.concatenate([scanner.counts() for scanner in self._scanners])
        kept = ids >= 0
        counts_of_stems = np.zeros(len(self._word_ids.words), np.int64)
        np.add.at(counts_of_stems, ids[kept], counts[kept])
        vocabulary, remap = _order_packed(self._word_ids.words, counts_of_stems, *limits)
        remap = np.where(kept, remap[ids], np.int32(-1))
        return vocabulary, np.split(remap, np.cumsum([scanner.n_words for scanner in self._scanners])[:-1])

    def _scan_batches(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        thread, new_thread = threading.local(), count()
        after_blank = False  # whether the last line of a file was blank

        def scan(item: tuple[Batch, list[int], int]) -> tuple[Scan, list[int], int]:
            if not hasattr(thread, "table"):
                thread.table = next(new_thread)
            batch, starts, first_row = item
            return scan_rows(self._scanners[thread.table].scan, batch, first_row), starts, thread.table

        for (ids, ptr, blank), starts, table in self._threads.in_order(scan, self._with_rows(batches), LEAST_BATCHES):
            check_n_words(sum(scanner.n_words for scanner in self._scanners))
            if blank is None:
                yield Encoded(ids, ptr, starts, table)
                continue
            # The blank lines of a file are left out: a document begins after them, and with the file.
            follows_blank = np.concatenate([[after_blank or bool(starts)], blank])
            after_blank = bool(follows_blank[-1])
            yield Encoded(ids, ptr[np.append(True, ~blank)], np.flatnonzero(follows_blank[:-1][~blank]), table)

    def _with_rows(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[tuple[Batch, list[int], int]]:
        first_row = 0
        for batch, starts in batches:
            yield batch, starts, first_row
            first_row += 0 if isinstance(batch, Text) else len(batch)  # errors of files count lines

    def _read_characters(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        characters, counts_of = self._characters, self._counts_of_nodes
        assert characters is not None

        def read(item: tuple[Batch, list[int], int]) -> Encoded:
            batch, starts, first_row = item
            nodes, ptr, trie = scan_rows(characters.read, batch, first_row)
            return Encoded(nodes, ptr, starts, trie)

        for encoded in self._threads.in_order(read, self._with_rows(batches), LEAST_BATCHES):
            while len(counts_of) <= encoded.table:
                counts_of.append(np.zeros(0, np.int64))
            counts_of[encoded.table] = _counted(encoded.ids, counts_of[encoded.table])
            yield encoded

    def _encode_batches(self, batches: Iterable[tuple[Batch, list[int]]]) -> Iterator[Encoded]:
        for batch, starts, first_row in self._with_rows(batches):
            assert isinstance(batch, list)
            ids, ptr = encode_in_python(batch, self._tokenizer, self._word_ids, first_row)
            self._counts = _counted(ids, self._counts)
            yield Encoded(ids, ptr, starts, 0)


def _counted(ids: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Count more ids; the array grows to twice what is needed, so that it does so seldom."""
    n_more = int(ids.max(initial=-1)) + 1 - len(counts)
    if n_more > 0:
        counts = np.append(counts, np.zeros(2 * n_more + len(counts), np.int64))
    np.add.at(counts, ids, 1)
    return counts


def _order_packed(
    words: list[str], counts: np.ndarray, min_count: int, max_features: int | None
) -> tuple[Vocabulary, np.ndarray]:
    text, ptr = encode_words(words)
    return Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts[: len(words)], min_count, max_features)


def encode_in_python(
    batch: list[Any], tokenizer: Tokenizer, word_ids: WordIds, first_row: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids of some sentences and the offset of each sentence, for any tokenizer."""
    if reads_strings(tokenizer.analyzer):
        _check_strings(batch, first_row)
    ids: list[np.ndarray] = [np.empty(0, np.int32)]
    lengths: list[int] = []
    for start in range(0, len(batch), _SENTENCES_AT_ONCE):
        tokens = [tokenizer.analyze(item) for item in batch[start : start + _SENTENCES_AT_ONCE]]
        if tokenizer.analyzer != "word":
            tokens = [_as_list(found, row) for row, found in enumerate(tokens, first_row + start)]
        sizes = [len(found) for found in tokens]  # type: ignore[arg-type]
        try:
            found = np.fromiter(map(word_ids.__getitem__, chain.from_iterable(tokens)), np.int32, count=sum(sizes))
        except TypeError:  # the row is found only now: a check of each token costs time
            for row, of_row in enumerate(tokens, first_row + start):
                for token in of_row:
                    if not isinstance(token, str):
                        raise TypeError(
                            f"Row {row}: analyzer must return strings, got the token {brief(token)} of type "
                            f"{type(token).__name__}."
                        ) from None
            raise
        ids.append(found)
        lengths += sizes
    return np.concatenate(ids), offsets(np.array(lengths, np.int64))


_Scanned = TypeVar("_Scanned")


def scan_rows(scan: Callable[[Batch], _Scanned], batch: Batch, first_row: int) -> _Scanned:
    """Scan a batch; the error for an item that is not a string, or not UTF-8, names its row."""
    try:
        return scan(batch)
    except TypeError:
        if isinstance(batch, list):
            _check_strings(batch, first_row)
        raise
    except ValueError:
        if isinstance(batch, Column):
            _check_utf8(batch, first_row)
        raise


def _check_strings(batch: list[Any], first_row: int) -> None:
    if set(map(type, batch)) == {str}:
        return
    for row, item in enumerate(batch, first_row):
        if not isinstance(item, str):
            raise wrong_row(row, item)


def _check_utf8(batch: Column, first_row: int) -> None:
    for row, (start, end) in enumerate(pairwise(batch.offsets.tolist()), first_row):
        try:
            batch.data[start:end].tobytes().decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"Row {row} is not UTF-8: {error}.") from None


def _as_list(tokens: Any, row: int) -> Sequence[str]:
    if isinstance(tokens, (list, tuple)):
        return tokens
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(
            f"Row {row}: analyzer must return a list of tokens, got {brief(tokens)} of type {type(tokens).__name__}."
        )
    return list(tokens)
