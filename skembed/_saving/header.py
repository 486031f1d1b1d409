"""A fitted estimator as what JSON can hold, with its arrays beside it; and back."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .._base.scikit_learn import as_fitted, layout_of_options, validate_parameters
from .._base.text import TextEstimator, tokenizer_options
from .._text.sources import decode_words, encode_words
from .._text.tokenizer import Tokenizer, check_pattern
from .._text.words import DataTokenizer
from .._validation.messages import brief
from .._validation.values import JSON, plain
from .values import ArrayStore, from_json, to_json

_HOMES = "skembed", "skembed.research"  # of the estimators
_WORDS, _OFFSETS = "vocabulary_.text", "vocabulary_.offsets"
_LEARNER = "word2vec_"  # a model within a model, of the same words
# What only a new fit reads, and what is saved instead.
_NOT_NEEDED: dict[str, object] = dict.fromkeys(("init", "corpus", "embedding", "expand_with")) | {"word_vectors": []}
_OF_SCIKIT_LEARN = ("_sklearn_output_config", "_metadata_request")  # settings of a pipeline, not of the model
# The entries of a header that describe the model.
ENTRY_TYPES = {"class": str, "inference_only": bool, "parameters": dict, "tokenizer": dict, "attributes": dict}


class Description(NamedTuple):
    """A fitted estimator as it is saved."""

    entries: dict[str, Any]  # of the header
    arrays: dict[str, np.ndarray]  # that the entries name
    axes: dict[str, int]  # the matrices with a row for each word, and the axis of the rows
    left_out: int  # bytes of the arrays that only training needs


def class_of(name: Any) -> type[TextEstimator] | None:
    """The estimator of this name, if a folder may hold one."""
    return next((cls for home in _HOMES for cls in _estimators_of(home, [name])), None)


def names_of_estimators() -> list[str]:
    """Names of the estimators that a folder may hold."""
    return [cls.__name__ for home in _HOMES for cls in _estimators_of(home, import_module(home).__all__)]


def _estimators_of(home: str, names: list[str]) -> Iterator[type[TextEstimator]]:
    module = import_module(home)
    for name in names:
        found = getattr(module, name) if name in module.__all__ else None
        if isinstance(found, type) and issubclass(found, TextEstimator):
            yield found


def describe_model(estimator: TextEstimator, *, inference_only: bool) -> Description:
    """Return what is saved of an estimator."""
    model, store = _as_saved(estimator, inference_only=inference_only), ArrayStore()
    try:
        _check_parameters(model)
        _check_others(model)
        model._check_state(model._state, for_training=not inference_only)
        _check_layout(model)
    except ValueError as error:
        raise ValueError(f"This {type(model).__name__} cannot be saved: {error}") from None
    entries = _entries_of(model, "", store)
    arrays = store.arrays | dict(zip((_WORDS, _OFFSETS), encode_words(list(model.vocabulary_))))
    all_arrays, kept = _arrays_within(estimator), _arrays_within(model)
    left_out = sum(all_arrays[key] for key in set(all_arrays) - set(kept)) if inference_only else 0
    axes = {}
    for record in model._records(model._state):
        if record.kept and record.axis_of_words is not None:
            ((tag, stored),) = entries["attributes"][record.name].items()
            axes[stored] = 1 - record.axis_of_words if tag == "transposed" else record.axis_of_words
    return Description(entries | {"inference_only": bool(inference_only)}, arrays, axes, left_out)


def _check_parameters(model: TextEstimator) -> None:
    """Raise a ValueError if a parameter is invalid, as it is or as it was in the fit."""
    validate_parameters(model)
    if (layout := model._state.layout) is not None:
        if not set(layout) <= set(model.get_params(deep=False)):
            raise ValueError("_layout must hold parameters.")
        validate_parameters(as_fitted(model, model._state))


def _check_layout(model: TextEstimator) -> None:
    """Raise a ValueError if the parameters of the fit are not those that its arrays depend on."""
    state = model._state
    if state.layout is not None:
        fitted = as_fitted(model, state)
        if layout_of_options(fitted, fitted._learned_arrays(state), state) != state.layout:
            raise ValueError(f"_layout is {brief(state.layout)}, which is not that of {type(model).__name__}.")


def _check_others(model: TextEstimator) -> None:
    """Raise a ValueError if a user has set an attribute, which a folder does not hold."""
    if others := sorted(set(vars(model)) - set(model.get_params(deep=False)) - {"_state"}):
        raise ValueError(
            f"{brief(others[0])} is not what {type(model).__name__} learns, so a folder does not hold it. Delete the "
            "attribute, or use joblib."
        )


def _arrays_within(estimator: Any) -> dict[int, int]:
    """Bytes of each fitted array of an estimator, and of those that it holds; one that several share counts once."""
    values, found = estimator._state.values() if isinstance(estimator, TextEstimator) else vars(estimator), {}
    for value in values.values():
        if isinstance(value, np.ndarray):
            found[id(value)] = value.nbytes
        elif hasattr(value, "get_params"):
            found |= _arrays_within(value)
    return found


def _as_saved(estimator: TextEstimator, *, inference_only: bool) -> TextEstimator:
    """A copy with all that is saved, and nothing else."""
    model = copy(estimator)
    for name in _OF_SCIKIT_LEARN:
        model.__dict__.pop(name, None)
    state: Any = model._state
    if inference_only:
        state = state.for_inference(model._records(state))
    _drop_what_a_fit_reads(model)
    if getattr(state, "word2vec_", None) is not None:
        state = replace(state, word2vec_=_as_saved(state.word2vec_, inference_only=False))
    model._state = state
    return model


def _drop_what_a_fit_reads(model: TextEstimator) -> None:
    params = model.get_params(deep=False)
    dropped = [name for name in _NOT_NEEDED if params.get(name) is not None]
    for name in dropped:
        setattr(model, name, copy(_NOT_NEEDED[name]))
    if dropped:  # more text must be split as that was
        for name, value in tokenizer_options(model._state.tokenizer).items():
            if name in params:
                setattr(model, name, value)


def _entries_of(model: TextEstimator, prefix: str, store: ArrayStore) -> dict[str, Any]:
    params, tokenizer = model.get_params(deep=False), tokenizer_options(model._state.tokenizer)
    attributes: dict[str, JSON] = {}
    for name, value in model._state.without("vocabulary_", "_tokenizer").values().items():
        if name == _LEARNER and value is not None:
            attributes[name] = {"model": _entries_of(value, f"{name}.", store)}
        else:
            attributes[name] = to_json(value, prefix + name, store)
    return {
        "class": type(model).__name__,
        "parameters": {name: parameter_to_json(name, value, store) for name, value in params.items()},
        "tokenizer": {name: parameter_to_json(name, value, store) for name, value in tokenizer.items()},
        "attributes": attributes,
    }


def parameter_to_json(name: str, value: Any, store: ArrayStore) -> JSON:
    if name == "random_state" and isinstance(value, np.random.RandomState):
        raise TypeError(
            "random_state is a RandomState, which a folder cannot hold. Set it to None or an int: a fitted model does "
            "not need it."
        )
    if callable(value) and not isinstance(value, DataTokenizer):  # which are data
        raise TypeError(
            f"{name}={brief(value)} is code, which a folder does not hold. Use an option that is a string, such as "
            'token_pattern or stemmer="english", or save the model with joblib.'
        )
    if name == "stop_words":
        value = Tokenizer(stop_words=value).stop_words  # strings, whatever holds them
    held, before = to_json(plain(value), name, store), len(store.arrays)
    if len(store.arrays) > before:
        raise TypeError(f"{name} is an array.")
    return held


def model_of(entries: dict[str, Any], arrays: dict[str, np.ndarray], token_pattern: str | None) -> TextEstimator:
    """Undo :func:`describe_model`; a ValueError or TypeError says what is wrong."""
    for array in arrays.values():
        array.flags.writeable = False  # so that a model within a model goes on to share them
    words = words_of(arrays.get(_WORDS), arrays.get(_OFFSETS))
    return _model_of(entries, arrays, words, token_pattern, for_training=not entries["inference_only"])


def _model_of(
    entries: dict[str, Any],
    arrays: dict[str, np.ndarray],
    vocabulary: dict[str, int],
    token_pattern: str | None,
    *,
    for_training: bool,
) -> TextEstimator:
    cls = class_of(entries["class"])
    if cls is None:
        raise ValueError(f"{brief(entries['class'])} is no class that this skembed can load.")
    params = {name: from_json(value, {}) for name, value in entries["parameters"].items()}
    options = {name: from_json(value, {}) for name, value in entries["tokenizer"].items()}
    of_next_fit = params.get("token_pattern")
    # The pattern of trees is not the parameter, which only a new fit with other trees uses. Either may be given.
    is_given = token_pattern is not None and token_pattern == of_next_fit != options.get("token_pattern")
    tokenizer = Tokenizer.from_options(options, token_pattern=None if is_given else token_pattern)
    if of_next_fit not in (None, tokenizer.token_pattern) and not is_given:
        check_pattern(of_next_fit, None)
    model: Any = cls(**params)  # refuses other parameters
    attributes = dict(entries["attributes"])
    learner = attributes.pop(_LEARNER, None)
    fitted = {name: from_json(value, arrays) for name, value in attributes.items()}
    if learner is not None:
        inner = inner_entries(learner, _LEARNER)
        fitted[_LEARNER] = _model_of(inner, arrays, vocabulary, token_pattern, for_training=True)
    if clash := {"vocabulary_", "_tokenizer", *params} & set(fitted):
        raise ValueError(f"{brief(min(clash))} is no fitted attribute.")
    state = type(model._state).of({**fitted, "vocabulary_": vocabulary, "_tokenizer": tokenizer})
    model._state = state
    _check_parameters(model)
    model._publish(state, for_training=for_training)
    _check_layout(model)
    return model


def inner_entries(value: object, name: str) -> dict[str, Any]:
    """The entries of a model within a model, with their types checked."""
    entries = value.get("model") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(entries, dict) or any(
        not isinstance(entries.get(name), kind) for name, kind in ENTRY_TYPES.items() if name != "inference_only"
    ):
        raise ValueError(f"{name} is no model.")
    if _LEARNER in entries["attributes"]:
        raise ValueError(f"{name} holds a model itself.")
    return entries


def words_of(text: np.ndarray | None, ptr: np.ndarray | None) -> dict[str, int]:
    """A vocabulary from the bytes and the offsets of its words."""
    if (
        text is None
        or ptr is None
        or text.dtype != np.uint8
        or ptr.dtype != np.int64
        or text.ndim != 1
        or ptr.ndim != 1
    ):
        raise ValueError("the words are missing or have the wrong type.")
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != len(text) or (ptr[1:] < ptr[:-1]).any():
        raise ValueError(f"the offsets of the words must rise from 0 to {len(text)}.")
    words = decode_words(text, ptr)
    vocabulary = {word: row for row, word in enumerate(words)}
    if len(vocabulary) < len(words):
        raise ValueError("a word stands twice in the vocabulary.")
    return vocabulary
