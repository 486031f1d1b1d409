"""What learning in 16 shards costs each method in CPU time, in this process, against one trainer.

    python benchmarks/speed/shards_of_methods.py --data DATA [--rounds N] [--methods NAME ...] [--out OUT]

The text is Simple English Wikipedia, in two passes: with 16 million words, a shard has so few words in a round that
copies and merges count for much. `shards.py` has a long text.
"""

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, learners, median, public, rounds_of, saved_corpus, workers
from reporting import report

import skembed

METHODS = {name: row for name, row in learners().items() if "n_shards" in public()[row[0]]().get_params()}
N_SHARDS, PASSES = (1, 16), 2


def prepare(corpus, method, n_shards):
    """A task that fits a model; its kernels are compiled before."""
    text = skembed.SentenceCorpus.load(corpus)
    cls, settings = METHODS[method]
    warnings.simplefilter("ignore", UserWarning)  # of many shards: it is measured here

    def fit(text=text):
        public()[cls](**settings, n_shards=n_shards, max_iter=PASSES, random_state=0).fit(text)

    fit(text[:3000])
    return fit


def main():
    """Measure and report."""
    options = arguments(__doc__, methods={"nargs": "*", "default": list(METHODS), "choices": list(METHODS)})
    rows = []
    with saved_corpus(options) as folder:
        for method in options.methods:
            settings = {
                n: ("prepare", {"corpus": f"{folder}/simplewiki", "method": method, "n_shards": n}) for n in N_SHARDS
            }
            with workers(__file__, settings) as alive:
                found = rounds_of({n: worker.run for n, worker in alive.items()}, options.rounds)
            one, shards = (median([run["cpu"] for run in found[n]]) for n in N_SHARDS)
            rows.append(
                {
                    "method": method,
                    "one trainer (CPU seconds)": round(one, 1),
                    "16 shards (CPU seconds)": round(shards, 1),
                    "times one trainer": round(shards / one, 2),
                }
            )
            print(rows[-1], flush=True)
    report(
        options,
        "shards_of_methods",
        f"CPU time of {PASSES} passes over 16 million words, by one trainer and in 16 shards in one process",
        rows,
    )


if __name__ == "__main__":
    main()
