"""What learning in shards costs in time: CPU of one process with and without shards, two processes against one.

    python benchmarks/speed/shards.py --data DATA [--rounds N] [--out OUT]

And, computed from the measured speed and size of a round, how fast clusters of 2 to 256 workers are, and whether the
work, the network or the client is their bottleneck.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, median, rounds_of, saved_corpus, spread, workers
from reporting import report, target

RUNS = {
    "one trainer": (1, None, 1),
    "4 shards, this process": (4, None, 1),
    "16 shards, this process": (16, None, 1),
    "16 shards, one process": (16, "processes", 1),
    "16 shards, two processes": (16, "processes", 2),
}
TEXTS = "simplewiki", "books_small"
ROUND = 20_000_000  # tokens a shard
MEASURED_PASSES, PASSES, N_WORKERS = 2, 5, (2, 4, 8, 16, 32, 64, 128, 256)
N_WORDS, N_COMPONENTS, FRACTION = 100_000, 300, 0.5  # of the rows that a shard touches


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

    text = skembed.SentenceCorpus.load(corpus)

    def fit(text=text):
        before = cpu_of_workers()
        options = {"n_shards": n_shards, "n_jobs": n_jobs, "max_iter": MEASURED_PASSES, "random_state": 0}
        skembed.CBOSVectorizer(**options).fit(text, engine=engine)
        return cpu_of_workers() - before

    import warnings

    warnings.simplefilter("ignore", UserWarning)
    fit(text[:2000])
    return fit


def hours(n_words, n_workers, gigabits, words_a_second):
    """Hours of a fit on a cluster with a worker a shard, by what they are spent on."""
    network = gigabits * 1e9 / 8
    weights = N_WORDS * N_COMPONENTS * 4
    tokens = min(ROUND, n_words / n_workers / 4)
    n_rounds = PASSES * n_words / n_workers / tokens
    levels = np.log2(n_workers)
    return {
        "work": n_rounds * tokens / words_a_second / 3600,
        # From the client to one worker, from there to others, and changes back in a tree; merges at memory speed.
        "weights": n_rounds * (levels + 1) * weights * (1 + FRACTION) / network / 3600,
        "merges": n_rounds * levels * weights / 1e9 / 3600,
        "text from the client": n_rounds * n_workers * tokens * 4 / network / 3600,
    }


def draw_clusters(figure, words_a_second):
    """Speed-up over one worker, by workers; a panel for each network."""
    for panel, gigabits in enumerate((1, 10)):
        axes = figure.add_subplot(1, 2, panel + 1)
        for n_words in (10**9, 10**10, 10**11, 10**12):
            alone = PASSES * n_words / words_a_second / 3600
            times = [sum(hours(n_words, n, gigabits, words_a_second).values()) for n in N_WORKERS]
            axes.loglog(N_WORKERS, [alone / time for time in times], marker=".", label=f"{n_words:.0e} words")
        axes.loglog(N_WORKERS, N_WORKERS, color="0.8", label="ideal")
        axes.set(title=f"{gigabits} Gb/s", xlabel="workers", ylabel="times as fast as one worker")
        axes.legend()


def bottlenecks(words_a_second):
    """Rows of a table: hours, and what most of the time beside the work is spent on."""
    for n_words in (10**9, 10**10, 10**11, 10**12):
        for gigabits in (1, 10):
            for n_workers in (16, 256):
                spent = hours(n_words, n_workers, gigabits, words_a_second)
                largest = max(spent, key=spent.get)
                yield {
                    "words": f"{n_words:.0e}",
                    "Gb/s": gigabits,
                    "workers": n_workers,
                    "hours": round(sum(spent.values()), 2),
                    "bottleneck": f"{largest} ({spent[largest] / sum(spent.values()):.0%})",
                }


def main():
    """Measure and report."""
    options = arguments(__doc__)
    with saved_corpus(options, names=(TEXTS,)) as folder:
        settings = {
            name: (
                "prepare",
                {"corpus": f"{folder}/{'+'.join(TEXTS)}", "n_shards": n, "engine": engine, "n_jobs": jobs},
            )
            for name, (n, engine, jobs) in RUNS.items()
        }
        with workers(__file__, settings) as alive:
            found = rounds_of({name: worker.run for name, worker in alive.items()}, options.rounds)
        from skembed import SentenceCorpus

        n_tokens = SentenceCorpus.load(folder / "+".join(TEXTS)).n_tokens
    wall = {name: [one["wall"] for one in runs] for name, runs in found.items()}
    cpu = {name: [one["cpu"] + one["value"] for one in runs] for name, runs in found.items()}
    rows = [
        {
            "learned by": name,
            "seconds": round(median(wall[name]), 2),
            "spread (%)": spread(wall[name]),
            "CPU seconds": round(median(cpu[name]), 2),
            "CPU, times one trainer": round(median(cpu[name]) / median(cpu["one trainer"]), 2),
        }
        for name in RUNS
    ]
    alone, two = median(wall["16 shards, one process"]), median(wall["16 shards, two processes"])
    in_16 = median(cpu["16 shards, this process"]) / median(cpu["one trainer"])
    words_a_second = MEASURED_PASSES * n_tokens / median(cpu["16 shards, this process"])
    report(
        options,
        "shards",
        "Two passes of CBOS over Simple English Wikipedia and books, by who learns",
        rows,
        targets=[
            target("CPU of 16 shards", "16 shards, this process", in_16, 1.3, at_most=True, unit="times one trainer"),
            target("two processes", "16 shards, two processes", alone / two, 1.6, unit="times one"),
        ],
        raw={"bottlenecks": list(bottlenecks(words_a_second))},
        draw=lambda figure: draw_clusters(figure, words_a_second),
    )


if __name__ == "__main__":
    main()
