"""From the results of ``python -m skembed.evaluation`` to the tables of the user guide.

python -m skembed.evaluation --corpus CORPUS --out OUT
python benchmarks/evaluation_tables.py OUT --doc doc/user_guide
"""

import argparse
import csv
from pathlib import Path

from reporting import as_csv_table

from skembed.evaluation._report import TITLES, with_average
from skembed.evaluation._tables import SEMANTIC_COLUMNS, SENTEVAL_COLUMNS, SICK_COLUMNS, by_method

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
        numbers = {
            key: f"{100 * float(value):.1f}" for key, value in row.items() if key not in ("method", "next") and value
        }
        ahead = [numbers["lead"], f"{numbers['lead_low']} to {numbers['lead_high']}"] if row["next"] else ["", ""]
        table.append([row["method"], numbers["mean"], f"{numbers['low']} to {numbers['high']}", *ahead])
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--doc", type=Path, default=Path("doc/user_guide"))
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


if __name__ == "__main__":
    main()
