"""Pearson correlation x 100 on the development STS sets, for every method, learned from one corpus.

    python benchmarks/quality/sts_table.py --data DATA [--corpus CORPUS.txt.gz] [--only NAME ...] [--csv FILE]

DATA/eval/sts/2012, 2013, 2014 hold the sets, DATA/eval/sts/sick/trial.tsv is shown beside them: tab-separated with a
header, columns score, sentence1, sentence2. The mean is over the 14 sets, a pair with a zero vector has cosine 0.
"""

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from papers.methods import METHODS, fit_to_corpus
from yardsticks import pearson


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
    for name, method in METHODS.items():
        if "sts" not in method.tables or method.from_words or (options.only and name not in options.only):
            continue
        model = method.make(corpus, options.seed, 2)
        start = time.process_time()
        try:
            fit_to_corpus(model, corpus)
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
