"""The baselines that every table needs, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer
from sklearn.utils import check_random_state

from .._base.sources import ProcessedState
from .._corpus.corpus import SentenceCorpus
from .._meta_estimators.mean_embedding import MeanEmbeddingVectorizer
from .._methods.bow_pca import BOWPCA
from .._text.tokenizer import Stemmer
from .._training.checkpoint import Checkpoint
from .._training.state import FittedState
from .._validation.columns import Labels, Matrix, Sentences
from .._validation.messages import brief
from .._validation.values import RandomState

__all__ = ["make_baseline"]

TFIDF = "tf-idf of the compared sentences"
_RANDOM_WALK_LENGTH = 11  # words of a sentence, as in the program of Ethayarajh


class FittedOnCompared(TransformerMixin, BaseEstimator):
    """Fits a clone of an estimator on the sentences given to `transform`, and transforms these."""

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Sentences, y: Labels = None) -> Self:
        """Learn nothing."""
        return self

    def transform(self, X: Sentences) -> Matrix:
        """Fit a clone on the sentences, and return their rows."""
        return clone(self.estimator).fit_transform(X)


def tfidf_of_compared(stemmer: Stemmer = None) -> FittedOnCompared:
    """Tf-idf of words or stems, each counted once per sentence, fitted on the compared sentences."""
    words = BOWPCA(n_components=None, stemmer=stemmer)
    return FittedOnCompared(make_pipeline(words, Binarizer(), TfidfTransformer()))


class RandomVectors(MeanEmbeddingVectorizer):
    """Mean of random vectors of the words: what a method knows before it has learned anything."""

    def _with_word_vectors(self, corpus: SentenceCorpus, checkpoint: Checkpoint) -> ProcessedState:
        words = corpus.vocabulary.prune(self.min_count).words
        vectors = check_random_state(self.random_state).standard_normal((len(words), self.n_components))
        return self._taken(corpus, words, vectors.astype(np.float32))


class UnsupervisedSIF(MeanEmbeddingVectorizer):
    r"""Mean of word vectors with the weights of a random walk, and common components partly removed: uSIF.

    With p the probability of a word, a vocabulary of V words and sentences of n words, the weight [1]_ is

    .. math::

        \frac{a}{a / 2 + p}, \qquad a = \frac{1 - \alpha}{\alpha V / 2}, \qquad
        \alpha = \frac{1}{V} \left| \{w : p(w) > 1 - (1 - 1 / V)^n \} \right|

    Of the m strongest common directions of the sentences of `fit`, the i-th is removed by its part of their variance.
    The published program also scales the components of the words of a sentence, which the paper does not mention;
    here they are not scaled.

    References
    ----------
    .. [1] K. Ethayarajh, "Unsupervised Random Walk Sentence Embeddings: A Strong but Simple Baseline", RepL4NLP 2018.
    """

    def _text_statistics(
        self, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
    ) -> FittedState:
        counts = np.asarray(corpus.vocabulary.counts)
        n_words = len(counts)
        threshold = 1 - (1 - 1 / n_words) ** _RANDOM_WALK_LENGTH
        n_frequent = max(1, int(np.sum(counts / corpus.n_tokens > threshold)))
        a = (1 - n_frequent / n_words) / (n_frequent / 2)
        p = corpus.vocabulary.look_up(counts, state.vocabulary_) / corpus.n_tokens
        return replace(state, word_weights_=(a / (a / 2 + p)).astype(np.float32), unknown_weight=np.float32(2.0))

    def _components_of(self, moments: np.ndarray) -> np.ndarray:
        components = super()._components_of(moments).astype(np.float64)
        strengths = np.sum(components @ moments * components, axis=1)
        # A direction of length l is removed by l squared.
        return (components * np.sqrt(strengths / strengths.sum())[:, None]).astype(np.float32)


def _lsa(n_components: int, stemmer: Stemmer, random_state: RandomState, n_jobs: int | None) -> BaseEstimator:
    words = BOWPCA(n_components=None, min_count=5, stemmer=stemmer)
    tfidf, svd = TfidfTransformer(sublinear_tf=True), TruncatedSVD(n_components, random_state=random_state)
    return make_pipeline(words, tfidf, svd, Normalizer(copy=False))


def _mean(cls: type[MeanEmbeddingVectorizer], **settings: Any) -> Callable[..., BaseEstimator]:
    def make(n_components: int, stemmer: Stemmer, random_state: RandomState, n_jobs: int | None) -> BaseEstimator:
        return cls(n_components, stemmer=stemmer, random_state=random_state, n_jobs=n_jobs, **settings)

    return make


_BASELINES: dict[str, Callable[..., BaseEstimator]] = {
    "BOW": lambda n_components, stemmer, *_: BOWPCA(n_components=None, stemmer=stemmer),
    TFIDF: lambda n_components, stemmer, *_: tfidf_of_compared(stemmer),
    "LSA": _lsa,
    "random vectors": _mean(RandomVectors, unknown="zero"),
    "SIF": _mean(MeanEmbeddingVectorizer, weighting="sif", n_removed_components=1),
    "uSIF": _mean(UnsupervisedSIF, n_removed_components=5),
}


def make_baseline(
    name: str,
    n_components: int = 100,
    *,
    stemmer: Stemmer = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> BaseEstimator:
    """Make a baseline that belongs beside every table.

    Parameters
    ----------
    name : {"BOW", "tf-idf of the compared sentences", "LSA", "random vectors", "SIF", "uSIF"}
        "BOW" counts words. "tf-idf of the compared sentences" is fitted on the sentences given to `transform`. "LSA" is
        the truncated singular value decomposition of tf-idf, "random vectors" the mean of random word vectors. "SIF"
        [1]_ and "uSIF" [2]_ are weighted means of skip-gram vectors, without their first common component or with five
        of them weakened.
    n_components : int, default=100
        Length of the rows, but for the first two.
    stemmer : str, callable or None, default=None
        Stemmer, as of the estimators of this package. A corpus given to `fit` must have the same.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_jobs : int or None, default=None
        Number of threads of skip-gram.

    Returns
    -------
    model : estimator
        Not fitted. `fit` takes an iterable of str or a :class:`~skembed.SentenceCorpus`.

    Raises
    ------
    ValueError
        If there is no such baseline.

    References
    ----------
    .. [1] S. Arora, Y. Liang and T. Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017.
    .. [2] K. Ethayarajh, "Unsupervised Random Walk Sentence Embeddings: A Strong but Simple Baseline", RepL4NLP 2018.

    Examples
    --------
    >>> from skembed.evaluation import make_baseline
    >>> tfidf = make_baseline("tf-idf of the compared sentences").fit([])
    >>> tfidf.transform(["a cat", "the cat"]).shape
    (2, 3)
    """
    if name not in _BASELINES:
        raise ValueError(f"name must be one of {', '.join(map(repr, _BASELINES))}, got {brief(name)}.")
    return _BASELINES[name](n_components, stemmer, random_state, n_jobs)
