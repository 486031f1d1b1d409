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
import numpy as np

from skembed import (
    CBOSVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    Word2VecVectorizer,
)
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
options = {"random_state": 0}
sent2vec = Sent2VecVectorizer(**options).fit(corpus)


def draw_lengths(ax, model, marked=("the", "array", "eigenvalues")):
    """The length of each word's vector against the fraction of the text that the word makes."""
    fractions = model.word_counts_ / corpus.n_tokens
    lengths = np.linalg.norm(model.word_vectors_, axis=1)
    ax.scatter(fractions, lengths, s=6, alpha=0.3, color="0.5", linewidths=0)
    bins = np.digitize(np.log(fractions), np.linspace(*np.log(fractions[[-1, 0]]), 25))
    of_bins = [bins == b for b in np.unique(bins)]
    medians = [[np.median(a[rows]) for rows in of_bins] for a in (fractions, lengths)]
    ax.plot(*medians, color="#0072B2", lw=2)
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    for word in marked:
        point = fractions[model.vocabulary_[word]], lengths[model.vocabulary_[word]]
        ax.plot(*point, "o", ms=5, color="#D55E00")
        ax.annotate(
            word, point, (0, 7), textcoords="offset points", ha="center", bbox=box
        )
    ax.set(xscale="log", xlabel="fraction f of the word in the text", xlim=(None, 0.5))
    ax.set(ylabel="length of the word's vector", ylim=(0, None))


def draw_weight(ax, a=1e-3):
    f = np.geomspace(1 / corpus.n_tokens, 0.1, 200)
    ax.plot(f, a / (a + f), color="#0072B2", lw=2)
    ax.set(xscale="log", xlabel="fraction f of the word in the text")
    ax.set(ylabel=f"Arora's weight, a = {a:g}", ylim=(0, 1.05))


figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.5), layout="constrained")
draw_lengths(left, sent2vec)
draw_weight(right)
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
    draw_lengths(row[0], model.fit(corpus))
    row[0].set_title(name)
    draw_weight(row[1])
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

for name, model in {"Sent2Vec": sent2vec, **models}.items():
    words = np.array(list(model.vocabulary_))[model.word_counts_ >= 100]
    order = np.argsort(
        np.linalg.norm(model.word_vectors_[model.word_counts_ >= 100], axis=1)
    )
    print(
        f"{name:10s} shortest: {', '.join(words[order[:8]])}\n"
        f"{'':10s} longest:  {', '.join(words[order[:-9:-1]])}"
    )
