"""What a character n-gram is: an analyzer of text, which may give the words of the text too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np

from .._validation.messages import brief
from .._validation.values import JSON
from .words import DataTokenizer, compose, lower, split_words

ANALYZERS = "char", "char_wb"
BOTH = "word+char_wb"
_BESIDE_WORDS = (3, 4)  # characters; shorter n-grams would double the time to learn and gain nothing
# Before each n-gram where words are beside them; no word has it, so a word and an n-gram of the same characters differ.
MARK = "~"
_MOST_ROWS = 1 << 24


def are_ngrams(tokens: Iterable[str]) -> np.ndarray:
    """Which tokens are n-grams of characters, where words are beside them."""
    return np.fromiter((token.startswith(MARK) for token in tokens), bool)


def counts_characters(analyzer: object) -> TypeGuard[str]:
    """Whether `ngram_range` beside an analyzer is of characters, as in scikit-learn, not of words."""
    return isinstance(analyzer, str) and analyzer in ANALYZERS


_SPACES = re.compile(r"\s\s+")


@dataclass(frozen=True)
class CharacterNgrams(DataTokenizer):
    """Character n-grams as the tokens of a text, for the parameter `analyzer`.

    It cuts text exactly as :class:`~sklearn.feature_extraction.text.CountVectorizer` does, by compiled code, and is
    saved with corpora and models. ``analyzer="char"`` and ``analyzer="char_wb"`` mean n-grams of one to four
    characters, or of `ngram_range` where an estimator has that; ``analyzer="word+char_wb"`` means words and n-grams of
    three and four.

    Parameters
    ----------
    analyzer : {"char", "char_wb"}, default="char_wb"
        "char": n-grams of the whole text, in which two or more white spaces are one space; for scripts without spaces.
        "char_wb": n-grams of each word between white space, with a space on both sides; a word that is shorter than the
        shortest n-gram, with its spaces, is one itself.
    ngram_range : tuple of (int, int), default=(1, 4)
        Least and most characters of an n-gram.
    lowercase : bool, default=True
        Lower the text before.
    words : bool, default=False
        Whether the words of the text, as ``token_pattern=None`` finds them, come before its n-grams, each of which then
        begins with "~", which no word has. Accents are composed (Unicode's form NFC).
    n_buckets : int or None, default=None
        Rows that the n-grams share, by the hash of fastText, at most 16,777,216: bounds the size of a model. The tokens
        are the numbers of the rows, as "#17", and words stand between "<" and ">". None: each n-gram has its own row.

    Raises
    ------
    ValueError
        If a parameter has another value.

    Notes
    -----
    A text has several times as many n-grams as words. Where a method has `max_sentence_length`, which counts n-grams
    then, None learns sentences whole.

    Examples
    --------
    >>> from skembed import CBOSVectorizer, CharacterNgrams
    >>> CharacterNgrams("char_wb", (3, 3))("Die Tür")
    [' di', 'die', 'ie ', ' tü', 'tür', 'ür ']
    >>> CharacterNgrams("char_wb", (3, 3), words=True)("Die Tür")
    ['die', 'tür', '~ di', '~die', '~ie ', '~ tü', '~tür', '~ür ']
    >>> CharacterNgrams("char_wb", (4, 4), n_buckets=1000)("Tür")
    ['#584', '#756']
    >>> ngrams = CharacterNgrams("char_wb", (2, 5), n_buckets=1000)
    >>> emb = CBOSVectorizer(20, analyzer=ngrams, random_state=0)
    >>> emb.fit_transform(["Die Tür ist zu.", "Die Türen sind zu."] * 5).shape
    (10, 20)
    """

    analyzer: str = "char_wb"
    ngram_range: tuple[int, int] = (1, 4)
    lowercase: bool = True
    words: bool = False
    n_buckets: int | None = None

    def __post_init__(self) -> None:
        if not counts_characters(self.analyzer):
            raise ValueError(f'analyzer must be "char" or "char_wb", got {brief(self.analyzer)}.')
        lengths = self.ngram_range
        is_range = isinstance(lengths, (tuple, list)) and len(lengths) == 2
        if not (is_range and all(isinstance(n, Integral) for n in lengths) and 1 <= lengths[0] <= lengths[1] < 2**31):
            raise ValueError(
                "ngram_range must be two integers, the least and the most characters of an n-gram, from 1 on; got "
                f"{brief(lengths)}."
            )
        for name in ("lowercase", "words"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ValueError(f"{name} must be True or False, got {brief(getattr(self, name))}.")
        n = self.n_buckets
        if n is not None and not (isinstance(n, Integral) and not isinstance(n, bool) and 1 <= n <= _MOST_ROWS):
            raise ValueError(f"n_buckets must be a whole number from 1 to {_MOST_ROWS}, or None; got {brief(n)}.")
        put = object.__setattr__  # the instance is frozen
        put(self, "analyzer", str(self.analyzer))
        put(self, "ngram_range", (int(lengths[0]), int(lengths[1])))
        put(self, "lowercase", bool(self.lowercase))
        put(self, "words", bool(self.words))
        put(self, "n_buckets", None if self.n_buckets is None else int(self.n_buckets))

    @classmethod
    def named(cls, name: str, lowercase: bool) -> CharacterNgrams:
        """The n-grams that a name means: "char", "char_wb" or "word+char_wb"."""
        if name == BOTH:
            return cls("char_wb", _BESIDE_WORDS, lowercase=lowercase, words=True)
        return cls(name, lowercase=lowercase)

    def __call__(self, text: str) -> list[str]:
        """Return the n-grams of a text, in the order of where they begin, the shorter ones first."""
        ngrams = self._cut(text)
        if self.n_buckets is not None:
            ngrams = [self.name_of_row(_hash(ngram) % self.n_buckets) for ngram in ngrams]
        elif self.words:
            ngrams = [MARK + ngram for ngram in ngrams]
        if not self.words:
            return ngrams
        return split_words(lower(text) if self.lowercase else compose(text)) + ngrams

    def name_of_row(self, row: int) -> str:
        """The token of the n-grams that share a row."""
        return f"{MARK if self.words else ''}#{row}"

    @property
    def ends(self) -> tuple[str, str]:
        """What stands before and behind a word from which n-grams are cut."""
        return (" ", " ") if self.n_buckets is None else ("<", ">")

    def _cut(self, text: str) -> list[str]:
        if self.lowercase:
            text = text.lower()
        if self.words:
            text = compose(text)
        text = _SPACES.sub(" ", text)
        if self.analyzer == "char":
            return list(self._ngrams(text))
        shortest, (before, after) = self.ngram_range[0], self.ends
        ngrams: list[str] = []
        for word in text.split():
            padded = before + word + after
            ngrams += [padded] if len(padded) < shortest else self._ngrams(padded)
        return ngrams

    def _ngrams(self, span: str) -> Iterator[str]:
        shortest, longest = self.ngram_range
        for start in range(len(span)):
            for end in range(start + shortest, min(start + longest, len(span)) + 1):
                yield span[start:end]

    def to_json(self) -> list[JSON]:
        """Return the parameters as JSON holds them."""
        return [self.analyzer, *self.ngram_range, self.lowercase, self.words, self.n_buckets]

    @classmethod
    def from_json(cls, value: Any) -> CharacterNgrams:
        """Undo :meth:`to_json`."""
        if not isinstance(value, list) or len(value) != 6:
            raise ValueError(f"{brief(value)} are no options of CharacterNgrams.")
        analyzer, shortest, longest, *others = value
        return cls(analyzer, (shortest, longest), *others)


def _hash(ngram: str) -> int:
    """The hash of fastText: FNV-1a of 32 bits, which extends bytes from 128 on by their sign."""
    hashed = 2166136261
    for byte in ngram.encode("utf-8", "surrogatepass"):
        hashed = (hashed ^ (byte | 0xFFFFFF00 * (byte >> 7))) * 16777619 & 0xFFFFFFFF
    return hashed
