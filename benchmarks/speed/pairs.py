"""How fast do PP and CSE learn on one core, from pairs of sentences and of words, and how fast do they encode?

    python benchmarks/speed/pairs.py --data DATA --pairs PAIRS

PAIRS is a folder with `altlex_wiki.tsv.gz` and `ppdb_xl_lexical.tsv.gz`, a pair a line. A pass is the difference of two
fits, over the passes between them, so it holds no start-up; a pass over a corpus encodes no text.
"""

import gzip
import re
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Worker, arguments, median, rounds_of

FILES = {"sentences": "altlex_wiki.tsv.gz", "words": "ppdb_xl_lexical.tsv.gz"}
METHODS = {
    "PP softmax": ("ParaphraseVectorizer", {}),
    "PP hinge": ("ParaphraseVectorizer", {"loss": "hinge"}),
    "CSE tanh": ("CSEVectorizer", {}),
    "CSE linear": ("CSEVectorizer", {"activation": "identity"}),
    "CSE linear, narrow": ("CSEVectorizer", {"activation": "identity", "padding": "narrow"}),
}
PASSES = (1, 4)


def read_pairs(path):
    """Pairs of which both sides have a word."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t")[:2] for line in file]
    return [tuple(row) for row in rows if all(re.search(r"\w", side) for side in row)]


def prepare(path, method):
    import skembed

    rows = read_pairs(path)
    pairs, sentences = skembed.PairCorpus.from_pairs(rows), [side for row in rows for side in row]
    name, options = METHODS[method]
    make = partial(getattr(skembed, name), 300, **options)
    fitted = make(max_iter=1, n_jobs=1).fit(pairs[:300])  # compiles
    fitted.transform(sentences[:100])

    def task(passes):
        model = make(max_iter=passes, batch_size=128, random_state=0, n_jobs=1).fit(pairs)
        start = time.perf_counter()
        model.transform(sentences)
        return [pairs.sentences.n_tokens, len(pairs), len(sentences) / (time.perf_counter() - start)]

    return task


def main():
    options = arguments(__doc__, pairs={"type": Path, "required": True, "help": "folder with the pairs"})
    for kind, file in FILES.items():
        for method in METHODS:
            worker = Worker(__file__, "prepare", path=str(options.pairs / file), method=method)
            runs = {passes: partial(worker.run, passes=passes) for passes in PASSES}
            found = rounds_of(runs, options.rounds)
            worker.close()
            first, last = (median([run["wall"] for run in found[passes]]) for passes in PASSES)
            n_words, n_pairs, _ = found[PASSES[0]][0]["value"]
            encoded = median([run["value"][2] for run in found[PASSES[0]]])
            seconds = (last - first) / (PASSES[1] - PASSES[0])
            print(
                f"{kind:9} {method:20} {n_words / seconds:12,.0f} words/s {n_pairs / seconds:10,.0f} pairs/s "
                f"{encoded:10,.0f} sentences/s encoded",
                flush=True,
            )


if __name__ == "__main__":
    main()
