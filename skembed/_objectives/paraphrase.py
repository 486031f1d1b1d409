r"""Losses of pairs of paraphrases (Wieting, Bansal, Gimpel and Livescu, 2016, equation 2; Jiao et al., 2018, eq. 5).

The vectors of a pair should have a larger cosine with each other than with the other sentences of the block:

.. math::

    L_{hinge} &= \sum_i [m - \cos(a_i, b_i) + \max_t \cos(a_i, t)]_+ + [m - \cos(a_i, b_i) + \max_t \cos(b_i, t)]_+ \\
    L_{softmax} &= -\sum_i \log \frac{e^{\cos(a_i, b_i) / \tau}}{\sum_j e^{\cos(a_i, b_j) / \tau}}
        + \log \frac{e^{\cos(a_i, b_i) / \tau}}{\sum_j e^{\cos(a_j, b_i) / \tau}}
"""

from __future__ import annotations

import numpy as np

from .._training.pairs import PairLoss


class HingeLoss:
    """Two-sided hinge with the hardest negative, any sentence of the block that is not excluded."""

    def __init__(self, margin: float) -> None:
        self.margin = np.float32(margin)

    def __call__(self, vectors: np.ndarray, excluded: np.ndarray, learn: bool) -> PairLoss:
        unit, norm = _unit(vectors)
        n = len(excluded)
        rows, partner = np.arange(2 * n), np.roll(np.arange(2 * n), n)
        scores = unit @ unit.T
        true = scores[rows, partner]
        scores[np.tile(excluded, (2, 2))] = -np.inf
        hardest = scores.argmax(axis=1) if n else rows
        best = scores[rows, hardest]
        has_negative = best > -np.inf
        violation = self.margin - true + best
        active = has_negative & (violation > 0)
        loss, n_targets = float(violation[active].sum(dtype=np.float64)), int(has_negative.sum())
        if not learn:
            return PairLoss(loss, n_targets, unit[:0])
        error = np.zeros_like(scores)
        error[rows[active], hardest[active]] += 1
        error[rows[active], partner[active]] -= 1
        return PairLoss(loss, n_targets, _of_vectors((error + error.T) @ unit, unit, norm))


class SoftmaxLoss:
    """Softmax over the cosines of a sentence with the second sentences of the block, and of those with the first."""

    def __init__(self, temperature: float) -> None:
        self.inverse_temperature = np.float32(1 / temperature)

    def __call__(self, vectors: np.ndarray, excluded: np.ndarray, learn: bool) -> PairLoss:
        unit, norm = _unit(vectors)
        n = len(excluded)
        first, second = unit[:n], unit[n:]
        scores = first @ second.T
        scores *= self.inverse_temperature
        true = scores.diagonal().copy()
        scores[excluded] = -np.inf
        has_negative = ~excluded.all(axis=1)
        np.fill_diagonal(scores, true)
        loss, n_targets = 0.0, 2 * int(has_negative.sum())
        error = np.zeros_like(scores)
        for axis in (0, 1):
            top = scores.max(axis=axis, keepdims=True, initial=-np.inf)
            p = np.exp(scores - top)
            total = p.sum(axis=axis, keepdims=True)
            loss += float((np.log(total) + top).ravel().sum(dtype=np.float64) - true.sum(dtype=np.float64))
            if learn:
                p /= total
                error += p
        if not learn:
            return PairLoss(loss, n_targets, unit[:0])
        error[np.diag_indices(n)] -= 2
        error *= self.inverse_temperature
        of_unit = np.concatenate([error @ second, error.T @ first])
        return PairLoss(loss, n_targets, _of_vectors(of_unit, unit, norm))


def _unit(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vectors scaled to length one, and their lengths; a vector of zeros stays."""
    norm = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    norm[norm == 0] = 1
    return vectors / norm, norm


def _of_vectors(of_unit: np.ndarray, unit: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """The gradient of the vectors from that of the vectors of length one."""
    of_unit -= np.einsum("ij,ij->i", of_unit, unit)[:, None] * unit
    of_unit /= norm
    return of_unit
