"""How sure is a classifier of rows that were learned from its labels, and what makes it less so?

    python benchmarks/quality/calibration.py --data DATA [--csv FILE] [--out doc/_results/quality]

In a pipeline the classifier learns from rows of `fit_transform`, which fit their labels better than rows of new
sentences do. CBOS and Siamese CBOW of words learn from ten, fifty and all labels per class, 3,000 at most;
LogisticRegression classifies 2,000 test sentences of eval/clf at most. A set without a test file has 30 % held out.
The cures of the rows are tried on four sets; scikit-learn's calibrators, inside the pipeline and around it, on four
others too.

"cross-fitted": the rows of each of five folds come from a model that has seen no label of the fold, but all of its
words, from one start and seed; its word vectors are turned to those of the model of all rows by an orthogonal
Procrustes map. "class directions": the same rows, with the means of the classes in the direction that they have in the
model of all rows. "random labels" is how far, in points, rows of `fit_transform` with random labels cross-validate
above the most frequent label.
"""

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus, SiameseCBOWVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from labels import few
from reporting import as_csv_table, how_measured
from yardsticks import read_labelled

DEVELOPMENT = ("TREC", "CR", "searchsnippets", "github_issues")
KEPT_ASIDE = ("csabstruct", "tos_type.en", "ag_news_titles", "reuters_r8")
LABELS, FOLDS, BINS, MOST, MOST_TESTED = (10, 50, None), 5, 10, 3000, 2000
FIGURES = ("accuracy", "confidence", "calibration error", "log loss", "random labels")
NOW, TFIDF = "as it is", "tf-idf"
SHOWN = [  # on the sets that were kept aside
    NOW,
    "inside, sigmoid",
    "around, sigmoid",
    "around, sigmoid, ensemble=False",
    "around, temperature, ensemble=False",
    TFIDF,
]


class CrossFitted(TransformerMixin, BaseEstimator):
    """A vectorizer whose `fit_transform` gives each sentence the row of a model that has not seen its label."""

    def __init__(self, vectorizer, cv=FOLDS, align=True, class_directions=False):
        self.vectorizer, self.cv = vectorizer, cv
        self.align, self.class_directions = align, class_directions

    def fit(self, X, y):
        self.full_ = clone(self.vectorizer).fit(X, y)
        return self

    def transform(self, X):
        return self.full_.transform(X)

    def fit_transform(self, X, y):
        full, index = self.fit(X, y).full_, np.unique(y, return_inverse=True)[1]
        words, rows = list(full.vocabulary_), np.empty((len(X), full.n_features_out_), np.float32)
        start = clone(self.vectorizer).set_params(interpolation=0.0).fit(X, y)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=full.random_state)
        for learned, held in folds.split(rows, index):
            texts = [X[i] for i in learned]
            vectors = clone(self.vectorizer).set_params(init=start).fit(texts, index[learned]).word_vectors_
            seen = SentenceCorpus.from_sentences(texts).vocabulary.index
            kept = [row for row, word in enumerate(words) if word in seen]
            if self.align:
                weights = np.sqrt(full.word_counts_[kept])[:, None]
                vectors = (
                    vectors @ orthogonal_procrustes(vectors[kept] * weights, full.word_vectors_[kept] * weights)[0]
                )
            source = [words[row] for row in kept], vectors[kept]
            texts = [X[i] for i in held]
            rows[held] = MeanEmbeddingVectorizer(word_vectors=source, unknown="zero").fit(texts).transform(texts)
        if self.class_directions:
            of_held, of_all = (centres(table, index) for table in (rows, self.transform(X)))
            share = max(0, (of_held * of_all).sum() / (of_all**2).sum())
            rows += (share * of_all - of_held)[index]
        return rows


def centres(rows, index):
    """Mean row of each class, less the mean of these."""
    means = np.array([rows[index == i].mean(axis=0) for i in range(index.max() + 1)])
    return means - means.mean(axis=0)


def classified(vectorizer):
    return make_pipeline(vectorizer, LogisticRegression(max_iter=1000))


