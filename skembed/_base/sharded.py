"""Base of the estimators that can learn in shards, which several processes or machines work on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions

from .._shards.plan import SHORT_TEXT, MergeSchedule
from .._training.checkpoint import Checkpoint
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import moving
from .._training.state import FittedState
from .._training.trainer import BlockLoop
from .._validation.messages import warn_at_user
from .._validation.values import PathLike, integers
from .scikit_learn import fit_context
from .trained import TrainedVectorizer

if TYPE_CHECKING:
    from .._shards.rounds import RoundTrainer

# What learning does not need: the text itself, and functions that another process may not be able to receive.
_OF_THE_TEXT = {"corpus": None, "init": None, "analyzer": "word", "stemmer": None, "stop_words": None}
_COUNTS = "word_counts_"  # which travel with the arrays


class ShardedVectorizer(TrainedVectorizer):
    """Base of the estimators with the parameter `n_shards`."""

    _parameter_constraints: dict[str, Any] = {
        **TrainedVectorizer._parameter_constraints,
        "solver": [StrOptions({"adagrad", "sgd"})],
        "n_shards": [integers(1, 65_536), None],
    }
    n_shards: int | None = None
    _pace = MergeSchedule()

    @fit_context
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
        engine: Any = None,
    ) -> Self:
        """Learn from sentences in reading order.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order. Any iterable is read once. If the parameter `corpus` is given, `fit` learns from
            that, not from `X`.
        y : array-like of shape (n_sentences,) or (n_sentences, n_classes), default=None
            Classes, for methods with the parameter `context`; None, NaN or -1 where a sentence has none (see the notes
            of the class). Others do not use it. Beside the parameter `corpus` it belongs to `X`.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence; a change from one sentence to the next begins a new document. None means
            that all sentences are one document.
        checkpoint : str, path-like or None, default=None
            Name of a folder for the state of the fit. A fit that was killed goes on from there if it is started again
            with the same data and settings, and ends with the same bits. `n_jobs` and `engine` may differ. The folder
            stays after the fit, which then gives the same model at once; delete it when the model is saved.
        checkpoint_every : int, default=1
            Write the state after every so many passes, and after the last. With 1, and `n_shards`, it is also written
            between the rounds of a pass, at most once a minute.
        engine : {"processes"}, dask.distributed.Client or None, default=None
            Where the shards are learned, if `n_shards` is above 1. None uses this process, with `n_jobs` threads.
            "processes" starts `n_jobs` processes of one thread, never more than shards; ``n_jobs=None`` means one for
            each core, or as many as a context of joblib sets, and within a worker of joblib, as in a parallel search,
            no other process. A client uses each thread of the workers of its Dask cluster, and `n_jobs` does not count.
            Workers of Dask read a corpus that was saved, and loaded with ``mmap=True``, if all of them find it under
            its path and it has 262,144 words or more; other text is sent to them. The engine changes no bit of the
            result.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string, a table or empty, if no word is left, if options contradict each other, if a matrix of
            classes `y` holds other numbers than 0 and 1, if every two sentences share a class, if `y` has another
            length than its sentences, if a fit that goes on from labels gets none or one that goes on from the order
            gets classes, or if the weights diverge; then the estimator is as it was before. If `checkpoint` is damaged
            or of another fit. If `engine` is none of these.
        OSError
            If a checkpoint cannot be written; the one before is still there.
        MemoryError
            If there is less memory than the fit needs; says how much it needs and for which parameters.
        RuntimeError
            If the processes or workers of `engine` are lost three times in a row in one round, or if the client or its
            cluster is closed during the fit; then the estimator is as it was before.

        Warns
        -----
        UserWarning
            If a method that learns from neighbouring sentences gets `y` without `groups` or a corpus. If it learns from
            them because every class of `y` has one sentence. If `y` looks like the target of a regression (more than 20
            different whole numbers, few rows of each), or holds -1, 0 and 1. If a fit that goes on from labels skips a
            text without classes to compare. If more than half of the sentences are alone in their document, or 500 or
            more without documents are in no order. If there was nothing to predict. With `warm_start`, if few words of
            `X` are known. If `n_shards` is more than was measured to do for such a text. If there is an `engine`, but
            no `n_shards`. If a worker of Dask may compute other bits than this process, or no longer reads the corpus.
        """
        return self._fit(X, y, groups, Checkpoint(checkpoint, checkpoint_every), engine)

    def _make_loop(
        self, state: FittedState, text: EncodedText, engine: Any, *, partial: bool, passes_of_a_set: int
    ) -> BlockLoop | RoundTrainer:
        if self.n_shards in (None, 1) and engine is None:
            return self._make_trainer(state)
        from .._shards.engines import engine_of  # most fits need none of their files
        from .._shards.rounds import Job, RoundTrainer

        chosen = engine_of(engine, self.n_jobs, self.n_shards)
        if self.n_shards in (None, 1):
            warn_at_user(f"n_shards={self.n_shards} leaves nothing to an engine: one trainer learns from all text.")
            return self._make_trainer(state)
        if partial and len(text.tokens) < SHORT_TEXT:
            return self._make_trainer(state)
        self._warn_of_shards(len(text.tokens), int(self.n_shards))
        words, of_text = (
            [name for array in moving(arrays) for name in (array.name, array.accumulator)]
            for arrays in (self._learned_arrays(state), self._arrays_of_text(state, text))
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

    def _warn_of_shards(self, n_tokens: int, n_shards: int) -> None:
        """Warn if shards are smaller than was measured to be enough, or more than were tried."""
        name, most, least = type(self).__name__, self._pace.shards_of(n_tokens), self._pace.least_of_shard
        if n_shards <= most:
            return
        if n_tokens // n_shards < least:
            problem = f"leaves each shard {n_tokens // n_shards:,} words of this text. With fewer than {least:,},"
        else:
            problem = f"is more than was tried on texts as long as this: {most}, of {least:,} words or more. With more,"
        warn_at_user(
            f"n_shards={n_shards} {problem} {name} may learn clearly less than one trainer does: use at most "
            f"n_shards={most}."
        )


class TrainerFactory:
    """Makes the trainer of a task, in any process."""

    def __init__(self, vectorizer: TrainedVectorizer, n_jobs: int | None, state: FittedState) -> None:
        params = vectorizer.get_params(deep=False)
        changes = {name: value for name, value in _OF_THE_TEXT.items() if name in params}
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
