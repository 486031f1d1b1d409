"""Values of parameters: upper bounds, and whether one is set."""

from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval

from .messages import brief

# Indices of rows, of words and of the sentences of a block are int32; counts over a whole text are int64.
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def integers(least: int, largest: int = INT32_MAX) -> Interval:
    """Return the constraint of an integer parameter."""
    return Interval(Integral, least, largest, closed="both")


def is_set(estimator: Any, name: str) -> bool:
    """Whether a parameter is true; a TypeError names one that is neither, such as an array where nothing validates."""
    value = getattr(estimator, name)
    try:
        return bool(value)
    except ValueError:
        raise TypeError(f"{name} must be True or False, got {brief(value)}.") from None
