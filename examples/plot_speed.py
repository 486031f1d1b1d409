"""
Speed and threads
=================

How fast is it, and what do threads bring?

Words a second in training, sentences a second in ``transform``, with one thread and with two, beside the usual recipe
of scikit-learn: tf-idf and a truncated singular value decomposition to as many columns.
"""

# %%
# The text, encoded once
# ----------------------
# Timings are of this machine while it built this page, and of a small text: see the performance page of the
# documentation for larger ones. The kernels are compiled once for each installation; a first short fit keeps this out.

import time

import joblib
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skembed import (
    CBOSVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    Word2VecVectorizer,
)
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
print(f"{corpus.n_tokens:,} words, {joblib.cpu_count()} cores")


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


# %%
# Training and transform
# ----------------------
# Three passes with the defaults. The better of two runs counts: what slows a run down is other work of the machine.

threads = [1, 2]
classes = [
    CBOSVectorizer,
    SiameseCBOWVectorizer,
    Sent2VecVectorizer,
    Word2VecVectorizer,
]
training, transforming = {}, {}
for cls in classes:
    name = cls.__name__.removesuffix("Vectorizer")
    for n_jobs in threads:
        model = cls(max_iter=3, n_jobs=n_jobs, random_state=0)
        cls(max_iter=1, min_count=1, n_jobs=n_jobs).fit(
            docstrings.data[:200]
        ).transform(docstrings.data[:200])
        best = min(seconds(model.fit, corpus)[0] for _ in range(2))
        training[name, n_jobs] = 3 * corpus.n_tokens / best
        best, vectors = min(
            (seconds(model.transform, docstrings.data) for _ in range(2)),
            key=lambda run: run[0],
        )
        transforming[name, n_jobs] = len(docstrings.data) / best
        if n_jobs == 1:
            alone = vectors
    # The number of threads does not change a single bit of the result.
    assert np.array_equal(alone, vectors)
    print(
        f"{name:14s}",
        *(
            f"{training[name, n] / 1e6:.1f} M words/s with {n} thread(s)"
            for n in threads
        ),
        sep="  ",
    )

recipe = make_pipeline(TfidfVectorizer(), TruncatedSVD(100, random_state=0))
fit_seconds, _ = seconds(recipe.fit, docstrings.data)
transform_seconds = min(seconds(recipe.transform, docstrings.data)[0] for _ in range(2))
print(
    f"tf-idf + SVD    fit {fit_seconds:.1f} s, {len(docstrings.data) / transform_seconds:,.0f} sentences/s"
)

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

names = [cls.__name__.removesuffix("Vectorizer") for cls in classes]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for k, (n_jobs, color) in enumerate(zip(threads, ["#56B4E9", "#0072B2"])):
    places = np.arange(len(names)) + 0.4 * k - 0.2
    label = f"{n_jobs} thread" + "s" * (n_jobs > 1)
    left.bar(
        places,
        [training[name, n_jobs] / 1e6 for name in names],
        0.38,
        color=color,
        label=label,
    )
    right.bar(
        places,
        [transforming[name, n_jobs] / 1e3 for name in names],
        0.38,
        color=color,
        label=label,
    )
right.axhline(
    len(docstrings.data) / transform_seconds / 1e3,
    color="#D55E00",
    ls="--",
    label="tf-idf + SVD",
)
for ax, title, unit in [
    (left, "Training", "million words a second"),
    (right, "Transform", "thousand sentences a second"),
]:
    ax.set(title=title, ylabel=unit)
    ax.set_xticks(np.arange(len(names)), names)
left.legend()
right.legend(ncols=2, loc="upper center")
right.set_ylim(0, 1.3 * right.get_ylim()[1])
plt.show()

# %%
# Compare the bars of a pair: the dark one is two threads, and what it is short of twice the light one is the time that
# threads wait for each other, for memory, or for a core that is doing something else; on a machine at work the dark bar
# may well be the shorter one. Whatever their number, the vectors are the same to the last bit, so it is safe to change
# it. On the right, the dashed line is the usual recipe: a sentence vector of skembed is a sum over its words alone.
# This text is small and its passes take less than a second, so that their beginning and end weigh much.
