"""From the stored results of a run to its printed tables and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from skembed._validation.values import naming
from skembed.evaluation._semantic import error_agreement
from skembed.evaluation._sts import bootstrap_means, interval, sts_comparison

from .data import SEMANTIC_SETS, EvaluationData
from .paper_tables import Figures, fill, overview
from .sections import Section, as_markdown
from .store import ResultStore
from .systems import PAPER_TABLES, SYSTEMS
from .tables import (
    OURS,
    SEMANTIC_COLUMNS,
    SENTEVAL_COLUMNS,
    SICK_COLUMNS,
    TRAINING_COLUMNS,
    by_method,
    by_set,
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
    "leave them out, as the organisers do."
)
ERRORS = "Errors on {name}: both wrong and the same / both wrong; mistakes of each on the diagonal."
NO_NUMBERS = (
    "The paper shows its own as a drawing, whose numbers are not in its text: there is nothing to set beside ours."
)


class Report:
    """Makes the tables of a store, and writes them to a folder."""

    def __init__(
        self, store: ResultStore, data: EvaluationData, out: Path, methods: Sequence[str], baseline: str, seed: int
    ) -> None:
        self.store, self.data, self.out, self.methods = store, data, out, list(methods)
        self.baseline, self.seed = baseline, seed

    def write_all(
        self,
        tables: Sequence[str],
        about: str,
        fewer: Mapping[str, str],
        lacks: Callable[[str], list[str]] = lambda name: [],
    ) -> list[str]:
        """Write the tables, those of the papers, and an overview; return all as Markdown.

        `fewer` says what methods learned from, if that is less than others.
        """
        signs = {what: "*" * (i + 1) for i, what in enumerate(dict.fromkeys(filter(None, fewer.values())))}
        notes = [f"{sign} {what}." for what, sign in signs.items()]
        marks = {method: signs[what] for method, what in fewer.items() if what}
        sections = [self.section(table, about) for table in tables]
        averaged: dict[str, Callable[..., list[Any]]] = {"sts": with_sts_means, "senteval": with_average}
        ours = (row for table in tables for row in averaged.get(table, list)(self._rows(table)))
        figures = Figures([*ours, *with_average(published_results())], self.methods, tables, lacks)
        papers = [
            fill(table, figures, marks) for table in PAPER_TABLES if any(c.table in tables for c in table.columns)
        ]
        agreements = self._agreements_of_paper() if "semantic" in tables else {}
        papers += [agreement_section(agreements)] if agreements else []
        everything = overview(figures, marks)
        for name, part in [*zip(tables, map(list, zip(sections))), ("papers", papers), ("overview", [everything])]:
            self._write_text(f"{name}.md", "\n".join(as_markdown(_with_notes(section, notes)) for section in part))
        shown = [*sections, *(_with_notes(section, notes) for section in [*papers, everything])]
        return [as_markdown(section) for section in shown]

    def _write_text(self, name: str, text: str) -> None:
        with naming(self.out / name):
            (self.out / name).write_text(text, encoding="utf-8")

    def _rows(self, table: str) -> list[dict[str, Any]]:
        """Tidy rows of the run's figures, with averages."""
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
        return tidy(records)

    def section(self, table: str, about: str) -> Section:
        """Make one table, and write `TABLE.csv` with a row a figure."""
        published = [{**row, "n_pairs": None, "n_unknown": None} for row in published_results(table)]
        rows = [*self._rows(table), *published]
        rows = with_sts_means(rows) if table == "sts" else rows
        write_csv(self.out / f"{table}.csv", rows)
        return Section(TITLES[table], [about, *getattr(self, f"_{table}")(rows)])

    def _training(self, rows: list[dict[str, Any]]) -> list[Any]:
        caption = (
            "Seconds to learn, with the compilation of what the cache of numba does not hold, and sentences a second "
            "that transform embeds, on the machine of this run."
        )
        return [caption, by_method([row for row in rows if row["source"] == OURS], TRAINING_COLUMNS)]

    def _sts(self, rows: list[dict[str, Any]]) -> list[Any]:
        models = self._similarities()
        marked = self._wilcoxon(models)
        years = dict.fromkeys(row["set"].split()[0] for row in rows if row["set"].endswith(" mean"))
        means = [(f"{year} mean", "pearson") for year in years] + [("all weighted mean", "pearson")]
        unknown = {row["method"]: row["n_unknown"] for row in rows if row["set"] == "all mean" and row["n_unknown"]}
        blocks = ["Pearson's r times 100, means over the sets of a year.", by_method(rows, means)]
        if "2015" in years:
            blocks.append(UNJUDGED)
        if unknown:
            counts = "; ".join(f"{method} {count}" for method, count in unknown.items())
            blocks.append(f"Pairs with a sentence without a known word, whose cosine is 0: {counts}.")
        blocks += ["Bootstrap intervals (95 %) of the mean over all sets, and of the difference to the row below."]
        blocks.append(self._intervals())
        dagger = f" † differs from {self.baseline!r}, Wilcoxon signed-rank test, p < 0.0001." if marked else ""
        blocks += [f"Pearson's r times 100.{dagger}", by_set(rows, "pearson", marked)]
        return [*blocks, "Spearman's rho times 100.", by_set(rows, "spearman")]

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

    def _intervals(self) -> list[list[str]]:
        rows = sts_ranking(self._similarities(), random_state=self.seed)
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

    def _sick(self, rows: list[dict[str, Any]]) -> list[Any]:
        caption = (
            "Correlation times 100. 'trained': the head of Tai et al. learned from the training pairs; the papers' "
            "also train the sentence vectors."
        )
        return [caption, by_method(rows, SICK_COLUMNS)]

    def _senteval(self, rows: list[dict[str, Any]]) -> list[Any]:
        return ["Accuracy in percent.", by_method(with_average(rows), [*SENTEVAL_COLUMNS, _AVERAGE])]

    def _semantic(self, rows: list[dict[str, Any]]) -> list[Any]:
        blocks = ["Accuracy in percent, mean of 3 folds.", by_method(rows, SEMANTIC_COLUMNS)]
        for name in SEMANTIC_SETS:
            result = self._agreement(name, self.methods)
            if result is not None:
                write_csv(self.out / f"semantic_agreement_{name}.csv", agreement_rows(result))
                blocks += [ERRORS.format(name=name), agreement_table(result)]
        return blocks

    def _agreement(self, name: str, methods: Iterable[str]) -> Any:
        """How far the errors of methods agree; None for fewer than two."""
        records = {method: self.store.records.get((method, "semantic", name)) for method in methods}
        found = {method: record["predictions"] for method, record in records.items() if record is not None}
        return error_agreement(self.data.semantic(name).target, found) if len(found) > 1 else None

    def _agreements_of_paper(self) -> dict[str, Any]:
        """For each corpus, the agreement of the methods that are systems of the paper on semantic classification."""
        systems = [SYSTEMS[name] for name in PAPER_TABLES[-1].systems]
        methods = [method for system in systems for method in (system.as_published, system.here)]
        chosen = [method for method in dict.fromkeys(methods) if method in self.methods]
        found = {name: self._agreement(name, chosen) for name in SEMANTIC_SETS}
        return {name: result for name, result in found.items() if result is not None}


