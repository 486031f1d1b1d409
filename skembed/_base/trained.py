"""Base of the estimators that learn by gradient descent: `fit` and `partial_fit`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.threads import count_threads
from .._corpus.corpus import SentenceCorpus
from .._shards.plan import EngineLike
from .._text.tokenizer import Analyzer, Tokenizer
from .._training.checkpoint import Checkpoint, identity_of
from .._training.encoded_text import Annotations, EncodedText, by_class, in_order, without_classes
from .._training.learned_arrays import LearnedArray, Start
from .._training.passes import AutoPasses, hold_out, passes_of
from .._training.state import Fitted, FittedState
from .._training.trainer import BlockLoop, LoopOptions, Objective, estimate, explaining_memory_error
from .._validation.columns import Labels, Sentences
from .._validation.constraints import INT64_MAX, Constraints, integers
from .._validation.messages import warn_at_user
from .._validation.targets import check_length
from .._validation.values import PathLike, RandomState
from .._word_vectors.matches import WordVectors
from .embedding import check_kept
from .learning import (
    check_agrees_with_init,
    kept_state,
    learn,
    new_state,
    start_of_words,
    tokenizer_with_init,
    vocabulary_with_init,
)
from .reading import (
    check_new_words,
    corpus_to_learn_from,
    learn_vocabulary,
    learn_words,
    waiting_after,
    warn_if_unordered,
)
from .scikit_learn import (
    LENGTH,
    CallbackSupportMixin,
    check_layout,
    checked_parameters,
    fit_context,
    length_without_source,
)
from .text import TextEstimator


class TrainedVectorizer(CallbackSupportMixin, TextEstimator):
    """Base of the estimators that learn arrays by gradient descent, at random or from the vectors of `init`.

    Knows nothing of how a sentence becomes a vector. A method adds `_learned_arrays` and `_make_objective`, and
    `_needs_order` if it learns from neighbouring sentences. A method whose sentence is a sum of rows derives from
    `PooledVectorizer` first, and from this class.

    The vocabulary has the words of `init` first, in its order, so that a word keeps its row; then the words of the text
    that `init` lacks, the most frequent first. These start as unknown words count with ``unknown="hash"``.
    """

    _parameter_constraints: Constraints = {
        **TextEstimator._parameter_constraints,
        "n_components": LENGTH,
        "init": "no_validation",  # checked when it is read
        "learning_rate": [Interval(Real, 1e-12, 1e12, closed="both")],
        "max_iter": [integers(1, INT64_MAX), StrOptions({"auto"})],
        "batch_size": [integers(1), StrOptions({"auto"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
        "n_iter_no_change": [integers(1, INT64_MAX)],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # Defaults of the options that a method does not offer.
    n_components: Any = 100
    init: WordVectors | None = None
    freeze_init: bool = False
    _option_of_length = "n_components"  # of the word vectors
    _median_length_at_start: float | None = None  # to which vectors that another method has learned are scaled
    solver: str = "adagrad"
    learning_rate: float = 0.1
    max_iter: int | str = "auto"
    _auto_passes = AutoPasses()
    batch_size: int | str = "auto"
    max_sentence_length: int | str | None = None
    _words_of_sentence = 16  # what "auto" means for it
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    tol: float = 1e-4
    warm_start: bool = False
    random_state: RandomState = None
    verbose: int = 0
    loss_curve_ = Fitted[list[float]]()
    validation_loss_curve_ = Fitted[list[float]]()
    n_iter_ = Fitted[int]()
    _needed: tuple[str, ...] = ("seed", "n_tokens", "layout", "n_iter_", "loss_curve_", "validation_loss_curve_")

    def __sklearn_clone__(self) -> Self:
        """Copy the parameters but share `init`: a clone of a fitted estimator would have nothing to start from."""
        if self.init is None:
            return super().__sklearn_clone__()
        bare = copy(self)
        bare.init = None
        clone = super(TrainedVectorizer, bare).__sklearn_clone__()
        clone.init = self.init
        return clone

    @fit_context
    def fit(
        self,
        X: Sentences,
        y: Labels = None,
        *,
        groups: Labels = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
    ) -> Self:
        """Learn from sentences in reading order.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : array-like of shape (n_sentences,), default=None
            Not used.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.
        checkpoint, checkpoint_every : path-like or None, default=None; int, default=1
            As in :meth:`CBOSVectorizer.fit`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError, ValueError, OSError, MemoryError
            As in :meth:`CBOSVectorizer.fit`.

        Warns
        -----
        UserWarning
            As in :meth:`CBOSVectorizer.fit`.
        """
        return self._fit(X, y, groups, Checkpoint(checkpoint, checkpoint_every))

    @fit_context
    def partial_fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None, new_words: str = "append") -> Self:
        """Make one pass over some more sentences.

        The first call learns the vocabulary, the word counts and the word weights. The learning rate does not fall.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order.
        y : array-like of shape (n_sentences,) or (n_sentences, n_classes), default=None
            As in `fit`.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.
        new_words : {"append", "ignore"}, default="append"
            In later calls, "append" adds the words of this text that have now occurred `min_count` times in all texts
            together, and updates counts and weights; known words keep their rows. Once there are `max_features` words,
            a new word takes the row of the rarest, if it is more frequent. "ignore" changes none of these; use it for
            more passes over a text.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, MemoryError
            As in `fit`, and for another value of `new_words`.

        Warns
        -----
        UserWarning
            As in `fit`. With ``new_words="ignore"``, if far fewer words of `X` are known than of the first text.
        """
        return self._partial_fit(X, y, groups, new_words)

    def _partial_fit(self, X: Sentences, y: Labels, groups: Labels, new_words: str) -> Self:
        check_new_words(new_words)
        keep = self.__sklearn_is_fitted__()
        corpus, annotations, classes = self._training_data(X, y, groups, keep)
        warn_if_unordered(self, corpus, classes)
        evidence: dict[str, Any] = {"annotations": annotations, "classes": classes}
        with explaining_memory_error(self, lambda: estimate(self, corpus, keep=keep, **evidence)):
            n_passes = 0 if without_classes(classes) else 1
            if keep:
                state = self._keep_vocabulary(corpus, annotations)
                state = learn_words(self, corpus, state, new_words if n_passes else "ignore")
            else:
                state = self._start(corpus, annotations, classes)
            state = replace(state, from_labels=classes is not None)
            learn(self, corpus, state, X=X, n_passes=n_passes, annotations=annotations, partial=True)
        return self

    def estimate_memory(self, X: Sentences, y: Labels = None) -> dict[str, int]:
        """Say how much memory `fit` will need, without learning anything.

        Parameters
        ----------
        X : SentenceCorpus, or iterable of str
            The input of `fit`. Sentences are encoded for the estimate; a corpus is used as it is. If the parameter
            `corpus` is given, that counts instead of `X`.
        y : array-like of shape (n_sentences,) or (n_sentences, n_targets), default=None
            Labels or targets, if `fit` will learn from them.

        Returns
        -------
        memory : dict of str to int
            Bytes by purpose, and their sum "total":

            - "weights": the vectors that are learned;
            - "accumulators": AdaGrad's sums of squares, and a counter for each;
            - "corpus": the encoded text; 0 where it is memory-mapped;
            - "copies": what `early_stopping` sets apart (text, and the best weights so far), the weights with which
              `warm_start` begins, and what `n_shards` copies and merges;
            - "scratch": vocabulary, order of the sentences, scratch space of a block.

            Python, its libraries and the strings of `X` are not included: they are in memory before the fit.

        Examples
        --------
        >>> from skembed import CBOSVectorizer, SentenceCorpus
        >>> corpus = SentenceCorpus.from_sentences(["A cat.", "The cat slept."] * 50)
        >>> memory = CBOSVectorizer(100).estimate_memory(corpus)
        >>> memory["weights"]  # 4 words of 100 float32
        1600
        >>> memory["corpus"] >= 4 * corpus.n_tokens
        True
        """
        with checked_parameters(self):
            keep = self.warm_start and self._state.layout is not None
            corpus, annotations, classes = self._training_data(X, y, None, keep)
            if keep:
                check_layout(self, self._state)
            return estimate(self, corpus, keep=keep, annotations=annotations, classes=classes)

    def _fit(self, X: Sentences, y: Labels, groups: Labels, saved: Checkpoint, engine: EngineLike = None) -> Self:
        keep = self.warm_start and self.__sklearn_is_fitted__()
        corpus, annotations, classes = self._training_data(X, y, groups, keep)
        warn_if_unordered(self, corpus, classes)
        evidence: dict[str, Any] = {"annotations": annotations, "classes": classes}
        with explaining_memory_error(self, lambda: estimate(self, corpus, keep=keep, **evidence)):
            if keep:
                state = self._keep_vocabulary(corpus, annotations)
                check_kept(self, state, corpus)
            else:
                state = self._start(corpus, annotations, classes, saved.seed)
            state = replace(state, from_labels=classes is not None)
            if saved.path is not None:
                saved.begin(state.seed, identity_of(self, corpus, annotations, state))
            options: dict[str, Any] = {"annotations": annotations, "checkpoint": saved, "engine": engine}
            n_passes = passes_of(self, corpus.n_tokens, classes)
            learn(self, corpus, state, X=X, n_passes=n_passes, partial=n_passes == 0, **options)
        return self

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        """A record of each array that is learned; `state` already has `word_counts_`."""
        raise TypeError(f"{type(self).__name__} does not say which arrays it learns.")

    def _arrays_of_text(self, state: FittedState, text: EncodedText) -> list[LearnedArray]:
        """A record of each array that has a row for each sentence of the text, and lives as long as a fit."""
        return []

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        """The arrays of which the fitted estimator also has a changed copy."""
        return []

    def _make_objective(self, state: FittedState) -> Objective:
        raise TypeError(f"{type(self).__name__} does not say what it learns.")

    def _sentence_targets(self, corpus: SentenceCorpus, y: Labels) -> Annotations:
        """Arrays with a value for each sentence, such as labels, which the objective gets with the text."""
        return ()

    def _training_data(
        self, X: Sentences, y: Labels, groups: Labels, keep: bool = False
    ) -> tuple[SentenceCorpus, Annotations, np.ndarray | None]:
        """The text to learn from, arrays with a value for each of its sentences, and their classes, if any."""
        corpus = corpus_to_learn_from(self, X, groups, y)
        annotations = self._sentence_targets(corpus, y)
        for values in annotations:
            check_length(values, corpus.n_sentences, "the text")
        return corpus, annotations, None

    def _settings(self, state: FittedState, annotations: Annotations, classes: np.ndarray | None) -> FittedState:
        """The state with what follows from `y`, such as what options of "auto" stand for."""
        return state

    def _option(self, name: str, state: FittedState | None = None) -> Any:
        """Value of a parameter; a length of "auto" is that of the word vectors of a fit."""
        value = getattr(self, name)
        is_length = name == self._option_of_length and isinstance(value, str)
        return self._width_of_words(self._state if state is None else state) if is_length else value

    def _width_of_words(self, state: FittedState) -> int:
        """Length of the word vectors; before there are any, that of a start at random."""
        if state.n_features_out_ is not None:
            return int(state.n_features_out_)
        return length_without_source(getattr(self, self._option_of_length))

    def _tokenizer_of_options(self, automatic: Analyzer = "word") -> Tokenizer:
        """How words are made: as in `init`, unless an option differs from its default."""
        mine = super()._tokenizer_of_options(automatic)
        return mine if self.init is None else tokenizer_with_init(self.init, mine)

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        check_agrees_with_init(self.init, corpus, name)
        super()._check_agreement(corpus, name)

    def _learn_vocabulary(self, corpus: SentenceCorpus, state: FittedState) -> FittedState:
        state = learn_vocabulary(self, corpus, state)
        n_learned = len(state.vocabulary_)
        if self.init is not None:
            state = vocabulary_with_init(self, corpus, state)
        return replace(state, waiting=waiting_after(corpus, n_learned, state.vocabulary_))

    def _start_of_words(self, state: FittedState, at_random: Start) -> Start:
        """Start of an array that has the words in its first rows: from `init`, or at random without it."""
        return at_random if state.start is None else start_of_words(self, state)

    def _start(
        self, corpus: SentenceCorpus, annotations: Annotations, classes: np.ndarray | None, seed: int | None = None
    ) -> FittedState:
        """The state before the first pass. Without a `random_state`, `seed` is that of a fit that goes on."""
        return new_state(self, corpus, annotations, classes, seed)

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: Annotations) -> FittedState:
        """The state of an earlier fit, to go on from; what training changes is copied, in case it fails."""
        return kept_state(self, corpus)

    def _weights_in_training(self, state: FittedState) -> np.ndarray:
        """Weight of each word of the vocabulary in its sentence, (n_words,) float32."""
        return np.ones(len(state.word_counts_), np.float32)

    def _held_out(self, corpus: SentenceCorpus, state: FittedState, annotations: Annotations) -> np.ndarray:
        """Which sentences are held out."""
        classes = annotations[0] if state.from_labels else None
        return hold_out(corpus, self.validation_fraction, state.seed, classes)

    def _n_sets(self, annotations: Annotations) -> int:
        """Number of sets of the text, which are learned one after the other, each in all passes."""
        return 1

    def _warn_of_nothing(self, losses: list[float], validation: list[float]) -> None:
        """Warn of a loss of exactly zero, which means that there was no target."""
        for text, curve, outcome in (
            ("text", losses, "the last pass changed nothing"),
            ("held-out text", validation, "early_stopping could not stop; more can be held out (validation_fraction)"),
        ):
            if curve and curve[-1] == 0.0:
                warn_at_user(
                    f"{type(self).__name__} found nothing to predict in the {text}, so {outcome}. Its sentences may be "
                    "too few or too short, or their words unknown or too rare."
                )

    def _make_loop(
        self, state: FittedState, text: EncodedText, engine: EngineLike, *, partial: bool, passes_of_a_set: int
    ) -> Any:
        """What makes the passes over the text; `engine` is None but for methods that learn in shards."""
        return self._make_trainer(state, passes_of_a_set)

    def _make_trainer(self, state: FittedState, passes_of_a_set: int = 1) -> BlockLoop:
        n_threads, examples = count_threads(self.n_jobs), by_class if state.from_labels else in_order
        options = LoopOptions(self.solver, self.batch_size, n_threads, examples, state, passes_of_a_set)
        return self._make_objective(state).make_loop(options)
