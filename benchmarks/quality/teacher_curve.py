"""How close does a student come to a transformer, by the number of texts that the transformer has embedded, and which?

    python benchmarks/quality/teacher_curve.py --data DATA [--rows ROWS] [--out doc/_results/quality]

52,000 distinct sentences of Simple Wikipedia of four words or more and at most 60 characters, in random order, embedded
by all-MiniLM-L6-v2; ROWS is the folder of stored rows of pretrained.py. The first 2,000 are new ones. The student
learns from some of the others, with and without vectors of words by wordllama: from the first of these, or from those
chosen for their words, one after the other, so that the sum over all words of log(1 + count) (1 - 1/2^n) is largest,
where n sentences have the word. On the new ones: the mean cosine of its rows with the transformer's, both centred as
the student is, and the correlation of its cosines of random pairs with the transformer's. CPU seconds with one thread.
"""

import gzip
import heapq
import sys
import time
from pathlib import Path

from pretrained import TRANSFORMER, load_models, load_static, stored_rows  # isort: skip, it pins the threads

import numpy as np

from skembed import PretrainedVectorizer, SentenceCorpus, StudentVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

CORPUS = "simplewiki"
SIZES, N_NEW, N_PAIRS = (1_000, 3_000, 10_000, 50_000), 2_000, 100
MOST_CHARACTERS, LEAST_WORDS = 60, 4
WAYS = {  # which texts, start -> sizes
    ("random", "none"): SIZES[:-1],
    ("random", "wordllama"): SIZES,
    ("by words", "wordllama"): SIZES[:-1],
}


def read(data):
    """Sentences in random order."""
    with gzip.open(data / "corpora" / f"{CORPUS}.txt.gz", "rt", encoding="utf8") as file:
        lines = list(dict.fromkeys(line.rstrip("\n") for line in file if line.strip()))
    order = np.random.default_rng(0).permutation(len(lines))
    is_short = (len(line) <= MOST_CHARACTERS and line.count(" ") >= LEAST_WORDS - 1 for line in lines)
    short = np.fromiter(is_short, bool, len(lines))
    return [lines[row] for row in order[short[order]][: SIZES[-1] + N_NEW]]


def by_words(texts, n):
    """The first n texts of those that cover the words best, found greedily: what a text gains only falls."""
    corpus = SentenceCorpus.from_sentences(texts)
    words = [np.unique(corpus.tokens[start:end]) for start, end in zip(corpus.sent_ptr, corpus.sent_ptr[1:])]
    weights = np.log1p(np.bincount(corpus.tokens))
    heap = [(-weights[of_text].sum(), row) for row, of_text in enumerate(words)]
    heapq.heapify(heap)
    chosen = []
    while len(chosen) < n:
        _, row = heap[0]
        gain = weights[words[row]].sum()
        if len(heap) > 1 and gain < -min(heap[1:3])[0]:
            heapq.heapreplace(heap, (-gain, row))
            continue
        heapq.heappop(heap)
        chosen.append(row)
        weights[words[row]] /= 2
    return chosen


def main():
    options = arguments(
        __doc__,
        rows={"type": Path, "help": "folder with stored rows"},
        cache={"type": Path, "default": "memory", "help": "folder that keeps the rows of the model"},
    )
    embed, texts = load_static(), read(options.data)
    stored = options.rows is not None
    model = stored_rows(options.rows, TRANSFORMER, CORPUS) if stored else load_models()[TRANSFORMER]
    targets = np.asarray(PretrainedVectorizer(model, cache=options.cache, verbose=1).fit().transform(texts))
    of_new, targets = targets[:N_NEW], targets[N_NEW:]
    own, new = texts[N_NEW:], texts[:N_NEW]
    left = np.repeat(np.arange(N_NEW), N_PAIRS)
    right = np.random.default_rng(0).integers(N_NEW, size=len(left))
    left, right = left[left != right], right[left != right]
    of_teacher = (of_new[left] * of_new[right]).sum(axis=1)
    orders = {"random": range(len(own)), "by words": by_words(own, SIZES[-2])}
    rows = [["texts", "chosen", "start", "cosine", "correlation of similarities", "score", "CPU s"]]
    for (way, start), sizes in WAYS.items():
        for size in sizes[: 1 if options.quick else None]:
            some = list(orders[way][:size])
            learned = [own[row] for row in some]
            began = time.process_time()
            words = None
            if start != "none":
                known = list(SentenceCorpus.from_sentences(learned + new).vocabulary.words)
                words = known, np.asarray(embed(known), np.float32)
            student = StudentVectorizer(word_vectors=words, random_state=0).fit(learned, targets[some])
            seconds = time.process_time() - began
            found = student.transform(new)
            cosine = (found * student.transform_targets(of_new)).sum(axis=1).mean()
            correlation = np.corrcoef((found[left] * found[right]).sum(axis=1), of_teacher)[0, 1]
            rows.append([f"{size:,}", way, start, f"{cosine:.2f}", f"{correlation:.2f}"])
            rows[-1] += [f"{student.score_:.2f}", f"{seconds:.0f}"]
            print(*rows[-1], flush=True)
    print_table(options, "teacher_curve", f"A student of {TRANSFORMER}", rows, f"{N_NEW:,} other sentences.")


if __name__ == "__main__":
    main()
