"""How does the time of a word grow with the text, the vocabulary, the dimension, the negatives, the window, n-grams?

    python benchmarks/speed/growth.py --data DATA

Texts of 1 to 70 million words are the documents of the two corpora in random order, so that the text is of one kind
import sys
from beginning to end, again and again, with the 20,000 most frequent words.
For vocabularies of 20,000 to 500,000 words the same text is repeated with other words each time (word 5 of the third
copy is not word 5 of the first), and the rarest are left out. "Rows folded" is the same text with the words of each
vocabulary numbered modulo 20,000, and for bigrams with as many buckets: all of a larger vocabulary is there but the
larger matrices, so it shows what grows beside the cost of missing the caches.
The time is CPU seconds from the beginning of a pass to its end, over as many passes as make 16 million words. The
points of a line take turns. "Rows alone" is no method: two plain loops read, and then update, the row of each word of
the sentences, in random order. What grows there is the cost of missing the caches.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from limits import gather, update
from measuring import arguments, cpu_seconds, learners, median, public, rounds_of, saved_corpus, spread, workers
from reporting import report, target

MILLION = 1_000_000
SHORTEST = 16 * MILLION  # words to train on at the least: one pass over a small text is lost in the noise of the rest
ROWS = "rows alone"
FOLDED_ROWS, FOLDED = "vocabulary, rows folded", 20_000  # and how many rows there are then
METHODS = learners()
LINES = [ROWS, *METHODS]


def with_parameter(name):
    """The methods that have a parameter."""
    return [method for method, (cls, _) in METHODS.items() if name in public()[cls]().get_params()]


CURVES = {
    "words of text": ("words", [MILLION, 4 * MILLION, 16 * MILLION, 28 * MILLION, 70 * MILLION], LINES),
    "vocabulary": ("vocabulary", [20_000, 50_000, 100_000, 200_000, 500_000], LINES),
    FOLDED_ROWS: ("vocabulary", [20_000, 500_000], LINES),
    "dimension": ("n_components", [25, 50, 100, 200, 300, 500], list(METHODS)),
    "negatives": ("negative", [2, 5, 10, 20, 50], with_parameter("negative")),
    "window": ("window", [1, 2, 5, 10], with_parameter("window")),
    "n-grams": ("ngram_range", [1, 2, 3], ["Sent2Vec"]),
}


def pieces(lengths, order):
    """The indices of the items of pieces of these lengths, after the pieces are reordered."""
    starts, lengths = (np.cumsum(lengths) - lengths)[order], lengths[order]
    return np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)


def read_corpus(folder, n_tokens, n_words, new_words, folded=False):
    """The corpus that `make_corpus` makes, once, and its number of words, or `n_words` if that is less."""
    from skembed import SentenceCorpus

    path = Path(folder, f"{n_tokens}-{new_words}")
    if not path.exists():
        make_corpus(folder, n_tokens, new_words).save(path)
    corpus = SentenceCorpus.load(path, verify=False)
    n_words = min(n_words, len(corpus.vocabulary))
    return fold(corpus, n_words) if folded else (corpus, n_words)


def fold(corpus, n_words):
    """The corpus with the first `n_words` words of its vocabulary numbered modulo FOLDED, and how many that makes."""
    from skembed import SentenceCorpus

    old = np.arange(len(corpus.vocabulary))
    new = np.where(old < n_words, old % FOLDED, old - n_words + FOLDED)
    counts = np.bincount(new, corpus.vocabulary.counts).astype(np.int64)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(counts), np.int32)
    rank[order] = np.arange(len(order))
    vocabulary = type(corpus.vocabulary)([f"w{i}" for i in order], counts[order])
    return SentenceCorpus(rank[new][corpus.tokens], corpus.sent_ptr, corpus.doc_ptr, vocabulary), FOLDED


def make_corpus(folder, n_tokens, new_words):
    """The documents of the two corpora up to `n_tokens`; with `new_words` every copy has words of its own."""
    from skembed import SentenceCorpus

    corpora = [SentenceCorpus.load(f"{folder}/{name}", verify=False) for name in ("simplewiki", "books_small")]
    words = sorted({word for corpus in corpora for word in corpus.vocabulary.words})
    index = {word: i for i, word in enumerate(words)}
    known = [np.array([index[w] for w in corpus.vocabulary.words], np.int64)[corpus.tokens] for corpus in corpora]
    tokens, lengths = np.concatenate(known), np.concatenate([np.diff(corpus.sent_ptr) for corpus in corpora])
    documents = np.concatenate([np.diff(corpus.doc_ptr) for corpus in corpora])
    order = np.random.default_rng(0).permutation(len(documents))
    of_document = pieces(documents, order)
    tokens, lengths, documents = tokens[pieces(lengths, of_document)], lengths[of_document], documents[order]
    copies = -(-n_tokens // len(tokens))
    shift = np.repeat(np.arange(copies) * len(words) * new_words, len(tokens))
    sent_ptr = np.append(0, np.cumsum(np.tile(lengths, copies)))
    doc_ptr = np.append(0, np.cumsum(np.tile(documents, copies)))
    sent_ptr = sent_ptr[: np.searchsorted(sent_ptr, n_tokens) + 1]
    doc_ptr = np.append(doc_ptr[doc_ptr < len(sent_ptr) - 1], len(sent_ptr) - 1)
    tokens = (np.tile(tokens, copies) + shift)[: sent_ptr[-1]]
    counts = np.bincount(tokens, minlength=len(words) * (copies if new_words else 1))
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    rank = np.empty(len(counts), np.int64)
    rank[order] = np.arange(len(order))
    names = [f"{words[i % len(words)]}_{i // len(words)}" for i in order]
    vocabulary = type(corpora[0].vocabulary)(names, counts[order])
    return SentenceCorpus(rank[tokens].astype(np.int32), sent_ptr, doc_ptr, vocabulary)


def prepare_rows(folder, words, vocabulary, n_components=100, **more):
    corpus, n_words = read_corpus(folder, words, vocabulary, **more)
    generator = np.random.default_rng(0)
    order = generator.permutation(corpus.n_sentences)
    tokens = np.asarray(corpus.tokens)[pieces(np.diff(corpus.sent_ptr), order)]
    tokens = tokens[tokens < n_words][: 2 * SHORTEST]
    rows = generator.standard_normal((n_words, n_components), dtype=np.float32)
    accumulator, step = np.ones(n_words, np.float32), rows[0].copy()
    gather(tokens[:9], rows, step.copy())
    update(tokens[:9], rows, accumulator, step)

    def task():
        start = time.process_time()
        gather(tokens, rows, step.copy())
        update(tokens, rows, accumulator, step)
        seconds = time.process_time() - start
        return {"ns": 1e9 * seconds / len(tokens), "words of text": corpus.n_tokens, "vocabulary": n_words}

    return task


class PassTimer:
    """A callback of scikit-learn, from 1.9 on, that adds up the CPU seconds of the passes."""

    seconds = 0.0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        if context.task_name == "pass":
            self.seconds -= cpu_seconds()

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "pass":
            self.seconds += cpu_seconds()


def prepare(folder, cls, settings, words, vocabulary, **more):
    corpus, n_words = read_corpus(folder, words, vocabulary, **more)
    make = public()[cls]
    settings = settings | {"min_count": 1, "max_features": n_words, "random_state": 0}
    make(max_iter=1, **settings).fit(corpus[:200])
    n_known = int(corpus.vocabulary.counts[:n_words].sum())
    passes = -(-SHORTEST // corpus.n_tokens)

    def task():
        timer = PassTimer()
        make(max_iter=passes, **settings).set_callbacks(timer).fit(corpus)
        return {"ns": 1e9 * timer.seconds / (n_known * passes), "words of text": corpus.n_tokens, "vocabulary": n_words}

    return task


def task_of(folder, curve, parameter, value, method, quick):
    """How a worker is prepared for one point of a curve; all that is not varied stays the same."""
    words, vocabulary, settings = 16 * MILLION, 100_000, {}
    if curve == "words of text":
        words, vocabulary = value, 20_000
    elif parameter == "vocabulary":
        words, vocabulary = 70 * MILLION, value  # with fewer there are no 500,000 words
    else:
        words, settings = 4 * MILLION, {parameter: [1, value] if parameter == "ngram_range" else value}
    words = words // 10 if quick else words
    text = {"folder": str(folder), "words": words, "vocabulary": vocabulary, "new_words": parameter == "vocabulary"}
    if curve == FOLDED_ROWS:
        text |= {"folded": True}
        settings = {"n_buckets": FOLDED} if "ngram_range" in METHODS.get(method, ("", {}))[1] else {}
    if method == ROWS:
        return "prepare_rows", text
    cls, own = METHODS[method]
    return "prepare", text | {"cls": cls, "settings": own | settings}


def main():
    options = arguments(
        __doc__,
        only={"nargs": "+", "choices": list(CURVES), "default": list(CURVES)},
        methods={"nargs": "+", "choices": LINES, "default": LINES},
    )
    points, raw = [], {}
    with saved_corpus(options, names=("simplewiki", "books_small")) as folder:
        for curve in options.only:
            parameter, values, methods = CURVES[curve]
            methods = [method for method in methods if method in options.methods]
            values, methods = ([values[0], values[-1]], methods[:2]) if options.quick else (values, methods)
            for method in methods:
                tasks = {v: task_of(folder, curve, parameter, v, method, options.quick) for v in values}
                with workers(__file__, tasks) as found:
                    runs = rounds_of({value: worker.run for value, worker in found.items()}, options.rounds)
                for value in values:
                    nanoseconds = [run["value"]["ns"] for run in runs[value]]
                    reached = runs[value][0]["value"].get(curve, value)  # the text of --quick is smaller
                    point = {"curve": curve, "method": method, "value": reached}
                    points.append(point | {"ns a word": round(median(nanoseconds)), "± %": spread(nanoseconds)})
                    print(points[-1], flush=True)
                raw[f"{curve}, {method}"] = runs
    tell(options, points, raw)


def tell(options, points, raw):
    """One row a line of a curve."""
    rows = []
    for curve, method in dict.fromkeys((point["curve"], point["method"]) for point in points):
        line = [point for point in points if (point["curve"], point["method"]) == (curve, method)]
        values, times = [point["value"] for point in line], [point["ns a word"] for point in line]
        at = [f"{value / MILLION:.0f} M" if value >= MILLION else f"{value:,}" for value in values]
        row = {"by": curve, "method": method, "at": " / ".join(at), "ns a word": " / ".join(map(str, times))}
        rows.append(row | {"slowest over fastest": f"{max(times) / max(min(times), 1):.2f}"})
    report(
        options,
        "growth",
        "CPU time of a word as work grows",
        rows,
        notes="One thread; n-grams: the longest. Rows alone: two plain loops, which show what cache misses cost. Rows "
        "folded: the text of each vocabulary with no more rows than the smallest has.",
        targets=list(targets_of(points)),
        raw={"points": points, "runs": raw},
        draw=draw(points),
    )


def targets_of(points):
    # The target for vocabularies leaves out the cost of cache misses.
    for curve in ("words of text", FOLDED_ROWS):
        for method in METHODS:
            times = [p["ns a word"] for p in points if (p["curve"], p["method"]) == (curve, method)]
            if times and min(times) > 0:
                change = 100 * (max(times) / min(times) - 1)
                yield target(
                    f"time a word, slowest over fastest, by {curve}", method, change, 20, at_most=True, unit="%"
                )


def draw(points):
    def fill(figure):
        figure.set_size_inches(9, 6)
        curves = list(dict.fromkeys(point["curve"].removesuffix(", rows folded") for point in points))
        for axes, curve in zip(np.atleast_1d(figure.subplots(-(-len(curves) // 3), min(3, len(curves)))).flat, curves):
            for method, colour in zip(LINES, ["0.6", *(f"C{i}" for i in range(len(METHODS)))]):
                for of, style, label in ((curve, ".-", method), (FOLDED_ROWS, "x:", None)):
                    line = [(p["value"], p["ns a word"]) for p in points if (p["curve"], p["method"]) == (of, method)]
                    if line and (of == curve or curve == "vocabulary"):
                        axes.plot(*zip(*line), style, color=colour, label=label)
            scale = "log" if curve in ("words of text", "vocabulary") else "linear"
            axes.set(title=curve, ylim=(0, None), xscale=scale, ylabel="ns a word")
            values = sorted({point["value"] for point in points if point["curve"] == curve})
            if curve in ("window", "n-grams"):
                axes.set_xticks(values)
            if scale == "log":
                axes.set_xticks(values, [f"{value / 1e6:.3g}" for value in values], rotation=45)
                axes.set_xlabel("millions")
                axes.minorticks_off()
        drawn = dict(pair[::-1] for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels()))
        figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=4)

    return fill


if __name__ == "__main__":
    main()
