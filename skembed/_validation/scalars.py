"""Scalars and strings of numpy as values like any other."""

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a number, boolean or string of numpy as Python has it, also within a list or tuple; others as they are.

    Python's numbers do not overflow, widen no float32 array, and are what files and types of fitted attributes say.
    """
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.floating) else value.item()
    if type(value) in (list, tuple) and any(isinstance(item, np.generic) for item in value):
        return type(value)(plain(item) for item in value)
    return value


def changed_to_plain(values: dict[str, Any]) -> dict[str, Any]:
    """The values that :func:`plain` changes, as Python has them."""
    found = {name: plain(value) for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not values[name]}
