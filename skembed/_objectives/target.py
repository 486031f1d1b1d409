r"""Vectors that sentences should have: a linear map of a sentence's direction is compared with its target.

Let :math:`u_i` be the direction of the sum of a sentence's words, :math:`e_i` that of the mapped sentence
:math:`W u_i`, and :math:`t_i` that of its target. The loss of sentence i of the n sentences of a chunk is the sum of
those chosen:

- cosine: :math:`1 - e_i \cdot t_i`
- similarity: :math:`\frac{1}{n - 1} \sum_{j \ne i} (u_i \cdot u_j - t_i \cdot t_j)^2`
- softmax: :math:`-\log \big( \exp(e_i \cdot t_i / \tau) / \sum_j \exp(e_i \cdot t_j / \tau) \big)`
- hinge: :math:`\frac{1}{n - 1} \sum_{j \ne i} \max(0, m - e_i \cdot t_i + e_i \cdot t_j)`

In the last two, targets that equal that of sentence i are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._training.dense import Chunk, DenseObjective, Gradients, RowGradients
from .._training.encoded_text import EncodedText, SentenceBlocks

LOSSES = ("cosine", "similarity", "softmax", "hinge")
_EQUAL = 1e-6  # targets whose cosine is nearer to 1 are the same target


class Options(NamedTuple):
    """Options of the loss."""

    losses: Collection[str]  # of LOSSES
    temperature: float
    margin: float


class Bags(NamedTuple):
    """The sentences of a chunk that have known words, as weights of rows."""

    sentences: np.ndarray  # (n,) int64, indices in the text
    rows: np.ndarray  # (n_rows,) int64, the distinct words
    weights: csr_array  # (n, n_rows) float32


def bags_of(text: EncodedText, sentences: np.ndarray) -> Bags:
    """The known words of sentences, and their weights in the sum."""
    starts = text.sent_ptr[sentences]
    lengths = text.sent_ptr[sentences + 1] - starts
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(sentences)), lengths)
    words = text.tokens[np.arange(len(owner)) + (starts - ends + lengths)[owner]].astype(np.int64)
    known = words < len(text.word_weight)
    present, owner = np.unique(owner[known], return_inverse=True)
    rows, column = np.unique(words[known], return_inverse=True)
    weights = csr_array((text.word_weight[words[known]], (owner, column)), (len(present), len(rows)))
    return Bags(sentences[present], rows, weights)


def directions_of(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows divided by their lengths, and the lengths; a row of zeros stays."""
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), lengths


def through_length(gradient: np.ndarray, directions: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Gradient of the rows, from that of their directions."""
    tangential = gradient - (gradient * directions).sum(axis=1, keepdims=True) * directions
    return np.divide(tangential, lengths, out=np.zeros_like(tangential), where=lengths > 0)


def compare(scores: np.ndarray, other: np.ndarray, options: Options) -> tuple[float, np.ndarray]:
    """Loss of the cosines of mapped sentences and targets, (n, n), and its derivative; ``other``: unequal targets."""
    own = np.diag(scores)[:, None]
    loss, error = 0.0, np.zeros_like(scores)
    if "cosine" in options.losses:
        loss += float((1 - own).sum())
        error -= np.eye(len(scores), dtype=scores.dtype)
    if "softmax" in options.losses:
        logits = np.where(other | np.eye(len(scores), dtype=bool), (scores - own) / options.temperature, -np.inf)
        top = logits.max(axis=1, keepdims=True)
        odds = np.exp(logits - top)
        total = odds.sum(axis=1, keepdims=True)
        loss += float((np.log(total) + top).sum())
        error += (odds / total - np.eye(len(scores), dtype=scores.dtype)) / options.temperature
    if "hinge" in options.losses and len(scores) > 1:
        weight = scores.dtype.type(1 / (len(scores) - 1))
        excess = np.where(other, np.maximum(options.margin - own + scores, 0), 0)
        loss += float(excess.sum() * weight)
        error += (excess > 0) * weight
        np.fill_diagonal(error, np.diag(error) - (excess > 0).sum(axis=1) * weight)
    return loss, error


class TargetObjective(DenseObjective):
    """Loss and gradients of `TargetVectorizer`; the first annotation of the text holds the targets."""

    blocks = SentenceBlocks(border=0, largest=256, longest_run=1)
    chunk_length = 128

    def __init__(self, arrays: Mapping[str, np.ndarray], options: Options) -> None:
        self.arrays, self.options = arrays, options

    def gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        vectors, image = self.arrays["word_vectors_"], self.arrays["coef_"]
        bags = bags_of(chunk.text, chunk.sentences)
        n = len(bags.sentences)
        if not n:
            return Gradients(0.0, 0, {})
        targets, _ = directions_of(np.asarray(chunk.text.annotations[0][bags.sentences], vectors.dtype))
        directions, lengths = directions_of(bags.weights @ vectors[bags.rows])
        images, image_lengths = directions_of(directions @ image.T)
        of_targets = targets @ targets.T
        loss, error = compare(images @ targets.T, of_targets < 1 - _EQUAL, self.options)
        of_image = through_length(error @ targets, images, image_lengths)
        of_directions = of_image @ image
        if "similarity" in self.options.losses and n > 1:
            difference = directions @ directions.T - of_targets
            np.fill_diagonal(difference, 0)
            weight = vectors.dtype.type(1 / (n - 1))
            loss += float(weight * np.square(difference).sum())
            of_directions += 4 * weight * (difference @ directions)
        if not learn:
            return Gradients(loss, n, {})
        of_sums = through_length(of_directions, directions, lengths)
        of_rows = RowGradients(bags.rows, bags.weights.T @ of_sums)
        return Gradients(loss, n, {"word_vectors_": of_rows, "coef_": of_image.T @ directions})
