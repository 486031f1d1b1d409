"""Base of the estimators whose sentence is a sum of vectors: word weights and `transform`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import StrOptions

from .._compiled.buffers import read_only
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._text.known_words import EncodedSentences
from .character_tokens import Balance, has_characters
from .embedding import EmbeddingVectorizer
from .queries import WordQueriesMixin
from .sharing import norms_for, shallow_copy
from .state import Shaped

SIF_A = 1e-3  # Arora et al. (2017) use this value in all their experiments


class PooledVectorizer(WordQueriesMixin, EmbeddingVectorizer):
    """Base of the estimators whose sentence is a weighted sum or mean of word vectors.

    Knows nothing of learning. A method that learns its vectors derives from `TrainedVectorizer` as well.
    """

    _parameter_constraints: dict[str, Any] = {
        "pooling": [StrOptions({"mean", "sum"})],
        "weighting": [StrOptions({"idf", "sif"}), None],
        "unknown": [StrOptions({"zero", "hash"})],
        "norm": [StrOptions({"l2"}), None],
    }

    # Defaults of the options that a method does not offer.
    pooling: str = "sum"
    weighting: str | None = None
    unknown: str = "hash"
    binary: bool = False
    norm: str | None = None
    word_vectors_: NDArray[np.float32]
    word_weights_: NDArray[np.float32]

    def _option(self, name: str, fitted: dict[str, Any] | None = None) -> Any:
        """As of other estimators; where n-grams of characters stand for an unknown word, it needs no direction."""
        value = super()._option(name, fitted)
        needs_none = name == "unknown" and value == "hash" and has_characters(vars(self) if fitted is None else fitted)
        return "zero" if needs_none else value

    def _text_statistics(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], earlier: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        weights = self._word_weights(corpus, fitted, earlier)
        return super()._text_statistics(corpus, fitted, earlier) | weights

    def _weights_in_training(self, fitted: dict[str, Any]) -> np.ndarray:
        return np.asarray(fitted["word_weights_"])

    def _finish_fit(self, fitted: dict[str, Any], corpus: SentenceCorpus) -> dict[str, Any]:
        fitted = super()._finish_fit(fitted, corpus)
        model = shallow_copy(self)
        model.__dict__.update(fitted)
        return fitted | {"_unknown_length": np.float32(np.median(norms_for(self)(model.word_vectors_)))}

    def _word_weights(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], earlier: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Weights of the words in the sentence sum, and of a word that is not in the vocabulary.

        `earlier` has those of a text that was learned before, for the same words, and its counts.
        """
        vocabulary, weighting = fitted["vocabulary_"], self._option("weighting", fitted)
        unknown: float = 1.0
        if weighting is None:
            weights = np.ones(len(vocabulary))
        elif weighting == "sif":
            counts, n_tokens = corpus.vocabulary.look_up(corpus.vocabulary.counts, vocabulary), corpus.n_tokens
            if earlier:
                counts, n_tokens = counts + earlier["word_counts_"], n_tokens + earlier["_n_tokens"]
            weights = SIF_A / (SIF_A + counts / max(1, n_tokens))
        else:
            n_sentences = corpus.n_sentences
            frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), vocabulary)
            if earlier:  # the weights tell in how many sentences a word was
                n_earlier = np.exp(float(earlier["_unknown_weight"]) - 1)
                frequencies = frequencies + np.rint(n_earlier / np.exp(earlier["word_weights_"].astype(float) - 1) - 1)
                n_sentences += round(n_earlier - 1)
            weights = np.log((1 + n_sentences) / (1 + frequencies)) + 1
            unknown = np.log(1 + n_sentences) + 1
        balance = self._balance(corpus, fitted, weights)
        if not balance.is_even:
            weights = weights * balance.factors(vocabulary)
        shared = {"_unknown_weight": np.float32(unknown)} | balance.attributes()
        return shared | {"word_weights_": weights.astype(np.float32)}

    def _balance(self, corpus: SentenceCorpus, fitted: dict[str, Any], weights: np.ndarray) -> Balance:
        """The factors of the weights of words and of n-grams of characters beside them."""
        return Balance.even()

    def _shapes_of_state(self, n_words: int) -> dict[str, Shaped]:
        vectors = (self._summed_vectors, (self._n_rows_of_state(n_words), self.n_features_out_))
        return {"word_weights_": (self.word_weights_, (n_words,)), "word_vectors_": vectors}

    def _n_rows_of_state(self, n_words: int) -> int:
        """How many vectors there must be."""
        return n_words

    def _vectors_of(self, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        rows = self._pool(sentences, out)
        return rows if self.norm is None else normalize(rows, norm=self.norm, copy=False)

    def _pool(self, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        """The rows of some sentences, written to `out` if that is given."""
        from .._encoders.bag import sum_rows  # numba takes a while to import

        self._check_transform_parameters()
        rows, weights, is_unknown, ptr = self._features(sentences)
        vectors = read_only(self._summed_vectors)
        others = vectors[:0]
        unknown = is_unknown.nonzero()[0]
        if len(unknown) and self._option("unknown") == "zero":
            rows[unknown] = -1
        elif len(unknown):
            words, positions = sentences.unknown_words(rows[unknown])
            others = read_only(self._unknown_vectors(words))
            rows[unknown] = -1 - positions
        if out is None:
            out = np.empty((len(ptr) - 1, vectors.shape[1]), np.float32)
        sum_rows(rows, weights, ptr, vectors, others, self._option("pooling") == "mean", out)
        return out

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self.word_vectors_

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        """Vectors of words that were never learned: a direction that depends on the word's text alone."""
        from .._encoders.bag import hash_vectors  # numba takes a while to import

        vectors = hash_vectors(words, self._summed_vectors.shape[1])
        vectors *= self._unknown_length
        return vectors

    def _features(self, sentences: EncodedSentences) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What is summed: row of `word_vectors_` (if unknown, position in `words`), weight, unknown or not, ptr."""
        sentences = self._counted(sentences)
        rows = sentences.rows.take(sentences.ids)
        is_unknown, weights = rows < 0, self.word_weights_.take(rows)
        unknown = is_unknown.nonzero()[0]
        if len(unknown):
            rows[unknown] = sentences.ids[unknown]
            weights[unknown] = self._unknown_weight
        return rows, weights, is_unknown, sentences.ptr

    def _counted(self, sentences: EncodedSentences) -> EncodedSentences:
        """The words that count: all, or with the option `binary` each word once per sentence."""
        if not self.binary:
            return sentences
        from .._encoders.bag import first_of_each  # numba takes a while to import

        ids, ptr = first_of_each(sentences.ids, sentences.ptr)
        return sentences._replace(ids=ids, ptr=ptr)

    def _length_of_unknown(self, vectors: np.ndarray) -> np.float32:
        """Length of a hashed vector: the median length of a learned row, so that it counts about as much."""
        return np.float32(np.median(row_norms(vectors)))
