"""What all formats of models need: estimators fitted by hand, with what another program learned, and checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .._base.pooled import PooledVectorizer
from .._base.scikit_learn import layout_of_options, validate_parameters
from .._base.trained import TrainedVectorizer

_Estimator = TypeVar("_Estimator", bound=PooledVectorizer)


def check_is_sum(estimator: object) -> None:
    """Refuse an estimator whose sentence is no weighted sum of word vectors."""
    if not isinstance(estimator, PooledVectorizer) or type(estimator)._vectors_of is not PooledVectorizer._vectors_of:
        name = type(estimator).__name__
        raise TypeError(f"{name} cannot be exported: its sentence is not a weighted sum of word vectors. Use save.")


def is_encodable(word: str) -> bool:
    """Whether UTF-8 can express a word."""
    return word.encode("utf-8", "replace").decode() == word


def with_fitted(estimator: _Estimator, fitted: dict[str, Any]) -> _Estimator:
    """Return the estimator with fitted attributes and those that follow from them; it does not learn on."""
    validate_parameters(estimator)
    n_components = estimator.n_components
    values = {
        "n_features_out_": n_components,
        "word_weights_": np.ones(len(fitted["vocabulary_"]), np.float32),
        "_unknown_weight": np.float32(1.0),
    } | fitted
    if isinstance(estimator, TrainedVectorizer):
        values |= {"_seed": 0, "_from_labels": False, "n_iter_": int(estimator.max_iter)}
        values |= {"loss_curve_": [], "validation_loss_curve_": []}
        state: Any = type(estimator._state).of(values)
        state = replace(state, layout=layout_of_options(estimator, estimator._learned_arrays(state), state))
    else:
        values |= {"components_": np.zeros((0, n_components), np.float32)}
        values |= {"_hash_numbers": False, "_spelling_weight": 0.0, "_processed_vectors": fitted["word_vectors_"]}
        state = type(estimator._state).of(values)
    rows = estimator._summed_vectors(state)[: len(state.vocabulary_)]
    estimator._publish(replace(state, unknown_length=estimator._length_of_unknown(rows)))
    return estimator
