"""
Search in documentation
=======================

Does a search find the right page if the question uses other words?

We search 8,350 summaries of the documentation of numpy, scipy and scikit-learn, with
tf-idf and with :class:`~skembed.HybridVectorizer`, which also knows related words.
"""

# %%
# Documents
# ---------
# The first sentence of each docstring is its summary. The whole text, in reading order,
# is what the word vectors are learned from.

import numpy as np

from skembed import HybridVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings

docs = load_docstrings()
starts = np.flatnonzero(np.diff(docs.groups, prepend=-1))
summaries = [docs.data[i] for i in starts]
corpus = SentenceCorpus.from_sentences(docs.data, groups=docs.groups)

# %%
# Ask
# ---
# Fit on the sentences that are searched; a question is transformed.

from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import nearest

engines = {
    "tf-idf": TfidfVectorizer(sublinear_tf=True),
    "HybridVectorizer": HybridVectorizer(corpus=corpus, random_state=0),
}
questions = ["join two tables side by side", "fit a straight line to points"]
for name, engine in engines.items():
    vectors = engine.fit_transform(summaries)
    found, cosines = nearest(engine.transform(questions), vectors, k=3)
    for question, rows in zip(questions, found):
        print(f"{name}: {question}")
        print(*(f"   {summaries[row]}" for row in rows), sep="\n")

# %%
# Measure
# -------
# The second sentence of a docstring says more about the same thing. As a question it
# should find its own summary. A fair test keeps these docstrings out of the corpus: 1,000
# of them are the questions, and the vectors learn from the others.

rng = np.random.default_rng(0)
has_second = starts[:-1][np.diff(starts) > 1]
second = np.sort(rng.choice(has_second, 1000, replace=False)) + 1
asked = [docs.data[i] for i in second]
answer = np.searchsorted(starts, second) - 1
others = ~np.isin(docs.groups, docs.groups[second])
text = [docs.data[i] for i in np.flatnonzero(others)]
corpus = SentenceCorpus.from_sentences(text, groups=docs.groups[others])
engines["HybridVectorizer"].set_params(corpus=corpus)

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
looks = [("0.45", "--"), ("#0072B2", "-")]
k = np.arange(1, 21)
for (name, engine), (color, line) in zip(engines.items(), looks):
    rows = engine.fit_transform(summaries)
    cosines = (engine.transform(asked) @ rows.T).toarray()
    of_answer = cosines[np.arange(1000), answer]
    rank = (cosines >= of_answer[:, None]).sum(axis=1)
    percent = [100 * np.mean((rank <= n) & (of_answer > 0)) for n in k]
    ax.plot(k, percent, color=color, ls=line, lw=3, label=name)
    print(f"{name:18s} first {percent[0]:.1f} %, among ten {percent[9]:.1f} %")
ax.set(xlabel="results that are looked at", ylabel="questions answered (%)")
ax.set(
    ylim=(0, None),
    xticks=[1, 5, 10, 15, 20],
    title="Is the right summary among the first results?",
)
ax.legend(loc="lower right")
plt.show()

# %%
# The blue line is ahead at every number of results. Measure both on your own text, with
# questions of the kind that you expect: where names and codes decide, exact words win.
