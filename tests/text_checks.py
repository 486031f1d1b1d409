"""Checks of text estimators.

scikit-learn's common checks give an estimator numbers, so on one that reads text a dozen of them run and the rest are
skipped. Here numbers become words, so that all of them run, and checks of text follow.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from skembed._validation.columns import Labels, Matrix, Sentences
from skembed._validation.messages import brief

__all__ = ["NumbersAsText", "check_text_estimator"]

_TEXT = [
    f"{a} {b} runs to the {c}" for a in ("the", "a") for b in ("cat", "dog", "horse") for c in ("barn", "sea", "hill")
]
_OTHERS = ["the cat", "a zebra sleeps", ""]


class NumbersAsText(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Transformer of numbers that gives them to a transformer of text, for scikit-learn's common checks.

    A row of numbers becomes a text with a word for each column: its number, and the value in steps of a quarter.

    Parameters
    ----------
    estimator : transformer of text
        It is cloned and fitted. Give it a `random_state`, as the checks fit it twice and compare.

    Attributes
    ----------
    estimator_ : transformer of text
        The fitted clone.
    n_features_in_ : int
        Number of columns of `X`.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from text_checks import NumbersAsText
    >>> NumbersAsText(CountVectorizer()).fit_transform([[0.0, 1.0], [0.0, 2.0]]).toarray()
    array([[1, 1, 0],
           [1, 0, 1]])
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Sentences, y: Labels = None) -> Self:
        """Fit a clone of the estimator to the texts."""
        texts = _texts(validate_data(self, X))
        self.estimator_ = clone(self.estimator).fit(texts, y)
        assert self.estimator_ is not None, "fit returns None, not the estimator"
        self._n_features_out = self.estimator_.transform(texts[:1]).shape[1]
        return self

    def transform(self, X: Sentences) -> Matrix:
        check_is_fitted(self)
        return self.estimator_.transform(_texts(validate_data(self, X, reset=False)))


def _texts(X: np.ndarray) -> list[str]:
    steps = np.clip(np.round(4 * X), -99, 99).astype(int) + 99
    return [" ".join(f"c{column}v{step}" for column, step in enumerate(row)) for row in steps.tolist()]


def check_text_estimator(estimator: BaseEstimator, *, expected_failed_checks: Mapping[str, str] | None = None) -> None:
    """Check that a transformer of text keeps to the conventions of scikit-learn.

    All common checks of scikit-learn run on :class:`NumbersAsText` of it. Then it gets text: as a list and as an array
    of objects, one text at a time, none at all, one string in place of a list, None and a number in place of a text.
    """
    for method in ("fit", "transform"):
        if not isinstance(estimator, type) and not hasattr(estimator, method):
            raise TypeError(f"The estimator must be a transformer of text, but {brief(estimator)} has no {method}.")
    check_estimator(NumbersAsText(estimator), expected_failed_checks=dict(expected_failed_checks or {}), on_skip=None)
    unfitted = clone(estimator)
    _must_raise(NotFittedError, lambda: unfitted.transform(_TEXT), "transform before fit")
    labels = np.arange(len(_TEXT)) % 3
    fitted = clone(estimator).fit(_TEXT, labels)
    rows = _dense(fitted.transform(_OTHERS))
    assert rows.shape[0] == len(_OTHERS), f"{len(_OTHERS)} texts have {rows.shape[0]} rows"
    assert np.isfinite(rows).all(), "rows hold NaN or infinity, perhaps that of an empty or unknown text"
    assert len(fitted.get_feature_names_out()) == rows.shape[1], "there is not a name for each column"
    for kind in (tuple, lambda texts: np.array(texts, object)):
        np.testing.assert_array_equal(_dense(fitted.transform(kind(_OTHERS))), rows)
    one_by_one = np.vstack([_dense(fitted.transform([text])) for text in _OTHERS])
    np.testing.assert_array_equal(one_by_one, rows, "a row depends on the texts beside it")
    np.testing.assert_array_equal(_dense(pickle.loads(pickle.dumps(fitted)).transform(_OTHERS)), rows)
    np.testing.assert_array_equal(_dense(clone(fitted).fit(_TEXT, labels).transform(_OTHERS)), rows)
    try:
        assert _dense(fitted.transform([])).shape == (0, rows.shape[1]), "no texts have rows"
    except ValueError:  # as of scikit-learn's own
        pass
    for wrong, what in (("one text", "a string in place of a list"), ([None], "None"), ([3], "a number")):
        _must_raise(
            (ValueError, TypeError, AttributeError), lambda X=wrong: fitted.transform(X), f"transform of {what}"
        )


def _must_raise(kinds: tuple[type[Exception], ...], call: Any, what: str) -> None:
    try:
        call()
    except kinds:
        return
    raise AssertionError(f"{what} raises no error")


def _dense(rows: object) -> np.ndarray:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
