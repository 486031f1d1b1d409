"""From the stored results of a run to its printed tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._validation.paths import naming
from ._data import SEMANTIC_SETS, EvaluationData
from ._semantic import error_agreement
from ._store import ResultStore
from ._sts import sts_comparison, sts_ranking
from ._tables import (
    SEMANTIC_COLUMNS,
    SENTEVAL_COLUMNS,
    SICK_COLUMNS,
    by_method,
    by_set,
    markdown,
    published_results,
    tidy,
    with_sts_means,
    write_csv,
)

REMARK = (
    "The papers' figures come from models that learned from about a billion words or more; ours from the corpus of "
    "this run, {sentences:,} sentences and {words:,} words."
)
UNJUDGED = (
    "In 2015 the papers of Yuan and Zhang and of Kenter et al. seem to count pairs without a judgement as 0; ours "
    "leave them out, as the organisers do.\n"
)


class Report:
    """Writes the tables of a store to a folder and gives them as Markdown."""

    def __init__(
        self, store: ResultStore, data: EvaluationData, out: Path, methods: Sequence[str], baseline: str, seed: int
    ) -> None:
        self.store, self.data, self.out, self.methods = store, data, out, list(methods)
        self.baseline, self.seed = baseline, seed

    def write(self, table: str, remark: str) -> str:
        """Write one table, `TABLE.csv` with a row a figure and `TABLE.md`."""
        records = [
            record
            for method in self.methods
            for (name, kind, _), record in self.store.records.items()
            if (name, kind) == (method, table)
        ]
        if not records:
            raise ValueError(
                f"There is no result for the table {table}: none of the methods {', '.join(map(repr, self.methods))} "
                "is made for it, or its sets are not there."
            )
        ours = tidy(records)
        published = [{**row, "n_pairs": None, "n_unknown": None} for row in published_results(table)]
        rows = with_sts_means([*ours, *published]) if table == "sts" else [*ours, *published]
        write_csv(self.out / f"{table}.csv", rows)
        blocks = getattr(self, f"_{table}")(rows)
        text = "\n".join([f"# {TITLES[table]}\n", f"{remark}\n", *blocks])
        with naming(self.out / f"{table}.md"):
            (self.out / f"{table}.md").write_text(text, encoding="utf-8")
        return text

    def _sts(self, rows: list[dict[str, Any]]) -> list[str]:
        models = self._similarities()
        marked = self._wilcoxon(models)
        years = dict.fromkeys(row["set"].split()[0] for row in rows if row["set"].endswith(" mean"))
        means = [(f"{year} mean", "pearson") for year in years] + [("all weighted mean", "pearson")]
        unknown = {row["method"]: row["n_unknown"] for row in rows if row["set"] == "all mean" and row["n_unknown"]}
        blocks = ["Pearson's r times 100, means over the sets of a year.\n", markdown(by_method(rows, means))]
        if "2015" in years:
            blocks.append(UNJUDGED)
        if unknown:
            counts = "; ".join(f"{method} {count}" for method, count in unknown.items())
            blocks.append(f"Pairs with a sentence without a known word, whose cosine is 0: {counts}.\n")
        blocks += ["Bootstrap intervals (95 %) of the mean over all sets, and of the difference to the row below.\n"]
        blocks.append(markdown(self._intervals(models)))
        dagger = f" † differs from {self.baseline!r}, Wilcoxon signed-rank test, p < 0.0001." if marked else ""
        blocks += [f"Pearson's r times 100.{dagger}\n", markdown(by_set(rows, "pearson", marked))]
        return [*blocks, "Spearman's rho times 100.\n", markdown(by_set(rows, "spearman"))]

    def _similarities(self) -> dict[str, list[Any]]:
        """Cosines of the methods that have all sets, with the targets."""
        models: dict[str, list[Any]] = {}
        for method in self.methods:
            found = []
            for year in self.data.years():
                pairs = self.data.sts(year)
                for name in pairs.subset_names:
                    record = self.store.records.get((method, "sts", f"{year}/{name}"))
                    if record is not None:
                        target = np.asarray(pairs.target)[np.asarray(pairs.subset) == name]
                        cosine = np.array(record["cosine"])
                        found.append(
                            Bunch(year=str(year), set=name, cosine=cosine, target=target, n_unknown=record["n_unknown"])
                        )
            if found:
                models[method] = found
        return models

    def _wilcoxon(self, models: dict[str, list[Any]]) -> list[tuple[str, str]]:
        if self.baseline not in models:
            return []
        rows = [
            {"method": method, "baseline": self.baseline, **row}
            for method, found in models.items()
            if method != self.baseline
            for row in sts_comparison(found, models[self.baseline])
        ]
        if rows:
            write_csv(self.out / "sts_wilcoxon.csv", rows)
        return [(row["method"], f"{row['year']}/{row['set']}") for row in rows if row["p"] < 0.0001]

    def _intervals(self, models: dict[str, list[Any]]) -> list[list[str]]:
        rows = sts_ranking(models, random_state=self.seed)
        write_csv(self.out / "sts_intervals.csv", rows)
        header = ["method", "mean", "from", "to", "ahead of the next by", "from", "to"]
        columns = ("mean", "low", "high", "lead", "lead_low", "lead_high")
        return [
            header,
            *(
                [row["method"], *("" if row[column] is None else f"{100 * row[column]:.2f}" for column in columns)]
                for row in rows
            ),
        ]

    def _sick(self, rows: list[dict[str, Any]]) -> list[str]:
        caption = (
            "Correlation times 100. 'trained': the head of Tai et al. learned from the training pairs; the papers' "
            "also train the sentence vectors.\n"
        )
        return [caption, markdown(by_method(rows, SICK_COLUMNS))]

    def _senteval(self, rows: list[dict[str, Any]]) -> list[str]:
        return ["Accuracy in percent.\n", markdown(by_method(with_average(rows), [*SENTEVAL_COLUMNS, _AVERAGE]))]

    def _semantic(self, rows: list[dict[str, Any]]) -> list[str]:
        blocks = ["Accuracy in percent, mean of 3 folds.\n", markdown(by_method(rows, SEMANTIC_COLUMNS))]
        for name in SEMANTIC_SETS:
            found = {
                method: self.store.records[method, "semantic", name]["predictions"]
                for method in self.methods
                if (method, "semantic", name) in self.store.records
            }
            if len(found) > 1:
                result = error_agreement(self.data.semantic(name).target, found)
                blocks.append(
                    f"Errors on {name}: both wrong and the same / both wrong; mistakes of each on the diagonal.\n"
                )
                blocks.append(markdown(self._agreement(name, result)))
        return blocks

    def _agreement(self, name: str, result: Any) -> list[list[str]]:
        models = range(len(result.names))
        rows = [
            {
                "method": result.names[i],
                "other": result.names[j],
                "n_errors": int(result.n_errors[i]),
                "n_compared": int(result.n_compared[i, j]),
                "n_shared": int(result.n_shared[i, j]),
                "agreement": float(result.agreement[i, j]),
            }
            for i in models
            for j in models
        ]
        write_csv(self.out / f"semantic_agreement_{name}.csv", rows)
        table = [["", *(str(i + 1) for i in models)]]
        for i in models:
            cells = [
                str(result.n_errors[i]) if i == j else f"{result.n_shared[i, j]}/{result.n_compared[i, j]}"
                for j in models
            ]
            table.append([f"{i + 1} {result.names[i]}", *cells])
        return table


_AVERAGE = ("average", "accuracy")
TITLES = {
    "sts": "Semantic textual similarity",
    "sick": "SICK relatedness",
    "senteval": "Downstream classification",
    "semantic": "Semantic classification",
}


def with_average(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the mean accuracy of methods that have all six tasks."""
    values = {(row["source"], row["method"], row["set"]): row for row in rows if row["metric"] == "accuracy"}
    sets = [name for name, metric in SENTEVAL_COLUMNS if metric == "accuracy"]
    extended = list(rows)
    for source, method in dict.fromkeys(key[:2] for key in values):
        found = [values.get((source, method, name)) for name in sets]
        if None not in found:
            mean = float(np.mean([row["value"] for row in found if row is not None]))
            extended.append({**values[source, method, sets[0]], "set": "average", "value": mean})
    return extended
