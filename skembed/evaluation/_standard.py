"""The methods that every comparison on own text has, and the classifier behind them."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from .._corpus.corpus import SentenceCorpus
from .._meta_estimators.text_vectorizer import TextVectorizer
from .._methods.cbos import CBOSVectorizer
from .._pretrained.models import PretrainedModel
from .._pretrained.parameter import as_vectorizer
from .._validation.columns import Labels, Sentences
from .._validation.values import RandomState

_N_COMPONENTS = 100
_ALL_TEXT = ", all text"
SIMPLE = ("tf-idf", f"tf-idf{_ALL_TEXT}", "characters")


class OwnText(NamedTuple):
    """Text without labels: the strings, and the corpus if it was given as one."""

    texts: list[str]
    corpus: SentenceCorpus | None


class Method(NamedTuple):
    """A vectorizer, a classifier or a search; `texts` are learned from with those of the training folds."""

    estimator: BaseEstimator
    texts: list[str] = []
    is_given: bool = False
    reads_fields: bool = False  # of documents; others read them joined


class TfidfWithLSA(TransformerMixin, BaseEstimator):
    """Tf-idf of words, and beside it their latent semantic analysis, each with rows of length one."""

    def __init__(self, n_components: int = _N_COMPONENTS, *, random_state: RandomState = None) -> None:
        self.n_components, self.random_state = n_components, random_state

    def fit(self, X: Sentences, y: Labels = None) -> Self:
        """Learn words and directions."""
        self.tfidf_ = TfidfVectorizer()
        rows = self.tfidf_.fit_transform(X)
        n = min(self.n_components, *(size - 1 for size in rows.shape))
        self.svd_ = None
        if n > 0:
            with np.errstate(invalid="ignore"):  # if all texts are equal, parts of their variance are 0 / 0
                self.svd_ = TruncatedSVD(n, random_state=self.random_state).fit(rows)
        return self

    def transform(self, X: Sentences) -> csr_array:
        """Return both parts side by side."""
        rows = self.tfidf_.transform(X)
        if self.svd_ is None:
            return rows
        return hstack([rows, csr_array(normalize(self.svd_.transform(rows)))], format="csr")


def standard_methods(own: OwnText, learns_from: str, random_state: int) -> dict[str, Method]:
    """Make the methods by name; `learns_from` is what CBOS has: "labels", "order" or nothing."""
    suffix = _ALL_TEXT if own.texts else ""
    methods = {"tf-idf": Method(TfidfVectorizer())}
    if own.texts:
        methods[f"tf-idf{_ALL_TEXT}"] = Method(TfidfVectorizer(), own.texts)
    methods[f"tf-idf with LSA{suffix}"] = Method(TfidfWithLSA(random_state=random_state), own.texts)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 5), sublinear_tf=True)
    methods["characters"] = Method(characters)
    methods["TextVectorizer"] = Method(TextVectorizer(corpus=own.texts or None, random_state=random_state))
    if learns_from:
        methods["CBOS"] = Method(CBOSVectorizer(context=learns_from, random_state=random_state))
    if own.corpus is not None:
        methods[f"CBOS{_ALL_TEXT}"] = Method(
            CBOSVectorizer(context="order", corpus=own.corpus, random_state=random_state)
        )
    return methods


def pretrained_methods(model: PretrainedModel | None, random_state: int) -> dict[str, BaseEstimator]:
    """Make the methods of a pretrained model by name, if there is one: alone, and beside all other blocks."""
    if model is None:
        return {}
    return {
        "pretrained": as_vectorizer(model),
        "TextVectorizer, pretrained": TextVectorizer(pretrained=model, random_state=random_state),
    }


def with_own_text(estimator: BaseEstimator, own: OwnText) -> BaseEstimator:
    """Give own text to each `corpus` that is None: that of TextVectorizer, and if it is a corpus, of the others."""
    if not hasattr(estimator, "get_params"):
        return estimator
    parameters: dict[str, object] = estimator.get_params()
    given: dict[str, list[str] | SentenceCorpus | None] = {}
    for name, value in parameters.items():
        of, _, parameter = name.rpartition("__")
        if parameter == "corpus" and value is None:
            owner = parameters.get(of, estimator)
            if isinstance(owner, TextVectorizer):
                given[name] = own.texts or None
            elif getattr(owner, "context", None) != "labels":
                given[name] = own.corpus
    return clone(estimator).set_params(**given) if given else estimator


def classifier_for(kind: str, classifier: BaseEstimator | None, random_state: int) -> BaseEstimator:
    """Return the classifier or regressor for labels of this kind, one of the values of `type_of_target`."""
    if classifier is None:
        classifier = Ridge() if kind == "continuous" else LinearSVC(random_state=random_state)
    if kind.startswith("multilabel") and not get_tags(classifier).classifier_tags.multi_label:
        return OneVsRestClassifier(classifier)
    return classifier
