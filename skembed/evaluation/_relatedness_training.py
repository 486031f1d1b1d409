"""Training of the relatedness head together with the encoder of the sentences: a pass over scored pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import gen_batches

from .._objectives.paraphrase import UnitVectors
from .._training.dense import ONE_BLAS_THREAD, adam_step
from .._training.encoded_text import EncodedText
from .._training.pairs import PairEncoder
from ._pairs import pair_features
from ._relatedness import backward, root_mean_square, run_layers, shapes_of_layers, start_layers, sum_of_divergences

CHUNK = 1024  # pairs that are embedded at once where nothing is learned


class Head(NamedTuple):
    """The layers over the features of pairs, and the moments of Adam for each; training changes all in place."""

    scale: np.ndarray  # (n_features,) float64, by which features are divided
    layers: list[np.ndarray]  # float32: weights and biases of the hidden layer, then of the grades
    moments: list[np.ndarray]  # float32: (2, *shape) for each layer
    n_steps: np.ndarray  # () int64

    @classmethod
    def start(cls, scale: np.ndarray, n_hidden: int, n_grades: int, random: np.random.RandomState) -> Self:
        """Layers at random, moments of zero."""
        shapes = shapes_of_layers(len(scale), n_hidden, n_grades)
        layers = [layer.astype(np.float32) for layer in start_layers(shapes, random)]
        return cls(scale, layers, [np.zeros((2, *layer.shape), np.float32) for layer in layers], np.zeros((), np.int64))

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """A copy of the head of a fitted estimator."""
        layers = [layer for pair in zip(estimator.coefs_, estimator.intercepts_) for layer in pair]
        moments = [moments.copy() for moments in estimator._moments]
        return cls(estimator.scale_, [layer.astype(np.float32) for layer in layers], moments, estimator._n_steps.copy())

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes, which further training does not change."""
        first, first_bias, second, second_bias = (layer.astype(np.float64) for layer in self.layers)
        return {
            "scale_": self.scale,
            "coefs_": [first, second],
            "intercepts_": [first_bias, second_bias],
            "_moments": [moments.copy() for moments in self.moments],
            "_n_steps": self.n_steps.copy(),
        }


class EmbeddedPairs:
    """The features of some pairs, and the way back for the gradient."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = UnitVectors(vectors)
        self.first, self.second = np.split(self.vectors.unit, 2)
        self.features = pair_features(self.first, self.second)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """From the gradient of the features to that of the vectors."""
        of_products, of_differences = np.split(gradient, 2, axis=1)
        of_differences = of_differences * np.sign(self.first - self.second)
        of_first, of_second = of_products * self.second + of_differences, of_products * self.first - of_differences
        return self.vectors.of_vectors(np.concatenate([of_first, of_second]))


class RelatednessTraining:
    """Head and encoder during training. One thread learns, and BLAS has one thread too."""

    def __init__(
        self,
        options: Any,
        encoder: PairEncoder,
        text: EncodedText,
        targets: np.ndarray,
        rows: np.ndarray,
        random: np.random.RandomState,
        head: Head | None = None,
    ) -> None:
        self.options, self.encoder, self.text, self.random = options, encoder, text, random
        self.targets, self.rows = targets.astype(np.float32), rows  # of all pairs, and which are learned from
        if head is None:
            scale = root_mean_square(pairs.features for _, pairs in self._chunks(rows))
            head = Head.start(scale, int(options.n_hidden), targets.shape[1], random)
        self.head = head

    @property
    def n_words(self) -> int:
        """Number of words of the pairs that are learned from."""
        return int(np.diff(self.text.sent_ptr).reshape(-1, 2)[self.rows].sum())

    def run_pass(self, epoch: int, n_passes: int, on_part: Callable[[float], None]) -> float:
        """One pass over the pairs in random order; returns the mean divergence of a pair.

        The rates fall to zero over ``n_passes``; where that is 0 they stay. ``on_part`` hears of each tenth.
        """
        n_pairs, total, share_left = len(self.rows), 0.0, 1.0
        order = self.rows[self.random.permutation(n_pairs)]
        for batch in gen_batches(n_pairs, int(self.options.batch_size)):
            if n_passes:
                share_left = 1 - (epoch + batch.start / n_pairs) / n_passes
            with ONE_BLAS_THREAD, np.errstate(all="ignore"):  # the caller checks the weights after the pass
                loss = self._step(order[batch], share_left)
            total += loss * (batch.stop - batch.start)
            if 10 * batch.stop // n_pairs > 10 * batch.start // n_pairs:
                on_part(batch.stop / n_pairs)
        return total / n_pairs

    def mean_divergence(self, rows: np.ndarray) -> float:
        """Mean divergence of some pairs, with all their features."""
        total, scale = 0.0, self.head.scale.astype(np.float32)
        for chunk, pairs in self._chunks(rows):
            with ONE_BLAS_THREAD:
                log_p = run_layers(pairs.features / scale, self.head.layers)[1]
            total += sum_of_divergences(self.targets[chunk], log_p)
        return total / len(rows)

    def _step(self, rows: np.ndarray, share_left: float) -> float:
        options, head = self.options, self.head
        pairs = self._embed(rows, learn=True)
        kept = self.random.random_sample(pairs.features.shape) >= options.dropout
        factor = (kept / (head.scale * (1 - options.dropout))).astype(np.float32)
        loss, gradients, d_hidden = backward(pairs.features * factor, self.targets[rows], head.layers)
        of_vectors = pairs.backward((d_hidden @ head.layers[0].T) * factor)
        head.n_steps[...] += 1
        for layer, moments, gradient in zip(head.layers, head.moments, gradients):
            gradient = gradient + np.float32(options.alpha) * layer
            layer -= adam_step(moments, ..., gradient, options.learning_rate * share_left, int(head.n_steps))
        if options.encoder_learning_rate:
            self.encoder.step(of_vectors, options.encoder_learning_rate * share_left)
        return loss

    def _chunks(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, EmbeddedPairs]]:
        for chunk in gen_batches(len(rows), CHUNK):
            with np.errstate(all="ignore"):
                pairs = self._embed(rows[chunk], learn=False)
            yield rows[chunk], pairs

    def _embed(self, rows: np.ndarray, learn: bool) -> EmbeddedPairs:
        sentences = np.concatenate([2 * rows, 2 * rows + 1])
        return EmbeddedPairs(self.encoder.encode(self.text, sentences, 0, learn))
