"""What learning in shards costs in quality: mean score of the 14 STS sets by the number of shards, and bytes a round.

    python benchmarks/quality/shards.py --data DATA [--rounds SEEDS] [--methods NAME ...] [--shards N ...] [--out OUT]

Beside it the baseline: as many models as shards, each of its own documents, joined by `MetaEmbeddingVectorizer`. All
runs in one process, since who computes the shards changes no bit.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import skembed
from skembed._training.engines import Inline

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, saved_corpus
from reporting import report
from yardsticks import mean_score

METHODS = [
    "CBOSVectorizer",
    "SiameseCBOWVectorizer",
    "Word2VecVectorizer",
    "FastSentVectorizer",
    "Sent2VecVectorizer",
    "ParagraphVectorizer",
]


class Counting(Inline):
    """Counts the rounds, and the bytes that would travel: the changes of each shard, and the weights to it."""

    def __init__(self):
        self.n_rounds = self.n_bytes = 0

    def reduce(self, work, merge, common, make_tasks, n_tasks):
        def counted(common, tasks):
            for found in work(common, tasks):
                self.n_bytes += found.n_bytes
                yield found

        self.n_rounds += 1
        return super().reduce(counted, merge, common, make_tasks, n_tasks)


def learn(method, n_shards, seed, corpus):
    """A fitted model, its rounds and the megabytes that a shard sends in one."""
    model, engine = getattr(skembed, method)(n_shards=n_shards, random_state=seed), Counting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of many shards: it is measured here
        model.fit(corpus, engine=engine)
    return model, engine.n_rounds, engine.n_bytes / max(1, engine.n_rounds) / n_shards / 1e6


def join(method, n_shards, seed, corpus):
    """The baseline: models of every n-th run of documents, that never saw each other's text."""
    shard = corpus.doc_of() * 64 * n_shards // corpus.n_documents % n_shards
    models = [getattr(skembed, method)(random_state=seed).fit(corpus[shard == index]) for index in range(n_shards)]
    return skembed.MetaEmbeddingVectorizer(models, models[0].n_components).fit(corpus)


def main():
    """Measure and report."""
    options = arguments(
        __doc__,
        methods={"nargs": "*", "default": METHODS},
        shards={"nargs": "*", "type": int, "default": [4, 16, 64]},
        joined={"nargs": "*", "type": int, "default": [4, 16]},
    )
    rows = []
    with saved_corpus(options) as folder:
        corpus = skembed.SentenceCorpus.load(folder / "simplewiki")

        def add(method, how, n_shards, runs, n_rounds=None, megabytes=None):
            alone = [row["score"] for row in rows if row["method"] == method][:1]
            score = round(float(np.mean(runs)), 2)
            row = {"method": method, "learned": how, "shards": n_shards, "score": score}
            row |= {"lost": round(alone[0] - score, 2) if alone else None, "spread of seeds": round(np.ptp(runs), 2)}
            row |= {"words a shard and pass": corpus.n_tokens // n_shards, "rounds of a fit": n_rounds}
            row |= {"MB a round": megabytes and round(megabytes, 1)}
            rows.append(row)
            print(row, flush=True)

        for method in options.methods:
            for n_shards in [1, *options.shards]:
                found = [learn(method, n_shards, seed, corpus) for seed in range(options.rounds)]
                scores = [mean_score(model.transform, options.data) for model, *_ in found]
                add(method, "in rounds" if n_shards > 1 else "by one trainer", n_shards, scores, *found[0][1:])
            for n_shards in options.joined:
                models = (join(method, n_shards, seed, corpus) for seed in range(options.rounds))
                add(method, "apart, then joined", n_shards, [mean_score(m.transform, options.data) for m in models])
    report(
        options,
        "shards",
        "Mean score of the 14 STS sets of 2012 to 2014 by the number of shards",
        rows,
        notes=f"{options.rounds} seeds. Megabytes that a shard sends in a round; it gets all weights.",
    )


if __name__ == "__main__":
    main()
