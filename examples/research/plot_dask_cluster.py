"""
Encode and embed a table on a Dask cluster
==========================================

Text lies in a Dask table of several partitions. Does the corpus depend on how many there are, or on how many workers
encode them?

A cluster of two processes on this machine encodes the same table in 2 and in 7 partitions, and gives it a vector for
each row. On a cluster of several machines, only the client and the folder change.
"""

# %%
# A cluster
# ---------
# Its workers are processes that begin with the main module. So a script starts it below ``if __name__ == "__main__":``.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client

import skembed
import skembed.dask


def start_cluster():
    return Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")


# %%
# A table
# -------
# The docstrings of some Python packages: a row for each sentence, with the number of its docstring, in reading order. A
# docstring may go on in the next partition.

import dask.dataframe as dd
import pandas as pd

from skembed.datasets import load_docstrings


def read_table():
    docstrings = load_docstrings()
    return pd.DataFrame({"text": docstrings.data, "document": docstrings.groups})


# %%
# Encode, learn, embed
# --------------------
# Each partition is a task. The words are counted exactly, and the counts are merged in a tree of tasks. The model is
# learned here, from the corpus on disk, and goes to the workers as the path of a folder.

folder = tempfile.TemporaryDirectory()
if __name__ == "__main__":
    frame, corpora = read_table(), []
    with start_cluster() as client:
        for n in (2, 7):
            table = dd.from_pandas(frame, npartitions=n)
            corpus = skembed.SentenceCorpus.from_dask(
                table["text"],
                table["document"],
                folder=f"{folder.name}/{n}",
                client=client,
            )
            corpora.append(corpus)
        model = skembed.CBOSVectorizer(50, random_state=0).fit(corpus)
        vectors = skembed.dask.transform(model, table["text"]).compute()
    print(corpus)
    print("equal corpora:", corpora[0] == corpora[1])
    here = model.transform(frame["text"])
    print("equal vectors:", np.array_equal(vectors.to_numpy(), here))

# %%
# How often each word occurs
# --------------------------
# Two lines, one over the other.

if __name__ == "__main__":
    for corpus, n, width in zip(corpora, (2, 7), (6, 1.5)):
        counts = corpus.vocabulary.counts
        ranks = np.arange(1, len(counts) + 1)
        plt.loglog(ranks, counts, linewidth=width, label=f"{n} partitions")
    plt.xlabel("rank of the word")
    plt.ylabel("occurrences")
    plt.legend()
    plt.title("The corpus does not depend on the partitions")
    plt.tight_layout()
    plt.show()

# %%
# The two corpora are equal, bit for bit, so every model that is learned from them is too.
