"""How much memory does each process take while CBOS learns in shards, by engine?

    python benchmarks/speed/shards_memory.py --data DATA [--out OUT]

The text is Simple English Wikipedia and books, four times over: 114 million words, mapped into memory. One pass in 16
shards: in this process, with two processes, and with a scheduler and two workers of Dask, each a process of its own.
Sampled every 20 ms: what each of them owns (anonymous memory), and what of that and of mapped files is resident.
"Before" is after a fit of 2,000 sentences, with all that is imported and compiled. Needs Linux, whose /proc it reads.
"""

import contextlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import Peaks, arguments, children_of, dask_cluster, resident_mebibytes, saved_corpus, workers
from reporting import report

from skembed import SentenceCorpus

TEXTS, TIMES = ("simplewiki", "books_small"), 4
ENGINES = "this process", "processes", "dask"
N_SHARDS, N_WORKERS = 16, 2


def prepare(corpus, engine):
    """A task that fits CBOS and returns the memory of each process, in MiB."""
    import warnings

    import skembed

    warnings.simplefilter("ignore", UserWarning)
    text = skembed.SentenceCorpus.load(corpus, mmap=True)
    model = skembed.CBOSVectorizer(n_shards=N_SHARDS, max_iter=1, n_jobs=N_WORKERS, random_state=0)

    def task():
        with contextlib.ExitStack() as stack:
            given, others = {"this process": None, "processes": "processes"}.get(engine), {}
            if engine == "dask":
                given, others = stack.enter_context(dask_cluster(N_WORKERS))
            before = set(children_of(os.getpid()))
            model.fit(text[:2000], engine=given)
            if engine == "processes":
                sizes = {pid: resident_mebibytes(pid)["VmRSS"] for pid in set(children_of(os.getpid())) - before}
                largest = sorted(sizes, key=sizes.get)[-N_WORKERS:]  # the other is joblib's own
                others = {f"process {index + 1}": pid for index, pid in enumerate(largest)}
            with Peaks({"this process": os.getpid(), **others}) as peaks:
                model.fit(text, engine=given)
        return {"before": peaks.before, "most": peaks.most, "weights": model.word_vectors_.nbytes / 2**20}

    return task


def main():
    """Measure and report."""
    options = arguments(__doc__)
    rows, sizes = [], {}
    with saved_corpus(options, names=(TEXTS,)) as folder:
        corpus = SentenceCorpus.load(folder / "+".join(TEXTS))
        n_words = corpus.n_tokens * TIMES
        corpus[np.tile(np.arange(corpus.n_sentences), TIMES)].save(folder / "text")
        for engine in ENGINES:
            with workers(__file__, {engine: ("prepare", {"corpus": f"{folder}/text", "engine": engine})}) as alive:
                sizes[engine] = found = alive[engine].run()["value"]
            for process, most in found["most"].items():
                before = found["before"][process]
                row = {"engine": engine, "process": process}
                for kind, title in (("RssAnon", "own"), ("VmRSS", "resident")):
                    row |= {f"{title}, before (MiB)": round(before[kind]), f"{title}, at most (MiB)": round(most[kind])}
                rows.append(row)
                print(row, flush=True)
    weights = round(sizes[ENGINES[0]]["weights"])
    report(
        options,
        "shards_memory",
        f"Memory of each process while CBOS learns {n_words / 1e6:.0f} million words in {N_SHARDS} shards",
        rows,
        notes=f"The word ids of the text are {4 * n_words / 2**20:.0f} MiB, in a mapped file; the vectors of the words "
        f"{weights} MiB.",
        raw=sizes,
    )


if __name__ == "__main__":
    main()
