"""How well do vectors learned from labels serve a classifier of many classes, and which settings help?

    python benchmarks/quality/many_classes.py --data DATA [--intents FOLDER] [--out doc/_results/quality]

The classes are 77 and 150 articles of DATA/corpora/simplewiki.txt.gz, with 110 and 90 sentences each to learn from, and
30 to test. FOLDER is the first fold of the cross-validation of NLU-Evaluation-Data (Liu et al., 2019): commands to an
assistant with 64 intents, in `trainset` and `testset/csv`, a file for each intent. scikit-learn's LinearSVC with its
defaults classifies; tf-idf has its penalty chosen by cross-validation. All are development sets: settings were chosen
on them.
"""

import csv
import gzip
import sys
from itertools import groupby
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from labels import line, tfidf
from measuring import arguments, cpu_seconds
from reporting import report, target
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skembed import CBOSVectorizer, SiameseCBOWVectorizer

# Many passes, the context of up to eight sentences of the class, and many negatives of large blocks.
LONG = {"max_iter": 20, "window": 4, "negative": 50, "batch_size": 512}
ARTICLES = {77: 110, 150: 90}  # classes: sentences of each to learn from
N_TEST, WORDS = 30, range(5, 41)  # of each class; words of a sentence that counts


def scaled(vectorizer):
    """The same with rows of length one."""
    return line(make_pipeline(vectorizer, Normalizer()))


def of_words(seed, cls=CBOSVectorizer, **options):
    """An estimator that takes no n-grams of characters."""
    return cls(analyzer="word", random_state=seed, **options)


METHODS = {
    "tf-idf": lambda seed: tfidf(),
    "CBOS": lambda seed: line(CBOSVectorizer(random_state=seed)),
    "CBOS, rows of length one": lambda seed: scaled(CBOSVectorizer(random_state=seed)),
    "CBOS of words": lambda seed: line(of_words(seed)),
    "CBOS of words, 20 passes": lambda seed: line(of_words(seed, max_iter=20)),
    "CBOS of words, 20 passes, rows of length one": lambda seed: scaled(of_words(seed, max_iter=20)),
    "CBOS of words, 20 passes, window 4": lambda seed: line(of_words(seed, max_iter=20, window=4)),
    "CBOS of words, and 50 negatives of 512": lambda seed: line(of_words(seed, **LONG)),
    "CBOS of words, and rows of length one": lambda seed: scaled(of_words(seed, **LONG)),
    "Siamese CBOW": lambda seed: line(SiameseCBOWVectorizer(random_state=seed)),
    "Siamese CBOW, rows of length one": lambda seed: scaled(SiameseCBOWVectorizer(random_state=seed)),
    "Siamese CBOW of words": lambda seed: line(of_words(seed, SiameseCBOWVectorizer)),
    "Siamese CBOW of words, rows of length one": lambda seed: scaled(of_words(seed, SiameseCBOWVectorizer)),
}


def read_articles(path):
    """The different sentences of each article that is long enough for every set."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        blocks = [list(block) for is_text, block in groupby(map(str.strip, file), bool) if is_text]
    articles = [[text for text in dict.fromkeys(block) if len(text.split()) in WORDS] for block in blocks]
    return [article for article in articles if len(article) >= max(ARTICLES.values()) + N_TEST]


def of_articles(articles, n_classes, n_train):
    """Training sentences, their labels, test sentences, their labels; articles and sentences are drawn at random."""
    random, parts = np.random.default_rng(0), ([], [], [], [])
    for label in random.choice(len(articles), n_classes, replace=False):
        texts = [articles[label][i] for i in random.permutation(len(articles[label]))[: n_train + N_TEST]]
        for part, values in zip(parts[::2], (texts[:n_train], texts[n_train:])):
            part += values
        for part, size in zip(parts[1::2], (n_train, N_TEST)):
            part += [str(label)] * size
    return parts


def of_intents(folder):
    """The same from a file for each intent."""
    parts = []
    for files in (folder / "trainset", folder / "testset" / "csv"):
        rows = []
        for path in sorted(files.glob("*.csv")):
            with open(path, encoding="utf8", newline="") as file:
                rows += [(row["answer_from_anno"], path.stem) for row in csv.DictReader(file, delimiter=";")]
        parts += map(list, zip(*rows))
    return parts


def targets_of(rows, tasks):
    """The method with the best mean beside tf-idf, the first row."""
    best = max(rows[1:], key=lambda row: row["mean"])
    return [
        target(
            f"many classes, {task}, within a point of tf-idf", best["method"], best[task], rows[0][task] - 1, unit="%"
        )
        for task in tasks
    ]


def main():
    options = arguments(__doc__, intents={"type": Path, "help": "folder with trainset/ and testset/csv/"})
    articles = read_articles(options.data / "corpora" / "simplewiki.txt.gz")
    tasks = {f"{n} articles": of_articles(articles, n, n_train) for n, n_train in ARTICLES.items()}
    if options.intents is not None:
        tasks["64 intents"] = of_intents(options.intents)
    if options.quick:
        del tasks[f"{max(ARTICLES)} articles"]
    rows = []
    for name, make in METHODS.items():
        row, start = {"method": name}, cpu_seconds()
        seeds = range(1 if name == "tf-idf" else options.rounds)
        for task, (X, y, X_test, y_test) in tasks.items():
            scores = [100 * make(seed).fit(X, y).score(X_test, y_test) for seed in seeds]
            row[task] = round(float(np.mean(scores)), 1)
        row["mean"] = round(float(np.mean([row[task] for task in tasks])), 1)
        rows.append(row | {"CPU s": round((cpu_seconds() - start) / len(tasks) / len(seeds), 1)})
        print(rows[-1], flush=True)
    of = "One seed" if options.rounds == 1 else f"Mean over {options.rounds} seeds (tf-idf: one)"
    notes = f'{of}; CPU s: learning, embedding and classifying one task. "Of words": `analyzer="word"`.'
    title = "Many classes: accuracy in per cent of a linear classifier on vectors learned from labels"
    report(options, "many_classes", title, rows, notes=notes, targets=targets_of(rows, tasks))


if __name__ == "__main__":
    main()
