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
_OF_WORDS = {"vocabulary_", "_tokenizer"}


class ShardedVectorizer(TrainedVectorizer):
    """Base of the estimators with the parameter `n_shards`."""

    _parameter_constraints: dict[str, Any] = {"n_shards": [integers(1, 65_536), None]}
    n_shards: int | None = None

    def _make_loop(self, fitted: dict[str, Any], text: EncodedText, engine: Any) -> BlockLoop | RoundTrainer:
        if self.n_shards in (None, 1):
            if engine is not None:
                warn_at_user(f"n_shards={self.n_shards} leaves nothing to an engine: one trainer learns from all text.")
            return self._make_trainer(fitted)
        shown = {name: value for name, value in fitted.items() if name not in _OF_WORDS}
        names = tuple(array.name for array in moving(self._learned_arrays(fitted)))
        of_text = tuple(array.name for array in moving(self._arrays_of_text(fitted, text)))
        job = Job(MakesTrainer(self), shown, names, of_text)
        return RoundTrainer(job, self._make_trainer(fitted), int(self.n_shards), engine_of(engine, self.n_jobs))


class MakesTrainer:
    """Makes the trainer of a task, in any process."""

    def __init__(self, vectorizer: TrainedVectorizer) -> None:
        params = vectorizer.get_params(deep=False)
        self.vectorizer = type(vectorizer)(**params | {key: v for key, v in _OF_THE_TEXT.items() if key in params})

    def __call__(self, fitted: dict[str, Any]) -> BlockLoop:
        """The trainer of some rows."""
        return self.vectorizer._make_trainer(fitted)
