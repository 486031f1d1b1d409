"""The figures of the papers as curves, learned from Simple English Wikipedia.

    python benchmarks/paper_figures.py --data DATA --out doc/reproduction [--only NAME ...] [--points FILE]

DATA/corpora holds simplewiki.txt.gz, which is learned from, and books_small.txt.gz for the norms of words;
DATA/original holds the evaluation sets as published. Each curve is drawn with the setting of its paper and with our
defaults, and again from every tenth document of the text. A score is the mean Pearson correlation, times 100, over the
14 STS sets of 2012 to 2014. Points that FILE has already are not measured again, so a stopped run goes on.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from measuring import arguments
from reporting import bars, report
from sklearn.svm import LinearSVC

from skembed import SentenceCorpus
from skembed.evaluation import error_agreement, published_results, semantic_classification, sts_scores, sts_similarities
from skembed.evaluation._data import EvaluationData
from skembed.evaluation._methods import METHODS
from skembed.inspection import ErrorAgreementDisplay, NormProfileDisplay

YEARS = (2012, 2013, 2014)
SEEDS = (0, 1, 2)
MEAN = "mean of 14 sets"
PAPER, DEFAULTS, EVEN = "paper's setting", "our defaults", "words move as far with any"
COLOURS = {PAPER: "C3", DEFAULTS: "C0"}
FAINT = ", a tenth of the text"


class Line(NamedTuple):
    """One line of a figure: a method by its name in skembed.evaluation, changed, and the text it learns from."""

    method: str
    changes: dict = {}
    text: str = "all"
    seed: int = 0


class Curve(NamedTuple):
    """A figure: what varies, over which values, which lines, which sets are named, and what the paper has."""

    title: str
    parameter: str
    label: str
    values: list
    base: float
    lines: dict
    shown: tuple  # lines whose single sets are drawn
    named_sets: list
    published: tuple | None = None
    log: bool = False

    def changes(self, label, value):
        """Parameters of a point."""
        rate = self.lines[label].changes.get("learning_rate")
        if self.parameter == "n_components" and rate:
            # A row of ours begins with a squared length of 1 / 12 d, the paper's with d / 10,000: a step that moves
            # both as far, in proportion, has a rate that falls with the square of d.
            return {"n_components": value, "learning_rate": rate * (300 / value) ** (1 if label == EVEN else 2)}
        return {self.parameter: value}


SETS_OF_2014 = [f"2014/{name}" for name in ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")]
NAMED_SETS = ["2012/MSRvid", "2013/OnWN", "2013/FNWN", "2014/deft-news", "2014/deft-forum"]
# The paper's blocks of 10 have no room for 5 neighbours on each side and 20 strangers; 60 have.
CBOS = {PAPER: Line("CBOS, paper", {"batch_size": 60}), DEFAULTS: Line("CBOS, defaults")}
CBOS |= {name + FAINT: line._replace(text="tenth") for name, line in CBOS.items()}
# The paper's rate is for its start values. This one moves ours as far, in proportion, as its one pass moves its own.
SIAMESE = {
    PAPER: Line("Siamese CBOW, paper", {"learning_rate": 1e-6}),
    DEFAULTS: Line("Siamese CBOW, defaults"),
}
SIAMESE |= {name + FAINT: line._replace(text="tenth") for name, line in SIAMESE.items()}
TO_MOVE_EVENLY = SIAMESE | {EVEN: SIAMESE[PAPER]}
TEMPERATURES = {
    "temperature 1, as the paper": Line("Siamese CBOW, paper"),
    "temperature 0.1": Line("Siamese CBOW, paper", {"temperature": 0.1}),
    "temperature 1, a tenth of the text": Line("Siamese CBOW, paper", text="tenth"),
}
OF_CBOS = (CBOS, (PAPER, DEFAULTS), SETS_OF_2014, ("Yuan and Zhang 2017", "CBOS"))
OF_SIAMESE = (SIAMESE, (PAPER, DEFAULTS), NAMED_SETS, ("Kenter et al. 2016", "Siamese CBOW"))
OF_RATES = (TEMPERATURES, tuple(TEMPERATURES)[:2], NAMED_SETS)
SENTENCES, RATES = "random sentences", [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]
CURVES = {
    "cbos_context": Curve("CBOS: sentences of context", "window", "sentences on each side", [1, 2, 3, 5], 1, *OF_CBOS),
    "cbos_negatives": Curve("CBOS: negatives", "negative", SENTENCES, [1, 2, 3, 5, 10, 20], 2, *OF_CBOS, log=True),
    "siamese_passes": Curve("Siamese CBOW: passes", "max_iter", "passes", [1, 2, 3, 4, 5], 1, *OF_SIAMESE),
    "siamese_negatives": Curve(
        "Siamese CBOW: negatives", "negative", SENTENCES, [1, 2, 5, 10, 20], 2, *OF_SIAMESE, log=True
    ),
    "siamese_dimensions": Curve(
        "Siamese CBOW: dimensions",
        "n_components",
        "dimensions",
        [50, 100, 200, 300],
        300,
        TO_MOVE_EVENLY,
        *OF_SIAMESE[1:],
    ),
    "siamese_rates": Curve(
        "Siamese CBOW: rate of one pass of SGD", "learning_rate", "learning rate", RATES, 1e-4, *OF_RATES, log=True
    ),
}
STEPS = {
    "paper's setting": {},
    "... one pass": {"max_iter": 1},
    "... blocks of 60": {"batch_size": 60},
    "... stems": {"stemmer": "english"},
    "... 10 negatives, blocks of 60": {"negative": 10, "batch_size": 60},
    "... AdaGrad, rate 0.1, 5 passes": {"solver": "adagrad", "learning_rate": 0.1, "max_iter": 5, "batch_size": "auto"},
}
# Figure 1 of Pagliardini et al. shows words of the Toronto books, learned from words alone.
BOOKS = {"max_iter": 13, "min_count": 5, "min_target_count": 8}
SENT2VEC = {
    PAPER: Line("Sent2Vec, paper (wiki unigrams, d=100)", BOOKS),
    DEFAULTS: Line("Sent2Vec, defaults"),
    PAPER + FAINT: Line("Sent2Vec, paper (wiki unigrams, d=100)", BOOKS, text="tenth"),
    f"{PAPER}, AdaGrad": Line(
        "Sent2Vec, paper (wiki unigrams, d=100)", {**BOOKS, "solver": "adagrad", "learning_rate": 0.5}
    ),
}
BANDS = (5, 10, 30, 100, 300, 1000, 10_000, 100_000, 10_000_000)  # how often words occur
LOWEST = "to of and the a in that with on as".split()
HIGHEST = "had they we me my he her you she i".split()
SOWE_C = "SOWE, C=0.01"
FOLDS_OF = {
    "BOW": Line("BOW"),
    "PCA BOW": Line("BOWPCA"),
    "MOWE": Line("skip-gram mean, defaults"),
    "SOWE": Line("skip-gram mean, defaults"),
    SOWE_C: Line("skip-gram mean, defaults"),
    "Sent2Vec": Line("Sent2Vec, defaults"),
    "Siamese": Line("Siamese CBOW, defaults"),
    "CBOS": Line("CBOS, defaults"),
}


class Bench:
    """The texts, the sets, and the points that are known."""

    def __init__(self, options):
        self.data, self.path, self.jobs = options.data, options.points, options.jobs
        path = options.corpus or options.data / "corpora" / "simplewiki.txt.gz"
        whole = SentenceCorpus.load(path) if path.is_dir() else SentenceCorpus.from_file(path, n_jobs=2)
        if options.quick:
            whole = whole[: whole.n_sentences // 100]
        self.texts = {"all": whole, "tenth": whole[whole.doc_of() % 10 == 0]}
        self.sets = EvaluationData(options.data / "original")
        self.years = {year: self.sets.sts(year) for year in YEARS}
        self.points = json.loads(self.path.read_text(encoding="utf8")) if self.path and self.path.exists() else {}

    def text(self, name):
        if name == "books" and name not in self.texts:
            self.texts[name] = SentenceCorpus.from_file(self.data / "corpora" / "books_small.txt.gz", n_jobs=2)
        return self.texts[name]

    def make(self, line, **changes):
        return (
            METHODS[line.method].make(self.text(line.text), line.seed, self.jobs).set_params(**line.changes | changes)
        )

    def fit(self, line):
        return self.make(line).fit(self.text(line.text))

    def scores(self, line, **changes):
        """Set -> correlation times 100, and their mean."""
        key = self._key(line, changes)
        if key not in self.points:
            print(key, end=": ", flush=True)
            self._keep(key, self.make(line, **changes).fit(self.text(line.text)))
        return self.points[key]

    def scores_of_passes(self, line, passes):
        """Scores of one training after each pass, whose learning rate does not fall."""
        keys = {n: f"{self._key(line, {})} after pass {n}" for n in passes}
        if any(key not in self.points for key in keys.values()):
            model = self.make(line)
            for n in range(1, max(passes) + 1):
                print(keys.get(n, n), end=": ", flush=True)
                self._keep(keys.get(n, ""), model.partial_fit(self.text(line.text)))
        return {n: self.points[key] for n, key in keys.items()}

    def _key(self, line, changes):
        """What makes a model: changes that change nothing leave it as it is."""
        plain = METHODS[line.method].make(self.text(line.text), line.seed, self.jobs).get_params()
        changed = {name: value for name, value in (line.changes | changes).items() if plain[name] != value}
        settings = ", ".join(f"{name}={changed[name]}" for name in sorted(changed))
        return f"{line.method} | {settings} | {line.text} | seed {line.seed}"

    def judge(self, model):
        rows = sts_scores(sts_similarities(model, self.years))
        found = {f"{r['year']}/{r['set']}": 100 * r["pearson"] for r in rows if not r["set"].endswith("mean")}
        return found | {MEAN: next(100 * r["pearson"] for r in rows if (r["year"], r["set"]) == ("all", "mean"))}

    def _keep(self, key, model):
        found = self.judge(model)
        print(f"{found[MEAN]:.2f}", flush=True)
        self.points[key] = found
        if self.path:
            self.path.write_text(json.dumps(self.points, indent=1) + "\n", encoding="utf8")


def published_mean(source, method):
    """The mean of a paper's table over the sets that we have; what its figures show is not in numbers."""
    values = [
        row["value"]
        for row in published_results("sts")
        if (row["source"], row["method"], row["metric"]) == (source, method, "pearson")
        and row["set"].startswith(tuple(str(year) for year in YEARS))
        and row["set"] != "2013/SMT"  # licensed
    ]
    return float(np.mean(values))


