"""From how much own text, and how many labels, does a student stand in for the transformer that taught it?

    python benchmarks/quality/student.py --data DATA [--rows ROWS] [--points FILE] [--out doc/_results/quality]

The models, columns and stored rows are those of pretrained.py, on four of its tasks, with 300, 700 and 1,500 own texts;
some of these have a label, the same for any number of own texts. --points keeps what is measured for the next run.
"""

import sys
import warnings
from pathlib import Path

from pretrained import (  # isort: skip, it pins the threads
    COLUMNS,
    LABELS,
    MOST_TEST,
    MOST_TRAINING,
    STATIC,
    TASKS,
    TRANSFORMER,
    accuracies,
    blocks_of,
    models_of,
    read_task,
)

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table, save_figure

SIZES = (300, 700, MOST_TRAINING)
DRAWN = {  # in the figure: colour, and whether the transformer is needed
    "tf-idf": ("#999999", False),
    "TextVectorizer": ("#0072B2", False),
    f"TextVectorizer with {STATIC}": ("#56B4E9", False),
    f"TextVectorizer with {STATIC} and student": ("#D55E00", False),
    f"{STATIC} alone": ("#009E73", False),
    f"{TRANSFORMER} alone": ("#000000", True),
    f"TextVectorizer with {TRANSFORMER}": ("#CC79A7", True),
}


def labelled(y, n_labels, seed):
    """Rows that have a label: for any number of own texts the same, as far as these have so many of each class."""
    order = np.arange(len(y))
    order[: SIZES[0]] = np.random.default_rng(seed).permutation(order[: SIZES[0]])
    return np.sort(np.concatenate([order[y[order] == label][:n_labels] for label in np.unique(y)]))


def cell(task, blocks, n_labels, n_draws):
    """Accuracies, in the mean of the draws."""
    X, y, X_test, y_test = task
    found = []
    for seed in range(n_draws if n_labels else 1):
        found.append(accuracies(X, y, X_test, y_test, blocks, labelled(y, n_labels, seed), seed))
    return [float(value) for value in np.mean(found, axis=0)]


def measured_before(path):
    """Task, number of own texts, number of labels -> accuracies, of a file of an earlier run."""
    found = {}
    if path is not None and path.exists():
        for line in path.read_text(encoding="utf8").splitlines():
            name, size, labels, *values = line.split(",")
            found[name, int(size), labels] = [float(value) for value in values]
    return found


def means(rows):
    """Number of own texts -> labels -> accuracies, in the mean of the tasks."""
    found = {}
    for size in dict.fromkeys(row[1] for row in rows):
        for labels in LABELS:
            found.setdefault(size, {})[labels] = np.mean([r[3:] for r in rows if r[1:3] == [size, labels]], axis=0)
    return found


def draw(found):
    """Function that draws a panel for each number of labels."""

    def draw_panels(figure):
        figure.set_size_inches(8, 10)
        panels = figure.subplots(len(LABELS), 1)
        sizes = list(found)
        for axes, labels in zip(panels, LABELS):
            ends = {}
            for title, (colour, is_slow) in DRAWN.items():
                values = [found[size][labels][COLUMNS.index(title)] for size in sizes]
                axes.plot(sizes, values, color=colour, marker="o", markersize=4, linestyle="--" if is_slow else "-")
                ends[title] = values[-1], colour
            low, high = axes.get_ylim()
            place = -np.inf
            for title, (value, colour) in sorted(ends.items(), key=lambda item: item[1][0]):
                place = max(value, place + (high - low) / 12)
                axes.annotate(f"{title} {value:.1f}", (sizes[-1] * 1.06, place), color=colour, fontsize=9, va="center")
            axes.set_ylim(low, max(high, place + (high - low) / 24))
            axes.set(xscale="log", title=f"{labels} labels" + " per class" * (labels != "all"))
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.minorticks_off()
            axes.set_xlim(sizes[0] * 0.92, sizes[-1] * 4)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("accuracy, mean of the tasks (%)")
        panels[-1].set_xlabel("own texts")
        figure.suptitle("Broken lines: the transformer is needed where the model serves", fontsize=10)

    return draw_panels


def main():
    options = arguments(
        __doc__,
        rows={"type": Path, "help": "folder with stored rows of the models"},
        points={"type": Path, "help": "file that keeps what is measured for the next run"},
        draws={"type": int, "default": 3, "help": "draws of the labels"},
        cache={"type": Path, "default": "memory", "help": "folder that keeps the rows of the models"},
    )
    found = measured_before(options.points)
    names = TASKS[:4][: 1 if options.quick else None]
    for name in names:
        X, y, X_test, y_test = read_task(options.data / "eval", name, MOST_TRAINING, MOST_TEST)
        for size in SIZES:
            missing = [labels for labels in LABELS if (name, size, labels) not in found]
            blocks = blocks_of(X[:size], y[:size], X_test, models_of(name, options)) if missing else None
            for labels in missing:
                values = cell((X[:size], y[:size], X_test, y_test), blocks, LABELS[labels], options.draws)
                found[name, size, labels] = values
                print(name, size, labels, *(f"{value:.1f}" for value in values), flush=True)
                if options.points is not None:
                    lines = (",".join(map(str, [*key, *values])) + "\n" for key, values in found.items())
                    options.points.write_text("".join(lines), encoding="utf8")
    by_size = means([[*key, *values] for key, values in found.items() if key[0] in names])
    rows = [
        [size, labels, *(f"{v:.1f}" for v in values)] for size, by in by_size.items() for labels, values in by.items()
    ]
    title = "Accuracy by own text and labels, mean of four tasks"
    note = "The labels are the same for any number of own texts."
    print_table(options, "crossover", title, [["own texts", "labels per class", *COLUMNS], *rows], note)
    if options.out is not None:
        save_figure(options.out / "crossover.png", draw(by_size))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
