"""scikit-learn's common checks, with numbers turned into words, on every estimator."""

import numpy as np
import pytest
from estimators import CLASSES, make
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.utils.estimator_checks import check_estimator
from text_checks import NumbersAsText, check_text_estimator

import skembed

# Texts of two words, and of one sentence, are few to learn from.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ONE_SAMPLE = {"check_fit2d_1sample": "the message speaks of sentences, words or groups, not of samples"}
EXPECTED = dict.fromkeys(["BOWPCA", "CSEVectorizer", "GRANVectorizer", "ParaphraseVectorizer"], ONE_SAMPLE)
SMALL = {"n_components": 8, "min_count": 1, "max_iter": 1, "random_state": 0}


# The words of the checks have no vector in a model that is given.
@pytest.mark.parametrize("name", [cls.__name__ for cls in CLASSES if cls.__name__ != "AdaptedVectorizer"])
def test_every_estimator_passes_the_common_checks(name):
    estimator = make(name)
    offered = {key: value for key, value in SMALL.items() if key in estimator.get_params()}
    # The checks have texts of two words, and the targets of the tests five columns.
    offered |= {"n_components": {"BOWPCA": 1, "StudentVectorizer": 3}.get(name, 8)} if "n_components" in offered else {}
    check_text_estimator(estimator.set_params(**offered), expected_failed_checks=EXPECTED.get(name))


@pytest.mark.parametrize("n_components", [None, 5])
def test_text_vectorizer_passes_the_common_checks(n_components):
    check_text_estimator(skembed.TextVectorizer(n_components=n_components, random_state=0))


@pytest.mark.parametrize("estimator", [CountVectorizer(), TfidfVectorizer(sublinear_tf=True)])
def test_those_of_scikit_learn_pass(estimator):
    check_text_estimator(estimator)


def test_nothing_but_the_array_interface_is_skipped():
    results = check_estimator(NumbersAsText(make("CBOSVectorizer")), on_skip=None)
    assert len(results) > 40
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}


class Lengths(TransformerMixin, BaseEstimator):
    """A transformer that does what a subclass changes wrongly."""

    def fit(self, X, y=None):
        self.n_ = len(X)
        return self

    def transform(self, X):
        return np.array([[float(len(text.split()))] for text in X]).reshape(-1, 1)

    def get_feature_names_out(self, input_features=None):
        return np.array(["length"], object)


class Unfitted(Lengths):
    pass


class Together(Lengths):
    def __sklearn_is_fitted__(self):
        return hasattr(self, "n_")

    def transform(self, X):
        self.n_  # noqa: B018
        rows = super().transform(X)
        return rows - rows.mean() if len(rows) else rows


@pytest.mark.parametrize("cls", [Unfitted, Together])
def test_wrong_transformers_are_found(cls):
    with pytest.raises(Exception):  # noqa: B017  which check finds it depends on the version of scikit-learn
        check_text_estimator(cls())
