"""Does the order of the paper on CBOS hold over several seeds: CBOS, Siamese CBOW, then means of word2vec?

    python benchmarks/quality/sts_order.py --data DATA [--seeds 0 1 2 3 4] [--out doc/_results/quality]

Every method learns from DATA/corpora/simplewiki.txt.gz with its defaults, once a seed. The score is the mean Pearson
correlation x 100 over the 14 sets in DATA/original/sts2012, sts2013 and sts2014. `sts_intervals` draws pairs, for one
model; here each draw takes as many of the seeds as there are, too, with replacement, so an interval speaks of other
pairs and of other seeds. All methods see the same pairs in a draw.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus
from skembed.datasets._sts import read_sts
from skembed.evaluation import sts_similarities
from skembed.evaluation._sts import bootstrap_means

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from papers.methods import METHODS, fit_to_corpus
from reporting import as_csv_table, save

NAMES = {
    "CBOS": "CBOS, defaults",
    "Siamese CBOW": "Siamese CBOW, defaults",
    "skip-gram mean": "skip-gram mean, defaults",
    "CBOW mean": "CBOW mean, defaults",
    "tf-idf": "tf-idf cosine",
    "tf-idf on stems of the compared sentences": "tf-idf on stems of the compared sentences",
}
STEPS = [("CBOS", "Siamese CBOW"), ("Siamese CBOW", "skip-gram mean"), ("Siamese CBOW", "CBOW mean")]
STEPS += [("CBOS", "skip-gram mean"), ("CBOS", "CBOW mean"), ("CBOS", "tf-idf")]


def over_seeds(means, draws, seeds, generator):
    """Name -> mean of its seeds, and a mean a draw, of its seeds drawn with replacement."""
    found = {}
    for name in NAMES:
        by_seed = np.array([draws[name, seed] for seed in seeds])
        drawn = generator.integers(len(seeds), size=by_seed.shape)
        found[name] = (
            100 * np.mean([means[name, seed] for seed in seeds]),
            100 * np.take_along_axis(by_seed, drawn, axis=0).mean(axis=0),
        )
    return found


def with_interval(value, draws):
    low, high = np.percentile(draws, [2.5, 97.5])
    return [f"{value:.1f}", f"{low:.1f} to {high:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, help="folder for the tables, sts_order.inc")
    options = parser.parse_args()
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")
    years = {year: read_sts(options.data / "original", year=year) for year in (2012, 2013, 2014)}
    models = {}
    for name, method in NAMES.items():
        for seed in options.seeds:
            if name.startswith("tf-idf") and seed != options.seeds[0]:  # it has none
                models[name, seed] = models[name, options.seeds[0]]
                continue
            model = fit_to_corpus(METHODS[method].make(corpus, seed, 2), corpus)
            models[name, seed] = sts_similarities(model, years)
            print(name, seed, flush=True)
    means, draws = bootstrap_means(models, 2000, 0)
    found = over_seeds(means, draws, options.seeds, np.random.default_rng(0))
    scores = [["method", "mean of the seeds", "95 % interval", "seeds"]]
    for name, (mean, drawn) in found.items():
        of_seeds = sorted(100 * means[name, seed] for seed in options.seeds)
        scores.append([name, *with_interval(mean, drawn), f"{of_seeds[0]:.1f} to {of_seeds[-1]:.1f}"])
    steps = [["", "difference", "95 % interval", "draws in which it is above 0"]]
    for first, second in STEPS:
        difference = found[first][1] - found[second][1]
        above = f"{100 * np.mean(difference > 0):.1f} %"
        steps.append([f"{first} - {second}", *with_interval(found[first][0] - found[second][0], difference), above])
    title = f"Mean Pearson correlation x 100 over the 14 sets of 2012 to 2014, {len(options.seeds)} seeds"
    text = as_csv_table(title, scores) + "\n" + as_csv_table("Differences", steps)
    print(text)
    save(options.out, "sts_order", text, f"{corpus.n_tokens:,} words.")


if __name__ == "__main__":
    main()
