"""Rows of a transformer that learns from labels, each by a model that has not seen its label."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold

_N_FOLDS = 5


def fit_and_hold_out(
    transformer: BaseEstimator, texts: list[str], targets: np.ndarray, has_target: np.ndarray, seed: int
) -> tuple[BaseEstimator, np.ndarray]:
    """Fit a transformer to the texts that have a target; also return the rows of all texts.

    A text that it has learned from gets the row of a model of the other folds, turned to the space of the whole model:
    by the rotation that brings their rows of the other folds together.
    """
    labelled = np.flatnonzero(has_target)
    if len(labelled) < 2:
        raise ValueError(
            f"{type(transformer).__name__} learns from labels, but {len(labelled)} of {len(texts)} texts have one. "
            "Pass y, or drop this block."
        )
    known = [texts[row] for row in labelled]
    passed = targets.ravel() if targets.ndim == 2 and targets.shape[1] == 1 else targets
    whole = clone(transformer).fit(known, passed)
    rows = _dense_rows(whole, texts)
    seen = rows[labelled]
    for train, test in _folds(targets, seed):
        fold = clone(transformer).fit([known[row] for row in train], passed[train])
        found = _dense_rows(fold, known)
        left, _, right = np.linalg.svd(found[train].T @ seen[train], full_matrices=False)
        rows[labelled[test]] = found[test] @ (left @ right)
    return whole, rows


def _folds(targets: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random folds, each with rows of every class where there are enough."""
    largest = np.unique(targets, return_counts=True)[1].max() if targets.ndim == 1 else 0
    if largest < 2:
        return list(KFold(min(_N_FOLDS, len(targets)), shuffle=True, random_state=seed).split(targets))
    folds = StratifiedKFold(min(_N_FOLDS, int(largest)), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # it is in one fold then
        return list(folds.split(np.zeros(len(targets)), targets))


def _dense_rows(transformer: BaseEstimator, texts: list[str]) -> np.ndarray:
    rows = transformer.transform(texts)
    if issparse(rows):
        raise TypeError(
            f"{type(transformer).__name__} learns from labels and has sparse rows, whose columns differ between folds. "
            "Make them dense: put a TruncatedSVD behind it in a pipeline."
        )
    return np.array(rows, dtype=np.float64)
