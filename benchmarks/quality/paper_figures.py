"""The figures of the papers as curves, learned from Simple English Wikipedia.

    python benchmarks/quality/paper_figures.py --data DATA --out doc/_results/reproduction
        [--only NAME ...] [--points FILE]

DATA/corpora holds simplewiki.txt.gz, which is learned from, and books_small.txt.gz for the norms of words;
DATA/original holds the evaluation sets as published. Each curve is drawn with the setting of its paper and with our
defaults, and again from every tenth document of the text. A score is the mean Pearson correlation, times 100, over the
14 STS sets of 2012 to 2014. Points that FILE has already are not measured again, so a stopped run goes on.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

from skembed import SentenceCorpus
from skembed.evaluation import error_agreement, semantic_classification, sts_scores, sts_similarities

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from paper_curves import (
    BANDS,
    COLOURS,
    CURVES,
    DEFAULTS,
    FAINT,
    FOLDS_OF,
    HIGHEST,
    LOWEST,
    MEAN,
    OTHER_TEXTS,
    PAPER,
    SEEDS,
    SENT2VEC,
    SIAMESE,
    SOWE_C,
    STEPS,
    YEARS,
    Line,
)
from papers.data import EvaluationData
from papers.methods import METHODS
from papers.tables import published_results
from reporting import bars, report


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
        if name not in self.texts:
            file, settings = OTHER_TEXTS[name]
            self.texts[name] = SentenceCorpus.from_file(self.data / "corpora" / file, n_jobs=self.jobs, **settings)
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
    """The mean of a paper's table over the sets that we have; what its figures show is not in its table."""
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
            notes += [seeds_of(bench, curve, label) for label in curve.lines if label.endswith(FAINT)]
    report(options, name, curve.title, rows, notes=" ".join(notes), draw=draw_curve(curve, scores))


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
    paper, defaults = Line("CBOS, paper", text="stems"), Line("CBOS, defaults")
    lines = {label: paper._replace(changes=changes) for label, changes in STEPS.items()}
    lines["... words instead of stems"] = paper._replace(text="all")
    lines["our defaults"] = defaults
    lines["... 2 negatives"] = defaults._replace(changes={"negative": 2})
    lines["... stems"] = defaults._replace(text="stems")
    means = {label: bench.scores(line)[MEAN] for label, line in lines.items()}
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
    # Of all words of the text, as SIF weights have it, those without a vector too.
    totals = {label: bench.text(line.text).n_tokens for label, line in SENT2VEC.items()}
    rows = []
    for least, most in zip(BANDS, BANDS[1:]):
        row = {"occurrences": f"{least:,} to {most - 1:,}" if most < BANDS[-1] else f"{least:,} and more"}
        for label, (_, counts, norms) in profiles.items():
            chosen = (counts >= least) & (counts < most)
            if chosen.any():
                row[label] = round(float(np.median(norms[chosen])), 1)
            if label == PAPER:
                frequencies = counts[chosen] / totals[PAPER]
        rows.append(row | {"Arora's weight": round(float(np.median(1e-3 / (1e-3 + frequencies))), 3)})

    def draw(figure):
        figure.set_size_inches(12, 4)
        *panels, weight = figure.subplots(1, 3)
        for axes, label in zip(panels, (PAPER, DEFAULTS)):
            words, counts, norms = profiles[label]
            fractions = counts / totals[label]
            axes.scatter(fractions, norms, s=6, alpha=0.3, color="0.5", linewidths=0, rasterized=True)
            for word in ("the", "album"):
                row = list(words).index(word)
                axes.annotate(word, (fractions[row], norms[row]), (0, 6), textcoords="offset points", ha="center")
            axes.set(title=label, xscale="log", xlabel="fraction f of the word in the text")
            axes.set(ylabel="length of the word's vector", ylim=(0, None))
            f = np.geomspace(fractions.min(), fractions.max(), 200)
            weight.plot(f, 1e-3 / (1e-3 + f), color=COLOURS[0])
        weight.set(xscale="log", xlabel="fraction f of the word in the text", ylabel="Arora's weight, a = 0.001")

    notes = "Median length of the words that occur so often; Arora's weight with a = 0.001, of all the text."
    report(options, name, "Sent2Vec: length of word vectors", rows, notes=notes, draw=draw)


def share_of_directions(vectors, n):
    """Part of the variance that the first principal components hold."""
    variances = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    return float(variances[:n].sum() / variances.sum())


def report_words(bench, options, name):
    lines = {
        f"{text}, {label}": line._replace(text=key)
        for label, line in {**SIAMESE, "rate 0.01": Line("Siamese CBOW, paper", {"learning_rate": 0.01})}.items()
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
            n = len(found.names)
            shown = np.where(np.eye(n, dtype=bool), np.nan, found.agreement)
            image = axes.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
            axes.set_xticks(range(n), found.names, rotation=45, ha="right")
            axes.set_yticks(range(n), [f"{name}\n{k} errors" for name, k in zip(found.names, found.n_errors)])
            for i, j in np.ndindex(n, n):
                cell, color = (
                    f"{found.n_shared[i, j]}/{found.n_compared[i, j]}",
                    "white" if shown[i, j] > 0.6 else "black",
                )
                axes.text(j, i, cell, ha="center", va="center", color=color, size=8)
            if key == "opinosis":
                figure.colorbar(image, ax=axes, label="same wrong answer / both wrong")
            axes.set_title({"msrp": "MSRP groups", "opinosis": "Opinosis groups"}[key])

    notes = "All three folds together: 859 sentences of MSRP in 274 groups, 521 of Opinosis in 89."
    report(options, name, "Agreement in errors", rows, notes=notes, draw=draw)


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