def cures(cls, seed):
    """Name -> pipeline."""

    def option(**options):
        return classified(cls(analyzer="word", random_state=seed, **options))

    def crossed(**options):
        return classified(CrossFitted(cls(analyzer="word", random_state=seed), **options))

    return {
        "interpolation=0.5": option(interpolation=0.5),
        "word_dropout=0.3": option(word_dropout=0.3),
        "word_dropout=0.6": option(word_dropout=0.6),
        "max_iter=2": option(max_iter=2),
        "max_iter=1": option(max_iter=1),
        "cross-fitted, not turned": crossed(align=False),
        "cross-fitted": crossed(),
        "cross-fitted, 10 folds": crossed(cv=10),
        "cross-fitted, class directions": crossed(class_directions=True),
    }


def calibrators(cls, seed):
    """Name -> pipeline, or a calibrator around one."""
    line, classifier = classified(cls(analyzer="word", random_state=seed)), LogisticRegression(max_iter=1000)
    inside = {name: make_pipeline(cls(analyzer="word", random_state=seed), c) for name, c in around(classifier).items()}
    return {
        **{f"inside, {name}": model for name, model in inside.items()},
        **{f"around, {name}": model for name, model in around(line).items()},
    }


def around(model):
    return {
        "sigmoid": CalibratedClassifierCV(model, cv=FOLDS),
        "sigmoid, ensemble=False": CalibratedClassifierCV(model, cv=FOLDS, ensemble=False),
        "temperature": CalibratedClassifierCV(model, cv=FOLDS, method="temperature"),
        "temperature, ensemble=False": CalibratedClassifierCV(model, cv=FOLDS, method="temperature", ensemble=False),
    }


def read_task(folder, name):
    """Training sentences, their labels, test sentences, their labels."""
    if (folder / f"{name}.train.tsv").exists():
        return *read_labelled(folder / f"{name}.train.tsv"), *read_labelled(folder / f"{name}.test.tsv")
    path = folder / f"{name}.tsv"
    X, y = read_labelled(path if path.exists() else folder / f"{name}.test.tsv")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    return X, y, X_test, y_test


def drawn(X, y, n, seed):
    """At most n sentences of each class and 3,000 of all, of the classes that every fold has."""
    X, y = few(X, y, n, seed)
    chosen = np.random.default_rng(seed).permutation(len(y))[:MOST]
    labels, counts = np.unique(np.asarray(y)[chosen], return_counts=True)
    kept = set(labels[counts >= FOLDS])
    chosen = [i for i in chosen if y[i] in kept]
    return [X[i] for i in chosen], np.array([y[i] for i in chosen])


def figures_of(model, X, y, X_test, y_test):
    """Accuracy, mean confidence, expected calibration error and log loss on the test sentences."""
    model = model.fit(X, y)
    p = model.predict_proba(X_test).astype(float)
    p /= p.sum(axis=1, keepdims=True)  # of float32 rows they sum to one less exactly than log_loss asks
    confidence, right = p.max(axis=1), model.classes_[p.argmax(axis=1)] == y_test
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = (abs((right - confidence)[bins == b].sum()) for b in range(BINS))
    return [100 * right.mean(), 100 * confidence.mean(), 100 * sum(gaps) / len(right), log_loss(y_test, p)]


def above_chance(pipeline, X, y, seed):
    """Points above chance that rows of `fit_transform` with random labels cross-validate at."""
    y = np.random.default_rng([seed, 1]).permutation(y)
    rows = pipeline[:-1].fit_transform(X, y)
    chance = np.unique(y, return_counts=True)[1].max() / len(y)
    return 100 * (cross_val_score(pipeline[-1], rows, y, cv=FOLDS).mean() - chance)


def read_rows(path):
    if not path.exists():
        return {}
    with open(path, encoding="utf8", newline="") as file:
        return {tuple(row[:5]): [float(v or "nan") for v in row[5:]] for row in list(csv.reader(file))[1:]}


