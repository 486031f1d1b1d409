"""What all estimators share: text options, the corpus to learn from, `transform`, names and tags."""

from __future__ import annotations

import warnings
from collections.abc import Sized
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._corpus import SentenceCorpus
from ._inspection import WordVectorInspection
from ._sentences import iter_sentences
from ._tokenizer import Encoder, Tokenizer
from ._vocabulary import hash_vectors

SIF_A = 1e-3  # Arora et al. (2017) use this value in all their experiments

TEXT_CONSTRAINTS: dict[str, list[Any]] = {
    "min_count": [Interval(Integral, 1, None, closed="left")],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "analyzer": [StrOptions({"word"}), callable],
    "token_pattern": [str],
    "lowercase": ["boolean"],
    "stop_words": [StrOptions({"english"}), list, tuple, None],
    "stemmer": [callable, str, None],
    "corpus": [SentenceCorpus, None],
}
POOLING_CONSTRAINTS: dict[str, list[Any]] = {
    "pooling": [StrOptions({"mean", "sum"})],
    "weighting": [StrOptions({"idf", "sif"}), None],
    "unknown": [StrOptions({"zero", "hash"})],
}


class EncodedSentences(NamedTuple):
    """Sentences as positions in a list of their distinct words."""

    ids: np.ndarray  # (n_tokens,) int32
    ptr: np.ndarray  # (n_sentences + 1,) int64
    words: list[str]


class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators: from text, or a corpus, to word ids."""

    analyzer: Any
    token_pattern: str
    lowercase: bool
    stop_words: Any
    stemmer: Any
    min_count: int
    max_features: int | None
    corpus: SentenceCorpus | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vocabulary_")

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learn from `X`, then embed it.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order.
        y : ignored
            Not used, present by convention.
        **fit_params : dict
            `groups`, as in `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out)
            The same as `fit(X).transform(X)`.
        """
        if not isinstance(X, Sized):  # a generator can be read only once
            X = list(iter_sentences(X))
        return self.fit(X, y, **fit_params).transform(X)

    def _tokenizer_of_options(self) -> Tokenizer:
        return Tokenizer(
            analyzer=self.analyzer,
            token_pattern=self.token_pattern,
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            stemmer=self.stemmer,
        )

    def _corpus_to_learn_from(self, X: Any, groups: Any) -> SentenceCorpus:
        """`corpus` where it is given, else `X` where it is a corpus already, else `X` encoded."""
        if not isinstance(X, SentenceCorpus):
            iter_sentences(X)  # here first, where it is called X
        if self.corpus is not None:
            self._check_agreement(self.corpus, "corpus")
            return self.corpus
        if isinstance(X, SentenceCorpus):
            if groups is not None:
                raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
            self._check_agreement(X, "X")
            return X
        tokenizer = self._tokenizer_of_options()
        return SentenceCorpus.from_sentences(
            X,
            groups,
            analyzer=tokenizer.analyzer,
            token_pattern=tokenizer.token_pattern,
            lowercase=tokenizer.lowercase,
            stop_words=tokenizer.stop_words,
            stemmer=tokenizer.stemmer,
        )

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        """An option that was changed from its default must be what the corpus was made with."""
        mine, default, theirs = self._tokenizer_of_options(), Tokenizer(), corpus.tokenizer
        for option in ("analyzer", "token_pattern", "lowercase", "stop_words", "stemmer"):
            value = getattr(mine, option)
            if value != getattr(default, option) and value != getattr(theirs, option):
                raise ValueError(
                    f"{option}={value!r} contradicts {name}, which was made with {option}={getattr(theirs, option)!r}. "
                    f"Leave {option} at its default to take over the corpus's, or make the corpus again."
                )
        default_min_count = type(self)().min_count
        if self.min_count < corpus.min_count and self.min_count != default_min_count:
            raise ValueError(
                f"min_count={self.min_count} contradicts {name}, which left out words that occur fewer than "
                f"{corpus.min_count} times."
            )

    def _learn_vocabulary(self, corpus: SentenceCorpus) -> dict[str, Any]:
        """The words to learn, and the fitted attributes that follow from the text alone."""
        if corpus.n_sentences == 0:
            raise ValueError("The corpus has no sentence. Pass at least one.")
        vocabulary = corpus.vocabulary.prune(self.min_count, self.max_features)
        return {
            "vocabulary_": dict(vocabulary.index),
            "word_counts_": np.array(vocabulary.counts),
            "_tokenizer": corpus.tokenizer,
        }

    def _encode(self, X: Any) -> EncodedSentences:
        if isinstance(X, SentenceCorpus):
            if X.tokenizer != self._tokenizer:
                raise ValueError(
                    f"X was made with {X.tokenizer}, but this {type(self).__name__} learned from text split with "
                    f"{self._tokenizer}. Make the corpus with the same options."
                )
            return EncodedSentences(X.tokens, X.sent_ptr, X.vocabulary.words)
        encoder = Encoder(self._tokenizer)
        ids, lengths = encoder.encode(iter_sentences(X))
        return EncodedSentences(ids, offsets(lengths), encoder.words)


