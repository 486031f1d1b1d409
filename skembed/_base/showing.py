"""Fitted attributes in the HTML display of estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

_LONGEST = 30  # items of a container that are shown, as in scikit-learn


_OF_ROWS = dict.fromkeys(("model", "pretrained", "teacher"), "rows of {:,} texts")
_OF_ROWS["word_vectors"] = "vectors of {:,} words"


class ShortReprMixin:
    """Shows a parameter that is a mapping of rows by their number: scikit-learn would sort and print all of them."""

    def _get_params_html(self: Any, *args: Any, **options: Any) -> Any:
        shown = super()._get_params_html(*args, **options)  # type: ignore[misc]
        shown.update(_without_rows(shown))
        return shown

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        inner = {name: Summary(repr(value)) for name, value in params.items() if isinstance(value, ShortReprMixin)}
        short = inner | _without_rows(params)
        return repr(type(self)(**params | short)) if short else str(super().__repr__(N_CHAR_MAX))  # type: ignore[call-arg]


def _without_rows(params: Mapping[str, Any]) -> dict[str, Any]:
    """Summaries of the parameters that are mappings of many rows."""
    return {
        name: Summary(f"<{_OF_ROWS[name].format(len(value))}>")
        for name, value in params.items()
        if name in _OF_ROWS and isinstance(value, Mapping) and len(value) > _LONGEST
    }


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
