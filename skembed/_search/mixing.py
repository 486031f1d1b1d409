"""Scores of BM25 and cosines of vectors, added to one score a document."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHT = 0.6  # of the cosines


def mix(bm25: Any, cosines: Any, *, weight: float = WEIGHT) -> NDArray[np.float64]:
    """Add the standardised cosines of documents, times a weight, to their standardised scores of BM25.

    Parameters
    ----------
    bm25 : array-like of shape (..., n_documents)
        Score of each document of the collection for a query, 0 where no word matches.
    cosines : array-like of shape (..., n_documents)
        Cosine of each document with the query.
    weight : float, default=0.6
        Weight of the cosines.

    Returns
    -------
    scores : ndarray of shape (..., n_documents)
        A row of equal scores counts nothing.
    """
    return _standardise(bm25) + weight * _standardise(cosines)


def _standardise(scores: Any) -> NDArray[np.float64]:
    """Mean 0 and standard deviation 1 over the documents; zeros where all are equal."""
    scores = np.asarray(scores, np.float64)
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = scores.std(axis=-1, keepdims=True)
    varies = spread > 1e-9 * np.abs(scores).max(axis=-1, keepdims=True, initial=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