class PooledVectorizer(WordVectorInspection, TextVectorizer):
    """Base of the estimators whose sentence is a weighted sum or mean of word vectors."""

    pooling: str
    weighting: str | None
    unknown: str

    def _word_weights(self, corpus: SentenceCorpus, vocabulary: dict[str, int]) -> dict[str, Any]:
        """Weights of the words in the sentence sum, and of a word that is not in the vocabulary."""
        ids = np.fromiter((corpus.vocabulary.index.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))
        if self.weighting == "sif":
            counts = np.where(ids >= 0, np.append(corpus.vocabulary.counts, 0)[ids], 0)
            weights, unknown = SIF_A / (SIF_A + counts / max(1, corpus.n_tokens)), 1.0
        elif self.weighting == "idf":
            n_sentences = corpus.n_sentences
            frequencies = np.where(ids >= 0, np.append(corpus.sentence_frequencies(), 0)[ids], 0)
            weights = np.log((1 + n_sentences) / (1 + frequencies)) + 1
            unknown = np.log(1 + n_sentences) + 1
        else:
            weights, unknown = np.ones(len(vocabulary)), 1.0
        return {"word_weights_": weights.astype(np.float32), "_unknown_weight": np.float32(unknown)}

    def transform(self, X: Any) -> Any:
        """Embed sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences, in any order: the row of a sentence depends on that sentence and the model alone.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out), dtype float32
            A sentence without a word is a row of zeros; so is one of unknown words alone with ``unknown="zero"``.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string or a table.
        """
        check_is_fitted(self)
        return self._pool(self._encode(X))

    def _pool(self, sentences: EncodedSentences) -> np.ndarray:
        rows, weights, is_unknown, ptr = self._features(sentences)
        known = ~is_unknown
        known_ptr = offsets(known)[ptr]
        table = csr_array((weights[known], rows[known], known_ptr), shape=(len(ptr) - 1, self._summed_vectors.shape[0]))
        total = np.asarray(table @ self._summed_vectors)
        if self.unknown == "hash" and is_unknown.any():
            distinct, places = np.unique(rows[is_unknown], return_inverse=True)
            vectors = self._unknown_vectors([sentences.words[i] for i in distinct])
            strange = csr_array((weights[is_unknown], places, ptr - known_ptr), shape=(len(ptr) - 1, len(distinct)))
            total += np.asarray(strange @ vectors)
            counted = np.diff(ptr)
        else:
            counted = np.diff(known_ptr)
        if self.pooling == "mean":
            total /= np.maximum(counted, 1).astype(np.float32)[:, None]
        return total

    @property
    def _summed_vectors(self) -> np.ndarray:
        return self.word_vectors_

    def _unknown_vectors(self, words: list[str]) -> np.ndarray:
        """Vectors of words that were never learned: a direction that depends on the word's text alone."""
        return hash_vectors(words, self._summed_vectors.shape[1]) * self._unknown_length

    def _features(self, sentences: EncodedSentences) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What is summed: row of `word_vectors_` (or, where unknown, position in `words`), weight, unknown?, ptr."""
        row_of_word = np.fromiter(
            (self.vocabulary_.get(word, -1) for word in sentences.words), np.int64, len(sentences.words)
        )
        rows = row_of_word[sentences.ids]
        is_unknown = rows < 0
        weights = np.where(is_unknown, self._unknown_weight, self.word_weights_[rows])
        return np.where(is_unknown, sentences.ids, rows), weights, is_unknown, sentences.ptr

    def _length_of_unknown(self, vectors: np.ndarray) -> np.float32:
        """Length of a hashed vector: the median length of a learned row, so that it neither drowns nor shouts."""
        return np.float32(np.median(np.linalg.norm(vectors, axis=1)))


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Where each of some pieces begins when they lie one after the other, and where the last one ends."""
    ptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ptr[1:])
    return ptr


def warn_if_unordered(corpus: SentenceCorpus, name: str) -> None:
    """The trap: sentences that lost their neighbours teach a context model nothing."""
    lengths = np.diff(corpus.doc_ptr)
    alone = int((lengths == 1).sum())
    if 2 * alone > corpus.n_sentences:
        warnings.warn(
            f"{alone} of {corpus.n_sentences} sentences are alone in their document, so {name} has no context to "
            "learn them from. Shuffled or sampled sentences (as cross-validation makes them) have lost their "
            "neighbours: learn from the ordered text with corpus=SentenceCorpus.from_sentences(...), and let X be "
            "only what the next step of the pipeline learns from.",
            UserWarning,
            stacklevel=4,
        )
