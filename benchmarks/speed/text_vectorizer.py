"""How long TextVectorizer takes, and how large a saved one is.

    python benchmarks/speed/text_vectorizer.py --data DATA [--out doc/_results/speed]

Rows are sentences of simplewiki in random order, 1,000 of them with one of eight labels; CPU seconds of one thread, the
least of three, after a fit that compiles. tf-idf is TfidfVectorizer with its defaults, saved with joblib.
"""

import os

# Before numpy is imported: on a busy machine its threads spend CPU seconds waiting for each other.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import gzip
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import skembed
from skembed import TextVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import report

SIZES = (10_000, 20_000)


def least(rounds, task):
    """CPU seconds of the quickest round."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        task()
        seconds.append(time.process_time() - start)
    return min(seconds)


def size_of(model):
    """Megabytes of a saved model."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(model, TextVectorizer):
            return skembed.save(model, f"{folder}/model")["written"] / 1e6
        joblib.dump(model, f"{folder}/model")
        return Path(f"{folder}/model").stat().st_size / 1e6


def main():
    options = arguments(__doc__)
    with gzip.open(options.data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
        lines = [line for line in file.read().split("\n") if line]
    lines = [lines[row] for row in np.random.default_rng(0).permutation(len(lines))[: max(SIZES)]]
    TextVectorizer(random_state=0).fit(lines[:100], np.arange(100) % 8)
    rows = []
    for n in SIZES[:1] if options.quick else SIZES:
        X, y = lines[:n], np.full(n, None, dtype=object)
        y[:1_000] = np.array(list("abcdefgh"), object)[np.arange(1_000) % 8]
        for model in (TfidfVectorizer(), TextVectorizer(random_state=0)):
            fit = least(options.rounds, lambda: model.fit(X, y))  # noqa: B023
            transform = least(options.rounds, lambda: model.transform(X))  # noqa: B023
            one = least(options.rounds, lambda: [model.transform([text]) for text in X[:500]])  # noqa: B023
            row = {"rows": f"{n:,}", "vectorizer": type(model).__name__}
            row |= {"fit, s": f"{fit:.1f}", "transform, s": f"{transform:.2f}", "one row, ms": f"{2 * one:.2f}"}
            rows.append(row | {"saved, MB": f"{size_of(model):.1f}"})
            print(rows[-1], flush=True)
    report(options, "text_vectorizer", "CPU seconds and size of TextVectorizer", rows)


if __name__ == "__main__":
    main()
