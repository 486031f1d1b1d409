"""How many passes does a text of a few hundred sentences need, and one of many? What `max_iter="auto"` was chosen by.

    python benchmarks/quality/passes.py --data DATA [--only METHOD ...] [--csv FILE] [--out doc/_results/quality]

Methods of text learn from whole documents of DATA/corpora/simplewiki.txt.gz, which chose the constants, and of
books_small.txt.gz, which is kept aside, drawn as in `own_text.py`; the score is the mean of its tasks: similarity
(STS 2012 to 2014), the next sentence and the same document. Methods of pairs learn from captions of DATA/pairs, and,
kept aside, from aligned sentences of encyclopedias; the score is the mean of STS and of SICK's trial set. Students
learn from a teacher, the principal components of tf-idf on a longer text; the score is the correlation of the cosines
of 1,500 other sentences with the teacher's, times 100. Methods of classes learn from some labels per class; the
score is the accuracy of LinearSVC on a fifth of the training sentences of TREC, CR and searchsnippets, and, kept
aside, of csabstruct and github_issues. One seed. Rows that FILE has are not measured again.
"""

import argparse
import gzip
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import public
from own_text import TEXTS, draw_documents, measure, read_documents
from reporting import KeptRows, print_table
from yardsticks import mean_score, pearson, read_labelled

LEAST, AUTO, PASSES = "least", "auto", [10, 20, 50]
COLUMNS = [LEAST, *PASSES, AUTO]
SIZES, FEW_SIZES = [500, 2_000, 5_000, 20_000], [500, 5_000]
N_TEACHER, N_COMPARED = 40_000, 1_500
PAIRS = {"captions": "flickr30k_captions", "aligned": "altlex_wiki"}
CLASSES = {"three sets": ["TREC", "CR", "searchsnippets"], "two sets": ["csabstruct", "github_issues"]}
BAGS = ["Sent2Vec", "SiameseCBOW", "FastSent", "Word2Vec", "CPhrase", "Paragraph", "CBOS"]
SLOW = ["SkipThought", "SequentialDenoisingAutoencoder", "RecursiveAutoencoder"]


def make(name, passes):
    """An estimator by the name of its class, with so many passes; `LEAST` are those over a long text."""
    cls = public().get(name) or public()[f"{name}Vectorizer"]
    model = cls(random_state=0)
    if passes == LEAST:
        passes = model.max_iter if model.max_iter != AUTO else cls._auto_passes.least
    return model if passes == AUTO else model.set_params(max_iter=passes)


@cache
def texts_of(data, text):
    return draw_documents(read_documents(data / "corpora" / f"{text}.txt.gz"), [*SIZES, N_TEACHER])


def score_text(model, data, text, size):
    test, parts = texts_of(data, text)
    return np.mean(list(measure(model.fit(parts[size]), test, data).values()))


@cache
def taught(data, text):
    """Sentences in random order, and the teacher's vectors of them."""
    documents = read_documents(data / "corpora" / f"{text}.txt.gz")
    order = np.random.default_rng(1).permutation(len(documents))
    sentences = [sentence for d in order for sentence in documents[d]][:N_TEACHER]
    np.random.default_rng(0).shuffle(sentences)
    words = TfidfVectorizer(min_df=5, sublinear_tf=True)
    targets = make_pipeline(words, TruncatedSVD(100, random_state=0)).fit_transform(sentences)
    known = np.flatnonzero(np.linalg.norm(targets, axis=1) > 1e-6)
    return [sentences[i] for i in known], targets[known]


