"""Evaluate methods, one table after the other, and keep each result."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
from scipy.sparse import issparse

from .._corpus.corpus import SentenceCorpus
from .._validation.messages import brief
from .._validation.paths import user_path
from ..metrics import pearson_score, spearman_score
from ._classification import nested_classification, pair_classification, split_classification
from ._data import SEMANTIC_SETS, SENTEVAL_SETS, EvaluationData
from ._methods import ALL, METHODS, learn
from ._pairs import embed
from ._semantic import semantic_classification
from ._sick import sick_relatedness, sick_scores
from ._store import ResultStore
from ._sts import sts_similarities

MODEL_SUFFIXES = (".joblib", ".pkl", ".pickle")


class Candidate:
    """A method by name, or a saved model; learned or loaded when a result first needs it."""

    def __init__(self, name: str, corpus: Callable[[], SentenceCorpus], seed: int, n_jobs: int | None) -> None:
        self._corpus, self._seed, self._n_jobs = corpus, seed, n_jobs
        self._fitted: Any = None
        self._made_with = ""
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
        in_fold = self.in_fold()
        return call_of(self.unfitted()) + ("" if in_fold is None else f"; in folds {call_of(in_fold)}")

    def unfitted(self) -> Any:
        """Make the estimator that learns from the corpus."""
        return METHODS[self.name].make(self._corpus(), self._seed, self._n_jobs)

    def in_fold(self) -> Any:
        """Make the estimator that learns from the training folds of a classification task, if there is one."""
        make = METHODS[self.name].make_in_fold if self.path is None else None
        return None if make is None else make(self._corpus(), self._seed, self._n_jobs)

    def fitted(self) -> Any:
        """Learn from the corpus, or load."""
        if self._fitted is None:
            start = time.perf_counter()
            if self.path is None:
                self._fitted = learn(self.unfitted(), self._corpus())
            else:
                try:
                    self._fitted = joblib.load(self.path)
                except Exception as error:  # a file that is no pickle may raise anything
                    raise ValueError(f"{self.path} cannot be loaded as a model: {error}") from error
                if not callable(getattr(self._fitted, "transform", None)):
                    raise ValueError(f"{self.path} holds a {type(self._fitted).__name__}, which has no transform.")
            verb = "learned" if self.path is None else "loaded"
            report(f"{self.name}: {verb} in {time.perf_counter() - start:.1f} s")
        return self._fitted

    def for_classification(self) -> Any:
        """Give the model for a classification task: not fitted, if it is to learn from the training folds."""
        in_fold = self.in_fold()
        return self.fitted() if in_fold is None else in_fold

    def forget(self) -> None:
        """Let go of the model, which may be large."""
        self._fitted = None


def call_of(model: Any) -> str:
    """Name an estimator with all parameters that its results depend on."""
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "n_jobs"}
    if isinstance(parameters.get("word_vectors"), dict):
        parameters["word_vectors"] = f"{len(parameters['word_vectors'])} random vectors"
    return f"{type(model).__name__}({', '.join(f'{name}={value!r}' for name, value in sorted(parameters.items()))})"


def report(line: str) -> None:
    """Print a line of progress; ignore a closed standard error."""
    with suppress(OSError, ValueError):  # a closed pipe, a closed file
        print(line, file=sys.stderr, flush=True)


class Evaluation:
    """Runs tables for one method after the other; what the store has is not run again."""

    def __init__(
        self, data: EvaluationData, store: ResultStore, *, n_folds: int = 10, n_jobs: int | None = None
    ) -> None:
        self.data, self.store, self.n_folds, self.n_jobs = data, store, n_folds, n_jobs

    def run(self, candidate: Candidate, table: str) -> None:
        """Fill the rows of one method in one table."""
        getattr(self, f"_{table}")(candidate)

    def _missing(self, candidate: Candidate, table: str, sets: list[str]) -> bool:
        made_with = candidate.made_with()
        return any(self.store.get(candidate.name, table, name, made_with) is None for name in sets)

    def _add(self, candidate: Candidate, table: str, name: str, shown: str, start: float, **values: Any) -> None:
        self.store.add(candidate.name, table, name, candidate.made_with(), **values)
        report(f"{candidate.name}: {table} {name} {shown} ({time.perf_counter() - start:.1f} s)")

    def _sts(self, candidate: Candidate) -> None:
        for year in self.data.years():
            pairs = self.data.sts(year)
            if not self._missing(candidate, "sts", [f"{year}/{name}" for name in pairs.subset_names]):
                continue
            start = time.perf_counter()
            for found in sts_similarities(candidate.fitted(), {year: pairs}):
                if self._missing(candidate, "sts", [f"{year}/{found.set}"]):
                    values = {
                        "pearson": 100 * pearson_score(found.target, found.cosine),
                        "spearman": 100 * spearman_score(found.target, found.cosine),
                        "n_pairs": len(found.target),
                        "n_unknown": found.n_unknown,
                        "cosine": found.cosine.tolist(),
                    }
                    self._add(candidate, "sts", f"{year}/{found.set}", f"r = {values['pearson']:.2f}", start, **values)

    def _sick(self, candidate: Candidate) -> None:
        names = ["trial", "train", "test"]
        if self._missing(candidate, "sick", [*names, "test + train"]):
            start = time.perf_counter()
            sets = {name: self.data.sick(name) for name in names}  # before a model is fitted, as they may be missing
            for row in sick_scores(candidate.fitted(), **sets):
                if self._missing(candidate, "sick", [row["set"]]):
                    row["pearson"], row["spearman"] = 100 * row["pearson"], 100 * row["spearman"]
                    name = row.pop("set")
                    self._add(candidate, "sick", name, f"r = {row['pearson']:.2f}", start, **row)
        if self._missing(candidate, "sick", ["test, trained"]):
            start = time.perf_counter()
            if issparse(embed(candidate.fitted(), self.data.sick("trial").data[0])):
                # One column per word is too wide for a layer of 50 units. Stored, so that no later run tries it again.
                return self._add(candidate, "sick", "test, trained", "skipped: sparse rows", start, skipped=True)
            row = sick_relatedness(candidate.fitted(), *(self.data.sick(name) for name in ("train", "trial", "test")))
            row["pearson"], row["spearman"] = 100 * row["pearson"], 100 * row["spearman"]
            del row["set"]
            shown = f"r = {row['pearson']:.2f}, MSE {row['mse']:.3f}"
            self._add(candidate, "sick", "test, trained", shown, start, **row)

    def _senteval(self, candidate: Candidate) -> None:
        options: dict[str, Any] = {"inner_cv": self.n_folds, "n_jobs": self.n_jobs}
        for name in (*SENTEVAL_SETS, "TREC", "MSRP"):
            if not self._missing(candidate, "senteval", [name]):
                continue
            start = time.perf_counter()
            if name in SENTEVAL_SETS:
                part = self.data.senteval(name)
                n = len(part.data)
                model = candidate.for_classification()
                result = nested_classification(model, part.data, part.target, cv=self.n_folds, **options)
            else:
                read, classify = {
                    "TREC": (self.data.trec, split_classification),
                    "MSRP": (self.data.msrp, pair_classification),
                }[name]
                train, test = read("train"), read("test")
                n = len(test.data)
                result = classify(candidate.for_classification(), train, test, **options)
            values = {"accuracy": 100 * result.accuracy, "f1": 100 * result.f1, "n_pairs": n, "C": result.C}
            self._add(candidate, "senteval", name, f"{values['accuracy']:.2f} %", start, **values)

    def _semantic(self, candidate: Candidate) -> None:
        for name in SEMANTIC_SETS:
            if not self._missing(candidate, "semantic", [name]):
                continue
            start = time.perf_counter()
            groups = self.data.semantic(name)
            result = semantic_classification(candidate.for_classification(), groups.data, groups.target)
            values = {
                "accuracy": 100 * result.accuracy,
                "fold_accuracies": (100 * result.fold_accuracies).tolist(),
                "n_pairs": len(groups.data),
                "predictions": result.predictions.tolist(),
            }
            self._add(candidate, "semantic", name, f"{values['accuracy']:.2f} %", start, **values)
