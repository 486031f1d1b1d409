"""Fitted attributes in the HTML display of estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

_LONGEST = 30  # items of a container that are shown, as in scikit-learn


class ShortAttributesMixin:
    """Mixin of estimators: the HTML display names large fitted attributes by their type and size."""

    def _get_fitted_attr_html(self: Any, *args: Any, **options: Any) -> Any:
        """Summarise fitted attributes; scikit-learn would sort the whole vocabulary."""
        attributes = super()._get_fitted_attr_html(*args, **options)  # type: ignore[misc]
        for attribute in attributes.values():
            attribute["value"] = short(attribute["value"])
        return attributes


class Summary:
    """Replaces a large value."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def short(value: Any) -> Any:
    """Return the value, or a summary if the value is large.

    Examples
    --------
    >>> from skembed._base.showing import short
    >>> short({"cat": 0}), short(dict.fromkeys(range(1000)))
    ({'cat': 0}, <dict of 1000 items>)
    """
    name = type(value).__name__
    if hasattr(value, "dtype"):
        return value if np.prod(value.shape) <= _LONGEST else Summary(f"<{name} of shape {tuple(value.shape)}>")
    if isinstance(value, (Mapping, Sequence, Set)) and not isinstance(value, str) and len(value) > _LONGEST:
        return Summary(f"<{name} of {len(value)} items>")
    return value
