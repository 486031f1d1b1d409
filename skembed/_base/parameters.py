"""Constraints of the parameters of estimators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import StrOptions

from .._corpus.corpus import SentenceCorpus
from .._validation.messages import warn_at_user
from .._validation.values import PredicateConstraint, changed_to_plain, check_values, integers

CORPUS = PredicateConstraint(
    lambda value: isinstance(value, SentenceCorpus), "a SentenceCorpus (see SentenceCorpus.from_sentences)"
)
WORDS = PredicateConstraint(
    lambda value: isinstance(value, Sized) and isinstance(value, Iterable) and not isinstance(value, (str, bytes)),
    "a list, set, array or Series of words",
)


def validate_parameters(estimator: Any) -> None:
    """Check all parameters of an estimator."""
    check_values(estimator._parameter_constraints, estimator.get_params(deep=False), type(estimator).__name__)


@contextmanager
def checked_parameters(estimator: Any) -> Iterator[None]:
    """Check the parameters, and replace numpy scalars by Python's for a while, so that no result depends on them.

    An estimator with `_check_parameters` is checked by that, in every call: compiled kernels rely on it, also where
    scikit-learn skips its validation (``skip_parameter_validation``, a second `partial_fit`).
    """
    given = estimator.get_params(deep=False)
    now = changed_to_plain(given)
    vars(estimator).update(now)
    try:
        if hasattr(estimator, "_check_parameters"):
            estimator._check_parameters()
        yield
    finally:
        # Not what a callback has set meanwhile.
        vars(estimator).update({name: given[name] for name in now if vars(estimator)[name] is now[name]})


class ReadsText(BaseEstimator):
    """Base of the estimators whose `X` is text."""

    _parameter_constraints: dict[str, Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _validate_params(self) -> None:
        validate_parameters(self)


LENGTH = [integers(1), StrOptions({"auto"})]  # what an option of a length may be


def length_without_source(value: int | str) -> int:
    """The length that an option asks for where no source has one; "auto" is 100."""
    return 100 if isinstance(value, str) else int(value)


def warn_of_another_length(estimator: Any, option: str, length: int, source: str) -> None:
    """Warn if vectors of another length than that of a source are asked for; "auto" asks for none."""
    asked = getattr(estimator, option)
    if asked not in (length, "auto"):
        warn_at_user(
            f"{option}={asked} is not used: {source} has vectors of length {length}, and so has the model. Pass "
            f"{option}={length}, or give {source} vectors of the length that you want."
        )
