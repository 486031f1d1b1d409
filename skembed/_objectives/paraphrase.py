r"""Losses of pairs of paraphrases (Wieting, Bansal, Gimpel and Livescu, 2016, equation 2; Jiao et al., 2018, eq. 5).

The vectors of a pair should have a larger cosine with each other than with the other sentences of the block:

.. math::

    L_{hinge} &= \sum_i [m - \cos(a_i, b_i) + \max_t \cos(a_i, t)]_+ + [m - \cos(a_i, b_i) + \max_t \cos(b_i, t)]_+ \\
    L_{softmax} &= -\sum_i \log \frac{e^{\cos(a_i, b_i) / \tau}}{\sum_j e^{\cos(a_i, b_j) / \tau}}
        + \log \frac{e^{\cos(a_i, b_i) / \tau}}{\sum_j e^{\cos(a_j, b_i) / \tau}}
"""

import numpy as np
from numba import njit

from .._compiled.compile import INLINE_LLVM, lean_kernel
from .._compiled.rows import ONE, Selection, add_scaled, copy_scaled, dots, mean_square, padded, softmax
from .._training.pairs import PairLoss


@lean_kernel
def to_unit(vectors, unit, norm):
    """Scale vectors to length one, and write their lengths; a vector of zeros stays."""
    for i in range(vectors.shape[0]):
        norm[i] = np.sqrt(mean_square(vectors, i) * np.float32(vectors.shape[1]))
        if norm[i] == 0.0:
            norm[i] = ONE
        copy_scaled(unit, i, ONE / norm[i], vectors, i)


@lean_kernel
def to_vectors(gradient, unit, norm, row, product):
    """From the gradient of the vectors of length one to that of the vectors: ``dv = (du - (du . u) u) / |v|``."""
    for i in range(unit.shape[0]):
        row[0] = i
        dots(product, 0, gradient, i, Selection(unit, row, np.int64(0), np.int64(1)))
        add_scaled(gradient, i, -product[0, 0], unit, i)
        copy_scaled(gradient, i, ONE / norm[i], gradient, i)


@lean_kernel
def softmax_errors(scores, excluded, inverse_temperature, rows, columns, error):
    """Loss of the softmax over each row and over each column of scores, and its derivatives by the scores.

    ``scores``, ``excluded`` and ``error`` (n, n); ``rows`` and ``columns`` are buffers of n rows of `padded` width.
    """
    n, loss = scores.shape[0], 0.0
    for i in range(n):
        for j in range(n):
            score = inverse_temperature * scores[i, j]
            if excluded[i, j] and i != j:
                score = -np.float32(np.inf)
            rows[i, j] = columns[j, i] = score
    for i in range(n):
        true = rows[i, i]
        loss += softmax(rows, i, n) - true
        loss += softmax(columns, i, n) - true
    for i in range(n):
        for j in range(n):
            error[i, j] = inverse_temperature * (rows[i, j] + columns[j, i])
        error[i, i] -= np.float32(2.0) * inverse_temperature
    return loss


@njit(**INLINE_LLVM)
def hardest_negative(scores, excluded, i):
    """The sentence of the block that is most similar to sentence i and not excluded, or -1."""
    n = excluded.shape[0]
    pair = i if i < n else i - n
    hardest, best = np.int64(-1), -np.float32(np.inf)
    for j in range(n):
        if scores[i, j] > best and not excluded[pair, j]:
            hardest, best = j, scores[i, j]
    for j in range(n):
        if scores[i, n + j] > best and not excluded[pair, j]:
            hardest, best = n + j, scores[i, n + j]
    return hardest


@lean_kernel
def hinge(scores, excluded, margin, unit, gradient):
    """Loss of the hinge, and the number of sentences with a negative; adds up the gradient of the unit vectors.

    ``scores`` (2n, 2n) of all sentences with each other. The gradient has no rows where nothing is learned.
    """
    n, n_targets, loss = excluded.shape[0], np.int64(0), 0.0
    for i in range(2 * n):
        hardest = hardest_negative(scores, excluded, i)
        if hardest < 0:
            continue
        n_targets += 1
        partner = i + n if i < n else i - n
        violation = margin - scores[i, partner] + scores[i, hardest]
        if violation > 0.0:
            loss += violation
            if gradient.shape[0] > 0:
                add_scaled(gradient, i, ONE, unit, hardest)
                add_scaled(gradient, i, -ONE, unit, partner)
                add_scaled(gradient, hardest, ONE, unit, i)
                add_scaled(gradient, partner, -ONE, unit, i)
    return loss, n_targets


class UnitVectors:
    """The vectors of a block scaled to length one, and the gradient through the scaling."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.unit, self.norm = np.empty_like(vectors), np.empty(len(vectors), np.float32)
        to_unit(vectors, self.unit, self.norm)

    def of_vectors(self, gradient: np.ndarray) -> np.ndarray:
        to_vectors(gradient, self.unit, self.norm, np.zeros(1, np.int64), np.zeros((1, 4), np.float32))
        return gradient


class HingeLoss:
    """Two-sided hinge with the hardest negative, any sentence of the block that is not excluded."""

    def __init__(self, margin: float) -> None:
        self.margin = np.float32(margin)

    def __call__(self, vectors: np.ndarray, excluded: np.ndarray, learn: bool) -> PairLoss:
        block = UnitVectors(vectors)
        gradient = np.zeros_like(vectors) if learn else vectors[:0]
        loss, n_targets = hinge(block.unit @ block.unit.T, excluded, self.margin, block.unit, gradient)
        return PairLoss(loss, n_targets, block.of_vectors(gradient) if learn else gradient)


class SoftmaxLoss:
    """Softmax over the cosines of a sentence with the second sentences of the block, and of those with the first."""

    def __init__(self, temperature: float) -> None:
        self.inverse_temperature = np.float32(1 / temperature)

    def __call__(self, vectors: np.ndarray, excluded: np.ndarray, learn: bool) -> PairLoss:
        block, n = UnitVectors(vectors), len(excluded)
        first, second = block.unit[:n], block.unit[n:]
        scores = first @ second.T
        rows, columns = np.empty((2, n, padded(n)), np.float32)
        error = np.empty_like(scores)
        loss = softmax_errors(scores, excluded, self.inverse_temperature, rows, columns, error)
        n_targets = 2 * int(n - excluded.all(axis=1).sum())
        if not learn:
            return PairLoss(loss, n_targets, vectors[:0])
        gradient = np.empty_like(vectors)
        np.matmul(error, second, out=gradient[:n])
        np.matmul(error.T, first, out=gradient[n:])
        return PairLoss(loss, n_targets, block.of_vectors(gradient))
