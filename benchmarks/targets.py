"""All targets in one table: what was asked, what was measured, with which command.

    python benchmarks/targets.py doc/performance

Reads the .json files that the other benchmarks wrote there and writes targets.inc beside them.
"""

import json
import sys
from pathlib import Path

import pandas as pd


def main():
    folder = Path(sys.argv[1])
    rows = []
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text(encoding="utf8"))
        rows += [row | {"command": content["command"].split("benchmarks/")[1].split()[0]} for row in content["targets"]]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    body = "".join(f"   {line}\n" for line in table.to_csv(index=False).splitlines())
    (folder / "targets.inc").write_text(f".. csv-table:: Targets\n   :header-rows: 1\n\n{body}", encoding="utf8")


if __name__ == "__main__":
    main()
