"""From how much own text, and how many labels, does a student stand in for the transformer that taught it?

    python benchmarks/quality/student.py --data DATA [--rows ROWS] [--points FILE] [--out doc/_results/quality]

The models, columns and stored rows are those of pretrained.py, with 300, 700 and 1,500 own texts; some of these have a
label, the same for any number of own texts. Texts are general English (three tasks of pretrained.py), jargon (first
sentences of the docstrings of scipy, whose label is the subpackage; titles of software issues; clauses of contracts)
and German contracts, of which both models know little. --points keeps what is measured for the next run.
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
    TRANSFORMER,
    accuracies,
    blocks_of,
    models_of,
    read_task,
)

import numpy as np

from skembed.datasets import load_docstrings

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import KeptRows, print_table, save_figure

SIZES = (300, 700, MOST_TRAINING)
DOCSTRINGS = "docstrings"
GROUPS = {
    "English": ("TREC", "SST2", "searchsnippets"),
    "jargon": (DOCSTRINGS, "github_issues", "tos_type.en"),
    "German": ("tos_type.de",),
}
DRAWN = {  # in the figure: colour, and whether the transformer is needed
    "tf-idf": ("#999999", False),
    "TextVectorizer": ("#0072B2", False),
    f"TextVectorizer with {STATIC}": ("#56B4E9", False),
    f"TextVectorizer with {STATIC} and student": ("#D55E00", False),
    f"{STATIC} alone": ("#009E73", False),
    f"{TRANSFORMER} alone": ("#000000", True),
    f"TextVectorizer with {TRANSFORMER}": ("#CC79A7", True),
}


def read(name, folder):
    """Training rows, their labels, test rows, their labels."""
    if name != DOCSTRINGS:
        return read_task(folder, name, MOST_TRAINING, MOST_TEST)
    docs = load_docstrings(packages=["scipy"])
    X = np.array(docs.data, object)
    first = np.intersect1d(np.unique(docs.groups, return_index=True)[1], np.unique(X.astype(str), return_index=True)[1])
    X, y = X[first], docs.target[first]
    order = np.random.default_rng(0).permutation(np.flatnonzero(np.bincount(y)[y] >= 100))
    train, test = order[:MOST_TRAINING], order[MOST_TRAINING:][:MOST_TEST]
    return X[train], y[train].astype(str), X[test], y[test].astype(str)


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
    return dict(zip(COLUMNS, np.mean(found, axis=0)))


def means(found):
    """Group, number of own texts, labels -> accuracies, in the mean of its tasks."""
    keys = [(group, size, labels) for group in GROUPS for size in SIZES for labels in LABELS]
    return {
        (group, *key): np.mean(
            [list(found[name, *key].values()) for name in GROUPS[group] if (name, *key) in found], axis=0
        )
        for group, *key in keys
        if any((name, *key) in found for name in GROUPS[group])
    }


def draw(found):
    """Function that draws a panel for each number of labels and group of texts."""

    def draw_panels(figure):
        figure.set_size_inches(11, 10)
        groups = list(dict.fromkeys(group for group, *_ in found))
        panels = figure.subplots(len(LABELS), len(groups), squeeze=False)
        for (row, column), axes in np.ndenumerate(panels):
            group, labels = groups[column], list(LABELS)[row]
            for title, (colour, is_slow) in DRAWN.items():
                values = [found[group, size, labels][COLUMNS.index(title)] for size in SIZES]
                style = {"linestyle": "--" if is_slow else "-", "marker": "o", "markersize": 4}
                axes.plot(SIZES, values, color=colour, label=title, **style)
            axes.set(xscale="log", title=f"{group}, {labels} labels" + " per class" * (labels != "all"))
            axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
            axes.minorticks_off()
            axes.grid(axis="y", color="#dddddd", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        panels[1, 0].set_ylabel("accuracy, mean of the tasks (%)")
        for axes in panels[-1]:
            axes.set_xlabel("own texts")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
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
    found = KeptRows(options.points, {"task": str, "size": int, "labels": str}, COLUMNS)
    names = [name for group in GROUPS.values() for name in group][: 1 if options.quick else None]
    for name in names:
        X, y, X_test, y_test = read(name, options.data / "eval")
        for size in SIZES:
            missing = [labels for labels in LABELS if (name, size, labels) not in found]
            blocks = blocks_of(X[:size], y[:size], X_test, models_of(name, options)) if missing else None
            for labels in missing:
                task = X[:size], y[:size], X_test, y_test
                found[name, size, labels] = cell(task, blocks, LABELS[labels], options.draws)
    by_group = means({key: values for key, values in found.items() if key[0] in names})
    rows = [[*key, *(f"{value:.1f}" for value in values)] for key, values in by_group.items()]
    title = "Accuracy by own text and labels, mean of the tasks"
    note = "The labels are the same for any number of own texts."
    print_table(options, "crossover", title, [["text", "own texts", "labels per class", *COLUMNS], *rows], note)
    if options.out is not None:
        save_figure(options.out / "crossover.png", draw(by_group))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
