"""The parameters that set the shapes of learned arrays, which must not change between fits that go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._training.learned_arrays import LearnedArray
from .._validation.messages import brief


class LayoutMixin:
    """Base of estimators that learn on in the arrays of an earlier fit."""

    _option: Callable[..., Any]

    def _layout_of_options(self, arrays: list[LearnedArray], fitted: dict[str, Any]) -> dict[str, Any]:
        """Parameters that set the rows of the arrays; with others, a kernel would go past their end."""
        return {name: _plain(self._option(name, fitted)) for array in arrays for name in array.options}

    def _check_layout(self, *, but: str = "") -> None:
        layout = getattr(self, "_layout", None)
        if layout is None:
            return
        for name, value in layout.items():
            now = _plain(getattr(self, name))
            if name != but and now not in (value, "auto"):  # which goes on with what was fitted
                raise ValueError(
                    f"{name}={brief(now)} differs from {brief(value)}, with which {type(self).__name__} was "
                    "fitted. Fit a new estimator, or set warm_start=False and call fit."
                )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
