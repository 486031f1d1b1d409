"""
Quick start: few labels, much text
==================================

You have a table of text and labels for a few of its rows. Do the rows without labels help a classifier?

The table here is one that every installation has: the first line of each docstring of scipy, which says what a function
does, and as its label the part of scipy that the function belongs to. A classifier is trained on a few labelled lines,
with tf-idf and with :class:`~skembed.TextVectorizer`, which also learns from the lines without labels.
"""

# %%
# The table
# ---------
# One line of five is kept aside for the test: neither the vectors nor the classifier see it.

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import SearchIndex, TextVectorizer
from skembed.datasets import load_docstrings

docs = load_docstrings(packages=["scipy"])
first = np.unique(docs.groups, return_index=True)[1]
lines, parts = np.array(docs.data, dtype=object)[first], docs.target[first]
large = np.bincount(parts)[parts] >= 100
own, test, own_parts, test_parts = train_test_split(
    lines[large], parts[large], test_size=0.2, random_state=0
)
print(f"{len(own):,} lines to learn from, {len(np.unique(own_parts))} parts of scipy")

# %%
# Train with few labels
# ---------------------
# From five labels per part to all of them.

sizes = [5, 10, 20, 50, len(own)]
characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
vectorizers = {
    "tf-idf": TfidfVectorizer(),
    "tf-idf of characters": characters,
    "TextVectorizer": TextVectorizer(corpus=own, random_state=0),
}
accuracy = {name: [] for name in vectorizers}
for size in sizes:
    few = np.concatenate(
        [np.flatnonzero(own_parts == part)[:size] for part in np.unique(parts[large])]
    )
    for name, vectorizer in vectorizers.items():
        model = make_pipeline(vectorizer, LinearSVC(random_state=0)).fit(
            own[few], own_parts[few]
        )
        percent = 100 * model.score(test, test_parts)
        accuracy[name].append(percent)
        print(f"{len(few):5,d} labels  {name:20s}  accuracy {percent:.1f} %")

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
looks = [("0.45", "s"), ("#009E73", "^"), ("#0072B2", "o")]
for (name, percent), (color, marker) in zip(accuracy.items(), looks):
    ax.plot(range(len(sizes)), percent, color=color, marker=marker, lw=2, label=name)
ax.set_xticks(range(len(sizes)), [*map(str, sizes[:-1]), "all"])
ax.set(xlabel="labels per part", ylabel="accuracy, 11 parts of scipy (%)")
ax.legend()
figure.savefig("quickstart.png", dpi=200)
print("The figure is in quickstart.png")
plt.show()

# %%
# All classifiers have the labels and the test lines in common. The blue line is ahead because the lines without labels
# teach which words belong together. The lead shrinks as labels are added. What text in reading order is worth:
# :ref:`sphx_glr_auto_examples_classify_plot_reading_order.py`.
#
# Search, without any label
# -------------------------
# A search finds the words of a query, and related ones: the index learns vectors from the lines.

index = SearchIndex(random_state=0).fit(lines)
rows, scores = index.search(["find the minimum of a function"], k=3)
print(*lines[rows[0]], sep="\n")
