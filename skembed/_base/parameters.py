"""Constraints of the parameters of estimators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any

from sklearn.base import BaseEstimator

from .._corpus.corpus import SentenceCorpus
from .._validation.constraints import PredicateConstraint, check_values
from .._validation.scalars import plain

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
def plain_parameters(estimator: Any) -> Iterator[None]:
    """Replace numpy scalars among the parameters by Python's for a while, so that no result depends on them."""
    given = {name: value for name, value in estimator.get_params(deep=False).items() if plain(value) is not value}
    now = {name: plain(value) for name, value in given.items()}
    vars(estimator).update(now)
    try:
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
