"""
Search in your own documents
============================

How much do vectors that are learned from the documents themselves add to BM25?

The documents are docstrings of scipy and scikit-learn, which come with skembed. The first
sentence of each, the summary, is taken out: it is the query, and should find the rest.
"""

# %%
# Documents and queries
# ---------------------
# A document has a title, the name of its function, and a text.

import numpy as np

from skembed.datasets import load_docstrings

docs = load_docstrings()
sentences = [[] for _ in docs.document_names]
for sentence, document in zip(docs.data, docs.groups):
    sentences[document].append(sentence)
documents, summaries = [], []
for name, (summary, *rest) in zip(docs.document_names, sentences):
    if name.startswith(("scipy.optimize", "scipy.stats", "sklearn.")) and len(rest) > 2:
        documents.append((name.rpartition(".")[2], " ".join(rest)))
        summaries.append(summary)
asked = np.sort(np.random.default_rng(0).choice(len(documents), 500, replace=False))
queries = [summaries[row] for row in asked]
print(
    f"{len(documents):,} documents. {queries[0]!r} should find {documents[asked[0]][0]}."
)

# %%
# Three searches
# --------------
# :class:`~skembed.SearchIndex` is BM25 and learned vectors. Without ``n_components`` it is
# BM25 alone; ``vector_weight=100`` lets the vectors decide alone, as semantic search does.

from skembed import SearchIndex
from skembed.evaluation import retrieval

index = SearchIndex(stemmer="english", keep_text=True, random_state=0).fit(documents)
found = {
    "vectors alone": index.set_params(vector_weight=100).search(queries, k=10),
    "BM25 alone": index.set_params(vector_weight=0).search(queries, k=10),
    "both": index.set_params(vector_weight="auto").search(queries, k=10),
}
relevant = {number: {int(row): 1} for number, row in enumerate(asked)}
result = retrieval(found, queries, relevant, k=10, depth=10, baseline="BM25 alone")
scores = {row["method"]: row for row in result.scores if row["measure"] == "ndcg@10"}
for name, row in scores.items():
    lead = f", lead {100 * row['lead']:+.1f}" if "lead" in row else ""
    print(f"{name:14}  nDCG@10 {100 * row['mean']:.1f}{lead}")

# %%
# Why was this found?
# -------------------
# `explain` splits a score into the words of the query and pairs of related words, and
# `snippet` marks what matches.

question = "fill in missing values"
rows, _ = index.search([question], k=3)
for row in rows[0]:
    print(f"{documents[row][0]:28} {index.snippet(question, int(row), n_words=9)}")
pairs = index.explain(question, int(rows[0, 0])).related[:3]
print("related words:", *(f"{a}-{b} {value:.2f}" for a, b, value in pairs))

# %%
# How much is it worth?
# ---------------------

import matplotlib.pyplot as plt

names = list(scores)
means = [100 * scores[name]["mean"] for name in names]
ends = [
    [100 * abs(scores[name][end] - scores[name]["mean"]) for name in names]
    for end in ("low", "high")
]
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
axes.barh(names, means, xerr=ends, color=["tab:gray", "tab:gray", "tab:blue"])
axes.set(xlabel="nDCG@10 (%), 500 queries, 95 % intervals", xlim=(0, 100))
plt.show()

# %%
# Words in common and learned vectors find about the same number of summaries. Both together
# are ahead of either. The vectors were learned from these documents, in some seconds.
