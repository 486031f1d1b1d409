"""Base of the estimators that learn by gradient descent: `fit` and `partial_fit`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.gather import renumber
from .._compiled.threads import count_threads
from .._corpus.corpus import SentenceCorpus
from .._text.vocabulary import begins_with
from .._training.checkpoint import Checkpoint, LearningState
from .._training.dense import DenseObjective, DenseTrainer
from .._training.encoded_text import EncodedText, most_words_whole, split_long_sentences
from .._training.examples import Examples, in_order, without_classes
from .._training.learned_arrays import LearnedArray, copies_of, moving, start_arrays
from .._training.memory import estimate, explaining_memory_error
from .._training.passes import AutoPasses, passes_of
from .._training.progress import PassTasks, Progress
from .._training.spare_arrays import SpareArrays
from .._training.stopping import EarlyStopping, hold_out
from .._training.trainer import HELD_OUT_PASS, BlockLoop, Objective, Trainer
from .._validation.limits import INT64_MAX, integers, is_set
from .._validation.paths import PathLike
from .._validation.targets import check_length
from .coverage import check_kept
from .embedding import EmbeddingVectorizer
from .fit_identity import identity_of
from .growth import check_new_words, learn_words
from .layout import LayoutMixin
from .memory import MemoryEstimateMixin
from .outcome import check_finite, copied, warn_of_nothing
from .reading_order import warn_if_unordered
from .scikit_learn import CallbackSupportMixin, fit_context
from .sharing import side_state
from .state import check_rows, check_to_learn_on, check_types
from .waiting import waiting_after

NO_CHECKPOINT = Checkpoint(None)


class TrainedVectorizer(CallbackSupportMixin, MemoryEstimateMixin, LayoutMixin, EmbeddingVectorizer):
    """Base of the estimators that learn arrays by gradient descent.

    Knows nothing of how a sentence becomes a vector. A method adds `_learned_arrays` and `_make_objective`, and
    `_needs_order` if it learns from neighbouring sentences. A method whose sentence is a sum of rows derives from
    `PooledVectorizer` first, and from this class.
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [integers(1)],
        "solver": [StrOptions({"adagrad", "sgd"})],
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
    n_components: int = 100
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
    random_state: Any = None
    verbose: int = 0
    loss_curve_: list[float]
    validation_loss_curve_: list[float]
    n_iter_: int

    @fit_context
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
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
    def partial_fit(self, X: Any, y: Any = None, *, groups: Any = None, new_words: str = "append") -> Self:
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
        check_new_words(new_words)
        keep = hasattr(self, "vocabulary_")
        corpus, annotations, classes = self._training_data(X, y, groups, keep)
        warn_if_unordered(self, corpus, classes)
        evidence: dict[str, Any] = {"annotations": annotations, "classes": classes}
        with explaining_memory_error(self, lambda: estimate(self, corpus, keep=keep, **evidence)):
            if keep:
                side_state(self).spares = side_state(self).spares or SpareArrays()
            fitted = self._keep_vocabulary(corpus, annotations) if keep else self._start(corpus, annotations, classes)
            if keep:
                fitted |= learn_words(self, corpus, fitted, "ignore" if without_classes(classes) else new_words)
            fitted["_from_labels"] = classes is not None
            n_passes = 0 if without_classes(classes) else 1
            self._train(corpus, fitted, X=X, n_passes=n_passes, annotations=annotations, partial=True)
        return self

    def _fit(self, X: Any, y: Any, groups: Any, saved: Checkpoint, engine: Any = None) -> Self:
        keep = is_set(self, "warm_start") and hasattr(self, "vocabulary_")
        corpus, annotations, classes = self._training_data(X, y, groups, keep)
        warn_if_unordered(self, corpus, classes)
        evidence: dict[str, Any] = {"annotations": annotations, "classes": classes}
        with explaining_memory_error(self, lambda: estimate(self, corpus, keep=keep, **evidence)):
            if keep:
                side_state(self).spares = None
                fitted = self._keep_vocabulary(corpus, annotations)
                check_kept(self, corpus)
            else:
                fitted = self._start(corpus, annotations, classes, saved.seed)
            fitted["_from_labels"] = classes is not None
            if saved.path is not None:
                saved.begin(fitted["_seed"], identity_of(self, corpus, annotations, fitted))
            options: dict[str, Any] = {"annotations": annotations, "checkpoint": saved, "engine": engine}
            n_passes = passes_of(self, corpus.n_tokens, classes)
            self._train(corpus, fitted, X=X, n_passes=n_passes, partial=n_passes == 0, **options)
        return self

    def _learned_arrays(self, fitted: dict[str, Any]) -> list[LearnedArray]:
        """A record of each array that is learned; `fitted` already has `word_counts_`."""
        raise TypeError(f"{type(self).__name__} does not say which arrays it learns.")

    def _arrays_of_text(self, fitted: dict[str, Any], text: EncodedText) -> list[LearnedArray]:
        """A record of each array that has a row for each sentence of the text, and lives as long as a fit."""
        return []

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        """The arrays of which the fitted estimator also has a changed copy."""
        return []

    def _make_objective(self, fitted: dict[str, Any]) -> Objective | DenseObjective:
        raise TypeError(f"{type(self).__name__} does not say what it learns.")

    def _sentence_targets(self, corpus: SentenceCorpus, y: Any) -> tuple[np.ndarray, ...]:
        """Arrays with a value for each sentence, such as labels, which the objective gets with the text."""
        return ()

    def _classes_of(self, y: Any, groups: Any, keep: bool) -> np.ndarray | None:
        """The classes of each sentence, (n_sentences, n_most) int64, or None to learn without them.

        With ``keep`` the fit goes on from an earlier one; then no sentence may have a class, so that it is skipped.
        """
        return None

    def _training_data(
        self, X: Any, y: Any, groups: Any, keep: bool = False
    ) -> tuple[SentenceCorpus, tuple[np.ndarray, ...], np.ndarray | None]:
        """The text to learn from, arrays with a value for each of its sentences, and their classes, if any."""
        classes = self._classes_of(y, groups, keep)
        of_text = self._automatic_analyzer(classes, keep)
        corpus = self._corpus_to_learn_from(X, groups, y if classes is None else None, of_text)
        annotations = self._sentence_targets(corpus, y) if classes is None else (classes,)
        for values in annotations:
            check_length(values, corpus.n_sentences, "the text")
        return corpus, annotations, classes

    def _settings(self, annotations: tuple[np.ndarray, ...], classes: np.ndarray | None) -> dict[str, Any]:
        """Fitted attributes that follow from what `y` says, such as what options of "auto" stand for."""
        return {}

    def _start(self, corpus: SentenceCorpus, annotations: Any, classes: Any, seed: int | None = None) -> dict[str, Any]:
        """Fitted attributes before the first pass. Without a `random_state`, `seed` is that of a fit that goes on."""
        side_state(self).spares = None
        fitted = {"n_features_out_": self._option("n_components", {})} | self._settings(annotations, classes)
        fitted |= self._learn_vocabulary(corpus, fitted)
        fitted |= self._text_statistics(corpus, fitted)
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        fitted["_seed"] = drawn if seed is None or self.random_state is not None else seed
        fitted["_n_tokens"] = corpus.n_tokens
        n_learned = len(corpus.vocabulary.prune(self._option("min_count", fitted), self.max_features))
        fitted["_waiting"] = waiting_after(corpus, n_learned, fitted["vocabulary_"])
        arrays = self._learned_arrays(fitted)
        fitted["_layout"] = self._layout_of_options(arrays, fitted)
        fitted |= {"loss_curve_": [], "validation_loss_curve_": [], "n_iter_": 0}
        return fitted | start_arrays(arrays, self.solver, fitted["_seed"])

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: tuple[np.ndarray, ...]) -> dict[str, Any]:
        """Fitted attributes of an earlier fit, to go on from; what training changes is copied, in case it fails."""
        check_types(vars(self))
        if corpus.tokenizer != self._tokenizer:
            raise ValueError(
                f"X was tokenized with {corpus.tokenizer.difference(self._tokenizer)}, the vocabulary with "
                f"{self._tokenizer.difference(corpus.tokenizer)}. Use the same options."
            )
        if not hasattr(self, "_layout"):
            raise ValueError(f"This {type(self).__name__} holds vectors that it did not learn. Call fit first.")
        self._check_layout()
        names = self._fitted_names()
        fitted = {name: value for name, value in vars(self).items() if name in names}
        spares = side_state(self).spares
        makers = () if spares is None else (spares.copy, spares.share)
        copies = copies_of(self._learned_arrays(fitted), self.solver, fitted, *makers)
        check_to_learn_on(fitted, len(self._weights_in_training(fitted)))
        return fitted | copies

    def _weights_in_training(self, fitted: dict[str, Any]) -> np.ndarray:
        """Weight of each word of the vocabulary in its sentence, (n_words,) float32."""
        return np.ones(len(fitted["word_counts_"]), np.float32)

    def _encode_text(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], annotations: tuple[np.ndarray, ...] = ()
    ) -> EncodedText:
        """The corpus for the objective, in word ids of the vocabulary."""
        weights = self._weights_in_training(fitted)
        tokens, words, vocabulary = np.asarray(corpus.tokens), corpus.vocabulary.words, fitted["vocabulary_"]
        if not begins_with(words, vocabulary):  # not the corpus that the vocabulary comes from
            ids = check_rows((vocabulary.get(word, -1) for word in words), len(words), len(vocabulary))
            tokens = tokens.copy()
            renumber(tokens, np.where(ids < 0, len(vocabulary), ids).astype(np.int32), tokens)
            tokens.flags.writeable = False
        text = EncodedText(tokens, np.asarray(corpus.sent_ptr), corpus.doc_of(), weights, annotations)
        return split_long_sentences(text, most_words_whole(self, corpus.tokenizer))

    def _encode_texts(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], annotations: tuple[np.ndarray, ...], *, partial: bool
    ) -> tuple[EncodedText, EncodedText | None]:
        """The text to learn from and, with early stopping, the held-out text."""
        if not is_set(self, "early_stopping") or partial:
            return self._encode_text(corpus, fitted, annotations), None
        held = self._held_out(corpus, fitted, annotations)
        # One after the other: the copy of the first is freed once it is encoded.
        held_out, text = (
            self._encode_text(corpus[which], fitted, tuple(values[which] for values in annotations))
            for which in (held, ~held)
        )
        return text, held_out

    def _held_out(self, corpus: SentenceCorpus, fitted: dict[str, Any], annotations: Any) -> np.ndarray:
        """Which sentences are held out."""
        classes = annotations[0] if fitted.get("_from_labels") else None
        return hold_out(corpus, self.validation_fraction, fitted["_seed"], classes)

    def _train(
        self,
        corpus: SentenceCorpus,
        fitted: dict[str, Any],
        *,
        X: Any,
        n_passes: int,
        annotations: tuple[np.ndarray, ...] = (),
        partial: bool = False,
        checkpoint: Checkpoint = NO_CHECKPOINT,
        engine: Any = None,
        n_sets: int = 1,
    ) -> None:
        """Run the passes; the estimator changes only if all of them succeed.

        Each of the `n_sets` sets of the text has an equal part of the passes. A set that stops early leaves out its
        other passes.
        """
        text, held_out = self._encode_texts(corpus, fitted, annotations, partial=partial)
        arrays, of_text = self._learned_arrays(fitted), self._arrays_of_text(fitted, text)
        fitted |= start_arrays(of_text, self.solver, fitted["_seed"] + len(arrays))
        weights = [fitted[array.name] for array in moving(arrays + of_text)]
        stopping = EarlyStopping(weights, self.tol, self.n_iter_no_change)
        tasks = PassTasks(self, X, 0 if partial else n_passes)
        trainer = self._make_loop(fitted, text, engine, partial=partial)
        spares, moved = side_state(self).spares, None if isinstance(trainer, Trainer) else trainer.moved
        trainer.compile(text)
        state = LearningState(fitted, arrays + of_text, stopping)
        first_pass, of_a_set = fitted["n_iter_"], n_passes // n_sets
        epoch, is_finished, part = state.restore(checkpoint, n_passes)  # last: a step of nothing counts for Adam
        losses, validation = list(fitted["loss_curve_"]), list(fitted["validation_loss_curve_"])
        fitted |= {"loss_curve_": losses, "validation_loss_curve_": validation}
        progress = Progress(type(self).__name__, self.verbose, n_passes, len(text.tokens), epoch)
        trainer.resume(part, lambda part: state.write(checkpoint, progress.epoch, is_last=False, part=part))
        while epoch < n_passes and not is_finished:
            tasks.begin_pass()
            progress.begin(epoch)
            falls = self.solver != "adagrad" and not partial  # the papers' linear decay to zero
            rates = tuple(self.learning_rate * (1 - falls * done / n_passes) for done in (epoch, epoch + 1))
            if spares is not None:
                spares.watch(arrays, fitted, moved)
            losses.append(trainer.run_pass(text, first_pass + epoch, rates=rates, on_call=progress.advance))
            check_finite(self, weights if spares is None else spares.note(weights, moved), losses[-1], epoch)
            fitted["n_iter_"] += 1
            stopped = False
            if held_out is not None:
                # The same sentences against the same negatives every time, and nothing is learned.
                validation.append(trainer.run_pass(held_out, HELD_OUT_PASS + epoch // of_a_set, rates=None))
                stopped = validation[-1] > 0 and stopping.should_stop(validation[-1])
            progress.end(losses[-1], validation[-1] if held_out is not None else None)
            is_finished = tasks.end_pass(lambda: self._finish_fit(copied(fitted), corpus))
            epoch += of_a_set - epoch % of_a_set if stopped else 1
            is_finished |= epoch == n_passes
            if epoch % of_a_set == 0 and not is_finished:
                self._warn_of_nothing(losses, validation)
                stopping.begin_set()
            state.write(checkpoint, epoch, is_last=is_finished)
        self._warn_of_nothing(losses, validation)
        stopping.restore_best()
        final = self._finish_fit(fitted, corpus)
        self._commit(final)
        if spares is not None:
            spares.keep()
        tasks.end(lambda: final)

    def _warn_of_nothing(self, losses: list[float], validation: list[float]) -> None:
        warn_of_nothing(type(self).__name__, losses, validation)

    def _make_loop(self, fitted: dict[str, Any], text: EncodedText, engine: Any, *, partial: bool) -> Any:
        """What makes the passes over the text; `engine` is None but for methods that learn in shards."""
        return self._make_trainer(fitted)

    def _make_trainer(self, fitted: dict[str, Any]) -> BlockLoop:
        objective = self._make_objective(fitted)
        options = self.solver, self.batch_size, fitted["_seed"], count_threads(self.n_jobs)
        examples = self._examples(fitted)
        if isinstance(objective, DenseObjective):
            arrays = self._learned_arrays(fitted)
            return DenseTrainer(objective, *options, examples=examples, arrays=arrays, fitted=fitted)
        return Trainer(objective, *options, examples=examples)

    def _examples(self, fitted: dict[str, Any]) -> Examples:
        """What belongs together in a pass."""
        return in_order
