"""The tables of the paper on the convolutional sentence encoder (CSE), beside what the estimators reach.

    python benchmarks/quality/cse_tables.py --data DATA --pairs PAIRS [--quick] [--out doc/_results/quality]

The paper learns from the phrase pairs of PPDB XL, then from 167,689 pairs of Simple and English Wikipedia, and starts
from the Paragram vectors. Here the word pairs of PPDB XL stand for the phrases, 40 thousand pairs of Simple and English
Wikipedia for its sentences, and the start are vectors that learned from the text in DATA. So compare rows of the same
side with each other. STS 2015 and 2016 are not computed: their sentences are kept aside.
"""

import gzip
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from pairs_sts import START, read_lexicon, start_of
from reporting import report
from yardsticks import TFIDF, pearson, tfidf_of_stems

from skembed import CSEVectorizer, PairCorpus, ParaphraseVectorizer

# File -> PP and CSE from phrases (table 1), CSE from sentences after phrases (table 2).
PAPER = {
    "2012/MSRpar": (42.6, 51.6, 48.6),
    "2012/MSRvid": (74.5, 79.8, 86.0),
    "2012/SMTeuroparl": (47.3, 50.7, 49.8),
    "2012/OnWN": (70.6, 69.9, 72.6),
    "2012/SMTnews": (58.4, 64.4, 57.8),
    "2013/headlines": (72.4, 74.0, 76.3),
    "2013/OnWN": (67.7, 72.1, 78.5),
    "2013/FNWN": (43.9, 29.8, 51.5),
    "2014/deft-forum": (48.7, 56.1, 58.1),
    "2014/deft-news": (73.1, 70.0, 77.1),
    "2014/headlines": (69.7, 70.9, 74.6),
    "2014/images": (78.5, 81.6, 86.2),
    "2014/OnWN": (78.8, 79.2, 84.2),
    "2014/tweet-news": (76.4, 74.6, 77.7),
    "sick/test": (71.6, 71.9, 73.0),
}
# The means of table 4: CSE from phrases, from sentences, from both.
PAPER_MEANS = {"2012": (63.3, 62.0, 63.0), "2013": (58.6, 67.3, 68.8), "2014": (72.1, 75.0, 76.3)}
LINEAR = {"activation": "identity"}
# A rate and passes at which pairs of each kind do not undo what the start knew.
WORDS = {"learn": "directions", "learning_rate": 3e-4, "max_iter": 12}
SENTENCES = {"learning_rate": 3e-4, "max_iter": 4}
COMMON = {"random_state": 0, "n_jobs": 2}


def paper_of(cls, name):
    """The setting of the paper, but for the size of the vectors, which is that of the start."""
    return {key: value for key, value in cls._paper_settings[name].items() if key != "n_components"}


def scores_of(model, data):
    return {name: pearson(model, data / "eval" / "sts" / f"{name}.tsv") for name in PAPER}


def means_of(scores):
    years = {
        year: float(np.mean([score for name, score in scores.items() if name.startswith(year)])) for year in PAPER_MEANS
    }
    sets = [score for name, score in scores.items() if not name.startswith("sick")]
    return years | {"14 sets": float(np.mean(sets)), "sick/test": scores["sick/test"]}


def models(start, words, sentences):
    """Name -> estimator, and the sets of pairs that it learns from."""
    yield TFIDF, tfidf_of_stems(), None
    yield "start", start, None
    for name, cls, options in (
        ("PP", ParaphraseVectorizer, {}),
        ("CSE, linear", CSEVectorizer, LINEAR),
        ("CSE, tanh", CSEVectorizer, {}),
    ):
        make = {"init": start, **options, **COMMON}
        yield f"{name}: words", cls(**make, **WORDS), words
        yield f"{name}: sentences", cls(**make, **SENTENCES), sentences
        yield f"{name}: words, then sentences", cls(**make, **SENTENCES), [words, sentences]
    for name, cls in (("PP", ParaphraseVectorizer), ("CSE", CSEVectorizer)):
        setting = {"init": start, **paper_of(cls, name), **COMMON}
        yield f"{name}, the paper's setting: words", cls(**setting), words
        yield f"{name}, the paper's setting: words, then sentences", cls(**setting), [words, sentences]


def main():
    options = arguments(
        __doc__,
        pairs={"type": Path, "required": True, "help": "folder with the pairs"},
        start=START,
    )
    start = start_of(options)
    n_pairs = 3000 if options.quick else None
    tokens = {"stemmer": "english"}
    words = PairCorpus.from_pairs(read_lexicon(options.pairs / "ppdb_xl_lexical.tsv.gz")[:n_pairs], **tokens)
    wiki = [pair for name in ("simpwiki", "altlex") for pair in read_wiki(options.pairs, name)]
    sentences = PairCorpus.from_pairs(wiki[:n_pairs], **tokens)
    found, rows = {}, []
    for name, model, pairs in models(start, words, sentences):
        began = time.process_time()
        if pairs is not None:
            model.fit(pairs)
        found[name] = scores_of(model, options.data)
        seconds = time.process_time() - began
        rows.append({"model": name, **{key: f"{score:.1f}" for key, score in means_of(found[name]).items()}})
        rows[-1]["CPU s"] = f"{seconds:.0f}"
        print(rows[-1], flush=True)
    for index, pairs in enumerate(("phrases", "sentences", "phrases, then sentences")):
        means = {year: f"{of_pairs[index]:.1f}" for year, of_pairs in PAPER_MEANS.items()}
        rows.append({"model": f"CSE in the paper: {pairs}", **means})
    notes = f"{len(words):,} pairs of words, {len(sentences):,} of sentences."
    report(options, "cse_means", "Means of the years, and SICK", rows, notes=notes, raw=found)
    shown = ("PP: words", "CSE, linear: words", "CSE, tanh: words", "CSE, tanh: words, then sentences")
    sets = [
        {
            "set": name,
            "paper: PP, phrases": paper[0],
            "CSE, phrases": paper[1],
            "CSE, then sentences": paper[2],
            **{f"here: {model}": f"{found[model][name]:.1f}" for model in shown},
        }
        for name, paper in PAPER.items()
    ]
    report(options, "cse_sets", "Every set", sets)


def read_wiki(folder, name):
    """Pairs of sentences; of those that were aligned by their words, the ones with a cosine of 0.7 or more."""
    file = {"simpwiki": "simpwiki_selfaligned.tsv.gz", "altlex": "altlex_wiki.tsv.gz"}[name]
    with gzip.open(folder / file, "rt", encoding="utf8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    rows = [row for row in rows if len(row) < 3 or float(row[2]) >= 0.7]
    return [tuple(row[:2]) for row in rows if all(re.search(r"\w", side) for side in row[:2])]


if __name__ == "__main__":
    main()
