"""How close does a student come to a transformer, by the number of texts that the transformer has embedded?

    python benchmarks/quality/teacher_curve.py --rows ROWS [--out doc/_results/quality]

The texts of all tasks of pretrained.py together, in random order, with the rows of all-MiniLM-L6-v2; ROWS is the folder
of stored rows of pretrained.py. The student learns from the first of them, with and without vectors of words by
wordllama. On 2,000 other texts: the mean cosine of its rows with the transformer's, both centred as the student is, and
the correlation of its cosines of pairs of texts of one task with the transformer's. CPU seconds with one thread.
"""

import sys
import time
from pathlib import Path

from pretrained import TRANSFORMER, load_static  # isort: skip, it pins the threads

import numpy as np

from skembed import SentenceCorpus, StudentVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

SIZES, N_NEW, N_PAIRS = (300, 1_000, 3_000, 10_000), 2_000, 100


def read(folder):
    """Texts, rows, and the task of each, in random order."""
    files = sorted((folder / TRANSFORMER.lower()).glob("*.npz"))
    parts = [np.load(file, allow_pickle=True) for file in files]
    texts, rows = (np.concatenate([part[name] for part in parts]) for name in ("texts", "rows"))
    tasks = np.repeat(np.arange(len(parts)), [len(part["texts"]) for part in parts])
    order = np.random.default_rng(0).permutation(len(texts))
    return texts[order], rows[order], tasks[order]


def pairs(tasks):
    """Random pairs of rows of one task."""
    random = np.random.default_rng(0)
    left = np.repeat(np.arange(len(tasks)), N_PAIRS)
    right = random.integers(len(tasks), size=len(left))
    kept = (tasks[left] == tasks[right]) & (left != right)
    return left[kept], right[kept]


def main():
    options = arguments(__doc__, rows={"type": Path, "required": True, "help": "folder with stored rows"})
    embed = load_static()
    texts, targets, tasks = read(options.rows)
    own, new = texts[:-N_NEW].tolist(), texts[-N_NEW:].tolist()
    left, right = pairs(tasks[-N_NEW:])
    of_teacher = (targets[-N_NEW:][left] * targets[-N_NEW:][right]).sum(axis=1)
    rows = [["texts", "start", "cosine", "correlation of similarities", "score", "CPU s"]]
    for size in SIZES[: 1 if options.quick else None]:
        for start in (None, "wordllama"):
            began = time.process_time()
            words = None
            if start is not None:
                known = list(SentenceCorpus.from_sentences(own[:size] + new).vocabulary.words)
                words = known, np.asarray(embed(known), np.float32)
            student = StudentVectorizer(word_vectors=words, random_state=0).fit(own[:size], targets[:size])
            seconds = time.process_time() - began
            found = student.transform(new)
            cosine = (found * student.transform_targets(targets[-N_NEW:])).sum(axis=1).mean()
            correlation = np.corrcoef((found[left] * found[right]).sum(axis=1), of_teacher)[0, 1]
            rows.append([f"{size:,}", start or "none", f"{cosine:.2f}", f"{correlation:.2f}"])
            rows[-1] += [f"{student.score_:.2f}", f"{seconds:.0f}"]
            print(*rows[-1], flush=True)
    print_table(options, "teacher_curve", f"A student of {TRANSFORMER}", rows, f"{N_NEW:,} other texts.")


if __name__ == "__main__":
    main()
