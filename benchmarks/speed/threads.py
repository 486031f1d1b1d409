"""What do two threads reach of what two independent copies reach together, and are the bits equal for any number?

    python benchmarks/speed/threads.py --data DATA

Copies are two processes of one thread each that run at the same time; then comes one process with two threads, and 3
and 7 threads on however many cores there are, in turns. The digest is over word vectors and loss curve, or the output.

Where a host puts the cores of a virtual machine changes from minute to minute, and with it how far they are from each
other. So all rows are measured in one sweep after the other. What is compared follows at once, and a ratio is the
median of the ratios of the rounds.
"""

import hashlib
import inspect
import sys
from itertools import islice, product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import Worker, arguments, learners, median, public, rounds_of, saved_corpus
from reporting import report

METHODS = learners()
TEXTS = {"sentences as they are": 0, "sentences of 4 words": 4, "sentences of 2,000 words": 2000}
COUNTS = (1, 2, 3, 7)


def cut_anew(corpus, length):
    """The same words in sentences of a given length, 20 to a document."""
    from skembed import SentenceCorpus

    if not length:
        return corpus
    sent_ptr = np.append(np.arange(0, corpus.n_tokens, length), corpus.n_tokens)
    doc_ptr = np.append(np.arange(0, len(sent_ptr) - 1, 20), len(sent_ptr) - 1)
    return SentenceCorpus(corpus.tokens, sent_ptr, doc_ptr, corpus.vocabulary)


def repeat(function):
    """Do it five times: it takes long enough then that two processes overlap."""
    return [function() for _ in range(5)][-1]


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:12]


def prepare_training(folder, cls, settings, length):
    import skembed

    corpus = cut_anew(skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False), length)
    make = public()[cls]
    # The time does not depend on the rate. With its own CBOS may diverge on few sentences, if they are very long.
    settings = settings | {"max_iter": 1, "learning_rate": 0.01}
    if "max_sentence_length" in inspect.signature(make).parameters:
        settings["max_sentence_length"] = None
    make(**settings).fit(corpus[:200])  # compiles

    def task(n_jobs):
        model = make(random_state=0, n_jobs=n_jobs, **settings).fit(corpus)
        return lambda: digest(model.word_vectors_, model.loss_curve_)

    return task


def prepare_transform(folder, length):
    import skembed

    whole = skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False)
    corpus = cut_anew(whole, length)
    model = skembed.CBOSVectorizer(max_iter=1, random_state=0).fit(corpus)
    sentences = [" ".join(words) for words in islice(corpus, len(whole))]
    model.transform(sentences)

    def task(n_jobs):
        found = repeat(lambda: model.set_params(n_jobs=n_jobs).transform(sentences))
        return lambda: digest(found)

    return task


def prepare_tokenise(folder, length):
    from skembed import SentenceCorpus

    corpus = cut_anew(SentenceCorpus.load(f"{folder}/simplewiki", verify=False), length)
    if "n_jobs" not in inspect.signature(SentenceCorpus.from_sentences).parameters:
        raise ImportError("this version of skembed tokenises with one thread")
    sentences = [" ".join(words) for words in corpus]
    SentenceCorpus.from_sentences(sentences, n_jobs=2)

    def task(n_jobs):
        found = repeat(lambda: SentenceCorpus.from_sentences(sentences, n_jobs=n_jobs))
        return lambda: digest(found.tokens, found.sent_ptr)

    return task


def measure(prepare, settings, n_rounds, turn):
    """Wall seconds of each way to run, a list a way, and the digests of what came out; `turn` says who begins."""
    first, second = (Worker(__file__, prepare, **settings) for _ in range(2))
    digests = set()

    def alone(n_jobs):
        result = first.run(n_jobs=n_jobs)
        digests.add(result["value"])
        return result["wall"]

    def copies():
        first.start(n_jobs=1)
        second.start(n_jobs=1)
        return max(first.finish()["wall"], second.finish()["wall"])

    ways = {"copies": copies} | {n: lambda n=n: alone(n) for n in COUNTS}
    names = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
    results = rounds_of({name: ways[name] for name in names}, n_rounds)
    first.close()
    second.close()
    return results, digests


def main():
    tasks = [*METHODS, "transform", "tokenise"]
    options = arguments(
        __doc__,
        max_sentences={"type": int, "default": 500_000},
        only={"nargs": "+", "choices": tasks, "default": tasks, "metavar": "TASK"},
    )
    raw, equal = {}, {}
    with saved_corpus(options, options.max_sentences) as folder:
        for turn in range(options.rounds):
            for name, (text, length) in product(options.only, TEXTS.items()):
                settings = {"folder": str(folder), "length": length}
                if name in METHODS:
                    settings |= dict(zip(("cls", "settings"), METHODS[name]))
                prepare = "prepare_training" if name in METHODS else f"prepare_{name}"
                n_rounds = 1 if name in METHODS else 3  # the others are short
                results, digests = measure(prepare, settings, n_rounds, turn)
                for way, seconds in results.items():
                    raw.setdefault((name, text), {}).setdefault(way, []).extend(seconds)
                equal.setdefault((name, text), set()).update(digests)
                print(name, text, {way: round(median(seconds), 3) for way, seconds in results.items()}, flush=True)
    tell(options, raw, {row: len(digests) == 1 for row, digests in equal.items()})


def tell(options, raw, equal):
    """Table and figure of the seconds of each row and way, and whether the bits are equal."""
    rows = []
    for (name, text), results in raw.items():
        wall = {way: median(seconds) for way, seconds in results.items()}
        # Ratios are of one round each: from one to the next the machine may have changed. Two copies do twice the work.
        reached = median([100 * (both / 2) / two for both, two in zip(results["copies"], results[2])])
        rows.append(
            {
                "task": name,
                "text": text,
                **{f"{n} threads, s" if n > 1 else "1 thread, s": round(wall[n], 2) for n in COUNTS},
                "two copies, s": round(wall["copies"], 2),
                "two threads of two copies, %": round(reached),
                "bits equal": "yes" if equal[name, text] else "NO",
            }
        )

    def draw(figure):
        axes = figure.subplots()
        for text, marker in zip(TEXTS, "osx"):
            of_text = [row for row in rows if row["text"] == text]
            shares = [row["two threads of two copies, %"] for row in of_text]
            axes.plot(shares, range(len(shares)), marker, label=text)
        axes.set_yticks(range(len(options.only)), options.only)
        axes.invert_yaxis()
        axes.set_xlim(0, None)
        axes.set_xlabel("two threads, % of what two copies reach")
        axes.legend()

    notes = (
        f"Wall seconds of a pass over {options.max_sentences:,} sentences ({options.max_sentences // 10:,} with "
        f"`--quick`), of five for transform and tokenise; transform takes at most that many, of 4 words each. "
        f"Medians of {options.rounds} rounds, of {3 * options.rounds} for these two; ratios are medians of those "
        "of the rounds."
    )
    report(options, "threads", "Threads", rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
