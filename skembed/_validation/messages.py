"""Messages: short text of any value, warnings with the line of the user's code, versions for a bug report."""

from __future__ import annotations

import os
import platform
import sys
import warnings
from contextlib import suppress
from itertools import islice
from typing import Any

_LENGTH = 80  # characters of a value in a message
_FEW = 6  # items of a collection that are shown
_CALLERS = "skembed", "sklearn", "joblib"  # a pipeline calls `fit` by joblib
_BRACKETS: dict[type, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}", dict: "{}"}


def brief(value: object, length: int = _LENGTH) -> str:
    """Return the repr of a value if it is short, else its type, size and beginning; no more is formatted."""
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


def warn_at_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's code, outside of skembed and of what calls it in a pipeline."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _CALLERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


_PACKAGES = ("skembed", "scikit-learn", "numpy", "scipy", "numba", "llvmlite", "joblib", "threadpoolctl", "safetensors")
_OPTIONAL = ("snowballstemmer", "PyStemmer", "matplotlib", "skops", "dask", "pandas", "polars", "pyarrow", "gensim")


def show_versions() -> None:
    """Print the versions of Python and of the packages, and the machine, for a bug report.

    Imports none of the packages. Optional packages that are not installed are left out.

    Examples
    --------
    >>> import skembed
    >>> skembed.show_versions()
    System:
        python: ...
    """
    system: dict[str, Any] = {
        "python": sys.version.replace("\n", " "),
        "executable": sys.executable,
        "machine": platform.platform(),
        "cores": os.cpu_count(),
    }
    of_packages = {name: _version(name) for name in _PACKAGES}
    of_optional = {name: found for name in _OPTIONAL if (found := _version(name)) is not None}
    for title, rows in (("System", system), ("\nPackages", of_packages), ("\nOptional packages", of_optional)):
        if rows:
            print(f"{title}:")
        for name, value in rows.items():
            print(f"{name:>15s}: {value}")


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # takes a while to import

    with suppress(PackageNotFoundError):
        return version(name)
    return None
