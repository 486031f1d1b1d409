"""The parameters that set the shapes of learned arrays, which must not change between fits that go on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._training.learned_arrays import LearnedArray
from .._validation.messages import brief


class KeepsLayout:
    """Base of estimators that learn on in the arrays of an earlier fit."""

    def _layout_of_options(self, arrays: list[LearnedArray]) -> dict[str, Any]:
        """Parameters that set the rows of the arrays; with others, a kernel would go past their end."""
        return self._values_of_options(name for array in arrays for name in array.options)

    def _values_of_options(self, names: Iterable[str]) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in names}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}

    def _check_layout(self, *, but: str = "") -> None:
        layout = getattr(self, "_layout", None)
        if layout is None:
            return
        now = self._values_of_options(layout)
        for name, value in layout.items():
            if name != but and now[name] != value:
                raise ValueError(
                    f"{name}={brief(now[name])} differs from {brief(value)}, with which {type(self).__name__} was "
                    "fitted. Fit a new estimator, or set warm_start=False and call fit."
                )
