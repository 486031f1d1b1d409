"""N-grams of characters among the tokens of a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._text.character_ngrams import MARK, CharacterNgrams
from .._text.tokenizer import Tokenizer
from .._training.state import FittedState


def has_characters(state: FittedState) -> bool:
    """Whether the tokens of a fitted estimator are, or have beside them, n-grams of characters."""
    return state.tokenizer is not None and isinstance(state.tokenizer.analyzer, CharacterNgrams)


def has_words_and_ngrams(tokenizer: Tokenizer) -> bool:
    """Whether tokens are words and, beside them, n-grams of characters."""
    return isinstance(tokenizer.analyzer, CharacterNgrams) and tokenizer.analyzer.words


def are_ngrams(vocabulary: Iterable[str]) -> np.ndarray:
    """Which tokens are n-grams of characters, where words are beside them."""
    return np.fromiter((token.startswith(MARK) for token in vocabulary), bool)


def weights_of_ngrams(vocabulary: Iterable[str], share: np.float32) -> np.ndarray:
    """The factor of the weight of each token: `share` for n-grams of characters beside words, 1 for others."""
    return np.where(are_ngrams(vocabulary), float(share), 1.0)
