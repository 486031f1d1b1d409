"""
What length tells about a word
==============================

Does a model find out by itself which words matter?

In a sum of word vectors a long vector counts for more. Arora and others weigh words by hand, a / (a + f) for a word
with the share f of the text; Pagliardini and others saw that Sent2Vec learns something like it from the text.
"""

# %%
# Length against frequency
# ------------------------

import matplotlib.pyplot as plt

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings
from skembed.inspection import NormProfileDisplay

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
options = {"n_jobs": 2, "random_state": 0}
sent2vec = Sent2VecVectorizer(**options).fit(corpus)
NormProfileDisplay.from_estimator(sent2vec, mark=["the", "array", "if", "eigenvalues", "trees"])
plt.show()

# %%
# CAPTION
#
# Other objectives, other lengths
# -------------------------------

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
models = {"CBOS": CBOSVectorizer(**options), "Skip-gram": MeanEmbeddingVectorizer(**options)}
for row, (name, model) in zip(axes, models.items()):
    NormProfileDisplay.from_estimator(model.fit(corpus), ax=row, mark=["the", "array", "if"])
    row[0].set_title(name)
plt.show()

# %%
# CAPTION2
#
# The shortest and the longest
# ----------------------------
# Among the words that occur at least 100 times.

import numpy as np

for name, model in {"Sent2Vec": sent2vec, **models}.items():
    words = np.array(list(model.vocabulary_))[model.word_counts_ >= 100]
    order = np.argsort(np.linalg.norm(model.word_vectors_[model.word_counts_ >= 100], axis=1))
    print(f"{name:10s} shortest: {', '.join(words[order[:8]])}\n{'':10s} longest:  {', '.join(words[order[:-9:-1]])}")
