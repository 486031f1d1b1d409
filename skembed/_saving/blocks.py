"""A fitted TextVectorizer as what JSON can hold, with its arrays beside it; and back."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from .._meta_estimators.block_weights import BlockWeights
from .._meta_estimators.character_tfidf import CharacterTfidf
from .._meta_estimators.given_blocks import GivenBlock, check_blocks
from .._meta_estimators.student_block import STUDENT, StudentBeside
from .._meta_estimators.text_blocks import NAMES, SOURCES, BuiltInBlocks, count_words, tfidf_of_words
from .._meta_estimators.text_vectorizer import TextVectorizer
from .._methods.paraphrase import ParaphraseVectorizer
from .._methods.student import StudentVectorizer
from .._pretrained.models import PretrainedModel
from .._pretrained.parameter import PRETRAINED
from .._pretrained.saved import MissingModelError, reopened, saved_identity, saved_parameter
from .._text.character_counts import NgramVocabulary
from .._text.character_ngrams import CharacterNgrams
from .._text.sources import encode_words
from .._text.words import WORD
from .._validation.messages import brief
from .header import Description, describe_model, inner_entries, model_of, parameter_to_json
from .header import words_of as decoded_words
from .values import ArrayStore, from_json, to_json

_HALVES, _OUTPUT = "halves", "output"  # the learned block, and the directions of dense output
_WEIGHTS = "weights"  # of the directions of a pretrained model
_LANDMARKS, _MAP = "landmarks", "map"  # of the rows of a student and of a pretrained model to the teacher's
_STRETCH = "stretch"  # of the rows of either
_ATTRIBUTES = {"block_weights_", "n_labelled", "n_texts", "tfidf", "halves", "pretrained", "student"}
_OF_NGRAMS = ("text", "lengths")  # arrays of a vocabulary of n-grams of characters
_OF_DIRECTIONS = ("singular_values_", "explained_variance_", "explained_variance_ratio_")


def describe_blocks(estimator: TextVectorizer, *, inference_only: bool) -> Description:
    """Return what is saved of a TextVectorizer; its learned block is saved for inference only."""
    _, of_next_fit = check_blocks(estimator.blocks)
    fitted = dict(estimator._given)
    pretrained, student = fitted.pop(PRETRAINED, None), fitted.pop(STUDENT, None)
    if given := {**of_next_fit, **fitted}:
        name = next(iter(given))
        raise TypeError(
            f"blocks[{name!r}] is a transformer, which is code, and a folder holds none. Save the model with joblib or "
            "skops."
        )
    store, built_in, left_out = ArrayStore(), estimator._built_in, 0
    arrays: dict[str, np.ndarray] = {}
    axes: dict[str, int] = {}
    tfidf: dict[str, Any] = {}
    for name, vectorizer in built_in.tfidf.items():
        arrays[f"{name}.idf"] = vectorizer.idf_
        if isinstance(vectorizer, CharacterTfidf):
            tfidf[name] = [vectorizer.analyzer, *vectorizer.ngram_range]
            arrays |= {f"{name}.{key}": array for key, array in vectorizer.vocabulary_.to_arrays().items()}
        else:
            tfidf[name] = None
            text, offsets = encode_words(list(vectorizer.get_feature_names_out()))
            arrays |= {f"{name}.text": text, f"{name}.offsets": offsets}
    projections = {name: block for name, block in built_in.blocks.items() if name in SOURCES}
    for name, projection in (projections | {_OUTPUT: estimator._projection}).items():
        if projection is not None:
            components = np.ascontiguousarray(projection.components_.T)
            half = components.astype(np.float16)  # in which the fit has rounded them
            arrays[f"{name}.components"] = half if (half == components).all() else components
            arrays |= {f"{name}.{key}": getattr(projection, key) for key in _OF_DIRECTIONS}
            axes[f"{name}.components"] = 0
    of_teacher = student and student.transformer
    if isinstance(of_teacher, StudentBeside):
        arrays |= {f"{STUDENT}.{_LANDMARKS}": of_teacher.landmarks, f"{STUDENT}.{_MAP}": of_teacher.weights}
        of_teacher = of_teacher.student
    learners = {_HALVES: built_in.blocks.get(_HALVES), STUDENT: of_teacher}
    learned: dict[str, Any] = dict.fromkeys(learners)
    for name, learner in learners.items():
        if learner is not None:
            learner = copy(learner)
            learner.random_state = None
            inner = describe_model(learner, inference_only=True)
            arrays |= {f"{name}.{key}": array for key, array in inner.arrays.items()}
            axes |= {f"{name}.{key}": axis for key, axis in inner.axes.items()}
            learned[name] = {"model": inner.entries}
            left_out += inner.left_out
    of_model = None
    if pretrained is not None:
        of_model, arrays[f"{PRETRAINED}.probes"] = saved_identity(pretrained.transformer)
        if pretrained.weights is not None:
            arrays[f"{PRETRAINED}.{_WEIGHTS}"] = pretrained.weights
    for name, block in estimator._given.items():
        if block.stretch is not None:
            arrays[f"{name}.{_STRETCH}"] = block.stretch
    params = estimator.get_params(deep=False)
    params |= {"corpus": None, "teacher": None, "pretrained": saved_parameter(params["pretrained"])}
    entries = {
        "class": type(estimator).__name__,
        "inference_only": bool(inference_only),
        "parameters": {name: parameter_to_json(name, value, store) for name, value in params.items()},
        "tokenizer": {},
        "attributes": {
            "block_weights_": to_json(dict(estimator.block_weights_), "block_weights_", store),
            "n_labelled": estimator.block_weights_.n_labelled,
            "n_texts": built_in.n_texts,
            "tfidf": tfidf,
            "pretrained": of_model,
            **learned,
        },
    }
    return Description(entries, arrays, axes, left_out)


def blocks_of(
    entries: Mapping[str, Any], arrays: Mapping[str, np.ndarray], pretrained: PretrainedModel | None
) -> TextVectorizer:
    """Undo :func:`describe_blocks`; `pretrained` is the model that the user passes, or None for the saved path."""
    model = TextVectorizer(**{name: from_json(value, {}) for name, value in entries["parameters"].items()})
    model._validate_params()
    check_blocks(model.blocks)
    attributes = entries["attributes"]
    if set(attributes) != _ATTRIBUTES or not isinstance(attributes["tfidf"], dict):
        raise ValueError(f"the attributes are {brief(attributes)}.")
    for name, least in (("n_texts", 1), ("n_labelled", 0)):
        if type(attributes[name]) is not int or attributes[name] < least:
            raise ValueError(f"{name} is {brief(attributes[name])}.")
    weights = _weights_of(attributes["block_weights_"], attributes["n_labelled"])
    needed = {SOURCES.get(name, name) for name in weights if name not in (_HALVES, PRETRAINED, STUDENT)}
    if needed != set(attributes["tfidf"]):
        raise ValueError(f"there is tf-idf of {brief(list(attributes['tfidf']))}, expected {brief(sorted(needed))}.")
    for name in (_HALVES, STUDENT):
        if (name in weights) != (attributes[name] is not None):
            raise ValueError(f"the block {name!r} and its weight must be there together.")
    parts = _parts_of(arrays)
    tfidf: dict[str, Any] = {}
    for name in needed:
        read = _characters_of if name == "characters" else _words_of
        tfidf[name] = read(attributes["tfidf"][name], parts.pop(name, {}))
    widths = {
        name: count_words(vectorizer) if name == "words" else len(vectorizer.vocabulary_)
        for name, vectorizer in tfidf.items()
    }
    given = _given_of(attributes["pretrained"], parts, model, pretrained)
    if (PRETRAINED in weights) != (PRETRAINED in given):
        raise ValueError("the pretrained model and its weight must be there together.")
    if STUDENT in weights:
        given[STUDENT] = _student_of(attributes[STUDENT], parts.pop(STUDENT, {}), given.get(PRETRAINED))
    blocks: dict[str, Any] = {}
    for name in weights:
        if name in given:
            continue
        if name in SOURCES:
            blocks[name] = _directions_of(name, parts.pop(name, {}), widths[SOURCES[name]])
        elif name in tfidf:
            blocks[name] = tfidf[name]
        else:
            blocks[name] = _learner_of(name, ParaphraseVectorizer, attributes[name], parts.pop(name, {}))
    built_in = BuiltInBlocks({name: tfidf[name] for name in NAMES if name in tfidf}, blocks, attributes["n_texts"])
    n_columns = sum(map(built_in.n_columns, blocks)) + sum(block.n_columns for block in given.values())
    projection = _directions_of(_OUTPUT, parts.pop(_OUTPUT), n_columns) if _OUTPUT in parts else None
    if parts:
        raise ValueError(f"{brief(min(parts))} belongs to no block.")
    model._built_in, model._given, model._projection = built_in, given, projection
    model.blocks_ = blocks | {name: block.transformer for name, block in given.items()}
    model.block_weights_ = weights
    model.n_features_out_ = n_columns if projection is None else len(projection.components_)
    return model


def _given_of(
    entries: Any, parts: dict[str, dict[str, np.ndarray]], model: TextVectorizer, pretrained: PretrainedModel | None
) -> dict[str, GivenBlock]:
    """The block of the pretrained model, if there is one; sets the parameter."""
    arrays = parts.pop(PRETRAINED, {})
    if entries is None:
        if arrays:
            raise ValueError(f"{PRETRAINED}.{min(arrays)} belongs to no block.")
        if pretrained is not None:
            raise MissingModelError("This model was fitted without a pretrained one. Fit it with one.")
        return {}
    probes, weights, stretch = (arrays.pop(key, None) for key in ("probes", _WEIGHTS, _STRETCH))
    if arrays:
        raise ValueError(f"{PRETRAINED}.{min(arrays)} belongs to no block.")
    transformer = reopened(pretrained, model.pretrained, entries, probes)
    model.pretrained = model.pretrained if pretrained is None else pretrained
    n_columns = transformer.n_features_out_
    for key, matrix in ((_WEIGHTS, weights), (_STRETCH, stretch)):
        _check_square(f"{PRETRAINED}.{key}", matrix, n_columns)
    return {PRETRAINED: GivenBlock(PRETRAINED, transformer, n_columns, weights, stretch)}


def _check_square(name: str, matrix: np.ndarray | None, size: int) -> None:
    if matrix is not None and (matrix.dtype != np.float32 or matrix.shape != (size, size)):
        raise ValueError(f"{name} is {brief(matrix)}, expected a square of {size} numbers.")


def _student_of(entries: Any, arrays: dict[str, np.ndarray], pretrained: GivenBlock | None) -> GivenBlock:
    """The block of the student, which maps the rows of the pretrained model too, if there is one."""
    landmarks, weights, stretch = (arrays.pop(key, None) for key in (_LANDMARKS, _MAP, _STRETCH))
    student = _learner_of(STUDENT, StudentVectorizer, entries, arrays)
    n_columns = student.n_features_out_
    _check_square(f"{STUDENT}.{_STRETCH}", stretch, n_columns)
    if (weights is None) != (pretrained is None) or (weights is None) != (landmarks is None):
        raise ValueError("a student has landmarks and a map if and only if there is a pretrained model.")
    if weights is None or landmarks is None or pretrained is None:
        return GivenBlock(STUDENT, student, n_columns, stretch=stretch)
    n_landmarks = len(landmarks) if landmarks.ndim else 0
    shapes = {_LANDMARKS: (n_landmarks, n_columns + pretrained.n_columns), _MAP: (n_landmarks, n_columns)}
    for (name, expected), array in zip(shapes.items(), (landmarks, weights)):
        if array.dtype != np.float32 or array.shape != expected:
            raise ValueError(f"{STUDENT}.{name} is {brief(array)}, expected numbers of the shape {expected}.")
    return GivenBlock(STUDENT, StudentBeside(student, pretrained, landmarks, weights), n_columns, stretch=stretch)


def _parts_of(arrays: Mapping[str, np.ndarray]) -> dict[str, dict[str, np.ndarray]]:
    """The arrays of each block, without its name."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for key, array in arrays.items():
        name, _, rest = key.partition(".")
        parts.setdefault(name, {})[rest] = array
    return parts


