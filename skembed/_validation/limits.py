"""Upper bounds of parameters."""

from numbers import Integral

from sklearn.utils._param_validation import Interval

# Indices of rows, of words and of the sentences of a block are int32; counts over a whole text are int64.
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def integers(least: int, largest: int = INT32_MAX) -> Interval:
    """Return the constraint of an integer parameter."""
    return Interval(Integral, least, largest, closed="both")
