"""One estimator in several threads: fits hold a lock, and readers use a snapshot of its state."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar, cast

import numpy as np

from .._compiled.norms import row_norms
from .._validation.scalars import plain

_Method = TypeVar("_Method", bound=Callable[..., Any])


class SideState:
    """Locks and caches of an estimator, kept outside of it: never copied, pickled or sent to processes.

    Attributes
    ----------
    fitting, making : RLock
        Held while the estimator is fitted, and while `known_tokens` is built.
    known_tokens : object or None
        Cache of the words seen by `transform`; built when missing.
    in_order : dict or None
        A vocabulary whose rows are known to count up from 0.
    spares : SpareArrays or None
        Memory in which the next `partial_fit` learns; made by the first.
    """

    def __init__(self) -> None:
        self.fitting, self.making = threading.RLock(), threading.RLock()
        self.known_tokens: Any = None
        self.in_order: dict[str, int] | None = None
        self.spares: Any = None


# By id: an estimator with an `__eq__` may have no hash.
_SIDE_STATES: dict[int, tuple[weakref.ref[Any], SideState]] = {}
if hasattr(os, "register_at_fork"):
    # Threads that held a lock do not exist in the child.
    os.register_at_fork(after_in_child=_SIDE_STATES.clear)


def side_state(estimator: Any) -> SideState:
    """Return the locks and caches of an estimator."""
    found = _SIDE_STATES.get(id(estimator))
    return (found or _set_side_state(estimator, SideState()))[1]


def _set_side_state(estimator: Any, what: SideState) -> tuple[weakref.ref[Any], SideState]:
    def forget(_: Any, key: int = id(estimator), pop: Callable[..., Any] = _SIDE_STATES.pop) -> None:
        pop(key, None)

    return _SIDE_STATES.setdefault(id(estimator), (weakref.ref(estimator, forget), what))


def norms_for(estimator: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The function for the norm of each row of an array of an estimator: only of changed ones where others are kept."""
    spares = side_state(estimator).spares
    return row_norms if spares is None else spares.norms


def derived_rows(
    estimator: Any, name: str, setting: Any, source: np.ndarray, make: Callable[[Any], np.ndarray]
) -> np.ndarray:
    """A fitted attribute whose rows follow from those of a learned array, and from a setting.

    ``make`` makes some rows, given their indices, or all, given a slice. Where `partial_fit` has changed some rows of
    the source, only those are made anew.
    """
    spares = side_state(estimator).spares
    if spares is None:
        return make(slice(None))
    found: np.ndarray = spares.derived(f"{name} of {setting}", vars(estimator).get(name), source, make)
    return found


def shallow_copy(estimator: Any) -> Any:
    """Return a shallow copy, taken atomically; a later fit of either does not change the other."""
    state = object.__getstate__(estimator)
    values, slots = state if isinstance(state, tuple) else (state, {})
    copied = object.__new__(type(estimator))
    copied.__dict__.update(dict(values or {}))
    for name, value in slots.items():
        object.__setattr__(copied, name, value)
    return copied


def on_snapshot(method: _Method) -> _Method:
    """Decorate a method to run on a snapshot of the estimator, which a fit in another thread does not change."""

    @wraps(method)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = shallow_copy(self)
        _set_side_state(now, side_state(self))
        return method(now, *args, **kwargs)

    return cast(_Method, read)


def transforming(method: _Method) -> _Method:
    """Decorate `transform`: :class:`SharedMixin` takes the snapshot around what scikit-learn wraps it in."""
    method.reads_one_state = True  # type: ignore[attr-defined]
    return method


@contextmanager
def plain_parameters(estimator: Any) -> Iterator[None]:
    """Replace numpy scalars among the parameters by Python's for a while, so that no result depends on them."""
    given = {name: value for name, value in estimator.get_params(deep=False).items() if plain(value) is not value}
    now = {name: plain(value) for name, value in given.items()}
    vars(estimator).update(now)
    try:
        yield
    finally:
        # Not what a callback has set meanwhile.
        vars(estimator).update({name: given[name] for name in now if vars(estimator)[name] is now[name]})


def locked(method: _Method) -> _Method:
    """Decorate a method that changes the estimator to hold its lock, and to read plain parameters."""

    @wraps(method)
    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        state = side_state(self)
        with state.fitting, plain_parameters(self):
            try:
                return method(self, *args, **kwargs)
            finally:
                if state.spares is not None:
                    state.spares.give_up()

    return cast(_Method, change)


class SharedMixin:
    """Base of estimators that threads may share.

    A method that learns ends with :meth:`_commit`; one that reads is decorated with :func:`on_snapshot`, and
    `transform` with :func:`transforming`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("fit", "partial_fit", "fit_transform"):
            if isfunction(own := vars(cls).get(name)):
                setattr(cls, name, locked(own))
        # scikit-learn has already wrapped `transform`; its wrapper reads the column names from the same snapshot.
        wrapped: Any = vars(cls).get("transform")
        if hasattr(wrapped, "reads_one_state"):
            cls.transform = on_snapshot(wrapped)  # type: ignore[attr-defined]

    def __copy__(self) -> Any:
        return shallow_copy(self)

    def _commit(self, fitted: dict[str, Any]) -> None:
        """Set the fitted attributes atomically: other threads read either the old model or the new one."""
        self.__dict__ = dict(vars(self)) | fitted
