"""The largest values that parameters may have."""

from numbers import Integral

from sklearn.utils._param_validation import Interval

# Rows, words and the sentences of a block are numbered by int32, what is counted over a whole text by int64.
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def integers(least: int, largest: int = INT32_MAX) -> Interval:
    """Return the constraint of a parameter that is an integer."""
    return Interval(Integral, least, largest, closed="both")
