"""The tables of the paper on the convolutional sentence encoder (CSE), beside what the estimators reach.

    python benchmarks/quality/cse_tables.py --data DATA --pairs PAIRS [--start FILE] [--aside PUBLISHED] [--quick]
        [--out doc/_results/quality]

The paper learns from the phrase pairs of PPDB XL, then from 167,689 pairs of Simple and English Wikipedia, and starts
from the Paragram vectors. Here the word pairs of PPDB XL stand for the phrases, 40 thousand pairs of Simple and English
Wikipedia for its sentences, and the start are vectors that learned from the text in DATA. So compare rows of the same
side with each other. STS 2015 and 2016 are kept aside: with --aside they are reported, from the published files in
PUBLISHED/sts2015 and sts2016, and nothing is chosen by them.
"""

import gzip
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from beat_tfidf import read_published
from measuring import arguments
from pairs_sts import START, read_lexicon, start_of
from papers.systems import JIAO, STS_SETS
from papers.tables import published_results
from reporting import report
from yardsticks import TFIDF, pearson, tfidf_of_stems

from skembed import CSEVectorizer, PairCorpus, ParaphraseVectorizer
from skembed.evaluation import sts_scores, sts_similarities

SICK = "SICK test"
YEARS = ("2012", "2013", "2014")  # those that are measured without --aside
SETS = {year: [f"{year}/{name}" for name in names if name != "SMT"] for year, names in STS_SETS.items()}
MEASURED = [name for year in YEARS for name in SETS[year]]
TOTAL = "mean of all above"
HERE = ("PP, the paper's setting", "CSE, the paper's setting", "PP", "CSE, linear", "CSE, tanh")
# File -> title, years, systems of the paper, pairs that the models here learn from.
TABLES = {
    "cse_phrases": (
        "Table 1 of the paper: learned from phrases, here from words",
        [*YEARS, "2015"],
        ["PP (PPDB)", "CSE (PPDB)"],
        "words",
    ),
    "cse_sentences": (
        "Table 2 of the paper: learned from phrases, here from words, then from sentences",
        list(SETS),
        ["GRAN (SimpWiki)", "ATT-CCG (SimpWiki)", "CSE (SimpWiki)"],
        "words, then sentences",
    ),
}
NOTES = (
    "Means are of the figures above them. What is empty is not in the paper. Nothing was chosen by the sets of 2015 "
    "and 2016."
)
# What CSE of table 4 learned from.
PAPER_MEANS = {"CSE (PPDB)": "phrases", "CSE (sentences)": "sentences", "CSE (SimpWiki)": "phrases, then sentences"}
LINEAR = {"activation": "identity"}
# A rate and passes at which pairs of each kind do not undo what the start knew.
WORDS = {"learn": "directions", "learning_rate": 3e-4, "max_iter": 12}
SENTENCES = {"learning_rate": 3e-4, "max_iter": 4}
COMMON = {"random_state": 0, "n_jobs": 2}


def paper_of(cls, name):
    """The setting of the paper, but for the size of the vectors, which is that of the start."""
    return {key: value for key, value in cls._paper_settings[name].items() if key != "n_components"}


def scores_of(model, data, aside):
    """Set -> Pearson x 100, of the sets kept aside too."""
    scores = {name: pearson(model, data / "eval" / "sts" / f"{name}.tsv") for name in MEASURED}
    scores[SICK] = pearson(model, data / "eval" / "sts" / "sick" / "test.tsv")
    rows = sts_scores(sts_similarities(model, aside)) if aside else []
    return scores | {f"{row['year']}/{row['set']}": 100 * row["pearson"] for row in rows}


def published():
    """System -> set -> Pearson x 100, as the paper prints them."""
    scores = {}
    for row in [*published_results("sts"), *published_results("sick")]:
        if (row["source"], row["metric"]) == (JIAO, "pearson"):
            name = SICK if row["table"] == "sick" else row["set"]
            scores.setdefault(row["method"], {})[name] = row["value"]
    return scores


