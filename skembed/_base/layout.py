"""The parameters that set the shapes of learned arrays, which must not change between fits that go on."""

from __future__ import annotations

from copy import copy
from typing import Any

from .._training.learned_arrays import ArrayRecord, LearnedArray
from .._training.state import FittedState
from .._validation.messages import brief


def layout_of_options(estimator: Any, arrays: list[LearnedArray], state: FittedState) -> dict[str, Any]:
    """Parameters that set the rows of the arrays; with others, a kernel would go past their end."""
    return {name: _plain(estimator._option(name, state)) for array in arrays for name in array.options}


def as_fitted(estimator: Any, state: FittedState) -> Any:
    """The estimator with these parameters as they were in the fit."""
    estimator = copy(estimator)
    vars(estimator).update(state.layout or {})
    return estimator


def records_of(estimator: Any, state: FittedState) -> list[ArrayRecord]:
    """A record of each array of a fitted state."""
    if state.layout is None:
        return list(estimator._derived_arrays(state))
    fitted = as_fitted(estimator, state)
    learned = [record for array in fitted._learned_arrays(state) for record in array.records(fitted.solver)]
    return learned + list(fitted._derived_arrays(state))


def check_layout(estimator: Any, state: FittedState, *, but: str = "") -> None:
    """Raise a ValueError if a parameter that sets the shape of an array was changed after the fit."""
    for name, value in (state.layout or {}).items():
        now = _plain(getattr(estimator, name))
        if name != but and now not in (value, "auto"):  # which goes on with what was fitted
            raise ValueError(
                f"{name}={brief(now)} differs from {brief(value)}, with which {type(estimator).__name__} was "
                "fitted. Fit a new estimator, or set warm_start=False and call fit."
            )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
