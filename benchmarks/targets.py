"""All targets in two tables, a line for each question and a line for each row: the target and what was measured.

    python benchmarks/targets.py doc/_results/speed doc/_results/quality

Reads the .json files that the other benchmarks wrote there and writes targets.inc and targets_by_row.inc beside them.
The first ends with the commands that measure the rows again.
"""

import argparse
import json
from pathlib import Path

import pandas as pd
from reporting import as_csv_table


def rows_of(results):
    """A row for each target of each script that was run."""
    for content in results:
        for row in content["targets"]:
            yield row | {"command": content["command"].split("benchmarks/")[1].split()[0]}


def commands_of(results):
    """The commands of the scripts that have targets, as a block."""
    commands = dict.fromkeys(content["command"] for content in results if content["targets"])
    return "\nTo repeat them::\n\n" + "".join(f"   {command}\n" for command in commands)


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
    parser.add_argument("folders", type=Path, nargs="+", help="folders of the .json files, and of the tables")
    for folder in parser.parse_args().folders:
        results = [json.loads(path.read_text(encoding="utf8")) for path in sorted(folder.glob("*.json"))]
        rows = pd.DataFrame(rows_of(results))
        tables = {
            "targets": ("Targets", pd.DataFrame(by_question(rows)), commands_of(results)),
            "targets_by_row": ("Targets, row by row", rows.rename(columns={"asked": "measurement"}), ""),
        }
        for name, (title, table, end) in tables.items():
            print(table.to_string(index=False))
            text = as_csv_table(title, [table.columns, *table.to_numpy().tolist()]) + end
            (folder / f"{name}.inc").write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
