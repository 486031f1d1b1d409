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


_MOST = 10.0  # times the weight of words with one factor for all tokens; usual text has 1 to 6


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
    def between(cls, is_ngram: np.ndarray, weights: np.ndarray, counts: np.ndarray, frequencies: np.ndarray) -> Self:
        """The factors that share out the weight of a text, a mean of one a token, between words and n-grams.

        The shares are proportional to the fractions of their occurrences that another sentence has too: only these can
        help with a new sentence. `counts` are occurrences, `frequencies` the sentences with a token. The factor of
        words is limited: a text with a huge string without spaces has nearly no words.
        """
        of_words, of_ngrams = ((weights * counts)[kind].sum() for kind in (~is_ngram, is_ngram))
        if of_words == 0 or of_ngrams == 0:
            return cls.even()
        shared = counts * (frequencies > 1)
        # One more of each, so that neither has no weight.
        words, ngrams = ((1 + shared[kind].sum()) / (1 + counts[kind].sum()) for kind in (~is_ngram, is_ngram))
        total, most = counts.sum() / (words + ngrams), _MOST * counts.sum() / (of_words + of_ngrams)
        return cls(np.float32(min(total * words / of_words, most)), np.float32(total * ngrams / of_ngrams))

    @property
    def is_even(self) -> bool:
        """Whether it changes no weight."""
        return self == self.even()

    def factors(self, vocabulary: Iterable[str]) -> np.ndarray:
        """The factor of the weight of each token."""
        return np.where(are_ngrams(vocabulary), float(self.ngrams), float(self.words))
