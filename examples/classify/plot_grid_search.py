"""
Grid search with few labels
===========================

How are the settings of the vectors and of the classifier chosen together, if most of the
text has no labels?

Each fold of a cross-validation fits the whole pipeline, so that vectors which learn from
``X`` see a few labelled sentences. With ``corpus=`` every fold learns them from all the
text, and ``X`` trains only the classifier. No label of a test fold is seen in either way.
"""

# %%
# Few labels, much text
# ---------------------
# SUBJ: is a sentence about a film an opinion, or does it tell the plot? 200 of its 10,000
# sentences have a label. It is downloaded at the first run. Where it cannot be, the text
# is documentation of scikit-learn, and the question is which of two subpackages a
# sentence is from.

import numpy as np

from skembed import SentenceCorpus
from skembed.datasets import fetch_senteval, load_docstrings

try:
    text = fetch_senteval(name="SUBJ", n_retries=0)
except OSError:
    print("SUBJ cannot be downloaded: on with documentation.")
    text = load_docstrings(packages=["sklearn"])
sentences = np.array(text.data, dtype=object)
classes = np.argsort(-np.bincount(text.target), kind="stable")[:2]
order = np.random.default_rng(0).permutation(
    np.flatnonzero(np.isin(text.target, classes))
)
few, test = order[:200], order[200:2200]
X, y = sentences[few], text.target[few]
corpus = SentenceCorpus.from_sentences(text.data)
print(f"{len(X)} labelled sentences, {len(classes)} classes; {corpus}")

# %%
# Three grid searches
# -------------------
# The grid is over the length of the vectors and the `C` of the classifier.
# ``memory`` keeps what the fit of a fold has learned, so that the vectors are learned
# once for each length and not again for each `C`.

import tempfile

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from skembed import Sent2VecVectorizer

cache = tempfile.TemporaryDirectory()
options = {"weighting": "sif", "min_count": 1, "random_state": 0}
vectorizers = {
    "tf-idf": TfidfVectorizer(sublinear_tf=True),
    "Sent2Vec, labelled sentences alone": Sent2VecVectorizer(**options),
    "Sent2Vec, corpus": Sent2VecVectorizer(corpus=corpus, **options),
}
lengths, searches = [10, 30, 100, 300], {}
for name, vectorizer in vectorizers.items():
    steps = [
        ("emb", vectorizer),
        ("norm", Normalizer()),
        ("svm", LinearSVC(random_state=0)),
    ]
    grid = {"svm__C": [0.1, 1, 10]}
    if name != "tf-idf":
        grid["emb__n_components"] = lengths
    search = GridSearchCV(Pipeline(steps, memory=cache.name), grid, cv=5)
    searches[name] = search.fit(X, y)
    accuracy = search.score(sentences[test], text.target[test])
    print(f"{name}: {search.best_params_}")
    print(f"   folds {search.best_score_:.3f}, {len(test):,} others {accuracy:.3f}")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
looks = [("0.4", "--"), ("#D55E00", "s-"), ("#0072B2", "o-")]
for (name, search), (color, line) in zip(searches.items(), looks):
    mean = 100 * search.cv_results_["mean_test_score"]
    # Of each length the best C; the last parameter by name varies fastest
    best = mean.reshape(-1, 3).max(axis=1)
    if len(best) == 1:
        ax.axhline(best[0], color=color, ls=line, lw=2, label=name)
    else:
        ax.plot(lengths, best, line, color=color, lw=2, label=name)
ax.set(xscale="log", xticks=lengths, xticklabels=lengths, ylim=(40, 100))
ax.minorticks_off()
ax.set(xlabel="length of the vectors", ylabel="accuracy (%), mean of 5 folds")
ax.legend(loc="lower right")
plt.show()
cache.cleanup()

# %%
# The vectors of the blue line learned from all the text. Those of the orange line had the
# same labels and only the 160 training sentences of a fold.
#
# CBOS and Siamese CBOW learn from neighbouring sentences. Give them ordered text as
# ``corpus=`` too: the sentences of a fold are drawn out of their text, so that the one
# before another comes from another document (:ref:`trap`).
