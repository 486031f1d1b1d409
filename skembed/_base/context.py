"""Bases of the estimators that learn from a text, in shards or not: from its order, or from sentences of a class."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.arrays import between
from .._corpus.corpus import SentenceCorpus
from .._shards.plan import SHORT_TEXT, EngineLike, MergeSchedule
from .._text.character_ngrams import BOTH, are_ngrams
from .._text.tokenizer import Analyzer
from .._training.checkpoint import Checkpoint
from .._training.encoded_text import Annotations, EncodedText
from .._training.learned_arrays import ArrayRecord, LearnedArray, moving, start_uniform
from .._training.state import Fitted, FittedState
from .._training.trainer import BlockLoop
from .._validation.columns import Labels, Sentences, length_of
from .._validation.constraints import INT64_MAX, Constraints, integers
from .._validation.messages import warn_at_user
from .._validation.targets import ALONE, NO_CLASS, check_length, classes_in, fault_of_classes
from .._validation.values import PathLike
from .pooled import NGRAMS, PooledVectorizer, ngram_vectors_of
from .reading import EVEN, Balance, corpus_to_learn_from, has_characters, has_words_and_ngrams
from .scikit_learn import fit_context
from .trained import TrainedVectorizer

if TYPE_CHECKING:
    from .._shards.rounds import RoundTrainer


# What learning does not need: the text itself, and functions that another process may not be able to receive.
_OF_THE_TEXT = {"corpus": None, "init": None, "analyzer": "word", "stemmer": None, "stop_words": None}
_COUNTS = "word_counts_"  # which travel with the arrays


class ShardedVectorizer(TrainedVectorizer):
    """Base of the estimators with the parameter `n_shards`."""

    _parameter_constraints: Constraints = {
        **TrainedVectorizer._parameter_constraints,
        "solver": [StrOptions({"adagrad", "sgd"})],
        "n_shards": [integers(1, 65_536), None],
    }
    n_shards: int | None = None
    _pace = MergeSchedule()

    @fit_context
    def fit(
        self,
        X: Sentences,
        y: Labels = None,
        *,
        groups: Labels = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
        engine: EngineLike = None,
    ) -> Self:
        """Learn from sentences in reading order.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order, read once. If the parameter `corpus` is given, `fit` learns from that.
        y : array-like of shape (n_sentences,) or (n_sentences, n_classes), default=None
            Classes, for methods with the parameter `context`; None, NaN or -1 where a sentence has none (see the notes
            of the class).
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence; a change from one sentence to the next begins a new document. None means
            that all sentences are one document.
        checkpoint : str, path-like or None, default=None
            Name of a folder for the state of the fit. A fit that was killed goes on from there if it is started again
            with the same data and settings, and ends with the same bits. Delete the folder when the model is saved.
        checkpoint_every : int, default=1
            Write the state after every so many passes, and after the last. With 1, and `n_shards`, it is also written
            between the rounds of a pass, at most once a minute.
        engine : dask.distributed.Client or None, default=None
            Where the shards are learned, if `n_shards` is above 1: on the workers of a Dask cluster, or, with None, in
            this process with `n_jobs` threads. Workers read a saved corpus, loaded with ``mmap=True``, under its path,
            if all of them find it there; other text is sent to them. The engine changes no bit of the result.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string, a table or empty, if no word is left, if options contradict each other, if `y` does
            not fit the text or has nothing to tell apart, if the weights diverge, or if `checkpoint` is damaged or of
            another fit. The estimator is as it was before.
        OSError
            If a checkpoint cannot be written; the one before is still there.
        MemoryError
            If there is less memory than the fit needs; says how much it needs and for which parameters.
        RuntimeError
            If the workers of `engine` are lost three times in a row in one round, or its client is closed.

        Warns
        -----
        UserWarning
            If `y` may not be meant as classes, or sentences may not be in reading order: more than half of them are
            alone in their document, or 500 or more without documents are in no order. If there was nothing to predict.
            With `warm_start`, if few words of `X` are known. If `n_shards` is more than was measured to do for such a
            text. If a worker of Dask may compute other bits than this process, or no longer reads the corpus.
        """
        return self._fit(X, y, groups, Checkpoint(checkpoint, checkpoint_every), engine)

    def _make_loop(
        self, state: FittedState, text: EncodedText, engine: EngineLike, *, partial: bool, passes_of_a_set: int
    ) -> BlockLoop | RoundTrainer:
        if self.n_shards in (None, 1) and engine is None:
            return self._make_trainer(state)
        from .._shards.engines import engine_of  # most fits need none of their files
        from .._shards.rounds import Job, RoundTrainer

        chosen = engine_of(engine)
        if self.n_shards in (None, 1):
            warn_at_user(f"n_shards={self.n_shards} leaves nothing to an engine: one trainer learns from all text.")
            return self._make_trainer(state)
        if partial and len(text.tokens) < SHORT_TEXT:
            return self._make_trainer(state)
        self._pace.warn_of(type(self).__name__, len(text.tokens), int(self.n_shards))
        words, of_text = (
            [name for array in moving(arrays) for name in (array.name, array.accumulator)]
            for arrays in (state.records, self._arrays_of_text(state, text))
        )
        shown = {name: state.arrays[name] for name in words} | {_COUNTS: state.word_counts_}
        make_trainer = TrainerFactory(self, None if engine is None else 1, state)
        job = Job(
            make_trainer,
            shown,
            words[::2],
            of_text[::2],
            text.word_weight,
            n_shards=int(self.n_shards),
            pace=self._pace,
            farthest=self._pace.farthest(len(text.tokens)),
        )
        return RoundTrainer(job, state, self._make_trainer(state), chosen)


class TrainerFactory:
    """Makes the trainer of a task, in any process."""

    def __init__(self, vectorizer: TrainedVectorizer, n_jobs: int | None, state: FittedState) -> None:
        params = vectorizer.get_params(deep=False)
        changes: dict[str, Any] = {name: value for name, value in _OF_THE_TEXT.items() if name in params}
        if "ngram_range" in params:  # of words: that of characters belongs to the text
            changes["ngram_range"] = (1, vectorizer._longest_learned(state))
        self.vectorizer = type(vectorizer)(**params | changes | {"n_jobs": n_jobs or vectorizer.n_jobs})
        # What learning needs beside the arrays, which travel by themselves; no words.
        self.state = type(state)(
            n_features_out_=state.n_features_out_,
            n_tokens=state.n_tokens,
            from_labels=state.from_labels,
            first_from_labels=state.first_from_labels,
            n_frozen=state.n_frozen,
        )

    def __call__(self, arrays: dict[str, np.ndarray], seed: int) -> BlockLoop:
        """The trainer of some rows."""
        state = replace(self.state, word_counts_=arrays[_COUNTS], arrays=arrays, seed=seed)
        return self.vectorizer._make_trainer(state)


class ContextVectorizer(PooledVectorizer, ShardedVectorizer):
    """Base of the estimators that learn from what belongs together with a sentence: its order or its labels.

    An option may be "auto", which means one thing for the order and another for labels (`_automatic`).
    """

    _parameter_constraints: Constraints = {
        **ShardedVectorizer._parameter_constraints,
        **PooledVectorizer._parameter_constraints,
        **NGRAMS,
        "context": [StrOptions({"auto", "order", "labels"})],
        "window": [integers(1)],
        "negative": [integers(1)],
        "max_sentence_length": [integers(2, INT64_MAX), StrOptions({"auto"}), None],
        "interpolation": [Interval(Real, 0.0, 1.0, closed="both")],
        "freeze_init": ["boolean"],
        "word_dropout": [Interval(Real, 0.0, 1.0, closed="left")],
        "unknown": [StrOptions({"zero", "hash", "auto"})],
        "min_count": [integers(1, INT64_MAX), StrOptions({"auto"})],
        "weighting": [StrOptions({"idf", "sif", "auto"}), None],
        "analyzer": [StrOptions({"auto", "word", "char", "char_wb", "word+char_wb"}), callable],
    }
    _needs_order = True
    _automatic: dict[str, tuple[object, object]] = {
        "min_count": (5, 1),
        "unknown": ("hash", "zero"),
        "weighting": (None, None),
    }
    _automatic_for_characters = {"unknown": ("zero", "zero"), "weighting": (None, "idf")}
    context: str = "auto"
    _joins_words_beside_characters = True
    window: int = 1
    interpolation: float = 1.0
    ngram_vectors_ = Fitted[NDArray[np.float32]](ngram_vectors_of)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.context == "labels"
        return tags

    def _option(self, name: str, state: FittedState | None = None) -> Any:
        """Value of a parameter; "auto" means what it did in the first fit, also in a later one that continues it."""
        value = getattr(self, name)
        if name not in self._automatic or not isinstance(value, str) or value != "auto":
            return super()._option(name, state)
        state = self._state if state is None else state
        of_characters = name in self._automatic_for_characters and has_characters(state)
        automatic = self._automatic_for_characters if of_characters else self._automatic
        return automatic[name][bool(state.first_from_labels)]

    def _automatic_analyzer(self, classes: np.ndarray | None, keep: bool) -> Analyzer:
        """What "auto" stands for: from labels words and n-grams of characters, unless an option is for words alone."""
        if keep:
            return self._state.tokenizer.analyzer
        of_words = self.token_pattern, self.stop_words, self.stemmer, getattr(self, "init", None)
        if classes is None or self._longest_word_ngram > 1 or any(option is not None for option in of_words):
            return "word"
        return BOTH

    def _check_parameters(self) -> None:
        """Check also that a block can hold more than a sentence and its neighbours."""
        super()._check_parameters()
        if not isinstance(self.batch_size, str):
            smallest = 2 * int(self.window) + 2
            if self.batch_size < smallest:
                raise ValueError(
                    f"batch_size={self.batch_size} is too small for window={self.window}: the random "
                    f"sentences come from the same block. Use at least {smallest}."
                )

    def _training_data(
        self, X: Sentences, y: Labels, groups: Labels, keep: bool = False
    ) -> tuple[SentenceCorpus, Annotations, np.ndarray | None]:
        """Leave out sentences without a class; beside the parameter `corpus`, `y` belongs to X."""
        classes = self._classes_of(y, groups, keep)
        of_text, without_order = self._automatic_analyzer(classes, keep), y if classes is None else None
        corpus = corpus_to_learn_from(self, X, groups, without_order, of_text)
        if y is not None:
            n_rows, text = (corpus.n_sentences, "the text") if self.corpus is None else (length_of(X), "X")
            check_length(y, n_rows, text)
        annotations = () if classes is None else (classes,)
        if classes is not None and not (has_class := (classes != NO_CLASS).any(axis=1)).all() and has_class.any():
            # Words that no labelled sentence has would stay at their random start, which is noise for a classifier.
            corpus, classes = corpus[has_class], classes[has_class]
            annotations = (classes,)
        return corpus, annotations, classes

    def _classes_of(self, y: Labels, groups: Labels, keep: bool) -> np.ndarray | None:
        """The classes of each sentence, (n_sentences, n_most) int64, or None if it does not learn from labels."""
        who = self._learner_of_labels(keep)
        if who:
            if y is None:
                raise ValueError(f"{who} learns from classes y, but y is None. Pass y, or context='order'.")
            if self.corpus is not None:
                raise ValueError(f"{who} learns from X and y. Leave corpus=None, or use context='order'.")
        elif self.context == "order" or y is None or groups is not None or self.corpus is not None:
            return None
        classes = classes_in(y, who, keep)
        if classes is not None:
            classes = self._checked_classes(classes, keep)
        if classes is not None and keep and not who:
            raise ValueError(
                f"y holds classes, but this {type(self).__name__} was first fitted to the order of sentences. Pass "
                "context='labels' to go on from classes, or context='order' to go on from the order."
            )
        return classes

    def _learner_of_labels(self, keep: bool) -> str:
        """What asks for labels, as an error calls it: `context`, or the first fit if "auto" goes on; else ""."""
        if self.context == "auto" and keep and self._state.first_from_labels:
            return f"This {type(self).__name__}, first fitted to labels,"
        return "context='labels'" if self.context == "labels" else ""

    def _checked_classes(self, classes: np.ndarray, keep: bool) -> np.ndarray | None:
        """Classes with something to tell apart; None means to learn from the order, NO_CLASS to skip a later text."""
        fault = fault_of_classes(classes)
        if not fault:
            return np.ascontiguousarray(classes, np.int64)
        if keep and self._learner_of_labels(keep):
            warn_at_user(
                f"{type(self).__name__} skips this text and learns nothing from it, since {fault}. Pass larger parts, "
                "with two sentences of some class and other classes beside it."
            )
            return np.full((len(classes), 1), NO_CLASS)
        if fault != ALONE:
            raise ValueError(
                f"{fault}, so there is nothing to tell apart. Pass sentences of two classes or more, or "
                "context='order' to learn from the order of the sentences."
            )
        if self.context == "labels":
            raise ValueError(f"context='labels' compares a sentence with others of its class, but {ALONE}.")
        warn_at_user(  # targets of a regression: each value occurs once
            f"{ALONE.capitalize()}, so context='auto' learns from the order of the sentences, as for the target of a "
            "regression. To learn from classes, pass several sentences of one class."
        )
        return None

    def _settings(self, state: FittedState, annotations: Annotations, classes: np.ndarray | None) -> FittedState:
        return replace(state, first_from_labels=classes is not None)

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: Annotations) -> FittedState:
        state = super()._keep_vocabulary(corpus, annotations)
        if self.interpolation < 1 and "_start_vectors" not in state.arrays:
            raise ValueError(
                f"interpolation={self.interpolation} needs the start, which a fit with interpolation=1 does not keep. "
                "Fit a new estimator, or set warm_start=False and call fit."
            )
        return state

    def _balance(
        self, corpus: SentenceCorpus, state: FittedState, weights: np.ndarray, frequencies: np.ndarray | None
    ) -> Balance:
        """From labels, words and n-grams of characters share the weight: a sentence has many times as many n-grams."""
        if not state.first_from_labels or not has_words_and_ngrams(corpus.tokenizer):
            return EVEN
        if state.ngram_weight is not None:
            return Balance.of(state)
        counts = corpus.vocabulary.look_up(corpus.vocabulary.counts, state.vocabulary_)
        if frequencies is None:
            frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), state.vocabulary_)
        return Balance.between(are_ngrams(state.vocabulary_), weights, counts, frequencies)

    def _arrays_from(self, state: FittedState, limit: float) -> list[LearnedArray]:
        """The learned rows, which start between minus and plus the limit, and with `interpolation` their start."""
        if state.first_from_labels:
            # Length about one: few labels or many classes leave most words near their start, where they must differ.
            limit = (3 / state.n_features_out_) ** 0.5
        start = start_uniform(limit, len(state.word_counts_), own_seed=state.seed)
        source = self._source_array(state, self._start_of_words(state, start))
        keeps_start = "_start_vectors" in state.arrays if state.arrays else self.interpolation < 1
        return [source, source._replace(name="_start_vectors", frozen=True, kept=False)] if keeps_start else [source]

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        name = "_interpolated_vectors"
        if name not in state.arrays:
            return []
        return [ArrayRecord(name, self._learned_arrays(state)[0].shape, axis_of_words=0)]

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        return arrays[:1] if self.interpolation < 1 else []

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        share, name = float(self.interpolation), "_interpolated_vectors"
        if share < 1:
            start, source = state.arrays["_start_vectors"], state.arrays["_source_vectors"]
            state = state.with_arrays({name: between(start, source, share)})
        elif name in state.arrays:  # of an earlier fit
            state = replace(state, arrays={key: array for key, array in state.arrays.items() if key != name})
        return super()._finish_fit(state, corpus)
