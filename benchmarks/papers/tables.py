"""Tables of results, with the published figures beside ours, as CSV and as Markdown."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skembed._validation.values import naming

OURS = "this run"
SENTEVAL_COLUMNS = [
    ("MSRP", "accuracy"),
    ("MSRP", "f1"),
    *((s, "accuracy") for s in ("MR", "CR", "SUBJ", "MPQA", "TREC")),
]
SICK_COLUMNS = [
    ("test", "pearson"),
    ("test + train", "pearson"),
    ("test + train", "spearman"),
    ("test, trained", "pearson"),
    ("test, trained", "spearman"),
    ("test, trained", "mse"),
    ("test, universal fine-tuned", "pearson"),
    ("test, random fine-tuned", "pearson"),
]
SEMANTIC_COLUMNS = [("msrp", "accuracy"), ("opinosis", "accuracy")]
TRAINING_COLUMNS = [("corpus", "seconds"), ("corpus", "sentences_per_second")]
METRICS = ("pearson", "spearman", "mse", "accuracy", "f1", "seconds", "sentences_per_second")


def published_results(table: str | None = None) -> list[dict[str, Any]]:
    """Figures of the papers, as they print them, of one table or of all; correlations and fractions times 100."""
    text = Path(__file__).with_name("published.csv").read_text(encoding="utf-8")
    return [
        {
            "table": row["table"],
            "source": row["paper"],
            **{name: row[name] for name in ("method", "set", "metric")},
            "value": float(row["value"]),
        }
        for row in csv.DictReader(text.splitlines())
        if table in (None, row["table"])
    ]


def tidy(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row for each figure in the records of a store."""
    return [
        {
            "table": record["table"],
            "source": OURS,
            "method": record["method"],
            "set": record["set"],
            "metric": metric,
            "value": record[metric],
            "n_pairs": record["n_pairs"],
            "n_unknown": record.get("n_unknown"),
        }
        for record in records
        for metric in METRICS
        if metric in record
    ]


def with_sts_means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add means over the sets that our methods have, for each method that has all of them.

    A paper's own mean may be over more sets. Means that are compared must be over the same sets.
    """
    pairs = {row["set"]: row["n_pairs"] for row in rows if row["source"] == OURS}
    values = {(row["source"], row["method"], row["metric"], row["set"]): row for row in rows if row["set"] in pairs}
    extended = [dict(row) for row in values.values()]
    columns = dict.fromkeys(key[:3] for key in values)
    years = list(dict.fromkeys(name.split("/")[0] for name in pairs))
    for source, method, metric in columns:
        for year in [*years, "all"]:
            names = [name for name in pairs if year in ("all", name.split("/")[0])]
            found = [values.get((source, method, metric, name)) for name in names]
            if None in found:
                continue
            known = [row["value"] for row in found if row is not None]
            unknown = sum(row["n_unknown"] for row in found if row is not None) if source == OURS else None
            for name, weights in (("mean", None), ("weighted mean", [pairs[n] for n in names])):
                row = {"table": "sts", "source": source, "method": method, "set": f"{year} {name}", "metric": metric}
                row |= {"value": float(np.average(known, weights=weights))}
                extended.append({**row, "n_pairs": sum(pairs[n] for n in names), "n_unknown": unknown})
    return extended


def formatted(value: float, metric: str, n_decimals: int = 2) -> str:
    """Write a figure with the digits that its kind needs."""
    if metric in ("seconds", "sentences_per_second"):
        return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
    return f"{value:.{3 if metric in ('mse', 'hours') else n_decimals}f}"


def column_name(source: str, method: str) -> str:
    """Name a method of a paper with the paper."""
    return method if source == OURS else f"{method} ({source})"


def by_method(rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Lay out with a row a method and a column a figure; columns that nobody has are left out."""
    values = {(row["source"], row["method"], row["set"], row["metric"]): row["value"] for row in rows}
    shown = [column for column in columns if any(key[2:] == column for key in values)]
    methods = dict.fromkeys(key[:2] for key in values if key[2:] in shown)
    names = {"accuracy": "", "pearson": " r", "spearman": " rho", "mse": " MSE", "f1": " F1"}
    table = [["method", *(f"{set_}{names.get(metric, f' {metric}')}" for set_, metric in shown)]]
    for source, method in sorted(methods, key=lambda key: key[0] != OURS):  # ours first, else as they come
        cells = [values.get((source, method, *column)) for column in shown]
        table.append(
            [
                column_name(source, method),
                *("" if v is None else formatted(v, metric) for v, (_, metric) in zip(cells, shown)),
            ]
        )
    return table


def by_set(rows: Sequence[Mapping[str, Any]], metric: str, marked: Iterable[tuple[str, str]] = ()) -> list[list[str]]:
    """Lay out with a row a set and a column a method; `marked` (method, set) get a dagger."""
    values = {(row["source"], row["method"], row["set"]): row["value"] for row in rows if row["metric"] == metric}
    sets = dict.fromkeys(row["set"] for row in rows if row["source"] == OURS)
    methods = sorted(dict.fromkeys(key[:2] for key in values), key=lambda key: key[0] != OURS)
    marks = set(marked)
    table = [["set", *(column_name(*key) for key in methods)]]
    for name in sets:
        cells = [values.get((*key, name)) for key in methods]
        daggers = ["†" if key[0] == OURS and (key[1], name) in marks else "" for key in methods]
        table.append([name, *("" if v is None else f"{v:.2f}{d}" for v, d in zip(cells, daggers))])
    return table


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the columns of the first."""
    with naming(path), open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
