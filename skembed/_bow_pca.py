"""Bags of words, plain or reduced by principal component analysis (paper 004, section 3.2.4)."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import _fit_context
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ._base import TEXT_CONSTRAINTS, EncodedSentences, TextVectorizer
from ._corpus import SentenceCorpus


class BOWPCA(TextVectorizer):
    __doc__ = """XX"""

    _parameter_constraints: dict[str, list[Any]] = {
        **TEXT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "weighting": [StrOptions({"idf"}), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = 300,
        *,
        weighting: str | None = None,
        min_count: int = 1,
        max_features: int | None = None,
        analyzer: Any = "word",
        token_pattern: str = r"(?u)\b\w+\b",
        lowercase: bool = True,
        stop_words: Any = None,
        stemmer: Any = None,
        corpus: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.min_count = min_count
        self.max_features = max_features
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.corpus = corpus
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Learn the vocabulary, the idf weights and the principal components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. Where the parameter `corpus` is given, that is learned from and `X` is not.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. Changes nothing here: a bag of words has no neighbours.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `n_components` is not smaller than both the number of sentences and the number of words.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        return self._learn(corpus, PCA(self.n_components, random_state=check_random_state(self.random_state)))

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Any:
        """Take in some more sentences, by incremental principal component analysis.

        The first call decides the vocabulary and the idf weights. Each batch is made dense, (n_sentences, n_words),
        and must hold at least `n_components` sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        if not hasattr(self, "vocabulary_"):
            return self._learn(corpus, IncrementalPCA(self.n_components))
        if self.n_components is not None:
            if not isinstance(self._pca, IncrementalPCA):
                raise ValueError("partial_fit cannot go on after fit: start with partial_fit.")
            self._pca.partial_fit(self._weighted_counts(self._encode(corpus)).toarray())
            self._take_components()
        return self

    def _learn(self, corpus: SentenceCorpus, pca: Any) -> Any:
        fitted = self._learn_vocabulary(corpus)
        n_words = len(fitted["vocabulary_"])
        limit = min(corpus.n_sentences, n_words)
        if self.n_components is not None and self.n_components >= limit:
            raise ValueError(
                f"n_components={self.n_components} must be smaller than the number of sentences "
                f"({corpus.n_sentences}) and the number of words ({n_words}). Use fewer, or n_components=None for the "
                "plain bag of words."
            )
        for name, value in fitted.items():
            setattr(self, name, value)
        self._tfidf = None
        sentences = self._encode(corpus)
        if self.weighting == "idf":
            self._tfidf = TfidfTransformer().fit(self._counts(sentences))
        self._pca = None
        self.n_features_out_ = n_words
        if self.n_components is not None:
            table = self._weighted_counts(sentences)
            self._pca = pca.partial_fit(table.toarray()) if isinstance(pca, IncrementalPCA) else pca.fit(table)
            self._take_components()
        return self

    def _take_components(self) -> None:
        self.components_ = np.ascontiguousarray(self._pca.components_, np.float32)
        self.mean_ = np.asarray(self._pca.mean_, np.float32)
        self.n_features_out_ = len(self.components_)
        self.explained_variance_ratio_ = np.asarray(self._pca.explained_variance_ratio_)

    def _counts(self, sentences: EncodedSentences) -> csr_array:
        columns = np.fromiter((self.vocabulary_.get(w, -1) for w in sentences.words), np.int64, len(sentences.words))
        columns = columns[sentences.ids]
        known = columns >= 0
        ptr = np.concatenate([[0], np.cumsum(known)])[sentences.ptr]
        shape = (len(ptr) - 1, len(self.vocabulary_))
        counts = csr_array((np.ones(int(known.sum()), np.float32), columns[known], ptr), shape=shape)
        counts.sum_duplicates()
        return counts

    def _weighted_counts(self, sentences: EncodedSentences) -> csr_array:
        counts = self._counts(sentences)
        return counts if self._tfidf is None else csr_array(self._tfidf.transform(counts))

    def transform(self, X: Any) -> Any:
        """Count words and project on the principal components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_components), dtype float32
            With `n_components=None` a sparse matrix of shape (n_sentences, n_words).
        """
        check_is_fitted(self)
        table = self._weighted_counts(self._encode(X))
        if self._pca is None:
            return table
        # Row by row through scipy, where a matrix product of BLAS may round a row differently in another batch.
        return np.asarray(table @ self.components_.T.copy()) - (self.components_ * self.mean_).sum(axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: the words of a plain bag of words, else numbered.

        Parameters
        ----------
        input_features : ignored
            Present by convention.

        Returns
        -------
        names : ndarray of str
            One name a column.
        """
        check_is_fitted(self)
        if self._pca is None:
            return np.array(list(self.vocabulary_), dtype=object)
        return super().get_feature_names_out(input_features)
