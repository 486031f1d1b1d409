"""
A mixed table, without naming its columns
=========================================

How does text become columns of a model of trees, beside numbers and categories?

The ``TableVectorizer`` of `skrub <https://skrub-data.org>`_ looks at each column of a data
frame and chooses what to do with it. :class:`~skembed.TextVectorizer` takes the columns of
text, with ``n_components``, as trees need dense rows.
"""

# %%
# A table
# -------
# A row is the summary of a docstring of numpy, scipy or scikit-learn; beside it the package
# and the number of sentences of the docstring. To be found: the subpackage.

import numpy as np
import pandas as pd

from skembed.datasets import load_docstrings

docs = load_docstrings()
first = np.flatnonzero(np.diff(docs.groups, prepend=-1))
names = np.array(docs.target_names)[docs.target[first]]
table = pd.DataFrame(
    {
        "summary": [docs.data[row] for row in first],
        "package": [name.split(".")[0] for name in names],
        "sentences": np.diff(first, append=len(docs.data)),
    }
)
frequent = pd.Series(names).map(pd.Series(names).value_counts()) >= 150
table, y = table[frequent], names[frequent]
print(f"{len(table):,} rows, {len(np.unique(y))} subpackages")
print(table.head().to_string(max_colwidth=50))

# %%
# One line for the columns
# ------------------------
# ``high_cardinality`` is the transformer of text. The columns without text show what the
# text adds, and the default of skrub, an encoder of strings, stands beside it.

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from skrub import StringEncoder, TableVectorizer

from skembed import TextVectorizer

encoders = {
    "without the text": "drop",
    "StringEncoder": StringEncoder(30, random_state=0),
    "TextVectorizer": TextVectorizer(30, random_state=0),
}
folds = StratifiedKFold(3, shuffle=True, random_state=0)
scores = {}
for name, encoder in encoders.items():
    trees = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    model = make_pipeline(TableVectorizer(high_cardinality=encoder), trees)
    scores[name] = 100 * cross_val_score(model, table, y, cv=folds)
    print(f"{name:18s} {scores[name].mean():.1f} %")

# %%
# The columns that the trees see:

columns = model[:-1].fit(table, y).get_feature_names_out()
print(len(columns), "columns:", *columns[:3], "...", *columns[-4:])

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
means = [score.mean() for score in scores.values()]
bars = ax.barh(list(scores), means, color=["0.7", "#E69F00", "#0072B2"])
ax.bar_label(bars, fmt="%.1f", padding=4)
ax.invert_yaxis()
ax.set(xlabel="accuracy (%), mean of 3 folds")
ax.margins(x=0.12)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The text brings most of the accuracy. ``cross_val_score`` fits the encoder anew in each
# fold, so no row that is scored was learned from.
