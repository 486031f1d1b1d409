"""How fast is a cluster that learns CBOS in shards, and what is its bottleneck? Computed from what is measured here.

    python benchmarks/speed/clusters.py --data DATA [--rounds N] [--out OUT]

Measured, on one core: the words a second of a task, the rows that tasks of some lengths touch, and the seconds a row
takes to be taken from the model, merged and applied. Computed, for a shard a worker: 2 to 256 workers, 10^9 to 10^12
words and networks of 1 and 10 Gb/s, all steps of a round after each other, as if none overlapped; with a text that all
workers read in one file, each over its own link, and with one that this process sends.
"""

import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, median, rounds_of, saved_corpus, workers
from reporting import report

from skembed._shards.plan import MergeSchedule, rounds_of_pass

PASSES, N_COMPONENTS = 5, 300
N_WORKERS, SIZES, NETWORKS = (2, 4, 8, 16, 32, 64, 128, 256), (10**9, 10**10, 10**11, 10**12), (1, 10)
LENGTHS = 100_000, 1_000_000, 10_000_000
# Bytes of the text: of a token, and of a sentence, which the client always sends.
OF_TOKEN, OF_SENTENCE = 4, 5
N_SENTENCES = 200_000  # of the text whose words a second are measured
STEPS = {
    "work": "learning itself, all workers at once",
    "warm-up": "the first words, by one worker",
    "text": "word ids that each worker reads, or that the client sends to all, in each pass",
    "weights": "the model, which workers pass on to each other",
    "changes": "the rows of each worker through the tree to the client",
    "rows": "taking, merging and applying rows",
}


def prepare_work(corpus):
    """A pass of one thread."""
    import skembed

    text = skembed.SentenceCorpus.load(corpus)[:N_SENTENCES]
    start = skembed.CBOSVectorizer(N_COMPONENTS, max_iter=1, n_jobs=1, random_state=0).fit(text)

    def learn():
        seconds = time.process_time()
        start.partial_fit(text, new_words="ignore")
        return text.n_tokens / (time.process_time() - seconds)

    return learn


def prepare_rows(corpus):
    """Nanoseconds that a row takes in a round, of each step."""
    from skembed._shards.rounds import Changes, apply, merge, take_changes, working_copy

    generator = np.random.default_rng(0)
    before, old = generator.normal(size=(100_000, N_COMPONENTS)).astype(np.float32), np.ones((100_000, 2), np.float32)
    after, new = before.copy(), working_copy(old)
    touched = np.sort(generator.choice(len(before), 50_000, replace=False))

    def seconds_a_row(step, n_rows):
        start = time.process_time()
        result = step()
        return result, (time.process_time() - start) / n_rows

    def measure():
        new[touched, 1] = 0.0
        found, of_take = seconds_a_row(lambda: take_changes(before, old, after, new), len(touched))
        one = Changes(0.0, 0.0, {"rows": found}, {})
        _, of_merge = seconds_a_row(lambda: merge(one, one), len(touched))
        _, of_apply = seconds_a_row(lambda: apply(found, before, old, 1.0), len(touched))
        return {"take": of_take, "merge": of_merge, "apply": of_apply}

    measure()
    return measure


class Rows:
    """How many words occur in so many tokens, drawn with the frequencies of a corpus."""

    def __init__(self, corpus):
        self.frequency = np.bincount(corpus.tokens) / corpus.n_tokens
        self.n_words = len(self.frequency)
        self.length = corpus.n_tokens / corpus.n_sentences  # tokens of a sentence
        self.of = cache(self._of)

    def _of(self, n_tokens):
        return float(-np.expm1(-n_tokens * self.frequency).sum())


def seconds_of_fit(n_words, n_workers, gigabits, measured, *, is_sent=False):
    """Seconds of a fit, by step; `is_sent` is whether the client sends the words."""
    touched, speed, of_rows = measured
    network, row = gigabits * 1e9 / 8, 4 * (N_COMPONENTS + 4)
    weights = 4 * touched.n_words * (N_COMPONENTS + 2) / network
    of_client = OF_SENTENCE / touched.length + (OF_TOKEN if is_sent else 0)  # bytes a token
    spent = dict.fromkeys(STEPS, 0.0) | {"weights": PASSES * weights}  # at the beginning of a pass they are sent
    plans = [
        plan
        for epoch in range(PASSES)
        for plan in rounds_of_pass(n_words, n_workers, MergeSchedule(4), warm_up=epoch == 0)
    ]
    equal = Counter((plan.n_shards, round((plan.last - plan.first) * n_words / plan.n_shards, -3)) for plan in plans)
    for (n_shards, tokens), n_rounds in equal.items():
        rows, levels = touched.of(tokens), int(np.ceil(np.log2(n_shards)))
        merged = [touched.of(tokens * 2 ** (level + 1)) for level in range(levels)]
        of_round = {
            "warm-up" if n_shards == 1 else "work": tokens / speed,
            "text": tokens * (n_shards * of_client + (0 if is_sent else OF_TOKEN)) / network,
            "weights": levels * weights,
            "changes": row * sum([rows, *merged]) / network,
            "rows": rows * of_rows["take"] + sum(merged) * of_rows["merge"] + (merged or [rows])[-1] * of_rows["apply"],
        }
        for step, seconds in of_round.items():
            spent[step] += n_rounds * seconds
    return spent


