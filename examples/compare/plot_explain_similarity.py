"""
Explain a similarity
====================

Why does a model find two sentences similar?

The vector of a sentence is a weighted sum of word vectors. So the cosine of two sentences is
a sum over pairs of words, and each pair has an exact share of it.
"""

# %%
# Two sentences without a word in common
# --------------------------------------
# The text is reviews of hotels, cars and devices. They are downloaded at the first run. Where
# they cannot be, sentences of documentation take their place. We look for the short sentence
# that is most similar to ours and shares no word with it but stop words.

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skembed import Sent2VecVectorizer
from skembed.datasets import fetch_opinosis, load_docstrings
from skembed.search import nearest

try:
    text = fetch_opinosis(n_retries=0).data
    sentence, negated = "The staff were friendly.", "The staff were not friendly."
except OSError:
    print("The reviews cannot be downloaded: on with documentation.")
    text = load_docstrings().data
    sentence, negated = "The array must be sorted.", "The array must not be sorted."
model = Sent2VecVectorizer(weighting="sif", random_state=0).fit(text)

words = TfidfVectorizer(stop_words="english").fit([sentence])
short = [other for other in dict.fromkeys(text) if 4 <= len(other.split()) <= 10]
shared = words.transform(short).getnnz(axis=1)
others = [other for other, n_shared in zip(short, shared) if n_shared == 0]
rows, _ = nearest(model.transform([sentence]), model.transform(others), k=1)
similar = others[rows[0, 0]]
print(f"{sentence}\n{similar}")

# %%
# Where their cosine comes from
# -----------------------------

import matplotlib.pyplot as plt


def draw(explanation):
    """Draw a map of what each pair of words adds to the cosine."""
    figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    largest = abs(explanation.contributions).max()
    image = ax.imshow(
        explanation.contributions,
        cmap="RdBu_r",
        vmin=-largest,
        vmax=largest,
        aspect="auto",
    )
    ax.set_xticks(
        range(len(explanation.words_b)), explanation.words_b, rotation=45, ha="right"
    )
    ax.set_yticks(range(len(explanation.words_a)), explanation.words_a)
    figure.colorbar(image, label="part of the cosine")
    ax.set_title(f"cosine {explanation.similarity:.2f}")
    plt.show()


explanation = model.explain(sentence, similar)
draw(explanation)

# %%
# Red cells add to the cosine, blue cells reduce it, and the sum of all cells is the cosine in
# the title. Most of it comes from a few pairs of words with related meanings. Stop words add
# little: the weights (``weighting="sif"``) are small for frequent words.
#
# As numbers, the five largest cells:

for pair in np.argsort(-explanation.contributions, axis=None)[:5]:
    i, j = np.unravel_index(pair, explanation.contributions.shape)
    value = explanation.contributions[i, j]
    print(f"{explanation.words_a[i]:>10s} ~ {explanation.words_b[j]:12s} {value:.3f}")
total = explanation.contributions.sum()
print(f"sum of all pairs: {total:.3f}, cosine: {explanation.similarity:.3f}")

# %%
# Similar for the wrong reason
# ----------------------------
# The same figure for a pair that should *not* be similar.

draw(model.explain(negated, sentence))

# %%
# The two sentences contradict each other, and their cosine is close to 1. The row of "not"
# shows why: it contributes almost nothing. A sum of word vectors cannot tell these two apart.
# A model with word n-grams, such as "not friendly", can (``ngram_range`` of
# :class:`~skembed.Sent2VecVectorizer`), if the text has enough examples.
