"""Typed versions of the base classes and decorators of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, unwrap
from typing import TYPE_CHECKING, Any, TypeVar

from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config
from sklearn.base import _fit_context
from sklearn.utils._set_output import _get_output_config

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

    decorated: AnyMethod = _fit_context(prefer_skip_nested_validation=True)(fit)
    return decorated


def hide_class_names(cls: type) -> None:
    """Let Python's errors about arguments say "fit()", not "ShardedVectorizer.fit()"."""
    for base in cls.__mro__:
        if base.__module__.startswith("skembed.") and "__init__" not in vars(base):
            for name, method in vars(base).items():
                if isfunction(method) and not name.startswith("_") and unwrap(method) is not method:
                    unwrap(method).__qualname__ = name  # that of what wraps it stays, by which pickle finds it


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
