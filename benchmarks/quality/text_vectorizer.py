"""Is TextVectorizer behind tf-idf anywhere?

    python benchmarks/quality/text_vectorizer.py --data DATA [--tasks TREC CR] [--points FILE] [--out FOLDER]

Accuracy in per cent of LinearSVC with its defaults, with 10 and 50 labels per class and with all; at most 6,000 rows to
train and 2,000 to test; the mean of five draws of 10 and 50 labels. TextVectorizer learns from all training rows,
most of them without a label. It is compared with "tf-idf", the better in the mean of the draws of two: TfidfVectorizer
fitted on the labelled rows, and on all of them; with "tuned", sublinear tf-idf of words and bigrams with C of 0.1, 1 or
10 by 3-fold cross-validation; and with "characters", sublinear tf-idf of all rows, of char_wb 2 to 5, or of char 1 to 4
in scripts without spaces. The interval of a lead holds with 95 %, for other test rows and other draws. The blocks are
the same for all draws of a task, so they are learned once; weights and stretches are found anew in each draw. FILE
keeps what is measured for the next run.
"""

import csv
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import LinearSVC

from skembed import TextVectorizer
from skembed._meta_estimators.block_rows import side_by_side
from skembed._meta_estimators.block_weights import find_weights
from skembed._meta_estimators.self_training import are_enough, find_stretches, stretched_rows

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import as_csv_table, how_measured, save_figure

CHOSE = ("TREC", "SST2", "MR", "CR", "SUBJ", "MPQA", "searchsnippets", "reuters_r8", "github_issues", "csabstruct")
CHOSE += ("ag_news_titles",)
ENGLISH = ("covidq_category", "tos_type.en", "pricerunner", "sib200.eng_Latn")
OTHERS = ("tos_type.de", "sib200.deu_Latn", "sib200.rus_Cyrl", "sib200.hin_Deva", "sib200.tha_Thai")
OTHERS += ("sib200.jpn_Jpan", "sib200.zho_Hans", "thucnews_zh", "job_titles_pl")
UNSPACED = ("sib200.tha_Thai", "sib200.jpn_Jpan", "sib200.zho_Hans", "thucnews_zh")
GROUPS = {
    "English, on which it was made": CHOSE,
    "English, on which nothing was chosen": ENGLISH,
    "other languages, on which nothing was chosen": OTHERS,
}
MOST_TRAINING, MOST_TEST, MOST_LABELLED = 6_000, 2_000, 1_000
LABELS = {"10": 10, "50": 50, "all": None}
OF_BLOCKS = ("10", "50")  # labels with which each block is left out
METHODS = ("labelled", "on all", "tuned", "characters", "TextVectorizer")
DRAWS = {"10": 5, "50": 5, "all": 1}


def read(path):
    table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, dtype=str)
    return table.iloc[:, 1].to_numpy(object), table.iloc[:, 0].to_numpy(str)


def read_task(folder, name, most_training=MOST_TRAINING, most_test=MOST_TEST):
    """Training rows, their labels, test rows, their labels; a set without a training file is split."""
    path = next(folder.glob(f"*/{name}.*tsv")).with_name(name)
    train, test = (path.with_name(f"{name}.{part}.tsv") for part in ("train", "test"))
    if train.exists():
        parts = [*read(train), *read(test)]
    else:
        whole = path.with_name(f"{name}.tsv")
        X, y = read(whole if whole.exists() else test)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
        parts = [X, y, X_test, y_test]
    chosen = [np.random.default_rng(0).permutation(len(part))[:most_training] for part in parts[1::2]]
    chosen[1] = chosen[1][:most_test]
    return parts[0][chosen[0]], parts[1][chosen[0]], parts[2][chosen[1]], parts[3][chosen[1]]


def drawn(y, n_labels, seed):
    """Rows that have a label."""
    order = np.random.default_rng(seed).permutation(len(y))
    return np.sort(np.concatenate([order[y[order] == label][:n_labels] for label in np.unique(y)]))


