"""Base of the methods that learn from pairs, and compute on the words of a sentence in their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._compiled.buffers import between
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._text.batches import offsets
from .._text.known_words import EncodedSentences
from .._training.learned_arrays import ArrayRecord, LearnedArray
from .._training.over_words import IndexedSentences
from .._training.spare_arrays import norms_of
from .._training.state import FittedState
from .fitted import Fitted
from .paired_words import PairedWords
from .start import median_above_zero


class PairedSequences(PairedWords):
    """Base of the methods with a network over word vectors, both learned from pairs.

    A method names the arrays of its network in `_network`, and adds `_make_encoder` and `_embed_words`.
    """

    _parameter_constraints: dict[str, Any] = {
        **PairedWords._parameter_constraints,
        "unknown": [StrOptions({"zero", "hash"})],
    }
    word_vectors_ = Fitted[NDArray[np.float32]]()
    word_weights_ = Fitted[NDArray[np.float32]]()
    _needed: tuple[str, ...] = ("word_weights_", "unknown_length")
    _network: tuple[str, ...] = ()  # names of the fitted attributes

    def _arrays_of_network(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        """Records of the arrays of the network, and of where they start, which `interpolation` needs."""
        learned = [array._replace(kept=False) for array in arrays]
        return learned + [array._replace(name=f"_start{array.name}", options=(), frozen=True) for array in learned]

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        shapes = {array.name: array.shape for array in self._learned_arrays(state)}
        network = [ArrayRecord(name, shapes[f"_{name[:-1]}"]) for name in self._network]
        return super()._derived_arrays(state) + network

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        network = {name: state.arrays[f"_{name[:-1]}"] for name in self._network}
        if self.interpolation < 1:
            for name, learned in network.items():
                network[name] = between(state.arrays[f"_start_{name[:-1]}"], learned, self.interpolation)
        learned = self._with_learned_words(state).with_arrays(network)
        length = learned.length_of_new_words
        if length is None:
            length = median_above_zero(norms_of(self._spares, learned.arrays["word_vectors_"]))
        return replace(learned, unknown_length=np.float32(length))

    def _embed_words(self, state: FittedState, sentences: IndexedSentences, vectors: np.ndarray) -> np.ndarray:
        """The rows of sentences, from the vectors of their distinct words; each depends on its own words alone."""
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        ids, ptr = sentences.ids, sentences.ptr
        if self._option("unknown", state) == "zero":
            is_known = sentences.rows[ids] >= 0
            ids, ptr = ids[is_known], offsets(is_known)[ptr]
        found = IndexedSentences.of(ids, ptr, np.zeros(ids.max(initial=0) + 1, np.int32))
        rows = sentences.rows[found.distinct]
        vectors = _vectors_of_words(state, rows, sentences.words_of(found.distinct[rows < 0]))
        embedded = self._embed_words(state, found, vectors)
        if out is None:
            return embedded
        out[:] = embedded
        return out


def _vectors_of_words(state: FittedState, rows: np.ndarray, unknown: list[str]) -> np.ndarray:
    """Vectors of words of the vocabulary, and where a row is negative those of unknown words."""
    vectors: np.ndarray = state.arrays["word_vectors_"][rows] * state.word_weights_[rows, None]
    if unknown:
        vectors[rows < 0] = state.unknown_length * hash_vectors(unknown, vectors.shape[1])
    return vectors
