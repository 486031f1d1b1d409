"""Directions of dense blocks that tell classes apart in text without labels, by self-training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import csr_array

from .._validation.columns import Matrix
from .._word_vectors.join import unit_rows
from .block_rows import side_by_side
from .block_weights import ALPHA, kernel_of, left_out_residuals, standardised
from .projections import product

_MOST_UNLABELLED = 6_000  # texts without a label that are read
_LEAST_UNLABELLED = 500  # there must be as many, and more than with a label
_N_ROUNDS = 10
_SHARPNESS = 3.0  # of guessed labels: they are the softmax of so many standard deviations
_PENALTY = 3.0
_SHARE = 0.5  # of the squared length of a row, which the directions add in the mean
_STANDARD_ERRORS = 3.0  # by which the labelled rows must be predicted better


def self_train(
    read: Callable[[np.ndarray], dict[str, Matrix]],
    unlabelled: np.ndarray,
    known: tuple[dict[str, Matrix], np.ndarray],
    weights: dict[str, float],
    random_state: np.random.RandomState,
) -> dict[str, np.ndarray]:
    """Find a matrix for each dense block that stretches it along directions that tell the classes apart.

    `unlabelled` are indices of texts, of which `read` returns rows by block; `known` the rows of the labelled texts by
    block and their labels. There is none if they do not help.
    """
    rows, labels = known
    if not are_enough(labels, len(unlabelled)):
        return {}
    if len(unlabelled) > _MOST_UNLABELLED:
        unlabelled = np.sort(random_state.choice(unlabelled, _MOST_UNLABELLED, replace=False))
    return find_stretches(rows, labels, read(unlabelled), weights)


def are_enough(labels: np.ndarray, n_unlabelled: int) -> bool:
    """Whether there are two classes or more, two rows for each in the mean, and enough text without labels."""
    n_classes = len(np.unique(labels)) if labels.ndim == 1 else 0
    return 2 <= n_classes <= len(labels) / 2 and n_unlabelled >= max(_LEAST_UNLABELLED, len(labels) + 1)


def find_stretches(
    labelled: dict[str, Matrix], labels: np.ndarray, unlabelled: dict[str, Matrix], weights: dict[str, float]
) -> dict[str, np.ndarray]:
    """A symmetric matrix for each dense block, by which its rows are multiplied; none if they do not help.

    Each half of the labelled rows must be predicted better with what is found from the other half.
    """
    classes = np.unique(labels, return_inverse=True)[1]
    dense = [name for name, rows in labelled.items() if isinstance(rows, np.ndarray) and weights[name]]
    if not 0 < len(dense) < len(labelled):
        return {}
    rows = np.hstack([weights[name] ** 0.5 * unlabelled[name] for name in dense]).astype(np.float64)
    rows = np.c_[unit_rows(rows), np.ones(len(rows))]
    solved = cho_factor(rows.T @ rows + _PENALTY * np.eye(rows.shape[1]))

    of_sparse = _kernel({name: block for name, block in labelled.items() if name not in dense}, weights)
    of_dense = _kernel({name: labelled[name] for name in dense}, weights)

    def learn(some: np.ndarray) -> dict[str, np.ndarray]:
        known = side_by_side({name: block[some] for name, block in labelled.items()}, weights)
        kernel = (of_sparse + of_dense)[np.ix_(some, some)]
        directions = _directions(_first_scores(known, kernel, classes[some], unlabelled, weights), rows, solved)
        ends = np.cumsum([unlabelled[name].shape[1] for name in dense])
        return {name: _stretch(unlabelled[name], part) for name, part in zip(dense, np.split(directions, ends[:-1]))}

    order = np.argsort(classes, kind="stable")  # halves with as many rows of each class
    halves = order[::2], order[1::2]
    gains = []
    for learned_from, tested in (halves, halves[::-1]):
        stretched = _kernel(
            stretched_rows({name: labelled[name][tested] for name in dense}, learn(learned_from)), weights
        )
        own = np.ix_(tested, tested)
        plain, other = (_losses(of_sparse[own] + kernel, classes[tested]) for kernel in (of_dense[own], stretched))
        gains.append(plain - other)
    gain = np.concatenate(gains)
    return learn(order) if gain.mean() > _STANDARD_ERRORS * gain.std() / len(gain) ** 0.5 else {}


def _first_scores(
    known: csr_array, kernel: np.ndarray, classes: np.ndarray, others: dict[str, Matrix], weights: dict[str, float]
) -> np.ndarray:
    """Scores of other texts for each class, by ridge regression on the labelled rows."""
    targets = np.eye(classes.max() + 1)[classes]
    inverse = cho_factor(kernel + 1 + ALPHA * np.eye(len(classes)))
    columns = (known.T @ cho_solve(inverse, targets - targets.mean(axis=0))).astype(np.float32)
    scores = np.zeros((next(iter(others.values())).shape[0], targets.shape[1]))
    first = 0
    for name, weight in weights.items():
        block = others[name]
        part = columns[first : first + block.shape[1]] * np.float32(weight**0.5)
        scores += block @ part if isinstance(block, np.ndarray) else product(block, part)
        first += len(part)
    return scores


def _directions(scores: np.ndarray, rows: np.ndarray, solved: tuple[np.ndarray, bool]) -> np.ndarray:
    """What ridge regression multiplies dense rows with to predict their guessed classes, guessed anew in each round."""
    for _ in range(_N_ROUNDS):
        scores *= _SHARPNESS / (scores.std() or 1)
        guesses = np.exp(scores - scores.max(axis=1, keepdims=True))
        guesses /= guesses.sum(axis=1, keepdims=True)
        directions = cho_solve(solved, rows.T @ (guesses - guesses.mean(axis=0)))
        scores = rows @ directions
    return np.asarray(directions[:-1])


def stretched_rows(rows: dict[str, Matrix], stretches: dict[str, np.ndarray]) -> dict[str, Matrix]:
    """The rows of blocks, those of dense ones multiplied by their matrix and scaled to length one."""
    return {name: unit_rows(block @ stretches[name]) if name in stretches else block for name, block in rows.items()}


def _stretch(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The matrix that lengthens rows along some directions."""
    products = directions @ directions.T
    squares, axes = eigh(products / (((rows @ directions) ** 2).sum(axis=1).mean() or 1))
    return np.asarray((axes * np.sqrt(1 + _SHARE * np.clip(squares, 0, None)) @ axes.T).astype(np.float32))


def _kernel(blocks: dict[str, Matrix], weights: dict[str, float]) -> np.ndarray:
    """The dot products of all pairs of rows."""
    return np.asarray(sum((weights[name] * kernel_of(block) for name, block in blocks.items()), np.zeros((1, 1))))


def _losses(kernel: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Squared errors of the labelled rows, each predicted from the others."""
    return np.asarray((left_out_residuals(kernel, standardised(classes)[0]) ** 2).sum(axis=1))
