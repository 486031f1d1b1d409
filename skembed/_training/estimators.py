"""What reading, learning and embedding ask of an estimator. The bases of the estimators, which know them, offer it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._text.known_words import EncodedSentences
from .._text.tokenizer import Analyzer, Tokenizer
from .._validation.columns import Sentences
from .._validation.values import RandomState
from .encoded_text import Annotations, EncodedText
from .learned_arrays import LearnedArray, Start
from .state import FittedState


class Vectorizer(Protocol):
    """Reads a text and embeds sentences."""

    corpus: Any  # a SentenceCorpus, or pairs for what learns from these
    missing: str
    min_count: Any
    max_features: int | None
    n_jobs: int | None
    ngram_range: tuple[int, int]
    _state: FittedState
    _needs_order: bool
    _joins_words_beside_characters: bool
    _source_option: str

    @property
    def _needs_order_for(self) -> str | None: ...

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def _option(self, name: str, state: FittedState | None = None) -> Any: ...

    def _tokenizer_of_options(self, automatic: Analyzer = "word") -> Tokenizer: ...

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None: ...

    def _embed(self, state: FittedState, X: Sentences, name: str) -> np.ndarray: ...

    def _vectors_of(
        self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None
    ) -> np.ndarray: ...


class Learner(Vectorizer, Protocol):
    """Learns arrays from a text."""

    init: Any  # vectors to start from, of any kind
    solver: str
    learning_rate: float
    max_sentence_length: int | str | None
    early_stopping: bool
    freeze_init: bool
    random_state: RandomState
    n_components: Any  # a number or "auto"
    _words_of_sentence: int
    _option_of_length: str
    _median_length_at_start: float | None
    _zero_loss_is_success: bool

    def _appends_words(self, state: FittedState) -> bool: ...

    def _width_of_words(self, state: FittedState) -> int: ...

    def _learn_vocabulary(self, corpus: SentenceCorpus, state: FittedState) -> FittedState: ...

    def _text_statistics(
        self, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
    ) -> FittedState: ...

    def _settings(self, state: FittedState, annotations: Annotations, classes: np.ndarray | None) -> FittedState: ...

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]: ...

    def _arrays_of_text(self, state: FittedState, text: EncodedText) -> list[LearnedArray]: ...

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]: ...

    def _start_of_words(self, state: FittedState, at_random: Start) -> Start: ...

    def _weights_in_training(self, state: FittedState) -> np.ndarray: ...

    def _held_out(self, corpus: SentenceCorpus, state: FittedState, annotations: Annotations) -> np.ndarray: ...

    def _n_sets(self, annotations: Annotations) -> int: ...

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState: ...

    def _publish(self, state: FittedState, *, for_training: bool = False) -> object: ...

    def _make_trainer(self, state: FittedState) -> Any: ...

    def _make_loop(
        self, state: FittedState, text: EncodedText, engine: Any, *, partial: bool, passes_of_a_set: int
    ) -> Any: ...


class SumOfVectors(Vectorizer, Protocol):
    """Makes a sentence of vectors of its words."""

    n_buckets: int

    def _longest_learned(self, state: FittedState) -> int: ...

    def _check_transform_parameters(self) -> None: ...

    def _treats_unknown(self, state: FittedState) -> str: ...

    def _summed_vectors(self, state: FittedState) -> np.ndarray: ...

    def _unknown_vectors(self, state: FittedState, words: list[str]) -> np.ndarray: ...

    def _counted(self, state: FittedState, sentences: EncodedSentences) -> EncodedSentences: ...

    def _features(
        self, state: FittedState, sentences: EncodedSentences
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...

    def _pool(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray: ...
