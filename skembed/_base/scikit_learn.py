"""What scikit-learn knows of an estimator: checked parameters, and those that fix the shapes of arrays; its display."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils._set_output import _get_output_config

from .._corpus.corpus import SentenceCorpus
from .._validation.constraints import Constraints, PredicateConstraint, check_values, integers
from .._validation.messages import brief, warn_at_user
from .._validation.values import changed_to_plain

CORPUS = PredicateConstraint(
    lambda value: isinstance(value, SentenceCorpus), "a SentenceCorpus (see SentenceCorpus.from_sentences)"
)
WORDS = PredicateConstraint(
    lambda value: isinstance(value, Sized) and isinstance(value, Iterable) and not isinstance(value, (str, bytes)),
    "a list, set, array or Series of words",
)


def validate_parameters(estimator: BaseEstimator) -> None:
    """Check all parameters of an estimator, each by itself and then together."""
    check_values(estimator._parameter_constraints, estimator.get_params(deep=False), type(estimator).__name__)
    if hasattr(estimator, "_check_parameters"):
        estimator._check_parameters()


@contextmanager
def checked_parameters(estimator: BaseEstimator) -> Iterator[None]:
    """Check the parameters, also where scikit-learn skips it, and replace numpy scalars by Python's for a while."""
    given = estimator.get_params(deep=False)
    now = changed_to_plain(given)
    vars(estimator).update(now)
    try:
        if hasattr(estimator, "_check_parameters"):
            validate_parameters(estimator)
        yield
    finally:
        # Not what a callback has set meanwhile.
        vars(estimator).update({name: given[name] for name in now if vars(estimator)[name] is now[name]})


class ReadsText(BaseEstimator):
    """Base of the estimators whose `X` is text."""

    _parameter_constraints: Constraints

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _validate_params(self) -> None:
        validate_parameters(self)


LENGTH = [integers(1), StrOptions({"auto"})]  # what an option of a length may be


def warn_of_another_length(estimator: BaseEstimator, option: str, length: int, source: str) -> None:
    """Warn if vectors of another length than that of a source are asked for; "auto" asks for none."""
    asked = getattr(estimator, option)
    if asked not in (length, "auto"):
        warn_at_user(
            f"{option}={asked} is not used: {source} has vectors of length {length}, and so has the model. Pass "
            f"{option}={length}, or give {source} vectors of the length that you want."
        )


if TYPE_CHECKING:
    from .._training.learned_arrays import LearnedArray
    from .._training.state import FittedState

    class CallbackSupportMixin: ...
else:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # scikit-learn before 1.9 has no callbacks

        class CallbackSupportMixin:
            """Replaces the class of this name in scikit-learn 1.9."""


AnyMethod = TypeVar("AnyMethod", bound=Callable[..., Any])
AnyEstimator = TypeVar("AnyEstimator", bound=type[BaseEstimator])


@dataclass_transform(eq_default=False)
def parameters_from_fields(cls: AnyEstimator) -> AnyEstimator:
    """Write the constructor of an estimator from its fields: each is a parameter, and is stored as it is given.

    To others it is no dataclass: of one, Dask and pandas take the fields alone, and not what was learned.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    del made.__dataclass_fields__
    return made


def fit_context(method: AnyMethod) -> AnyMethod:
    """Decorate `fit` or `partial_fit` to check the parameters first, and to read numpy scalars as plain numbers."""

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        with checked_parameters(self):
            return method(self, *args, **kwargs)

    method.__qualname__ = method.__name__  # Python's errors about arguments say "fit()", without a base class
    decorated: AnyMethod = _fit_context(prefer_skip_nested_validation=True)(fit)
    return decorated


def check_step(name: str, step: object, kinds: tuple[type, ...], n_words: int) -> None:
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


def refuse_frames(estimator: BaseEstimator, advice: str) -> None:
    """Raise a ValueError if `set_output` asks an estimator with sparse rows for a data frame."""
    wanted = _get_output_config("transform", estimator)["dense"]
    if wanted != "default":
        raise ValueError(
            f"The rows are sparse, which set_output(transform={wanted!r}) does not take. {advice}, or call "
            "set_output(transform='default')."
        )


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


def _without_rows(params: Mapping[str, object]) -> dict[str, Summary]:
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


def short(value: Any) -> object:
    """Return the value, or a summary if the value is large.

    Examples
    --------
    >>> from skembed._base.scikit_learn import short
    >>> short({"cat": 0}), short(dict.fromkeys(range(1000)))
    ({'cat': 0}, <dict of 1000 items>)
    """
    name = type(value).__name__
    if hasattr(value, "dtype"):
        return value if np.prod(value.shape) <= _LONGEST else Summary(f"<{name} of shape {tuple(value.shape)}>")
    if isinstance(value, (Mapping, Sequence, Set)) and not isinstance(value, str) and len(value) > _LONGEST:
        return Summary(f"<{name} of {len(value)} items>")
    return value


def layout_of_options(estimator: BaseEstimator, arrays: list[LearnedArray], state: FittedState) -> dict[str, object]:
    """Parameters that set the rows of the arrays; with others, a kernel would go past their end."""
    given = {name: _plain(getattr(estimator, name)) for array in arrays for name in array.options}
    return {name: estimator._option(name, state) if value == "auto" else value for name, value in given.items()}


def as_fitted(estimator: BaseEstimator, state: FittedState) -> BaseEstimator:
    """The estimator with these parameters as they were in the fit."""
    estimator = copy(estimator)
    vars(estimator).update(state.layout or {})
    return estimator


def check_layout(estimator: BaseEstimator, state: FittedState, *, but: str = "") -> None:
    """Raise a ValueError if a parameter that sets the shape of an array was changed after the fit."""
    for name, value in (state.layout or {}).items():
        now = _plain(getattr(estimator, name))
        if name != but and now not in (value, "auto"):  # which goes on with what was fitted
            raise ValueError(
                f"{name}={brief(now)} differs from {brief(value)}, with which {type(estimator).__name__} was "
                "fitted. Fit a new estimator, or set warm_start=False and call fit."
            )


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
