"""Is a student, without the transformer that taught it, as good as the transformer?

    python benchmarks/quality/student.py --data DATA [--kept-aside] [--cache FOLDER] [--out doc/_results/quality]

The models, tasks and draws are those of pretrained.py. The teacher is the transformer; it embeds all training rows of a
task, at most 1,500, without their labels. Before LinearSVC with its defaults are TextVectorizer alone, with wordllama,
with the student, and with both. Beside them are the transformer and wordllama alone, the better of LinearSVC and
LogisticRegression on rows of length one.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from pretrained import KEPT_ASIDE, LABELS, MOST_TEST, MOST_TRAINING, TASKS, draws, load_models
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC
from text_vectorizer import read_task

from skembed import PretrainedVectorizer, TextVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import ONE_THREAD, arguments

os.environ |= ONE_THREAD

from reporting import print_table

TRANSFORMER, STATIC = "MiniLM", "wordllama"
METHODS = {
    "TextVectorizer": (),
    f"with {STATIC}": ("pretrained",),
    "with student": ("teacher",),
    "with both": ("pretrained", "teacher"),
}


def cells(task, models):
    """Yield the number of labels, and accuracies: of the methods, the transformer and the static model."""
    X, y, X_test, y_test = task
    given = {"pretrained": models[STATIC], "teacher": models[TRANSFORMER]}
    for labels, n_labels in LABELS.items():
        found = []
        for seed, rows in draws(y, n_labels):
            others = list(X[np.setdiff1d(np.arange(len(y)), rows)])

            def accuracy(transformer, classifier, rows=rows):
                pipeline = make_pipeline(transformer, classifier)
                return 100 * np.mean(pipeline.fit(list(X[rows]), y[rows]).predict(list(X_test)) == y_test)

            svc = LinearSVC(random_state=0)
            row = []
            for names in METHODS.values():
                blocks = {name: given[name] for name in names}
                emb = TextVectorizer(corpus=others, n_teacher=None, random_state=seed, **blocks)
                row.append(accuracy(emb, svc))
            for name in (TRANSFORMER, STATIC):
                alone = make_pipeline(models[name], Normalizer())
                row.append(max(accuracy(alone, c) for c in (svc, LogisticRegression(max_iter=1000))))
            found.append(row)
        yield labels, np.mean(found, axis=0)


def main():
    options = arguments(
        __doc__,
        kept_aside={"action": "store_true", "help": "take the tasks on which nothing was chosen"},
        cache={"type": Path, "default": "memory", "help": "folder that keeps the rows of the models"},
    )
    models = {
        name: PretrainedVectorizer(model, cache=options.cache, verbose=1) for name, model in load_models().items()
    }
    rows = []
    for name in (KEPT_ASIDE if options.kept_aside else TASKS)[: 1 if options.quick else None]:
        for labels, found in cells(read_task(options.data / "eval", name, MOST_TRAINING, MOST_TEST), models):
            rows.append([name, labels, *found])
            print(*rows[-1][:2], *(f"{value:.1f}" for value in found), flush=True)
    both, transformer = 2 + list(METHODS).index("with both"), 2 + len(METHODS)
    worst = min((row[both] - row[transformer], *row[:2]) for row in rows)
    least = min((row[both] - row[2], *row[:2]) for row in rows)
    rows += [["mean", labels, *np.mean([row[2:] for row in rows if row[1] == labels], axis=0)] for labels in LABELS]
    note = f"Worst, with both: beside the transformer {worst[0]:+.1f} ({worst[1]}, {worst[2]} labels); "
    note += f"beside TextVectorizer {least[0]:+.1f} ({least[1]}, {least[2]} labels)."
    header = ["task", "labels per class", *METHODS, f"{TRANSFORMER} alone", f"{STATIC} alone"]
    table = [header, *([*row[:2], *(f"{value:.1f}" for value in row[2:])] for row in rows)]
    title = "Accuracy with a student" + (", tasks on which nothing was chosen" if options.kept_aside else "")
    print_table(options, "student", title, table, note)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