def cosines(rows):
    """Cosines of all pairs of rows."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]


def score_student(model, data, text, size):
    sentences, targets = taught(data, text)
    known = slice(N_COMPARED, N_COMPARED + size)
    rows = model.fit(sentences[known], targets[known]).transform(sentences[:N_COMPARED])
    return 100 * np.corrcoef(cosines(rows), cosines(targets[:N_COMPARED]))[0, 1]


@cache
def pairs_of(data, name):
    """Pairs in random order; the captions of an image are two of them at most."""
    with gzip.open(data / "pairs" / f"{PAIRS[name]}.tsv.gz", "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t")[name == "captions" :][:2] for line in file]
    rows = [tuple(row) for row in rows if len(row) == 2 and all(any(map(str.isalnum, side)) for side in row)]
    return [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]


def score_pairs(model, data, name, size):
    model.fit(pairs_of(data, name)[:size])
    return np.mean([mean_score(model.transform, data), pearson(model, data / "eval" / "sts" / "sick" / "trial.tsv")])


def score_classes(model, data, name, size):
    scores = []
    for task in CLASSES[name]:
        folder = data / "eval" / "clf"
        path = folder / f"{task}.train.tsv"
        X, y = map(np.array, read_labelled(path if path.exists() else folder / f"{task}.tsv"))
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
        few = np.concatenate([np.flatnonzero(y == label)[:size] for label in np.unique(y)])
        model.fit(X[few], y[few])
        scores.append(LinearSVC().fit(model.transform(X[few]), y[few]).score(model.transform(X_test), y_test))
    return 100 * np.mean(scores)


class Kind(NamedTuple):
    """How to score, of which methods, learned from what and how much; the second source is kept aside."""

    score: Callable[..., float]
    methods: list[str]
    sources: list[str]
    sizes: list[int]


KINDS = {
    "targets": Kind(score_student, ["Target"], list(TEXTS), SIZES),
    "text": Kind(score_text, BAGS, list(TEXTS), SIZES),
    "pairs": Kind(score_pairs, ["Paraphrase", "CSE"], list(PAIRS), [500, 2_000, 5_000]),
    "classes": Kind(score_classes, ["CBOS", "SiameseCBOW"], list(CLASSES), [50, 1_000]),
    "slow": Kind(score_text, SLOW, ["simplewiki"], FEW_SIZES),
    "pairs, slow": Kind(score_pairs, ["GRAN"], ["captions"], FEW_SIZES),
}


def cells():
    """Kind, method, source and size of all that is measured."""
    for kind, (_, methods, sources, sizes) in KINDS.items():
        yield from product([kind], methods, sources, sizes)


def measure_all(options):
    """(kind, method, source, size, passes) -> passes made, score, CPU seconds."""
    keys = dict.fromkeys(["kind", "method", "source", "size", "passes"], str)
    rows = KeptRows(options.csv, keys, ["made", "score", "seconds"])
    for kind, method, source, size in cells():
        for passes in COLUMNS if method in options.only else []:
            key = (kind, method, source, str(size), str(passes))
            if key in rows or "slow" in kind and passes == PASSES[-1]:
                continue
            model, start = make(method, passes), time.process_time()
            found = KINDS[kind].score(model, options.data, source, size)
            rows[key] = {"made": model.n_iter_, "score": found, "seconds": time.process_time() - start}
    return rows


def table_of(rows):
    """A line a method, source and size: the score by passes, and what "auto" gains on the passes over a long text."""
    lines = []
    for kind, method, source, size in cells():
        of = {passes: rows.get((kind, method, source, str(size), str(passes))) for passes in COLUMNS}
        if not any(of.values()):
            continue
        scores = ["" if found is None else f"{found['score']:.1f}" for found in of.values()]
        gain = f"{of[AUTO]['score'] - of[LEAST]['score']:+.1f}" if of[AUTO] and of[LEAST] else ""
        made = [f"{of[name]['made']:.0f}" if of[name] else "" for name in (LEAST, AUTO)]
        lines.append([method, TEXTS.get(source, source), f"{size:,}", made[0], *scores[:-1], made[1], scores[-1], gain])
    header = [
        "method",
        "evidence",
        "size",
        "passes over long text",
        "score",
        *map(str, PASSES),
        '"auto"',
        "score",
        "gain",
    ]
    return [header, *lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    methods = list(dict.fromkeys(name for kind in KINDS.values() for name in kind.methods))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=methods, default=methods)
    parser.add_argument("--csv", type=Path, default=Path("passes.csv"))
    parser.add_argument("--out", type=Path, help="folder for the table, passes.inc")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="Only .* of the words of X")  # as expected of so little text
    note = (
        "Size: sentences of text or of a teacher, pairs, labels per class. Where the default of a method is a number, "
        'that number stands for "auto". One seed.'
    )
    print_table(options, "passes", "Score by the number of passes", table_of(measure_all(options)), note)


if __name__ == "__main__":
    main()
