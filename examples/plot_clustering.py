"""
Clusters and topics
===================

Do clusters of sentence vectors follow topics, and can they name themselves?

We cluster docstring sentences without telling k-means where they come from, compare the clusters with the subpackages,
and let each cluster say what it is about in words.
"""

# %%
# Sentences of eight subpackages
# ------------------------------

import numpy as np

from skembed import CBOSVectorizer
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
names = [
    "scipy.stats",
    "scipy.signal",
    "scipy.optimize",
    "scipy.sparse",
    "numpy.polynomial",
    "sklearn.linear_model",
]
names += ["sklearn.ensemble", "scipy.interpolate"]
rng = np.random.default_rng(0)
lengths = np.array([len(sentence.split()) for sentence in docstrings.data])
chosen = np.concatenate(
    [
        rng.choice(
            np.flatnonzero(
                (docstrings.target == docstrings.target_names.index(name))
                & (lengths > 9)
            ),
            300,
            replace=False,
        )
        for name in names
    ]
)
sentences, target = [docstrings.data[i] for i in chosen], docstrings.target[chosen]

# %%
# K-means on four kinds of columns
# --------------------------------
# Rows have length one, so that k-means compares directions. *Adjusted mutual information* is 0 for clusters drawn at
# random and 1 for clusters that are the subpackages. Five starts each.

from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

cbos = CBOSVectorizer(random_state=0).fit(docstrings.data, groups=docstrings.groups)
weighted = CBOSVectorizer(weighting="sif", random_state=0).fit(
    docstrings.data, groups=docstrings.groups
)
tfidf = TfidfVectorizer(sublinear_tf=True).fit(docstrings.data)
lsa = make_pipeline(tfidf, TruncatedSVD(100, random_state=0)).fit(docstrings.data)
scores, clusters = {}, {}
for name, model in {
    "tf-idf": tfidf,
    "tf-idf + SVD": lsa,
    "CBOS": cbos,
    "CBOS, SIF weights": weighted,
}.items():
    vectors = Normalizer().fit_transform(model.transform(sentences))
    runs = [
        KMeans(len(names), n_init=1, random_state=seed).fit_predict(vectors)
        for seed in range(5)
    ]
    scores[name] = [adjusted_mutual_info_score(target, labels) for labels in runs]
    clusters[name] = runs[0]
    print(f"{name:18s} {np.mean(scores[name]):.3f} +- {np.std(scores[name]):.3f}")

# %%
# The score and the map
# ---------------------
# The map is that of the last model. t-SNE keeps neighbours together; distances between far groups mean little.

import matplotlib.pyplot as plt
from sklearn.manifold import TSNE

from skembed.inspection import EmbeddingMapDisplay

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.5), layout="constrained", width_ratios=[1, 1.5]
)
means, deviations = (list(map(f, scores.values())) for f in (np.mean, np.std))
left.barh(
    list(scores),
    means,
    xerr=deviations,
    capsize=3,
    color=["0.7", "0.7", "#56B4E9", "#56B4E9"],
)
left.invert_yaxis()
left.set(xlabel="adjusted mutual information\nof clusters and subpackages")
left.spines[["top", "right"]].set_visible(False)
EmbeddingMapDisplay.from_estimator(
    make_pipeline(weighted, Normalizer()),
    sentences,
    target,
    reducer=TSNE(2, max_iter=500, random_state=0),
    ax=right,
    target_names=docstrings.target_names,
    scatter_kw={"s": 8},
)
plt.show()

# %%
# On the left: the clusters of CBOS vectors follow the subpackages better than those of tf-idf, where two sentences are
# alike only where they share words, and than its SVD. They do not follow them closely: the scale goes to 1, and much of
# a docstring ("If True, a copy is made.") could stand anywhere. On the right: some subpackages have a region of their
# own on the map, above all polynomials, signals and interpolation; scikit-learn's two overlap.
#
# What the clusters are about
# ---------------------------
# The words with the largest mean tf-idf in a cluster, beside the subpackage that most of its sentences come from.

words = tfidf.get_feature_names_out()
table = tfidf.transform(sentences)
for cluster in range(len(names)):
    rows = np.flatnonzero(clusters["CBOS, SIF weights"] == cluster)
    values, counts = np.unique(target[rows], return_counts=True)
    top = counts.argmax()
    mean = (
        np.asarray(table[rows].mean(axis=0)).ravel()
        - np.asarray(table.mean(axis=0)).ravel()
    )
    print(
        f"{len(rows):4d} sentences, {100 * counts[top] / len(rows):3.0f} % {docstrings.target_names[values[top]]:22s}",
        end="",
    )
    print(" ".join(words[np.argsort(-mean)[:6]]))
