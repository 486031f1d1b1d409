"""How often do the intervals of skembed.evaluation.compare hold the leads of other draws?

    python benchmarks/quality/compare_intervals.py --data DATA [--out doc/_results/quality]

From each set, rows are drawn 150 times. Six sets of columns (tf-idf of words, of characters, of words and bigrams,
tf-idf beside its LSA, beside characters, LSA alone; made once from all rows) are compared on them by five-fold
cross-validation with LinearSVC, as `compare` does. The true lead is the mean over all draws of the lead on rows that
were not drawn, by the same models. "Ahead by chance" counts the draws in which the best of the others was called ahead
and is not.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from skembed.evaluation._comparison import joint_half_widths

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import as_csv_table, how_measured, measured

SETS = {"TREC.train": 500, "MR": 500, "github_issues.train": 500, "SUBJ": 800}  # rows that are drawn
N_DRAWS, MOST_OTHERS = 150, 3_000
N_SIMPLE = 2  # the first columns are what the others are compared with


def read(path):
    table = pd.read_csv(path, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, dtype=str)
    return table.iloc[:, 1].to_numpy(object), table.iloc[:, 0].to_numpy(str)


def make_columns(X):
    words = TfidfVectorizer().fit_transform(X)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), sublinear_tf=True).fit_transform(X)
    bigrams = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(X)
    lsa = csr_array(normalize(TruncatedSVD(50, random_state=0).fit_transform(words)))
    beside = [hstack([words, other], format="csr") for other in (lsa, characters)]
    return [words, characters, bigrams, *beside, lsa]


def draw(columns, y, n_rows, seed):
    """Whether each row is predicted right, by each method, (n_rows, n_methods); and the accuracies on other rows."""
    order = np.random.RandomState(seed).permutation(len(y))
    rows, others = order[:n_rows], order[n_rows : n_rows + MOST_OTHERS]
    right, truth = np.zeros((n_rows, len(columns))), np.zeros(len(columns))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    for train, test in folds.split(rows, y[rows]):
        for method, values in enumerate(columns):
            model = LinearSVC(random_state=0).fit(values[rows[train]], y[rows[train]])
            right[test, method] = model.predict(values[rows[test]]) == y[rows[test]]
            truth[method] += np.mean(model.predict(values[others]) == y[others]) / folds.n_splits
    return right, truth


def judge(draws):
    """How often the leads of a draw are all in their intervals, and each; called ahead; and ahead by chance."""
    truth = np.mean([true for _, true in draws], axis=0)
    found = []
    for seed, (right, _) in enumerate(draws):
        scores = right.mean(axis=0)
        reference = int(np.argmax(scores[:N_SIMPLE]))
        others = np.delete(np.arange(len(scores)), reference)
        leads, true_leads = scores[others] - scores[reference], truth[others] - truth[reference]
        widths = joint_half_widths(right[:, others] - right[:, [reference]], None, seed)
        holds = np.abs(leads - true_leads) <= widths
        best = int(np.argmax(np.where(others < N_SIMPLE, -np.inf, leads)))
        ahead = leads[best] > widths[best]
        found.append([holds.all(), holds.mean(), ahead, ahead and true_leads[best] <= 0, widths.mean()])
    return 100 * np.mean(found, axis=0)


def main():
    options = arguments(__doc__)
    rows = []
    for name, n_rows in SETS.items():
        X, y = read(options.data / "eval" / "clf" / f"{name}.tsv")
        columns = make_columns(X)
        found = judge([draw(columns, y, n_rows, seed) for seed in range(10 if options.quick else N_DRAWS)])
        rows.append([name.split(".")[0], str(n_rows), *(f"{value:.1f}" for value in found)])
        print(*rows[-1], flush=True)
    header = ["set", "rows", "all leads held", "each lead held", "called ahead", "ahead by chance", "half width"]
    about = measured()
    table = as_csv_table("Intervals of compare, in per cent of the draws; the width in points", [header, *rows])
    text = f"{table}\n{how_measured(about['command'])}"
    print(text)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "compare_intervals.inc").write_text(text, encoding="utf8")


if __name__ == "__main__":
    main()
