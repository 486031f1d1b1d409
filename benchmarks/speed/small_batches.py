"""How long does `partial_fit` of a small text take on a model with a large vocabulary?

    python benchmarks/speed/small_batches.py --data DATA

A stream of texts: each call gets 32 sentences of 15 words, drawn by Zipf's law from 100,000 words that the model knows;
with new words, two of the sentences have one that it does not know. Methods of pairs get every two sentences as a pair,
those of targets a vector for each. 100 dimensions, one thread. CPU milliseconds of a call: the fastest of many, in the
median of rounds. The text is made up, so that every machine has the same vocabulary.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, cpu_seconds, learners, median, public, rounds_of, spread, workers
from reporting import report, target

N_WORDS, N_SENTENCES, LENGTH, N_CALLS = 100_000, 32, 15, 30
LIMITS = {"known words": 10, "new words": 15}
# Methods without a compiled kernel, which compute for longer than they copy.
SLOW = {"SequentialDenoisingAutoencoder", "SkipThoughtVectorizer", "RecursiveAutoencoderVectorizer"}


def prepare(cls, settings, n_words):
    import numpy as np

    words = [f"w{i}" for i in range(n_words)]
    frequencies = 1 / np.arange(1, n_words + 1)
    random = np.random.default_rng(0)
    settings = settings | {"min_count": 1, "random_state": 0}
    model = public()[cls](100, **settings)
    n_seen = 0

    def evidence(sentences):
        if model._learns_from == "pairs":
            return [list(zip(sentences[::2], sentences[1::2]))]
        return [sentences] if model._learns_from == "text" else [sentences, random.normal(size=(len(sentences), 100))]

    model.partial_fit(*evidence([" ".join(words[start : start + 20]) for start in range(0, n_words, 20)]))

    def batch(kind):
        nonlocal n_seen
        drawn = random.choice(n_words, (N_SENTENCES, LENGTH), p=frequencies / frequencies.sum())
        sentences = [[words[i] for i in row] for row in drawn.tolist()]
        if kind == "new words":
            n_seen += 1
            sentences[0][0] = sentences[1][0] = f"new{n_seen}"
        return evidence([" ".join(sentence) for sentence in sentences])

    def fastest(kind):
        seconds = []
        for given in [batch(kind) for _ in range(N_CALLS)]:
            start = cpu_seconds()
            model.partial_fit(*given)
            seconds.append(cpu_seconds() - start)
        return 1e3 * min(seconds)

    return lambda: {kind: fastest(kind) for kind in LIMITS}


def main():
    options = arguments(__doc__)
    n_words = N_WORDS // 10 if options.quick else N_WORDS
    wanted = {
        name: ("prepare", {"cls": cls, "settings": settings, "n_words": n_words})
        for name, (cls, settings) in learners("text", "pairs", "targets").items()
        if cls not in SLOW and "ngram_range" not in settings
    }
    with workers(__file__, wanted) as found:
        results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
    rows, targets = [], []
    for name, measured in results.items():
        for kind, limit in LIMITS.items():
            taken = [result["value"][kind] for result in measured]
            rows.append({"method": name, "text": kind, "ms": f"{median(taken):.1f}", "± %": spread(taken)})
            targets.append(target(f"a small text, {kind}", name, median(taken), limit, at_most=True, unit="ms"))
    notes = f"{N_SENTENCES} sentences of {LENGTH} words; {n_words:,} words are known, of 100 dimensions."
    report(options, "small_batches", "A small text in partial_fit", rows, notes=notes, targets=targets, raw=results)


if __name__ == "__main__":
    main()
