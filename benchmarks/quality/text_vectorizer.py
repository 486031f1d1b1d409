"""Is TextVectorizer behind tf-idf anywhere?

    python benchmarks/quality/text_vectorizer.py --data DATA [--kept-aside] [--out doc/_results/quality]

Accuracy in per cent, with 10 and 50 labels a class and with all, of LinearSVC with its defaults; at most 3,000 rows to
train and 1,000 to test; the mean of three draws of the labels. TextVectorizer learns from all training rows, most of
them without a label. Beside it is, in each draw, the better of two: TfidfVectorizer fitted on the labelled rows, and on
all of them. One draw of ten labels moves the lead by some points.
--kept-aside takes the tasks on which nothing was chosen.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import TextVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

TASKS = ("clf/TREC", "clf/CR", "clf/SUBJ", "clf/searchsnippets", "clf/github_issues", "clf/csabstruct")
KEPT_ASIDE = (
    "clf/ag_news_titles",
    "clf/tos_type.en",
    "clf/tos_type.de",
    "clf/pricerunner",
    "lang/sib200.deu_Latn",
    "lang/sib200.zho_Hans",
    "lang/sib200.tha_Thai",
)
MOST_TRAINING, MOST_TEST = 3_000, 1_000
LABELS = {"10": 10, "50": 50, "all": None}
SEEDS = range(3)


def read(path):
    table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, dtype=str)
    return table.iloc[:, 1].to_numpy(object), table.iloc[:, 0].to_numpy(str)


def read_task(folder, name, most_training=MOST_TRAINING, most_test=MOST_TEST):
    """Training rows, their labels, test rows, their labels; a set without a training file is split."""
    path = folder / name
    train, test = (path.with_name(f"{path.name}.{part}.tsv") for part in ("train", "test"))
    if train.exists():
        parts = [*read(train), *read(test)]
    else:
        whole = path.with_name(f"{path.name}.tsv")
        X, y = read(whole if whole.exists() else test)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
        parts = [X, y, X_test, y_test]
    chosen = [np.random.default_rng(0).permutation(len(part))[:most_training] for part in parts[1::2]]
    chosen[1] = chosen[1][:most_test]
    return parts[0][chosen[0]], parts[1][chosen[0]], parts[2][chosen[1]], parts[3][chosen[1]]


def cells(task, seeds):
    """Yield the number of labels, and for each seed both accuracies and the weights of the blocks."""
    X, y, X_test, y_test = task
    own_tfidf = TfidfVectorizer().fit(X)

    def accuracy(pipeline, X, y):
        return 100 * np.mean(pipeline.fit(X, y).predict(X_test) == y_test)

    for labels, n_labels in LABELS.items():
        found = []
        for seed in seeds if n_labels else [0]:
            order = np.random.default_rng(seed).permutation(len(y))
            rows = [order[y[order] == label][:n_labels] for label in np.unique(y)]
            rows = np.sort(np.concatenate(rows))
            classifier = LinearSVC(random_state=0)
            on_labelled = accuracy(make_pipeline(TfidfVectorizer(), classifier), X[rows], y[rows])
            on_all = 100 * np.mean(
                classifier.fit(own_tfidf.transform(X[rows]), y[rows]).predict(own_tfidf.transform(X_test)) == y_test
            )
            others = np.setdiff1d(np.arange(len(y)), rows)
            vectorizer = TextVectorizer(corpus=list(X[others]), random_state=seed)
            ours = accuracy(make_pipeline(vectorizer, classifier), X[rows], y[rows])
            found.append((max(on_labelled, on_all), ours, vectorizer.block_weights_.get("words_lsa", 0)))
        yield labels, np.array(found)


def main():
    options = arguments(
        __doc__, kept_aside={"action": "store_true", "help": "take the tasks on which nothing was chosen"}
    )
    names, seeds = KEPT_ASIDE if options.kept_aside else TASKS, SEEDS
    if options.quick:
        names, seeds = names[:1], [0]
    rows = []
    for name in names:
        for labels, found in cells(read_task(options.data / "eval", name), seeds):
            tfidf, ours, weight = found.mean(axis=0)
            lead = f"{ours - tfidf:+.1f}"
            rows.append([name.split("/")[1], labels, f"{tfidf:.1f}", f"{ours:.1f}", lead, f"{weight:.2f}"])
            print(*rows[-1], flush=True)
    leads = {labels: [float(row[4]) for row in rows if row[1] == labels] for labels in LABELS}
    rows += [["mean", labels, "", "", f"{np.mean(found):+.1f}", ""] for labels, found in leads.items()]
    worst = min(rows[: -len(leads)], key=lambda row: float(row[4]))
    header = ["task", "labels a class", "tf-idf", "TextVectorizer", "lead", "weight of a dense block"]
    title = "Accuracy with LinearSVC" + (", tasks on which nothing was chosen" if options.kept_aside else "")
    note = f"The worst is {worst[0]} with {worst[1]} labels: {worst[4]}."
    print_table(options, "text_vectorizer", title, [header, *rows], note)


if __name__ == "__main__":
    main()
