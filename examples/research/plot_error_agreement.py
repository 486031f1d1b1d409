"""
The mistakes that models share
==============================

Do models fail on the same sentences, and is there something to gain from joining two?

Two models with the same accuracy may know the same things or different ones. How often they make the *same mistake*
tells which.
"""

# %%
# Five classifiers of paraphrases
# -------------------------------
# The protocol of *How Well Sentence Embeddings Capture Meaning*: 99 groups of paraphrases, a linear support vector
# machine, one of three folds held out. The embeddings have learned from docstrings, whatever the fold.

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from skembed import BOWPCA, CBOSVectorizer, Sent2VecVectorizer, Word2VecVectorizer
from skembed.datasets import load_docstrings, load_paraphrase_groups

docstrings, paraphrases = load_docstrings(), load_paraphrase_groups()
train, test = next(
    StratifiedKFold(3, shuffle=True, random_state=0).split(
        paraphrases.data, paraphrases.target
    )
)
X, y = np.array(paraphrases.data, object), paraphrases.target

options = {"random_state": 0}
embeddings = {
    "CBOS": CBOSVectorizer(**options).fit(docstrings.data, groups=docstrings.groups),
    "Sent2Vec": Sent2VecVectorizer(**options).fit(docstrings.data),
    "Word2Vec": Word2VecVectorizer(**options).fit(docstrings.data),
}
embeddings = {
    name: make_pipeline(FrozenEstimator(model), Normalizer())
    for name, model in embeddings.items()
}
embeddings |= {
    "BOWPCA": BOWPCA(150, random_state=0),
    "tf-idf": TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"),
}
models = {
    name: make_pipeline(model, LinearSVC(class_weight="balanced", random_state=0)).fit(
        X[train], y[train]
    )
    for name, model in embeddings.items()
}

# %%
# Who makes whose mistakes
# ------------------------

import matplotlib.pyplot as plt

from skembed.evaluation import error_agreement

found = error_agreement(
    y[test], {name: model.predict(X[test]) for name, model in models.items()}
)
is_self = np.eye(len(models), dtype=bool)
figure, ax = plt.subplots(figsize=(7.5, 5), layout="constrained")
shown = np.ma.masked_array(found.agreement, is_self)
image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=1)
for i, j in np.argwhere(~is_self):
    text = f"{found.n_shared[i, j]}/{found.n_compared[i, j]}"
    color = "white" if found.agreement[i, j] > 0.6 else "black"
    ax.text(j, i, text, ha="center", va="center", color=color)
ax.set_xticks(range(len(models)), found.names)
labels = [f"{name}\n{n} errors" for name, n in zip(found.names, found.n_errors)]
ax.set_yticks(range(len(models)), labels)
figure.colorbar(image, label="same wrong answer / both wrong")
plt.show()

# %%
# Read it row by row: below a model's name stands how many of the test sentences it got wrong, and a cell says how many
# of the mistakes that two models both made were the *same* mistake. Agreement is high everywhere: a wrong answer is
# mostly the near miss that is made of the same words ("friendly" for "friendly and polite"), and all of these models
# add up words. The palest row is the pair with most to learn from each other.
#
# What joining brings
# -------------------
# Each pair as one model, with the columns of both side by side (blue; one model is grey). Over all folds, so that the
# differences mean a little more; a difference of one point is still only four sentences.

from itertools import combinations

from sklearn.model_selection import cross_val_score

pairs = [*((name,) for name in embeddings), *combinations(embeddings, 2)]
accuracy = {}
for names in pairs:
    joined = make_pipeline(
        make_union(*(embeddings[name] for name in names)),
        LinearSVC(class_weight="balanced"),
    )
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    accuracy[" + ".join(names)] = 100 * cross_val_score(joined, X, y, cv=cv).mean()
best = sorted(accuracy, key=accuracy.get)

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
colors = ["#0072B2" if "+" in name else "0.7" for name in best]
bars = ax.barh(best, [accuracy[name] for name in best], color=colors)
ax.bar_label(bars, fmt="%.1f", padding=2)
ax.set(xlabel="accuracy (%), mean of 3 folds", xlim=(0, 1.15 * max(accuracy.values())))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# As the high agreement foretold, joining brings little: the best pair is half a point above the best single model,
# within what another drawing of the folds changes. Plain tf-idf is one point behind the best single model. What all of
# them miss, that a sentence says more than another, is not in a sum of words.