def report_curve(bench, options, name):
    curve = CURVES[name]
    if curve.parameter == "max_iter":
        scores = {label: bench.scores_of_passes(line, curve.values) for label, line in curve.lines.items()}
    else:
        scores = {
            label: {value: bench.scores(line, **curve.changes(label, value)) for value in curve.values}
            for label, line in curve.lines.items()
        }
    rows = [
        {curve.label: f"{value:g}"} | {label: round(points[value][MEAN], 1) for label, points in scores.items()}
        for value in curve.values
    ]
    text = bench.texts["all"]
    notes = [
        "Mean Pearson correlation, times 100, over the 14 STS sets of 2012 to 2014. All the text is "
        f"{text.n_tokens / 1e6:.1f} million words in {text.n_sentences / 1e6:.2f} million sentences."
    ]
    if curve.published:
        published = published_mean(*curve.published)
        notes.append(f"The paper's table has {published:.1f} at {curve.base:g}, from a billion words.")
        if curve.parameter != "max_iter":
            notes += [seeds_of(bench, curve, label + FAINT) for label in curve.shown]
    raw = {label: {f"{value:g}": points[value] for value in curve.values} for label, points in scores.items()}
    report(options, name, curve.title, rows, notes=" ".join(notes), raw=raw, draw=draw_curve(curve, scores))


