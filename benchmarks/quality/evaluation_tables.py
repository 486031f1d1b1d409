"""From the results of ``python -m skembed.evaluation`` to the tables of the user guide.

python -m skembed.evaluation --corpus CORPUS --out OUT
python benchmarks/quality/evaluation_tables.py OUT [--other OTHER] --doc doc/_results/quality

OTHER holds the results of the same methods from another corpus; they get a table beside those of OUT.
"""

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from papers.report import TITLES, with_average
from papers.tables import OURS, SEMANTIC_COLUMNS, SENTEVAL_COLUMNS, SICK_COLUMNS, by_method
from reporting import as_csv_table

COLUMNS = {
    "sts": [(f"{year} mean", "pearson") for year in ("2012", "2013", "2014", "all")]
    + [("all weighted mean", "pearson")],
    "sick": SICK_COLUMNS,
    "senteval": [*SENTEVAL_COLUMNS, ("average", "accuracy")],
    "semantic": SEMANTIC_COLUMNS,
}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [{**row, "value": float(row["value"])} if "value" in row else row for row in csv.DictReader(file)]


def intervals(path):
    """Means with their intervals, and how far each method is ahead of the one below."""
    table = [["method", "mean", "95 % interval", "ahead of the next by", "95 % interval"]]
    for row in read(path):
        cells = {
            key: f"{100 * float(value):.1f}" for key, value in row.items() if key not in ("method", "next") and value
        }
        ahead = [cells["lead"], f"{cells['lead_low']} to {cells['lead_high']}"] if row["next"] else ["", ""]
        table.append([row["method"], cells["mean"], f"{cells['low']} to {cells['high']}", *ahead])
    return table


def beside(results, other):
    """A row a method: some figures learned from one corpus, and from the other."""
    columns = {
        "STS 2012-2014": ("sts", ("all mean", "pearson")),
        "SICK test": ("sick", SICK_COLUMNS[0]),
        "MSRP groups": ("semantic", SEMANTIC_COLUMNS[0]),
        "Opinosis": ("semantic", SEMANTIC_COLUMNS[1]),
    }
    table = [["method", *(name for column in columns for name in (column, "both"))]]
    figures = [
        {(row["method"], row["table"], (row["set"], row["metric"])): row["value"] for row in rows}
        for rows in (
            [r for name in ("sts", "sick", "semantic") for r in read(folder / f"{name}.csv") if r["source"] == OURS]
            for folder in (results, other)
        )
    ]
    for method in dict.fromkeys(key[0] for key in figures[1]):
        keys = [(method, *column) for column in columns.values()]
        table.append([method, *(f"{found[key]:.1f}" if key in found else "" for key in keys for found in figures)])
    return table


def overview(path):
    """The table of all methods, and the notes below it, from Markdown."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    notes = [line.replace("*", r"\*") for line in lines if line and not line.startswith(("#", "|"))]
    return "\n".join(
        [*(f"{note}\n" for note in notes[:1]), as_csv_table("All methods", rows), *(f"| {n}" for n in notes[1:])]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--doc", type=Path, default=Path("doc/_results/quality"))
    parser.add_argument("--other", type=Path)
    options = parser.parse_args()
    for table, columns in COLUMNS.items():
        path = options.results / f"{table}.csv"
        if path.is_file():
            rows = read(path)
            text = as_csv_table(TITLES[table], by_method(with_average(rows) if table == "senteval" else rows, columns))
            (options.doc / f"evaluation_{table}.inc").write_text(text, encoding="utf-8")
    path = options.results / "sts_intervals.csv"
    if path.is_file():
        (options.doc / "evaluation_intervals.inc").write_text(
            as_csv_table("Intervals", intervals(path)), encoding="utf-8"
        )
    path = options.results / "overview.md"
    if path.is_file():
        (options.doc / "evaluation_overview.inc").write_text(overview(path) + "\n", encoding="utf-8")
    if options.other is not None:
        text = as_csv_table("The encyclopedia, and both texts", beside(options.results, options.other))
        (options.doc / "evaluation_other.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
