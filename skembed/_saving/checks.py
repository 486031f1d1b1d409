"""Whether a model holds what its class needs, before a kernel uses one of its arrays as it says."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from .._base.layout import layout_of_options
from .._base.trained import TrainedVectorizer
from .._encoders.paragraph_vectors import checked_noise
from .._training.learned_arrays import check_shapes
from .._validation.limits import INT64_MAX
from .._validation.messages import brief
from .schema import SCHEMAS, Array, Schema

_ONE_SIZE_IS_WORDS = "mean_", "var_", "idf_", "components_"  # of the steps of scikit-learn; the last of their sizes


def check_model(model: Any, *, inference_only: bool) -> None:
    """Check parameters, fitted attributes, and the size of each array; a ValueError says what is wrong."""
    schema, fitted = SCHEMAS[type(model)], model._state.values()
    model._check_parameters()
    params, own = model.get_params(deep=False), {"_state", "_spares"}
    if others := sorted(set(vars(model)) - set(params) - own):
        raise ValueError(
            f"{brief(others[0])} is not what {type(model).__name__} learns, so a folder does not hold it. Delete the "
            "attribute, or use joblib."
        )
    names = set(fitted) - {"vocabulary_", "_tokenizer"}
    known = schema.needed | schema.optional | ({} if inference_only else schema.training)
    if unknown := names - set(known):
        raise ValueError(f"{type(model).__name__} has no {brief(min(unknown))}.")
    if missing := set(schema.needed) - names:
        raise ValueError(f"{min(missing)} is missing.")
    sizes = {"words": len(model._state.vocabulary_)}
    for name in sorted(names):
        _check_value(name, fitted[name], known[name], sizes)
    _check_learner(model)
    if not all(type(count) is int and 0 < count < 2**62 for count in fitted.get("_waiting", {}).values()):
        raise ValueError("_waiting must hold how often each word has occurred.")
    if not 0 <= fitted.get("_spelling_weight", 0) <= 1:
        raise ValueError(f"_spelling_weight is {fitted['_spelling_weight']}, which is not from 0 to 1.")
    if not 0 < model.n_features_out_ == _n_features_out(sizes):
        raise ValueError(f"n_features_out_ is {model.n_features_out_}, but the arrays have {_n_features_out(sizes)}.")
    if fitted.get("_n_learned", 0) > sizes["words"]:
        raise ValueError(f"_n_learned is {fitted['_n_learned']}, but there are {sizes['words']} words.")
    if "_layout" in schema.needed:
        for size, n in _sizes_of_layout(model, fitted, inference_only=inference_only).items():
            if sizes.get(size) != n:
                raise ValueError(f"the arrays have {sizes.get(size)} {size}, but the parameters of the fit give {n}.")
    elif "_pca" in schema.optional and ("components_" in names and "mean_" in names) != ("_pca" in names):
        raise ValueError("_pca, components_ and mean_ must be there together.")


def _check_learner(model: Any) -> None:
    """The word2vec model that learned the vectors of this one, if there is one."""
    learner = getattr(model._state, "word2vec_", None)
    if learner is None:
        return
    check_model(learner, inference_only=False)
    if learner.n_features_out_ != model.n_features_out_ or list(learner.vocabulary_) != list(model.vocabulary_):
        raise ValueError("word2vec_ has other words or columns than the model that holds it.")


def _check_value(name: str, value: Any, wanted: Any, sizes: dict[str, int]) -> None:
    if isinstance(wanted, Array):
        if not isinstance(value, np.ndarray) or value.dtype != wanted.dtype or value.ndim != len(wanted.sizes):
            raise ValueError(f"{name} is {brief(value)}, expected {wanted.dtype} with {len(wanted.sizes)} axes.")
        expected = tuple(sizes.setdefault(size, n) for size, n in zip(wanted.sizes, value.shape))
        if value.shape != expected:
            raise ValueError(f"{name} has the shape {value.shape}, expected {expected}.")
    elif wanted is None:
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            raise ValueError(f"{name} is {brief(value)}, expected an array.")
    elif not isinstance(value, wanted) or (wanted is int and not (type(value) is int and 0 <= value <= INT64_MAX)):
        raise ValueError(f"{name} is {brief(value)}, which has the wrong type.")
    elif wanted is list and not all(type(item) is float for item in value):
        raise ValueError(f"{name} must hold numbers.")
    elif hasattr(value, "get_params"):
        if vars(value).get("n_features_in_", sizes["words"]) != sizes["words"]:
            raise ValueError(f"{name} is for another number of words than {sizes['words']}.")
        for attribute in _ONE_SIZE_IS_WORDS:
            array = vars(value).get(attribute)
            if attribute in vars(value) and np.shape(array)[-1:] != (sizes["words"],):
                raise ValueError(f"{name}.{attribute} is {brief(array)} for {sizes['words']} words.")


def _sizes_of_layout(model: TrainedVectorizer, fitted: dict[str, Any], *, inference_only: bool) -> dict[str, int]:
    """Sizes that the parameters of the fit decide; and a check of all that training needs."""
    layout = fitted["_layout"]
    if not set(layout) <= set(model.get_params(deep=False)):
        raise ValueError("_layout must hold parameters.")
    as_fitted = copy(model)
    as_fitted.__dict__.update(layout)
    as_fitted._check_parameters()
    state: Any = model._state
    arrays = as_fitted._learned_arrays(state)
    if layout_of_options(as_fitted, arrays, state) != layout:
        raise ValueError(f"_layout is {brief(layout)}, which is not that of {type(model).__name__}.")
    if not inference_only:
        check_shapes(arrays, as_fitted.solver, fitted)
    schema = SCHEMAS[type(model)]
    for array in arrays:
        found = fitted.get(array.name)
        if array.name in schema.needed | schema.optional and getattr(found, "shape", None) != array.shape:
            raise ValueError(f"{array.name} is {brief(found)}, expected the shape {array.shape}.")
    windows = getattr(as_fitted, "_windows_of_options", None)
    if windows != fitted.get("_windows"):
        raise ValueError(f"_windows is {brief(fitted.get('_windows'))}, expected {brief(windows)}.")
    sizes = {array.name: array.shape for array in arrays}
    found = {"rows": sizes["_source_vectors"][0]} if "_source_vectors" in sizes else {}
    if "_filters" in sizes:
        found |= dict(zip(("positions", "filters"), sizes["_filters"])) | {"widths": sizes["_intercept"][0]}
    if "_noise" in fitted:
        checked_noise(fitted["_noise"], sizes["target_vectors_"][0])
        found["joined"] = sizes["target_vectors_"][1]
        if "word_vectors_" in sizes:
            found["columns"] = sizes["word_vectors_"][1]
    return found


def _n_features_out(sizes: dict[str, int]) -> int:
    if "filters" in sizes:
        return sizes["filters"] * sizes["widths"]
    if units := [n for size, n in sizes.items() if size.startswith("units")]:
        return sum(units)
    return sizes.get("components", sizes.get("columns", sizes.get("joined", sizes["words"])))


def training_only(model: Any) -> set[str]:
    """Names of the attributes that a model which only transforms does without."""
    schema: Schema = SCHEMAS[type(model)]
    return set(schema.training)
