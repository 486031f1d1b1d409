"""Typed versions of the base classes and decorators of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils._set_output import _get_output_config

from .._validation.messages import brief
from .parameters import checked_parameters

if TYPE_CHECKING:

    class CallbackSupportMixin: ...
else:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # scikit-learn before 1.9 has no callbacks

        class CallbackSupportMixin:
            """Replaces the class of this name in scikit-learn 1.9."""


AnyMethod = TypeVar("AnyMethod", bound=Callable[..., Any])


def fit_context(method: AnyMethod) -> AnyMethod:
    """Decorate `fit` or `partial_fit` to check the parameters first, and to read numpy scalars as plain numbers."""

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        with checked_parameters(self):
            return method(self, *args, **kwargs)

    method.__qualname__ = method.__name__  # Python's errors about arguments say "fit()", without a base class
    decorated: AnyMethod = _fit_context(prefer_skip_nested_validation=True)(fit)
    return decorated


def hide_class_name(*methods: Any) -> None:
    """Let Python's errors about arguments say "transform()", without a base class, where scikit-learn wraps methods."""
    for method in methods:
        unwrap(method).__qualname__ = method.__name__  # that of what wraps it stays, by which pickle finds it


class OtherVersionWarning(InconsistentVersionWarning):
    """Warns of a pickle by another version of this package."""

    def __str__(self) -> str:
        saved_by = f"skembed {self.original_sklearn_version}"
        return (
            f"This {self.estimator_name} was saved by {saved_by}, and this is {self.current_sklearn_version}: its "
            f"results may differ. Fit it again, or load it with {saved_by}."
        )


def check_step(name: str, step: Any, kinds: tuple[type, ...], n_words: int) -> None:
    """Raise a ValueError if a fitted transformer of scikit-learn is none of some kinds, or for other words."""
    if not isinstance(step, kinds):
        raise ValueError(f"{name} is {brief(step)}, which has the wrong type.")
    if vars(step).get("n_features_in_", n_words) != n_words:
        raise ValueError(f"{name} is for another number of words than {n_words}.")
    for attribute in ("mean_", "var_", "idf_", "components_"):  # the last of their sizes is that of the words
        if attribute in vars(step) and np.shape(vars(step)[attribute])[-1:] != (n_words,):
            raise ValueError(f"{name}.{attribute} is {brief(vars(step)[attribute])} for {n_words} words.")


def sparse_rows(rows: csr_array) -> csr_matrix | csr_array:
    """Rows of the class that scikit-learn's vectorizers return: from version 1.9 on, `sparse_interface` can be set."""
    return rows if get_config().get("sparse_interface") == "sparray" else csr_matrix(rows)


def refuse_frames(estimator: Any, advice: str) -> None:
    """Raise a ValueError if `set_output` asks an estimator with sparse rows for a data frame."""
    wanted = _get_output_config("transform", estimator)["dense"]
    if wanted != "default":
        raise ValueError(
            f"The rows are sparse, which set_output(transform={wanted!r}) does not take. {advice}, or call "
            "set_output(transform='default')."
        )