def _weights_of(value: Any, n_labelled: int) -> BlockWeights:
    weights = from_json(value, {})
    names = [name for name in (*NAMES, PRETRAINED, STUDENT) if name in weights] if isinstance(weights, dict) else []
    is_sound = names and names == list(weights)
    is_sound = is_sound and all(type(weight) is float and 0 <= weight <= 1 for weight in weights.values())
    if not is_sound or abs(sum(weights.values()) - 1) > 1e-6:
        raise ValueError(f"block_weights_ is {brief(weights)}, expected weights of blocks that sum to 1.")
    return BlockWeights(weights, n_labelled)


def _words_of(options: Any, parts: dict[str, np.ndarray]) -> TfidfVectorizer:
    if options is not None:
        raise ValueError(f"the options of 'words' are {brief(options)}.")
    vectorizer = tfidf_of_words()
    vocabulary = decoded_words(parts.pop("text", None), parts.pop("offsets", None))
    vectorizer.vocabulary_ = vocabulary
    vectorizer.idf_ = _idf_of("words", parts, len(vocabulary))
    return vectorizer


def _characters_of(options: Any, parts: dict[str, np.ndarray]) -> CharacterTfidf:
    ngrams = CharacterNgrams.from_json([*options, True, False, None] if isinstance(options, list) else options)
    vectorizer = CharacterTfidf(analyzer=ngrams.analyzer, ngram_range=ngrams.ngram_range, min_df=2)
    of_ngrams = {key: parts.pop(key, None) for key in _OF_NGRAMS}
    vectorizer.vocabulary_ = NgramVocabulary.from_arrays(of_ngrams, ngrams.ngram_range[1])
    vectorizer.idf_ = _idf_of("characters", parts, len(vectorizer.vocabulary_))
    return vectorizer


