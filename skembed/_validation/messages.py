"""Short text of any value for a message: at most one line."""

from __future__ import annotations

from itertools import islice
from typing import Any

_LENGTH = 80  # characters of a value in a message
_FEW = 6  # items of a collection that are shown
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}


def brief(value: Any, length: int = _LENGTH) -> str:
    """Return the repr of a value if it is short, else its type, its size and its beginning.

    Formats only what is shown: the full repr of large word vectors takes minutes.
    """
    try:
        text = _show(value)
    except Exception:  # a repr may fail, for example of an integer of 5000 digits
        text = type(value).__name__
    return text if len(text) <= length else text[: length - 3] + "..."


def _show(value: Any, *, inside: bool = False) -> str:
    """Return text of bounded length; a collection `inside` another one is shown by type and length."""
    kind = type(value).__name__
    if isinstance(value, (str, bytes, bytearray)):
        return repr(value[: _LENGTH + 1])
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{kind} of shape {shape}"
    if hasattr(value, "get_params") and not isinstance(value, type):  # its repr shows all parameters
        return kind
    if not hasattr(value, "__len__") or isinstance(value, type):
        return repr(value)
    brackets, n_items = _BRACKETS.get(type(value)), len(value)
    if brackets is None or inside:
        return f"{kind} of length {n_items}"
    items = [_show(item, inside=True) for item in islice(value, _FEW)]
    if type(value) is dict:
        items = [f"{key}: {_show(value[name], inside=True)}" for key, name in zip(items, value)]
    if n_items <= _FEW:
        comma = "," if type(value) is tuple and n_items == 1 else ""
        return brackets[0] + ", ".join(items) + comma + brackets[1] if n_items else repr(value)
    return f"{kind} of length {n_items}: {brackets[0]}{', '.join(items)}, ...{brackets[1]}"
