"""
Find and name the topics of reviews
===================================

What do 1,000 sentences of reviews talk about, and which words say it?

:class:`~skembed.TextVectorizer` learns from all reviews which words belong together.
K-means makes clusters of its rows, and the words that are frequent in one cluster and
rare in the others name it.
"""

# %%
# Reviews
# -------
# Sentences about hotels, cars and devices, from eight topics of the Opinosis data. They
# are downloaded at the first run. Where they cannot be, sentences of the documentation
# of scipy and scikit-learn take their place. The topics only check the result.

import numpy as np

from skembed.datasets import fetch_opinosis, load_docstrings

try:
    text = fetch_opinosis(n_retries=0)
    names = ["battery-life_ipod_nano_8gb", "screen_netbook_1005ha"]
    names += ["staff_bestwestern_hotel_sfo", "parking_bestwestern_hotel_sfo"]
    names += ["food_swissotel_chicago", "voice_garmin_nuvi_255W_gps"]
    names += ["gas_mileage_toyota_camry_2007", "seats_honda_accord_2008"]
except OSError:
    print("The reviews cannot be downloaded: on with documentation.")
    text = load_docstrings()
    names = ["scipy.stats", "scipy.signal", "scipy.optimize", "scipy.interpolate"]
    names += ["scipy.sparse", "sklearn.ensemble", "sklearn.linear_model"]
    names += ["numpy.polynomial"]
topics = [text.target_names.index(name) for name in names]
chosen = np.flatnonzero(np.isin(text.target, topics))
chosen = np.sort(np.random.default_rng(0).permutation(chosen)[:1000])
sentences, target = [text.data[i] for i in chosen], text.target[chosen]
print(f"{len(sentences)} of {len(text.data):,} sentences, {len(topics)} topics")

# %%
# Vectors and clusters
# --------------------
# All reviews are text to learn from, in any order. Without labels, words that most texts
# have count for little, without a list of stop words. The score is the adjusted mutual
# information of clusters and topics: 0 for random clusters, 1 for clusters that are the
# topics.

from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score

from skembed import TextVectorizer

step = len(text.data) // 7000  # all reviews, or a part of the documentation
own = text.data[::step]
models = {
    "tf-idf": TfidfVectorizer(sublinear_tf=True, stop_words="english"),
    "TextVectorizer": TextVectorizer(corpus=own, random_state=0),
}
scores = {}
for name, model in models.items():
    rows = model.fit_transform(sentences)
    runs = [KMeans(8, n_init=1, random_state=i).fit_predict(rows) for i in range(5)]
    scores[name] = [adjusted_mutual_info_score(target, labels) for labels in runs]
    print(f"{name:18s} {np.mean(scores[name]):.2f}")
clusters = runs[0]

# %%
# Names
# -----
# :func:`~skembed.inspection.cluster_names` takes the words, and pairs of words, that many
# sentences of a cluster have, and few others. It needs no list of stop words either.

from skembed.inspection import cluster_names

names = cluster_names(sentences, clusters)
for cluster, terms in names.items():
    inside = target[clusters == cluster]
    top = np.bincount(inside).argmax()
    percent = 100 * np.mean(inside == top)
    print(f"{', '.join(terms):42s} {percent:3.0f} % {text.target_names[top]}")

# %%
# The map
# -------

import matplotlib.pyplot as plt
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import TSNE

dense = TruncatedSVD(50, random_state=0).fit_transform(rows)
places = TSNE(2, max_iter=500, random_state=0).fit_transform(dense)
figure, ax = plt.subplots(figsize=(7, 6.5), layout="constrained")
for cluster, terms in names.items():
    label = ", ".join(terms[:2])
    ax.scatter(*places[clusters == cluster].T, s=18, alpha=0.7, label=label)
ax.set(xticks=[], yticks=[], title="Sentences, by the topic of their cluster")
figure.legend(loc="outside lower center", ncols=2, fontsize=13, markerscale=2)
plt.show()

# %%
# A point is a sentence, a colour is a cluster, named by its first two terms. Run the page
# with other text: only the cell *Reviews* changes.
