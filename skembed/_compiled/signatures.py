"""The types of operations in kernels, of which numba asks again and again, found once.

For an addition of two integers numba tries some twenty definitions, for strings, lists and dates too, each time that it
passes over a function: half of the time that it takes to find the types in it.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types

_found: dict[Any, Any] = {}  # (function, types of arguments) -> signature


def with_memory(context: Any) -> Any:
    """A typing context that shares everything with this one, and remembers signatures."""
    kind = type(context)
    remembering = type(f"Remembering{kind.__name__}", (_Memory, kind), {})
    copy: Any = object.__new__(remembering)
    copy.__dict__ = context.__dict__
    return copy


class _Memory:
    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if kws or (type(func) is not types.Function and func is not operator.getitem):
            return super().resolve_function_type(func, args, kws)  # type: ignore[misc]
        key = func, tuple(args)
        found = _found.get(key)
        if found is None:
            found = super().resolve_function_type(func, args, kws)  # type: ignore[misc]
            if found is not None:
                _found[key] = found
        return found

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        key = operator.setitem, (target, index, value)
        found = _found.get(key)
        if found is None:
            found = _found[key] = super().resolve_setitem(target, index, value)  # type: ignore[misc]
        return found
