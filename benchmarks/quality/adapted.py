"""What does adapting a static model to own text gain: by labels, by reading order, and in how many seconds?

    python benchmarks/quality/adapted.py --data DATA [--order | --german] [--out doc/_results/quality]

The model is wordllama, static vectors of 256 numbers (``pip install wordllama``). Accuracy in per cent with 50 labels
per class on the tasks of pretrained.py, and on German contracts and news; with --german on these alone, and that of
TextVectorizer too. Rows and draws are those of pretrained.py. AdaptedVectorizer learns from the labelled rows; it and
the model stand before the better of LinearSVC and LogisticRegression. --order: whether two sentences of new documents
are neighbours in one of them or of two documents, area under the curve times 100, by the cosine; CPU seconds of the
adaptation with two threads, and of the first of them, which is what it takes on two idle cores. As a static model knows
any word, its vectors of the words of new texts are passed too.
"""

import gzip
import sys
import time
import warnings
from itertools import groupby
from pathlib import Path

from pretrained import (  # isort: skip, it pins the threads
    KEPT_ASIDE,
    MOST_TEST,
    MOST_TRAINING,
    STATIC,
    TASKS,
    draws,
    load_static,
    read_task,
)

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from skembed import AdaptedVectorizer, SentenceCorpus, TextVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

GERMAN = ("tos_type.de", "sib200.deu_Latn")
CORPORA = {"books_small": (3_000, 10_000), "simplewiki": (3_000, 10_000, 50_000)}
N_LABELS = 50
N_NEW = 4_000  # sentences of new documents
COLUMNS = ("tf-idf", f"{STATIC} alone", "adapted alone", "TextVectorizer", f"TextVectorizer with {STATIC}")


def word_vectors(texts, embed, **options):
    """The words of some texts, and what the model says of each alone."""
    words = list(SentenceCorpus.from_sentences(texts, **options).vocabulary.words)
    return words, np.asarray(embed(words), np.float32)


def best(train, y, test, y_test):
    """Accuracy of the better classifier, in per cent."""
    classifiers = LinearSVC(random_state=0), LogisticRegression(max_iter=1000)
    return max(100 * np.mean(classifier.fit(train, y).predict(test) == y_test) for classifier in classifiers)


def accuracies(task, embed, rows, seed, columns):
    """Of some columns, from the labels of some rows."""
    X, y, X_test, y_test = task
    known, svc = y[rows], LinearSVC(random_state=0)
    labels = np.full(len(y), None, object)
    labels[rows] = known

    def of(vectorizer):
        train = vectorizer.fit(X[rows], known).transform(X[rows])
        return 100 * np.mean(svc.fit(train, known).predict(vectorizer.transform(X_test)) == y_test)

    def of_adapted():
        adapted = AdaptedVectorizer(word_vectors([*X, *X_test], embed), random_state=seed).fit(list(X), labels)
        return best(adapted.transform(X[rows]), known, adapted.transform(X_test), y_test)

    own = TextVectorizer(corpus=list(X[np.setdiff1d(np.arange(len(y)), rows)]), random_state=seed)
    measures = {
        "tf-idf": lambda: max(of(TfidfVectorizer()), of(FrozenEstimator(TfidfVectorizer().fit(X)))),
        f"{STATIC} alone": lambda: best(normalize(embed(list(X[rows]))), known, normalize(embed(list(X_test))), y_test),
        "adapted alone": of_adapted,
        "TextVectorizer": lambda: of(own),
        f"TextVectorizer with {STATIC}": lambda: of(own.set_params(pretrained=embed)),
    }
    return [measures[name]() for name in columns]


def documents_of(path):
    """Documents of an ordered text, each a list of sentences."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        lines = (line.rstrip("\n") for line in file)
        yield from ([*lines_of] for has_text, lines_of in groupby(lines, bool) if has_text)


def first_sentences(documents, n):
    """The first sentences of an iterator of documents, and the document of each."""
    sentences, groups = [], []
    while len(sentences) < n:
        document = next(documents)
        sentences += document
        groups += [len(groups)] * len(document)
    return sentences[:n], groups[:n]


def area(transform, sentences, groups):
    """Neighbours beside pairs of two documents."""
    rows = normalize(transform(sentences))
    groups = np.array(groups)
    first = np.flatnonzero(groups[1:] == groups[:-1])
    random = np.random.default_rng(0)
    left, right = random.integers(len(groups), size=(2, len(first)))
    is_other = groups[left] != groups[right]

    def cosines(some, others):
        products = rows[some] * rows[others] if isinstance(rows, np.ndarray) else rows[some].multiply(rows[others])
        return np.asarray(products.sum(axis=1)).ravel()

    scores = np.concatenate([cosines(first, first + 1), cosines(left[is_other], right[is_other])])
    return 100 * roc_auc_score(np.arange(len(scores)) < len(first), scores)


def measure_order(options, embed):
    rows = [["text", "own sentences", "tf-idf", STATIC, "adapted", "score", "CPU s", "first thread"]]
    for name, sizes in CORPORA.items():
        documents = documents_of(options.data / "corpora" / f"{name}.txt.gz")
        new = first_sentences(documents, N_NEW)
        of_model = area(embed, *new)
        own, groups = first_sentences(documents, max(sizes))
        for n in sizes[: 1 if options.quick else None]:
            began = time.process_time(), time.thread_time()
            model = word_vectors(own[:n] + new[0], embed, lowercase=False)  # as the model
            adapted = AdaptedVectorizer(model, lowercase=False, n_jobs=2, random_state=0)
            adapted.fit(own[:n], groups=groups[:n])
            seconds = time.process_time() - began[0], time.thread_time() - began[1]
            areas = area(TfidfVectorizer().fit(own[:n]).transform, *new), of_model, area(adapted.transform, *new)
            rows.append([name, f"{n:,}", *(f"{v:.1f}" for v in areas), f"{adapted.score_:.2f}"])
            rows[-1] += [f"{value:.0f}" for value in seconds]
            print(*rows[-1], flush=True)
    print_table(options, "adapted_order", f"{STATIC} adapted to text in reading order", rows, "Two threads.")


def measure_labels(options, embed):
    name, title = "adapted", f"{STATIC} adapted by labels, 50 of each class"
    tasks, columns = (*TASKS, *KEPT_ASIDE, *GERMAN), COLUMNS[1:3]
    if options.german:
        name, title, tasks, columns = (
            "german",
            "German, with an English model, 50 labels of each class",
            GERMAN,
            COLUMNS,
        )
    rows = [["task", *columns]]
    for task in tasks[: 1 if options.quick else None]:
        parts = read_task(options.data / "eval", task, MOST_TRAINING, MOST_TEST)
        found = [accuracies(parts, embed, some, seed, columns) for seed, some in draws(parts[1], N_LABELS)]
        rows.append([task, *(f"{value:.1f}" for value in np.mean(found, axis=0))])
        print(*rows[-1], flush=True)
    print_table(options, name, title, rows, "Mean of three draws.")


def main():
    options = arguments(
        __doc__,
        order={"action": "store_true", "help": "adapt to text in reading order"},
        german={"action": "store_true", "help": "German tasks alone, with TextVectorizer"},
    )
    embed = load_static()
    embed(["A sentence."])
    (measure_order if options.order else measure_labels)(options, embed)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
