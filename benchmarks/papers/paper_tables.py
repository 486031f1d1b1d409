"""The papers' tables with our figures beside the published ones, and one table of everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .methods import METHODS
from .sections import Section
from .systems import PAPER_TABLES, STS_SETS, SYSTEMS, PaperTable, ScoreColumn, System
from .tables import OURS, formatted

Key = tuple[str, str, str, str, str]  # source, method, table, set, metric
HEADING = "figures of"


class Figures:
    """All figures of a run, and of the papers, by source, method, table, set and metric.

    Parameters
    ----------
    rows : iterable of dict
        Tidy rows, of this run and of the papers.
    methods : sequence of str
        The methods of the run.
    tables : sequence of str
        The tables of the run.
    lacks : callable
        From a method's name to the options without which it cannot learn.
    """

    def __init__(
        self,
        rows: Iterable[Mapping[str, Any]],
        methods: Sequence[str],
        tables: Sequence[str],
        lacks: Callable[[str], list[str]] = lambda name: [],
    ) -> None:
        self.values: dict[Key, float] = {
            (row["source"], row["method"], row["table"], row["set"], row["metric"]): row["value"] for row in rows
        }
        self.methods, self.tables, self.lacks = list(methods), list(tables), lacks
        self.sets = {key[3] for key in self.values if key[0] == OURS and key[2] == "sts"}
        for method in methods:
            self._add_averages(method)

    def _add_averages(self, method: str) -> None:
        """Add the averages of table 3 of the paper on Sent2Vec, and hours."""
        similarity = next(table for table in PAPER_TABLES if table.title.startswith("Sent2Vec, table 2"))
        correlations = [self.ours(method, column) for column in similarity.columns]
        found = {
            "supervised": self.values.get((OURS, method, "senteval", "average", "accuracy")),
            "unsupervised": mean_of(correlations),
        }
        found["macro"] = mean_of(list(found.values()))
        for name, value in found.items():
            if value is not None:
                self.values[OURS, method, "training", name, "average"] = value
        seconds = self.values.get((OURS, method, "training", "corpus", "seconds"))
        if seconds is not None:
            self.values[OURS, method, "training", "corpus", "hours"] = seconds / 3600

    def ours(self, method: str, column: ScoreColumn) -> float | None:
        """Look up a figure of this run."""
        return self.values.get((OURS, method, column.table, column.ours or column.set, column.metric))

    def published(self, system: System, column: ScoreColumn, source: str | None = None) -> float | None:
        """Look up a figure of a paper, or of the first that has it; means are over the sets of this run, if any."""
        sources = [source] if source is not None and source in system.published else list(system.published)
        found = (self._published(name, system.published[name], column) for name in sources)
        return next((value for value in found if value is not None), None)

    def _published(self, source: str, name: str, column: ScoreColumn) -> float | None:
        key = (source, name, column.table, column.set, column.metric)
        year, _, kind = column.set.partition(" ")
        if key in self.values or kind != "mean":
            return self.values.get(key)
        sets = [f"{year}/{set_}" for set_ in STS_SETS[year]]
        of_sets = [set_ for set_ in sets if set_ in self.sets] or sets
        return mean_of([self.values.get((source, name, column.table, set_, column.metric)) for set_ in of_sets])

    def reason(self, method: str | None, column: ScoreColumn, system: System | None = None) -> str:
        """Say why a method has no figure."""
        if method is None or method not in {*METHODS, *self.methods}:
            return (system.reason if system else "") or "skembed has no such estimator"
        if lacking := self.lacks(method):
            return f"learns from pairs: give {' and '.join(lacking)}"
        if method not in self.methods:
            return "not among the methods of this run"
        if column.table not in self.tables:
            return f"the table {column.table} is not of this run"
        if method in METHODS and column.table not in METHODS[method].tables:
            return f"not made for the table {column.table}"
        return "the set is not among the data of this run, or the method cannot be measured on it"


def mean_of(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None if a value is missing."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


class Cells:
    """Turns figures into cells, and gives each reason for an empty cell a number."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures
        self.reasons: dict[str, int] = {}

    def empty(self, reason: str) -> str:
        """Return a cell that refers to a reason."""
        return f"[{self.reasons.setdefault(reason, len(self.reasons) + 1)}]"

    def notes(self) -> list[str]:
        """Return the reasons with their numbers."""
        return [f"[{number}] {reason}." for reason, number in self.reasons.items()]

    def ours(self, method: str | None, column: ScoreColumn, system: System | None = None, n_decimals: int = 2) -> str:
        """Return a cell of this run."""
        value = None if method is None else self.figures.ours(method, column)
        if value is None:
            return self.empty(self.figures.reason(method, column, system))
        return formatted(value, column.metric, n_decimals)


