"""How fast does PP learn from pairs of sentences, and from pairs of words, on one core?

    python benchmarks/speed/pairs.py --data DATA --pairs PAIRS

PAIRS is a folder with `altlex_wiki.tsv.gz` and `ppdb_xl_lexical.tsv.gz`, a pair a line. A pass is the difference of two
fits, over the passes between them, so it holds no encoding and no start-up.
"""

import gzip
import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Worker, arguments, median, rounds_of

FILES = {"sentences": "altlex_wiki.tsv.gz", "words": "ppdb_xl_lexical.tsv.gz"}
LOSSES = ("softmax", "hinge")
PASSES = (1, 4)


def read_pairs(path):
    """Pairs of which both sides have a word."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    return [tuple(row) for row in rows if all(re.search(r"\w", side) for side in row)]


def prepare(path, loss):
    import skembed

    pairs = skembed.PairCorpus.from_pairs(read_pairs(path))
    make = skembed.ParaphraseVectorizer
    make(300, max_iter=1, loss=loss).fit(pairs[:300])  # compiles

    def task(passes):
        make(300, max_iter=passes, loss=loss, batch_size=128, random_state=0, n_jobs=1).fit(pairs)
        return [pairs.sentences.n_tokens, len(pairs)]

    return task


def main():
    options = arguments(__doc__, pairs={"type": Path, "required": True, "help": "folder with the pairs"})
    for kind, file in FILES.items():
        for loss in LOSSES:
            worker = Worker(__file__, "prepare", path=str(options.pairs / file), loss=loss)
            runs = {passes: partial(worker.run, passes=passes) for passes in PASSES}
            found = rounds_of(runs, options.rounds)
            worker.close()
            first, last = (median([run["wall"] for run in found[passes]]) for passes in PASSES)
            n_words, n_pairs = found[PASSES[0]][0]["value"]
            seconds = (last - first) / (PASSES[1] - PASSES[0])
            print(
                f"{kind:9} {loss:7} {n_words / seconds:12,.0f} words/s {n_pairs / seconds:10,.0f} pairs/s", flush=True
            )


if __name__ == "__main__":
    main()
