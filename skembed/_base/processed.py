"""Base of the estimators that change given vectors before sentences sum them, those of unknown words too."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.batches import encode_words
from .._training.state import ABSENT, FittedState, Shaped
from .._validation.messages import brief
from .._word_vectors.common_components import remove_components
from .._word_vectors.fasttext import LONGEST_NGRAM, is_binary_model, open_binary_model
from .._word_vectors.hashed_numbers import hash_numbers
from .._word_vectors.spelling import add_spelling
from .fitted import Fitted
from .given import GivenVectors


@dataclass(frozen=True, eq=False, repr=False)
class ProcessedState(FittedState):
    """Given vectors, and what is done to them before sentences sum them."""

    ngram_lengths: tuple[int, int] = ABSENT
    hash_numbers: bool = ABSENT
    spelling_weight: float = ABSENT
    word2vec_: Any = ABSENT  # the estimator that learned the vectors, if none were given


class ProcessedVectors(GivenVectors):
    """Numbers hashed, spelling added, common components removed; unknown words made of character n-grams."""

    _state = ProcessedState()
    components_ = Fitted[NDArray[np.float32]]()
    ngram_vectors_ = Fitted[NDArray[np.float32]]()

    def _taken(self, corpus: SentenceCorpus, words: list[str], vectors: np.ndarray) -> ProcessedState:
        state: ProcessedState = replace(super()._taken(corpus, words, vectors), ngram_lengths=(1, 0))
        return state.with_arrays({"ngram_vectors_": np.zeros((0, state.n_features_out_), np.float32)})

    def _with_ngrams(self, state: ProcessedState, source: Any) -> ProcessedState:
        """The state with the n-grams of a model of fastText, if unknown words need them."""
        if self.unknown != "ngrams":
            return state
        model = None
        if isinstance(source, (str, os.PathLike)) and is_binary_model(source):
            model = open_binary_model(source)
        if model is None or model.is_sent2vec or model.lengths[1] == 0:
            raise ValueError(
                "unknown='ngrams' needs the path of a binary model of fastText (.bin) with character n-grams as "
                "word_vectors. Other vectors have none: use unknown='hash' or 'zero'."
            )
        return replace(state.with_arrays({"ngram_vectors_": model.read_ngrams()}), ngram_lengths=model.lengths)

    def _shapes_of_state(self, state: Any) -> Shaped:
        if len(state.ngram_lengths) != 2 or not all(
            type(length) is int and 0 <= length <= LONGEST_NGRAM for length in state.ngram_lengths
        ):
            raise ValueError(f"_ngram_lengths is {brief(state.ngram_lengths)}.")
        width = state.n_features_out_
        of_words = (len(state.vocabulary_), width)
        return {
            **super()._shapes_of_state(state),
            **({"_processed_vectors": of_words} if "_processed_vectors" in state.arrays else {}),
            "components_": (None, width),
            "ngram_vectors_": (None, width),
        }

    def _processed(self, state: ProcessedState) -> ProcessedState:
        """The state with `word_vectors_` after all steps; these vectors themselves if no step changes them."""
        vectors = state.arrays["word_vectors_"]
        if state.hash_numbers or state.spelling_weight or len(state.arrays["components_"]):
            words, vectors = list(state.vocabulary_), vectors.copy()
            if state.hash_numbers:
                hash_numbers(vectors, words, state.unknown_length)
            vectors = _spelled_without_components(state, vectors, words)
        return state.with_arrays({"_processed_vectors": vectors})

    def _unknown_vectors(self, state: Any, words: list[str]) -> np.ndarray:
        if self.unknown == "ngrams":
            vectors = _vectors_from_ngrams(state, words)
            if state.hash_numbers:
                hash_numbers(vectors, words, state.unknown_length)
        else:
            vectors = super()._unknown_vectors(state, words)
        return _spelled_without_components(state, vectors, words)

    def _stored(self, state: Any) -> FittedState:
        """Leave out vectors that can be made again, with the same bits."""
        learner, dropped = state.word2vec_, ["_processed_vectors"]
        if learner is not None and state.arrays.get("word_vectors_") is learner.word_vectors_:
            dropped.append("word_vectors_")
        return super()._stored(state).without(*dropped)

    def _restored(self, state: Any) -> FittedState:
        if state.word2vec_ is not None and "word_vectors_" not in state.arrays:
            state = state.with_arrays({"word_vectors_": state.word2vec_.word_vectors_})
        restored: Any = super()._restored(state)
        restored.check(self._shapes_of_state)
        return self._processed(restored)


def _spelled_without_components(state: ProcessedState, vectors: np.ndarray, words: list[str]) -> np.ndarray:
    """Do the steps that unknown words go through too, in place."""
    if state.spelling_weight:
        add_spelling(vectors, words, state.spelling_weight)
    return remove_components(vectors, state.arrays["components_"])


def _vectors_from_ngrams(state: ProcessedState, words: list[str]) -> np.ndarray:
    from .._encoders import character_ngrams  # numba takes a while to import

    ngram_vectors = state.arrays["ngram_vectors_"]
    if not len(ngram_vectors):
        raise ValueError("unknown='ngrams' was set after the fit, which read no n-grams. Fit the estimator again.")
    text, ptr = encode_words(words)
    vectors = np.empty((len(words), state.n_features_out_), np.float32)
    character_ngrams.average(text, ptr, state.ngram_lengths, ngram_vectors, vectors, has_own_row=False)
    return vectors
