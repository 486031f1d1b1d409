"""How long TextVectorizer takes, and how large a saved one is.

    python benchmarks/speed/text_vectorizer.py --data DATA [--million] [--out doc/_results/speed]

Rows are sentences of simplewiki in random order, 1,000 of them with one of eight labels; CPU seconds of one thread, the
least of three, after a fit that compiles. tf-idf is TfidfVectorizer with its defaults, saved with joblib.
--million prints the CPU seconds and the most memory of one fit on a million rows of ten words, with ten random labels.
"""

import os

# Before numpy is imported: on a busy machine its threads spend CPU seconds waiting for each other.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import gzip
import resource
import sys
import tempfile
import time
from itertools import islice
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


def fit_million(lines):
    """Print what a fit on a million parts of the lines takes."""
    parts = (words[i : i + 10] for words in map(str.split, lines) for i in range(0, len(words) - 9, 10))
    X = [" ".join(part) for part in islice(parts, 1_000_000)]
    y = np.random.default_rng(0).integers(10, size=len(X))
    start = time.process_time()
    TextVectorizer(random_state=0).fit(X, y)
    seconds, kilobytes = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{len(X):,} rows: {seconds:.0f} CPU seconds, {kilobytes / 1024**2:.1f} GB of memory at most")


def main():
    options = arguments(__doc__, million={"action": "store_true", "help": "fit a million rows, and no others"})
    with gzip.open(options.data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
        lines = [line for line in file.read().split("\n") if line]
    if options.million:
        return fit_million(lines)
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
