"""Fitted attributes of estimators: read-only properties over the one value that a fit makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, Self, TypeVar, cast, overload

_Value = TypeVar("_Value")


class Fitted(Generic[_Value]):
    """A fitted attribute: the value of this name in the state, or what ``read`` makes of estimator and state."""

    def __init__(self, read: Callable[[Any, Any], Any] | None = None, *, or_none: bool = False) -> None:
        self._read, self._or_none = read, or_none

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, estimator: None, owner: type) -> Self: ...
    @overload
    def __get__(self, estimator: object, owner: type) -> _Value: ...
    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self
        state = vars(estimator).get("_state")
        if state is not None:
            value = self._read(estimator, state) if self._read else _value_of(state, self._name)
            if value is not None or self._or_none:
                return cast(_Value, value)
        name = type(estimator).__name__
        why = "is not fitted" if state is None else "was fitted without it"
        raise AttributeError(f"{name} has no attribute {self._name!r}: this {name} {why}.", name=self._name)

    def __set__(self, estimator: Any, value: Any) -> NoReturn:
        raise AttributeError(
            f"{self._name} of {type(estimator).__name__} is what a fit has learned, and cannot be changed. Fit again, "
            "or change a copy of the array. Word vectors of your own go into MeanEmbeddingVectorizer or into init.",
            name=self._name,
        )

    def __delete__(self, estimator: Any) -> NoReturn:
        self.__set__(estimator, None)


def _value_of(state: Any, name: str) -> Any:
    found = getattr(state, name, None)
    return state.arrays.get(name) if found is None else found
