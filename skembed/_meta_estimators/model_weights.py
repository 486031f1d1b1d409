"""What the rows of a pretrained model and of a student weigh beside all other blocks of TextVectorizer together."""

from __future__ import annotations

import numpy as np

from .._validation.columns import Matrix
from .block_weights import ALPHA, kernel_of, left_out_residuals, nearest_good, tell_apart

_RATIOS = 2.0 ** np.arange(-5, 5)  # of its weight to that of all others together
# What is best from few labels to many, on development tasks and for a transformer as for static vectors
# (benchmarks/quality/pretrained.py). Another ratio must be better by some standard errors.
_USUAL, _N_ERRORS = 1.0, 0.7


def with_models(
    weights: dict[str, float], rows: dict[str, Matrix], targets: np.ndarray, models: list[str]
) -> dict[str, float]:
    """Weights that sum to one, of all blocks in `rows`; `weights` are those of the others among themselves.

    The blocks of models weigh the same among themselves; together, by squared error of the leave-one-out predictions of
    ridge regression.
    """
    ratio = _USUAL
    if tell_apart(targets) and len(targets) > 2:
        ratio = _ratio_of(weights, rows, targets, models)
    others = {other: weight / (1 + ratio) for other, weight in weights.items()}
    return others | dict.fromkeys(models, ratio / (1 + ratio) / len(models))


def _ratio_of(weights: dict[str, float], rows: dict[str, Matrix], targets: np.ndarray, models: list[str]) -> float:
    columns = targets if targets.ndim == 2 else (targets[:, None] == np.unique(targets)).astype(np.float64)
    scales = columns.std(axis=0)
    centred = (columns - columns.mean(axis=0)) / np.where(scales > 0, scales, 1)
    others = sum(weight * kernel_of(rows[other]) for other, weight in weights.items() if weight)
    of_models = sum(kernel_of(rows[name]) for name in models) / len(models)
    losses = []
    for ratio in _RATIOS:
        kernel = (others + ratio * of_models) / (1 + ratio) + 1 + ALPHA * np.eye(len(centred))
        losses.append((left_out_residuals(kernel, centred) ** 2).sum(axis=1))
    return nearest_good(_RATIOS, losses, _USUAL, _N_ERRORS)
