"""Is a setting that the search of the defaults found better also better on smaller texts?

    python benchmarks/quality/small_texts.py --data DATA [--only METHOD ...] [--csv FILE] [--out doc/_results/quality]

Settings that `search_defaults.py` judged better, apart from the number of components, learn from the docstrings of
`load_docstrings` and from the first 10,000 and 65,000 sentences of DATA/corpora/simplewiki.txt.gz and
books_small.txt.gz, with three seeds. The five tasks are those of `which_method.py`: STS 2012 to 2014, the trial set of
SICK, MR, the training questions of TREC, and k-means clusters of Opinosis. What is shown is the mean difference to the
defaults with the same seed. Rows that FILE has are not measured again.
"""

import argparse
import sys
import time
from pathlib import Path

import pandas as pd

from skembed import SentenceCorpus
from skembed.datasets import load_docstrings

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import as_csv_table, how_measured
from search_defaults import DEFAULTS, METHODS, SEEDS, START, TEXTS, in_words, make, moved
from which_method import measure

SETTINGS = {
    "CBOS": [{}, *moved(learning_rate=[0.07], max_sentence_length=[8, 32])],
    "Siamese CBOW": [{}, {START: 16}, {"max_sentence_length": 16}],
}
SIZES = (10_000, 65_000)
SHOWN = {"sts": "STS", "sick": "SICK", "mr": "MR", "trec": "TREC", "opinosis": "Opinosis"}
COLUMNS = ["method", "setting", "text", "seed", *SHOWN]


def make_texts(data):
    """Name -> corpus."""
    docstrings = load_docstrings()
    texts = {"docstrings": SentenceCorpus.from_sentences(docstrings.data, groups=docstrings.groups)}
    for name, file in TEXTS.items():
        whole = SentenceCorpus.from_file(data / "corpora" / f"{file}.txt.gz")
        texts |= {f"{name} {size:,}": whole[:size] for size in SIZES}
    return texts


def measure_all(names, texts, data, path):
    """A row for each method, setting, text and seed; those that the file has are not measured."""
    if not path.exists():
        pd.DataFrame(columns=COLUMNS).to_csv(path, index=False)
    done = {tuple(key) for key in pd.read_csv(path)[COLUMNS[:4]].itertuples(index=False)}
    for name in names:
        for setting in SETTINGS[name]:
            for text, corpus in texts.items():
                for seed in SEEDS:
                    key = (name, in_words(setting), text, seed)
                    if key in done:
                        continue
                    scores = measure(make(METHODS[name], setting, seed).fit(corpus), data)
                    print(*key, *(f"{task} {scores[task]:.2f}" for task in SHOWN), flush=True)
                    row = pd.DataFrame([[*key, *(scores[task] for task in SHOWN)]], columns=COLUMNS)
                    row.to_csv(path, index=False, header=False, mode="a", float_format="%.3f")
    return pd.read_csv(path)


def changes_of(rows):
    """Mean difference to the defaults with the same seed, by method, setting and text."""
    keys = ["method", "text", "seed"]
    defaults = rows[rows.setting == DEFAULTS].set_index(keys)[list(SHOWN)]
    others = rows[rows.setting != DEFAULTS].set_index([*keys, "setting"])[list(SHOWN)]
    change = others - defaults.reindex(others.index.droplevel("setting")).to_numpy()
    return change.groupby(["method", "setting", "text"], sort=False).mean()


def as_rst(rows):
    changes = changes_of(rows)
    changes["mean"] = changes.mean(axis=1)
    lines = [[*key, *(f"{value:+.1f}" for value in row)] for key, row in zip(changes.index, changes.to_numpy())]
    table = as_csv_table(
        "Smaller texts: difference to the defaults, mean of three seeds",
        [["method", "setting", "text", *SHOWN.values(), "mean"], *lines],
    )
    spread = rows[rows.setting == DEFAULTS].groupby(["method", "text"])[list(SHOWN)].var().mean() ** 0.5
    between = ", ".join(f"{title} {spread[task]:.2f}" for task, title in SHOWN.items())
    return (
        f"{table}\nStandard deviation between seeds: {between}. Measured {time.strftime('%Y-%m-%d')} on "
        + how_measured("python benchmarks/quality/small_texts.py --data DATA --out doc/_results/quality")
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--csv", type=Path, default=Path("small_texts.csv"))
    parser.add_argument("--out", type=Path, help="folder for the table, small_texts.inc")
    options = parser.parse_args()
    rows = measure_all(options.only, make_texts(options.data), options.data, options.csv)
    table = as_rst(rows)
    print(table)
    if options.out is not None:
        (options.out / "small_texts.inc").write_text(table, encoding="utf8")


if __name__ == "__main__":
    main()
