"""Where would training stop scaling? A count of the work of each thread for 1 to 64 threads; nothing is timed.

    python benchmarks/speed/scaling.py --data DATA

Two things are divided in every block. Sentences go to threads in whole runs by their words. Rows of the weights go to
owners in groups of 16, the heaviest to the thread that has least, by how often their words occur in all the text. All
wait for the slowest after each. Work is counted in entries of the gradient: one for each word, and some for each
different row, which must be fetched. The speed-up is the work over the sum of the largest loads; it knows nothing of
barriers and of rows that move between cores, so it is a ceiling.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus
from skembed._training.encoded_text import SentenceBlocks, WordBlocks
from skembed._training.learned_arrays import FETCH, ROWS_PER_GROUP, assign_rows

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, saved_corpus
from reporting import report
from threads import TEXTS, cut_anew

THREADS = (1, 2, 4, 8, 16, 32, 64)
# Sentences of a block and of a run: the defaults, and a larger block.
CONTEXTS = SentenceBlocks(border=1)
BLOCKS = {
    "CBOS, Siamese CBOW": (CONTEXTS.largest, CONTEXTS.longest_run),
    "Sent2Vec, word2vec": (WordBlocks().usual, 1),
    "a block of 4,096": (4096, CONTEXTS.longest_run),
}


def work_of(words):
    """An entry for each word, and what fetching each different row costs."""
    return len(words) + FETCH * len(np.unique(words))


def largest_work_of_runs(spans, n_threads):
    """Work of the thread that has most, each beginning with the run where its even range of the words would."""
    before = np.append(0, np.cumsum([len(span) for span in spans]))
    bounds = np.searchsorted(before, before[-1] * np.arange(n_threads + 1) / n_threads)
    return max(work_of(np.concatenate([*spans[i:j], np.empty(0, np.int32)])) for i, j in pairwise(bounds))


def count(corpus, shape, n_threads, n_blocks, n_words):
    """Speed-up of each of the two phases, and of both."""
    n_block, run_length = shape
    owner = assign_rows(corpus.vocabulary.counts[:n_words], n_threads) if n_threads > 1 else np.zeros(n_words, int)
    starts = np.random.default_rng(0).permutation(np.arange(0, corpus.n_sentences, run_length))
    per_block = max(1, min(n_block, corpus.n_sentences) // run_length)
    total, slowest = np.zeros(2), np.zeros(2)
    for block in range(min(n_blocks, len(starts) // per_block)):
        runs = starts[block * per_block : (block + 1) * per_block]
        spans = [
            corpus.tokens[corpus.sent_ptr[s] : corpus.sent_ptr[min(s + run_length, corpus.n_sentences)]] for s in runs
        ]
        spans = [span[span < n_words] for span in spans]
        words = np.concatenate(spans)
        total += work_of(words)
        slowest += (
            largest_work_of_runs(spans, n_threads),
            max(work_of(words[owner[words] == thread]) for thread in range(n_threads)),
        )
    return [*(total / slowest), total.sum() / slowest.sum()]


def main():
    options = arguments(__doc__)
    rows = []
    with saved_corpus(options) as folder:
        whole = SentenceCorpus.load(folder / "simplewiki")
        n_words = len(whole.vocabulary.prune(5).words)
        for text, length in TEXTS.items():
            corpus = cut_anew(whole, length)
            for name, shape in BLOCKS.items():
                found = {n: count(corpus, shape, n, 20 if options.quick else 100, n_words) for n in THREADS}
                for i, phase in enumerate(("sentences", "rows", "both")):
                    row = {"text": text, "block": name, "divided": phase}
                    rows.append(row | {f"{n}": round(float(found[n][i]), 1) for n in THREADS})

    def draw(figure):
        axes = figure.subplots()
        for row in rows:
            if row["divided"] == "both":
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

    frequencies = whole.vocabulary.counts[:n_words] / whole.vocabulary.counts[:n_words].sum()
    top, group = frequencies[0], frequencies[:ROWS_PER_GROUP].sum()
    notes = (
        f"Counted, not timed. The most frequent word is {100 * top:.1f} % of the known words, the {ROWS_PER_GROUP} "
        f"most frequent are {100 * group:.0f} %. Rows of one owner are never updated faster than by one thread: were "
        f"there nothing to fetch, a limit of {1 / top:.0f} for the speed-up of the rows by the word, and of "
        f"{1 / group:.1f} by the group, as the longest sentences show."
    )
    title = "Speed-up that the shares of the work allow, by number of threads"
    report(options, "scaling", title, rows, notes=notes, raw=rows, draw=draw)


if __name__ == "__main__":
    main()
