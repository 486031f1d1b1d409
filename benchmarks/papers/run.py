"""Evaluate methods, one table after the other, and keep each result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from scipy.sparse import issparse
from sklearn.metrics import mean_squared_error

from skembed.evaluation._classification import nested_classification, pair_classification, split_classification
from skembed.evaluation._pairs import embed
from skembed.evaluation._semantic import semantic_classification
from skembed.evaluation._sick import sick_relatedness, sick_scores
from skembed.evaluation._sts import sts_similarities
from skembed.evaluation._tuned_relatedness import FineTunedRelatednessRegressor
from skembed.metrics import pearson_score, spearman_score

from .candidates import Candidate, report
from .data import SEMANTIC_SETS, SENTEVAL_SETS, EvaluationData
from .store import ResultStore

N_TIMED = 16_000  # sentences


class Evaluation:
    """Runs tables for one method after the other; what the store has is not run again."""

    def __init__(
        self,
        data: EvaluationData,
        store: ResultStore,
        *,
        n_folds: int = 10,
        alphas: Sequence[float],
        n_jobs: int | None = None,
    ) -> None:
        self.data, self.store, self.n_folds, self.alphas, self.n_jobs = data, store, n_folds, alphas, n_jobs

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
            parts = (self.data.sick(name) for name in ("train", "trial", "test"))
            row = sick_relatedness(candidate.fitted(), *parts, alphas=self.alphas)
            row["pearson"], row["spearman"] = 100 * row["pearson"], 100 * row["spearman"]
            del row["set"]
            shown = f"r = {row['pearson']:.2f}, MSE {row['mse']:.3f}"
            self._add(candidate, "sick", "test, trained", shown, start, **row)
        if candidate.can_be_fine_tuned:
            self._fine_tuned(candidate)

    def _fine_tuned(self, candidate: Candidate) -> None:
        """Relatedness learned together with the vectors, from those of the method and from those that it began with."""
        for name, encoder in (("universal", candidate.fitted), ("random", candidate.from_start)):
            set_ = f"test, {name} fine-tuned"
            if not self._missing(candidate, "sick", [set_]):
                continue
            start = time.perf_counter()
            train, test = self.data.sick("train"), self.data.sick("test")
            model = FineTunedRelatednessRegressor(encoder(), grades=[1, 2, 3, 4, 5], random_state=0)
            predicted = model.fit(train.data, train.target).predict(test.data)
            values = {
                "pearson": 100 * pearson_score(test.target, predicted),
                "spearman": 100 * spearman_score(test.target, predicted),
                "mse": float(mean_squared_error(test.target, predicted)),
                "n_pairs": len(predicted),
            }
            self._add(candidate, "sick", set_, f"r = {values['pearson']:.2f}, MSE {values['mse']:.3f}", start, **values)

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

    def _training(self, candidate: Candidate) -> None:
        if not self._missing(candidate, "training", ["corpus"]):
            return
        start = time.perf_counter()
        model = candidate.fitted()
        values = {
            "seconds": candidate.seconds,
            "sentences_per_second": sentences_per_second(model, candidate.texts(N_TIMED)),
        }
        values = {name: value for name, value in values.items() if value is not None}
        shown = f"{values['sentences_per_second']:,.0f} sentences/s"
        self._add(candidate, "training", "corpus", shown, start, n_pairs=0, **values)


def sentences_per_second(model: Any, sentences: list[str]) -> float:
    """Time `transform`, with more sentences until it takes a moment."""
    n_sentences = min(250, len(sentences))
    model.transform(sentences[:n_sentences])  # compiles
    while True:
        start = time.perf_counter()
        model.transform(sentences[:n_sentences])
        seconds = time.perf_counter() - start
        if seconds > 0.2 or n_sentences == len(sentences):
            return n_sentences / seconds
        n_sentences = min(4 * n_sentences, len(sentences))
