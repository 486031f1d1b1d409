"""
A dictionary read backwards
===========================

You can describe a word and it does not come to mind. Can a model find it from the description?

Hill and others (2016) taught a model to map a definition to the vector of the word that it defines, and called it
*DictRep*. :class:`~skembed.TargetVectorizer` does this, with the definitions as `X` and the vectors as `y`.
"""

# %%
# Words and definitions
# ---------------------
# Documentation is a dictionary that every installation has: the name of a function is a word, and the first sentence
# of its docstring says what the word means. The name itself, and words that begin like it, are struck from the
# sentence, or finding it would be easy. The word vectors are learned from all other sentences.

import re

import numpy as np

from skembed import TargetVectorizer, Word2VecVectorizer
from skembed.datasets import load_docstrings

docs = load_docstrings()
firsts = np.flatnonzero(np.diff(docs.groups, prepend=-1))
start = Word2VecVectorizer(max_iter=3, random_state=0)
start.fit(np.delete(np.array(docs.data, dtype=object), firsts))


def without(word, sentence):
    """Words of a sentence, but those that begin with the word, or with its first five letters."""
    return " ".join(re.findall(rf"\b(?!{word[:5]})\w+", sentence.lower()))


pairs = {}  # each pair once
for name, first in zip(docs.document_names, firsts):
    word = name.rpartition(".")[2].lower()
    definition = without(word, docs.data[first])
    row = start.vocabulary_.get(word)
    if (
        word.isalpha()
        and row is not None
        and start.word_counts_[row] >= 10
        and definition.count(" ") > 2
    ):
        pairs[word, definition] = row
words, definitions = (np.array(column, dtype=object) for column in zip(*pairs))
names, of_name = np.unique(words, return_inverse=True)
print(f"{len(words):,} definitions of {len(names)} words")

# %%
# Two kinds of held-out definitions
# ---------------------------------
# A fifth of the words is kept aside with all their definitions. Of the other words that have several definitions, one
# definition is kept aside. The target is the direction of the word's vector, less the mean that all words share.

rng = np.random.default_rng(0)
is_new = (rng.random(len(names)) < 0.2)[of_name]
order = rng.permutation(len(words))
_, latest = np.unique(of_name[order], return_index=True)
is_one = np.isin(np.arange(len(words)), order[latest])
is_other = is_one & (np.bincount(of_name)[of_name] > 1) & ~is_new
known = ~is_new & ~is_other
is_new &= is_one

vectors = start.word_vectors_[[start.vocabulary_[name] for name in names]]
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
vectors -= vectors.mean(axis=0)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

model = TargetVectorizer(init=start, loss="cosine", random_state=0)
model = model.fit(definitions[known], vectors[of_name[known]])

# %%
# Where does the right word stand?
# --------------------------------
# All words are sorted by the cosine of their vector and the vector that the model gives to the definition. The other
# way from a definition to a vector is the mean of its words' vectors, without any learning from definitions.


def ranks(rows, chosen):
    """Place of the right word among all names, from 1."""
    cosines = rows[chosen] @ vectors.T
    right = cosines[np.arange(len(cosines)), of_name[chosen]]
    return 1 + (cosines > right[:, None]).sum(axis=1)


mean = start.transform(definitions)
mean -= mean[known].mean(axis=0)
rows = {"mean of word vectors": mean, "TargetVectorizer": model.predict(definitions)}
parts = {"the word has other definitions": is_other, "no definition known": is_new}
for part, chosen in parts.items():
    middles = ", ".join(
        f"{way} {np.median(ranks(of_way, chosen)):.0f}" for way, of_way in rows.items()
    )
    print(f"{part}, {chosen.sum()} definitions: median place by {middles}")

for i in np.flatnonzero(is_other)[:: is_other.sum() // 6]:
    best = names[np.argsort(-rows["TargetVectorizer"][i] @ vectors.T)[:4]]
    print(f"{words[i]:>10s} | {definitions[i][:60]:60s} | {', '.join(best)}")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
places = np.arange(1, len(names) + 1)
for ax, (part, chosen) in zip(axes, parts.items()):
    for (way, of_way), color in zip(rows.items(), ["0.45", "#0072B2"]):
        found = np.sort(ranks(of_way, chosen))
        percent = 100 * np.searchsorted(found, places, side="right") / len(found)
        ax.plot(places, percent, color=color, lw=2, label=way)
    ax.plot(places, 100 * places / len(names), color="0.45", ls=":", label="chance")
    ax.set(title=part, xscale="log", xlabel="words looked at")
    ax.set(xticks=[1, 10, 100], xticklabels=[1, 10, 100])
axes[0].set_ylabel("right word among them (%)")
axes[0].legend()
plt.show()

# %%
# Left: a word is found far sooner once the model knows other definitions of it. About three in ten come first, with the
# mean of word vectors two in a hundred. Definitions of one name are often worded alike, and this is learned.
#
# Right: for a word without a known definition, the mean of word vectors is as good or better. The model learns
# from less than a thousand definitions; the paper has more.
