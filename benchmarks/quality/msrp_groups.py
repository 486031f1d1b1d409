"""Which way of clustering finds groups of paraphrases, and is MetaEmbedding ahead of tf-idf by each?

    python benchmarks/quality/msrp_groups.py --data DATA [--seeds 0 1 2] [--runs 3] [--mistakes]
        [--out doc/_results/quality]

The sentences of DATA/eval/clf/msrp_groups.tsv, as rows of length one, are put into as many clusters as there are
groups; the score is the adjusted mutual information x 100. A seed is that of learning. A way that begins at random runs
so often for each seed. K-means also shows what one random start reaches, and the sum of squares within its clusters
beside that of Ward's. With --mistakes it prints instead the groups that Ward's method does not find.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, Birch, BisectingKMeans, KMeans, SpectralClustering
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.random_projection import GaussianRandomProjection

from skembed import SentenceCorpus

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from beat_tfidf import RECIPE, make_methods, unit_rows, ward_clusters
from reporting import as_csv_table, how_measured
from yardsticks import read_labelled

MODELS = {  # the rows of beat_tfidf.py
    "tf-idf on stems": "tf-idf on stems",
    "MetaEmbedding": RECIPE,
    "without spelling": "the same, whitened, Sent2Vec with its own lengths",
}
PROJECTED = "tf-idf on stems, 300 dimensions"
N_STARTS = 100
BEST = f"k-means, best of {N_STARTS} random starts"


def rows_of(methods, sentences, seed):
    """Rows of length one of each model, and those of tf-idf upon 300 random directions."""
    rows = {name: methods[row]().transform(sentences) for name, row in MODELS.items()}
    projection = GaussianRandomProjection(300, random_state=seed)
    rows[PROJECTED] = projection.fit_transform(rows["tf-idf on stems"])
    return {name: turned(unit_rows(of_model)) for name, of_model in rows.items()}


def turned(rows):
    """The same distances in no more columns than there are rows: k-means is four times as fast with tf-idf."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    return rows if rows.shape[1] <= len(rows) else np.linalg.qr(rows.T, mode="r").T


def cluster_means(rows, clusters):
    return np.array([rows[clusters == cluster].mean(axis=0) for cluster in np.unique(clusters)])


def squares_within(rows, clusters):
    """Sum of the squared distances to the mean of one's cluster."""
    own = np.unique(clusters, return_inverse=True)[1]
    return float(((rows - cluster_means(rows, clusters)[own]) ** 2).sum())


def from_ward(rows, n_clusters):
    means = cluster_means(rows, ward_clusters(rows, n_clusters))
    return KMeans(n_clusters, init=means, n_init=1).fit_predict(rows)


def linkage(name):
    return lambda rows, n_clusters: AgglomerativeClustering(n_clusters, metric="cosine", linkage=name).fit_predict(rows)


def spectral(rows, n_clusters, seed):
    affinity = np.maximum(rows @ rows.T, 0)
    return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed).fit_predict(affinity)


def bisecting(rows, n_clusters, seed):
    return BisectingKMeans(n_clusters, random_state=seed).fit_predict(rows)


ALWAYS_THE_SAME = {
    "Ward's method": ward_clusters,
    "k-means that begins with the means of Ward's clusters": from_ward,
    "complete linkage of cosines": linkage("complete"),
    "average linkage of cosines": linkage("average"),
    "Birch": lambda rows, n_clusters: Birch(n_clusters=n_clusters).fit_predict(rows),
}
RANDOM = {"spectral clustering of cosines, negative ones as 0": spectral, "bisecting k-means": bisecting}


def random_starts(rows, n_clusters, run):
    """K-means from many random starts, the one with the least squares first."""
    seeds = range(N_STARTS * run, N_STARTS * (run + 1))
    models = [KMeans(n_clusters, n_init=1, random_state=seed).fit(rows) for seed in seeds]
    return sorted(models, key=lambda model: model.inertia_)


