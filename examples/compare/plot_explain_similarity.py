"""
Explain a similarity
====================

Why does a model take two sentences for alike?

A sentence is a weighted sum of word vectors, so the cosine of two sentences is a sum over pairs of words. It can be
taken apart exactly: nothing is estimated.
"""

# %%
# Two sentences without a word in common
# --------------------------------------
# We let the model choose: which short sentence of the docstrings is the most similar one to ours, among those that
# share no word with it but stop words?

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from skembed import CBOSVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
plain = CBOSVectorizer(random_state=0).fit(corpus)
weighted = CBOSVectorizer(weighting="sif", random_state=0).fit(corpus)

sentence = "The number of trees in the forest."
candidates = [
    other for other in dict.fromkeys(docstrings.data) if len(other.split()) <= 10
]
words = TfidfVectorizer(stop_words="english").fit([sentence])
strangers = np.flatnonzero(words.transform(candidates).getnnz(axis=1) == 0)
cosine = (
    normalize(weighted.transform([candidates[i] for i in strangers]))
    @ normalize(weighted.transform([sentence]))[0]
)
alike = candidates[strangers[cosine.argmax()]]
print(f"{sentence}\n{alike}")

# %%
# Where their cosine comes from
# -----------------------------

import matplotlib.pyplot as plt

from skembed.inspection import SimilarityHeatmapDisplay

figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
for ax, (name, model) in zip(
    axes, {"CBOS": plain, "CBOS, SIF weights": weighted}.items()
):
    display = SimilarityHeatmapDisplay.from_estimator(model, sentence, alike, ax=ax)
    ax.set_title(f"{name}: cosine {display.similarity:.2f}")
plt.show()

# %%
# Red cells add to the cosine, blue ones take away, and all cells together are the cosine in the title. Nearly all
# of it is in two rows: "trees" and "forest" go with "measure", "quality" and "split". These words mean something else;
# but the trees of a forest and the quality of their splits are documented in the same places, and neighbours are what
# CBOS learns from. *Alike* means here: likely to stand in the same place. SIF weights (right) change little: words that
# stand everywhere have learned to be short, so with and without weights they add next to nothing.
#
# Alike for the wrong reason
# --------------------------
# The same look at a pair that should *not* be alike.

SimilarityHeatmapDisplay.from_estimator(
    weighted, "The array must not be sorted.", "The array must be sorted."
)
plt.show()

# %%
# The two say the opposite, and their cosine is 1.00. The row of "not" shows why: it adds nothing to any pair, as the
# word stands beside everything, has a short vector and a small weight. No sum of word vectors will tell these two
# apart; a word n-gram "not be" (``ngram_range`` of :class:`~skembed.Sent2VecVectorizer`) could.
#
# The numbers behind the picture
# ------------------------------

explanation = weighted.explain(sentence, alike)
for pair in np.argsort(-explanation.contributions, axis=None)[:5]:
    i, j = np.unravel_index(pair, explanation.contributions.shape)
    print(
        f"{explanation.words_a[i]:>8s} ~ {explanation.words_b[j]:12s}",
        f"{explanation.contributions[i, j]:.3f}",
    )
print(
    f"sum of all pairs: {explanation.contributions.sum():.3f},"
    f" cosine: {explanation.similarity:.3f}"
)
