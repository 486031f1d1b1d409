"""
Text beside other columns
=========================

How does a column of text join columns of numbers and categories, and do they help each
other?

In a :class:`~sklearn.compose.ColumnTransformer` an embedding is one more transformer:
name the text column as a string, so that it arrives as a column and not as a table.
"""

# %%
# A table
# -------
# A row is a sentence of a review, beside it the product and the length of the sentence.
# To be found: the topic, such as the screen of a netbook. The reviews are downloaded at
# the first run. Where they cannot be, a row is the summary of a docstring, beside it the
# package, and the subpackage is to be found.

import numpy as np
import pandas as pd

from skembed.datasets import fetch_opinosis, load_docstrings

try:
    text = fetch_opinosis(n_retries=0)
    rows = np.arange(len(text.data))
    products = "bestwestern garmin holiday_inn honda ipod kindle netbook swissotel "
    products = (products + "toyota windows7").split()
except OSError:
    print("The reviews cannot be downloaded: on with documentation.")
    text = load_docstrings()
    rows = np.flatnonzero(np.diff(text.groups, prepend=-1))
    products = ["numpy", "scipy", "sklearn"]

frequent = np.bincount(text.target[rows])[text.target[rows]] >= 40
rows, topics = rows[frequent], np.array(text.target_names)
y = topics[text.target[rows]]
X = pd.DataFrame(
    {
        "text": np.array(text.data, dtype=object)[rows],
        "product": [next(p for p in products if p in topic) for topic in y],
        "n_letters": [len(text.data[row]) for row in rows],
    }
)
n_topics = len(np.unique(y))
print(f"{len(X):,} rows, {n_topics} topics, {len(products)} products")
print(X.assign(topic=y).sample(5, random_state=0).to_string(max_colwidth=40))

# %%
# One pipeline
# ------------
# Five rows per topic have a label. The embedding learns from the whole text without
# labels, given as ``corpus=``; the other rows are the test.

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from skembed import Sent2VecVectorizer, SentenceCorpus

corpus = SentenceCorpus.from_sentences(text.data)
sent2vec = Sent2VecVectorizer(100, corpus=corpus, random_state=0)
embedding = ("text", make_pipeline(sent2vec, Normalizer()), "text")
tfidf = ("words", TfidfVectorizer(), "text")
others = [
    ("product", OneHotEncoder(handle_unknown="ignore"), ["product"]),
    ("length", StandardScaler(), ["n_letters"]),
]
candidates = {
    "other columns": others,
    "embedding": [embedding],
    "embedding and others": [embedding, *others],
    "tf-idf": [tfidf],
    "tf-idf and others": [tfidf, *others],
    "all three": [embedding, tfidf, *others],
}
draws = StratifiedShuffleSplit(5, train_size=5 * n_topics, random_state=0)
scores = {}
for name, columns in candidates.items():
    model = make_pipeline(ColumnTransformer(columns), LinearSVC(random_state=0))
    scores[name] = 100 * cross_val_score(model, X, y, cv=draws)
    print(f"{name:22s} {scores[name].mean():.1f} %")

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
colors = ["0.7", "#56B4E9", "#0072B2", "#E69F00", "#D55E00", "#009E73"]
means = [s.mean() for s in scores.values()]
spread = [s.std() for s in scores.values()]
bars = ax.barh(list(scores), means, xerr=spread, color=colors)
ax.bar_label(bars, fmt="%.1f", padding=8)
ax.invert_yaxis()
ax.set(xlabel="accuracy (%), mean and deviation of 5 draws", xlim=(0, 105))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The other columns with the text, as an embedding or as tf-idf, are far better than each
# alone: the text names the part, the product says whose part it is. The embedding, which
# has seen the text without labels, adds what tf-idf cannot learn from five rows per topic
# (green).
