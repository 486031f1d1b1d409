"""Base of the methods whose sentence is the last state of a recurrent unit, from which decoders predict words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.scikit_learn import LENGTH
from .._base.start import median_length
from .._base.trained import TrainedVectorizer, length_without_source
from .._text.known_words import EncodedSentences
from .._text.sources import offsets
from .._training.dense import Chunk, DenseObjective, Gradients, RowGradients
from .._training.encoded_text import EncodedText, SentenceBlocks
from .._training.learned_arrays import ArrayRecord, LearnedArray, Start, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.constraints import INT64_MAX, Constraints, integers
from ._gru import Gru, Steps, start_gru
from ._next_word import MOST_SCORES, Sample, Sampler, predict

# Numbers that are kept of a word for each number of a state. An encoder keeps gates, candidate, reset and state until
# all decoders are done; with those, a decoder has its products, and the gradients of all of these.
_OF_ENCODER, _OF_DECODER = 5, 14


class SentenceIds(NamedTuple):
    """Sentences of known words; none is empty."""

    ids: np.ndarray  # (n_words,) int64
    ptr: np.ndarray  # (n_sentences + 1,) int64, where the sentences begin


class Target(NamedTuple):
    """Sentences that a decoder predicts, each from the vector of another one."""

    words: SentenceIds
    source: np.ndarray  # (n_sentences,) int64, which of the encoded sentences; none twice


# The sentences of a chunk to encode, and those of each decoder.
ChunkExamples = Callable[[Chunk, bool], tuple[SentenceIds, list[Target]]]


class Network(NamedTuple):
    """Units that together make a vector, and the decoders that learn it."""

    encoders: tuple[tuple[str, bool], ...]  # name of the weights, whether it reads sentences from their ends
    decoders: str = "decoder_weights_"  # name of the weights
    targets: str = "target_vectors_"  # name of the rows that the states of the decoders are compared with


def list_known(text: EncodedText, sentences: np.ndarray) -> tuple[SentenceIds, np.ndarray]:
    """The known words of some sentences, and which of the sentences have any."""
    starts, lengths = text.sent_ptr[sentences], text.sent_ptr[sentences + 1] - text.sent_ptr[sentences]
    ptr = np.append(0, np.cumsum(lengths))
    ids = text.tokens[np.arange(ptr[-1]) + np.repeat(starts - ptr[:-1], lengths)].astype(np.int64)
    is_known = ids < len(text.word_weight)
    ptr = offsets(is_known)[ptr]
    which = np.flatnonzero(np.diff(ptr))
    return SentenceIds(ids[is_known], np.append(ptr[which], ptr[-1])), which


class SentencePrediction(DenseObjective):
    """Loss and gradients of networks that encode sentences and predict the words of sentences, one after the other."""

    chunk_length = 64

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        networks: list[Network],
        examples: ChunkExamples,
        sampler: Sampler,
        *,
        largest_norm: float | None,
        longest_run: int,
    ) -> None:
        self.arrays, self.networks, self.examples = arrays, networks, examples
        self.sampler, self.largest_norm = sampler, largest_norm
        self.blocks = SentenceBlocks(border=0, largest=128, longest_run=longest_run)

    def gradients(self, chunk: Chunk, learn: bool) -> Gradients:
        source, targets = self.examples(chunk, learn)
        n_targets = len(self.networks) * sum(len(target.words.ids) for target in targets)
        if not n_targets:
            return Gradients(0.0, 0, {})
        sample = self.sampler.draw(chunk.draws) if learn else self.sampler.all_words()
        distinct = np.unique(np.concatenate([source.ids, *(target.words.ids for target in targets)]))
        # Before the first word a decoder reads a vector of zeros.
        vectors = np.concatenate([self.arrays["word_vectors_"][distinct], np.zeros((1, self._n_inputs), np.float32)])
        of_vectors = np.zeros_like(vectors)
        loss = 0.0
        found: dict[str, np.ndarray | RowGradients] = {}
        for network in self.networks:
            of_network = _OfNetwork(network, self.arrays, distinct, vectors)
            contexts = of_network.encode(source)
            for target in targets:
                loss += of_network.decode(target, contexts, sample, learn)
            if learn:
                found |= of_network.back(of_vectors)
        if not learn:
            return Gradients(loss, n_targets, {})
        found["word_vectors_"] = RowGradients(distinct, of_vectors[:-1])
        return Gradients(loss, n_targets, found)

    def activation_bytes(self, n_words: int) -> int:
        """Memory for a chunk: what each unit reads and computes of each word, and the scores of the sample."""
        of_networks = (
            sum(self.arrays[name].shape[1] for name, _ in network.encoders) * (_OF_ENCODER + _OF_DECODER)
            for network in self.networks
        )
        scores = min(n_words * (self.sampler.size + 1), MOST_SCORES)
        return 4 * (n_words * (max(of_networks) + 2 * self._n_inputs) + scores)

    @property
    def _n_inputs(self) -> int:
        return int(self.arrays["word_vectors_"].shape[1])


class _OfNetwork:
    """A network at work on the sentences of a chunk."""

    def __init__(
        self, network: Network, arrays: Mapping[str, np.ndarray], distinct: np.ndarray, vectors: np.ndarray
    ) -> None:
        self.network, self.distinct, self.vectors, self.rows = network, distinct, vectors, arrays[network.targets]
        n_inputs = vectors.shape[1]
        self.encoders = [Gru(arrays[name], n_inputs) for name, _ in network.encoders]
        self.weights_of_decoders = arrays[network.decoders]
        self.decoders = [Gru(weights, n_inputs) for weights in self.weights_of_decoders]
        self.of_targets: list[RowGradients] = []
        self.of_decoders: list[np.ndarray] = []

    def encode(self, source: SentenceIds) -> np.ndarray:
        """The vectors of sentences."""
        words = np.searchsorted(self.distinct, source.ids)
        self.reads = [
            encoder.read(self.vectors, words, Steps.of(source.ptr, reverse))
            for encoder, (_, reverse) in zip(self.encoders, self.network.encoders)
        ]
        contexts = np.concatenate([read.last for read in self.reads], axis=1)
        self.of_contexts, self.of_vectors = np.zeros_like(contexts), np.zeros_like(self.vectors)
        return contexts

    def decode(self, target: Target, contexts: np.ndarray, sample: Sample, learn: bool) -> float:
        """Predict sentences by the next decoder; returns the loss."""
        (ids, ptr), decoder = target.words, self.decoders[len(self.of_decoders)]
        if not len(ids):
            self.of_decoders.append(np.zeros_like(self.weights_of_decoders[0]))
            return 0.0
        before = np.roll(np.searchsorted(self.distinct, ids), 1)
        before[ptr[:-1]] = len(self.distinct)  # the vector of zeros
        steps = Steps.of(ptr)
        read = decoder.read(self.vectors, before, steps, contexts[target.source])
        found = predict(decoder.states_of(read), ids[steps.position], self.rows, sample, learn)
        gradients = decoder.back(read, found.of_states, None) if learn else None
        self.of_decoders.append(gradients.weights if gradients else np.zeros(0, np.float32))
        if gradients:
            self.of_targets.append(found.of_rows)
            self.of_contexts[target.source] += gradients.contexts
            self.of_vectors += gradients.vectors
        return found.loss

    def back(self, of_vectors: np.ndarray) -> dict[str, np.ndarray | RowGradients]:
        """The gradients of the weights of all units; adds to those of the word vectors."""
        found: dict[str, np.ndarray | RowGradients] = {self.network.decoders: np.stack(self.of_decoders)}
        found[self.network.targets] = RowGradients(*map(np.concatenate, zip(*self.of_targets)))
        of_vectors += self.of_vectors
        ends = np.cumsum([encoder.n_units for encoder in self.encoders])
        for (name, _), encoder, read, end in zip(self.network.encoders, self.encoders, self.reads, ends):
            gradients = encoder.back(read, None, self.of_contexts[:, end - encoder.n_units : end])
            found[name] = gradients.weights
            of_vectors += gradients.vectors
        return found


class RecurrentVectorizer(TrainedVectorizer):
    """Base of the estimators with recurrent encoders and decoders.

    A method says which networks it has by `_networks`, and what they learn from by `_make_examples`.
    """

    _parameter_constraints: Constraints = {
        **TrainedVectorizer._parameter_constraints,
        "n_components": [integers(1)],
        "word_components": LENGTH,
        "learn_words": ["boolean"],
        "negative": [integers(1)],
        "max_gradient_norm": [Interval(Real, 1e-12, 1e12, closed="both"), None],
        "max_sentence_length": [integers(2, INT64_MAX), StrOptions({"auto"}), None],
    }
    solver = "adam"
    word_components: int | str
    learn_words: bool
    negative: int
    max_gradient_norm: float | None
    word_vectors_ = Fitted[NDArray[np.float32]]()
    _words_of_sentence = 32
    _n_decoders = 1
    _option_of_length = "word_components"
    _options_of_shape: tuple[str, ...] = ("n_components", "word_components", "learn_words")

    def _networks(self) -> list[tuple[Network, list[int]]]:
        """The networks, each with the units of its encoders."""
        raise TypeError(f"{type(self).__name__} does not say which units it has.")

    def _make_examples(self) -> ChunkExamples:
        raise TypeError(f"{type(self).__name__} does not say what it predicts.")

    def _start(self, *given: Any) -> FittedState:
        return replace(super()._start(*given), n_features_out_=int(self.n_components))

    def _width_of_words(self, state: FittedState) -> int:
        if state.start is not None:
            return int(state.start.vectors.shape[1])
        vectors = state.arrays.get("word_vectors_")
        return length_without_source(getattr(self, self._option_of_length)) if vectors is None else vectors.shape[1]

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        n_words, n_inputs = len(state.word_counts_), self._width_of_words(state)
        options = self._options_of_shape
        of_words = self._start_of_words(state, start_uniform((3 / n_inputs) ** 0.5))  # lengths of about one
        arrays = [
            LearnedArray(
                "word_vectors_",
                (n_words, n_inputs),
                of_words,
                options=options,
                frozen=not self.learn_words,
                is_source=True,
            )
        ]
        for network, units in self._networks():
            n_decoded = sum(units)
            for (name, _), n in zip(network.encoders, units):
                shape = 3, n, n_inputs + n + 1
                arrays.append(LearnedArray(name, shape, self._start_of_unit(state, n_inputs), "dense", options))
            of_all = self._n_decoders, 3, n_decoded, n_inputs + 2 * n_decoded + 1
            start = self._start_of_unit(state, n_inputs)
            arrays.append(LearnedArray(network.decoders, of_all, start, "dense", options, kept=False))
            counts = self._counts_of_learned(state)
            of_targets = len(counts), n_decoded + 1
            arrays.append(LearnedArray(network.targets, of_targets, _as_frequent(counts), options=options, kept=False))
        return arrays

    def _counts_of_learned(self, state: FittedState) -> np.ndarray:
        """How often each word occurs that is read and predicted in training."""
        return np.asarray(state.word_counts_)

    def _start_of_unit(self, state: FittedState, n_inputs: int) -> Start:
        length = median_length(state.start.vectors) if state.start is not None else 1.0

        def fill(array: np.ndarray, seed: int) -> None:
            for index, unit in enumerate(array.reshape(-1, *array.shape[-3:])):
                start_gru(unit, n_inputs, length, [seed, index])

        return fill

    def _make_objective(self, state: FittedState) -> SentencePrediction:
        networks = [network for network, _ in self._networks()]
        sampler = Sampler(self._counts_of_learned(state), int(self.negative))
        # The neighbours of a run of sentences are mostly in the run, and each distinct word of a block is read once.
        longest_run, largest_norm = 4 if self._needs_order else 1, self.max_gradient_norm
        return SentencePrediction(
            state.arrays, networks, self._make_examples(), sampler, largest_norm=largest_norm, longest_run=longest_run
        )

    def _encoders_of(self, state: FittedState) -> list[tuple[str, bool]]:
        """Names of the arrays that encode a sentence, each with whether it reads backward."""
        found = [encoder for network, _ in self._networks() for encoder in network.encoders]
        if not all(name in state.arrays for name, _ in found):
            raise ValueError(
                f"The options of this {type(self).__name__} name other units than those that it has learned. Set them "
                "back to what they were in the fit, or fit the estimator again."
            )
        return found

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        n_units = sum(sum(units) for _, units in self._networks())
        if state.n_features_out_ != n_units:
            raise ValueError(f"n_features_out_ is {state.n_features_out_}, but the fit gives {n_units}.")
        return []

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        is_known = sentences.rows[sentences.ids] >= 0
        ids, ptr = sentences.ids[is_known], offsets(is_known)[sentences.ptr]
        distinct, words = np.unique(ids, return_inverse=True)
        vectors = state.arrays["word_vectors_"][sentences.rows[distinct]]
        which = np.flatnonzero(np.diff(ptr))
        embedded = np.zeros((len(ptr) - 1, state.n_features_out_), np.float32) if out is None else out
        embedded[:] = 0
        if len(which):
            ptr, first = np.append(ptr[which], ptr[-1]), 0
            for name, reverse in self._encoders_of(state):
                unit = Gru(state.arrays[name], vectors.shape[1])
                embedded[which, first : first + unit.n_units] = unit.encode(vectors, words, ptr, reverse)
                first += unit.n_units
        return embedded


def _as_frequent(counts: np.ndarray) -> Start:
    """Start of target vectors and intercepts at which each word is as probable as it is frequent."""

    def fill(array: np.ndarray, seed: int) -> None:
        frequencies = np.maximum(counts, 1)
        array[:, -1] = np.log(frequencies / frequencies.sum())

    return fill
