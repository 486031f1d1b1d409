"""What learning in shards costs in quality: mean score of the 14 STS sets by the number of shards, and bytes a round.

    python benchmarks/quality/shards.py --data DATA [--rounds SEEDS] [--methods NAME ...] [--shards N ...] [--out OUT]
        [--times N] [--log FILE]

Beside it, with `--joined`, the baseline: as many models as shards, each of its own documents, joined by
`MetaEmbeddingVectorizer`. All runs in one process, since who computes the shards changes no bit. The text is Simple
English Wikipedia; with `--times` it is that and books, so many times over. With `--log` each run is kept, one a line,
and what is there is not run again; `--only-log` makes the table of what is there.
"""

import json
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np

import skembed
from skembed._shards import rounds
from skembed._shards.engines import Inline
from skembed._shards.rounds import take_changes

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, learners, public, saved_corpus
from reporting import report
from yardsticks import mean_score, tfidf_note

METHODS = {name: row for name, row in learners().items() if "n_shards" in public()[row[0]]().get_params()}
ALONE, IN_ROUNDS, JOINED = "by one trainer", "in rounds", "apart, then joined"


class Counting(Inline):
    """Counts the rounds, and the bytes that would travel if each shard were sent by itself."""

    def __init__(self):
        self.n_rounds = self.n_bytes = 0

    def reduce(self, *args):
        def counted(*args):
            found = take_changes(*args)
            self.n_bytes += sum(array.nbytes for array in found)
            return found

        self.n_rounds += 1
        with patch.object(rounds, "take_changes", counted):
            return super().reduce(*args)


def make(method, **options):
    cls, settings = METHODS[method]
    return public()[cls](**settings, **options)


def learn(method, n_shards, seed, corpus):
    """A fitted model, and of a fit in shards its rounds and the megabytes that a shard sends in one."""
    model, engine = make(method, n_shards=n_shards, random_state=seed), Counting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of many shards: it is measured here
        model.fit(corpus, engine=engine if n_shards > 1 else None)
    if n_shards == 1:
        return model, {}
    return model, {"rounds": engine.n_rounds, "megabytes": engine.n_bytes / max(1, engine.n_rounds) / n_shards / 1e6}


def join(method, n_shards, seed, corpus):
    """The baseline: models of every n-th run of documents, that never saw each other's text."""
    shard = corpus.doc_of() * 64 * n_shards // corpus.n_documents % n_shards
    n_passes = make(method)._n_passes(corpus.n_tokens, None)  # not those of a shorter text
    models = [
        make(method, max_iter=n_passes, random_state=seed).fit(corpus[shard == index]) for index in range(n_shards)
    ]
    return skembed.MetaEmbeddingVectorizer(models, models[0].n_components).fit(corpus), {}


def rows_of(runs, n_words):
    """The table: a row for each method, way and number of shards, of all its seeds."""
    order = list(METHODS)
    groups = {}
    for run in sorted(runs, key=lambda run: (order.index(run["method"]), run["how"] == JOINED, run["shards"])):
        groups.setdefault((run["method"], run["how"], run["shards"]), {})[run["seed"]] = run
    for (method, how, n_shards), found in groups.items():
        scores = [run["score"] for _, run in sorted(found.items())]
        alone = groups.get((method, ALONE, 1), {})
        common = sorted(set(alone) & set(found))  # a loss is that of equal seeds
        lost = [alone[seed]["score"] - found[seed]["score"] for seed in common]
        row = {"method": method, "learned": how, "shards": n_shards, "score": round(float(np.mean(scores)), 2)}
        row |= {"by seed": " ".join(f"{score:.1f}" for score in scores)}
        row |= {"lost": round(float(np.mean(lost)), 2) if lost and how != ALONE else ""}
        row |= dict.fromkeys(["rounds of a fit", "thousand words a shard and round", "MB a shard and round"], "")
        if how == IN_ROUNDS:
            one = next(iter(found.values()))
            n_passes = make(method)._n_passes(n_words, None)
            row["rounds of a fit"] = one["rounds"]
            row["thousand words a shard and round"] = round(n_words * n_passes / n_shards / one["rounds"] / 1000)
            row["MB a shard and round"] = round(one["megabytes"], 1)
        yield row


def main():
    """Measure and report."""
    options = arguments(
        __doc__,
        methods={"nargs": "*", "default": list(METHODS), "choices": list(METHODS)},
        shards={"nargs": "*", "type": int, "default": [4, 16, 64]},
        joined={"nargs": "*", "type": int, "default": []},
        times={"type": int, "help": "learn from both texts, so many times over"},
        log={"type": Path, "help": "file of the runs, which goes on"},
        only_log={"action": "store_true", "help": "run nothing"},
    )
    texts = ("simplewiki", "books_small") if options.times else "simplewiki"
    runs = []
    if options.log and options.log.exists():
        runs = [json.loads(line) for line in options.log.read_text().splitlines()]
    with saved_corpus(options, names=(texts,)) as folder:
        corpus = skembed.SentenceCorpus.load(next(folder.iterdir()))
        if options.times:
            corpus[np.tile(np.arange(corpus.n_sentences), options.times)].save(folder / "text")
            corpus = skembed.SentenceCorpus.load(folder / "text", mmap=True)

        def measure(way, method, how, n_shards):
            for seed in range(options.rounds):
                run = {"method": method, "how": how, "shards": n_shards, "seed": seed, "words": corpus.n_tokens}
                if options.only_log or any(run.items() <= known.items() for known in runs):
                    continue
                model, counted = way(method, n_shards, seed, corpus)
                runs.append(run | counted | {"score": round(mean_score(model.transform, options.data), 3)})
                print(runs[-1], flush=True)
                if options.log:
                    with options.log.open("a") as file:
                        file.write(json.dumps(runs[-1]) + "\n")

        for method in options.methods:
            for n_shards in [1, *options.shards]:
                measure(learn, method, IN_ROUNDS if n_shards > 1 else ALONE, n_shards)
            for n_shards in options.joined:
                measure(join, method, JOINED, n_shards)
        n_words = corpus.n_tokens
    runs = [run for run in runs if run["words"] == n_words and run["method"] in options.methods]
    report(
        options,
        "shards_of_long_text" if options.times else "shards",
        f"Mean score of the 14 STS sets of 2012 to 2014 by the number of shards, {n_words / 1e6:.0f} million words",
        list(rows_of(runs, n_words)),
        notes="*Lost* is to one trainer with the same seeds. A shard sends these MB in a round, and gets all weights. "
        + tfidf_note(options.data),
    )


if __name__ == "__main__":
    main()
