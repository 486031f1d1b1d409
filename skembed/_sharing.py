"""One estimator in several threads: fits wait for each other, and whoever reads it sees one state."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar, cast

_Method = TypeVar("_Method", bound=Callable[..., Any])


class SideState:
    """What goes with an estimator and is no part of it: no copy, no file and no other process has it.

    Attributes
    ----------
    fitting, making : RLock
        Held by the thread that fits the estimator, and by one that makes `known_tokens`.
    known_tokens : object or None
        What `transform` has learned of the words of texts; made again where it is missing.
    """

    def __init__(self) -> None:
        self.fitting, self.making = threading.RLock(), threading.RLock()
        self.known_tokens: Any = None


# By identity: an estimator may have an `__eq__`, and then no hash.
_SIDE_STATES: dict[int, tuple[weakref.ref[Any], SideState]] = {}
if hasattr(os, "register_at_fork"):
    # In the child the threads are gone that held a lock.
    os.register_at_fork(after_in_child=_SIDE_STATES.clear)


def side_state(estimator: Any) -> SideState:
    """Return what goes with an estimator."""
    found = _SIDE_STATES.get(id(estimator))
    return (found or _set_side_state(estimator, SideState()))[1]


def _set_side_state(estimator: Any, what: SideState) -> tuple[weakref.ref[Any], SideState]:
    def forget(_: Any, key: int = id(estimator), pop: Callable[..., Any] = _SIDE_STATES.pop) -> None:
        pop(key, None)

    return _SIDE_STATES.setdefault(id(estimator), (weakref.ref(estimator, forget), what))


def shallow_copy(estimator: Any) -> Any:
    """Return another instance with the same values, taken all at once; what a fit puts into one, the other lacks."""
    state = object.__getstate__(estimator)
    values, slots = state if isinstance(state, tuple) else (state, {})
    copied = object.__new__(type(estimator))
    copied.__dict__.update(dict(values or {}))
    for name, value in slots.items():
        object.__setattr__(copied, name, value)
    return copied


def of_one_state(method: _Method) -> _Method:
    """Have a method read the estimator as it is now, whatever a fit in another thread makes of it meanwhile."""

    @wraps(method)
    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        now = shallow_copy(self)
        _set_side_state(now, side_state(self))
        return method(now, *args, **kwargs)

    read.reads_one_state = True  # type: ignore[attr-defined]
    return cast(_Method, read)


def one_at_a_time(method: _Method) -> _Method:
    """Have a method that changes the estimator wait until no other thread is in one."""

    @wraps(method)
    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        with side_state(self).fitting:
            return method(self, *args, **kwargs)

    return cast(_Method, change)


class Shared:
    """Base of estimators that threads may share.

    A method that learns ends with :meth:`_commit`; one that reads is decorated with :func:`of_one_state`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("fit", "partial_fit", "fit_transform"):
            if isfunction(own := vars(cls).get(name)):
                setattr(cls, name, one_at_a_time(own))
        # scikit-learn has wrapped `transform` by now, and asks for the names of the columns after it.
        wrapped: Any = vars(cls).get("transform")
        if hasattr(wrapped, "reads_one_state"):
            cls.transform = of_one_state(wrapped)  # type: ignore[attr-defined]

    def __copy__(self) -> Any:
        return shallow_copy(self)

    def _commit(self, fitted: dict[str, Any]) -> None:
        """Take over what was learned, at once: another thread reads all of the old model, or all of the new one."""
        self.__dict__ = dict(vars(self)) | fitted
