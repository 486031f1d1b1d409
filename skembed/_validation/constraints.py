"""Constraints of parameters, checked as scikit-learn does, with short error messages; bounds of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import TypeAlias

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    _Constraint,
    make_constraint,
    validate_parameter_constraints,
)

from .messages import brief

Constraint: TypeAlias = "type | str | Callable[..., object] | _Constraint | None"
Constraints: TypeAlias = dict[str, list[Constraint] | str]  # by parameter; a string is "no_validation"

Settings: TypeAlias = dict[str, object]  # values of parameters by name

# Indices of rows, of words and of the sentences of a block are int32; counts over a whole text are int64.
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def integers(least: int, largest: int = INT32_MAX) -> Interval:
    """Return the constraint of an integer parameter."""
    return Interval(Integral, least, largest, closed="both")


class PredicateConstraint(HasMethods):  # scikit-learn accepts only its own constraint classes
    """A constraint that is described by a phrase, for the error message, instead of by the name of a class."""

    def __init__(self, accepts: Callable[[object], bool], words: str) -> None:
        self.hidden = False  # shown in the message
        self._accepts = accepts
        self._words = words

    def is_satisfied_by(self, val: object) -> bool:
        """Whether `val` is valid."""
        return self._accepts(val)

    def __str__(self) -> str:
        return self._words


class _Brief:
    """Replaces an invalid value in the message of scikit-learn, which would show all of it."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return brief(self._value)


def check_values(constraints: Constraints, values: Mapping[str, object], caller: str) -> None:
    """Check the parameters of an estimator or a function, as scikit-learn does, with short messages for any value."""
    for name, value in values.items():
        wanted = constraints.get(name, "no_validation")
        if wanted == "no_validation":
            continue
        for constraint in wanted:
            if satisfies(value, constraint if isinstance(constraint, _Constraint) else make_constraint(constraint)):
                break
        else:
            validate_parameter_constraints(constraints, {name: _Brief(value)}, caller)


def satisfies(value: object, constraint: _Constraint) -> bool:
    """Whether a value is valid; a bool is not valid as a number, although it is an int in Python."""
    is_slip = isinstance(value, bool) and isinstance(constraint, Interval)
    return bool(not is_slip and constraint.is_satisfied_by(value))
