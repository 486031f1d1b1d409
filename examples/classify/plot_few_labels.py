"""
Classification with few labels
==============================

Do sentence vectors save labels?

A classifier on tf-idf has to see a word under a label before it can use it. Vectors learned from unlabelled text let it
generalise from one word to its relatives. How much that is worth depends on how many labels there are.
"""

# %%
# Many sentences, few labels
# --------------------------
# SUBJ: is a sentence about a film an opinion, or does it tell the plot? Its 10,000 sentences are downloaded at the
# first run. Where they cannot be, docstrings take their place, which every installation has, and the question is which
# of twelve subpackages a sentence comes from. Half of the documents are for the test; labels are drawn from the others.

import numpy as np

from skembed import Sent2VecVectorizer
from skembed.datasets import fetch_senteval, load_docstrings

try:
    text = fetch_senteval(name="SUBJ", n_retries=0)
    documents = np.arange(len(text.data))  # each sentence stands alone
except OSError:
    print("SUBJ is not on this machine and cannot be downloaded: on with docstrings.")
    text = load_docstrings()
    documents = text.groups
classes = np.argsort(-np.bincount(text.target), kind="stable")[:12]
print(f"{len(text.data):,} sentences, {len(classes)} classes")

rng = np.random.default_rng(0)
in_test = (rng.random(documents.max() + 1) < 0.5)[documents]
test = np.concatenate(
    [
        rng.choice(
            np.flatnonzero((text.target == c) & in_test),
            2400 // len(classes),
            replace=False,
        )
        for c in classes
    ]
)
pools = [np.flatnonzero((text.target == c) & ~in_test) for c in classes]

# %%
# Columns without labels
# ----------------------
# Three sets are made once from all sentences, without labels. Sent2Vec, because it needs no sentences in reading order,
# which SUBJ has not; nor does :class:`~skembed.ParagraphVectorizer`, nor, slower, do
# :class:`~skembed.research.SequentialDenoisingAutoencoder` and
# :class:`~skembed.research.RecursiveAutoencoderVectorizer`. "Both" puts the columns side by side.

from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform(text.data)
own_text = Sent2VecVectorizer(weighting="sif", random_state=0).fit(text.data)
sent2vec = normalize(own_text.transform(text.data))
both = hstack([csr_array(tfidf), csr_array(sent2vec)], format="csr")
columns = {"tf-idf": tfidf, "Sent2Vec": sent2vec, "both": both}

# %%
# Columns that learn from the labels
# ----------------------------------
# CBOS learns from labels: from them alone, here vectors of words, as Sent2Vec does; or on from Sent2Vec with `init`.
# Then `interpolation` leaves the vectors near their start, for the labels move only the words that they have seen.

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skembed import CBOSVectorizer

learning = {
    "labels": CBOSVectorizer(analyzer="word", random_state=0),
    "Sent2Vec, then labels": CBOSVectorizer(
        init=own_text, learning_rate=0.03, interpolation=0.05, random_state=0
    ),
}

# %%
# Accuracy by number of labels
# ----------------------------

from sklearn.svm import LinearSVC

sizes, n_draws = [1, 3, 10, 30, 100], 5
scores = {name: np.zeros((len(sizes), n_draws)) for name in [*columns, *learning]}
sentences = np.array(text.data, dtype=object)
for draw in range(n_draws):
    shuffled = [rng.permutation(pool) for pool in pools]
    for s, size in enumerate(sizes):
        train = np.concatenate([pool[:size] for pool in shuffled])
        for name, X in columns.items():
            classifier = LinearSVC(random_state=0).fit(X[train], text.target[train])
            scores[name][s, draw] = 100 * classifier.score(X[test], text.target[test])
        for name, emb in (
            learning.items() if size > 1 else ()
        ):  # one sentence of a class has no other to learn from
            model = make_pipeline(emb, Normalizer(), LinearSVC(random_state=0))
            model.fit(sentences[train], text.target[train])
            scores[name][s, draw] = 100 * model.score(
                sentences[test], text.target[test]
            )

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
colors, markers = ["0.4", "#0072B2", "#D55E00", "#009E73", "#CC79A7"], "so^vD"
for name, color, marker in zip(scores, colors, markers):
    first = 1 if name in learning else 0
    mean, std = scores[name].mean(axis=1)[first:], scores[name].std(axis=1)[first:]
    ax.errorbar(
        sizes[first:], mean, std, color=color, marker=marker, capsize=3, label=name
    )
    print(f"{name:21s}", "     " * first, *(f"{value:5.1f}" for value in mean))
ax.axhline(100 / len(classes), color="0.7", ls=":", label="guessing")
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, ylim=(0, None))
ax.minorticks_off()
ax.set(
    xlabel="labelled sentences per class",
    ylabel=f"accuracy (%), mean of {n_draws} draws",
)
ax.legend(loc="best")
plt.show()

# %%
# On either text Sent2Vec is ahead of tf-idf with few labels, by five points and more from one to ten of a class. With
# a hundred tf-idf has nearly caught up: it has a column for every word, and only needs to see enough of them. Both
# together are within a point of Sent2Vec up to ten labels, and from thirty on they are best. So the answer is yes: with
# ten labels per class "both" is about as good as tf-idf with thirty on docstrings, and clearly better on SUBJ.
#
# Labels alone are no better than tf-idf with so few: most words have no label yet. To learn on from Sent2Vec adds
# nothing up to ten labels per class, and a point with a hundred.
