"""What each block of columns weighs: found from the labels without a refit, or fixed where there are none."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri

from .._validation.columns import Matrix

SPARSE = ("words", "characters")
_DENSE = 2.0 ** -np.arange(6)  # weights of a dense block where a sparse one has one
ALPHA = 0.3  # of the ridge, for rows of length one
# Without labels: found by clusters (benchmarks/quality/clusters.py) and by similarity. Most of what the blocks of words
# share are words that all texts have, such as stop words.
_UNLABELLED = {"words": 0.0, "words_lsa": 0.0, "characters": 4.0, "characters_lsa": 1.0, "halves": 1.0}
_FULL = 10  # labels per class up to which the rule gives the dense blocks full weight
_RATIOS = 2.0 ** np.arange(-5, 5)  # of the weight of models to that of all other blocks together
# What is best from few labels to many, on development tasks and for a transformer as for static vectors
# (benchmarks/quality/pretrained.py). Another ratio must be better by some standard errors.
_USUAL, _N_ERRORS = 1.0, 0.7

_KINDS = {
    "words": "tf-idf of words and pairs of words",
    "characters": "tf-idf of two to five characters",
    "words_lsa": "topics of words",
    "characters_lsa": "topics of characters",
    "halves": "learned from halves of texts",
    "pretrained": "rows of your model",
    "student": "a student of your model",
}


class BlockWeights(dict[str, float]):
    """The weight of each block by name; `str`, and so `print`, says in words what was found.

    They sum to one, and were found on `n_labelled` rows, 0 if they are fixed; `given` blocks are transformers of the
    user.

    Examples
    --------
    >>> from skembed._meta_estimators.block_weights import BlockWeights
    >>> print(BlockWeights({"words": 0.75, "mine": 0.25}, 40, ["mine"]))
    Found from 40 labelled rows, each predicted from the others.
    The block "words" (tf-idf of words and pairs of words) is 75 % of a row.
    The block "mine" (a transformer of yours) is 25 % of a row.
    """

    def __init__(self, weights: dict[str, float], n_labelled: int, given: Collection[str] = ()) -> None:
        super().__init__(weights)
        self.n_labelled = n_labelled
        self.given = list(given)

    def __str__(self) -> str:
        if self.n_labelled:
            lines = [f"Found from {self.n_labelled:,} labelled rows, each predicted from the others."]
        else:
            lines = ["Fixed, because no two labels differ."]
        for name, weight in self.items():
            kind = "a transformer of yours" if name in self.given else _KINDS[name]
            share = f"{100 * weight:.2g} % of a row" if weight else "left out: its columns are zero"
            lines.append(f'The block "{name}" ({kind}) is {share}.')
        return "\n".join(lines)


def tell_apart(targets: np.ndarray) -> bool:
    """Whether two targets differ."""
    return bool((targets != targets[:1]).any())


def find_weights(rows: dict[str, Matrix], targets: np.ndarray, sparse: Collection[str] = SPARSE) -> dict[str, float]:
    """Weights of blocks by leave-one-out predictions of `targets`, classes or columns; fixed ones if all are equal.

    `sparse` blocks keep their weight as labels grow.
    """
    if not tell_apart(targets):
        weights = {name: _UNLABELLED.get(name, 1.0) for name in rows}  # all are zero if words are all that the text has
        return _summing_to_one(weights if any(weights.values()) else dict.fromkeys(weights, 1.0))
    if len(targets) < 3:
        return _weights(rows, sparse, 1)
    kernels: dict[bool, Any] = {True: 0.0, False: 0.0}  # sums, of the sparse blocks and of the others
    for name, block in rows.items():
        kernels[name in sparse] += kernel_of(block)
    scaled, means, scales = standardised(targets)
    losses = []
    for dense in _DENSE:
        of_kind = {name in sparse: weight for name, weight in _weights(rows, sparse, dense).items()}
        kernel = np.asarray(sum(weight * kernels[kind] for kind, weight in of_kind.items()))
        residuals = left_out_residuals(kernel, scaled)
        if targets.ndim == 1:
            losses.append((means + (scaled - residuals) * scales).argmax(axis=1) != (scaled > 0).argmax(axis=1))
        else:
            losses.append((residuals**2).sum(axis=1))
    return _weights(rows, sparse, nearest_good(_DENSE, losses, min(1.0, _FULL * len(means) / len(targets))))


def with_models(
    weights: dict[str, float], rows: dict[str, Matrix], targets: np.ndarray, models: list[str]
) -> dict[str, float]:
    """Weights of all blocks; `weights` are those of the others than models, which weigh the same among themselves."""
    ratio = _USUAL
    if tell_apart(targets) and len(targets) > 2:
        of_others = sum(weight * kernel_of(rows[other]) for other, weight in weights.items() if weight)
        of_models = sum(kernel_of(rows[name]) for name in models) / len(models)
        scaled, *_ = standardised(targets)
        kernels = ((of_others + ratio * of_models) / (1 + ratio) for ratio in _RATIOS)
        losses = [(left_out_residuals(kernel, scaled) ** 2).sum(axis=1) for kernel in kernels]
        ratio = nearest_good(_RATIOS, losses, _USUAL, _N_ERRORS)
    others = {other: weight / (1 + ratio) for other, weight in weights.items()}
    return others | dict.fromkeys(models, ratio / (1 + ratio) / len(models))


def nearest_good(choices: np.ndarray, losses: list[np.ndarray], usual: float, n_errors: float = 1.0) -> float:
    """The choice nearest to the usual one, of those worse than the best by less than some standard errors.

    `losses` are those of the rows, for each choice.
    """
    excess = np.array(losses, dtype=np.float64)
    excess -= excess[excess.mean(axis=1).argmin()]
    is_good = excess.mean(axis=1) <= n_errors * excess.std(axis=1) / excess.shape[1] ** 0.5
    return float(choices[np.where(is_good, np.abs(np.log(choices / usual)), np.inf).argmin()])


def standardised(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, of classes a column for each, with mean zero and deviation one; also the means and deviations."""
    if targets.ndim == 1:
        classes, class_of_row = np.unique(targets, return_inverse=True)
        targets = np.eye(len(classes))[class_of_row]
    means, scales = targets.mean(axis=0), targets.std(axis=0)
    return (targets - means) / np.where(scales > 0, scales, 1), means, scales


def left_out_residuals(kernel: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Errors of ridge regression with an intercept in rows that are left out one by one."""
    penalised = kernel + 1 + ALPHA * np.eye(len(targets))
    root, _ = dtrtri(cholesky(penalised, lower=True), lower=True)  # the inverse is root.T @ root
    return np.asarray(root.T @ (root @ targets) / np.einsum("ij,ij->j", root, root)[:, None])


def _weights(names: Iterable[str], sparse: Collection[str], dense: float) -> dict[str, float]:
    """Equal weights of the sparse blocks, and `dense` times as much for the others."""
    return _summing_to_one({name: 1.0 if name in sparse else float(dense) for name in names})


def _summing_to_one(weights: dict[str, float]) -> dict[str, float]:
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def kernel_of(rows: Matrix) -> np.ndarray:
    """Return the dot products of all pairs of rows."""
    products = rows @ rows.T
    return np.asarray(products.toarray() if hasattr(products, "toarray") else products, dtype=np.float64)
