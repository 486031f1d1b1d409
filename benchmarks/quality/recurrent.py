"""What do the recurrent methods learn from a text of a million words, how fast, and is it more than nothing?

    python benchmarks/quality/recurrent.py --data DATA [--sentences 40000] [--out doc/_results/quality]

"loss" is the mean negative log-probability of a word of held-out text, and "of frequency" that of a model that knows
how frequent each word is, and no more. TREC (its test part) and SUBJ (five folds) are accuracies of logistic regression
on standardised vectors. "random" has random word vectors of the same length, and takes their mean. Speeds are of one
pass over the first 8,000 sentences, compiled before and without held-out text, the best of three.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from reporting import report
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from yardsticks import mean_score, read_labelled

from skembed import (
    FastSentVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SequentialDenoisingAutoencoder,
    SkipThoughtVectorizer,
)

_HELD_OUT = {"early_stopping": True, "validation_fraction": 0.02, "n_iter_no_change": 1000}


def words_a_second(estimator, corpus):
    """Words that an estimator learns in a CPU second of one core."""
    estimator = clone(estimator).set_params(early_stopping=False, max_iter=1, n_jobs=1)
    estimator.fit(corpus[:500])  # compiles
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        estimator.fit(corpus)
        seconds.append(time.process_time() - begin)
    return f"{corpus.n_tokens / min(seconds):,.0f}"


def accuracies(estimator, folder):
    """TREC, SUBJ."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))
    (sentences, labels), test = (read_labelled(folder / f"TREC.{part}.tsv") for part in ("train", "test"))
    trec = classifier.fit(estimator.transform(sentences), labels).score(estimator.transform(test[0]), test[1])
    sentences, labels = read_labelled(folder / "SUBJ.tsv")
    return 100 * trec, 100 * float(cross_val_score(classifier, estimator.transform(sentences), labels, cv=5).mean())


def unigram_loss(estimator):
    shares = estimator.word_counts_ / estimator.word_counts_.sum()
    return -float((shares * np.log(shares)).sum())


def main():
    options = arguments(__doc__, sentences={"type": int, "default": 40_000}, components={"type": int, "default": 100})
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")[: options.sentences]
    n = options.components
    common = {"random_state": 0}
    methods = {
        "SDAE": SequentialDenoisingAutoencoder(n, **common, **_HELD_OUT),
        "uni-skip": SkipThoughtVectorizer(n, **common, **_HELD_OUT),
        "FastSent": FastSentVectorizer(n, **common),
        "Sent2Vec": Sent2VecVectorizer(n, **common),
    }
    rows = []
    for name, estimator in methods.items():
        row = {"method": name}
        if hasattr(estimator, "word_components"):
            row |= {
                f"words/CPU s, d={size}": words_a_second(clone(estimator).set_params(n_components=size), corpus[:8000])
                for size in dict.fromkeys((n, 300))
            }
        rows.append(row | scores(estimator.fit(corpus), options.data))
        print(rows[-1], flush=True)
    words = list(estimator.vocabulary_)
    vectors = np.random.default_rng(0).normal(size=(len(words), n)).astype(np.float32)
    given = {"word_vectors": (words, vectors), "unknown": "zero", "weighting": None}
    random = MeanEmbeddingVectorizer(**given).fit(corpus)
    rows.append({"method": "random"} | scores(random, options.data))
    title = f"Recurrent methods, {n} dimensions, {corpus.n_tokens:,} words of Simple Wikipedia, one core"
    report(options, "recurrent", title, rows)


def scores(estimator, data):
    loss = getattr(estimator, "validation_loss_curve_", None)
    losses = {"loss": round(loss[-1], 2), "of frequency": round(unigram_loss(estimator), 2)} if loss else {}
    trec, subj = accuracies(estimator, Path(data) / "eval" / "clf")
    return losses | {
        "TREC": round(trec, 1),
        "SUBJ": round(subj, 1),
        "STS": round(mean_score(estimator.transform, data), 1),
    }


if __name__ == "__main__":
    main()
