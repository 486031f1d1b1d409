"""
Paraphrases from your own pairs
===============================

A model that has learned from text knows that *bed* and *pillow* occur together. Does it know that two requests to a
hotel ask for the same? With some pairs of sentences that mean the same, it can learn what matters.

Any evidence will do that says "these mean the same": questions with one answer, tickets that were merged, captions of
one image, a list of synonyms. Here it is half of the groups of paraphrases that come with the package; the other half
shows what was learned.
"""

# %%
# A start that learned from text
# ------------------------------
# Pairs are few. So the model starts from vectors that were learned from other text: here the prose of some docstrings,
# which is little and about something else.

from skembed import CBOSVectorizer, ParaphraseVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings, load_paraphrase_groups

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
start = CBOSVectorizer(random_state=0).fit(corpus)

# %%
# Learn from groups
# -----------------
# Sentences with equal ``y`` are paraphrases. Every second group is learned from, the others are kept aside.

import numpy as np

groups = load_paraphrase_groups()
sentences, target = np.array(groups.data, object), np.array(groups.target)
is_known = target % 2 == 0
model = ParaphraseVectorizer(
    init=start, learning_rate=0.003, max_iter=20, random_state=0
)
model.fit(list(sentences[is_known]), target[is_known])
print(
    f"loss of the first pass {model.loss_curve_[0]:.2f},"
    f" of the last {model.loss_curve_[-1]:.2f}"
)

# %%
# Does the nearest sentence mean the same?
# ----------------------------------------


def nearest_is_right(model, chosen):
    """Fraction of the sentences whose nearest other one is of the same group."""
    rows = model.transform(list(sentences[chosen]))
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -1)
    return float((target[chosen][cosines.argmax(axis=1)] == target[chosen]).mean())


parts = {"groups learned from": is_known, "groups kept aside": ~is_known}
found = {
    name: [100 * nearest_is_right(emb, chosen) for chosen in parts.values()]
    for name, emb in (("start", start), ("after learning from groups", model))
}
for name, percents in found.items():
    print(
        f"{name:28}",
        *(f"{percent:.0f} % of {part}" for part, percent in zip(parts, percents)),
    )

# %%
# As a picture, what counts is the pair of bars on the right: of these groups the model saw no sentence.

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
for shift, color, (name, percents) in zip(
    (-0.2, 0.2), ("0.6", "#0072B2"), found.items()
):
    ax.bar_label(
        ax.bar(np.arange(2) + shift, percents, 0.38, color=color, label=name),
        fmt="%.0f",
    )
ax.set(
    xticks=[0, 1],
    xticklabels=list(parts),
    ylim=(0, 125),
    ylabel="nearest sentence means the same (%)",
)
ax.legend(loc="upper right", ncols=2)
plt.show()

# %%
# Pairs
# -----
# Where you have pairs and no groups, pass them as tuples, in two columns of a table, or encoded once in a
# :class:`~skembed.PairCorpus`. A model that has learned from some pairs is a start for others.

synonyms = [
    ("cheap", "inexpensive"),
    ("rent", "hire"),
    ("cancel", "call off"),
    ("weather", "forecast"),
] * 5
both = ParaphraseVectorizer(
    init=model, learning_rate=0.01, max_iter=20, random_state=0
).fit(synonyms)
print(
    f"{model.similarity('rent', 'hire'):.2f} before,"
    f" {both.similarity('rent', 'hire'):.2f} after"
)
