"""How an estimator is shown: quickly, whatever its parameters hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

_LONGEST = 30  # items of a container that are written out, as many as scikit-learn shows


class QuickDisplay:
    """Mixin of estimators: large parameters are shown by their type and size.

    scikit-learn writes out the whole of a dict, a list or an array before it cuts the text, and numpy iterates whatever
    has a length when the HTML display compares a parameter with its default. Both happen also where the estimator is a
    step of a pipeline, whose printer does not call the `__repr__` of its steps. The one method of an estimator that
    all of this goes through is `get_params`, so the display gets its values there. Everyone else gets the values.
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
        """Fitted attributes of the HTML display: scikit-learn would sort the words of a vocabulary to show four."""
        attributes = super()._get_fitted_attr_html(*args, **options)  # type: ignore[misc]
        for attribute in attributes.values():
            attribute["value"] = shown(attribute["value"])
        return attributes


class Summary:
    """Stands for a value where an estimator is shown."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(value: Any) -> Any:
    """Return the value, or a summary if showing it takes time that grows with it.

    Examples
    --------
    >>> from skembed._showing import shown
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
        return Summary(repr(value))  # its own words, but nothing that numpy could iterate
    if len(value) > _LONGEST:
        return Summary(f"<{name} of {len(value)} items>")
    if type(value) is dict:
        return {key: shown(item) for key, item in value.items()}
    if type(value) is list:
        return [shown(item) for item in value]
    return tuple(map(shown, value)) if type(value) is tuple else value
