"""Sentence embeddings of 300 dimensions beside tf-idf: similarity of sentences, and clustering.

    python benchmarks/quality/beat_tfidf.py --data DATA [--seeds 0 1 2] [--out doc/_results/quality] [--csv FILE]
        [--aside PUBLISHED]

Everything learns from the files of DATA/corpora together, simplewiki.txt.gz and books_small.txt.gz. DATA/eval/sts/2012,
2013, 2014 and sick/trial.tsv are scored as in sts_table.py: Pearson correlation x 100 of the cosine. DATA/eval/clf/
opinosis_topics.tsv and msrp_groups.tsv are clustered by k-means, the best of 100 starts (10 are far from it for so
many groups), and by Ward's method on rows of length one, with as many clusters as there are groups; the score is the
adjusted mutual information x 100. A seed is that of learning and of the clustering. Rows that FILE has already are not
measured again: a stopped run goes on. With --aside it prints instead the figures of sets that nothing was
chosen by: STS 2015 and 2016, means over their sets, from the published files in PUBLISHED/sts2015 and sts2016 where
they are; eval/sts/sick/test.tsv; and the pairs of eval/clf/MSRP.*.tsv, the area under the ROC curve x 100.
"""

import argparse
import sys
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, ward
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_mutual_info_score, roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, normalize

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
)
from skembed.datasets._sts import read_sts
from skembed.evaluation import sts_scores, sts_similarities
from skembed.metrics import paired_cosine_similarity

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import KeptRows, as_csv_table, save
from yardsticks import pearson, read_labelled, read_pairs, tfidf_of_stems

SETS = {"Opinosis": "opinosis_topics", "MSRP": "msrp_groups"}
COLUMNS = ["2012", "2013", "2014", "14 sets", "SICK trial"]
COLUMNS += [f"{name} {way}" for name in SETS for way in ("k-means", "Ward")]
RECIPE = "the same, spelling 0.8 (recommended)"


def make_methods(words, stems, seed):
    """Name -> function that fits: tf-idf, the recommended MetaEmbedding, and what it is without some of its steps."""
    common = {"random_state": seed, "n_jobs": 2}
    fitted = {}

    def learn(model):  # once for all rows that use it
        name = type(model).__name__
        if name not in fitted:
            fitted[name] = model.fit(stems)
        return fitted[name]

    def cbos():
        # Parts of 16 words, the default, bring 0.2 of similarity and take 0.7 from SICK and 0.5 from Opinosis.
        return learn(CBOSVectorizer(300, max_sentence_length=32, **common))

    def sent2vec():
        return learn(Sent2VecVectorizer(300, **common))

    def joined(*sources, **options):
        options = {"weighting": "sif", **options}
        return MeanEmbeddingVectorizer(300, word_vectors=list(sources), **options).fit(stems)

    def whitened(**options):
        models = MetaEmbeddingVectorizer([joined(cbos()), sent2vec()], 300, whiten=True)
        return MeanEmbeddingVectorizer(word_vectors=models, binary=True, hash_numbers=True, **options).fit(stems)

    tfidf = BOWPCA(n_components=None, weighting="idf")
    once = make_pipeline(BOWPCA(n_components=None), Binarizer(), TfidfTransformer())
    return {
        "tf-idf": lambda: tfidf.fit(words),
        "tf-idf on stems": lambda: tfidf.fit(stems),
        "tf-idf on stems, each word once": lambda: once.fit(stems),
        "the same, fitted on the compared sentences": tfidf_of_stems,
        "CBOS": lambda: CBOSVectorizer(300, **common).fit(words),
        "CBOS on stems": lambda: CBOSVectorizer(300, **common).fit(stems),
        "CBOS on stems, parts of 32 words": cbos,
        "Sent2Vec on stems": sent2vec,
        "CBOS on stems, rows of length one, SIF": lambda: joined(cbos()),
        "Sent2Vec on stems, rows of length one, SIF": lambda: joined(sent2vec()),
        "MetaEmbedding of both": lambda: joined(cbos(), sent2vec()),
        "MetaEmbedding of both, 1 direction of sentences removed": lambda: joined(
            cbos(), sent2vec(), n_removed_components=1
        ),
        "MetaEmbedding of both, each word once": lambda: joined(cbos(), sent2vec(), binary=True),
        "MetaEmbedding of both, each word once, numbers hashed": lambda: joined(
            cbos(), sent2vec(), binary=True, hash_numbers=True
        ),
        "the same, whitened, Sent2Vec with its own lengths": whitened,
        "the same, spelling 0.4": lambda: whitened(spelling_weight=0.4),
        RECIPE: lambda: whitened(spelling_weight=0.8),
    }


def unit_rows(rows):
    rows = normalize(rows).astype(np.float64)  # or k-means would convert them for each centre
    return rows[:, np.unique(rows.indices)] if sparse.issparse(rows) else rows


