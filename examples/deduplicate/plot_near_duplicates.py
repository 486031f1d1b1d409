"""
Find near-duplicates
====================

Which similarity finds sentences that say the same, and at which threshold?

Copies are easy to find. Here several papers tell the same news in their own words, and five
similarities look for the pairs that belong together.
"""

# %%
# Pairs that say the same, and pairs that do not
# ----------------------------------------------
# 859 sentences of news in 274 groups: the sentences of a group say the same. They are
# downloaded at the first run. Where they cannot be, sentences about hotels and cars that were
# written for this package take their place. They are harder to tell apart.

import numpy as np

from skembed.datasets import (
    fetch_semantic_groups,
    load_docstrings,
    load_paraphrase_groups,
)

try:
    text = fetch_semantic_groups(name="msrp", n_retries=0)
except OSError:
    print("The news cannot be downloaded: on with the sentences of the package.")
    text = load_paraphrase_groups()
sentences, groups = text.data, np.asarray(text.target)
a, b = np.triu_indices(len(sentences), 1)
is_duplicate = groups[a] == groups[b]
print(f"{len(a):,} pairs, {is_duplicate.sum()} of them duplicates")

# %%
# Five similarities
# -----------------
# The embeddings learn from documentation and from these sentences, without their groups. An
# unknown word has a random vector of its own, so it still matches itself.

from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import CBOSVectorizer, Sent2VecVectorizer, TextVectorizer

docs = load_docstrings()
options = {"weighting": "sif", "random_state": 0}
letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
models = {
    "tf-idf of words": TfidfVectorizer(sublinear_tf=True).fit(sentences),
    "tf-idf of 3 to 5 letters": letters.fit(sentences),
    "TextVectorizer": TextVectorizer(random_state=0).fit(sentences),
    "CBOS": CBOSVectorizer(**options).fit(docs.data, groups=docs.groups),
    "Sent2Vec": Sent2VecVectorizer(**options).fit(docs.data + sentences),
}

# %%
# Precision and recall
# --------------------

import matplotlib.pyplot as plt
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.metrics.pairwise import cosine_similarity

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
looks = [
    ("0.4", "--"),
    ("#E69F00", ":"),
    ("#0072B2", "-"),
    ("#D55E00", "-."),
    ("#009E73", "--"),
]
for (name, model), (color, line) in zip(models.items(), looks):
    cosine = cosine_similarity(model.transform(sentences))[a, b]
    precision, recall, _ = precision_recall_curve(is_duplicate, cosine)
    average = average_precision_score(is_duplicate, cosine)
    shown = recall > 0.01  # a handful of pairs is no measurement
    ax.plot(recall[shown], precision[shown], color=color, ls=line, lw=2.5, label=name)
    print(f"average precision {average:.3f}  {name}")
ax.set(xlabel="recall: duplicates that are found", ylim=(0, 1.02))
ax.set(ylabel="precision: found pairs that are duplicates")
ax.legend(loc="best")
plt.show()

# %%
# From left to right the threshold falls: more duplicates are found, and more of the pairs found
# are false. In the news, tf-idf of words is hard to beat, because several papers copy the wording
# of one agency. In the sentences of the package, no similarity finds the duplicates well: there
# "friendly and polite" says more than "friendly" and is no duplicate of it. Measure on pairs of
# your own before you choose a threshold.
#
# Copies in a large text
# ----------------------
# The pairs of 15,000 sentences of documentation that are nearly the same, and the largest
# groups of such sentences:

from skembed.search import communities, near_duplicates

distinct = list(dict.fromkeys(docs.data))[:15_000]
vectors = models["CBOS"].transform(distinct)
pairs, cosines = near_duplicates(vectors, threshold=0.95)
labels, centers = communities(vectors, threshold=0.95)
print(f"{len(pairs):,} pairs, in {len(centers):,} groups:")
for group, center in enumerate(centers[:3]):
    print(f"{(labels == group).sum():4d} like  {distinct[center][:70]}")
