"""Training of the relatedness head together with the encoder of the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.utils import gen_batches

from .._base.paired import texts_of
from .._compiled.threads import Threads
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus
from .._objectives.paraphrase import UnitVectors
from .._training.dense import move_by_adam
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import moving
from .._training.pairs import Evidence, PairEncoder, PairPlan, PairTrainer, hold_out_clusters
from .._training.passes import PassTasks, make_passes
from .._training.state import FittedState
from .._training.trainer import HELD_OUT_PASS
from ._pairs import pair_features
from ._relatedness import backward, root_mean_square, run_layers, shapes_of_layers, start_layers, sum_of_divergences

if TYPE_CHECKING:
    from .._base.paired import PairedVectorizer
    from ._tuned_relatedness import FineTunedRelatednessRegressor


CURVES = ("n_iter_", "loss_curve_", "validation_loss_curve_")
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

    def attributes(self) -> dict[str, np.ndarray | list[np.ndarray]]:
        """Return the fitted attributes."""
        first, first_bias, second, second_bias = (layer.astype(np.float64) for layer in self.layers)
        return {"scale_": self.scale, "coefs_": [first, second], "intercepts_": [first_bias, second_bias]}


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


def hold_out_pairs(pairs: PairCorpus, fraction: float, seed: int) -> np.ndarray:
    """Choose pairs at random, (n_pairs,) bool; two pairs of the same texts stay together if there are enough others."""
    texts = np.sort(texts_of(pairs.sentences).reshape(-1, 2), axis=1)
    same = np.unique(texts, axis=0, return_inverse=True)[1].reshape(-1)
    group = pairs.sentences.doc_of()
    evidence = Evidence(group, np.repeat(same, 2), texts.ravel(), np.zeros_like(group))
    return hold_out_clusters(evidence, fraction, seed)[::2]


class PairStep(NamedTuple):
    """Loss of a block of pairs, and what a step needs."""

    loss: float  # sum over the pairs
    n_targets: int
    of_layers: list[np.ndarray]  # gradients of the mean loss; empty where nothing is learned
    of_vectors: np.ndarray


class RelatednessTrainer(PairTrainer):
    """Runs a head and an encoder over scored pairs. The rate of a step is the share that is left of both rates."""

    def __init__(
        self,
        options: FineTunedRelatednessRegressor,
        encoder: PairEncoder,
        text: EncodedText,
        targets: np.ndarray,
        held_out: np.ndarray,
        random: np.random.RandomState,
    ) -> None:
        super().__init__(encoder, None, options.batch_size, 0)
        self.options, self.random = options, random
        self.targets = targets.astype(np.float32)
        self.rows, self.held_out = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        scale = root_mean_square(pairs.features for pairs in self._chunks(text))
        self.head = Head.start(scale, int(options.n_hidden), targets.shape[1], random)

    def plan(self, text: EncodedText, epoch: int) -> Any:
        """The pairs of a pass, in random order."""
        rows = self.held_out if epoch >= HELD_OUT_PASS else self.rows[self.random.permutation(len(self.rows))]
        return PairPlan(2 * rows, 2 * rows + 1, int(self.batch_size), 0, 0, 0)

    def _compute(self, text: EncodedText, plan: Any, block: int, learn: bool, threads: Threads) -> Any:
        options, head = self.options, self.head
        rows = plan.firsts[block * plan.pairs_per_block : (block + 1) * plan.pairs_per_block] // 2
        pairs, targets = self._embed(text, rows, learn), self.targets[rows]
        if not learn:
            log_p = run_layers(pairs.features / head.scale.astype(np.float32), head.layers)[1]
            return PairStep(sum_of_divergences(targets, log_p), len(rows), [], log_p[:0])
        kept = self.random.random_sample(pairs.features.shape) >= options.dropout
        factor = (kept / (head.scale * (1 - options.dropout))).astype(np.float32)
        loss, of_layers, d_hidden = backward(pairs.features * factor, targets, head.layers)
        of_vectors = pairs.backward((d_hidden @ head.layers[0].T) * factor)
        return PairStep(loss * len(rows), len(rows), of_layers, of_vectors)

    def _step(self, of_block: Any, rate: float) -> None:
        options, head = self.options, self.head
        head.n_steps[...] += 1
        for layer, moments, gradient in zip(head.layers, head.moments, of_block.of_layers):
            gradient = gradient + np.float32(options.alpha) * layer
            move_by_adam(layer, moments, ..., gradient, 1.0, options.learning_rate * rate, int(head.n_steps))
        if options.encoder_learning_rate:
            self.encoder.step(of_block.of_vectors, options.encoder_learning_rate * rate)

    def _chunks(self, text: EncodedText) -> Iterator[EmbeddedPairs]:
        for chunk in gen_batches(len(self.rows), CHUNK):
            with np.errstate(all="ignore"):
                pairs = self._embed(text, self.rows[chunk], learn=False)
            yield pairs

    def _embed(self, text: EncodedText, rows: np.ndarray, learn: bool) -> EmbeddedPairs:
        sentences = np.concatenate([2 * rows, 2 * rows + 1])
        return EmbeddedPairs(self.encoder.encode(text, sentences, 0, learn))


def learn_scores(
    options: FineTunedRelatednessRegressor,
    trainer: RelatednessTrainer,
    given: tuple[PairedVectorizer, FittedState, SentenceCorpus],
    text: EncodedText,
    grades: np.ndarray,
    tasks: PassTasks,
) -> dict[str, Any]:
    """Make the passes and return the fitted attributes; `given` is the encoder, its state and the sentences."""
    encoder, learned, sentences = given
    arrays = moving(encoder._learned_arrays(learned))

    def finish(state: FittedState) -> dict[str, Any]:
        curves = {name: getattr(state, name) for name in CURVES}
        fitted_encoder = copy(encoder)
        own = replace(state, **{name: getattr(learned, name) for name in CURVES})
        fitted_encoder._publish(encoder._finish_fit(own, sentences))
        of_fit = curves | {"loss_": state.loss_curve_[-1], "encoder_": fitted_encoder}
        return {"grades_": grades} | of_fit | trainer.head.attributes()

    before = replace(learned, n_iter_=0, loss_curve_=[], validation_loss_curve_=[])
    n_passes = int(options.max_iter)
    state = make_passes(
        options,
        before,
        arrays,
        trainer,
        text,
        text if len(trainer.held_out) else None,
        n_passes=n_passes,
        of_a_set=n_passes,
        rate=1.0,
        falls=True,
        tasks=tasks,
        finish=finish,
        others=trainer.head.layers,
    )
    return finish(state)
