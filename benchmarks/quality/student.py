"""Is a student, without the transformer that taught it, as good as the transformer; and from how much own text?

    python benchmarks/quality/student.py --data DATA [--rows ROWS] [--out doc/_results/quality]
    python benchmarks/quality/student.py --data DATA [--rows ROWS] --kept-aside --out doc/_results/quality

The models and labels are those of pretrained.py, on four of its tasks, with 300, 700 and 1,500 own texts; some of these
have a label. The teacher is the transformer; it embeds all own texts, without their labels. Before LinearSVC with its
defaults are TextVectorizer alone, with wordllama, with wordllama and the student, and with the transformer itself.
Beside them are the models alone, the better of LinearSVC and LogisticRegression on rows of length one, and tf-idf, the
better of two: fitted on the labelled rows, and on all own texts. The blocks are the same for all draws of the labels,
so they are learned once; the weights are found anew in each draw.

ROWS is a folder with MODEL/TASK.npz, arrays "texts" and "rows", for models that are not installed.
"""

import sys
import warnings
from pathlib import Path

from pretrained import KEPT_ASIDE, LABELS, MOST_TEST, MOST_TRAINING, TASKS, load_models  # isort: skip, it pins the threads

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from text_vectorizer import MOST_LABELLED, Learned, read_task

from skembed import PretrainedVectorizer
from skembed._meta_estimators.block_rows import side_by_side
from skembed._meta_estimators.block_weights import find_weights
from skembed._meta_estimators.given_blocks import fit_given
from skembed._meta_estimators.model_weights import with_models
from skembed._meta_estimators.student_block import STUDENT, fit_student
from skembed._pretrained.parameter import PRETRAINED

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table, save_figure

TRANSFORMER, STATIC = "MiniLM", "wordllama"
SIZES = (300, 700, MOST_TRAINING)
BOTH = f"with {STATIC} and student"
METHODS = {
    "TextVectorizer": (),
    f"with {STATIC}": (STATIC,),
    BOTH: (STATIC, STUDENT),
    f"with {TRANSFORMER}": (TRANSFORMER,),
}
COLUMNS = ("tf-idf", *METHODS, f"{STATIC} alone", f"{TRANSFORMER} alone")
DRAWN = {  # in the figure: colour, and whether the transformer is needed
    "tf-idf": ("tf-idf", "#999999", False),
    "TextVectorizer": ("TextVectorizer", "#0072B2", False),
    f"with {STATIC}": (f"TextVectorizer + {STATIC}", "#56B4E9", False),
    BOTH: (f"TextVectorizer + {STATIC} + student", "#D55E00", False),
    f"{STATIC} alone": (f"{STATIC} alone", "#009E73", False),
    f"{TRANSFORMER} alone": (f"{TRANSFORMER} alone", "#000000", True),
    f"with {TRANSFORMER}": (f"TextVectorizer + {TRANSFORMER}", "#CC79A7", True),
}


def stored_rows(folder, name, task):
    """Text -> row of a model."""
    stored = np.load(folder / name.lower() / f"{task}.npz", allow_pickle=True)
    return dict(zip(stored["texts"].tolist(), stored["rows"]))


def models_of(task, options):
    """Name -> estimator of a model."""
    if options.rows is None:
        models = load_models()
    else:
        models = {name: stored_rows(options.rows, name, task) for name in (TRANSFORMER, STATIC)}
    return {name: PretrainedVectorizer(model, cache=options.cache, verbose=1) for name, model in models.items()}


def blocks_of(X, y, X_test, models):
    """Rows of all blocks, of own texts and of test texts, by name."""
    learned = Learned(X, y, X_test)
    X, X_test = list(X), list(X_test)
    own, test = dict(learned.rows), dict(learned.test)
    fitted = {}
    for name, model in models.items():
        of_model, rows = fit_given({PRETRAINED: model}, X, len(X), (np.empty(0), np.zeros(len(X), bool)), 0)
        fitted[name], own[name] = of_model[PRETRAINED], rows[PRETRAINED]
        test[name] = fitted[name].rows(X_test)
        for rows, texts in ((own, X), (test, X_test)):
            rows[f"{name} alone"] = normalize(fitted[name].transformer.transform(texts))
    student, own[STUDENT] = fit_student(models[TRANSFORMER], X, len(X), None, None, 0, fitted[STATIC])
    test[STUDENT] = student.rows(X_test)
    return list(learned.rows), own, test


