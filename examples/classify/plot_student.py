"""
Learn from the vectors of a large model
=======================================

How many vectors of a large model does its student need?

The model, the teacher, is needed once: it embeds some of your texts, and a
:class:`~skembed.StudentVectorizer` learns these vectors from words and their spelling.
From then on the student embeds.
"""

# %%
# Vectors that somebody has computed
# ----------------------------------
# A row is the summary of a docstring. So that this example downloads nothing, the
# teacher here is latent semantic analysis of whole docstrings, of which the student will
# see the first sentence only. Put the vectors of your own model in its place, such as
# ``SentenceTransformer(...).encode(texts)``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skembed import StudentVectorizer, TextVectorizer
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
whole = {}
for sentence, group in zip(docstrings.data, docstrings.groups):
    whole.setdefault(group, []).append(sentence)
texts = [sentences[0] for sentences in whole.values()]
first = np.flatnonzero(np.diff(docstrings.groups, prepend=-1))
packages = np.array(
    [docstrings.target_names[code] for code in docstrings.target[first]]
)

teacher = make_pipeline(
    TfidfVectorizer(sublinear_tf=True), TruncatedSVD(64, random_state=0)
)
vectors = teacher.fit_transform([" ".join(sentences) for sentences in whole.values()])
print(f"{len(texts)} texts, vectors of length {vectors.shape[1]}")

# %%
# Texts to learn from, and others
# -------------------------------

order = np.random.default_rng(0).permutation(len(texts))[:4500]
new, own = order[:500], order[500:]
new_texts, own_texts = [[texts[row] for row in rows] for rows in (new, own)]

student = StudentVectorizer(random_state=0).fit(own_texts, vectors[own])
cosines = (student.transform(new_texts) * student.transform_targets(vectors[new])).sum(
    axis=1
)
print(f"cosine with the teacher for new texts: {cosines.mean():.2f}")

# %%
# How many
# --------
# `score_` needs no texts kept aside: it is computed from predictions for sentences that
# are left out. Where it still rises, more vectors would help. It is found on at most
# 1,500 texts, so its line ends there.

sizes = [100, 200, 400, 800, 1500, 3000]
scores, likeness = [], []
for n in sizes:
    student = StudentVectorizer(random_state=0).fit(own_texts[:n], vectors[own[:n]])
    scores.append(student.score_)
    rows = student.transform(new_texts)
    likeness.append((rows * student.transform_targets(vectors[new])).sum(axis=1).mean())

fig, ax = plt.subplots()
ax.plot(sizes, likeness, marker="o", color="#0072B2")
ax.plot(sizes[:5], scores[:5], marker="s", color="#D55E00")
ax.annotate(
    "cosine with the teacher, new texts",
    (1500, likeness[4] + 0.05),
    color="#0072B2",
    ha="right",
)
ax.annotate("score_, from the text itself", (400, scores[2] - 0.09), color="#D55E00")
ax.set(xscale="log", xlabel="texts that the teacher has embedded", ylim=(0, 1))
ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
ax.minorticks_off()
plt.show()

# %%
# Beside tf-idf, with few labels
# ------------------------------
# :class:`~skembed.TextVectorizer` takes the teacher, here as a dict of text and vector,
# and adds its student as one more block. Ten labels per class:

rng = np.random.default_rng(1)
labelled = np.concatenate(
    [rng.permutation(own[packages[own] == name])[:10] for name in np.unique(packages)]
)
others = [texts[row] for row in np.setdiff1d(own, labelled)]
X, y = [texts[row] for row in labelled], packages[labelled]
given = {texts[row]: vectors[row] for row in own}


def accuracy(vectorizer):
    classifier = LogisticRegression(C=10, max_iter=1000)
    model = make_pipeline(vectorizer, classifier).fit(X, y)
    return np.mean(model.predict(new_texts) == packages[new])


for name, vectorizer in {
    "tf-idf": TfidfVectorizer(sublinear_tf=True),
    "TextVectorizer": TextVectorizer(corpus=others, random_state=0),
    "TextVectorizer with a student": TextVectorizer(
        corpus=others, teacher=given, random_state=0
    ),
}.items():
    print(f"{name}: {accuracy(vectorizer):.2f}")
