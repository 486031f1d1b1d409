"""Does a classifier lose by rows that the vectors have learned from?

    python benchmarks/quality/training_rows.py --data DATA --rounds 3 [--out doc/_results/quality]

Vectors fit the sentences that they were learned from better than new ones, and in a pipeline the classifier sees those
rows alone. Here the labelled sentences are cut in two. The vectors learn from one half; the classifier learns once from
the same half and once from the other, which has as many sentences of each class, and is scored on the test sentences.
The tasks are those of labels.py. The vectors are of words, without n-grams of characters.
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, SiameseCBOWVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from labels import MANY, few, read_tasks
from measuring import arguments
from reporting import report, target

METHODS = {"CBOS": CBOSVectorizer, "Siamese CBOW": SiameseCBOWVectorizer}
LABELS = (10, 50, None)  # of each class in a half; None: all
SAME, OTHER = "the rows learned from", "other rows"


def accuracies(cls, n_labels, task, seed):
    """Accuracy in per cent of a classifier on the rows that the vectors have learned from, and on others."""
    X, y, X_test, y_test = task
    X, y = few(X, y, n_labels and 2 * n_labels, seed)
    learned, other, y_learned, y_other = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    emb = cls(analyzer="word", random_state=seed).fit(learned, y_learned)
    rows = emb.transform(X_test)
    halves = (learned, y_learned), (other, y_other)
    return [100 * LinearSVC().fit(emb.transform(half), labels).score(rows, y_test) for half, labels in halves]


def main():
    options = arguments(__doc__)
    tasks = read_tasks(options.data, validate=False)
    del tasks[MANY]  # its classes have fewer sentences than a hundred
    rows, targets = [], []
    for n_labels in LABELS:
        for name, cls in METHODS.items():
            runs = [[accuracies(cls, n_labels, tasks[task], seed) for task in tasks] for seed in range(options.rounds)]
            same, other = np.mean(runs, axis=(0, 1))
            row = {"labels per class": n_labels or "half of all", "method": name}
            rows.append(row | {SAME: round(same, 1), OTHER: round(other, 1), "lost": round(other - same, 1)})
            print(rows[-1], flush=True)
            lost = float(other - same)
            what = f"{name}, {n_labels or 'half of all'} labels"
            targets.append(
                target("accuracy lost by the rows learned from", what, lost, 0.5, at_most=True, unit="points")
            )
    title = "Mean accuracy in per cent over six tasks, by the rows that the classifier learns from"
    notes = f'Mean of {options.rounds} seeds. Vectors of words: `analyzer="word"`.'
    report(options, "training_rows", title, rows, notes=notes, targets=targets)


if __name__ == "__main__":
    main()
