"""Bases of the methods that learn word vectors from pairs, as bags of words or with a network over their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.arrays import between, row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.word_sums import Moves, WordSums
from .._objectives.paraphrase import HingeLoss, SoftmaxLoss
from .._text.known_words import EncodedSentences
from .._text.sources import offsets
from .._training.learned_arrays import ArrayRecord, LearnedArray, start_copied, start_ones, start_uniform
from .._training.pairs import IndexedSentences, Loss
from .._training.state import ABSENT, Fitted, FittedState
from .._validation.constraints import Constraints, integers
from .._word_vectors.bag import hash_vectors
from .paired import EVIDENCE, PairedVectorizer
from .start import median_length

MOVES = {
    "both": Moves(directions=True, scales=True, keeps_length=True),
    "directions": Moves(directions=True, scales=False, keeps_length=True),
    "weights": Moves(directions=False, scales=True, keeps_length=True),
    "vectors": Moves(directions=True, scales=False, keeps_length=False),
}


@dataclass(frozen=True, eq=False, repr=False)
class PairedState(FittedState):
    """What a method has learned from pairs."""

    length_of_new_words: float = ABSENT  # of `init`, if there was one


class PairedWords(PairedVectorizer):
    """Base of the methods whose sentence is made of word vectors, with the options of a loss and of what moves."""

    _parameter_constraints: Constraints = {
        **PairedVectorizer._parameter_constraints,
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
    _state = PairedState()
    learn: str
    temperature: float
    margin: float
    alpha: float
    interpolation: float
    word_dropout: float

    def _learn_vocabulary(self, corpus: SentenceCorpus, state: FittedState) -> FittedState:
        learned: Any = super()._learn_vocabulary(corpus, state)
        return (
            learned if learned.start is None else replace(learned, length_of_new_words=learned.start.length_of_unknown)
        )

    def _start(self, *given: Any) -> FittedState:
        return replace(super()._start(*given), n_steps=0)

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        shape = len(state.word_counts_), self._width_of_words(state)
        start = self._start_of_words(state, start_uniform((3 / shape[1]) ** 0.5, own_seed=state.seed))  # of length one
        moves, options = MOVES[self.learn], ("n_components", "learn")
        return [
            LearnedArray("_directions", shape, start, "rows", options, not moves.directions, False, is_source=True),
            LearnedArray("_scales", shape[:1], start_ones, "rows", options, not moves.scales, False),
            LearnedArray("_start_vectors", shape, start, "rows", (), frozen=True, kept=False, is_source=True),
        ]

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        shape = len(state.word_counts_), self._width_of_words(state)
        return [ArrayRecord("word_vectors_", shape, axis_of_words=0)]

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        return [array for array in arrays if not array.name.startswith("_start_")] if self.interpolation < 1 else []

    def _encoder_of_words(self, state: FittedState, word_dropout: float = 0.0) -> WordSums:
        return WordSums(state, MOVES[self.learn], self.alpha, word_dropout)

    def _make_loss(self) -> Loss:
        return HingeLoss(self.margin) if self.loss == "hinge" else SoftmaxLoss(self.temperature)

    def _with_learned_words(self, state: Any) -> PairedState:
        """The state with vectors and weights of the words, by `interpolation` between start and what was learned."""
        start, directions, weights = (state.arrays[name] for name in ("_start_vectors", "_directions", "_scales"))
        share, name = float(self.interpolation), "word_vectors_"
        if share == 1:
            return replace(state.with_arrays({name: directions}), word_weights_=weights)

        vectors = between(start, directions, share)
        if MOVES[self.learn].keeps_length:
            norms = np.maximum(row_norms(vectors), np.finfo(np.float32).tiny)
            vectors *= (row_norms(start) / norms)[:, None]
        return replace(state.with_arrays({name: vectors}), word_weights_=between(np.ones_like(weights), weights, share))


class PairedSequences(PairedWords):
    """Base of the methods with a network over word vectors, whose arrays `_network` names, both learned from pairs."""

    _parameter_constraints: Constraints = {
        **PairedWords._parameter_constraints,
        "unknown": [StrOptions({"zero", "hash"})],
    }
    word_vectors_ = Fitted[NDArray[np.float32]]()
    word_weights_ = Fitted[NDArray[np.float32]]()
    _needed: tuple[str, ...] = ("word_weights_", "unknown_length")
    _network: tuple[str, ...] = ()  # names of the fitted attributes

    def _arrays_of_network(self, state: FittedState, arrays: list[LearnedArray]) -> list[LearnedArray]:
        """Records of the arrays of the network, and of where they start, which `interpolation` needs.

        They start as `init` has learned them, where it has a network of the same form.
        """
        given = None if state.start is None else state.start.network
        if given is not None and self._is_of_form(given, arrays):
            arrays = [array._replace(start=start_copied(given.arrays[f"{array.name[1:]}_"])) for array in arrays]
        learned = [array._replace(kept=False) for array in arrays]
        return learned + [array._replace(name=f"_start{array.name}", options=(), frozen=True) for array in learned]

    def _is_of_form(self, given: FittedState, arrays: list[LearnedArray]) -> bool:
        """Whether the network of another model has these arrays."""
        named = {f"{array.name[1:]}_": array.shape for array in arrays}
        return all(name in given.arrays and given.arrays[name].shape == shape for name, shape in named.items())

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        shapes = {array.name: array.shape for array in self._learned_arrays(state)}
        network = [ArrayRecord(name, shapes[f"_{name[:-1]}"]) for name in self._network]
        return super()._derived_arrays(state) + network

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        network = {name: state.arrays[f"_{name[:-1]}"] for name in self._network}
        if self.interpolation < 1:
            for name, array in network.items():
                network[name] = between(state.arrays[f"_start_{name[:-1]}"], array, self.interpolation)
        learned = self._with_learned_words(state).with_arrays(network)
        length = learned.length_of_new_words
        if length is None:
            length = median_length(learned.arrays["word_vectors_"])
        return replace(learned, unknown_length=np.float32(length))

    def _embed_words(self, state: FittedState, sentences: IndexedSentences, vectors: np.ndarray) -> np.ndarray:
        """The rows of sentences, from the vectors of their distinct words; each depends on its own words alone."""
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        ids, ptr = sentences.ids, sentences.ptr
        if self._option("unknown", state) == "zero":
            is_known = sentences.rows[ids] >= 0
            ids, ptr = ids[is_known], offsets(is_known)[ptr]
        found = IndexedSentences.of(ids, ptr, np.zeros(ids.max(initial=0) + 1, np.int32))
        rows = sentences.rows[found.distinct]
        vectors = state.arrays["word_vectors_"][rows] * state.word_weights_[rows, None]
        if unknown := sentences.words_of(found.distinct[rows < 0]):
            vectors[rows < 0] = state.unknown_length * hash_vectors(unknown, vectors.shape[1])
        embedded = self._embed_words(state, found, vectors)
        if out is None:
            return embedded
        out[:] = embedded
        return out