def seeds_of(bench, curve, label):
    line = curve.lines[label]
    changes = curve.changes(label, curve.base)
    means = [bench.scores(line._replace(seed=seed), **changes)[MEAN] for seed in SEEDS]
    return f"Three seeds at {curve.base:g}, {label}: {', '.join(f'{mean:.1f}' for mean in means)}."


def draw_curve(curve, scores):
    def fill(figure):
        figure.set_size_inches(12, 5)
        mean, *single = figure.subplots(1, 1 + len(curve.shown))
        for i, (label, points) in enumerate(scores.items()):
            colour = COLOURS.get(label.removesuffix(FAINT), f"C{i}")
            style = {"ls": "--", "lw": 1, "ms": 4} if label.endswith(FAINT) else {"ls": "-"}
            mean.plot(
                curve.values, [points[value][MEAN] for value in curve.values], "o", color=colour, label=label, **style
            )
        if curve.published:
            star = published_mean(*curve.published)
            mean.plot(curve.base, star, "*", ms=14, color="k", label="the paper's table, a billion words")
        mean.set(title=MEAN, ylabel="Pearson correlation, times 100")
        for axes, label in zip(single, curve.shown):
            draw_sets(axes, curve, scores[label])
            axes.set_title(f"each set, {label}")
        for axes in figure.axes:
            axes.set(xlabel=curve.label, xscale="log" if curve.log else "linear")
            axes.set_xticks(curve.values, [f"{value:g}" for value in curve.values])
            axes.minorticks_off()
            axes.spines[["top", "right"]].set_visible(False)
            axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.17), frameon=False)
        low, high = zip(*(axes.get_ylim() for axes in single))
        for axes in single:
            axes.set_ylim(min(low), max(high))

    return fill


