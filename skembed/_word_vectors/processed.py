"""Base of the estimators that change given vectors before sentences sum them, those of unknown words too."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.batches import encode_words
from .._validation.messages import brief
from .common_components import remove_components
from .fasttext import LONGEST_NGRAM, is_binary_model, open_binary_model
from .given import GivenVectors
from .hashed_numbers import hash_numbers
from .spelling import add_spelling


class ProcessedVectors(GivenVectors):
    """Numbers hashed, spelling added, common components removed; unknown words made of character n-grams."""

    components_: NDArray[np.float32]
    ngram_vectors_: NDArray[np.float32]
    _processed_vectors: np.ndarray
    _ngram_lengths: tuple[int, int]
    _hash_numbers: bool
    _spelling_weight: float

    def _take(self, corpus: SentenceCorpus, words: list[str], vectors: np.ndarray) -> None:
        super()._take(corpus, words, vectors)
        self.ngram_vectors_, self._ngram_lengths = np.zeros((0, self.n_features_out_), np.float32), (1, 0)

    def _take_ngrams(self, source: Any) -> None:
        """Read the n-grams of a model of fastText if unknown words need them."""
        if self.unknown != "ngrams":
            return
        model = None
        if isinstance(source, (str, os.PathLike)) and is_binary_model(source):
            model = open_binary_model(source)
        if model is None or model.is_sent2vec or model.lengths[1] == 0:
            raise ValueError(
                "unknown='ngrams' needs the path of a binary model of fastText (.bin) with character n-grams as "
                "word_vectors. Other vectors have none: use unknown='hash' or 'zero'."
            )
        self.ngram_vectors_, self._ngram_lengths = model.read_ngrams(), model.lengths

    def _shapes_of_state(self, n_words: int) -> dict[str, Any]:
        return super()._shapes_of_state(n_words) | {
            "components_": (self.components_, (None, self.n_features_out_)),
            "ngram_vectors_": (self.ngram_vectors_, (None, self.n_features_out_)),
        }

    def _make_processed_vectors(self) -> np.ndarray:
        """Return `word_vectors_` after all steps; itself if no step changes it."""
        if not (self._hash_numbers or self._spelling_weight or len(self.components_)):
            return self.word_vectors_
        words, vectors = list(self.vocabulary_), self.word_vectors_.copy()
        if self._hash_numbers:
            hash_numbers(vectors, words, self._unknown_length)
        return self._spelled_without_components(vectors, words)

    def _spelled_without_components(self, vectors: np.ndarray, words: list[str]) -> np.ndarray:
        """Do the steps that unknown words go through too, in place."""
        if self._spelling_weight:
            add_spelling(vectors, words, self._spelling_weight)
        return remove_components(vectors, self.components_)

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        if self.unknown == "ngrams":
            vectors = self._vectors_from_ngrams(words)
            if self._hash_numbers:
                hash_numbers(vectors, words, self._unknown_length)
        else:
            vectors = super()._unknown_vectors(words)
        return self._spelled_without_components(vectors, words)

    def _vectors_from_ngrams(self, words: list[str]) -> np.ndarray:
        from .._encoders import character_ngrams  # numba takes a while to import

        if not len(self.ngram_vectors_):
            raise ValueError("unknown='ngrams' was set after the fit, which read no n-grams. Fit the estimator again.")
        lengths = self._ngram_lengths
        if len(lengths) != 2 or not all(type(length) is int and 0 <= length <= LONGEST_NGRAM for length in lengths):
            raise ValueError(f"_ngram_lengths is {brief(self._ngram_lengths)}. Fit the estimator again.")
        text, ptr = encode_words(words)
        vectors = np.empty((len(words), self.n_features_out_), np.float32)
        character_ngrams.average(text, ptr, self._ngram_lengths, self.ngram_vectors_, vectors, has_own_row=False)
        return vectors

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self._processed_vectors

    def __getstate__(self) -> dict[str, Any]:
        """Leave out vectors that can be made again, with the same bits."""
        state = dict(super().__getstate__())
        state.pop("_processed_vectors", None)
        if state.get("word_vectors_") is getattr(state.get("word2vec_"), "word_vectors_", None):
            state.pop("word_vectors_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("word2vec_") is not None:
            state = {"word_vectors_": state["word2vec_"].word_vectors_, **state}
        super().__setstate__(state)
        if "word_vectors_" in vars(self):
            self._processed_vectors = self._make_processed_vectors()
