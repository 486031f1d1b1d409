"""Base of the estimators that change given vectors before sentences sum them, those of unknown words too."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.batches import encode_words
from .._training.learned_arrays import ArrayRecord
from .._training.state import ABSENT, FittedState
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

    def for_inference(self, records: Iterable[ArrayRecord]) -> ProcessedState:
        return replace(super().for_inference(records), word2vec_=ABSENT)

    def check_values(self) -> None:
        """Check the lengths of n-grams, the weight of the spelling, and the model that learned the vectors."""
        lengths, share, learner = self.ngram_lengths, self.spelling_weight or 0.0, self.word2vec_
        if len(lengths) != 2 or not all(type(n) is int and 0 <= n <= LONGEST_NGRAM for n in lengths):
            raise ValueError(f"_ngram_lengths is {brief(lengths)}.")
        if not 0 <= share <= 1:
            raise ValueError(f"_spelling_weight is {share}, which is not from 0 to 1.")
        if learner is None:
            return
        if learner.n_features_out_ != self.n_features_out_ or learner.vocabulary_ != self.vocabulary_:
            raise ValueError("word2vec_ has other words or columns than the model that holds it.")


class ProcessedVectors(GivenVectors):
    """Numbers hashed, spelling added, common components removed; unknown words made of character n-grams."""

    _state = ProcessedState()
    _needed: tuple[str, ...] = ("ngram_lengths",)
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

    def _derived_arrays(self, state: Any) -> list[ArrayRecord]:
        width = state.n_features_out_
        made = ArrayRecord("_processed_vectors", (len(state.vocabulary_), width), axis_of_words=0)
        moments = ArrayRecord("_moments", (width, width), "float64", kept=False)
        return [
            *super()._derived_arrays(state),
            ArrayRecord("components_", (None, width)),
            ArrayRecord("ngram_vectors_", (None, width), axis_of_words=0),
            *(record for record in (made, moments) if record.name in state.arrays),
        ]

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
        self._check_state(restored)
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
