"""N-grams of characters among the tokens of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import numpy as np

from .._text.character_ngrams import CharacterNgrams, are_ngrams
from .._text.tokenizer import Tokenizer
from .._training.state import FittedState


def has_characters(state: FittedState) -> bool:
    """Whether the tokens of a fitted estimator are, or have beside them, n-grams of characters."""
    return state.tokenizer is not None and isinstance(state.tokenizer.analyzer, CharacterNgrams)


def has_words_and_ngrams(tokenizer: Tokenizer) -> bool:
    """Whether tokens are words and, beside them, n-grams of characters."""
    return isinstance(tokenizer.analyzer, CharacterNgrams) and tokenizer.analyzer.words


_MOST = 30.0  # factor of words; that of usual text is 1 to 6


class Balance(NamedTuple):
    """The factors of the weights of words and of n-grams of characters."""

    words: np.float32
    ngrams: np.float32

    @classmethod
    def even(cls) -> Self:
        """Where there are not both, or nothing is balanced."""
        return cls(np.float32(1.0), np.float32(1.0))

    @classmethod
    def of(cls, state: FittedState) -> Self:
        """The factors of what was learned."""
        known = (state.word_weight, state.ngram_weight)
        return cls(*(np.float32(1.0 if factor is None else factor) for factor in known))

    @classmethod
    def between(cls, is_ngram: np.ndarray, mass: np.ndarray, total: float) -> Self:
        """The factors that give words and n-grams half of a total each, from the sum of the weights of each token.

        That of words has a limit: a text with a huge string without spaces has nearly no words.
        """
        of_words, of_ngrams = mass[~is_ngram].sum(), mass[is_ngram].sum()
        if of_words == 0 or of_ngrams == 0:
            return cls.even()
        return cls(np.float32(min(total / 2 / of_words, _MOST)), np.float32(total / 2 / of_ngrams))

    @property
    def is_even(self) -> bool:
        """Whether it changes no weight."""
        return self == self.even()

    def factors(self, vocabulary: Iterable[str]) -> np.ndarray:
        """The factor of the weight of each token."""
        return np.where(are_ngrams(vocabulary), float(self.ngrams), float(self.words))