class Learned:
    """The blocks of TextVectorizer, learned from all rows of a task, of which any may have a label."""

    def __init__(self, X, y, X_test):
        two = np.full(len(y), None, dtype=object)
        two[[0, np.flatnonzero(y != y[0])[0]]] = "a", "b"
        built_in = TextVectorizer(random_state=0).fit(X, two)._built_in
        self.rows, self.test = built_in.rows(list(X)), built_in.rows(list(X_test))

    def of_draw(self, rows, y, seed, without=None):
        """Training rows and test rows, with the weights of a draw."""
        names = [name for name in self.rows if name != without]
        some = np.arange(len(rows))
        if len(rows) > MOST_LABELLED:
            some = np.sort(np.random.default_rng(seed).choice(len(rows), MOST_LABELLED, replace=False))
        known = {name: self.rows[name][rows[some]] for name in names}
        weights = find_weights(known, y[rows[some]])
        train, test = ({name: of[name] for name in names} for of in (self.rows, self.test))
        others = np.setdiff1d(np.arange(len(y)), rows)
        if are_enough(y[rows[some]], len(others)):
            unlabelled = {name: self.rows[name][others] for name in names}
            stretches = find_stretches(known, y[rows[some]], unlabelled, weights)
            train, test = stretched_rows(train, stretches), stretched_rows(test, stretches)
        return side_by_side({name: train[name][rows] for name in names}, weights), side_by_side(test, weights)


def is_right(classifier, train, y, test, y_test):
    """For each test row."""
    return classifier.fit(train, y).predict(test) == y_test


def measure(task, unspaced=False):
    """By number of labels, right test rows of each draw: of the methods, and of TextVectorizer without each block."""
    X, y, X_test, y_test = task
    learned = Learned(X, y, X_test)
    on_all = TfidfVectorizer().fit(X)
    own = [learned.rows["characters"], learned.test["characters"]]
    if unspaced:
        counts = TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=2, sublinear_tf=True).fit(X)
        own = [counts.transform(X), counts.transform(X_test)]
    svm = LinearSVC(random_state=0)
    found = {}
    for labels, n_labels in LABELS.items():
        methods, without = [], []
        for seed in range(DRAWS[labels]):
            rows = drawn(y, n_labels, seed)
            known = y[rows]
            right = []
            for vectorizer in (TfidfVectorizer().fit(X[rows]), on_all):
                right.append(is_right(svm, vectorizer.transform(X[rows]), known, vectorizer.transform(X_test), y_test))
            bigrams = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit(X[rows])
            tuned = svm
            if np.unique(known, return_counts=True)[1].min() >= 3:
                tuned = GridSearchCV(svm, {"C": [0.1, 1, 10]}, cv=3)
            right.append(is_right(tuned, bigrams.transform(X[rows]), known, bigrams.transform(X_test), y_test))
            right.append(is_right(svm, own[0][rows], known, own[1], y_test))
            train, test = learned.of_draw(rows, y, seed)
            right.append(is_right(svm, train, known, test, y_test))
            methods.append(right)
            if not seed and labels in OF_BLOCKS:
                pairs = (learned.of_draw(rows, y, seed, without=name) for name in learned.rows)
                without.append([100 * is_right(svm, *pair[:1], known, pair[1], y_test).mean() for pair in pairs])
        left_out = dict(zip(learned.rows, np.mean(without, axis=0))) if without else {}
        found[labels] = np.array(methods), left_out
    return found


def lead_of(right, method, reference):
    """A lead in points and the half of its interval, from right test rows of each draw."""
    differences = 100 * (right[:, METHODS.index(method)].astype(float) - right[:, METHODS.index(reference)])
    variance = differences.mean(axis=0).var(ddof=1) / differences.shape[1]
    if len(differences) > 1:
        variance += differences.mean(axis=1).var(ddof=1) / len(differences)
    return differences.mean(), 1.96 * variance**0.5