def _idf_of(name: str, parts: dict[str, np.ndarray], n_terms: int) -> np.ndarray:
    idf = parts.pop("idf", None)
    if idf is None or idf.dtype != np.float32 or idf.shape != (n_terms,) or not n_terms or parts:
        raise ValueError(f"{name!r} has no idf for each of its {n_terms} terms.")
    return idf


def _directions_of(name: str, parts: dict[str, np.ndarray], n_columns: int) -> TruncatedSVD:
    components = parts.pop("components", None)
    if (
        components is None
        or components.dtype != np.float32
        or components.ndim != 2
        or len(components) != n_columns
        or not components.shape[1]
    ):
        raise ValueError(f"{name}.components is {brief(components)}, expected a row for each of {n_columns} columns.")
    projection = TruncatedSVD(components.shape[1])
    projection.components_ = components.T
    for key in _OF_DIRECTIONS:
        values = parts.pop(key, None)
        if values is None or values.dtype.kind != "f" or values.shape != components.shape[1:]:
            raise ValueError(f"{name}.{key} is {brief(values)}, expected {components.shape[1]} numbers.")
        setattr(projection, key, values)
    if parts:
        raise ValueError(f"{name}.{min(parts)} belongs to no block.")
    return projection


def _learner_of(name: str, kind: type, value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The learned model of a block."""
    entries = inner_entries(value, name)
    if entries["class"] != kind.__name__:
        raise ValueError(f"the block {name!r} is a {brief(entries['class'])}.")
    pattern = WORD if name == _HALVES and entries["tokenizer"].get("token_pattern") == WORD else None
    return model_of(entries | {"inference_only": True}, arrays, pattern)
