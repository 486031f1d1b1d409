"""The length of vectors: a number, or "auto", which leaves it to the vectors that a fit starts from or takes."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from .._validation.limits import integers
from .._validation.messages import warn_at_user

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