def tables_of(found):
    """All cells, the means of the groups, and what each block brings: rows, each with a header."""
    cells, leads = [], {}
    for task, of_labels in found.items():
        for labels, (right, _) in of_labels.items():
            scores = dict(zip(METHODS, 100 * right.mean(axis=(0, 2))))
            reference = max(METHODS[:2], key=scores.get)
            lead, half = lead_of(right, "TextVectorizer", reference)
            of = {"tf-idf": lead} | {name: scores["TextVectorizer"] - scores[name] for name in METHODS[2:4]}
            leads[task, labels] = of | {"scores": scores | {"tf-idf": scores[reference]}}
            accuracies = (f"{scores[name]:.1f}" for name in (reference, *METHODS[2:]))
            cells.append([task, labels, *accuracies, f"{lead:+.1f}", f"{lead - half:+.1f} to {lead + half:+.1f}"])
    means = []
    for title, tasks in GROUPS.items():
        measured_tasks = [task for task in tasks if task in found]
        for labels in LABELS if measured_tasks else ():
            of = [leads[task, labels] for task in measured_tasks]
            row = [f"{len(of)} {title}", labels]
            for name in ("tf-idf", "tuned", "characters"):
                worst = min(measured_tasks, key=lambda task: leads[task, labels][name])
                row += [f"{np.mean([one[name] for one in of]):+.1f}", f"{leads[worst, labels][name]:+.1f} {worst}"]
            means.append(row)
    header = ["task", "labels per class", "tf-idf", "tuned", "characters", "TextVectorizer", "lead over tf-idf", "95 %"]
    compared = (column for name in ("tf-idf", "tuned", "characters") for column in (f"lead over {name}", "worst"))
    blocks = list(next(iter(found.values()))["10"][1])
    ablation = []
    for title, tasks in GROUPS.items():
        for labels in OF_BLOCKS:
            losses = []
            for task in (task for task in tasks if task in found):
                right, without = found[task][labels]
                whole = 100 * right[:1, METHODS.index("TextVectorizer")].mean()
                losses.append([without[name] - whole if name in without else 0.0 for name in blocks])
            if losses:
                ablation.append(
                    [f"{len(losses)} {title}", labels, *(f"{loss:+.1f}" for loss in np.mean(losses, axis=0))]
                )
    return {
        "text_vectorizer": ("Accuracy with LinearSVC", [header, *cells]),
        "text_vectorizer_means": ("Mean leads of TextVectorizer", [["tasks", "labels per class", *compared], *means]),
        "text_vectorizer_blocks": (
            "What TextVectorizer gains (+) or loses (-) in points without a block",
            [["tasks", "labels per class", *blocks], *ablation],
        ),
    }, leads


def draw(figure, leads):
    """Mean accuracy by number of labels, of the English tasks that have all numbers of labels."""
    ax = figure.subplots()
    tasks = [task for task in (*CHOSE, *ENGLISH) if (task, "all") in leads]
    styles = {"TextVectorizer": ("#0072B2", "-"), "characters": ("#009E73", ":"), "tuned": ("#D55E00", "-.")}
    for name, (colour, line) in (styles | {"tf-idf": ("0.45", "--")}).items():
        means = [np.mean([leads[task, labels]["scores"][name] for task in tasks]) for labels in LABELS]
        label = {"tuned": "tf-idf, bigrams, C tuned", "tf-idf": "tf-idf, the better of two"}.get(name, name)
        ax.plot(range(len(LABELS)), means, color=colour, ls=line, lw=2.5, marker="o", label=label)
    ax.set(xticks=range(len(LABELS)), xticklabels=LABELS, xlabel="labels per class")
    ax.set_ylabel(f"accuracy (%), mean of {len(tasks)} English tasks")
    ax.legend()


def main():
    options = arguments(
        __doc__,
        tasks={"nargs": "*", "default": [*CHOSE, *ENGLISH, *OTHERS]},
        points={"type": Path, "help": "file that keeps what is measured"},
    )
    found = joblib.load(options.points) if options.points is not None and options.points.exists() else {}
    for name in options.tasks[:1] if options.quick else options.tasks:
        if name in found:
            continue
        found[name] = measure(read_task(options.data / "eval", name), name in UNSPACED)
        print(name, {k: 100 * right.mean(axis=(0, 2)).round(3) for k, (right, _) in found[name].items()}, flush=True)
        if options.points is not None:
            joblib.dump(found, options.points)
    found = {name: found[name] for name in (*CHOSE, *ENGLISH, *OTHERS) if name in found}
    tables, leads = tables_of(found)
    worst = min(leads, key=lambda cell: leads[cell]["tf-idf"])
    note = f"The worst is {worst[0]} with {worst[1]} labels: {leads[worst]['tf-idf']:+.1f}."
    for name, (title, rows) in tables.items():
        text = as_csv_table(title, rows)
        print(text)
        if options.out is not None:
            end = f"\n{how_measured(note)}" if name == "text_vectorizer" else ""
            (options.out / f"{name}.inc").write_text(text + end, encoding="utf8")
    if options.out is not None:
        save_figure(options.out / "text_vectorizer.png", lambda figure: draw(figure, leads))


if __name__ == "__main__":
    main()
