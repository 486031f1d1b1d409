"""What learning in shards costs in time: CPU with and without shards, two workers of a Dask cluster against one.

    python benchmarks/speed/shards.py --data DATA [--rounds N] [--out OUT]

The text is Simple English Wikipedia and books, four times over: 114 million words. On shorter texts, of which a shard
has fewer words in a round, copies and merges count for more. Workers of Dask read the text where it lies, and this
process reaches them directly.
"""

import atexit
import contextlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, dask_cluster, median, rounds_of, saved_corpus, spread, workers
from reporting import report

from skembed import SentenceCorpus

ALONE = "one trainer"
RUNS = {
    ALONE: (1, None, 1),
    "4 shards, this process": (4, None, 1),
    "16 shards, this process": (16, None, 1),
    "16 shards, one worker of Dask": (16, "dask", 1),
    "16 shards, two workers of Dask": (16, "dask", 2),
}
TEXTS = "simplewiki", "books_small"
TIMES, PASSES = 4, 1
OPEN = contextlib.ExitStack()  # clusters, until the process ends
atexit.register(OPEN.close)


def cpu_of_workers():
    """CPU seconds of the processes that this one has started and that are alive. Needs Linux."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        ticks += int(fields[11]) + int(fields[12]) if int(fields[1]) == os.getpid() else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def prepare(corpus, n_shards, engine, n_jobs):
    """A task that fits CBOS; its kernels are compiled, and its processes running, before."""
    import skembed

    if engine == "dask":
        engine, _ = OPEN.enter_context(dask_cluster(n_jobs, "--no-nanny", direct=True))
    text = skembed.SentenceCorpus.load(corpus)

    def fit(text=text):
        before = cpu_of_workers()
        options = {"n_shards": n_shards, "n_jobs": n_jobs, "max_iter": PASSES, "random_state": 0}
        skembed.CBOSVectorizer(**options).fit(text, engine=engine)
        return cpu_of_workers() - before

    import warnings

    warnings.simplefilter("ignore", UserWarning)
    fit(text[:2000])
    return fit


def main():
    """Measure and report."""
    options = arguments(__doc__)
    with saved_corpus(options, names=(TEXTS,)) as folder:
        corpus = SentenceCorpus.load(folder / "+".join(TEXTS))
        corpus[np.tile(np.arange(corpus.n_sentences), TIMES)].save(folder / "text")
        settings = {
            name: ("prepare", {"corpus": f"{folder}/text", "n_shards": n, "engine": engine, "n_jobs": jobs})
            for name, (n, engine, jobs) in RUNS.items()
        }
        wall, cpu, times = {}, {}, {}
        for of_dask in (True, False):  # apart: a scheduler that waits takes time
            group = {name: settings[name] for name, (_, engine, _) in RUNS.items() if (engine == "dask") == of_dask}
            with workers(__file__, {ALONE: settings[ALONE]} | group) as alive:
                found = rounds_of({name: worker.run for name, worker in alive.items()}, options.rounds)
            wall |= {name: [one["wall"] for one in runs] for name, runs in found.items()}
            cpu |= {name: [one["cpu"] + one["value"] for one in runs] for name, runs in found.items()}
            times |= {name: median(np.divide(cpu[name], cpu[ALONE])) for name in found}
    rows = [
        {
            "learned by": name,
            "seconds": round(median(wall[name]), 2),
            "spread (%)": spread(wall[name]),
            "CPU seconds": round(median(cpu[name]), 2),
            "CPU, times one trainer": round(times[name], 2),
        }
        for name in RUNS
    ]
    report(
        options, "shards", f"A pass of CBOS over {corpus.n_tokens * TIMES / 1e6:.0f} million words, by who learns", rows
    )


if __name__ == "__main__":
    main()