def sts_ranking(models: Mapping[str, Sequence[Any]], random_state: Any = 0) -> list[dict[str, Any]]:
    """Rows as from `sts_intervals`, best first, with the lead of each over the next and its interval."""
    means, draws = bootstrap_means(models, 2000, random_state)
    ordered = sorted(models, key=lambda name: -means[name])
    rows = []
    for name, following in zip(ordered, [*ordered[1:], None]):
        row = {"method": name, **interval(means[name], draws[name]), "next": following}
        if following is None:
            lead = dict.fromkeys(("mean", "low", "high"))
        else:
            lead = interval(means[name] - means[following], draws[name] - draws[following])
        rows.append(row | {"lead": lead["mean"], "lead_low": lead["low"], "lead_high": lead["high"]})
    return rows


def agreement_section(agreements: Mapping[str, Any]) -> Section:
    """Make the tables of figure 4 of White et al."""
    blocks = [
        block for name, result in agreements.items() for block in (ERRORS.format(name=name), agreement_table(result))
    ]
    return Section("How well sentence embeddings capture meaning, figure 4: agreement of errors", [*blocks, NO_NUMBERS])


def agreement_rows(result: Any) -> list[dict[str, Any]]:
    """Make a row for each two models."""
    models = range(len(result.names))
    return [
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


def agreement_table(result: Any) -> list[list[str]]:
    """Lay out as the paper does: fractions, and the mistakes of each model."""
    models = range(len(result.names))
    table = [["", *(str(i + 1) for i in models)]]
    for i in models:
        cells = [
            str(result.n_errors[i]) if i == j else f"{result.n_shared[i, j]}/{result.n_compared[i, j]}" for j in models
        ]
        table.append([f"{i + 1} {result.names[i]}", *cells])
    return table


def _with_notes(section: Section, notes: Sequence[str]) -> Section:
    return Section(section.title, [*section.blocks, *notes])


_AVERAGE = ("average", "accuracy")
TITLES = {
    "sts": "Semantic textual similarity",
    "sick": "SICK relatedness",
    "senteval": "Downstream classification",
    "semantic": "Semantic classification",
    "training": "Training and speed",
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
