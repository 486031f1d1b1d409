"""Values of parameters and fitted attributes as JSON; arrays go to a file of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from .._text.words import DataTokenizer, tokenizer_from_json, tokenizer_to_json
from .._validation.messages import brief
from .._validation.values import JSON

_SCALARS = {"bool", "float32", "float64", "int32", "int64"}
_ARRAYS = {"float32", "float64", "int64", "uint8"}
_SEQUENCES: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}
# Estimators of scikit-learn that BOWPCA holds, and the attributes that they may have.
_STEPS: dict[str, Any] = {cls.__name__: cls for cls in (TfidfTransformer,)}
_STEP_ATTRIBUTES = {"n_features_in_", "idf_"}


class ArrayStore:
    """Arrays by name, row after row in memory; one that several attributes share is stored once."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}

    def add(self, array: np.ndarray, name: str) -> dict[str, str]:
        """Store an array, or its transpose, unless it is stored already; return the value that stands for it."""
        known = self._names.setdefault(id(array), name)
        is_transposed = array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous
        if known == name:
            self.arrays[name] = np.ascontiguousarray(array.T if is_transposed else array)
        return {"transposed" if is_transposed else "array": known}


def to_json(value: Any, name: str, store: ArrayStore) -> JSON:
    """Return what JSON holds for a value; a TypeError names a value that has no such form."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic) and value.dtype.name in _SCALARS:
        return {value.dtype.name: to_json(value.item(), name, store)}
    if isinstance(value, np.ndarray) and value.dtype.name in _ARRAYS and value.ndim:
        return store.add(value, name)
    if type(value) is list:
        return [to_json(item, name, store) for item in value]
    for tag, kind in _SEQUENCES.items():
        if type(value) is kind:
            unordered: Any = value
            items = unordered if kind is tuple else sorted(unordered)
            return {tag: [to_json(item, name, store) for item in items]}
    if type(value) is dict and all(type(key) is str for key in value):
        return {"dict": {key: to_json(item, name, store) for key, item in value.items()}}
    if isinstance(value, DataTokenizer):
        return {"tokenizer": tokenizer_to_json(value)}
    if type(value) in _STEPS.values():
        params = {key: param for key, param in value.get_params().items() if key != "random_state"}
        fitted = {key: item for key, item in vars(value).items() if key in _STEP_ATTRIBUTES}
        return {
            "step": [
                type(value).__name__,
                {key: to_json(item, f"{name}.{key}", store) for key, item in params.items()},
                {key: to_json(item, f"{name}.{key}", store) for key, item in fitted.items()},
            ]
        }
    raise TypeError(f"{name}={brief(value)} cannot be saved: a folder holds numbers, strings and arrays, and no code.")


def from_json(value: JSON, arrays: Mapping[str, np.ndarray]) -> Any:
    """Undo :func:`to_json`; a ValueError says what is wrong."""
    if isinstance(value, list):
        return [from_json(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"{brief(value)} is no value.")
    ((tag, inner),) = value.items()
    if tag in ("array", "transposed"):
        if not isinstance(inner, str) or inner not in arrays:
            raise ValueError(f"the array {brief(inner)} is missing.")
        return arrays[inner] if tag == "array" else arrays[inner].T
    if tag == "float" and inner in ("nan", "inf", "-inf"):
        return float(inner)
    if tag in _SCALARS:
        return _scalar(tag, from_json(inner, arrays))
    if tag in _SEQUENCES and isinstance(inner, list):
        items = [from_json(item, arrays) for item in inner]
        if tag != "tuple" and not all(isinstance(item, str) for item in items):
            raise ValueError(f"{brief(value)} is no set of strings.")
        return _SEQUENCES[tag](items)
    if tag == "tokenizer":
        return tokenizer_from_json(inner)
    if tag == "step" and isinstance(inner, list) and len(inner) == 3:
        return _step(inner[0], inner[1], inner[2], arrays)
    if tag == "dict" and isinstance(inner, dict):
        return {key: from_json(item, arrays) for key, item in inner.items()}
    raise ValueError(f"{brief(value)} is no value.")


def _scalar(dtype: str, value: Any) -> Any:
    kinds: Any = {"b": bool, "f": float, "i": int}[np.dtype(dtype).kind]
    try:
        if type(value) is kinds:
            return np.dtype(dtype).type(value)
    except OverflowError:
        pass
    raise ValueError(f"{brief(value)} is no {dtype}.")


def _step(name: Any, params: Any, fitted: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    cls = _STEPS.get(name) if isinstance(name, str) else None
    if cls is None or not isinstance(params, dict) or not isinstance(fitted, dict):
        raise ValueError(f"{brief(name)} is no step of a model.")
    if not (set(params) <= set(cls._get_param_names()) and set(fitted) <= _STEP_ATTRIBUTES):
        raise ValueError(f"{name} has other parameters or attributes.")
    step = cls(**{key: from_json(value, arrays) for key, value in params.items()})
    step._validate_params()
    vars(step).update({key: from_json(value, arrays) for key, value in fitted.items()})
    return step
