"""The models of a run: methods by name, and saved models."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib

from skembed._validation.messages import brief
from skembed._validation.values import user_path

from .methods import ALL, METHODS, fit_to_corpus
from .sources import Sources

MODEL_SUFFIXES = (".joblib", ".pkl", ".pickle")


class Candidate:
    """A method by name, or a saved model; learned or loaded when a result first needs it."""

    def __init__(self, name: str, sources: Sources, seed: int, n_jobs: int | None) -> None:
        self._sources, self._seed, self._n_jobs = sources, seed, n_jobs
        self._fitted: Any = None
        self._made_with = ""
        self.seconds: float | None = None  # that learning took
        if name in METHODS:
            self.name, self.path = name, None
            self.tables = METHODS[name].tables
        elif Path(name).suffix in MODEL_SUFFIXES:
            self.path = user_path(name)
            if not self.path.is_file():
                raise FileNotFoundError(f"There is no saved model {self.path}.")
            self.name, self.tables = self.path.stem, ALL
        else:
            raise ValueError(
                f"{brief(name)} is neither a method nor the path of a saved model ({', '.join(MODEL_SUFFIXES)}). "
                "Methods: " + "; ".join(METHODS)
            )

    def made_with(self) -> str:
        """Say what the results depend on: the parameters, or the content of the file."""
        self._made_with = self._made_with or self._describe()
        return self._made_with

    def _describe(self) -> str:
        if self.path is not None:
            return f"file sha256 {hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]}"
        method, in_fold = METHODS[self.name], self.in_fold()
        described = call_of(self.unfitted())
        if in_fold is not None:
            described += f"; in folds {call_of(in_fold)}"
        if method.pairs:
            digests = (
                f"{kind} {pairs.sentences.digest[:16]}"
                for kind, pairs in zip(method.pairs, self._sources.pairs_for(method))
            )
            described += f"; {', '.join(digests)}"
        elif method.is_slow:
            described += f"; {self._sources.corpus_for(method).n_tokens} words"
        return described

    def unfitted(self) -> Any:
        """Make the estimator that learns from the corpus."""
        return self._made(METHODS[self.name].make)

    def in_fold(self) -> Any:
        """Make the estimator that learns from the training folds of a classification task, if there is one."""
        make = METHODS[self.name].make_in_fold if self.path is None else None
        return None if make is None else self._made(make)

    def _made(self, make: Callable[..., Any]) -> Any:
        return make(self._sources.corpus_for(METHODS[self.name]), self._seed, self._n_jobs)

    def fitted(self) -> Any:
        """Learn from the corpus, or load."""
        if self._fitted is None:
            self._fitted = self._learned() if self.path is None else self._loaded(self.path)
        return self._fitted

    def _learned(self) -> Any:
        method, model = METHODS[self.name], self.from_start()
        corpus, pairs = self._sources.corpus_for(method), self._sources.pairs_for(method)
        start = time.perf_counter()
        model = model.fit(pairs) if pairs else fit_to_corpus(model, corpus)
        self.seconds = time.perf_counter() - start
        report(f"{self.name}: learned in {self.seconds:.1f} s")
        return model

    @property
    def can_be_fine_tuned(self) -> bool:
        """Whether a head can go on training the vectors."""
        return self.path is None and METHODS[self.name].pairs[-1:] == ("sentences",)

    def from_start(self) -> Any:
        """Make the estimator, with the word vectors that it begins with."""
        model = self.unfitted()
        if METHODS[self.name].from_words:
            model.set_params(init=self._sources.start(self._seed, self._n_jobs))
        return model

    def _loaded(self, path: Path) -> Any:
        try:
            model = joblib.load(path)
        except Exception as error:  # a file that is no pickle may raise anything
            raise ValueError(f"{path} cannot be loaded as a model: {error}") from error
        if not callable(getattr(model, "transform", None)):
            raise ValueError(f"{path} holds a {type(model).__name__}, which has no transform.")
        report(f"{self.name}: loaded")
        return model

    def for_classification(self) -> Any:
        """Give the model for a classification task: not fitted, if it is to learn from the training folds."""
        in_fold = self.in_fold()
        return self.fitted() if in_fold is None else in_fold

    def fewer(self) -> str:
        """Say what the method learns from, if that is less than others; else nothing."""
        return "" if self.path is not None else self._sources.fewer(METHODS[self.name])

    def texts(self, n_sentences: int) -> list[str]:
        """Return the first sentences of the run's text, for timings."""
        return list(map(" ".join, self._sources.corpus()[:n_sentences]))

    def forget(self) -> None:
        """Let go of the model, which may be large."""
        self._fitted = None


def call_of(model: Any) -> str:
    """Name an estimator with all parameters that its results depend on; a pipeline by its steps."""
    if steps := getattr(model, "steps", None):
        return ", then ".join(call_of(step) for _, step in steps)
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "n_jobs"}
    if hasattr(parameters.get("estimator"), "get_params"):
        parameters["estimator"] = call_of(parameters["estimator"])
    return f"{type(model).__name__}({', '.join(f'{name}={value!r}' for name, value in sorted(parameters.items()))})"


def report(line: str) -> None:
    """Print a line of progress; ignore a closed standard error."""
    with suppress(OSError, ValueError):  # a closed pipe, a closed file
        print(line, file=sys.stderr, flush=True)
