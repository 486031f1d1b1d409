"""N-grams of characters among the tokens of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from .._text.character_ngrams import MARK, CharacterNgrams
from .._text.tokenizer import Tokenizer


def has_characters(fitted: Mapping[str, Any]) -> bool:
    """Whether the tokens of a fitted estimator are, or have beside them, n-grams of characters."""
    return "_tokenizer" in fitted and isinstance(fitted["_tokenizer"].analyzer, CharacterNgrams)


def has_words_and_ngrams(tokenizer: Tokenizer) -> bool:
    """Whether tokens are words and, beside them, n-grams of characters."""
    return isinstance(tokenizer.analyzer, CharacterNgrams) and tokenizer.analyzer.words


def are_ngrams(vocabulary: Iterable[str]) -> np.ndarray:
    """Which tokens are n-grams of characters, where words are beside them."""
    return np.fromiter((token.startswith(MARK) for token in vocabulary), bool)


class Balance(NamedTuple):
    """The factors of the weights of words and of n-grams of characters."""

    words: np.float32
    ngrams: np.float32

    @classmethod
    def even(cls) -> Self:
        """Where there are not both, or nothing is balanced."""
        return cls(np.float32(1.0), np.float32(1.0))

    @classmethod
    def of(cls, fitted: Mapping[str, Any]) -> Self:
        """The factors of a fitted estimator."""
        return cls(*(np.float32(fitted.get(name, 1.0)) for name in ("_word_weight", "_ngram_weight")))

    @classmethod
    def between(cls, is_ngram: np.ndarray, mass: np.ndarray, total: float) -> Self:
        """The factors that give words and n-grams half of a total each, from the sum of the weights of each token."""
        of_words, of_ngrams = mass[~is_ngram].sum(), mass[is_ngram].sum()
        if of_words == 0 or of_ngrams == 0:
            return cls.even()
        return cls(np.float32(total / 2 / of_words), np.float32(total / 2 / of_ngrams))

    @property
    def is_even(self) -> bool:
        """Whether it changes no weight."""
        return self == Balance.even()

    def factors(self, vocabulary: Iterable[str]) -> np.ndarray:
        """The factor of the weight of each token."""
        return np.where(are_ngrams(vocabulary), float(self.ngrams), float(self.words))

    def attributes(self) -> dict[str, np.float32]:
        """What a fitted estimator keeps of it."""
        return {"_word_weight": self.words, "_ngram_weight": self.ngrams}
