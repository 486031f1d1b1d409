"""
Explain a similarity
====================

Why does a model take two sentences for alike?

A sentence is a weighted sum of word vectors, so the cosine of two sentences is a sum over pairs of words. It can be
taken apart exactly: nothing is estimated.
"""

# %%
# Two sentences, and where their cosine comes from
# ------------------------------------------------

import matplotlib.pyplot as plt

from skembed import CBOSVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings
from skembed.inspection import SimilarityHeatmapDisplay

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
plain = CBOSVectorizer(n_jobs=2, random_state=0).fit(corpus)
weighted = CBOSVectorizer(weighting="sif", n_jobs=2, random_state=0).fit(corpus)

a, b = "The number of trees in the forest.", "How many estimators are in the ensemble?"
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, (name, model) in zip(axes, {"CBOS": plain, "CBOS, SIF weights": weighted}.items()):
    display = SimilarityHeatmapDisplay.from_estimator(model, a, b, ax=ax)
    ax.set_title(f"{name}: cosine {display.similarity:.2f}")
plt.show()

# %%
# CAPTION
#
# Alike for the wrong reason
# --------------------------
# The same look at a pair that should *not* be alike shows what to mend.

a, b = "The array must not be sorted.", "The array must be sorted."
SimilarityHeatmapDisplay.from_estimator(weighted, a, b)
plt.show()

# %%
# CAPTION2
#
# The numbers behind the picture
# ------------------------------

import numpy as np

explanation = weighted.explain("The number of trees in the forest.", "How many estimators are in the ensemble?")
for pair in np.argsort(-explanation.contributions, axis=None)[:5]:
    i, j = np.unravel_index(pair, explanation.contributions.shape)
    print(f"{explanation.words_a[i]:>8s} ~ {explanation.words_b[j]:12s} {explanation.contributions[i, j]:.3f}")
print(f"sum of all pairs: {explanation.contributions.sum():.3f}, cosine: {explanation.similarity:.3f}")
