"""Fast printing and HTML display of estimators with large parameters."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

_LONGEST = 30  # items of a container that are shown, as in scikit-learn


class QuickDisplay:
    """Mixin of estimators: large parameters are shown by their type and size.

    scikit-learn formats a whole dict, list or array before it cuts the text, and numpy iterates over a parameter when
    the HTML display compares it with its default. Both also happen for a step of a pipeline, whose printer does not
    call the `__repr__` of its steps. All of them call `get_params`, so that method returns summaries to these callers,
    and the values to all others.
    """

    def get_params(self: Any, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of estimators that are parameters.

        Returns
        -------
        params : dict
            Names of the parameters and their values.
        """
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        caller = sys._getframe(1)
        where = caller.f_globals.get("__name__"), caller.f_code.co_name
        if where[0] == "sklearn.utils._pprint" or where == ("sklearn.base", "_get_params_html"):
            return {name: shown(value) for name, value in params.items()}
        return params

    def _get_fitted_attr_html(self: Any, *args: Any, **options: Any) -> Any:
        """Summarise fitted attributes for the HTML display; scikit-learn would sort the whole vocabulary."""
        attributes = super()._get_fitted_attr_html(*args, **options)  # type: ignore[misc]
        for attribute in attributes.values():
            attribute["value"] = shown(attribute["value"])
        return attributes


class Summary:
    """Replaces a large value when an estimator is printed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(value: Any) -> Any:
    """Return the value, or a summary if the value is large.

    Examples
    --------
    >>> from skembed._base.showing import shown
    >>> shown({"cat": [1.0, 2.0]}), shown({"cat": list(range(300))})
    ({'cat': [1.0, 2.0]}, {'cat': <list of 300 items>})
    >>> shown([dict.fromkeys(range(1000)), None])
    [<dict of 1000 items>, None]
    """
    if isinstance(value, (str, bytes)) or hasattr(value, "get_params") or not hasattr(value, "__len__"):
        return value
    name = type(value).__name__
    if hasattr(value, "dtype") or hasattr(value, "dtypes"):  # arrays and data frames
        return value if np.prod(value.shape) <= _LONGEST else Summary(f"<{name} of shape {tuple(value.shape)}>")
    if not isinstance(value, (Mapping, Sequence, Set)):
        return Summary(repr(value))  # its repr, as an object that numpy cannot iterate over
    if len(value) > _LONGEST:
        return Summary(f"<{name} of {len(value)} items>")
    if type(value) is dict:
        return {key: shown(item) for key, item in value.items()}
    if type(value) is list:
        return [shown(item) for item in value]
    return tuple(map(shown, value)) if type(value) is tuple else value
