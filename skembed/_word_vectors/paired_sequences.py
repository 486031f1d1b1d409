"""Base of the methods that learn from pairs, and compute on the words of a sentence in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.queries import SimilarityMixin
from .._base.sharing import norms_for
from .._compiled.buffers import between
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._text.batches import offsets
from .._text.known_words import EncodedSentences
from .._training.learned_arrays import LearnedArray
from .._training.over_words import IndexedSentences
from .paired_words import PairedWords
from .start import median_above_zero


class PairedSequences(SimilarityMixin, PairedWords):
    """Base of the methods with a network over word vectors, both learned from pairs.

    A method names the arrays of its network in `_network`, and adds `_make_encoder` and `_embed_words`.
    """

    _parameter_constraints: dict[str, Any] = {"unknown": [StrOptions({"zero", "hash"})]}
    word_vectors_: NDArray[np.float32]
    word_weights_: NDArray[np.float32]
    _network: tuple[str, ...] = ()  # names of the fitted attributes
    _unknown_length: np.float32

    def _embed_words(self, sentences: IndexedSentences, vectors: np.ndarray) -> np.ndarray:
        """The rows of sentences, from the vectors of their distinct words; each depends on its own words alone."""
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")

    def _arrays_of_network(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        """Records of the arrays of the network, and of where they start, which `interpolation` needs."""
        starts = [array._replace(name=f"_start{array.name}", options=(), frozen=True) for array in arrays]
        return [*arrays, *starts]

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self.word_vectors_

    def _finish_fit(self, fitted: dict[str, Any], corpus: SentenceCorpus) -> dict[str, Any]:
        network = {name: fitted[f"_{name[:-1]}"] for name in self._network}
        if self.interpolation < 1:
            for name, learned in network.items():
                network[name] = between(fitted[f"_start_{name[:-1]}"], learned, self.interpolation)
        words, length = self._learned_words(fitted), fitted["_length_of_new_words"]
        length = np.float32(median_above_zero(norms_for(self)(words["word_vectors_"])) if length is None else length)
        fitted = super()._finish_fit(fitted | words, corpus)
        return fitted | network | {"_unknown_length": length}

    def _vectors_of(self, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        self._check_transform_parameters()
        ids, ptr = sentences.ids, sentences.ptr
        if self._option("unknown") == "zero":
            is_known = sentences.rows[ids] >= 0
            ids, ptr = ids[is_known], offsets(is_known)[ptr]
        found = IndexedSentences.of(ids, ptr, np.zeros(ids.max(initial=0) + 1, np.int32))
        rows = sentences.rows[found.distinct]
        embedded = self._embed_words(found, self._vectors_of_words(rows, sentences.words_of(found.distinct[rows < 0])))
        if out is None:
            return embedded
        out[:] = embedded
        return out

    def _vectors_of_words(self, rows: np.ndarray, unknown: list[str]) -> np.ndarray:
        """Vectors of words of the vocabulary, and where a row is negative those of unknown words."""
        vectors: np.ndarray = self.word_vectors_[rows] * self.word_weights_[rows, None]
        if unknown:
            vectors[rows < 0] = self._unknown_length * hash_vectors(unknown, vectors.shape[1])
        return vectors
