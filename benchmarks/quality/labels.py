"""How well do vectors learned from labels serve a classifier, and what do they cost?

    python benchmarks/quality/labels.py --data DATA [--quick] [--out doc/_results/quality]

DATA/eval/clf holds TREC and SST2 with their test sets, and MR, CR, SUBJ and MPQA, of which a stratified fifth is held
out. Each method learns from the training sentences of the task and their labels, and nothing else, then scikit-learn's
LinearSVC with its defaults classifies; tf-idf has its penalty chosen by cross-validation. fastText's own classifier is
a row where the package fasttext is installed. With --validate a fifth of the training sentences takes the place of the
test set: on it the settings were chosen. The curves have ten, fifty and all labels per class. The topics of Opinosis
(DATA/eval/clf/opinosis_topics.tsv), of which a fifth is held out, show many classes.
"""

import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, SiameseCBOWVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, cpu_seconds
from reporting import report
from yardsticks import read_labelled

SPLIT, HELD_OUT, MANY = ("TREC", "SST2"), ("MR", "CR", "SUBJ", "MPQA"), "opinosis_topics"
LABELS = (10, 50, None)  # of each class; None is all
BIGRAMS = {"ngram_range": (1, 2)}


def tfidf(**options):
    """Every word of the tokens that the estimators count, and a penalty chosen for the task."""
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", **options)
    return make_pipeline(words, GridSearchCV(LinearSVC(), {"C": [0.03, 0.1, 0.3, 1, 3]}, cv=5))


def line(vectorizer):
    """A vectorizer before a linear support vector machine, both with their defaults."""
    return make_pipeline(vectorizer, LinearSVC())


class FastText(ClassifierMixin, BaseEstimator):
    """fastText's own classifier: 100 dimensions, 25 passes, one thread. It has no seed in its Python interface."""

    def __init__(self, ngrams=1):
        self.ngrams = ngrams

    def fit(self, X, y):
        from fasttext import train_supervised

        options = {"dim": 100, "epoch": 25, "wordNgrams": self.ngrams, "thread": 1, "verbose": 0}
        self.model_ = self._with_file(X, y, lambda path: train_supervised(path, **options))
        return self

    def score(self, X, y):
        n, precision, _ = self._with_file(X, y, lambda path: self.model_.test(path))
        return precision * n / len(X)  # it leaves out sentences without words

    @staticmethod
    def _with_file(X, y, use):
        words = (" ".join(re.findall(r"\w+", text.lower())) for text in X)
        lines = (f"__label__{label} {line}\n" for line, label in zip(words, y))
        with tempfile.NamedTemporaryFile("w", encoding="utf8") as file:
            file.writelines(lines)
            file.flush()
            return use(file.name)


METHODS = {
    "tf-idf": lambda seed: tfidf(),
    "tf-idf, bigrams": lambda seed: tfidf(**BIGRAMS),
    "CBOS": lambda seed: line(CBOSVectorizer(random_state=seed)),
    "CBOS of words": lambda seed: line(CBOSVectorizer(analyzer="word", random_state=seed)),
    "CBOS, bigrams": lambda seed: line(CBOSVectorizer(random_state=seed, **BIGRAMS)),
    "Siamese CBOW": lambda seed: line(SiameseCBOWVectorizer(random_state=seed)),
    "Siamese CBOW of words": lambda seed: line(SiameseCBOWVectorizer(analyzer="word", random_state=seed)),
    "Siamese CBOW, bigrams": lambda seed: line(SiameseCBOWVectorizer(random_state=seed, **BIGRAMS)),
}

if find_spec("fasttext"):
    METHODS |= {"fastText": lambda seed: FastText(), "fastText, bigrams": lambda seed: FastText(2)}


def read_tasks(data, validate):
    """Name -> training sentences, their labels, test sentences, their labels."""
    folder, tasks = data / "eval" / "clf", {}
    for name in SPLIT:
        tasks[name] = *read_labelled(folder / f"{name}.train.tsv"), *read_labelled(folder / f"{name}.test.tsv")
    for name in (*HELD_OUT, MANY):
        tasks[name] = _split(*read_labelled(folder / f"{name}.tsv"), 0)
    return {name: _split(X, y, 1) if validate else (X, y, *test) for name, (X, y, *test) in tasks.items()}


def _split(X, y, seed):
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    return train, y_train, test, y_test


def few(X, y, n, seed):
    """At most n sentences of each class, drawn at random."""
    if n is None:
        return X, y
    order = np.random.default_rng(seed).permutation(len(y))
    labels = np.asarray(y)[order]
    chosen = np.concatenate([order[labels == label][:n] for label in np.unique(labels)])
    return [X[i] for i in chosen], [y[i] for i in chosen]


def main():
    options = arguments(__doc__, validate={"action": "store_true", "help": "score on a part of the training sentences"})
    tasks = read_tasks(options.data, options.validate)
    rows = []
    for n in LABELS[-1:] if options.quick else LABELS:
        for name, make in METHODS.items():
            scores, start = {}, cpu_seconds()
            for task, (X, y, X_test, y_test) in tasks.items():
                seeds = range(options.rounds)
                fits = (make(seed).fit(*few(X, y, n, seed)).score(X_test, y_test) for seed in seeds)
                scores[task] = 100 * float(np.mean(list(fits)))
            many = scores.pop(MANY)
            mean = float(np.mean(list(scores.values())))
            seconds = (cpu_seconds() - start) / len(tasks) / options.rounds
            row = {"labels per class": n or "all", "method": name} | {k: round(v, 1) for k, v in scores.items()}
            row |= {"mean": round(mean, 1), "51 topics": round(many, 1), "CPU s": round(seconds, 2)}
            rows.append(row)
            print(row, flush=True)
    title = "Accuracy in per cent of a linear classifier on vectors learned from the labels of the task"
    notes = (
        f"Mean of {options.rounds} seeds; the mean over the tasks leaves the topics out. CPU s: learning, embedding "
        "and classifying one task, tf-idf with its choice of a penalty. The first fit of a process loads the compiled "
        "kernels."
    )
    report(options, "labels", title, rows, notes=notes)


if __name__ == "__main__":
    main()
