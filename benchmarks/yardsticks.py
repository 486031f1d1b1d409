"""Sentence pairs and labelled sentences from tab-separated files, and how well cosines follow the grades of pairs."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from skembed.evaluation import make_baseline
from skembed.metrics import paired_cosine_similarity

TFIDF = "tf-idf of the compared sentences, stems"


def tfidf_of_stems():
    """The row that every table of similarity begins with."""
    return make_baseline("tf-idf of the compared sentences", stemmer="english")


def read_rows(path):
    """Rows of a file, without its header."""
    with open(path, encoding="utf8", newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


def read_pairs(path):
    """Grades, first sentences, second sentences."""
    rows = read_rows(path)
    return np.array([float(r[0]) for r in rows]), [r[1] for r in rows], [r[2] for r in rows]


def read_labelled(path):
    """Sentences, labels."""
    rows = read_rows(path)
    return [row[1] for row in rows], [row[0] for row in rows]


def pearson(model, path):
    gold, first, second = read_pairs(path)
    rows = model.transform([*first, *second])  # at once, for a model that is fitted on the compared sentences
    cosine = paired_cosine_similarity(rows[: len(first)], rows[len(first) :])
    return 100 * float(np.corrcoef(cosine, gold)[0, 1])


def mean_score(transform, data):
    """Mean over the 14 sets, of anything that makes rows of sentences."""
    model = SimpleNamespace(transform=transform)
    return float(np.mean([pearson(model, p) for p in sorted((Path(data) / "eval" / "sts").glob("201[234]/*.tsv"))]))


def tfidf_note(data):
    """The line under a table of similarity that has no row of tf-idf."""
    score = mean_score(tfidf_of_stems().transform, data)
    return f"Tf-idf of the compared sentences, on stems, each word once, has {score:.1f}."
