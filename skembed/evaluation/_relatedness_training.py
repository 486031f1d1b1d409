"""Training of the relatedness head together with the encoder of the sentences: scored pairs in blocks, and memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import gen_batches

from .._base.paired import texts_of
from .._base.passes import make_passes
from .._compiled.threads import Threads
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import PairCorpus
from .._objectives.paraphrase import UnitVectors
from .._training.checkpoint import LearningState
from .._training.dense import move_by_adam
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import moving
from .._training.memory import estimate
from .._training.pairs import Evidence, PairEncoder, PairPlan, PairTrainer, hold_out_clusters
from .._training.progress import PassTasks
from .._training.state import FittedState
from .._training.stopping import EarlyStopping, is_sound, largest_of
from .._training.trainer import HELD_OUT_PASS
from ._pairs import pair_features
from ._relatedness import backward, root_mean_square, run_layers, shapes_of_layers, start_layers, sum_of_divergences

CURVES = ("n_iter_", "loss_curve_", "validation_loss_curve_")
CHUNK = 1024  # pairs that are embedded at once where nothing is learned
_BYTES_OF_FEATURE = 24  # of a pair in a step: vectors, features, what is dropped
# For each number of the larger layer in a step: gradient, penalty and their sum. For each number of the head after the
# last step: the fitted head in doubles, and a copy of the moments.
_BYTES_OF_STEP, _BYTES_OF_RESULT = 12, 16
_BYTES_OF_PAIR, _BYTES_OF_GRADE = 48, 12  # documents, score and order of a pair; its target, double and single


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
    """Runs a head and an encoder over scored pairs. The rate of a step is the share that is left of both rates.

    One thread learns. The pass over held-out pairs takes them in their order.
    """

    def __init__(
        self,
        options: Any,
        encoder: PairEncoder,
        text: EncodedText,
        targets: np.ndarray,
        held_out: np.ndarray,
        random: np.random.RandomState,
        head: Head | None = None,
    ) -> None:
        super().__init__(encoder, None, options.batch_size, 0)
        self.options, self.random = options, random
        self.targets = targets.astype(np.float32)
        self.rows, self.held_out = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if head is None:
            scale = root_mean_square(pairs.features for pairs in self._chunks(text))
            head = Head.start(scale, int(options.n_hidden), targets.shape[1], random)
        self.head = head

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
    options: Any,
    trainer: RelatednessTrainer,
    given: tuple[Any, FittedState, SentenceCorpus],
    text: EncodedText,
    fitted: dict[str, Any],
    tasks: PassTasks,
    n_passes: int,
    *,
    falls: bool,
) -> dict[str, Any]:
    """Make the passes; returns the fitted attributes, `fitted` and those that were learned.

    `given` is the encoder, its state before the first pass, and the sentences.
    """
    encoder, learned, sentences = given
    arrays = moving(encoder._learned_arrays(learned))
    weights = [*trainer.head.layers, *(learned.arrays[array.name] for array in arrays)]

    def finish(state: FittedState) -> dict[str, Any]:
        curves = {name: getattr(state, name) for name in CURVES}
        fitted_encoder = copy(encoder)
        own = replace(state, **{name: getattr(learned, name) for name in CURVES})
        fitted_encoder._publish(encoder._finish_fit(own, sentences))
        of_fit = curves | {"loss_": state.loss_curve_[-1], "encoder_": fitted_encoder}
        return fitted | of_fit | trainer.head.attributes()

    def check(loss: float, epoch: int) -> None:
        if not is_sound(loss, largest_of(weights)):
            raise ValueError(
                f"{type(options).__name__} diverged with learning_rate={options.learning_rate}, encoder_learning_rate="
                f"{options.encoder_learning_rate}. Use smaller rates. Nothing of this fit was kept."
            )

    before = replace(learned, **{name: fitted[name] for name in CURVES})
    state = make_passes(
        options,
        LearningState(before, arrays, EarlyStopping(weights, options), trainer),
        text,
        text if len(trainer.held_out) else None,
        n_passes=n_passes,
        of_a_set=n_passes,
        rate=1.0,
        falls=falls,
        tasks=tasks,
        finish=finish,
        check=check,
    )
    return finish(state)


class PlannedTraining:
    """Memory of a training before any array of it is there."""

    def __init__(self, options: Any, vectorizer: Any, pairs: PairCorpus) -> None:
        self.options, self.pairs = options, pairs
        self.vectorizer = copy(vectorizer).set_params(early_stopping=False)  # it is the regressor that stops
        self.encoder: PairEncoder
        self.n_bytes_moving = 0

    def estimate(self, *, keep: bool) -> dict[str, int]:
        """Bytes by purpose; ``keep``: the training goes on with a fitted encoder."""
        memory = estimate(
            self.vectorizer,
            self.pairs.sentences,
            keep=keep,
            annotations=(),
            classes=None,
            make_trainer=self._with_arrays,
        )
        of_head = 4 * sum(map(math.prod, self._shapes))
        memory["weights"] += of_head
        memory["accumulators"] += 2 * of_head
        best = of_head * self.options.early_stopping  # the best weights so far, which are gone after the last step
        memory["copies"] += self.n_bytes_moving * self.options.early_stopping + best
        memory["copies"] += 3 * of_head * keep  # of what was there before
        sizes = [math.prod(shape) for shape in self._shapes]
        memory["scratch"] += max(_BYTES_OF_STEP * max(sizes), _BYTES_OF_RESULT * sum(sizes) - best)
        return memory | {"total": sum(size for purpose, size in memory.items() if purpose != "total")}

    def scratch_bytes(self, text: EncodedText) -> int:
        """Memory of a pass besides weights and tokens."""
        n_pairs = len(self.pairs)
        n_rows = min(n_pairs, max(CHUNK, int(self.options.batch_size)))
        n_words = 2 * n_rows * (len(text.tokens) // (2 * n_pairs) + 1)
        of_block = n_rows * self._shapes[0][0] * _BYTES_OF_FEATURE + self.encoder.scratch_bytes(2 * n_rows, n_words)
        return int(of_block + n_pairs * (_BYTES_OF_PAIR + _BYTES_OF_GRADE * self._shapes[-1][0]))

    def _with_arrays(self, state: FittedState) -> Self:
        self.encoder = self.vectorizer._make_encoder(state)
        self.n_bytes_moving = sum(array.n_bytes for array in moving(self.vectorizer._learned_arrays(state)))
        return self

    @property
    def _shapes(self) -> list[tuple[int, ...]]:
        grades = self.options.grades
        n_grades = int(grades) if isinstance(grades, Integral) else len(grades)
        return shapes_of_layers(2 * self.encoder.n_features, int(self.options.n_hidden), n_grades)
