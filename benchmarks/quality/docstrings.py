"""What do the methods know that learned in seconds from docstrings, beside tf-idf and random vectors?

    python benchmarks/quality/docstrings.py

Five methods and two baselines learn from the docstrings of numpy, scipy and scikit-learn, which every installation can
read. A linear classifier then tells from the vectors alone what a sentence means (99 groups of paraphrases, some of
which differ in one detail only) and what it is about (the subpackage that a docstring sentence comes from, for
documents that the classifier has not seen). Prints accuracies, words a second, sentences a second and peak memory, and
saves docstrings.png.
"""

# %%
# The text, encoded once
# ----------------------
# ``groups`` says which docstring a sentence belongs to, so that no context reaches from one docstring into the next. A
# model that learns from the corpus needs no tokenising, in this process or another.

from skembed import SentenceCorpus
from skembed.datasets import load_docstrings, load_paraphrase_groups

docstrings = load_docstrings()
paraphrases = load_paraphrase_groups()
corpus = SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
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

import skembed

rng = np.random.default_rng(0)
random_vectors = dict(zip(corpus.vocabulary.words, rng.standard_normal((len(corpus.vocabulary.words), 100))))
common = {"n_jobs": 2, "random_state": 0}
methods = {
    "tf-idf": TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"),
    "random vectors, SIF": skembed.MeanEmbeddingVectorizer(word_vectors=random_vectors, weighting="sif"),
    "BOWPCA": skembed.BOWPCA(n_components=100, min_count=5, random_state=0),
    "Word2Vec": skembed.Word2VecVectorizer(**common),
    "Sent2Vec": skembed.Sent2VecVectorizer(**common),
    "SiameseCBOW": skembed.SiameseCBOWVectorizer(**common),
    "CBOS": skembed.CBOSVectorizer(**common),
}

# %%
# The kernels
# -----------
# They are compiled when first needed and kept on disk. Each of two processes takes two methods with pieces in common.

from joblib import Parallel, delayed


def fit_shortly(*estimators):
    """Learn from a few sentences, for the sake of the kernels."""
    for estimator in estimators:
        if hasattr(estimator, "max_iter"):
            short = estimator.__class__(max_iter=1, min_count=1, n_jobs=2, random_state=0)
            short.fit_transform(docstrings.data[:200])


pairs = [("CBOS", "SiameseCBOW"), ("Sent2Vec", "Word2Vec")]
_ = Parallel(n_jobs=2)(delayed(fit_shortly)(*[methods[name] for name in pair]) for pair in pairs)

# %%
# Learning
# --------
# Each method learns in a process of its own, so that its peak memory can be told from the others'. The paraphrases are
# no part of the text that is learned from. The topics are those of the 12 largest subpackages, 300 sentences of each.

import re
import sys
import time
from pathlib import Path

from joblib.externals.loky import ProcessPoolExecutor

rng = np.random.default_rng(0)
largest = np.argsort(-np.bincount(docstrings.target), kind="stable")[:12]
chosen = np.concatenate([rng.choice(np.flatnonzero(docstrings.target == t), 300, replace=False) for t in largest])


def peak_memory():
    """The most memory that this process has had so far, in MiB; Windows does not tell."""
    if sys.platform == "linux":  # where getrusage counts what the parent had, too
        return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 2**10
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return float("nan")


def learn(method, text):
    """Time and memory, and the vectors of the sentences that a classifier will see."""
    fit_shortly(method)  # loads the kernels
    start = time.perf_counter()
    method.fit(text)
    words_per_s = corpus.n_tokens * (getattr(method, "n_iter_", 1) or 1) / (time.perf_counter() - start)
    method.transform(docstrings.data[:200])
    start = time.perf_counter()
    method.transform(docstrings.data[:20_000])
    sentences_per_s = 20_000 / (time.perf_counter() - start)
    figures = {"words/s": words_per_s, "sentences/s": sentences_per_s, "memory": peak_memory()}
    return figures, method.transform(paraphrases.data), method.transform([docstrings.data[i] for i in chosen])


learned = []
for name, method in methods.items():
    process = ProcessPoolExecutor(max_workers=1)
    learned.append(process.submit(learn, method, docstrings.data if name == "tf-idf" else corpus).result())
    process.shutdown(wait=False)

# %%
# The measurement
# ---------------
# Semantic classification is the protocol of *How Well Sentence Embeddings Capture Meaning*: a linear support vector
# machine with class weights and three stratified folds. Topics are told in folds of whole documents.

from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC


def judge(meanings, topics):
    """Per cent of the sentences whose class a linear classifier tells right."""
    classifier = LinearSVC(class_weight="balanced", random_state=0)
    shuffles = [StratifiedKFold(3, shuffle=True, random_state=seed) for seed in range(3)]
    meaning = np.mean([cross_val_score(classifier, meanings, paraphrases.target, cv=folds) for folds in shuffles])
    classes, documents = docstrings.target[chosen], docstrings.groups[chosen]
    topic = cross_val_score(classifier, topics, classes, groups=documents, cv=GroupKFold(3)).mean()
    return {"columns": meanings.shape[1], "meaning": 100 * meaning, "topic": 100 * topic}


accuracies = Parallel(n_jobs=2)(delayed(judge)(meanings, topics) for _, meanings, topics in learned)

# %%
# The table
# ---------
# Accuracies are in per cent. Words a second count every pass over the text; peak memory is that of the whole process in
# MiB, of which Python and its libraries take 150 to 200, and the compiled methods 100 more.

print(f"{'':22s}{'columns':>8s}{'meaning':>9s}{'topic':>7s}{'words/s':>12s}{'sentences/s':>13s}{'MiB':>6s}")
rows = [row | figures for row, (figures, _, _) in zip(accuracies, learned)]
for name, row in zip(methods, rows):
    scores = f"{row['columns']:8d}{row['meaning']:9.1f}{row['topic']:7.1f}"
    print(f"{name:22s}{scores}{row['words/s']:12,.0f}{row['sentences/s']:13,.0f}{row['memory']:6.0f}")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

colors = ["0.65" if name in ("tf-idf", "random vectors, SIF") else "C0" for name in methods]
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for axis, key, title in zip(axes, ("meaning", "topic"), ("What a sentence means", "What it is about")):
    axis.bar_label(axis.barh(list(methods), [row[key] for row in rows], color=colors), fmt="%.1f", padding=3)
    axis.set(title=title, xlabel="accuracy (%)", xlim=(0, 1.15 * max(row[key] for row in rows)))
    axis.spines[["top", "right"]].set_visible(False)
figure.suptitle("Learned from docstrings, judged by a linear classifier (grey: nothing learned)")
figure.savefig("docstrings.png", dpi=150)
print("The figure is in docstrings.png")

# %%
# Search by meaning, and why
# --------------------------
# The nearest docstring sentence to a question in other words, and which pairs of words made it the nearest: the cosine
# of two sums of word vectors is a sum over pairs.

from sklearn.metrics.pairwise import cosine_similarity

model = methods["CBOS"].fit(corpus)
question = "How many groups should the data be split into?"
similarity = cosine_similarity(model.transform([question]), model.transform(docstrings.data))
answer = docstrings.data[similarity.argmax()]
explanation = model.explain(question, answer)
print(f"{question}\n-> {answer}  (cosine {explanation.similarity:.2f})")
for pair in np.argsort(-explanation.contributions, axis=None)[:4]:
    i, j = np.unravel_index(pair, explanation.contributions.shape)
    print(f"   {explanation.words_a[i]} ~ {explanation.words_b[j]}: {explanation.contributions[i, j]:.2f}")
