"""A fit of the relatedness head with its encoder: what is held out, the passes, and the memory that they take."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from .._base.outcome import copied
from .._base.paired import texts_of
from .._corpus.pairs import PairCorpus
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import moving
from .._training.memory import estimate
from .._training.pairs import Evidence, PairEncoder, hold_out_clusters
from .._training.progress import PassTasks, Progress
from .._training.state import FittedState
from .._training.stopping import EarlyStopping, is_sound, largest_of
from ._relatedness import shapes_of_layers
from ._relatedness_training import CHUNK, RelatednessTraining

# Bytes for each feature of a pair in a step (vectors, features, what is dropped), and for each number of the larger
# layer (gradient, penalty and step of Adam).
_BYTES_OF_FEATURE, _BYTES_OF_STEP = 24, 24
_BYTES_OF_PAIR, _BYTES_OF_GRADE = 48, 12  # documents, score and order of a pair; its target, double and single


def hold_out_pairs(pairs: PairCorpus, fraction: float, seed: int) -> np.ndarray:
    """Choose pairs at random, (n_pairs,) bool; two pairs of the same texts stay together if there are enough others."""
    texts = np.sort(texts_of(pairs.sentences).reshape(-1, 2), axis=1)
    same = np.unique(texts, axis=0, return_inverse=True)[1].reshape(-1)
    group = pairs.sentences.doc_of()
    evidence = Evidence(group, np.repeat(same, 2), texts.ravel(), np.zeros_like(group))
    return hold_out_clusters(evidence, fraction, seed)[::2]


class Passes:
    """Passes of a head and its encoder over scored pairs, and the fitted attributes that follow."""

    def __init__(
        self,
        options: Any,
        vectorizer: Any,
        learned: FittedState,
        pairs: PairCorpus,
        training: RelatednessTraining,
        fitted: dict[str, Any],
    ) -> None:
        self.options, self.pairs, self.training = options, pairs, training
        self.vectorizer, self.learned = vectorizer, learned  # what the encoder learns
        self.fitted = fitted  # of the regressor, curves included
        arrays = moving(vectorizer._learned_arrays(learned))
        self.weights = [*training.head.layers, *(learned.arrays[array.name] for array in arrays)]

    def run(self, n_passes: int, held_out: np.ndarray, tasks: PassTasks, *, falls: bool) -> dict[str, Any]:
        """Make the passes, with rates that may fall to zero; returns the fitted attributes."""
        options, fitted, training = self.options, self.fitted, self.training
        stopping = EarlyStopping(self.weights, options.tol, options.n_iter_no_change)
        progress = Progress(type(options).__name__, options.verbose, n_passes, training.n_words)
        for epoch in range(n_passes):
            tasks.begin_pass()
            progress.begin(epoch)
            loss, held_out_loss, stop = training.run_pass(epoch, n_passes * falls, progress.advance), None, False
            self._check_finite(loss)
            fitted |= {"loss_": loss, "loss_curve_": [*fitted["loss_curve_"], loss], "n_iter_": fitted["n_iter_"] + 1}
            if len(held_out):
                held_out_loss = training.mean_divergence(held_out)
                fitted["validation_loss_curve_"] = [*fitted["validation_loss_curve_"], held_out_loss]
                stop = stopping.should_stop(held_out_loss)
            progress.end(loss, held_out_loss)
            if tasks.end_pass(lambda: self._attributes(copied(self.learned))) or stop:
                break
        stopping.restore_best()
        return self._attributes(self.learned)

    def _attributes(self, learned: FittedState) -> dict[str, Any]:
        encoder = copy(self.vectorizer)
        learned = replace(learned, n_steps=self.training.encoder.n_steps)
        encoder._publish(encoder._finish_fit(learned, self.pairs.sentences))
        return self.fitted | self.training.head.attributes() | {"encoder_": encoder}

    def _check_finite(self, loss: float) -> None:
        if not is_sound(loss, largest_of(self.weights)):
            options = self.options
            raise ValueError(
                f"{type(options).__name__} diverged with learning_rate={options.learning_rate}, encoder_learning_rate="
                f"{options.encoder_learning_rate}. Use smaller rates. Nothing of this fit was kept."
            )


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
        memory["copies"] += (self.n_bytes_moving + of_head) * self.options.early_stopping  # the best weights so far
        memory["copies"] += 3 * of_head * keep  # of what was there before
        # The fitted head, in doubles and with copies of the moments, takes less, after the last step.
        memory["scratch"] += _BYTES_OF_STEP * max(map(math.prod, self._shapes))
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
