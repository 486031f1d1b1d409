"""The search of the defaults: one parameter of a method at a time is moved away from its default.

    python benchmarks/quality/search_defaults.py --data DATA [--only METHOD ...] [--csv FILE]
        [--out doc/_results/quality]

A method learns from simplewiki and, apart from that, from books_small of DATA/corpora: CBOS and Siamese CBOW from all
of it, the others, which take several times as long, from the first 300,000 sentences. Every fit is judged by four
tasks: the mean of the 14 sets of STS 2012 to 2014 and the trial set of SICK (Pearson correlation x 100 of the cosine),
and MR and the training questions of TREC (accuracy in per cent of a logistic regression, as in which_method.py).

The rule, which stood before the search began:

- The defaults are measured with three seeds, other settings with one. The noise is the standard deviation between
  seeds, pooled over methods and texts. The gain of a setting is the mean of its eight differences to the defaults.
- A setting is "better" if its gain is more than twice the standard error of a gain, and if no task, as the mean of both
  texts, loses more than twice the standard error of that. It is "mixed" if a task does lose so much.
- A setting that takes half as long again or longer must gain a point for each doubling of the time; else it "costs".
- Better ones are measured with the other two seeds as well, and judged again. What is still better becomes the default.

Rows that FILE has are not measured again, so a stopped run goes on. Begin a new FILE after a default was changed.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    Word2VecVectorizer,
)

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import as_csv_table, how_measured
from which_method import accuracy, warm_up
from yardsticks import mean_score, pearson, read_labelled

TEXTS = {"wiki": "simplewiki", "books": "books_small"}
TASKS = {"sts": "STS", "sick": "SICK", "mr": "MR", "trec": "TREC"}
CLASSIFIED = {"mr": "MR", "trec": "TREC.train"}
COLUMNS = ["method", "setting", "text", "seed", *TASKS, "seconds"]
SEEDS = (0, 1, 2)
DEFAULTS = "the defaults"
REMOVED = "n_removed_components"  # of a mean of the vectors that the method learns
START = "start values"  # how much larger than ours they begin; no parameter


class Method(NamedTuple):
    """What is searched: the class, what is not its default, how much text, the settings beside the defaults."""

    kind: Any
    fixed: dict[str, Any]
    n_sentences: int | None
    settings: list[dict[str, Any]]


def moved(**values):
    """One setting for each of the values of each parameter."""
    return [{name: value} for name, several in values.items() for value in several]


def sgd(*rates):
    return [{"solver": "sgd", "learning_rate": rate} for rate in rates]


SENTENCE_GRID = [
    *moved(learning_rate=[0.03, 0.05, 0.2, 0.3], max_iter=[1, 2, 10], negative=[5, 20], weighting=["sif", "idf"]),
    *moved(n_components=[50, 200, 300], window=[2], pooling=["sum", "mean"], unknown=["zero"]),
    *moved(**{START: [0.25, 4, 16]}),
    *moved(learning_rate=[0.01, 0.07]),  # these two after a first look at the others
    *moved(max_sentence_length=[8, 16, 32, 64, None]),
]
WORD_GRID = [*moved(max_iter=[1, 2, 10], weighting=["sif"], unknown=["zero"], n_components=[50, 200])]
MEAN_GRID = [
    *moved(learning_rate=[0.1, 0.15, 0.6, 0.9], subsample=[1e-4, 1e-2], negative=[10]),
    *WORD_GRID,
    {"weighting": "sif", "n_removed_components": 1},
    *moved(**{START: [0.25, 4]}),
]
METHODS = {
    "CBOS": Method(CBOSVectorizer, {}, None, [*SENTENCE_GRID, *sgd(0.003, 0.01, 0.03)]),
    "Siamese CBOW": Method(
        SiameseCBOWVectorizer, {}, None, [*moved(temperature=[0.05, 0.2, 1.0]), *SENTENCE_GRID, *sgd(1e-5, 1e-4, 1e-3)]
    ),
    "Sent2Vec": Method(
        Sent2VecVectorizer,
        {},
        300_000,
        [
            *moved(learning_rate=[0.15, 0.25, 1.0, 1.5], subsample=[1e-5, 1e-3], negative=[5, 20]),
            *WORD_GRID,
            *sgd(0.1, 0.2),
            *moved(**{START: [0.25, 4]}),
            *moved(max_sentence_length=[8, 16, 32, 64, None]),
        ],
    ),
    "Skip-gram mean": Method(Word2VecVectorizer, {}, 300_000, [*MEAN_GRID, *sgd(0.025, 0.05)]),
    "CBOW mean": Method(Word2VecVectorizer, {"algorithm": "cbow"}, 300_000, [*MEAN_GRID, *sgd(0.05, 0.1)]),
    "Sent2Vec with bigrams": Method(
        Sent2VecVectorizer,
        {"ngram_range": (1, 2)},
        300_000,
        moved(learning_rate=[0.25, 1.0], dropout_k=[0, 4], subsample=[1e-3], max_iter=[10]),
    ),
    "BOWPCA": Method(
        BOWPCA,
        {},
        300_000,
        [*moved(n_components=[100, 200], weighting=["idf"], min_count=[5]), {"n_components": 100, "weighting": "idf"}],
    ),
}


def settings_of(method):
    """Text -> what is changed: nothing, then the settings that differ from the defaults."""
    defaults = {**method.kind().get_params(), REMOVED: 0, START: 1}
    settings = {DEFAULTS: {}}
    for setting in method.settings:
        if any(defaults[name] != value for name, value in setting.items()):
            settings[in_words(setting)] = setting
    return settings


def in_words(setting):
    """What is changed, or that nothing is."""
    changes = [f"{START} x {value:g}" if name == START else f"{name}={value!r}" for name, value in setting.items()]
    return ", ".join(changes) or DEFAULTS


def make(method, setting, seed):
    parameters = {name: value for name, value in setting.items() if name not in (REMOVED, START)}
    model = method.kind(**{**method.fixed, **parameters}, random_state=seed)
    if START in setting:
        plain = model._learned_arrays
        model._learned_arrays = lambda fitted: [scaled(array, setting[START]) for array in plain(fitted)]
    if REMOVED in setting:
        return MeanEmbeddingVectorizer(
            word_vectors=model, weighting=model.weighting, n_removed_components=setting[REMOVED]
        )
    return model


def scaled(array, factor):
    """The record of a learned array whose start values are multiplied by a factor."""

    def start(values, seed):
        array.start(values, seed)
        values *= factor

    return array._replace(start=start)


def measure(model, corpus, data):
    """The four tasks and the CPU seconds of the fit; nothing but the seconds if the weights run away."""
    start = time.process_time()
    try:
        model.fit(corpus)
    except ValueError as error:
        print(error)
        return dict.fromkeys(TASKS, np.nan) | {"seconds": time.process_time() - start}
    seconds = time.process_time() - start
    sets = {task: read_labelled(data / "eval" / "clf" / f"{name}.tsv") for task, name in CLASSIFIED.items()}
    return {
        "sts": mean_score(model.transform, data),
        "sick": pearson(model, data / "eval" / "sts" / "sick" / "trial.tsv"),
        **{task: accuracy(model.transform(sentences), labels) for task, (sentences, labels) in sets.items()},
        "seconds": seconds,
    }


class Search:
    """The rows of a CSV file, and how to measure one that it does not have."""

    def __init__(self, path, data):
        self.path, self.data = path, data
        if not path.exists():
            pd.DataFrame(columns=COLUMNS).to_csv(path, index=False)
        self.rows = pd.read_csv(path)
        self.corpora = {}

    def corpus(self, text, n_sentences):
        if (text, n_sentences) not in self.corpora:
            whole = SentenceCorpus.from_file(self.data / "corpora" / f"{TEXTS[text]}.txt.gz")
            self.corpora[text, n_sentences] = whole[:n_sentences]
        return self.corpora[text, n_sentences]

    def want(self, name, setting, seed):
        """Measure a setting on both texts, unless the file has it."""
        method = METHODS[name]
        for text in TEXTS:
            key = [name, setting, text, seed]
            if (self.rows[COLUMNS[:4]] == key).all(axis=1).any():
                continue
            corpus = self.corpus(text, method.n_sentences)
            warm_up(make(method, {}, seed), corpus)
            row = measure(make(method, settings_of(method)[setting], seed), corpus, self.data)
            print(*key, *(f"{name} {value:.2f}" for name, value in row.items()), flush=True)
            new = pd.DataFrame([[*key, *row.values()]], columns=COLUMNS)
            new.to_csv(self.path, index=False, header=False, mode="a", float_format="%.3f")
            self.rows = pd.read_csv(self.path)

    def run(self, name):
        for seed in SEEDS:
            self.want(name, DEFAULTS, seed)
        for setting in settings_of(METHODS[name]):
            self.want(name, setting, SEEDS[0])

    def confirm(self, name):
        """Measure what is better with the other seeds as well."""
        judged = judge(self.rows)
        for setting in judged.loc[[name]].query("verdict == 'better'").index.get_level_values("setting"):
            for seed in SEEDS[1:]:
                self.want(name, setting, seed)


def noise(rows):
    """Standard deviation between seeds of each task and of the mean of the tasks, pooled over methods and texts."""
    cells = with_mean(rows[rows.setting == DEFAULTS]).groupby(["method", "text"])
    many = cells.size() > 1
    variance = cells[[*TASKS, "mean"]].var()[many]
    return np.sqrt(variance.mul(cells.size()[many] - 1, axis=0).sum() / (cells.size()[many] - 1).sum())


def with_mean(rows):
    return rows.assign(mean=rows[list(TASKS)].mean(axis=1, skipna=False))


def judge(rows):
    """A row a method and setting: gain, times the time of the defaults, and the verdict by the rule."""
    on_both = rows.groupby(["method", "setting"])["text"].transform("nunique") == len(TEXTS)
    texts = with_mean(rows[on_both]).groupby(["method", "setting", "text"], sort=False)
    both = texts[[*TASKS, "mean", "seconds"]].mean().groupby(["method", "setting"], sort=False)
    means, diverges = both.mean(), both["mean"].count() < len(TEXTS)
    seeds = texts.size().groupby(["method", "setting"], sort=False).min()
    centre = means.xs(DEFAULTS, level="setting").reindex(means.index, level="method")
    seeds_of_centre = seeds.xs(DEFAULTS, level="setting").reindex(means.index, level="method")
    change = means[[*TASKS, "mean"]] - centre[[*TASKS, "mean"]]
    error = np.sqrt((1 / seeds + 1 / seeds_of_centre) / len(TEXTS))
    limit = pd.DataFrame(np.outer(2 * error, noise(rows)), index=error.index, columns=change.columns)
    longer = means.seconds / centre.seconds
    least = np.log2(longer.where(longer >= 1.5, 1))
    verdict = np.select(
        [
            diverges,
            change["mean"] < -limit["mean"],
            change["mean"] <= limit["mean"],
            (change[list(TASKS)] < -limit[list(TASKS)]).any(axis=1),
            change["mean"] < least,
        ],
        ["diverges", "worse", "", "mixed", "costs"],
        "better",
    )
    result = pd.DataFrame({"gain": change["mean"], "longer": longer, "seeds": seeds, "verdict": verdict})
    return result.drop(index=DEFAULTS, level="setting")


def table_of(name, rows, judged):
    """The table of a method as the documentation shows it."""
    method, own = METHODS[name], rows[rows.method == name]
    scores = own.groupby(["setting", "text"], sort=False)[list(TASKS)].mean()
    header = ["", "gain", *(f"{text} {task}" for text in TEXTS for task in TASKS.values()), "time"]
    lines = [header]
    for setting in settings_of(method):
        if setting != DEFAULTS and (name, setting) not in judged.index:
            continue  # not measured yet
        numbers = [f"{value:.1f}" for value in scores.loc[setting].loc[list(TEXTS)].to_numpy().ravel()]
        if setting == DEFAULTS:
            line = [setting, "", *numbers, ""]
        else:
            row = judged.loc[(name, setting)]
            seeds = f" ({row.seeds:.0f} seeds)" if row.seeds > 1 else ""
            gain = "" if np.isnan(row.gain) else f"{row.gain:+.1f} "
            label = setting.replace("'", "") + seeds
            line = [label, (gain + row.verdict).strip(), *numbers, f"{row.longer:.1f}"]
        line = ["" if entry == "nan" else entry for entry in line]
        lines.append([f"**{entry}**" if entry and setting == DEFAULTS else entry for entry in line])
    return as_csv_table(name, lines)


def as_rst(rows):
    judged, spread = judge(rows), noise(rows)
    between = ", ".join(f"{title} {spread[task]:.2f}" for task, title in TASKS.items())
    tables = [table_of(name, rows, judged) for name in METHODS if name in set(rows.method)]
    return "\n".join(tables) + (
        f"\nStandard deviation between seeds: {between}, mean of the four {spread['mean']:.2f}. Measured "
        f"{time.strftime('%Y-%m-%d')} on "
        + how_measured("python benchmarks/quality/search_defaults.py --data DATA --out doc/_results/quality")
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--csv", type=Path, default=Path("search_defaults.csv"))
    parser.add_argument("--out", type=Path, help="folder for the tables, defaults_search.inc")
    options = parser.parse_args()
    search = Search(options.csv, options.data)
    for name in options.only:
        search.run(name)
    for name in options.only:
        search.confirm(name)
    tables = as_rst(search.rows)
    print(tables)
    if options.out is not None:
        (options.out / "defaults_search.inc").write_text(tables, encoding="utf8")


if __name__ == "__main__":
    main()
