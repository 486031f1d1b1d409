"""What the parameters of the estimators may be, and the error where one is something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, make_constraint, validate_parameter_constraints

from ._brief import brief
from ._corpus import SentenceCorpus


class Described(HasMethods):  # of the constraints that scikit-learn knows, the one nearest to this
    """A constraint in words of its own: the name of a private class helps nobody.

    Parameters
    ----------
    accepts : callable
        Says whether a value is right.
    words : str
        What the error message says that the parameter must be.
    """

    def __init__(self, accepts: Callable[[Any], bool], words: str) -> None:
        self.hidden = False  # it is part of the message
        self._accepts = accepts
        self._words = words

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether `val` is right."""
        return self._accepts(val)

    def __str__(self) -> str:
        return self._words


CORPUS = Described(
    lambda value: isinstance(value, SentenceCorpus), "a SentenceCorpus, which SentenceCorpus.from_sentences(...) makes,"
)
WORDS = Described(
    lambda value: isinstance(value, Sized) and isinstance(value, Iterable) and not isinstance(value, (str, bytes)),
    "a list, set, array or Series of words",
)


class _Brief:
    """Stands for a wrong value in the message, where scikit-learn would show all of it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return brief(self._value)


def validate_parameters(estimator: Any) -> None:
    """Check all parameters of an estimator, as scikit-learn does, with messages that are short for any value."""
    constraints = estimator._parameter_constraints
    for name, value in estimator.get_params(deep=False).items():
        wanted = constraints.get(name, "no_validation")
        if wanted == "no_validation" or any(_satisfies(value, make_constraint(one)) for one in wanted):
            continue
        validate_parameter_constraints(constraints, {name: _Brief(value)}, type(estimator).__name__)


def _satisfies(value: Any, constraint: Any) -> bool:
    """Whether a value is right; Python counts True among the integers, where it is a slip."""
    is_slip = isinstance(value, bool) and isinstance(constraint, Interval)
    return bool(not is_slip and constraint.is_satisfied_by(value))
