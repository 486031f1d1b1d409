"""
Semantic search
===============

Does a search with sentence vectors find what tf-idf misses?

We look for sentences in two ways: for the sentence of a docstring that follows its first one, among thousands of
others, and for the paraphrases of a sentence, among sentences about the same things.
"""

# %%
# What is to be found
# -------------------
# The question is the first sentence of a docstring (what a function does), the answer its second one (which need not
# use the same words). Each docstring asks for its own answer among those of all the others.

import numpy as np

from skembed.datasets import load_docstrings, load_paraphrase_groups

docstrings, paraphrases = load_docstrings(), load_paraphrase_groups()
first = np.flatnonzero(
    np.diff(docstrings.groups, prepend=-1)
)  # where a docstring begins
first = first[
    docstrings.groups[np.minimum(first + 1, len(docstrings.data) - 1)]
    == docstrings.groups[first]
]
questions = [docstrings.data[i] for i in first]
answers = [docstrings.data[i + 1] for i in first]
print(
    f"{len(questions)} questions. For example:\n  {questions[3000]}\n  -> {answers[3000]}"
)

# %%
# Three engines
# -------------
# The embedding must not have seen that question and answer stand together, or it would have been told the result: a
# model of neighbours learns from everything *behind* the second sentence. Tf-idf, which knows no order, is fitted on
# all that is searched. The third engine adds the two cosines.

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from skembed import CBOSVectorizer

rest = np.setdiff1d(np.arange(len(docstrings.data)), np.concatenate([first, first + 1]))
text, groups = [docstrings.data[i] for i in rest], docstrings.groups[rest]
tfidf = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True).fit(
    docstrings.data + paraphrases.data
)
cbos = CBOSVectorizer(weighting="sif", random_state=0).fit(text, groups=groups)


def cosines(model, a, b):
    similarity = normalize(model.transform(a)) @ normalize(model.transform(b)).T
    return similarity.toarray() if hasattr(similarity, "toarray") else similarity


def engines(a, b):
    by_tfidf, by_cbos = cosines(tfidf, a, b), cosines(cbos, a, b)
    return {
        "tf-idf": by_tfidf,
        "CBOS, 100 numbers": by_cbos,
        "both cosines added": by_tfidf + by_cbos,
    }


# %%
# How often the right one is among the first k
# --------------------------------------------


def ranks(similarity, is_right):
    """Place of the best right answer to each question, 1 for the first; behind all wrong ones that are as similar."""
    best = np.where(is_right, similarity, -np.inf).max(axis=1, keepdims=True)
    return 1 + ((similarity >= best) & ~is_right).sum(axis=1)


sample = np.random.default_rng(0).choice(len(questions), 1000, replace=False)
tasks = {
    f"Next sentence among {len(answers):,}": (
        engines([questions[i] for i in sample], answers),
        np.arange(len(answers)) == sample[:, None],
    )
}
same_group = paraphrases.target == paraphrases.target[:, None]
found = engines(paraphrases.data, paraphrases.data)
for similarity in found.values():
    np.fill_diagonal(similarity, -np.inf)  # a sentence finds itself
tasks["A paraphrase among 389"] = (
    found,
    same_group & ~np.eye(len(same_group), dtype=bool),
)

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (title, (found, is_right)) in zip(axes, tasks.items()):
    for (name, similarity), look in zip(
        found.items(), [("0.4", "--"), ("#0072B2", "-"), ("#D55E00", "-.")]
    ):
        places = ranks(similarity, is_right)
        k = np.arange(1, 21)
        recall = [100 * (places <= n).mean() for n in k]
        ax.plot(k, recall, color=look[0], ls=look[1], lw=2, label=name)
        print(
            f"{title:32s} {name:20s} first {recall[0]:.1f} %, first ten {recall[9]:.1f} %"
        )
    ax.set(title=title, xlabel="k", xlim=(1, 20), xticks=[1, 5, 10, 15, 20])
axes[0].set(ylabel="right answer among the first k (%)", ylim=(0, None))
axes[1].legend(loc="lower right")
plt.show()

# %%
# On the left the dashed line of tf-idf lies above that of CBOS at every k, and adding both cosines changes next to
# nothing: names and terms that match exactly carry this search. On the right nearly every sentence has a paraphrase
# among its first ten, yet only one in five has it in the first place, because the nearest sentence is often a near miss
# made of the same words. So the answer here is no: search a small, technical text with tf-idf, and use sentence vectors
# where a hundred numbers a sentence are what you can store or index, or where you have much more text to learn from.
#
# A search of your own
# --------------------
# Vectors are made once; :func:`~skembed.nearest` answers as many questions as you like.

from skembed import nearest

searched = {model: model.transform(docstrings.data) for model in (tfidf, cbos)}
for question in [
    "throw away rows that have missing values",
    "how sure can I be of the mean?",
]:
    print(question)
    for model, vectors in searched.items():
        rows, scores = nearest(model.transform([question]), vectors, k=3)
        print(f"   {type(model).__name__}")
        for score, row in zip(scores[0], rows[0]):
            print(f"   {score:.2f}  {docstrings.data[row][:100]}")