def draw_sets(axes, curve, points):
    """One line a set: those that the paper speaks of in colours, all others grey."""
    for name in points[curve.values[0]]:
        if name == MEAN:
            continue
        values = [points[value][name] for value in curve.values]
        named = {"label": name, "zorder": 3} if name in curve.named_sets else {"color": "0.85", "lw": 1, "ms": 0}
        axes.plot(curve.values, values, ".-", **named)


def report_steps(bench, options, name):
    """Between the paper's setting of CBOS and our defaults: what each difference is worth alone."""
    method = "CBOS, paper"
    means = {label: bench.scores(Line(method, changes))[MEAN] for label, changes in STEPS.items()}
    means["our defaults"] = bench.scores(Line("CBOS, defaults"))[MEAN]
    means["... stems, as the paper"] = bench.scores(Line("CBOS, defaults", {"stemmer": "english"}))[MEAN]
    means["... 2 negatives"] = bench.scores(Line("CBOS, defaults", {"negative": 2}))[MEAN]
    report(
        options,
        name,
        "CBOS: from the paper's setting to our defaults",
        [{"setting": label, MEAN: round(value, 1)} for label, value in means.items()],
        notes="Each line below a setting is that setting with one change.",
        draw=lambda figure: bars(figure.subplots(), list(means), list(means.values()), unit=MEAN),
    )


def norms_of(model):
    """Words, how often they occur and lengths of vectors, the most frequent word first."""
    counts = np.asarray(model.word_counts_)
    order = np.argsort(-counts, kind="stable")
    norms = np.linalg.norm(model.word_vectors_, axis=1)
    return np.array(list(model.vocabulary_))[order], counts[order], norms[order]


def report_profile(bench, options, name):
    profiles = {label: norms_of(bench.fit(line)) for label, line in SENT2VEC.items()}
    total = profiles[PAPER][1].sum()
    rows = []
    for least, most in zip(BANDS, BANDS[1:]):
        row = {"occurrences": f"{least:,} to {most - 1:,}" if most < BANDS[-1] else f"{least:,} and more"}
        for label, (_, counts, norms) in profiles.items():
            chosen = (counts >= least) & (counts < most)
            if chosen.any():
                row[label] = round(float(np.median(norms[chosen])), 1)
            if label == PAPER:
                shares = counts[chosen] / total
        rows.append(row | {"Arora's weight": round(float(np.median(1e-3 / (1e-3 + shares))), 3)})

    def draw(figure):
        figure.set_size_inches(12, 4)
        *places, weight = figure.subplots(1, 3)
        for axes, label in zip(places, (PAPER, DEFAULTS)):
            words, counts, norms = profiles[label]
            NormProfileDisplay(counts / counts.sum(), norms, words=words).plot(ax=[axes, weight], mark=["the", "album"])
            axes.set_title(label)

    notes = "Median length of the words that occur so often; Arora's weight with a = 0.001, of all the text."
    report(options, name, "Sent2Vec: length of word vectors", rows, notes=notes, draw=draw)


def share_of_directions(vectors, n):
    """Part of the variance that the first principal components hold."""
    variances = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    return float(variances[:n].sum() / variances.sum())


