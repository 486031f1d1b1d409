"""Tf-idf fitted on the sentences that are compared: the baseline that needs no other text."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from .._methods.bow_pca import BOWPCA


class FittedOnCompared(TransformerMixin, BaseEstimator):
    """Fits a clone of an estimator on the sentences given to `transform`, and transforms these.

    A row depends on the other rows, so this belongs in tables, not in a pipeline.

    Parameters
    ----------
    estimator : estimator
        What is fitted.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing.

        Parameters
        ----------
        X : iterable of str
            Not used.
        y : ignored
            Not used, present by convention.

        Returns
        -------
        self : object
        """
        return self

    def transform(self, X: Any) -> Any:
        """Fit a clone on the sentences, and return their rows.

        Parameters
        ----------
        X : iterable of str
            Sentences.

        Returns
        -------
        rows : ndarray or sparse matrix of shape (n_sentences, n_features)
        """
        return clone(self.estimator).fit_transform(X)


def tfidf_of_compared(stemmer: Any = None) -> FittedOnCompared:
    """Tf-idf of words or stems, each counted once per sentence, fitted on the compared sentences."""
    words = BOWPCA(n_components=None, stemmer=stemmer)
    return FittedOnCompared(make_pipeline(words, Binarizer(), TfidfTransformer()))