def fill(table: PaperTable, figures: Figures, marks: Mapping[str, str]) -> Section:
    """Set the figures of this run beside those of a paper; `marks` go behind the names of methods."""
    cells = Cells(figures)
    lines = [line for name in table.systems for line in _lines(name, table, cells, marks)]
    titles = [column.title for column in table.columns]
    if table.by_set:
        header = ["set", *(f"{name}: {of}" for name, of, _ in lines)]
        rows = [header, *([title, *(line[2][i] for line in lines)] for i, title in enumerate(titles))]
    else:
        rows = [["system", HEADING, *titles], *([name, of, *values] for name, of, values in lines)]
    return Section(table.title, [rows, *([table.note] if table.note else []), *cells.notes()])


def _lines(
    name: str, table: PaperTable, cells: Cells, marks: Mapping[str, str]
) -> Iterator[tuple[str, str, list[str]]]:
    system = SYSTEMS[name]
    published = [cells.figures.published(system, column, table.source) for column in table.columns]
    shown = ["–" if v is None else formatted(v, c.metric) for v, c in zip(published, table.columns)]
    yield name, "the paper", shown
    methods: list[str | None] = [method for method in (system.as_published, system.here) if method in METHODS]
    for method in methods or [None]:
        label = "here" if method is None else f"here, {method}{marks.get(method, '')}"
        yield name, label, [cells.ours(method, column, system) for column in table.columns]


_YEARS = tuple(ScoreColumn(f"STS {year}", "sts", f"{year} mean", "pearson") for year in ("2012", "2013", "2014"))
OVERVIEW = (
    *_YEARS,
    ScoreColumn("SICK", "sick", "test + train", "pearson"),
    *(ScoreColumn(name, "senteval", name, "accuracy") for name in ("MR", "CR", "SUBJ", "MPQA", "TREC", "MSRP")),
    ScoreColumn("MSRP groups", "semantic", "msrp", "accuracy"),
    ScoreColumn("Opinosis", "semantic", "opinosis", "accuracy"),
    ScoreColumn("training, s", "training", "corpus", "seconds"),
    ScoreColumn("sentences/s", "training", "corpus", "sentences_per_second"),
)
_DECIMALS = 1  # of the overview, which is wide


def overview(figures: Figures, marks: Mapping[str, str]) -> Section:
    """One row a method with the main figures, the published in brackets; then the systems that are not of this run."""
    cells = Cells(figures)
    system_of: dict[str | None, System] = {}
    for system in SYSTEMS.values():
        for method in (system.as_published, system.here):
            system_of.setdefault(method, system)
    rows = [["method", *(column.title for column in OVERVIEW)]]
    for method in figures.methods:
        system = system_of.get(method, System({}))
        ours = [cells.ours(method, column, n_decimals=_DECIMALS) for column in OVERVIEW]
        rows.append([f"{method}{marks.get(method, '')}", *_with_published(ours, system, figures)])
    for name, system in SYSTEMS.items():
        is_here = {system.as_published, system.here} & set(figures.methods)
        if not is_here and any(figures.published(system, column) is not None for column in OVERVIEW):
            reason = figures.reason(system.as_published or system.here, OVERVIEW[0], system)
            rows.append([name, *_with_published([cells.empty(reason)] * len(OVERVIEW), system, figures)])
    notes = [
        "Pearson's r times 100: means over the sets of a year, and SICK test + train. Accuracy in per cent. A figure "
        "in brackets is published; the published mean of a year is over the same sets."
    ]
    return Section("Overview", [*notes, rows, *cells.notes()])


def _with_published(cells: Sequence[str], system: System, figures: Figures) -> list[str]:
    published = [figures.published(system, column) for column in OVERVIEW]
    return [
        cell if value is None else f"{cell} ({formatted(value, column.metric, _DECIMALS)})"
        for cell, value, column in zip(cells, published, OVERVIEW)
    ]
