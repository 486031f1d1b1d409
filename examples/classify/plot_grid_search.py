"""
Grid search done right
======================

Cross-validation draws sentences out of their text. How can a model that learns from *neighbouring* sentences be tuned
with it?

By giving it the ordered text apart: with ``corpus=`` every fold learns its embedding from the whole text in reading
order, and ``X`` only trains the classifier. Or by the labels: without ``corpus`` the sentences of a class are
neighbours, and each fold learns from the labels of its own training sentences. Below, the same grid search is done
wrong, wrong again, and right in these two ways.
"""

# %%
# A labelled sample, and the text it was drawn from
# -------------------------------------------------
# The task: which of 12 subpackages does a docstring sentence come from? 300 sentences of each are labelled. They are a
# sample, so the sentence before one of them in ``X`` is a stranger, and not the one before it in the text.

import numpy as np

from skembed import SentenceCorpus
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
rng = np.random.default_rng(0)
largest = np.argsort(-np.bincount(docstrings.target), kind="stable")[:12]
chosen = np.concatenate(
    [
        rng.choice(np.flatnonzero(docstrings.target == t), 300, replace=False)
        for t in largest
    ]
)
X = [docstrings.data[i] for i in chosen]
y, groups = docstrings.target[chosen], docstrings.groups[chosen]

ordered = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
shuffled = SentenceCorpus.from_sentences(
    [docstrings.data[i] for i in rng.permutation(len(docstrings.data))]
)
print(ordered)

# %%
# Four grid searches
# ------------------
# They differ in what CBOS learns from. ``context="order"`` without a corpus is the mistake: each fold learns from the
# order of its own sample, and each fit warns. The shuffled corpus has the same words as the right one and shows that
# order matters, not only the amount of text. Test folds hold whole documents (``GroupKFold``), since sentences of one
# docstring are too much alike to be a test.

import warnings

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer

cv = GroupKFold(3)
classifier = LinearSVC(random_state=0)
windows = [1, 3, 9]
searches = {}
sources = {
    "order of the sample": {"context": "order"},
    "shuffled corpus": {"corpus": shuffled},
    "corpus in reading order": {"corpus": ordered},
    "labels": {},
}
for name, source in sources.items():
    embedding = CBOSVectorizer(random_state=0, **source)
    pipeline = Pipeline([("emb", embedding), ("svm", classifier)])
    with warnings.catch_warnings(record=True) as caught:
        search = GridSearchCV(
            pipeline, {"emb__window": windows}, cv=cv, refit=False
        ).fit(X, y, groups=groups)
    if caught:
        print("Warning:", caught[0].message)
    searches[name] = search.cv_results_
    print(
        f"{name:24s} window={search.best_params_['emb__window']}  accuracy {100 * search.best_score_:.1f} %"
    )

tfidf = cross_val_score(
    Pipeline([("tf-idf", TfidfVectorizer()), ("svm", classifier)]),
    X,
    y,
    groups=groups,
    cv=cv,
)
print(f"{'tf-idf':24s} {'':9s} accuracy {100 * tfidf.mean():.1f} %")

# %%
# What the wrong score hides
# --------------------------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
looks = {
    "order of the sample": ("#D55E00", "s"),
    "shuffled corpus": ("#E69F00", "^"),
    "corpus in reading order": ("#0072B2", "o"),
    "labels": ("#009E73", "D"),
}
for name, results in searches.items():
    color, marker = looks[name]
    mean, std = 100 * results["mean_test_score"], 100 * results["std_test_score"]
    ax.errorbar(windows, mean, std, color=color, marker=marker, capsize=3, label=name)
ax.axhline(
    100 * tfidf.mean(), color="0.4", ls="--", label="tf-idf, which needs no order"
)
ax.set(xscale="log", xticks=windows, xticklabels=windows, ylim=(0, None))
ax.minorticks_off()
ax.set(
    xlabel="window: neighbours on each side",
    ylabel="accuracy (%), mean of 3 folds",
)
ax.legend(loc="lower right")
plt.show()

# %%
# Look at the distance between the lines. From the order of the sample the search sees 36 % at best and would end in
# the belief that the method is no good; the right text is worth fifteen to twenty points. The shuffled corpus is
# *worse* than a few thousand sentences of the right topics: it taught CBOS that strangers are neighbours. And the
# best window is another one, so that the wrong search also picks the wrong parameter.
#
# From the labels of 2,400 sentences alone, CBOS is within two points of tf-idf, and four below what it learns from
# the 75,000 sentences of the whole text without labels.
#
# The honest end: tf-idf, at no cost, is level with CBOS as it comes on this task of names and terms; only the best
# window puts CBOS three or four points ahead, with 100 columns where tf-idf has thousands. Sentence vectors shine
# where labels are few (see the example on few labels).