def measure(rows, groups, runs):
    """Way -> its scores; way -> the squares within its clusters."""
    n_clusters = len(set(groups))

    def score(clusters):
        return 100 * float(adjusted_mutual_info_score(groups, clusters))

    once = {name: way(rows, n_clusters) for name, way in ALWAYS_THE_SAME.items()}
    scores = {name: [score(clusters)] for name, clusters in once.items()}
    scores |= {name: [score(way(rows, n_clusters, run)) for run in runs] for name, way in RANDOM.items()}
    found = [random_starts(rows, n_clusters, run) for run in runs]
    scores[BEST] = [score(models[0].labels_) for models in found]
    scores["k-means, one random start"] = [score(model.labels_) for models in found for model in models]
    squares = {
        "Ward's method": [squares_within(rows, once["Ward's method"])],
        BEST: [models[0].inertia_ for models in found],
    }
    return scores, squares


def in_words(values):
    """The values if there are few; else their mean, with the least and the most."""
    if np.ptp(values) < 0.005:
        return f"{values[0]:.2f}"
    if len(values) <= 3:
        return ", ".join(f"{value:.2f}" for value in values)
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def table_of(title, found):
    """A row for each way of clustering, a column for each model."""
    ways = next(iter(found.values()))
    lines = [[way, *(in_words(of_model[way]) for of_model in found.values())] for way in ways]
    return as_csv_table(title, [["", *found], *lines])


def mistaken_groups(groups, clusters):
    """Groups that are not one cluster by themselves."""
    shared = contingency_matrix(groups, clusters) > 0
    pure = shared.sum(axis=0) == 1
    whole = (shared.sum(axis=1) == 1) & (shared[:, pure].sum(axis=1) == 1)
    return set(np.unique(groups)[~whole])


def print_mistakes(rows, sentences, groups):
    """Groups that Ward's method does not find: with tf-idf, with MetaEmbedding, with both."""
    found = {}
    for name, of_model in rows.items():
        found[name] = mistaken_groups(groups, ward_clusters(of_model, len(set(groups))))
        print(f"{name}: {len(found[name])} of {len(set(groups))} groups are not found")
    for group in sorted(set.union(*found.values())):
        print("", "; ".join(name for name, mistakes in found.items() if group in mistakes), sep="\n")
        print(*(sentence for sentence, other in zip(sentences, groups) if other == group), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--runs", type=int, default=3, help="of what begins at random, for each seed (%(default)s)")
    parser.add_argument("--out", type=Path, help="folder for the table, msrp_groups.inc")
    parser.add_argument("--mistakes", action="store_true", help="print groups that are not found, no scores")
    options = parser.parse_args()
    stems = SentenceCorpus.from_file(options.data / "corpora", stemmer="english")
    sentences, groups = read_labelled(options.data / "eval" / "clf" / "msrp_groups.tsv")
    scores, squares = ({name: defaultdict(list) for name in (*MODELS, PROJECTED)} for _ in range(2))
    for seed in options.seeds:
        rows = rows_of(make_methods(stems, stems, seed), sentences, seed)
        if options.mistakes:
            print_mistakes({name: rows[name] for name in ("tf-idf on stems", "MetaEmbedding")}, sentences, groups)
            continue
        for name, of_model in rows.items():
            found = measure(of_model, groups, range(options.runs * seed, options.runs * (seed + 1)))
            for kept, new in zip((scores[name], squares[name]), found):
                for way, values in new.items():
                    kept[way] += values
                    print(seed, name, way, in_words(values), sep="; ", flush=True)
    if options.mistakes:
        return
    title = f"{len(groups)} sentences of MSRP in {len(set(groups))} clusters: adjusted mutual information x 100"
    text = "\n".join([table_of(title, scores), table_of("Sum of squares within the clusters", squares)])
    print(text)
    if options.out:
        note = f"Seeds {', '.join(map(str, options.seeds))}, what begins at random {options.runs} times with each; "
        note += how_measured("python benchmarks/quality/msrp_groups.py --data DATA --out doc/_results/quality")
        (options.out / "msrp_groups.inc").write_text(text + "\n" + note, encoding="utf8")


if __name__ == "__main__":
    main()
