"""
Own word vectors, and SIF weights
=================================

What do SIF weights and the removal of the common component make of word vectors that
you have already?

Any vectors will do: a file in the format of word2vec, a dictionary, gensim's
KeyedVectors. We make such a file, so that the page needs no large download, and build
sentences from it in four ways.
"""

# %%
# Text and judged pairs
# ---------------------
# The word vectors are learned from news. The pairs are those of SemEval 2014, from news,
# forums, tweets and captions of images, with a similarity that people gave. Both are
# downloaded at the first run. Where they cannot be, the vectors are learned from
# documentation, and the pairs are sentences that were written for this package: 1 for
# two that mean the same, 0 for two that do not.

import numpy as np

from skembed.datasets import (
    fetch_msrp,
    fetch_sts,
    load_docstrings,
    load_paraphrase_groups,
)

try:
    news = fetch_msrp(n_retries=0)
    text = [sentence for pair in news.data for sentence in pair]
    judged = fetch_sts(year=2014, n_retries=0)
    pairs, similarity, source = judged.data, judged.target, np.array(judged.subset)
except OSError:
    print("The news cannot be downloaded: on with documentation.")
    text = load_docstrings().data
    groups = load_paraphrase_groups()
    a, b = np.triu_indices(len(groups.data), 1)
    near = np.array(groups.topics)[a] == np.array(groups.topics)[b]
    pairs = [(groups.data[i], groups.data[j]) for i, j in zip(a[near], b[near])]
    similarity = (groups.target[a] == groups.target[b])[near].astype(float)
    source = np.array(groups.topics)[a[near]]
print(f"{len(text):,} sentences to learn from, {len(pairs):,} pairs")

# %%
# A file of word vectors
# ----------------------
# Learned by skip-gram and written as text, a line for each word, as word2vec does.

import tempfile
from pathlib import Path

from skembed import MeanEmbeddingVectorizer, Word2VecVectorizer

skipgram = Word2VecVectorizer(random_state=0).fit(text)
folder = tempfile.TemporaryDirectory()
file = Path(folder.name, "vectors.txt")
with file.open("w", encoding="utf-8") as out:
    print(*skipgram.word_vectors_.shape, file=out)
    for word, vector in zip(skipgram.vocabulary_, skipgram.word_vectors_):
        print(word, *vector.round(5), file=out)
print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB; its first line:")
print(file.open(encoding="utf-8").readline())

# %%
# Four ways from words to sentences
# ---------------------------------
# *SIF* (smooth inverse frequency) weighs a word by a / (a + f), with f its fraction of
# the text of ``fit``. Removing the *common component* takes out the direction that all
# sentences share. Arora and others (2017) do both. The score is the correlation of
# cosine and judgement, the mean over the sources of the pairs.

from sklearn.metrics.pairwise import paired_cosine_distances

first, second = zip(*pairs)
both = list(first + second)
scores = {}
for weighting in (None, "sif"):
    for removed in (0, 1):
        name = f"{'SIF' if weighting else 'plain mean'}, {removed} removed"
        model = MeanEmbeddingVectorizer(
            word_vectors=file, weighting=weighting, n_removed_components=removed
        ).fit(both)
        cosines = 1 - paired_cosine_distances(
            model.transform(first), model.transform(second)
        )
        by_source = [
            np.corrcoef(cosines[source == s], similarity[source == s])[0, 1]
            for s in np.unique(source)
        ]
        scores[name] = 100 * np.mean(by_source)
        print(f"{name:22s} {scores[name]:.1f}")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
colors = ["0.6", "#56B4E9", "#56B4E9", "#0072B2"]
bars = ax.barh(list(scores), list(scores.values()), color=colors)
ax.bar_label(bars, fmt="%.1f", padding=2)
ax.set(title="Does the cosine agree with people?", xlabel="correlation (x 100)")
ax.set(xlim=(0, 1.15 * max(scores.values())))
ax.spines[["top", "right"]].set_visible(False)
ax.invert_yaxis()
plt.show()
folder.cleanup()

# %%
# Either step makes more of the same word vectors than the plain mean (grey). A classifier
# gains less from them, because it can weight and shift the columns of the vectors itself.
# Word vectors of several sources are joined by :class:`~skembed.MetaEmbeddingVectorizer`.