def measure(options, rows):
    """Add to the rows what they lack: (set, labels, seed, vectorizer, method) -> figures."""
    for name in (*DEVELOPMENT, *KEPT_ASIDE):
        X, y, X_test, y_test = read_task(options.data / "eval" / "clf", name)
        tested = np.random.default_rng(0).permutation(len(y_test))[:MOST_TESTED]
        for n in LABELS:
            for seed in range(options.rounds):
                few_X, few_y = drawn(X, y, n, seed)
                test = [i for i in tested if y_test[i] in set(few_y)]
                task = few_X, few_y, [X_test[i] for i in test], np.array([y_test[i] for i in test])
                for cls in (CBOSVectorizer, SiameseCBOWVectorizer):
                    lines = {NOW: classified(cls(analyzer="word", random_state=seed))}
                    lines |= cures(cls, seed) if name in DEVELOPMENT else {}
                    others = calibrators(cls, seed) | {TFIDF: classified(TfidfVectorizer())}
                    for method, model in (lines | others).items():
                        key = name, str(n or "all"), str(seed), cls.__name__, method
                        if key not in rows:
                            is_random_too = n == 50 and name in DEVELOPMENT and method in lines
                            above = above_chance(model, few_X, few_y, seed) if is_random_too else np.nan
                            rows[key] = [*figures_of(model, *task), above]
                print(name, n, seed, flush=True)
                with open(options.csv, "w", encoding="utf8", newline="") as file:
                    out = csv.writer(file, lineterminator="\n")
                    out.writerow(["set", "labels", "seed", "vectorizer", "method", *FIGURES])
                    out.writerows([*key, *values] for key, values in rows.items())


def table_of(title, rows, sets, methods, labels=None):
    """Means over sets, seeds and the two vectorizers; and the set whose accuracy falls most, if one falls."""
    lines = [["labels per class", "method", "accuracy", "worst set", *FIGURES[1:]]]
    for n in labels or LABELS:
        means = {(name, method): mean_of(rows, name, n, method) for name in sets for method in methods}
        for method in methods:
            figures = np.mean([means[name, method] for name in sets], axis=0)
            change, worst = min((round(means[name, method][0] - means[name, NOW][0], 1), name) for name in sets)
            above = "" if np.isnan(figures[4]) else f"{figures[4]:+.0f}"
            line = [n or "all", method, f"{figures[0]:.1f}", f"{worst} {change:+.1f}" if change < 0 else ""]
            lines.append([*line, *(f"{value:.1f}" for value in figures[1:3]), f"{figures[3]:.2f}", above])
    if not any(line[-1] for line in lines[1:] if line[1] != NOW):
        lines = [line[:-1] for line in lines]
    return as_csv_table(title, lines)


def mean_of(rows, name, n, method):
    """Figures of a method on a set, the means over seeds and vectorizers."""
    wanted = name, str(n or "all"), method
    return np.mean([figures for key, figures in rows.items() if (*key[:2], key[4]) == wanted], axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3, help="seeds, each with its own draw of the labels")
    parser.add_argument("--csv", type=Path, default=Path("calibration.csv"), help="what it has is not measured again")
    parser.add_argument("--out", type=Path, help="folder for the tables, calibration.inc and calibrators.inc")
    options = parser.parse_args()
    rows = read_rows(options.csv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Only .* of the words of the text have a vector")  # those of a fold
        measure(options, rows)
    note = f'Means of CBOS and Siamese CBOW of words (`analyzer="word"`) and {options.rounds} seeds. '
    note += "Worst set: where the accuracy falls most, and how far. Calibration error: the expected one, with "
    note += f"{BINS} bins. Measured {time.strftime('%Y-%m-%d')} on "
    note += how_measured("python benchmarks/quality/calibration.py --data DATA --out doc/_results/quality")
    of_rows, around_rows = [NOW, *cures(CBOSVectorizer, 0), TFIDF], [NOW, *calibrators(CBOSVectorizer, 0)]
    tables = {
        "calibration": [
            table_of(f"Other rows, in per cent: {', '.join(DEVELOPMENT)}", rows, DEVELOPMENT, of_rows),
            table_of(f"Calibrators, in per cent: {', '.join(DEVELOPMENT)}", rows, DEVELOPMENT, around_rows),
        ],
        "calibrators": [table_of(f"In per cent: {', '.join(KEPT_ASIDE)}", rows, KEPT_ASIDE, SHOWN, labels=[50])],
    }
    for name, parts in tables.items():
        text = "\n".join(parts)
        print(text)
        if options.out is not None:
            (options.out / f"{name}.inc").write_text(f"{text}\n{note}", encoding="utf8")


if __name__ == "__main__":
    main()
