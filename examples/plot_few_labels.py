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
# Twelve subpackages of numpy, scipy and scikit-learn. Half of their docstrings are for the test; labels are drawn from
# the other half. The embedding learns from the text of all docstrings, as one would with unlabelled text at hand.

import numpy as np

from skembed import CBOSVectorizer
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
rng = np.random.default_rng(0)
largest = np.argsort(-np.bincount(docstrings.target), kind="stable")[:12]
in_test = rng.random(docstrings.groups.max() + 1) < 0.5
test = np.concatenate(
    [
        rng.choice(np.flatnonzero((docstrings.target == t) & in_test[docstrings.groups]), 200, replace=False)
        for t in largest
    ]
)
pools = [np.flatnonzero((docstrings.target == t) & ~in_test[docstrings.groups]) for t in largest]

# %%
# Three sets of columns
# ---------------------
# All are made once for all sentences, without labels. "Both" puts the columns side by side.

from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

tfidf = TfidfVectorizer(sublinear_tf=True).fit_transform(docstrings.data)
cbos = CBOSVectorizer(weighting="sif", random_state=0)
cbos = normalize(cbos.fit(docstrings.data, groups=docstrings.groups).transform(docstrings.data))
columns = {"tf-idf": tfidf, "CBOS": cbos, "both": hstack([csr_array(tfidf), csr_array(cbos)], format="csr")}

# %%
# Accuracy by number of labels
# ----------------------------

from sklearn.svm import LinearSVC

sizes, n_draws = [1, 3, 10, 30, 100], 5
scores = {name: np.zeros((len(sizes), n_draws)) for name in columns}
for draw in range(n_draws):
    shuffled = [rng.permutation(pool) for pool in pools]
    for s, size in enumerate(sizes):
        train = np.concatenate([pool[:size] for pool in shuffled])
        for name, X in columns.items():
            classifier = LinearSVC(random_state=0).fit(X[train], docstrings.target[train])
            scores[name][s, draw] = 100 * classifier.score(X[test], docstrings.target[test])

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
for name, color, marker in [("tf-idf", "0.4", "s"), ("CBOS", "#0072B2", "o"), ("both", "#D55E00", "^")]:
    mean, std = scores[name].mean(axis=1), scores[name].std(axis=1)
    ax.errorbar(sizes, mean, std, color=color, marker=marker, capsize=3, label=name)
    print(f"{name:8s}", *(f"{value:5.1f}" for value in mean))
ax.axhline(100 / 12, color="0.7", ls=":", label="guessing")
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, ylim=(0, None))
ax.minorticks_off()
ax.set(xlabel="labelled sentences of each of 12 classes", ylabel=f"accuracy (%), mean and deviation of {n_draws} draws")
ax.legend(loc="upper left")
plt.show()

# %%
# With up to 30 labels a class CBOS is ahead of tf-idf, at 10 by several points; at 100 tf-idf has caught up, and with
# more it would win, because it has a column for every word. Both together are the best from the first label to the
# last. So the answer is yes: here "both" at 30 labels is about as good as tf-idf at 60.
