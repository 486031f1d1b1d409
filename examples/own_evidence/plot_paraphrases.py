"""
Paraphrases from your own pairs
===============================

A model that has learned from text knows that *bed* and *pillow* occur together. Does it
know that two reviews say the same?

Any evidence will do that says "these mean the same": questions with one answer, tickets
that were merged, captions of one image, a list of synonyms. Here it is groups of reviews.
The model learns from half of them; the other half shows what was learned.
"""

# %%
# Groups, and a start that learned from text
# ------------------------------------------
# Sentences of reviews, in groups that say the same; both are downloaded at the first run.
# Where they cannot be, groups that were written for this package take their place, and
# documentation is the text. Pairs are few. So the model starts from vectors that were
# learned from the text, without the groups.

import numpy as np

from skembed import ParaphraseVectorizer, Sent2VecVectorizer
from skembed.datasets import (
    fetch_opinosis,
    fetch_semantic_groups,
    load_docstrings,
    load_paraphrase_groups,
)

try:
    text = fetch_opinosis(n_retries=0).data
    groups = fetch_semantic_groups(name="opinosis", n_retries=0)
except OSError:
    print("The reviews cannot be downloaded: on with the sentences of the package.")
    text = load_docstrings().data
    groups = load_paraphrase_groups()
sentences, target = np.array(groups.data, object), np.array(groups.target)
print(f"{len(sentences)} sentences in {len(groups.target_names)} groups")
start = Sent2VecVectorizer(random_state=0).fit(text)

# %%
# Learn from groups
# -----------------
# Sentences with equal ``y`` are paraphrases. Every second group is learned from.

is_known = target % 2 == 0
model = ParaphraseVectorizer(
    init=start, learning_rate=0.003, max_iter=10, random_state=0
)
model.fit(list(sentences[is_known]), target[is_known])
losses = model.loss_curve_
print(f"loss of the first pass {losses[0]:.2f}, of the last {losses[-1]:.2f}")

# %%
# Does the nearest sentence mean the same?
# ----------------------------------------

from skembed.search import nearest


def nearest_is_right(model, chosen):
    """Percentage of the sentences whose nearest other one is of the same group."""
    rows, labels = model.transform(list(sentences[chosen])), target[chosen]
    found, _ = nearest(rows, rows, k=1, exclude="self")
    return 100 * np.mean(labels[found[:, 0]] == labels)


parts = {"groups learned from": is_known, "groups kept aside": ~is_known}
models = {"start": start, "after learning from groups": model}
percent = {
    name: [nearest_is_right(emb, chosen) for chosen in parts.values()]
    for name, emb in models.items()
}
for name, values in percent.items():
    print(f"{name:28}", *(f"{v:.0f} % of {part}" for part, v in zip(parts, values)))

# %%
# As a picture, what counts is the pair of bars on the right: of these groups the model
# saw no sentence.

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
looks = [(-0.2, "0.6"), (0.2, "#0072B2")]
for (shift, color), (name, values) in zip(looks, percent.items()):
    bars = ax.bar(np.arange(2) + shift, values, 0.38, color=color, label=name)
    ax.bar_label(bars, fmt="%.0f")
ax.set(xticks=[0, 1], xticklabels=list(parts), ylim=(0, 130))
ax.set(ylabel="nearest sentence means the same (%)")
ax.legend(loc="upper center")
plt.show()

# %%
# Pairs
# -----
# Where you have pairs and no groups, pass them as tuples, in two columns of a table, or
# encoded once in a :class:`~skembed.PairCorpus`. A model that has learned from some pairs
# is a start for others. :class:`~skembed.CSEVectorizer`, which sees the order of words, and
# :class:`~skembed.research.GRANVectorizer` learn from the same pairs.

synonyms = [("quick", "fast"), ("wrong", "incorrect"), ("error", "problem")] * 5
both = ParaphraseVectorizer(
    init=model, learning_rate=0.01, max_iter=20, random_state=0
).fit(synonyms)
before, after = (emb.similarity("quick", "fast") for emb in (model, both))
print(f"cosine of quick and fast: {before:.2f} before, {after:.2f} after")
