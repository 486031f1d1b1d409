"""How many words of a text have given vectors, and the likely reason where few have."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Tokenizer
from .._validation.messages import warn_at_user
from .._validation.values import PathLike


class _KeyedVectors(Protocol):  # of gensim
    index_to_key: list[str]
    vectors: np.ndarray


class _HasKeyedVectors(Protocol):  # a model of gensim
    @property
    def wv(self) -> _KeyedVectors: ...


# One source of word vectors; data frames are told by what they can do.
WordVectors: TypeAlias = (
    PathLike
    | Mapping[str, ArrayLike]
    | tuple[Sequence[str], ArrayLike]
    | BaseEstimator
    | _KeyedVectors
    | _HasKeyedVectors
)


SIF_A = 1e-3  # Arora et al. (2017) use this value in all their experiments
_FEW = 1 / 3  # warn at fit if a smaller fraction of the tokens has a given vector
_MOST_WORDS, _MOST_KEYS = 10_000, 200_000  # of a text and of a vocabulary, compared to find the reason


OTHERWISE = (
    "Both must be of one language and prepared alike (lowercase, stemmer, analyzer). The method coverage returns the "
    "fraction of known words of each sentence."
)
_CHANGES_OF_KEYS: dict[str, Callable[[str], str]] = {
    "The vectors are of words with capitals, but the text is lowercased: set lowercase=False.": str.lower,
    "Remove the prefix '/c/en/' from the words of the vectors: word.split('/')[3].": partial(
        re.compile(r"^/c/[^/]+/([^/]*).*").sub, r"\1"
    ),
    "The vectors are of word pieces, with marks such as '##': pass their tokenizer as analyzer.": partial(
        re.compile("^(##|\u2581|\u0120)|(@@|</w>)$").sub, ""
    ),
    "Remove the part of speech from the words of the vectors, as in 'cat_NOUN'.": partial(
        re.compile(r"[_|/#][A-Z]{1,5}$").sub, ""
    ),
}


def known_fraction(corpus: SentenceCorpus, vocabulary: Collection[str]) -> float:
    """Fraction of the tokens of a corpus that are in a vocabulary."""
    known = corpus.vocabulary.look_up(corpus.vocabulary.counts, vocabulary)
    return float(known.sum() / max(1, corpus.n_tokens))


def check_given(corpus: SentenceCorpus, words: Collection[str], name: str = "word_vectors") -> float:
    """Return the fraction of the tokens of a text with a given vector: a warning if small, an error if zero."""
    fraction = known_fraction(corpus, words)
    if corpus.n_tokens and fraction < _FEW:
        unknown = (word for word in corpus.vocabulary.words if word not in words)
        text = f"Words without one: {examples_of(unknown)}. Words of {name}, {len(words)} in all: {examples_of(words)}."
        reason = reason_of(words, corpus.vocabulary.words, corpus.vocabulary.counts, corpus.tokenizer)
        if fraction == 0:
            raise ValueError(f"None of the words of the text has a vector. {text} {reason}")
        warn_at_user(f"Only {fraction:.0%} of the words of the text have a vector. {text} {reason}")
    return fraction


def reason_of(keys: Collection[str], words: Sequence[str], counts: np.ndarray, tokenizer: Tokenizer) -> str:
    """Return the likely reason why few words of a text are in a vocabulary: which change makes more equal."""
    words, counts = words[:_MOST_WORDS], counts[:_MOST_WORDS]
    keys = list(islice(keys, _MOST_KEYS))

    def fraction(known: set[str], change: Callable[[str], str] = str) -> float:
        return float(counts[[change(word) in known for word in words]].sum() / max(1, counts.sum()))

    plain = set(keys)
    shares = {advice: fraction({change(key) for key in keys}) for advice, change in _CHANGES_OF_KEYS.items()}
    stem = tokenizer.build_stemmer()
    if stem is not None:
        shares["The text is stemmed: give vectors of stems, or set stemmer=None."] = fraction(set(map(stem, keys)))
    else:
        shares["The vectors seem to be of stems: set stemmer."] = fraction(
            {word for word in words if any(word[:n] in plain for n in range(max(3, len(word) - 3), len(word) + 1))}
        )
    shares["The vectors are of lowercase words: set lowercase=True."] = fraction(plain, str.lower)
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= max(2 * fraction(plain), 0.1) else OTHERWISE


def examples_of(words: Iterable[str]) -> str:
    return ", ".join(f"{word[:20]!r}" for word in islice(words, 4))


def counts_of(words: Collection[str], corpus: SentenceCorpus) -> np.ndarray:
    """Return how often each word occurs in the text, (n_words,) int64."""
    return corpus.vocabulary.look_up(corpus.vocabulary.counts, words)
