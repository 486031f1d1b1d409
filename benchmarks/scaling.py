"""Where would training stop scaling? A count of the work of each thread for 1 to 64 threads; nothing is timed.

    python benchmarks/scaling.py --data DATA

Two things are shared out in every block. Whole runs of sentences go to threads by their words, with 8 more for each
sentence; rows of the weights go to owners in shelves of 16, the heaviest to whoever has least, by how often their words
occur in all the text. All wait for the slowest after each. The speed-up counted here is the work over the sum of the
largest shares; it knows nothing of barriers, memory or caches, so it is a ceiling.
"""

import heapq

import numpy as np
from measuring import arguments, saved_corpus
from reporting import report
from threads import TEXTS, cut_anew

THREADS = (1, 2, 4, 8, 16, 32, 64)
WORDS_PER_SENTENCE, SHELF = 8, 16
# Sentences of a block and of a run: the defaults, and what a larger block would change.
BLOCKS = {"CBOS, Siamese CBOW": (512, 4), "Sent2Vec, word2vec": (64, 1), "a block of 4,096": (4096, 4)}


def owners(counts, n_threads):
    """The owner of each row."""
    shelves = np.add.reduceat(counts, np.arange(0, len(counts), SHELF))
    owner = np.zeros(len(shelves), np.int64)
    threads = [(0, thread) for thread in range(n_threads)]
    for shelf in np.argsort(-shelves, kind="stable"):
        held, thread = threads[0]
        owner[shelf] = thread
        heapq.heapreplace(threads, (held + int(shelves[shelf]), thread))
    return np.repeat(owner, SHELF)[: len(counts)]


def largest_share_of_runs(work, n_threads):
    """Largest sum of contiguous runs that a thread gets, if each begins where its even share of the work would."""
    before = np.append(0, np.cumsum(work))
    borders = np.searchsorted(before, before[-1] * np.arange(n_threads + 1) / n_threads)
    return np.diff(before[borders]).max()


def count(corpus, n_block, run_length, n_threads, n_blocks, n_words):
    """Speed-up of each of the two phases, and of both."""
    owner = owners(corpus.vocabulary.counts[:n_words], n_threads)
    starts = np.random.default_rng(0).permutation(np.arange(0, corpus.n_sentences, run_length))
    per_block = max(1, min(n_block, corpus.n_sentences) // run_length)
    total, slowest = np.zeros(2), np.zeros(2)
    for block in range(min(n_blocks, len(starts) // per_block)):
        runs = starts[block * per_block : (block + 1) * per_block]
        spans = [
            corpus.tokens[corpus.sent_ptr[s] : corpus.sent_ptr[min(s + run_length, corpus.n_sentences)]] for s in runs
        ]
        work = np.array([len(span) for span in spans]) + WORDS_PER_SENTENCE * run_length
        words = np.concatenate(spans)
        touches = np.bincount(owner[words[words < n_words]], minlength=n_threads)
        total += work.sum(), touches.sum()
        slowest += largest_share_of_runs(work, n_threads), touches.max()
    return [*(total / slowest), total.sum() / slowest.sum()]


def main():
    options = arguments(__doc__)
    from skembed import SentenceCorpus

    rows = []
    with saved_corpus(options) as folder:
        whole = SentenceCorpus.load(folder / "simplewiki")
        n_words = len(whole.vocabulary.prune(5).words)
        for text, length in TEXTS.items():
            corpus = cut_anew(whole, length)
            for name, (n_block, run_length) in BLOCKS.items():
                found = {
                    n: count(corpus, n_block, run_length, n, 20 if options.quick else 100, n_words) for n in THREADS
                }
                for i, phase in enumerate(("sentences", "rows", "both")):
                    row = {"text": text, "block": name, "shared out": phase}
                    rows.append(row | {f"{n}": round(float(found[n][i]), 1) for n in THREADS})

    def draw(figure):
        axes = figure.subplots()
        for row in rows:
            if row["shared out"] == "both":
                style = "-" if row["text"] == "sentences as they are" else ":" if "2,000" in row["text"] else "--"
                colour = f"C{list(BLOCKS).index(row['block'])}"
                axes.plot(THREADS, [row[f"{n}"] for n in THREADS], style, color=colour, marker=".")
        for name, i in zip(BLOCKS, range(9)):
            axes.plot([], [], color=f"C{i}", label=name)
        for name, style in zip(TEXTS, ("-", "--", ":")):
            axes.plot([], [], style, color="0.3", label=name)
        axes.plot(THREADS, THREADS, color="0.8", label="perfect")
        axes.set(xscale="log", yscale="log", xlabel="threads", ylabel="speed-up counted from the work")
        axes.set_xticks(THREADS, THREADS)
        axes.set_yticks(THREADS, THREADS)
        axes.minorticks_off()
        axes.legend()

    shares = whole.vocabulary.counts[:n_words] / whole.vocabulary.counts[:n_words].sum()
    top, shelf = shares[0], shares[:SHELF].sum()
    notes = (
        f"Counted, not timed. The most frequent word is {100 * top:.1f} % of the known words, the {SHELF} most "
        f"frequent are {100 * shelf:.0f} %. What has one owner is never updated faster than one thread does it: a "
        f"limit of {1 / top:.0f} for the speed-up of the rows by the word, and of {1 / shelf:.1f} by the shelf."
    )
    title = "Speed-up that the shares of the work allow, by number of threads"
    report(options, "scaling", title, rows, notes=notes, raw=rows, draw=draw)


if __name__ == "__main__":
    main()
