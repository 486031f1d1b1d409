"""How fast do PP and CSE learn on one core, from pairs of sentences and of words, and how fast do they make rows?

    python benchmarks/speed/pairs.py --data DATA --pairs PAIRS [--out doc/_results/speed]

PAIRS is a folder with `altlex_wiki.tsv.gz` and `ppdb_xl_lexical.tsv.gz`, a pair a line. A pass is the difference of two
fits, over the passes between them, so it holds no start-up; a pass over a corpus encodes no text. Seconds are those of
the processor, so that other programs on the machine count little.
"""

import gzip
import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Worker, arguments, cpu_seconds, median, public, rounds_of
from reporting import report

FILES = {"sentences": "altlex_wiki.tsv.gz", "words": "ppdb_xl_lexical.tsv.gz"}
METHODS = {
    "PP softmax": ("ParaphraseVectorizer", {}),
    "PP hinge": ("ParaphraseVectorizer", {"loss": "hinge"}),
    "CSE tanh": ("CSEVectorizer", {}),
    "CSE linear": ("CSEVectorizer", {"activation": "identity"}),
    "CSE linear, narrow": ("CSEVectorizer", {"activation": "identity", "padding": "narrow"}),
    # From the order of the same sentences, to compare how fast rows are made.
    "CBOS": ("CBOSVectorizer", {"min_count": 1}),
}
PASSES = (1, 4)
COLUMNS = "words/s", "pairs/s", "sentences/s encoded"


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
    make = partial(public()[name], 300, **options)
    text = pairs.sentences if name == "CBOSVectorizer" else pairs
    fitted = make(max_iter=1, n_jobs=1).fit(text[:300])  # compiles
    fitted.transform(sentences[:100])

    def task(passes):
        model = make(max_iter=passes, batch_size=128, random_state=0, n_jobs=1).fit(text)
        seconds = []
        for _ in range(5):  # the first time the rows take new memory
            start = cpu_seconds()
            model.transform(sentences)
            seconds.append(cpu_seconds() - start)
        return [pairs.sentences.n_tokens, len(pairs), len(sentences) / median(seconds)]

    return task


def main():
    options = arguments(__doc__, pairs={"type": Path, "required": True, "help": "folder with the pairs"})
    speed = {}
    for kind, file in FILES.items():
        for method in METHODS:
            if (kind, method) == ("words", "CBOS"):
                continue  # words alone have no order
            worker = Worker(__file__, "prepare", path=str(options.pairs / file), method=method)
            runs = {passes: partial(worker.run, passes=passes) for passes in PASSES}
            found = rounds_of(runs, options.rounds)
            worker.close()
            first, last = (median([run["cpu"] for run in found[passes]]) for passes in PASSES)
            n_words, n_pairs, _ = found[PASSES[0]][0]["value"]
            encoded = median([run["value"][2] for run in found[PASSES[0]]])
            seconds = (last - first) / (PASSES[1] - PASSES[0])
            speed[kind, method] = n_words / seconds, n_pairs / seconds, encoded
            print(kind, method, *(f"{value:,.0f}" for value in speed[kind, method]), flush=True)
    rows = [
        dict(zip(("pairs of", "method", *COLUMNS), (*key, *(f"{value:,.0f}" for value in values))))
        for key, values in speed.items()
    ]
    notes = "Batches of 128 pairs, 300 dimensions, one core."
    report(options, "pairs", "Learning from pairs, on one core", rows, notes=notes)


if __name__ == "__main__":
    main()
