"""Values of parameters: upper bounds, whether one is set, and numpy's scalars as values like any other."""

from numbers import Integral
from typing import Any

import numpy as np
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


def plain(value: Any) -> Any:
    """Return a number, boolean or string of numpy as Python has it, also within a list or tuple; others as they are.

    Python's numbers do not overflow, widen no float32 array, and are what files and types of fitted attributes say.
    """
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.floating) else value.item()
    if type(value) in (list, tuple) and any(isinstance(item, np.generic) for item in value):
        return type(value)(plain(item) for item in value)
    return value
