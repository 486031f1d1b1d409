"""Vectors of documents and queries by a pretrained model."""

from __future__ import annotations

import numpy as np

from .._compiled.rows import padded
from .._pretrained.vectorizer import PretrainedVectorizer
from .._word_vectors.join import unit_rows


def pretrained_rows(model: PretrainedVectorizer | None, texts: list[str]) -> np.ndarray:
    """Return rows of length one or zero, filled with zeros to a multiple of sixteen; no columns without a model."""
    if model is None:
        return np.zeros((len(texts), 0), np.float32)
    rows = np.zeros((len(texts), padded(model.n_features_out_)), np.float32)
    rows[:, : model.n_features_out_] = unit_rows(np.array(model.transform(texts)))
    return rows
