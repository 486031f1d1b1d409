"""
What length tells about a word
==============================

Does a model find out by itself which words matter?

In a sum of word vectors a long vector counts for more. Arora and others weigh words by hand, a / (a + f) for a word
with the fraction f of the text; Pagliardini and others saw that Sent2Vec learns something like it from the text.
"""

# %%
# Length against frequency
# ------------------------

import matplotlib.pyplot as plt

from skembed import (
    CBOSVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    Word2VecVectorizer,
)
from skembed.datasets import load_docstrings
from skembed.inspection import NormProfileDisplay

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
options = {"random_state": 0}
sent2vec = Sent2VecVectorizer(**options).fit(corpus)
figure, axes = plt.subplots(1, 2, figsize=(7, 3.5), layout="constrained")
mark = ["the", "array", "eigenvalues"]
NormProfileDisplay.from_estimator(sent2vec, ax=axes, mark=mark)
plt.show()

# %%
# A dot is a word, the line the median of words of about the same frequency. Sent2Vec makes the vectors of frequent
# words shorter, "the" a quarter of the length of a rare word, but only beyond one word in a thousand does the line
# really fall; Arora's weight has lost half of its height there. It is the same tendency and not the same curve.
#
# Other objectives, other lengths
# -------------------------------

figure, axes = plt.subplots(2, 2, figsize=(7, 6.5), layout="constrained")
models = {"CBOS": CBOSVectorizer(**options), "Skip-gram": Word2VecVectorizer(**options)}
for row, (name, model) in zip(axes, models.items()):
    NormProfileDisplay.from_estimator(model.fit(corpus), ax=row, mark=mark)
    row[0].set_title(name)
plt.show()

# %%
# CBOS comes much closer to the weight on the right, which nobody told it: level for rare words, half the height at
# some three in a thousand, and next to nothing for "the". Well above its line stands "array": frequent here and
# yet telling. Skip-gram falls too, but "the" keeps more than a quarter of the length of a rare word; the example on own
# word vectors weighs such vectors by hand.
#
# The shortest and the longest
# ----------------------------
# Among the words that occur at least 100 times.

import numpy as np

for name, model in {"Sent2Vec": sent2vec, **models}.items():
    words = np.array(list(model.vocabulary_))[model.word_counts_ >= 100]
    order = np.argsort(
        np.linalg.norm(model.word_vectors_[model.word_counts_ >= 100], axis=1)
    )
    print(
        f"{name:10s} shortest: {', '.join(words[order[:8]])}\n"
        f"{'':10s} longest:  {', '.join(words[order[:-9:-1]])}"
    )
