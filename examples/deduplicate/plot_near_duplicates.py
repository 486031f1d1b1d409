"""
Near-duplicate detection
========================

Which similarity tells "the same again in other words" from "something else about the same thing"?

Exact duplicates are easy. Here 390 sentences say 99 things; we ask four similarities to find the pairs that say the
same, and the same again of 859 sentences of news. Then one of them finds copies in 75,000 docstring sentences.
"""

# %%
# Pairs that say the same, and pairs that do not
# ----------------------------------------------
# All pairs of sentences of the same topic. "The staff were friendly." and "The people who work there are friendly." are
# duplicates; "The staff were friendly and polite." says more, and is none.
#
# Of the news all pairs are taken: several papers wrote the same story, often after the same agency. They are downloaded
# at the first run, and left out where they cannot be.

import numpy as np

from skembed.datasets import (
    fetch_semantic_groups,
    load_docstrings,
    load_paraphrase_groups,
)

docstrings, written = load_docstrings(), load_paraphrase_groups()
texts = {
    "written for this package": (written.data, written.target, np.array(written.topics))
}
try:
    news = fetch_semantic_groups(name="msrp", n_retries=0)
    texts["news"] = (news.data, news.target, np.zeros(len(news.data)))  # one topic
except OSError:
    print("The news are not on this machine and cannot be downloaded: on without them.")

pairs = {}
for title, (sentences, groups, topics) in texts.items():
    a, b = np.triu_indices(len(sentences), 1)
    a, b = a[topics[a] == topics[b]], b[topics[a] == topics[b]]
    is_duplicate = groups[a] == groups[b]
    pairs[title] = sentences, a, b, is_duplicate
    n_pairs, n_same = f"{len(a):,}", is_duplicate.sum()
    print(f"{title}: {n_pairs} pairs, {n_same} of them duplicates")

# %%
# Four similarities
# -----------------
# The learned ones know docstrings alone, where few of these words occur; an unknown word gets a random vector of its
# own and still matches itself. With text of the right kind they would know more.

from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import CBOSVectorizer, Sent2VecVectorizer

options = {"weighting": "sif", "random_state": 0}
judged = [sentence for sentences, *_ in texts.values() for sentence in sentences]
models = {
    "tf-idf of words": TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit(
        docstrings.data + judged
    ),
    "tf-idf of 3 to 5 letters": TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 5)
    ).fit(judged),
    "CBOS": CBOSVectorizer(**options).fit(docstrings.data, groups=docstrings.groups),
    "Sent2Vec": Sent2VecVectorizer(**options).fit(docstrings.data),
}

# %%
# Precision and recall
# --------------------

import matplotlib.pyplot as plt
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.metrics.pairwise import cosine_similarity

figure, axes = plt.subplots(
    1, len(pairs), figsize=(5.5 * len(pairs), 4.5), layout="constrained", squeeze=False
)
looks = [("0.4", "--"), ("#E69F00", ":"), ("#0072B2", "-"), ("#D55E00", "-.")]
for ax, (title, (sentences, a, b, is_duplicate)) in zip(axes[0], pairs.items()):
    for (name, model), (color, line) in zip(models.items(), looks):
        vectors = model.transform(sentences)
        cosine = cosine_similarity(vectors)[a, b]
        precision, recall, _ = precision_recall_curve(is_duplicate, cosine)
        average = average_precision_score(is_duplicate, cosine)
        shown = recall > 0.01  # what a handful of pairs gives means nothing
        ax.plot(
            recall[shown],
            precision[shown],
            color=color,
            ls=line,
            lw=2,
            label=f"{name} ({average:.2f})",
        )
        print(f"{title:26s} {name:26s} average precision {average:.3f}")
    ax.axhline(is_duplicate.mean(), color="0.8", label="guessing")
    ax.set(ylim=(0, 1.02), title=title, xlabel="recall: duplicates that are found")
    ax.legend(title="average precision in brackets", loc="best")
axes[0, 0].set_ylabel("precision: found pairs that are duplicates")
plt.show()

# %%
# Follow a line from left to right: the lower the threshold, the more duplicates are found and the more of the pairs are
# false. Of the sentences written to be told apart, none of the four finds the duplicates well. Even at the best
# threshold two pairs of three are false, and the most similar pairs are the worst (the dent on the left), because near
# misses share more words than paraphrases do: "friendly and polite" is closer to "friendly" than "well mannered" is to
# "polite". Letters do a little better than words, since they join "employee" and "employees"; vectors learned from
# docstrings do not help with hotels. For such pairs a cosine finds candidates, and somebody else must decide.
#
# In the news (the second panel, where they could be downloaded) all four find four duplicates of five with few false
# ones, although only one pair in 400 is a duplicate: the wording of a story is copied, and other stories have other
# names in them. So measure on pairs like your own before you choose a threshold.
#
# Copies in a large text
# ----------------------
# A thousand sentences against all others. What is found twice word for word is left out, the rest are near copies: a
# sentence that was pasted into another docstring and changed a little.

from skembed import communities, near_duplicates, nearest

distinct = list(dict.fromkeys(docstrings.data))
vectors = models["CBOS"].transform(distinct)
sample = np.random.default_rng(0).choice(len(distinct), 1000, replace=False)
rows, cosines = nearest(vectors[sample], vectors, k=1, exclude=sample)
found = zip(cosines[:, 0], sample, rows[:, 0])
close = sorted(pair for pair in found if pair[0] > 0.9)  # not NaN: no known word
print(
    f"{len(close)} of 1000 have a near copy (cosine above 0.9). Some of the least alike:"
)
for cosine, i, j in close[:3]:
    print(f"{cosine:.3f}  {distinct[i][:110]}\n       {distinct[j][:110]}")

# %%
# The pairs of a fifth of the text, and its largest groups of sentences that say nearly the same:

some = distinct[:15_000]
found, _ = near_duplicates(vectors[: len(some)], threshold=0.95)
labels, centers = communities(vectors[: len(some)], threshold=0.95)
print(f"{len(found):,} pairs of {len(some):,} sentences, in {len(centers):,} groups:")
for group, center in enumerate(centers[:3]):
    print(f"{(labels == group).sum():4d} like  {some[center][:100]}")
