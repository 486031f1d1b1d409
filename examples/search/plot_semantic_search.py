"""
Semantic search
===============

Does a search find the right sentence if the question uses other words?

We search captions of photos, with tf-idf and with :class:`~skembed.TextVectorizer`,
which also knows related words.
"""

# %%
# Sentences and questions
# -----------------------
# Several people described each photo: the first caption is searched for, the second is
# the question. The captions are downloaded at the first run. Where they cannot be, the
# documentation of numpy, scipy and scikit-learn takes their place: the second sentence of
# a docstring should find the first. 1,000 of the photos (or docstrings) are the questions;
# the vectors of words learn from the others.

import numpy as np

from skembed.datasets import fetch_image_captions, load_docstrings

try:
    captions = fetch_image_captions(n_retries=0)
    text, groups = captions.data, captions.target
    examples = ["kid on a skateboard", "somebody making music outdoors"]
except OSError:
    print("The captions cannot be downloaded: on with documentation.")
    docs = load_docstrings()
    text, groups = docs.data, docs.groups
    examples = ["join two tables side by side", "fit a straight line to points"]

starts = np.flatnonzero(np.diff(groups, prepend=-1))
searched = [text[i] for i in starts]
has_second = np.flatnonzero(np.diff(starts, append=len(text)) > 1)
answer = np.sort(np.random.default_rng(0).choice(has_second, 1000, replace=False))
questions = [text[starts[i] + 1] for i in answer]
print(f"{len(questions):,} questions, {len(searched):,} sentences")
print(f"{questions[0]!r}\nshould find\n{searched[answer[0]]!r}")

# %%
# Search
# ------
# Fit on the sentences that are searched, without labels; a question is transformed. The
# vectors are learned from ``corpus`` too: sentences about one photo (or of one docstring)
# are neighbours. :class:`~skembed.SearchIndex` searches documents, by BM25 and vectors.

from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import SentenceCorpus, TextVectorizer
from skembed.search import nearest

others = np.flatnonzero(~np.isin(groups, groups[starts[answer]]))
corpus = SentenceCorpus.from_sentences([text[i] for i in others], groups=groups[others])
engines = {
    "tf-idf": TfidfVectorizer(sublinear_tf=True),
    "TextVectorizer": TextVectorizer(corpus=corpus, random_state=0),
}
for name, engine in engines.items():
    vectors = engine.fit_transform(searched)
    found, cosines = nearest(engine.transform(examples), vectors, k=3)
    for question, best in zip(examples, found):
        print(f"{name}: {question}")
        print(*(f"   {searched[i]}" for i in best), sep="\n")

# %%
# Measure
# -------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
looks = [("0.45", "--"), ("#0072B2", "-")]
k = np.arange(1, 21)
for (name, engine), (color, line) in zip(engines.items(), looks):
    cosines = (engine.transform(questions) @ engine.transform(searched).T).toarray()
    of_answer = cosines[np.arange(1000), answer]
    rank = (cosines >= of_answer[:, None]).sum(axis=1)
    percent = [100 * np.mean((rank <= n) & (of_answer > 0)) for n in k]
    ax.plot(k, percent, color=color, ls=line, lw=3, label=name)
    print(f"{name:18s} first {percent[0]:.1f} %, among ten {percent[9]:.1f} %")
ax.set(xlabel="results that are looked at", ylabel="questions answered (%)")
ax.set(
    xticks=[1, 5, 10, 15, 20], title="Is the right sentence among the first results?"
)
ax.legend(loc="lower right")
plt.show()

# %%
# The blue line is ahead, the more so where several results are looked at. Measure both on
# your own text, with questions of the kind that you expect: where names and codes
# decide, exact words win.
