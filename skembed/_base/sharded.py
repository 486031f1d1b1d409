"""Base of the estimators that can learn in shards, which several processes or machines work on."""

from __future__ import annotations

from typing import Any

from .._training.encoded_text import EncodedText
from .._training.engines import engine_of
from .._training.learned_arrays import moving
from .._training.rounds import Job, RoundTrainer
from .._training.trainer import BlockLoop
from .._validation.limits import integers
from .coverage import warn_at_user
from .trained import TrainedVectorizer

# What learning does not need: the text itself, and functions that another process may not be able to receive.
_OF_THE_TEXT = {"corpus": None, "init": None, "analyzer": "word", "stemmer": None, "stop_words": None}
# What it does need of the fitted attributes, beside the learned arrays.
_SHOWN = "word_counts_", "_n_tokens", "_from_labels", "_first_from_labels"


class ShardedVectorizer(TrainedVectorizer):
    """Base of the estimators with the parameter `n_shards`."""

    _parameter_constraints: dict[str, Any] = {"n_shards": [integers(1, 65_536), None]}
    n_shards: int | None = None
    _least_words = 4_000_000  # of a shard in a pass; with fewer, a method may lose more than 0.7 points of STS

    def _make_loop(self, fitted: dict[str, Any], text: EncodedText, engine: Any) -> BlockLoop | RoundTrainer:
        if self.n_shards in (None, 1):
            if engine is not None:
                warn_at_user(f"n_shards={self.n_shards} leaves nothing to an engine: one trainer learns from all text.")
            return self._make_trainer(fitted)
        n_words = len(text.tokens) // int(self.n_shards)
        if n_words < self._least_words:
            most = max(1, len(text.tokens) // self._least_words)
            warn_at_user(
                f"n_shards={self.n_shards} leaves each shard {n_words:,} words of this text. With fewer than "
                f"{self._least_words:,}, {type(self).__name__} may learn clearly less than one trainer does: use at "
                f"most n_shards={most}."
            )
        words, of_text = (
            [name for array in moving(arrays) for name in (array.name, array.accumulator)]
            for arrays in (self._learned_arrays(fitted), self._arrays_of_text(fitted, text))
        )
        shown = {name: fitted[name] for name in (*_SHOWN, *words) if name in fitted}
        job = Job(MakesTrainer(self, None if engine is None else 1), shown, words[::2], of_text[::2])
        return RoundTrainer(job, fitted, self._make_trainer(fitted), int(self.n_shards), engine_of(engine, self.n_jobs))


class MakesTrainer:
    """Makes the trainer of a task, in any process."""

    def __init__(self, vectorizer: TrainedVectorizer, n_jobs: int | None) -> None:
        params = vectorizer.get_params(deep=False)
        changes = {name: value for name, value in _OF_THE_TEXT.items() if name in params}
        self.vectorizer = type(vectorizer)(**params | changes | {"n_jobs": n_jobs or vectorizer.n_jobs})

    def __call__(self, fitted: dict[str, Any]) -> BlockLoop:
        """The trainer of some rows."""
        return self.vectorizer._make_trainer(fitted)