def ward_clusters(rows, n_clusters):
    rows = rows.toarray() if sparse.issparse(rows) else rows
    distances = squareform(euclidean_distances(rows), checks=False)  # faster than scikit-learn's for many columns
    return fcluster(ward(distances), n_clusters, criterion="maxclust")


def agreement(rows, groups, seed):
    """Adjusted mutual information x 100 of the groups with clusters, by k-means and by Ward's method."""
    rows, n_groups = unit_rows(rows), len(set(groups))
    means = KMeans(n_groups, n_init=100, random_state=seed).fit_predict(rows)
    both = (means, ward_clusters(rows, n_groups))
    return [100 * float(adjusted_mutual_info_score(groups, clusters)) for clusters in both]


def measure(model, data, seed):
    sts = data / "eval" / "sts"
    years = [[pearson(model, path) for path in sorted((sts / year).glob("*.tsv"))] for year in COLUMNS[:3]]
    scores = [float(np.mean(year)) for year in years]
    scores += [float(np.mean([score for year in years for score in year])), pearson(model, sts / "sick" / "trial.tsv")]
    for name in SETS.values():
        sentences, groups = read_labelled(data / "eval" / "clf" / f"{name}.tsv")
        scores += agreement(model.transform(sentences), groups, seed)
    return scores


def read_published(folder):
    """STS 2015 and 2016, as far as they are there."""
    sets = {}
    for year in (2015, 2016):
        if (folder / f"sts{year}").is_dir():
            sets[year] = read_sts(folder, year=year)
        else:
            print(f"skipped: {folder / f'sts{year}'} is not there")
    return sets


def means_of_years(model, sets):
    """Mean Pearson correlation x 100 over the sets of each year."""
    rows = sts_scores(sts_similarities(model, sets)) if sets else []
    return [100 * row["pearson"] for row in rows if row["set"] == "mean" and row["year"] != "all"]


def kept_aside(model, data, sets):
    pairs = [read_pairs(data / "eval" / "clf" / f"MSRP.{part}.tsv") for part in ("train", "test")]
    labels, first, second = (list(chain(*column)) for column in zip(*pairs))
    rows = model.transform([*first, *second])
    cosine = paired_cosine_similarity(rows[: len(first)], rows[len(first) :])
    sick = pearson(model, data / "eval" / "sts" / "sick" / "test.tsv")
    return [*means_of_years(model, sets), sick, 100 * roc_auc_score(labels, cosine)]


def means_of(rows):
    """A row for each method: means over the seeds, and the least and the largest mean over the 14 sets."""
    means = []
    for name in dict.fromkeys(name for name, _ in rows):
        scores = np.array([list(values.values()) for (other, _), values in rows.items() if other == name])
        ranges = f"{scores[:, 3].min():.1f} to {scores[:, 3].max():.1f}"
        values = dict(zip(COLUMNS, scores.mean(axis=0).round(1).tolist()))
        means.append({"method": name, **values, "by seed": ranges})
    return means


def as_rst(means):
    """A table of similarity and one of clusters."""
    similarity = [["", *COLUMNS[:4], "by seed", COLUMNS[4]]]
    clusters = [["", *COLUMNS[5:]]]
    for row in means:
        label = f"**{row['method']}**" if "recommended" in row["method"] else row["method"]
        values = [f"{row[column]:.1f}" for column in COLUMNS]
        similarity.append([label, *values[:4], row["by seed"], values[4]])
        clusters.append([label, *values[5:]])
    return "\n".join([as_csv_table("Similarity", similarity), as_csv_table("Clusters", clusters)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--csv", type=Path, help="figures of each seed, and what to go on from")
    parser.add_argument("--out", type=Path, help="folder for the tables, beat_tfidf.inc")
    parser.add_argument("--aside", type=Path, metavar="PUBLISHED", help="print figures of sets kept aside, no others")
    options = parser.parse_args()
    folder = options.data / "corpora"
    words, stems = SentenceCorpus.from_file(folder), SentenceCorpus.from_file(folder, stemmer="english")
    print(words, stems, flush=True)
    if options.aside:
        sets = read_published(options.aside)
        print(f"{'row':60s} seed", *(f"STS {year}" for year in sets), "SICK test", "MSRP pairs", sep="  ")
        for seed in options.seeds:
            for name, fit in make_methods(words, stems, seed).items():
                found = kept_aside(fit(), options.data, sets)
                print(f"{name:60s}{seed:3d} " + " ".join(f"{value:6.2f}" for value in found), flush=True)
        return
    rows = KeptRows(options.csv, {"row": str, "seed": int}, COLUMNS)
    for seed in options.seeds:
        for name, fit in make_methods(words, stems, seed).items():
            if (name, seed) not in rows:
                rows[name, seed] = dict(zip(COLUMNS, measure(fit(), options.data, seed)))
    table = as_rst(means_of(rows))
    print(table)
    save(options.out, "beat_tfidf", table, f"Seeds {', '.join(map(str, options.seeds))}.")


if __name__ == "__main__":
    main()
