"""
How many passes over the text
=============================

When has a model learned enough, and who tells?

A model can hold out some of its text and stop when the loss there no longer falls. Whether its vectors have then also
become good for something else is another question, and we ask both.
"""

# %%
# The loss, on text that is learned and on text that is not
# ---------------------------------------------------------

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt

from skembed import CBOSVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
classes = [CBOSVectorizer, Sent2VecVectorizer]
options = {"max_iter": 20, "early_stopping": True, "random_state": 0}
figure, axes = plt.subplots(2, 1, figsize=(6.5, 7), layout="constrained")
for ax, cls in zip(axes, classes):
    model = cls(**options).fit(corpus)
    passes = range(1, model.n_iter_ + 1)
    ax.plot(passes, model.loss_curve_, "o-", label=cls.__name__)
    ax.plot(passes, model.validation_loss_curve_, "o--C0", label="held-out text")
    ax.set(xlabel="passes over the text", ylabel="mean loss of a target (nats)")
    ax.legend()
    best = min(range(model.n_iter_), key=model.validation_loss_curve_.__getitem__) + 1
    print(f"{cls.__name__}: stopped after {model.n_iter_} passes, the best was {best}")
plt.show()

# %%
# The whole line is text that is learned, the dashed one text that is held out. They part early: much of these
# docstrings is learned by heart. Training stops after three passes without a gain, and the weights of the lowest point
# of the dashed line are kept. Losses of the two methods do not compare, as their targets differ.
#
# What the vectors are good for
# -----------------------------
# After each number of passes: can a linear classifier tell the subpackage of a docstring sentence? Folds hold whole
# docstrings.

import numpy as np
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

rng = np.random.default_rng(0)
largest = np.argsort(-np.bincount(docstrings.target), kind="stable")[:12]
chosen = np.concatenate(
    [
        rng.choice(np.flatnonzero(docstrings.target == t), 300, replace=False)
        for t in largest
    ]
)
sentences, target, groups = (
    [docstrings.data[i] for i in chosen],
    docstrings.target[chosen],
    docstrings.groups[chosen],
)
passes = [1, 2, 4, 8, 16]
figure, ax = plt.subplots(layout="constrained")
for cls, color, marker in zip(classes, ["#0072B2", "#D55E00"], "os"):
    accuracy = []
    for n in passes:
        vectors = normalize(
            cls(max_iter=n, random_state=0).fit(corpus).transform(sentences)
        )
        accuracy.append(
            100
            * cross_val_score(
                LinearSVC(), vectors, target, groups=groups, cv=GroupKFold(3)
            ).mean()
        )
    print(cls.__name__, np.round(accuracy, 1))
    ax.plot(passes, accuracy, color=color, marker=marker, label=cls.__name__)
ax.set(xscale="log", xticks=passes, xticklabels=passes)
ax.minorticks_off()
ax.set(
    xlabel="passes over the text", ylabel="accuracy of a classifier on the vectors (%)"
)
ax.legend()
plt.show()

# %%
# The held-out loss is a poor guide to this task. CBOS is at its best after one to four passes and loses from then on,
# where its held-out loss stays as it is; Sent2Vec still gains at sixteen, where its held-out loss no longer falls. So
# ``early_stopping`` saves you from useless passes over a text that is learned by heart, and does not find the best
# number: where you have labels, search ``max_iter`` with them (see the example on grid search).
