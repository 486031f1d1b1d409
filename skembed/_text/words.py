"""The words and sentences of a text in any script, and `DataTokenizer`, the base of tokenizers that are data."""

from __future__ import annotations

import functools
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from itertools import count, groupby, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

from .._validation.messages import brief
from .._validation.values import JSON


class DataTokenizer(ABC):
    """Base of callables from a text to its tokens, for the parameter `analyzer`, that JSON can hold.

    A tokenizer of this package is saved with the name of its file, which has no other such class, and is found by it.
    """

    _known: ClassVar[dict[str, type[DataTokenizer]]] = {}

    def __init_subclass__(cls) -> None:
        DataTokenizer._known[_kind_of(cls)] = cls

    @abstractmethod
    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text."""

    @abstractmethod
    def to_json(self) -> JSON:
        """Return all that the tokenizer is, as JSON can hold it."""

    @classmethod
    @abstractmethod
    def from_json(cls, value: Any) -> Self:
        """Undo :meth:`to_json`; a ValueError says what is wrong."""


def _kind_of(cls: type[DataTokenizer]) -> str:
    module = cls.__module__
    is_own = module.rpartition(".")[0] == __package__
    return module.rpartition(".")[2] if is_own else f"{module}:{cls.__qualname__}"


def tokenizer_to_json(tokenizer: DataTokenizer) -> list[JSON]:
    """Return the kind of a tokenizer and what it is."""
    return [_kind_of(type(tokenizer)), tokenizer.to_json()]


def tokenizer_from_json(value: Any) -> DataTokenizer:
    """Undo :func:`tokenizer_to_json`."""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise ValueError(f"{brief(value)} is no tokenizer.")
    kind, inner = value
    if kind not in DataTokenizer._known and kind in {file.stem for file in Path(__file__).parent.glob("*.py")}:
        import_module(f"{__package__}.{kind}")
    if kind not in DataTokenizer._known:
        raise ValueError(f"{brief(kind)} is no tokenizer that is known here. Import the module that defines it first.")
    return DataTokenizer._known[kind].from_json(inner)


# Scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer, Tai, kana, Chinese characters.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3038-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
UNSPACED_LETTER = re.compile(rf"(?=[{_UNSPACED}])[^\W\d_]")
# A pattern that is the same in all versions of Python, for words that are cut without a look at neighbours. A character
# of Chinese or Japanese is one. The vowel signs of India, and accents and points of Latin, Hebrew and Arabic, belong to
# their letter, though they are no \w. Thai and its neighbours are cut at signs.
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
HAN_LETTER = re.compile(f"[{_HAN}]")
_SIGNS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u096f\u0971-\u0df3"
WORD = rf"(?u)[{_HAN}]|(?:[^\W{_HAN}]|[{_SIGNS}])+"
END_OF_MARKS = 0x20000  # code points from here on are no marks and compose with none; a test checks it
_SELECTORS = {*map(chr, range(0xFE00, 0xFE10))}  # of variants: how a character looks, as after emoji
_JOINERS = "\u200c\u200d"  # within words of Persian, Sinhala and others
CAPITAL_DOTTED_I = "\u0130"
DOTTED_I = "i\u0307"  # what Python lowers a capital I with a dot to


def lower(text: str) -> str:
    """Lower a text and compose its accents (Unicode's form NFC); a capital I with a dot becomes an i."""
    text = text.lower()
    return text if text.isascii() else compose(text.replace(DOTTED_I, "i"))


def lower_letters(text: str) -> str:
    """Lower a text and leave its accents; a capital I with a dot becomes an i."""
    return text.replace(CAPITAL_DOTTED_I, "i").lower()


def compose(text: str) -> str:
    """Compose accents and what else Unicode's form NFC composes."""
    return unicodedata.normalize("NFC", text)


@functools.cache
def marks() -> str:
    """Characters that belong to the word of the letter before them: combining marks and joiners."""
    found = [c for c in map(chr, range(END_OF_MARKS)) if unicodedata.category(c) in ("Mn", "Mc")]
    return "".join(c for c in found if c not in _SELECTORS) + _JOINERS


@functools.cache
def composing() -> str:
    """Characters that form NFC may compose with the one before them."""
    seconds = set()
    for c in map(chr, range(END_OF_MARKS)):
        parts = unicodedata.decomposition(c).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    jamo = [*map(chr, range(0x1161, 0x1176)), *map(chr, range(0x11A8, 0x11C3))]  # vowels and last consonants of Hangul
    return "".join(sorted(seconds.union(jamo)))


def split_words(text: str) -> list[str]:
    """Words of a text: letters, digits and underscores with their marks.

    A letter of a script without spaces between words is a word, and so is each pair of
    neighbours, which stands between the two.

    Examples
    --------
    >>> from skembed._text.words import split_words
    >>> split_words("the cat, 北京市")
    ['the', 'cat', '北', '北京', '京', '京市', '市']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text)
    words, before, end = [], "", -1
    for match in word_pattern().finditer(text):
        word, letter = match.group(), match.group(1)
        if letter and before and match.start() == end:
            words.append(before + word)
        words.append(word)
        before, end = letter and word, match.end()
    return words


_ASCII_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """Words of a text, lowered."""
    return split_words(lower(text))


def words_and_bigrams_of(text: str) -> list[str]:
    """Words of a text, lowered, then the pairs of neighbouring ones."""
    words = words_of(text)
    return words + [f"{first} {second}" for first, second in pairwise(words)]


def join_words(words: Iterable[str]) -> str:
    """A text with these words, as `split_words` returns them; what stood between them is lost."""
    text, was_letter = [], False
    for word in words:
        n_letters = len(UNSPACED_LETTER.findall(word))
        if n_letters > 1:  # a pair
            continue
        text += [word] if was_letter and n_letters else [" ", word]
        was_letter = n_letters == 1
    return "".join(text).lstrip()


@functools.cache
def word_pattern() -> re.Pattern[str]:
    """A word, with its marks; its first group is the letter, if it is one of a script without spaces between words."""
    other = rf"(?:[^\W{_UNSPACED}]|\d)"
    return re.compile(rf"({UNSPACED_LETTER.pattern}){_mark()}*|{other}(?:{other}|{_mark()})*")


def find_marked_words(text: str) -> list[str]:
    """Letters, digits and underscores of all scripts with their marks, without a split between letters."""
    return _marked_word().findall(text)


@functools.cache
def _marked_word() -> re.Pattern[str]:
    return re.compile(rf"\w(?:\w|{_mark()})*")


@functools.cache
def _mark() -> str:
    return f"[{_ranges(marks())}]"


def _ranges(characters: str) -> str:
    """The same characters for a class of a regular expression."""
    steps = count()
    runs = [list(run) for _, run in groupby(sorted(characters), key=lambda c: ord(c) - next(steps))]
    return "".join(re.escape(run[0]) + "-" + re.escape(run[-1]) for run in runs)


# After a mark and a space; after an ideographic mark, which no space follows; at blank lines.
_END = re.compile(r"(?<=[.!?…।؟])[\"'»”’)\]]*\s+|(?<=[。！？])[」』”’]*\s*|\s*\n\s*\n\s*")


def sentences_of(text: str) -> list[str]:
    """Cut a text after full stops, question and exclamation marks, and at blank lines.

    In any language and without capitals, so also after an abbreviation; `datasets.split_sentences` is finer, and needs
    capitals.
    """
    return [sentence for sentence in map(str.strip, _END.split(text)) if sentence]


def halves_of(text: Any) -> tuple[Any, Any]:
    """The first and the second half of a text, by its words; or by its characters, if its script has no spaces."""
    if isinstance(text, str) and not UNSPACED_LETTER.search(text):
        words = text.split()
        return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])
    return text[: len(text) // 2], text[len(text) // 2 :]