def accuracies(X, y, X_test, y_test, blocks, rows, seed):
    """Of all columns, from the labels of some rows."""
    names, own, test = blocks
    known, svc = y[rows], LinearSVC(random_state=0)
    some = rows
    if len(rows) > MOST_LABELLED:
        some = np.sort(np.random.default_rng(seed).choice(rows, MOST_LABELLED, replace=False))
    weights = find_weights({name: own[name][some] for name in names}, y[some])

    def accuracy(classifier, train, test):
        return 100 * np.mean(classifier.fit(train, known).predict(test) == y_test)

    tfidf = (TfidfVectorizer().fit(X[rows]), TfidfVectorizer().fit(X))
    found = [max(accuracy(svc, t.transform(X[rows]), t.transform(X_test)) for t in tfidf)]
    for models in METHODS.values():
        of_all = weights
        if models:
            of_all = with_models(weights, {name: own[name][some] for name in [*names, *models]}, y[some], list(models))
        train = side_by_side({name: own[name][rows] for name in of_all}, of_all)
        found.append(accuracy(svc, train, side_by_side(test, of_all)))
    for name in (STATIC, TRANSFORMER):
        classifiers = svc, LogisticRegression(max_iter=1000)
        train, of_test = own[f"{name} alone"][rows], test[f"{name} alone"]
        found.append(max(accuracy(classifier, train, of_test) for classifier in classifiers))
    return found


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
        figure.set_size_inches(13, 5)
        panels = figure.subplots(1, len(LABELS))
        sizes = list(found)
        for axes, labels in zip(panels, LABELS):
            ends = {}
            for column, (title, colour, is_slow) in DRAWN.items():
                values = [found[size][labels][COLUMNS.index(column)] for size in sizes]
                axes.plot(sizes, values, color=colour, marker="o", markersize=4, linestyle="--" if is_slow else "-")
                ends[title] = values[-1], colour
            low, high = axes.get_ylim()
            place = -np.inf
            for title, (value, colour) in sorted(ends.items(), key=lambda item: item[1][0]):
                place = max(value, place + (high - low) / 22)
                axes.annotate(f"{title} {value:.1f}", (sizes[-1] * 1.06, place), color=colour, fontsize=8, va="center")
            axes.set(xscale="log", xlabel="own texts", title=f"{labels} labels" + " per class" * (labels != "all"))
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
            axes.minorticks_off()
            axes.set_xlim(sizes[0] * 0.92, sizes[-1] * 6.5)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_ylabel("accuracy, mean of the tasks (%)")
        figure.suptitle("Broken lines: the transformer is needed where the model serves", fontsize=10)

    return draw_panels


def main():
    options = arguments(
        __doc__,
        kept_aside={"action": "store_true", "help": "take the tasks on which nothing was chosen, and all own text"},
        rows={"type": Path, "help": "folder with stored rows of the models"},
        points={"type": Path, "help": "file that keeps what is measured for the next run"},
        draws={"type": int, "default": 3, "help": "draws of the labels"},
        cache={"type": Path, "default": "memory", "help": "folder that keeps the rows of the models"},
    )
    found, n_own = measured_before(options.points), {}
    names = (KEPT_ASIDE if options.kept_aside else TASKS[:4])[: 1 if options.quick else None]
    sizes = SIZES[-1:] if options.kept_aside else SIZES
    for name in names:
        X, y, X_test, y_test = read_task(options.data / "eval", name, MOST_TRAINING, MOST_TEST)
        n_own[name] = len(y)
        for size in sizes:
            missing = [labels for labels in LABELS if (name, size, labels) not in found]
            blocks = blocks_of(X[:size], y[:size], X_test, models_of(name, options)) if missing else None
            for labels in missing:
                values = cell((X[:size], y[:size], X_test, y_test), blocks, LABELS[labels], options.draws)
                found[name, size, labels] = values
                print(name, size, labels, *(f"{value:.1f}" for value in values), flush=True)
                if options.points is not None:
                    lines = (",".join(map(str, [*key, *values])) + "\n" for key, values in found.items())
                    options.points.write_text("".join(lines), encoding="utf8")
    rows = [[name, size, labels, *found[name, size, labels]] for name in names for size in sizes for labels in LABELS]
    full = [[row[0], n_own[row[0]], *row[2:]] for row in rows if row[1] == MOST_TRAINING]
    worst, least = (
        min((row[3 + COLUMNS.index(BOTH)] - row[3 + COLUMNS.index(other)], row[0], row[2]) for row in full)
        for other in (f"{TRANSFORMER} alone", "tf-idf")
    )
    note = f"Worst, {BOTH}: beside the transformer {worst[0]:+.1f} ({worst[1]}, {worst[2]} labels); "
    note += f"beside tf-idf {least[0]:+.1f} ({least[1]}, {least[2]} labels)."
    aside = ", tasks on which nothing was chosen" if options.kept_aside else ""
    full += [["mean", "", labels, *np.mean([row[3:] for row in full if row[2] == labels], axis=0)] for labels in LABELS]

    def table_of(rows, *header):
        return [
            [*header, *COLUMNS],
            *([*row[: len(header)], *(f"{v:.1f}" for v in row[len(header) :])] for row in rows),
        ]

    header = ("task", "own texts", "labels per class")
    print_table(options, "student", f"Accuracy with a student{aside}", table_of(full, *header), note)
    if not options.kept_aside:
        found = means(rows)
        of_sizes = [
            [size, labels, *values] for size, by_labels in found.items() for labels, values in by_labels.items()
        ]
        title = "Accuracy by own text and labels, mean of the tasks"
        note = "The labels are the same for any number of own texts."
        print_table(options, "crossover", title, table_of(of_sizes, *header[1:]), note)
        if options.out is not None:
            save_figure(options.out / "crossover.png", draw(found))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
