"""From text to the terms of an index, stems of words and whole codes; what a query asks for; the terms by number."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from .._compiled.arrays import read_only_view
from .._compiled.compile import NO_REFCOUNT, lean_kernel
from .._compiled.threads import Threads, count_threads
from .._text.encoder import CorpusTokenizer
from .._text.sources import decode_words, encode_words, iter_batches, offsets
from .._text.tokenizer import Stemmer, StopWords, Tokenizer
from .._text.words import lower

# Words of scikit-learn's list that a query may be about.
_CONTENT_WORDS = frozenset(
    "amount back bill bottom call cry describe detail empty fill find fire found full interest mill mine move name "
    "part put serious show side sincere system thick thin top".split()
)
_MOST_KEPT = 1 << 16  # words of queries whose terms are remembered
# A code is what stands between spaces with a symbol inside, such as "x-200", "1.5" or "os.path", or at an end, such as
# "c++", "f#" or ".net". Letters that are joined by "-" or "/" alone, as in "well-known", are no code.
_HAS_SYMBOL = re.compile(r"[-+./:@](?=[\w+])|#")
_BETWEEN_SPACES = re.compile(r"\S+")
_CODE = re.compile(r"\w+(?:[-+./:#@]{1,3}\w+)+(?:\+\+|#)?|\w+(?:\+\+|#)|(?<![\w.])\.[^\W\d]\w*")
_NO_CODE = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)*")
# A sign, then a phrase in quotes or what stands between spaces.
_PART = re.compile(r'(?<!\S)([+-]?)"([^"]*)"|(?<!\S)([+-])(?=[^\s+-])(\S+)|(\S+)')


class EncodedTexts(NamedTuple):
    """Texts as terms."""

    tokens: np.ndarray  # (n_tokens,) int32: index of each term in `terms`
    ptr: np.ndarray  # (n_texts + 1,) int64: where each text begins in the tokens
    terms: list[str]  # distinct


class TermReader:
    """Reads the terms of texts; any number of threads may do so at once.

    A word gives its stem; one with underscores also its parts. The codes of a text follow after its words.
    """

    def __init__(self, stemmer: Stemmer = None, stop_words: StopWords = None) -> None:
        self.options = {"stemmer": stemmer, "stop_words": stop_words}
        is_auto = isinstance(stop_words, str) and stop_words == "auto"
        tokenizer = Tokenizer(stemmer=stemmer, stop_words=None if is_auto else stop_words)
        self._split, self._stop_words = Tokenizer().split, tokenizer.stop_word_set
        self._stem = tokenizer.build_stemmer()
        self._known: dict[str, tuple[str, ...]] = {}
        self._lock = threading.RLock()  # stemmers have a state
        function_words = Tokenizer(stop_words="english").stop_word_set - _CONTENT_WORDS if is_auto else ()
        self.light = frozenset(map(self._stem_of, function_words))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), tuple(self.options.values())

    def words_of(self, text: str) -> list[str]:
        """Return the terms of the words of a text, in order."""
        if len(self._known) > _MOST_KEPT:
            self._known = {}
        known, terms = self._known, list[str]()
        for word in self._split(text):
            found = known.get(word)
            if found is None:
                found = known[word] = self._terms_of(word)
            terms += found
        return terms

    def terms_of(self, text: str) -> list[str]:
        """Return all terms of a text: those of its words, then its codes."""
        return self.words_of(text) + codes_of(text)

    def encode(self, texts: Sequence[str], n_jobs: int | None = None) -> EncodedTexts:
        """Return the terms of many texts; `n_jobs` threads read them, which changes nothing."""
        words, ids, ptr = _scan(texts, n_jobs)
        known: dict[str, int] = {}
        of_words = _ragged([known.setdefault(term, len(known)) for term in self._terms_of(word)] for word in words)[ids]
        codes = _ragged([known.setdefault(code, len(known)) for code in codes_of(text)] for text in texts)
        ends, ends_of_codes = of_words.indptr[ptr], codes.indptr
        tokens = np.empty(ends[-1] + ends_of_codes[-1], np.int32)
        tokens[np.arange(ends[-1]) + np.repeat(ends_of_codes[:-1], np.diff(ends))] = of_words.indices
        tokens[np.arange(ends_of_codes[-1]) + np.repeat(ends[1:], np.diff(ends_of_codes))] = codes.indices
        return EncodedTexts(tokens, ends + ends_of_codes, list(known))

    def _terms_of(self, word: str) -> tuple[str, ...]:
        if word in self._stop_words:
            return ()
        if "_" in word and word.strip("_"):
            return (word, *chain.from_iterable(self._terms_of(part) for part in word.split("_") if part))
        return (self._stem_of(word),)

    def _stem_of(self, word: str) -> str:
        if self._stem is None:
            return word
        with self._lock:
            stem = self._stem(word)
        if not isinstance(stem, str):
            raise TypeError(f"stemmer must return a string, got {stem!r:.40} for the word {word!r:.40}.")
        return str(stem)


def codes_of(text: str) -> list[str]:
    """Return the codes of a text, lowered, in order."""
    if _HAS_SYMBOL.search(text) is None:
        return []
    codes, text, end = [], lower(text), 0
    for symbol in _HAS_SYMBOL.finditer(text):
        if symbol.start() < end:  # of the same word
            continue
        start = max(text.rfind(space, 0, symbol.start()) for space in " \n\t") + 1
        between = _BETWEEN_SPACES.search(text, start)
        if between is None:
            continue
        end = between.end()
        codes += [code for code in _CODE.findall(between[0]) if _NO_CODE.fullmatch(code) is None]
    return codes


def _scan(texts: Sequence[str], n_jobs: int | None) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the distinct words of texts, the index of each token's word, and where each text begins."""
    tokenizer = Tokenizer()
    with Threads(count_threads(n_jobs)) as threads:
        encoder = CorpusTokenizer(tokenizer, threads)
        read = list(encoder.read((batch, []) for batch in iter_batches(list(texts), tokenizer, multiple=2)))
        if not any(len(part.ids) for part in read):
            return [], np.empty(0, np.int32), np.zeros(len(texts) + 1, np.int64)
        vocabulary, remaps = encoder.order_words(1, None)
    ids = np.concatenate([remaps[part.table][part.ids] for part in read])
    return vocabulary.words, ids, offsets(np.concatenate([np.diff(part.ptr) for part in read]))


