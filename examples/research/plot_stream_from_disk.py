"""
Stream a corpus from disk
=========================

How much memory does it take to learn from a text that does not fit into it?

A :class:`~skembed.SentenceCorpus` is written to disk while the text is read, and trained from a memory map. We learn
from ever longer files, each in a process of its own, and measure how much that process grows.
"""

# %%
# Text files
# ----------
# One sentence a line, a blank line between documents; a folder of such files would do as well, and ``.gz`` too. The
# longer ones repeat the docstrings, up to some five million words.

import tempfile
from pathlib import Path

from skembed.datasets import load_docstrings

docstrings = load_docstrings()
folder = tempfile.TemporaryDirectory()
lines = []
for i, sentence in enumerate(docstrings.data):
    if i and docstrings.groups[i] != docstrings.groups[i - 1]:
        lines.append("\n")
    lines.append(f"{sentence}\n")
text = "".join(lines)
n_words = len(text.split())
repeats = [1, 3, 6]
for n in repeats:
    with Path(folder.name, f"text{n}.txt").open("w", encoding="utf-8") as file:
        for _ in range(n):
            file.write(f"{text}\n")

# %%
# Two ways to learn
# -----------------
# *Streamed*: ``from_file(..., to=...)`` reads a piece at a time. *In memory*: all sentences in a list first. Both learn
# for one pass, and both learn the same vectors, bit for bit.

import sys
import threading
import time

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

from skembed import Sent2VecVectorizer, SentenceCorpus


def memory():
    """Private memory of this process in MiB: pages of mapped files, which the system may drop at will, do not count."""
    if sys.platform.startswith("linux"):
        fields = dict(
            line.split(":", 1)
            for line in Path("/proc/self/status").read_text().splitlines()
        )
        return int(fields["RssAnon"].split()[0]) / 1024
    return float("nan")


def learn(path, streamed):
    """CPU seconds and growth of memory, after a first short fit that loads the kernels."""
    Sent2VecVectorizer(max_iter=1, min_count=1, random_state=0).fit(
        ["a b c", "b c d"] * 50
    )
    before, peak, done = memory(), [0.0], threading.Event()

    def watch():
        while not done.wait(0.005):
            peak[0] = max(peak[0], memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()
    if streamed:
        text = SentenceCorpus.from_file(path, to=f"{path}.corpus")
    else:
        sentences = path.read_text(encoding="utf-8").splitlines()
        text = SentenceCorpus.from_sentences(
            [s for s in sentences if s], (i for i, s in enumerate(sentences) if s)
        )
    model = Sent2VecVectorizer(max_iter=1, random_state=0).fit(text)
    seconds = time.process_time() - start
    done.set()
    watcher.join()
    return peak[0] - before, seconds, model.word_vectors_.sum()


growth = {"list of sentences": [], "streamed from disk": []}
for n in repeats:
    path, sums = Path(folder.name, f"text{n}.txt"), set()
    for name, measured in growth.items():
        ((mib, seconds, total),) = Parallel(n_jobs=2)(
            [delayed(learn)(path, name.startswith("streamed"))]
        )
        get_reusable_executor().shutdown()  # the next measurement gets a fresh process
        measured.append(mib)
        sums.add(total)
        print(
            f"{n * n_words / 1e6:5.1f} M words, {name:20s}",
            f"{mib:6.0f} MiB  {seconds:5.1f} CPU s",
        )
    assert len(sums) == 1  # the same vectors

# %%
# The figure
# ----------

import matplotlib.pyplot as plt

figure, ax = plt.subplots(layout="constrained")
words = [n * n_words / 1e6 for n in repeats]
for (name, values), (color, marker) in zip(
    growth.items(), [("#D55E00", "s"), ("#0072B2", "o")]
):
    ax.plot(words, values, color=color, marker=marker, label=name)
ax.set(
    xlabel="words in the text (millions)",
    ylabel="growth of the process while it learns (MiB)",
    ylim=(0, None),
)
ax.legend()
plt.show()
folder.cleanup()

# %%
# The upper line is the text as Python strings and then as word ids, and it grows with every word. The lower one grows
# about a fifth as fast: the words stay on disk, and what learning keeps in memory are the vectors and some bytes a
# *sentence* (its document, its place in the shuffled order). Streaming costs no time worth mentioning, and it is paid
# once: ``SentenceCorpus.load`` opens the folder again at once, in any process.
# :class:`~skembed.FastSentVectorizer` and all others read it in the same way;
# :meth:`~skembed.Sent2VecVectorizer.estimate_memory` says beforehand what a fit will need. Only Linux tells the memory
# of a process in the way that is used here; elsewhere the figure is empty.
