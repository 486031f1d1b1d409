"""Are the clusters of TextVectorizer's rows, without labels, behind those of tf-idf anywhere?

    python benchmarks/quality/clusters.py --data DATA [--kept-aside] [--out doc/_results/quality]

Adjusted mutual information, times 100, of clusters and topics: k-means with three starts, and Ward's method, the mean
of three draws of 1,500 rows, or four fifths of a smaller set. As many clusters as topics; all vectorizers have their
defaults, learn from the same rows and know no label.
--kept-aside takes the sets on which nothing was chosen.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, ward
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score, euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from text_vectorizer import read

from skembed import TextVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

SETS = ("clf/opinosis_topics", "clf/ag_news_titles.test", "clf/searchsnippets")
KEPT_ASIDE = (
    "clf/github_issues.train",
    "clf/csabstruct.train",
    "clf/covidq_category.train",
    "clf/pricerunner",
    "clf/tos_type.en.train",
    "clf/reuters_r8.train",
    "lang/sib200.eng_Latn.train",
    "lang/sib200.deu_Latn.train",
    "lang/sib200.zho_Hans.train",
    "lang/sib200.hin_Deva.train",
)
MOST_ROWS, SEEDS = 1_500, range(3)
VECTORIZERS = {
    "tf-idf": TfidfVectorizer,
    "stop words out": lambda: TfidfVectorizer(stop_words="english"),
    "LSA of that": lambda: make_pipeline(
        TfidfVectorizer(stop_words="english"), TruncatedSVD(100, random_state=0), Normalizer()
    ),
    "TextVectorizer": lambda: TextVectorizer(random_state=0),
}


def agreement(rows, topics, seed):
    """The score of k-means, and that of Ward's method."""
    n_clusters = len(np.unique(topics))
    k_means = KMeans(n_clusters, n_init=3, random_state=seed).fit_predict(rows)
    distances = euclidean_distances(rows)
    np.fill_diagonal(distances, 0)
    tree = ward(squareform(distances, checks=False))
    both = k_means, fcluster(tree, n_clusters, "maxclust")
    return [100 * adjusted_mutual_info_score(topics, clusters) for clusters in both]


def main():
    options = arguments(
        __doc__, kept_aside={"action": "store_true", "help": "take the sets on which nothing was chosen"}
    )
    names, seeds, most = KEPT_ASIDE if options.kept_aside else SETS, SEEDS, MOST_ROWS
    if options.quick:
        names, seeds, most = names[:1], [0], 300
    rows = []
    for name in names:
        X, topics = read(options.data / "eval" / f"{name}.tsv")
        scores = []
        for seed in seeds:
            drawn = np.sort(np.random.default_rng(seed).permutation(len(X))[: min(most, 4 * len(X) // 5)])
            texts = list(X[drawn])
            scores.append(
                [agreement(make().fit_transform(texts), topics[drawn], seed) for make in VECTORIZERS.values()]
            )
        for method, found in zip(("k-means", "Ward"), np.mean(scores, axis=0).T):
            lead = found[-1] - found[1]
            rows.append([name.split("/")[1], method, *(f"{score:.1f}" for score in found), f"{lead:+.1f}"])
            print(*rows[-1], flush=True)
    worst = min(rows, key=lambda row: float(row[-1]))
    for method in ("k-means", "Ward"):
        means = np.mean([[float(cell) for cell in row[2:]] for row in rows if row[1] == method], axis=0)
        rows.append(["mean", method, *(f"{mean:.1f}" for mean in means[:-1]), f"{means[-1]:+.1f}"])
    header = ["set", "method", *VECTORIZERS, "lead over stop words out"]
    title = "Clusters without labels" + (", sets on which nothing was chosen" if options.kept_aside else "")
    print_table(options, "clusters", title, [header, *rows], f"The worst is {worst[0]} with {worst[1]}: {worst[-1]}.")


if __name__ == "__main__":
    main()