def _ragged(rows: Iterable[list[int]]) -> csr_array:
    """Lists of numbers as the columns of a sparse array."""
    found = list(rows)
    ptr = offsets(np.fromiter(map(len, found), np.int64, len(found)))
    numbers = np.fromiter(chain.from_iterable(found), np.int32, ptr[-1])
    return csr_array((np.ones(len(numbers), bool), numbers, ptr), shape=(len(found), numbers.max(initial=0) + 1))


class Query(NamedTuple):
    """A query as terms."""

    terms: list[str]  # that count, repeated where the query repeats them
    required: list[list[str]]  # phrases; a single term is a phrase of one
    excluded: list[list[str]]
    light: frozenset[str] = frozenset()  # terms that count little

    @property
    def is_plain(self) -> bool:
        """Whether any document may be found."""
        return not self.required and not self.excluded


def read_query(text: str, reader: TermReader, *, operators: bool) -> Query:
    """Return a query as terms.

    With `operators`, ``"two words"`` must stand so in a document, ``+word`` must be in it and ``-word`` must not. A
    quote that is not closed, and a sign before a space, mean nothing.
    """
    if not operators or not any(sign in text for sign in '"+-'):
        return Query(reader.terms_of(text), [], [], reader.light)
    terms, required, excluded = [], [], []
    for sign, phrase, sign_of_word, word, other in _PART.findall(text):
        part = phrase or word or other
        if sign == sign_of_word == "" and not phrase:
            terms += reader.terms_of(part)
            continue
        wanted = _phrase_of(part, reader)
        if "-" in (sign, sign_of_word):
            excluded += [wanted] if wanted else []
        else:
            required += [wanted] if wanted else []
            terms += reader.terms_of(part)
    return Query(terms, required, excluded, reader.light)


def text_of_query(text: str, *, operators: bool) -> str:
    """Return a query as plain text, for a pretrained model: without signs, and without what is excluded."""
    if not operators:
        return text
    found = _PART.findall(text)
    kept = (phrase or word or other for sign, phrase, of_word, word, other in found if "-" not in (sign, of_word))
    return " ".join(kept)


def _phrase_of(part: str, reader: TermReader) -> list[str]:
    """The terms that must follow each other: those of the words, or the code alone where all is one code."""
    codes = codes_of(part)
    return codes if len(codes) == 1 and codes[0] == part.strip().lower() else reader.words_of(part)


class Lexicon(NamedTuple):
    """The terms of an index in three arrays, which processes can share; the number of a term is its position."""

    text: np.ndarray  # uint8: all terms in UTF-8, one after the other
    ptr: np.ndarray  # (n_terms + 1,) int64: where each begins
    order: np.ndarray  # (n_terms,) int32: numbers of the terms in the order of their bytes

    @classmethod
    def of(cls, terms: Sequence[str]) -> Lexicon:
        """Make it of distinct terms."""
        order = np.array(sorted(range(len(terms)), key=terms.__getitem__), np.int32)  # as that of their bytes
        return cls(*map(read_only_view, (*encode_words(terms), order)))

    @property
    def n_terms(self) -> int:
        return len(self.ptr) - 1

    def term(self, number: int) -> str:
        """Return a term."""
        return self.text[self.ptr[number] : self.ptr[number + 1]].tobytes().decode("utf-8", "surrogatepass")

    def terms(self) -> list[str]:
        """Return all terms."""
        return decode_words(self.text, self.ptr)

    def find(self, terms: Sequence[str]) -> np.ndarray:
        """Return the number of each term, ndarray of int32; -1 where the index has none."""
        numbers = np.empty(len(terms), np.int32)
        _find_terms(self, *map(read_only_view, encode_words(terms)), numbers)
        return numbers


@lean_kernel
def _find_terms(lexicon, text, ptr, numbers):
    """Find terms by bisection: term i is ``text[ptr[i]:ptr[i + 1]]``; ``numbers`` (n,) int32 is written."""
    for i in range(numbers.shape[0]):
        low, high = np.int64(0), np.int64(lexicon.order.shape[0])
        while low < high:
            middle = (low + high) // 2
            if _order(lexicon, np.int64(lexicon.order[middle]), text, ptr, i) < 0:
                low = middle + 1
            else:
                high = middle
        numbers[i] = -1
        if low < lexicon.order.shape[0] and _order(lexicon, np.int64(lexicon.order[low]), text, ptr, i) == 0:
            numbers[i] = lexicon.order[low]


@njit(**NO_REFCOUNT)
def _order(lexicon, number, text, ptr, i):
    """Below zero if a term of the lexicon comes before another one by its bytes, zero if they are equal."""
    mine, other = lexicon.ptr[number], ptr[i]
    n, n_other = lexicon.ptr[number + 1] - mine, ptr[i + 1] - other
    for at in range(min(n, n_other)):
        if lexicon.text[mine + at] != text[other + at]:
            return np.int64(lexicon.text[mine + at]) - np.int64(text[other + at])
    return n - n_other
