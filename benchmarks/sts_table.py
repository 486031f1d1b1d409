"""Pearson correlation x 100 on the development STS sets, for every method, learned from one corpus.

    python benchmarks/sts_table.py --data DATA [--corpus CORPUS.txt.gz] [--only NAME ...] [--csv FILE]

DATA/eval/sts/2012, 2013, 2014 hold the sets, DATA/eval/sts/sick/trial.tsv is shown beside them: tab-separated with a
header, columns score, sentence1, sentence2. The mean is over the 14 sets, a pair with a zero vector has cosine 0.
"""

import argparse
import csv
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
)
from skembed.metrics import paired_cosine_similarity


def random_vectors(corpus, n_components=100):
    words = corpus.vocabulary.prune(5).words
    return dict(zip(words, np.random.default_rng(0).standard_normal((len(words), n_components))))


def make_methods(corpus, seed):
    """Name -> estimator: baselines, defaults, papers' settings, and word weights."""
    common = {"random_state": seed, "n_jobs": 2}
    random = random_vectors(corpus)
    return {
        "tf-idf cosine": TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", analyzer="word"),
        "random vectors": MeanEmbeddingVectorizer(word_vectors=random, unknown="zero"),
        "random vectors, SIF": MeanEmbeddingVectorizer(word_vectors=random, weighting="sif", unknown="zero"),
        "CBOS, defaults": CBOSVectorizer(**common),
        "CBOS, paper": CBOSVectorizer(
            negative=2, solver="sgd", learning_rate=0.01, batch_size=10, max_iter=10, unknown="zero", **common
        ),
        "Siamese CBOW, defaults": SiameseCBOWVectorizer(**common),
        "Siamese CBOW, paper": SiameseCBOWVectorizer(
            n_components=300,
            negative=2,
            temperature=1.0,
            solver="sgd",
            learning_rate=1e-4,
            batch_size=100,
            max_iter=1,
            unknown="zero",
            **common,
        ),
        "Sent2Vec, defaults": Sent2VecVectorizer(**common),
        "Sent2Vec, paper (wiki unigrams, d=100)": Sent2VecVectorizer(
            min_count=8,
            min_target_count=20,
            solver="sgd",
            learning_rate=0.2,
            max_iter=9,
            subsample=1e-5,
            unknown="zero",
            **common,
        ),
        "Sent2Vec, paper (wiki uni+bi, d=100)": Sent2VecVectorizer(
            ngram_range=(1, 2),
            dropout_k=4,
            min_count=8,
            min_target_count=20,
            solver="sgd",
            learning_rate=0.2,
            max_iter=9,
            subsample=5e-6,
            unknown="zero",
            **common,
        ),
        "skip-gram mean, defaults": MeanEmbeddingVectorizer(**common),
        "CBOW mean, defaults": MeanEmbeddingVectorizer(algorithm="cbow", **common),
        "skip-gram mean, as published": MeanEmbeddingVectorizer(
            solver="sgd", learning_rate=0.025, subsample=1e-5, max_iter=5, unknown="zero", **common
        ),
        "CBOW mean, as published": MeanEmbeddingVectorizer(
            algorithm="cbow", solver="sgd", learning_rate=0.05, subsample=1e-5, max_iter=5, unknown="zero", **common
        ),
        "skip-gram mean, SIF weights, 1 removed": MeanEmbeddingVectorizer(
            weighting="sif", n_removed_components=1, **common
        ),
        "CBOS, SIF weights": CBOSVectorizer(weighting="sif", **common),
        "BOW": BOWPCA(n_components=None),
        "BOWPCA, 100 components": BOWPCA(n_components=100, min_count=5, random_state=seed),
    }


def read_pairs(path):
    with open(path, encoding="utf8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return np.array([float(r[0]) for r in rows]), [r[1] for r in rows], [r[2] for r in rows]


def pearson(model, path):
    gold, first, second = read_pairs(path)
    cosine = paired_cosine_similarity(model.transform(first), model.transform(second))
    return 100 * float(np.corrcoef(cosine, gold)[0, 1])


def mean_score(transform, data):
    """Mean over the 14 sets, of anything that makes rows of sentences."""
    model = SimpleNamespace(transform=transform)
    return float(np.mean([pearson(model, p) for p in sorted((Path(data) / "eval" / "sts").glob("201[234]/*.tsv"))]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="default: DATA/corpora/simplewiki.txt.gz")
    parser.add_argument("--only", nargs="*", help="names of rows; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    path = options.corpus or options.data / "corpora" / "simplewiki.txt.gz"
    corpus = SentenceCorpus.from_file(path)
    print(corpus)
    sts = options.data / "eval" / "sts"
    print(f"{'':40s}{'2012':>7s}{'2013':>7s}{'2014':>7s}{'14 sets':>9s}{'SICK trial':>12s}{'CPU s of fit':>14s}")
    table = []
    for name, model in make_methods(corpus, options.seed).items():
        if options.only and name not in options.only:
            continue
        start = time.process_time()
        try:
            if isinstance(model, TfidfVectorizer):
                model.fit(" ".join(corpus[i]) for i in range(corpus.n_sentences))
            else:
                model.fit(corpus)
        except ValueError as error:
            print(f"{name:40s} {error}", flush=True)
            continue
        seconds = time.process_time() - start
        sets = {
            year: [pearson(model, p) for p in sorted((sts / year).glob("*.tsv"))] for year in "2012 2013 2014".split()
        }
        years = [float(np.mean(scores)) for scores in sets.values()]
        mean = float(np.mean(np.concatenate(list(sets.values()))))
        trial = pearson(model, sts / "sick" / "trial.tsv")
        table.append([name, *years, mean, trial, seconds])
        print(
            f"{name:40s}" + "".join(f"{year:7.2f}" for year in years) + f"{mean:9.2f}{trial:12.2f}{seconds:14.1f}",
            flush=True,
        )
    if options.csv:
        with open(options.csv, "w", encoding="utf8", newline="") as file:
            csv.writer(file).writerows([["row", "2012", "2013", "2014", "mean", "sick_trial", "cpu_seconds"], *table])


if __name__ == "__main__":
    main()
