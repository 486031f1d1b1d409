"""Base of the estimators that learn by gradient descent: `fit` and `partial_fit`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.threads import count_threads
from .._corpus.corpus import SentenceCorpus
from .._shards.plan import EngineLike
from .._text.tokenizer import Analyzer, Tokenizer
from .._training.checkpoint import Checkpoint, identity_of
from .._training.encoded_text import Annotations, EncodedText, by_class
from .._training.learned_arrays import LearnedArray, Start, copies_of, moving, start_arrays
from .._training.passes import NO_CHECKPOINT, AutoPasses, hold_out, learn
from .._training.state import Fitted, FittedState
from .._training.trainer import BlockLoop, LoopOptions, Objective, estimate, explaining_memory_error
from .._validation.columns import Labels, Sentences
from .._validation.constraints import INT64_MAX, Constraints, integers
from .._validation.messages import brief, warn_at_user
from .._validation.targets import NO_CLASS, check_length
from .._validation.values import PathLike, RandomState
from .._word_vectors.matches import WordVectors
from .embedding import check_kept
from .reading import corpus_to_learn_from, learn_vocabulary, learn_words, waiting_after, warn_if_unordered
from .scikit_learn import LENGTH, CallbackSupportMixin, check_layout, checked_parameters, fit_context, layout_of_options
from .start import check_agrees_with_init, check_same_start, start_of_words, tokenizer_with_init, vocabulary_with_init
from .text import TextEstimator


def length_without_source(value: int | str) -> int:
    """The length that an option asks for where no source has one; "auto" is 100."""
    return 100 if isinstance(value, str) else int(value)


class TrainedVectorizer(CallbackSupportMixin, TextEstimator):
    """Base of the estimators that learn arrays by gradient descent, at random or from the vectors of `init`.

    A method adds `_learned_arrays` and `_make_objective`, and `_needs_order` if it learns from neighbouring sentences;
    one whose sentence is a sum of rows derives from `PooledVectorizer` first. The vocabulary has the words of `init`
    first, in its order; then those of the text that it lacks, the most frequent first.
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
    _zero_loss_is_success = False  # or means that there was nothing to predict
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
            As in :meth:`CBOSVectorizer.fit`, and so are the warnings.
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
            In later calls, "append" adds the words that have now occurred `min_count` times in all texts together, and
            updates counts and weights. Once there are `max_features` words, a new one takes the row of the rarest, if
            it is more frequent. "ignore" changes none of these; use it for more passes over a text.

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
            As in `fit`; also if new words are ignored and far fewer words of `X` are known than of the first text.
        """
        return self._fit(X, y, groups, partial=True, new_words=new_words)

    def estimate_memory(self, X: Sentences, y: Labels = None) -> dict[str, int]:
        """Say how much memory `fit` will need, without learning anything.

        Parameters
        ----------
        X : SentenceCorpus, or iterable of str
            The input of `fit`; sentences are encoded for the estimate.
        y : array-like of shape (n_sentences,) or (n_sentences, n_targets), default=None
            Labels or targets, if `fit` will learn from them.

        Returns
        -------
        memory : dict of str to int
            Bytes by purpose, and their sum "total":

            - "weights": the vectors that are learned;
            - "accumulators": AdaGrad's sums of squares, and a counter for each;
            - "corpus": the encoded text; 0 where it is memory-mapped;
            - "copies": of text and weights, for `early_stopping`, `warm_start` and `n_shards`;
            - "scratch": vocabulary, order of the sentences, scratch space of a block.

            Python, its libraries and the strings of `X` are not included.

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

    def _fit(
        self,
        X: Sentences,
        y: Labels,
        groups: Labels,
        saved: Checkpoint = NO_CHECKPOINT,
        engine: EngineLike = None,
        *,
        partial: bool = False,
        new_words: str = "ignore",
    ) -> Self:
        """Learn from a text; if it is `partial`, by the one pass of `partial_fit`."""
        if not isinstance(new_words, str) or new_words not in ("append", "ignore"):
            raise ValueError(f"new_words must be one of 'append', 'ignore', got {brief(new_words)}.")
        keep = (partial or self.warm_start) and self.__sklearn_is_fitted__()
        corpus, annotations, classes = self._training_data(X, y, groups, keep)
        warn_if_unordered(self, corpus, classes)
        evidence: dict[str, Any] = {"annotations": annotations, "classes": classes}
        with explaining_memory_error(self, lambda: estimate(self, corpus, keep=keep, **evidence)):
            is_skipped = classes is not None and bool((classes == NO_CLASS).all())  # nothing to compare
            n_passes = 0 if is_skipped else 1 if partial else self._n_passes(corpus.n_tokens, classes)
            if not keep:
                state = self._start(corpus, annotations, classes, saved.seed)
            else:
                state = self._keep_vocabulary(corpus, annotations)
                if is_skipped or new_words == "ignore" or not self._appends_words(state):
                    check_kept(self, state, corpus)
                else:
                    state = learn_words(self, corpus, state)
            state = replace(state, from_labels=classes is not None)
            if saved.path is not None:
                saved.begin(state.seed, identity_of(self, corpus, annotations, state))
            options: dict[str, Any] = {"checkpoint": saved, "engine": engine, "partial": partial or is_skipped}
            learn(self, X, corpus, state, annotations, n_passes, **options)
        return self

    def _n_passes(self, n_tokens: int, classes: np.ndarray | None) -> int:
        """The passes of a fit to a text of so many words and, where it learns from them, its classes."""
        if not isinstance(self.max_iter, str):
            return int(self.max_iter)
        automatic = self._auto_passes
        return automatic.over(n_tokens) if classes is None else automatic.least  # from classes, more gained nothing

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
        if self.freeze_init and self.init is None:
            raise ValueError("freeze_init=True keeps the vectors of init, but init is None.")
        state = replace(type(self)._state, n_features_out_=length_without_source(self.n_components))
        state = self._learn_vocabulary(corpus, self._settings(state, annotations, classes))
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        state = replace(
            self._text_statistics(corpus, state),
            seed=drawn if seed is None or self.random_state is not None else seed,
            n_tokens=corpus.n_tokens,
            n_iter_=0,
            loss_curve_=[],
            validation_loss_curve_=[],
        )
        arrays = self._learned_arrays(state)
        n_frozen = state.n_frozen
        if n_frozen and all(array.update == "rows" and array.shape[0] == n_frozen for array in moving(arrays)):
            warn_at_user("Nothing is learned: freeze_init=True keeps the words of init, and the text has no others.")
        layout = layout_of_options(self, arrays, state)
        started = start_arrays(arrays, self.solver, state.seed)
        return replace(state, layout=layout, records=arrays, arrays={**state.arrays, **started}, start=None)

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: Annotations) -> FittedState:
        """The state of an earlier fit, to go on from; what training changes is copied, in case it fails."""
        state = self._state
        check_same_start(self, state)
        if corpus.tokenizer != state.tokenizer:
            raise ValueError(
                f"X was tokenized with {corpus.tokenizer.difference(state.tokenizer)}, the vocabulary with "
                f"{state.tokenizer.difference(corpus.tokenizer)}. Use the same options."
            )
        if state.layout is None:
            raise ValueError(f"This {type(self).__name__} holds vectors that it did not learn. Call fit first.")
        check_layout(self, state)
        records = self._learned_arrays(state)
        return replace(state.with_arrays(copies_of(records, state.arrays)), records=records)

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

    def _make_loop(
        self, state: FittedState, text: EncodedText, engine: EngineLike, *, partial: bool, passes_of_a_set: int
    ) -> Any:
        """What makes the passes over the text; `engine` is None but for methods that learn in shards."""
        return self._make_trainer(state, passes_of_a_set)

    def _make_trainer(self, state: FittedState, passes_of_a_set: int = 1) -> BlockLoop:
        n_threads, examples = count_threads(self.n_jobs), by_class if state.from_labels else None
        options = LoopOptions(self.solver, self.batch_size, n_threads, examples, state, passes_of_a_set)
        return self._make_objective(state).make_loop(options)