def report_words(bench, options, name):
    lines = {
        f"{text}, {label}": line._replace(text=key)
        for label, line in {**SIAMESE, "rate 1e-4": Line("Siamese CBOW, paper")}.items()
        if not label.endswith(FAINT)
        for key, text in (("books", "novels"), ("all", "encyclopedia"))
    }
    rows = [{"model": "Kenter et al., novels", "shortest": " ".join(LOWEST), "longest": " ".join(HIGHEST)}]
    for label, line in lines.items():
        model = bench.fit(line)
        words, _, norms = norms_of(model)
        order, frequent = np.argsort(norms), np.argsort(norms[:1000])
        row = {"model": label, "shortest": order[:10], "longest": order[:-11:-1]}
        row["longest of the 1,000 most frequent"] = frequent[:-11:-1]
        rows.append({column: value if column == "model" else " ".join(words[value]) for column, value in row.items()})
        found = set(words[order[:10]]) & set(LOWEST), set(words[frequent[:-11:-1]]) & set(HIGHEST)
        rows[-1]["in the paper's lists"] = f"{len(found[0])} and {len(found[1])} of 10"
        rows[-1]["in 3 directions, %"] = round(100 * share_of_directions(model.word_vectors_[:5000], 3), 1)
        rows[-1][MEAN] = round(bench.judge(model)[MEAN], 1)
        print(rows[-1], flush=True)
    report(
        options,
        name,
        "Siamese CBOW: words with the shortest and the longest vectors",
        rows,
        notes="The paper's lists are compared with the shortest, and with the longest of the 1,000 most frequent. In 3 "
        "directions: variance of the 5,000 most frequent words in their first three principal components.",
    )


def report_agreement(bench, options, name):
    said = {key: {} for key in ("msrp", "opinosis")}
    rows, fitted = [], {}
    for label, line in FOLDS_OF.items():
        in_fold = METHODS[line.method].make_in_fold
        if line.method not in fitted:
            fitted[line.method] = in_fold(bench.text("all"), 0, 1) if in_fold else bench.fit(line)
        model = fitted[line.method]
        if label.startswith("SOWE"):
            model.set_params(pooling="sum")
        # As if the sums, which are about ten times longer than the means, were ten times shorter.
        classifier = LinearSVC(class_weight="balanced", C=0.01, random_state=0) if label == SOWE_C else None
        row = {"model": label}
        for key, predictions in said.items():
            groups = bench.sets.semantic(key)
            result = semantic_classification(model, groups.data, groups.target, classifier=classifier)
            predictions[label] = result.predictions
            row[f"{key}, accuracy"] = round(100 * result.accuracy, 2)
            row[f"{key}, errors"] = int(result.errors.sum())
        rows.append(row)
        print(row, flush=True)
    agreements = {key: error_agreement(bench.sets.semantic(key).target, said[key]) for key in said}

    def draw(figure):
        figure.set_size_inches(15, 6)
        for axes, (key, found) in zip(figure.subplots(1, 2), agreements.items()):
            display = ErrorAgreementDisplay(
                found.n_shared,
                found.n_compared,
                n_errors=found.n_errors,
                names=found.names,
                label="same wrong answer / both wrong",
            )
            display.plot(ax=axes, colorbar=key == "opinosis")
            axes.set_title({"msrp": "MSRP groups", "opinosis": "Opinosis groups"}[key])

    raw = {
        key: {"names": found.names, "shared": found.n_shared.tolist(), "compared": found.n_compared.tolist()}
        for key, found in agreements.items()
    }
    notes = "All three folds together: 859 sentences of MSRP in 273 groups, 521 of Opinosis in 89."
    report(options, name, "Agreement in errors", rows, notes=notes, raw=raw, draw=draw)


FIGURES = dict.fromkeys(CURVES, report_curve) | {
    "cbos_steps": report_steps,
    "norm_profile": report_profile,
    "word_norms": report_words,
    "error_agreement": report_agreement,
}


def main():
    options = arguments(
        __doc__,
        corpus={
            "type": Path,
            "help": "another text, or a saved SentenceCorpus; default DATA/corpora/simplewiki.txt.gz",
        },
        jobs={"type": int, "default": 2, "help": "threads, which change no result"},
        points={"type": Path, "help": "JSON file that keeps measured points"},
        only={"nargs": "+", "choices": list(FIGURES), "default": list(FIGURES)},
    )
    bench = Bench(options)
    for name in options.only:
        FIGURES[name](bench, options, name)


if __name__ == "__main__":
    main()
