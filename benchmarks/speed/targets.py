"""All targets in two tables, a line for each question and a line for each row: the target and what was measured.

    python benchmarks/speed/targets.py doc/_results/speed

Reads the .json files that the other benchmarks wrote there and writes targets.inc and targets_by_row.inc beside them.
"""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import as_csv_table


def rows_of(folder):
    """A row for each target of each script that was run."""
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf8"))
        for row in content["targets"]:
            yield row | {"command": content["command"].split("benchmarks/")[1].split()[0]}


def by_question(rows):
    """A line for each question: in how many rows the target is met, and the least and the most that was measured."""
    for (asked, wanted), group in rows.groupby(["asked", "target"], sort=False):
        known = group[group.met != ""]
        measured = known.sort_values("measured", key=lambda texts: texts.str.replace(",", "").astype(float)).measured
        yield {
            "measurement": asked if len(group) > 1 else ": ".join(filter(None, (asked, group.of.iloc[0]))),
            "target": wanted,
            "measured": " to ".join(dict.fromkeys([*measured[:1], *measured[-1:]])) or "not measured",
            "met": f"{sum(known.met == 'yes')} of {len(known)}" if len(known) > 1 else "".join(known.met),
            "command": group.command.iloc[0],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the .json files, and of the tables")
    folder = parser.parse_args().folder
    rows = pd.DataFrame(rows_of(folder))
    tables = {
        "targets": ("Targets", pd.DataFrame(by_question(rows))),
        "targets_by_row": ("Targets, row by row", rows.rename(columns={"asked": "measurement"})),
    }
    for name, (title, table) in tables.items():
        print(table.to_string(index=False))
        text = as_csv_table(title, [table.columns, *table.to_numpy().tolist()])
        (folder / f"{name}.inc").write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
