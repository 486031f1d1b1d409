"""
Learn on a Dask cluster
=======================

Who works when, if several machines learn from one text?

The text lies in partitions. Workers encode them, learn from shards of the text, and embed sentences. What they learn
is, bit for bit, what one process learns alone.
"""

# %%
# A cluster
# ---------
# A scheduler in this process, and two workers as they would be started on other machines, by
# ``dask worker ADDRESS --nthreads 1``. Not the workers that LocalCluster starts by itself: those need a script whose
# code is under ``if __name__ == "__main__":``.

import subprocess
import sys
import tempfile
from pathlib import Path

from distributed import LocalCluster, get_task_stream

N_WORKERS = 2
cluster = LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50)
client = cluster.get_client()
command = [sys.executable, "-m", "distributed.cli.dask_worker"]
options = ["--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
workers = [
    subprocess.Popen(
        [*command, cluster.scheduler_address, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(N_WORKERS)
]
client.wait_for_workers(N_WORKERS)

# %%
# From partitions to a corpus
# ---------------------------
# A table of Dask with a sentence a row; ``dd.read_parquet("s3://bucket/text")`` would be one too. Each partition is
# encoded by a worker. The folder of the corpus must be one that all see.

import dask.dataframe as dd
import pandas as pd

from skembed import CBOSVectorizer, SentenceCorpus
from skembed.datasets import load_docstrings

docstrings = load_docstrings()
table = dd.from_pandas(
    pd.DataFrame({"text": docstrings.data, "page": docstrings.groups}), npartitions=6
)
folder = tempfile.TemporaryDirectory()
corpus = SentenceCorpus.from_dask(
    table["text"], table["page"], to=Path(folder.name, "corpus"), client=client
)
assert corpus == SentenceCorpus.from_sentences(docstrings.data, docstrings.groups)
print(f"{table.npartitions} partitions: {corpus}")

# %%
# Learning in shards
# ------------------
# `n_shards` is a parameter of the model and changes what it learns. The engine does not: without one, this process
# learns from one shard after the other. Four shards are too many for so short a text, and `fit` warns of that.

import warnings

import numpy as np

warnings.filterwarnings("ignore", "n_shards=4 leaves each shard", UserWarning)
emb = CBOSVectorizer(n_shards=4, max_iter=3, random_state=0)
alone = emb.fit(corpus).word_vectors_
emb.fit(corpus, engine=client)  # the workers load the kernels
with get_task_stream(client) as stream:
    emb.fit(corpus, engine=client)
print("equal to one process, bit for bit:", np.array_equal(emb.word_vectors_, alone))

# %%
# Vectors of the partitions
# -------------------------
# The workers get the path of a saved model, and map it into memory.

import skembed
import skembed.dask

skembed.save(emb, Path(folder.name, "model"), inference_only=True)
vectors = skembed.dask.transform(Path(folder.name, "model"), table["text"])
rows = client.compute(vectors).result()
print(f"{vectors.npartitions} partitions, rows of shape {rows.shape}")
print("equal to one process:", np.array_equal(rows, emb.transform(docstrings.data)))

# %%
# Who worked when
# ---------------
# Each bar is a task of the fit.

import matplotlib.pyplot as plt

tasks = [
    (task["worker"], task["key"].split("-")[0], piece["start"], piece["stop"])
    for task in stream.data
    for piece in task["startstops"]
    if piece["action"] == "compute"
]
first = min(start for _, _, start, _ in tasks)
names = sorted({worker for worker, *_ in tasks})
colours = {
    "learn": ("#0072B2", "learn from shards"),
    "merge": ("#E69F00", "merge two results"),
    "advance": ("#009E73", "add to the weights"),
}
figure, ax = plt.subplots(figsize=(8, 2.6), layout="constrained")
for key, (colour, label) in colours.items():
    for worker, kind, start, stop in tasks:
        if kind == key:
            ax.barh(
                names.index(worker),
                stop - start,
                left=start - first,
                color=colour,
                edgecolor="white",
                linewidth=0.5,
                label=label,
            )
            label = None
ax.set_yticks(range(len(names)), [f"worker {i + 1}" for i in range(len(names))])
ax.set(xlabel="seconds", ylim=(-0.6, len(names) - 0.4))
ax.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()

client.close()
for worker in workers:
    worker.terminate()
    worker.wait()
cluster.close()
folder.cleanup()

# %%
# The first bar is the warm-up: one worker begins the model with two per cent of the text. Then come the rounds, four in
# a pass: the workers learn at once, one of them merges what both have learned and adds it to the weights, and this
# process sends the text of the next round; in the gaps the workers wait for it. On a text this short the gaps are long.
# With the millions of words a round for which shards are meant they nearly vanish: :ref:`more_text` says when learning
# in shards is worth it.
