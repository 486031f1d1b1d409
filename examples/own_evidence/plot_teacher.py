"""
A student of a teacher
======================

Large models embed sentences well, and slowly. Can a bag of words learn from one what is similar, and then do without?

:class:`~skembed.TargetVectorizer` learns from an array with a vector for each sentence. It does not matter where the
array comes from.
"""

# %%
# A teacher
# ---------
# The teacher of this page is one that every installation can make: the principal components of
# tf-idf on pieces of words, which sees spelling and knows nothing of meaning. The text is film reviews, or, where they
# cannot be downloaded, documentation. With a model of yours, the next cell is
# one line, such as ``targets = model.encode(sentences)``. An array that was computed elsewhere will do too, read with
# ``np.load("targets.npy", mmap_mode="r")``. Half precision is enough.

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skembed.datasets import fetch_senteval, load_docstrings

try:
    text = fetch_senteval(name="MR", n_retries=0).data
except OSError:
    print("The reviews cannot be downloaded: on with documentation.")
    text = load_docstrings(packages=("sklearn",)).data
sentences = [text[i] for i in np.random.default_rng(0).permutation(len(text))[:6000]]
teacher = make_pipeline(
    TfidfVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), min_df=5, sublinear_tf=True
    ),
    TruncatedSVD(100, random_state=0),
)
targets = teacher.fit_transform(sentences)
print(f"{len(sentences):,} sentences, targets of length {targets.shape[1]}")

# %%
# The student
# -----------
# A tenth of the sentences is kept aside. The cosines of all its pairs show how far a student agrees with the teacher.

from skembed import Sent2VecVectorizer, TargetVectorizer

rng = np.random.default_rng(0)
order = rng.permutation(
    np.flatnonzero(np.linalg.norm(targets, axis=1) > 1e-6)
)  # a vector of zeros has no direction
held_out, known = order[: len(order) // 10], order[len(order) // 10 :]


def cosines(rows):
    """Cosines of all pairs of rows."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]


kept_aside = [sentences[i] for i in held_out]
of_teacher = cosines(targets[held_out])
sizes, agreement = [500, 1000, 2000, len(known)], []
student = TargetVectorizer(100, random_state=0)
for size in sizes:
    student.fit([sentences[i] for i in known[:size]], targets[known[:size]])
    agreement.append(
        np.corrcoef(cosines(student.transform(kept_aside)), of_teacher)[0, 1]
    )
    print(
        f"{size:6,} sentences: correlation with the teacher's cosines {agreement[-1]:.2f}"
    )

own = [sentences[i] for i in known]
without = Sent2VecVectorizer(100, random_state=0).fit(own)
without_teacher = np.corrcoef(cosines(without.transform(kept_aside)), of_teacher)[0, 1]
print(f"Sent2Vec, which no teacher taught: {without_teacher:.2f}")

# %%
# Two kinds of rows
# -----------------
# ``transform`` gives the student's own vectors, of any length, for similarity among the student's rows.
# :meth:`~skembed.TargetVectorizer.predict` gives the place of a sentence among the teacher's vectors: with it, a query
# embedded by the student can search what the teacher has embedded.

predicted = student.predict(kept_aside)
directions = targets[held_out] / np.linalg.norm(
    targets[held_out], axis=1, keepdims=True
)
ranks = (predicted @ directions.T).argsort(axis=1)[:, ::-1]
found = (ranks[:, :5] == np.arange(len(held_out))[:, None]).any(axis=1).mean()
print(
    f"the sentence itself is among the 5 nearest of {len(held_out):,}: {100 * found:.0f} %"
)

# %%
# How much text does it take?
# ---------------------------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
ax.plot(sizes, agreement, marker="o", color="#0072B2", label="student")
ax.axhline(without_teacher, color="0.4", ls=":", label="Sent2Vec, without a teacher")
ax.set(
    xscale="log", xticks=sizes, xticklabels=[f"{size:,}" for size in sizes], ylim=(0, 1)
)
ax.minorticks_off()
ax.set(
    xlabel="sentences with a target", ylabel="correlation with the teacher's cosines"
)
ax.legend(loc="best")
plt.show()

# %%
# The more sentences have a target, the closer the student comes to the teacher. How much of a stronger teacher's
# similarity a student keeps is measured in :ref:`target`.