def with_means(scores, years):
    """The scores, and the means of the years, of the 14 sets and of all, as far as each of their sets is there."""
    groups = {f"{year} mean": SETS[year] for year in years}
    groups |= {"14 sets": MEASURED, TOTAL: [*(name for year in years for name in SETS[year]), SICK]}
    means = {
        name: float(np.mean([scores[one] for one in sets]))
        for name, sets in groups.items()
        if scores.keys() >= set(sets)
    }
    return means | scores


def by_set(found, years, systems, pairs):
    """A row for each set and mean: the paper's systems, and models here; what is not measured is empty."""
    columns = {f"paper: {name.split(' (')[0]}": with_means(published()[name], years) for name in systems}
    columns |= {"tf-idf": with_means(found.get(TFIDF, {}), years)}
    columns |= {f"here: {name}": with_means(found[f"{name}: {pairs}"], years) for name in HERE}
    names = [name for year in years for name in (*SETS[year], f"{year} mean")] + [SICK, TOTAL, "14 sets"]
    return [{"set": name, **{title: cell(scores.get(name)) for title, scores in columns.items()}} for name in names]


def cell(score):
    return "" if score is None else f"{score:.1f}"


def by_model(found, seconds):
    """A row for each model here and in table 4 of the paper: means of the years."""
    years = [*YEARS, "2015"]
    means = {name: with_means(scores, years) for name, scores in found.items()}
    means |= {f"CSE in the paper: {pairs}": with_means(published()[name], years) for name, pairs in PAPER_MEANS.items()}
    columns = {year: f"{year} mean" for year in years} | {"14 sets": "14 sets", SICK: SICK}
    return [
        {
            "model": name,
            **{title: cell(scores.get(column)) for title, column in columns.items()},
            "CPU s": seconds.get(name, ""),
        }
        for name, scores in means.items()
    ]


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
        yield f"{name}, the paper's setting: sentences", cls(**setting), sentences
        yield f"{name}, the paper's setting: words, then sentences", cls(**setting), [words, sentences]


def main():
    options = arguments(
        __doc__,
        pairs={"type": Path, "required": True, "help": "folder with the pairs"},
        start=START,
        aside={"type": Path, "metavar": "PUBLISHED", "help": "folder with sts2015 and sts2016, to report them too"},
    )
    start = start_of(options)
    n_pairs = 3000 if options.quick else None
    tokens = {"stemmer": "english"}
    words = PairCorpus.from_pairs(read_lexicon(options.pairs / "ppdb_xl_lexical.tsv.gz")[:n_pairs], **tokens)
    wiki = [pair for name in ("simpwiki", "altlex") for pair in read_wiki(options.pairs, name)]
    sentences = PairCorpus.from_pairs(wiki[:n_pairs], **tokens)
    aside = read_published(options.aside) if options.aside else {}
    found, used = {}, {}
    for name, model, pairs in models(start, words, sentences):
        began = time.process_time()
        if pairs is not None:
            model.fit(pairs)
        found[name] = scores_of(model, options.data, aside)
        used[name] = f"{time.process_time() - began:.0f}"
        print(by_model({name: found[name]}, used)[0], flush=True)
    notes = f"{len(words):,} pairs of words, {len(sentences):,} of sentences."
    title = "Table 4 of the paper, by what was learned from: means of the years, and SICK"
    report(options, "cse_means", title, by_model(found, used), notes=notes)
    for name, (title, *columns) in TABLES.items():
        report(options, name, title, by_set(found, *columns), notes=NOTES)


def read_wiki(folder, name):
    """Pairs of sentences; of those that were aligned by their words, the ones with a cosine of 0.7 or more."""
    file = {"simpwiki": "simpwiki_selfaligned.tsv.gz", "altlex": "altlex_wiki.tsv.gz"}[name]
    with gzip.open(folder / file, "rt", encoding="utf8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    rows = [row for row in rows if len(row) < 3 or float(row[2]) >= 0.7]
    return [tuple(row[:2]) for row in rows if all(re.search(r"\w", side) for side in row[:2])]


if __name__ == "__main__":
    main()
