"""How does the time of a word grow with the text, the vocabulary, the dimension, the negatives, the window, n-grams?

    python benchmarks/growth.py --data DATA

Texts of 1 to 70 million words are the documents of the two corpora in random order, so that the text is of one kind
from beginning to end, again and again, with the 20,000 most frequent words.
For vocabularies of 20,000 to 500,000 words the same text is repeated with other words each time (word 5 of the third
copy is not word 5 of the first), and the rarest are left out. The time is CPU seconds of further passes: a fit with
several less one with a single pass, over 16 million words or more.
"""

import numpy as np
from measuring import arguments, median, rounds_of, saved_corpus, spread, workers
from reporting import report, target
from threads import METHODS

MILLION = 1_000_000
SHORTEST = 16 * MILLION  # words to train on at the least: one pass over a small text is lost in the noise of the rest
CURVES = {
    "words of text": ("words", [MILLION, 4 * MILLION, 16 * MILLION, 28 * MILLION, 70 * MILLION], list(METHODS)),
    "vocabulary": ("vocabulary", [20_000, 50_000, 100_000, 200_000, 500_000], list(METHODS)),
    "dimension": ("n_components", [25, 50, 100, 200, 300, 500], list(METHODS)),
    "negatives": ("negative", [2, 5, 10, 20, 50], list(METHODS)),
    "window": ("window", [1, 2, 5, 10], ["CBOS", "Siamese CBOW", "skip-gram", "CBOW"]),
    "n-grams": ("ngram_range", [1, 2, 3], ["Sent2Vec"]),
}


def pieces(lengths, order):
    """The places of what pieces of these lengths hold, when the pieces are put in another order."""
    starts, lengths = (np.cumsum(lengths) - lengths)[order], lengths[order]
    return np.arange(lengths.sum()) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)


def make_corpus(folder, n_tokens, n_words, new_words):
    """The documents of the two corpora up to `n_tokens`; with `new_words` every copy has words of its own."""
    from skembed import SentenceCorpus

    parts = [SentenceCorpus.load(f"{folder}/{name}", verify=False) for name in ("simplewiki", "books_small")]
    words = sorted({word for part in parts for word in part.vocabulary.words})
    place = {word: i for i, word in enumerate(words)}
    known = [np.array([place[w] for w in part.vocabulary.words], np.int64)[part.tokens] for part in parts]
    tokens, lengths = np.concatenate(known), np.concatenate([np.diff(part.sent_ptr) for part in parts])
    documents = np.concatenate([np.diff(part.doc_ptr) for part in parts])
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
    vocabulary = type(parts[0].vocabulary)(names, counts[order])
    corpus = SentenceCorpus(rank[tokens].astype(np.int32), sent_ptr, doc_ptr, vocabulary)
    return corpus, min(n_words, len(order))


def prepare(folder, cls, settings, words, vocabulary, new_words):
    import skembed

    corpus, n_words = make_corpus(folder, words, vocabulary, new_words)
    make = getattr(skembed, cls)
    settings = settings | {"min_count": 1, "max_features": n_words, "random_state": 0}
    make(max_iter=1, **settings).fit(corpus[:200])
    n_known = int(corpus.vocabulary.counts[:n_words].sum())
    more = -(-SHORTEST // corpus.n_tokens)

    def task():
        from measuring import cpu_seconds

        seconds = []
        for passes in (1, 1 + more):
            start = cpu_seconds()
            make(max_iter=passes, **settings).fit(corpus)
            seconds.append(cpu_seconds() - start)
        return {
            "ns": 1e9 * (seconds[1] - seconds[0]) / (n_known * more),
            "words of text": corpus.n_tokens,
            "vocabulary": n_words,
        }

    return task


def settings_of(curve, parameter, value, method, quick):
    """What `prepare` gets for one point of a curve; all that is not varied stays the same."""
    cls, settings = METHODS[method]
    words, vocabulary = 16 * MILLION, 100_000
    if curve == "words of text":
        words, vocabulary = value, 20_000
    elif curve == "vocabulary":
        words, vocabulary = 70 * MILLION, value  # with fewer there are no 500,000 words
    else:
        words, settings = 4 * MILLION, settings | {parameter: [1, value] if parameter == "ngram_range" else value}
    words = words // 10 if quick else words
    new_words = curve == "vocabulary"
    return {"cls": cls, "settings": settings, "words": words, "vocabulary": vocabulary, "new_words": new_words}


def main():
    options = arguments(
        __doc__,
        only={"nargs": "+", "choices": list(CURVES), "default": list(CURVES)},
        methods={"nargs": "+", "choices": list(METHODS), "default": list(METHODS)},
    )
    rows, raw = [], {}
    with saved_corpus(options, names=("simplewiki", "books_small")) as folder:
        for curve in options.only:
            parameter, values, methods = CURVES[curve]
            methods = [method for method in methods if method in options.methods]
            values, methods = (values[::2], methods[:1]) if options.quick else (values, methods)
            for method in methods:
                runs = {}
                for value in values:
                    settings = settings_of(curve, parameter, value, method, options.quick)
                    with workers(__file__, {value: ("prepare", settings | {"folder": str(folder)})}) as found:
                        runs[value] = rounds_of({value: found[value].run}, options.rounds)[value]
                    nanoseconds = [run["value"]["ns"] for run in runs[value]]
                    reached = runs[value][0]["value"].get(curve, value)  # the text of --quick is smaller
                    row = {"curve": curve, "method": method, "value": reached, "ns a word": round(median(nanoseconds))}
                    rows.append(row | {"± %": spread(nanoseconds)})
                    print(rows[-1], flush=True)
                raw[f"{curve}, {method}"] = runs
    report(
        options,
        "growth",
        "CPU time of a word as work grows",
        rows,
        notes="One thread; n-grams: the longest; a vocabulary grows its cache misses with it.",
        targets=list(targets_of(rows)),
        raw=raw,
        draw=draw(rows),
    )


def targets_of(rows):
    for curve in ("words of text", "vocabulary"):
        for method in METHODS:
            times = [row["ns a word"] for row in rows if (row["curve"], row["method"]) == (curve, method)]
            if times and min(times) > 0:
                change = 100 * (max(times) / min(times) - 1)
                yield target(f"{method}: slowest over fastest, by {curve}", change, 20, at_most=True, unit="%")


def draw(rows):
    def fill(figure):
        figure.set_size_inches(9, 6)
        curves = list(dict.fromkeys(row["curve"] for row in rows))
        for axes, curve in zip(np.atleast_1d(figure.subplots(-(-len(curves) // 3), min(3, len(curves)))).flat, curves):
            for i, method in enumerate(METHODS):
                points = [(r["value"], r["ns a word"]) for r in rows if (r["curve"], r["method"]) == (curve, method)]
                if points:
                    axes.plot(*zip(*points), ".-", color=f"C{i}", label=method)
            scale = "log" if curve in ("words of text", "vocabulary") else "linear"
            axes.set(title=curve, ylim=(0, None), xscale=scale, ylabel="ns a word")
            if scale == "log":
                values = sorted({row["value"] for row in rows if row["curve"] == curve})
                axes.set_xticks(values, [f"{value / 1e6:.3g}" for value in values], rotation=45)
                axes.set_xlabel("millions")
                axes.minorticks_off()
        drawn = dict(pair[::-1] for axes in figure.axes for pair in zip(*axes.get_legend_handles_labels()))
        figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=6)

    return fill


if __name__ == "__main__":
    main()