def draw_clusters(figure, measured):
    """Speed-up over one worker, by workers; a panel for each network."""
    shared = None
    for panel, gigabits in enumerate(NETWORKS):
        shared = axes = figure.add_subplot(1, len(NETWORKS), panel + 1, sharey=shared)
        for n_words in SIZES:
            alone = PASSES * n_words / measured[1]
            exponent, color = round(np.log10(n_words)), None
            for is_sent in (False, True):
                times = [
                    sum(seconds_of_fit(n_words, n, gigabits, measured, is_sent=is_sent).values()) for n in N_WORKERS
                ]
                look = {"linestyle": "--", "linewidth": 1} if is_sent else {"marker": "."}
                label = None if is_sent else f"$10^{{{exponent}}}$ words"
                (drawn,) = axes.loglog(N_WORKERS, [alone / one for one in times], color=color, label=label, **look)
                color = drawn.get_color()
        axes.plot([], [], color="0.4", linestyle="--", linewidth=1, label="text sent")
        axes.loglog(N_WORKERS, N_WORKERS, color="0.6", linestyle=":", label="ideal")
        axes.set(title=f"{gigabits} Gb/s", xlabel="workers", xticks=N_WORKERS, xticklabels=N_WORKERS)
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
    axes.figure.axes[0].set_ylabel("times as fast as one worker")
    axes.legend()


def bottlenecks(measured):
    """Rows of the table."""
    for n_words in SIZES:
        for gigabits in NETWORKS:
            for n_workers in (2, 16, 64, 256):
                spent, sent = (
                    seconds_of_fit(n_words, n_workers, gigabits, measured, is_sent=is_sent) for is_sent in (False, True)
                )
                total = sum(spent.values())
                largest, second = sorted(spent, key=spent.get)[:-3:-1]
                yield {
                    "words": f"{n_words:.0e}".replace("e+", "e"),
                    "Gb/s": gigabits,
                    "workers": n_workers,
                    "hours": round(total / 3600, 2),
                    "times one worker": round(PASSES * n_words / measured[1] / total, 1),
                    "bottleneck": f"{largest} ({spent[largest] / total:.0%})",
                    "then": f"{second} ({spent[second] / total:.0%})",
                    "hours, text sent": round(sum(sent.values()) / 3600, 2),
                }


def main():
    """Measure and report."""
    options = arguments(__doc__)
    with saved_corpus(options) as folder:
        from skembed import SentenceCorpus

        corpus = SentenceCorpus.load(folder / "simplewiki")
        touched = Rows(corpus)
        counted = [(n, len(np.unique(corpus.tokens[:n])), int(touched.of(n))) for n in LENGTHS]
        settings = {
            name: (prepare, {"corpus": f"{folder}/simplewiki"})
            for name, prepare in (("work", "prepare_work"), ("rows", "prepare_rows"))
        }
        with workers(__file__, settings) as alive:
            found = rounds_of({name: worker.run for name, worker in alive.items()}, options.rounds)
    speed = median([one["value"] for one in found["work"]])
    of_rows = {step: median([one["value"][step] for one in found["rows"]]) for step in ("take", "merge", "apply")}
    steps = ", ".join(f"{1e9 * seconds:.0f} ns to {step}" for step, seconds in of_rows.items())
    rows_found = "; ".join(f"{n:,} words: {rows:,} in running text, {drawn:,} if drawn" for n, rows, drawn in counted)
    measured = touched, speed, of_rows
    report(
        options,
        "clusters",
        f"Five passes of CBOS by a cluster, {N_COMPONENTS} dimensions for each of {touched.n_words:,} words",
        list(bottlenecks(measured)),
        notes=f"Measured on one core: {speed:,.0f} words a second; a row takes {steps}. Rows that a task touches, "
        f"by the word counts of Simple English Wikipedia: {rows_found}. All else is computed: a shard a worker, no "
        f"step overlaps another. {'; '.join(f'*{name}*: {what}' for name, what in STEPS.items())}.",
        raw={"words a second": speed, "seconds a row": of_rows, "rows of a task": counted},
        draw=lambda figure: draw_clusters(figure, measured),
    )


if __name__ == "__main__":
    main()
