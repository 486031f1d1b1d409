"""The figures of the task pages on search and clusters: what is gained beside the usual method, set by set.

    python benchmarks/quality/leads.py doc/_results/quality    # draws the tables of search.py and clusters.py there

The figures are search.png and clusters.png. Sets on which settings were chosen have another colour than held-out ones.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import bars, read_table, save_figure

SETTINGS, HELD_OUT = "#56B4E9", "#0072B2"
FIGURES = {
    "search": ("SearchIndex", "lead over the better of two BM25, points of nDCG@10"),
    "clusters": ("k-means", "lead over tf-idf with the stop words left out, points of AMI"),
}


def leads_of(folder, name, kind):
    """Rows of (set, lead, whether it is held out), the largest lead first."""
    found = []
    for table, is_held_out in ((f"{name}.inc", False), (f"{name}_kept_aside.inc", True)):
        header, *rows = read_table(folder / table)
        column = next(index for index, title in enumerate(header) if title.startswith("lead"))
        chosen = [row for row in rows if row[0] != "mean" and (name == "search" or row[1] == kind)]
        found += [(row[0].split(".train")[0].split(".test")[0], float(row[column]), is_held_out) for row in chosen]
    return sorted(found, key=lambda lead: -lead[1])


def draw(figure, leads, what):
    ax = figure.subplots()
    names, values, held_out = zip(*leads)
    colours = [HELD_OUT if is_held_out else SETTINGS for is_held_out in held_out]
    bars(ax, names, values, colours=colours, unit=what)
    ax.axvline(0, color="0.3", lw=1)
    for colour, label in ((HELD_OUT, "held-out"), (SETTINGS, "settings were chosen on it")):
        ax.barh([0], [0], color=colour, label=label)
    ax.legend(loc="lower right")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the tables")
    options = parser.parse_args()
    for name, (kind, what) in FIGURES.items():
        leads = leads_of(options.folder, name, kind)
        save_figure(options.folder / f"{name}.png", lambda figure, leads=leads, what=what: draw(figure, leads, what))


if __name__ == "__main__":
    main()
