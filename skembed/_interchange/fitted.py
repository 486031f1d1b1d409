"""Estimators that are fitted by hand, with what another program learned."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .._base.pooled import PooledVectorizer
from .._base.trained import TrainedVectorizer
from .._saving.checks import check_model

_Estimator = TypeVar("_Estimator", bound=PooledVectorizer)


def with_fitted(estimator: _Estimator, fitted: dict[str, Any]) -> _Estimator:
    """Return the estimator with fitted attributes, and those that follow from them: it transforms, and does not learn.

    Raises
    ------
    ValueError
        If the attributes do not fit each other.
    """
    n_components = estimator.n_components
    fitted |= {
        "n_features_out_": n_components,
        "word_weights_": np.ones(len(fitted["vocabulary_"]), np.float32),
        "_unknown_weight": np.float32(1.0),
    }
    if isinstance(estimator, TrainedVectorizer):
        fitted |= {"_seed": 0, "_from_labels": False, "n_iter_": int(estimator.max_iter)}
        fitted |= {"loss_curve_": [], "validation_loss_curve_": []}
        fitted["_layout"] = estimator._layout_of_options(estimator._learned_arrays(fitted), fitted)
    else:
        fitted |= {"components_": np.zeros((0, n_components), np.float32)}
        fitted |= {"_hash_numbers": False, "_spelling_weight": 0.0, "_processed_vectors": fitted["word_vectors_"]}
    estimator.__dict__.update(fitted)
    estimator._unknown_length = estimator._length_of_unknown(estimator._summed_vectors[: len(fitted["vocabulary_"])])
    check_model(estimator, inference_only=True)
    return estimator
