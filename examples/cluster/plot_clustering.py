"""
Find and name the topics of reviews
===================================

What do 1,000 sentences of reviews talk about, and which words say it?

:class:`~skembed.HybridVectorizer` learns from all reviews which words belong together.
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
# The vectors of words come from Sent2Vec, which needs no sentences in reading order.
# The score is the adjusted mutual information of clusters and topics: 0 for random
# clusters, 1 for clusters that are the topics.

from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_mutual_info_score

from skembed import HybridVectorizer, Sent2VecVectorizer, SentenceCorpus

corpus = SentenceCorpus.from_sentences(text.data)
sent2vec = Sent2VecVectorizer(100, random_state=0)
models = {
    "tf-idf": TfidfVectorizer(sublinear_tf=True, stop_words="english"),
    "HybridVectorizer": HybridVectorizer(embedding=sent2vec, corpus=corpus),
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
# The sentences of a cluster become one text. Its words of highest tf-idf among these
# eight texts are the name (class-based tf-idf).

cluster_text = [
    " ".join(sentences[i] for i in np.flatnonzero(clusters == cluster))
    for cluster in range(8)
]
words = TfidfVectorizer(stop_words="english", sublinear_tf=True)
weights = words.fit_transform(cluster_text).toarray()
title = [words.get_feature_names_out()[row.argsort()[:-5:-1]] for row in weights]
for cluster in range(8):
    inside = target[clusters == cluster]
    top = np.bincount(inside).argmax()
    percent = 100 * np.mean(inside == top)
    print(f"{', '.join(title[cluster]):42s} {percent:3.0f} % {text.target_names[top]}")

# %%
# The map
# -------

import matplotlib.pyplot as plt
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import TSNE

dense = TruncatedSVD(50, random_state=0).fit_transform(rows)
places = TSNE(2, max_iter=500, random_state=0).fit_transform(dense)
figure, ax = plt.subplots(figsize=(7, 6.5), layout="constrained")
for cluster in range(8):
    name = ", ".join(title[cluster][:2])
    ax.scatter(*places[clusters == cluster].T, s=18, alpha=0.7, label=name)
ax.set(xticks=[], yticks=[], title="Sentences, by the topic of their cluster")
figure.legend(loc="outside lower center", ncols=2, fontsize=13, markerscale=2)
plt.show()

# %%
# A point is a sentence, a colour is a cluster, named by its first two words. Run the page
# with other text: only the cell *Reviews* changes.
