"""
A table of which few rows have a label
======================================

Thousands of tickets, some hundred of them with the team that solved them: who should get
the others?

:class:`~skembed.TextVectorizer` learns from the text of all rows. The labels say what each
of its parts is worth, and train the classifier.
"""

# %%
# The table
# ---------
# Sentences of the documentation of numpy, scipy and scikit-learn stand for the tickets; the
# subpackage that a sentence is from stands for the team. One row in ten has a label, in
# the others it is missing. A fifth of the documents is kept aside for the test.

import numpy as np
import pandas as pd

from skembed.datasets import load_docstrings

docs = load_docstrings()
names = np.array(docs.target_names)
table = pd.DataFrame({"text": docs.data, "team": names[docs.target]})
frequent = table["team"].map(table["team"].value_counts()) >= 400
random = np.random.default_rng(0)
document = np.asarray(docs.groups)
is_test = np.isin(document, random.choice(document.max() + 1, document.max() // 5))
test = table[frequent & is_test]
table = table[frequent & ~is_test].sample(8000, random_state=0)
table["team"] = table["team"].where(random.random(len(table)) < 0.1)

has_label = table["team"].notna()
print(
    f"{len(table):,} rows, {has_label.sum()} have one of {test['team'].nunique()} teams"
)
print(table.head().to_string(max_colwidth=50))

# %%
# Learn from all rows
# -------------------
# Rows without a label are own text, ``corpus``. The rest is a pipeline as it would be with
# tf-idf.

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import TextVectorizer

labelled = table[has_label]
own = table.loc[~has_label, "text"]
vectorizers = {
    "tf-idf": TfidfVectorizer(),
    "TextVectorizer, labelled rows": TextVectorizer(random_state=0),
    "TextVectorizer, all rows": TextVectorizer(corpus=own, random_state=0),
}
scores = {}
for name, vectorizer in vectorizers.items():
    model = make_pipeline(vectorizer, LinearSVC(random_state=0))
    model.fit(labelled["text"], labelled["team"])
    scores[name] = 100 * model.score(test["text"], test["team"])
    print(f"{name:30s} {scores[name]:.1f} %")

# %%
# What was found
# --------------
# The weights of the blocks in words, and the words that speak most for three of the teams:

emb, classifier = model
print(emb.block_weights_)
for team, words in list(emb.top_terms(classifier, 5).items())[:3]:
    print(f"{team:22s} {', '.join(word for word, score in words)}")

# %%
# The rows without a label, the surest first. ``explain`` says which words decided.

decisions = model.decision_function(own)
two = np.sort(decisions, axis=1)[:, -2:]
surest = np.argsort(two[:, 0] - two[:, 1])[:5]
for row in surest:
    team = decisions[row].argmax()
    found = emb.explain(own.iloc[row], classifier)
    best = np.argsort(-found.contributions[:, team])[:3]
    terms = ", ".join(found.terms[term].strip() for term in best)
    print(f"{own.iloc[row][:50]:50s} -> {found.classes[team]} ({terms})")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
bars = ax.barh(list(scores), list(scores.values()), color=["0.7", "#56B4E9", "#0072B2"])
ax.bar_label(bars, fmt="%.1f", padding=4)
ax.invert_yaxis()
ax.set(xlabel="accuracy (%) on other documents")
ax.margins(x=0.12)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# With a table from a file only the first cell changes. Is it ahead on yours?
# ``skembed.evaluation.compare(table["text"], table["team"])`` answers with intervals.
