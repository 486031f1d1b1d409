"""
Learn sentence vectors from your own text
=========================================

What do vectors know that were learned in seconds, from text that you have?

The five methods of skembed learn from the prose of the docstrings of numpy, scipy and scikit-learn: real text in
reading order, on every machine that can run this page. We then ask of each method, and of two baselines that cost
nothing to learn, how well a linear classifier can tell from the vectors alone

- **what a sentence means**: 99 groups of paraphrases, some of which differ in one detail only;
- **what it is about**: the subpackage that a docstring sentence comes from, for documents the classifier has not seen.
"""

# %%
# The text, encoded once
# ----------------------
# ``groups`` says which docstring a sentence belongs to, so that no context reaches from one docstring into the next.
# The encoded corpus is saved: a model that learns from it needs no tokenising, in this process or another.

import tempfile

from skembed import SentenceCorpus
from skembed.datasets import load_docstrings, load_paraphrase_groups

docstrings = load_docstrings()
paraphrases = load_paraphrase_groups()
folder = tempfile.TemporaryDirectory()
SentenceCorpus.from_sentences(docstrings.data, docstrings.groups).save(f"{folder.name}/docstrings")
corpus = SentenceCorpus.load(f"{folder.name}/docstrings")
print(corpus)

# %%
# Methods and baselines
# ---------------------
# Every method keeps its defaults. Tf-idf and the bag of words have one column for each word; random vectors with SIF
# weights (rare words count more) know nothing at all about meaning, and are hard to beat all the same. The paraphrases
# are about hotels, weather or cooking, so many of their words are in no docstring. Tf-idf and the bag of words lose
# them; the others give such a word a random vector of its own (``unknown="hash"``), so that it still matches itself.

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, SiameseCBOWVectorizer

rng = np.random.default_rng(0)
random_vectors = dict(zip(corpus.vocabulary.words, rng.standard_normal((len(corpus.vocabulary.words), 100))))
common = {"n_jobs": 2, "random_state": 0}
methods = {
    "tf-idf": TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"),
    "random vectors, SIF": MeanEmbeddingVectorizer(word_vectors=random_vectors, weighting="sif"),
    "BOWPCA": BOWPCA(n_components=100, min_count=5, random_state=0),
    "MeanEmbedding": MeanEmbeddingVectorizer(**common),
    "Sent2Vec": Sent2VecVectorizer(**common),
    "SiameseCBOW": SiameseCBOWVectorizer(**common),
    "CBOS": CBOSVectorizer(**common),
}

# %%
# The measurement
# ---------------
# Semantic classification is the protocol of *How Well Sentence Embeddings Capture Meaning*: a linear support vector
# machine with class weights and three stratified folds. The paraphrases are no part of the text that is learned from.
# Each method runs in a process of its own, so that its peak memory can be told from the others'; the time of a first
# short fit and transform, which load or compile the kernels, is not counted.

import time

from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC


def measure(name, method, docstrings, paraphrases, corpus):
    """One row of the table."""
    learns = "loss_curve_" in dir(method) or hasattr(method, "max_iter")
    if learns:
        method.__class__(max_iter=1, min_count=1, n_jobs=2, random_state=0).fit(docstrings.data[:200])
    text = docstrings.data if name == "tf-idf" else corpus
    start = time.perf_counter()
    method.fit(text)
    fit_time = time.perf_counter() - start
    method.transform(docstrings.data[:200])
    start = time.perf_counter()
    vectors = method.transform(docstrings.data[:20_000])
    transform_time = time.perf_counter() - start

    classifier = LinearSVC(class_weight="balanced", random_state=0)
    meaning = np.mean(
        [
            cross_val_score(
                classifier,
                method.transform(paraphrases.data),
                paraphrases.target,
                cv=StratifiedKFold(3, shuffle=True, random_state=seed),
            ).mean()
            for seed in range(3)
        ]
    )
    # Folds of whole documents, and as many sentences from each of the 12 largest subpackages.
    rng = np.random.default_rng(0)
    largest = np.argsort(-np.bincount(docstrings.target), kind="stable")[:12]
    chosen = np.concatenate([rng.choice(np.flatnonzero(docstrings.target == t), 300, replace=False) for t in largest])
    topic = cross_val_score(
        classifier,
        method.transform([docstrings.data[i] for i in chosen]),
        docstrings.target[chosen],
        groups=docstrings.groups[chosen],
        cv=GroupKFold(3),
    ).mean()
    try:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10 if sys.platform != "darwin" else 1 << 20)
    except ImportError:  # Windows does not tell
        peak = float("nan")
    n_passes = getattr(method, "n_iter_", 1) or 1
    return {
        "method": name,
        "columns": vectors.shape[1],
        "meaning": 100 * meaning,
        "topic": 100 * topic,
        "words/s": corpus.n_tokens * n_passes / fit_time,
        "sentences/s": 20_000 / transform_time,
        "memory": peak,
    }


# %%
# The table
# ---------
# Accuracies are in per cent. Words a second count every pass over the text; peak memory is that of the whole process
# in MiB, of which Python and its libraries take about 200.

import sys

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

rows = []
print(f"{'':22s}{'columns':>8s}{'meaning':>9s}{'topic':>7s}{'words/s':>12s}{'sentences/s':>13s}{'MiB':>6s}")
for name, method in methods.items():
    (row,) = Parallel(n_jobs=2)([delayed(measure)(name, method, docstrings, paraphrases, corpus)])
    get_reusable_executor().shutdown()  # the next method gets a fresh process
    rows.append(row)
    print(
        f"{name:22s}{row['columns']:8d}{row['meaning']:9.1f}{row['topic']:7.1f}{row['words/s']:12,.0f}"
        f"{row['sentences/s']:13,.0f}{row['memory']:6.0f}",
        flush=True,
    )

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

names = [row["method"] for row in rows]
colors = ["0.65" if name in ("tf-idf", "random vectors, SIF") else "C0" for name in names]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for axis, key, title in zip(axes, ("meaning", "topic"), ("What a sentence means", "What it is about")):
    bars = axis.barh(names, [row[key] for row in rows], color=colors)
    axis.bar_label(bars, fmt="%.1f", padding=3)
    axis.set(title=title, xlabel="accuracy (%)", xlim=(0, 1.15 * max(row[key] for row in rows)))
    axis.spines[["top", "right"]].set_visible(False)
figure.suptitle("Learned from docstrings, judged by a linear classifier (grey: nothing learned)")
figure.savefig("quickstart.png", dpi=150)
print("The figure is in quickstart.png")
plt.show()

# %%
# Search by meaning, and why
# --------------------------
# The nearest docstring sentence to a question in other words, and which pairs of words made it the nearest: the cosine
# of two sums of word vectors is a sum over pairs.

model = methods["CBOS"].fit(corpus)
question = "How many groups should the data be split into?"
vectors = model.transform(docstrings.data)
lengths = np.linalg.norm(vectors, axis=1)
scores = vectors @ model.transform([question])[0] / np.where(lengths > 0, lengths, np.inf)
answer = docstrings.data[scores.argmax()]
explanation = model.explain(question, answer)
print(f"{question}\n-> {answer}  (cosine {explanation.similarity:.2f})")
for pair in np.argsort(-explanation.contributions, axis=None)[:4]:
    i, j = np.unravel_index(pair, explanation.contributions.shape)
    print(f"   {explanation.words_a[i]} ~ {explanation.words_b[j]}: {explanation.contributions[i, j]:.2f}")
folder.cleanup()
