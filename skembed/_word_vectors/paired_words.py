"""Base of the methods that learn word vectors from pairs of sentences, the direction and the weight of a word apart."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.paired import EVIDENCE, PairedVectorizer
from .._base.sharing import derived_rows, norms_for
from .._compiled.buffers import between
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.word_sums import Moves, WordSums
from .._objectives.paraphrase import HingeLoss, SoftmaxLoss
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.pairs import Loss
from .._validation.limits import integers
from .start import InitMixin

MOVES = {
    "both": Moves(directions=True, scales=True, keeps_length=True),
    "directions": Moves(directions=True, scales=False, keeps_length=True),
    "weights": Moves(directions=False, scales=True, keeps_length=True),
    "vectors": Moves(directions=True, scales=False, keeps_length=False),
}


class PairedWords(InitMixin, PairedVectorizer):
    """Base of the methods whose sentence is made of word vectors, with the options of a loss and of what moves."""

    _parameter_constraints: dict[str, Any] = {
        "freeze_init": ["boolean"],
        "learn": [StrOptions(set(MOVES))],
        "loss": [StrOptions({"softmax", "hinge"})],
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both")],
        "margin": [Interval(Real, 0.0, 2.0, closed="right")],
        "alpha": [Interval(Real, 0.0, 1e6, closed="both")],
        "interpolation": [Interval(Real, 0.0, 1.0, closed="both")],
        "word_dropout": [Interval(Real, 0.0, 1.0, closed="left")],
        "batch_size": [integers(2), StrOptions({"auto"})],
        "corpus": [EVIDENCE, None],
    }
    learn: str
    temperature: float
    margin: float
    alpha: float
    interpolation: float
    word_dropout: float

    def _learn_vocabulary(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        fitted = super()._learn_vocabulary(corpus, *others)
        length = fitted["_init"].length_of_unknown if "_init" in fitted else None
        return fitted | {"_length_of_new_words": length}

    def _start(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        return super()._start(corpus, *others) | {"_n_steps": 0}

    def _learned_arrays(self, fitted: dict[str, Any]) -> list[LearnedArray]:
        shape = len(fitted["word_counts_"]), self._width_of_words(fitted)
        uniform = start_uniform((3 / shape[1]) ** 0.5)  # lengths of about one
        # The seed of the fit, not that of the array, so that two arrays start alike.
        start = self._start_of_words(fitted, lambda array, _: uniform(array, fitted["_seed"]))
        moves, options = MOVES[self.learn], ("n_components", "learn")
        return [
            LearnedArray("_directions", shape, start, options=options, frozen=not moves.directions, is_source=True),
            LearnedArray(
                "_scales", shape[:1], lambda array, seed: array.fill(1), options=options, frozen=not moves.scales
            ),
            LearnedArray("_start_vectors", shape, start, options=(), frozen=True, is_source=True),
        ]

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        return [array for array in arrays if not array.name.startswith("_start_")] if self.interpolation < 1 else []

    def _encoder_of_words(self, fitted: dict[str, Any], word_dropout: float = 0.0) -> WordSums:
        return WordSums(fitted, MOVES[self.learn], self.alpha, word_dropout, norms_for(self))

    def _make_loss(self) -> Loss:
        return HingeLoss(self.margin) if self.loss == "hinge" else SoftmaxLoss(self.temperature)

    def _learned_words(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """Vectors and weights of the words, by `interpolation` between the start and what was learned."""
        start, directions, weights = fitted["_start_vectors"], fitted["_directions"], fitted["_scales"]
        share = float(self.interpolation)
        if share == 1:
            return {"word_vectors_": directions, "word_weights_": weights}

        def make(rows: Any) -> np.ndarray:
            vectors = between(start[rows], directions[rows], share)
            if MOVES[self.learn].keeps_length:
                norms = np.maximum(row_norms(vectors), np.finfo(np.float32).tiny)
                vectors *= (row_norms(start[rows]) / norms)[:, None]
            return vectors

        vectors = derived_rows(self, "word_vectors_", share, directions, make)
        return {"word_vectors_": vectors, "word_weights_": between(np.ones_like(weights), weights, share)}
