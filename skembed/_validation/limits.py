"""Upper bounds of parameters."""

from numbers import Integral

from sklearn.utils._param_validation import Interval

# Rows, words and the sentences of a block have int32 numbers; counts over a whole text are int64.
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def integers(least: int, largest: int = INT32_MAX) -> Interval:
    """Return the constraint of an integer parameter."""
    return Interval(Integral, least, largest, closed="both")
