"""How many sentences a second become rows of a student, by text, and by whether its words were learned?

    python benchmarks/speed/student.py --data DATA [--out doc/_results/speed]

Four texts: news titles, titles of GitHub issues, web snippets, and sentences of simplewiki; up to 6,000 of each to
learn from, and as many others. Rows have 384 numbers. What the teacher says does not change the speed, so its vectors
are random. "Own" are the sentences that were learned, "new" the others, of whose words the third column counts those
that were not learned. One thread, from Python strings, CPU seconds, the fastest of the rounds, in which all
take turns.
"""

import gzip
import os
import sys
import time
import warnings
from copy import copy
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import ONE_THREAD, arguments, rounds_of

os.environ |= ONE_THREAD

import numpy as np
from reporting import report
from yardsticks import read_labelled

from skembed import CBOSVectorizer, StudentVectorizer

MOST, N_COMPONENTS = 6_000, 384
TEXTS = {
    "news titles": "ag_news_titles.test.tsv",
    "issue titles": "github_issues.train.tsv",
    "snippets": "searchsnippets.tsv",
}


def texts_of(data):
    """Name of a text -> sentences to learn from, and new ones."""
    found = {name: read_labelled(data / "eval" / "clf" / file)[0] for name, file in TEXTS.items()}
    with gzip.open(data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
        found["Wikipedia"] = [line.rstrip("\n") for line in islice(filter(str.strip, file), 5 * MOST)]
    for name, sentences in found.items():
        shuffled = [sentences[i] for i in np.random.default_rng(0).permutation(len(sentences))]
        n_own = min(MOST, len(shuffled) // 2)
        found[name] = shuffled[:n_own], shuffled[n_own : 2 * n_own]
    return found


def models_of(own):
    """Name of a column -> the function that makes rows, and whether of new sentences."""
    vectors = np.random.default_rng(0).normal(size=(len(own), N_COMPONENTS))
    ngrams = StudentVectorizer(alpha=1.0, random_state=0).fit(own, vectors)
    zero = copy(ngrams).set_params(unknown="zero")
    cbos = CBOSVectorizer(N_COMPONENTS, min_count=1, max_iter=1, unknown="zero", random_state=0).fit(own)
    return {
        "own": (ngrams.transform, False),
        "new": (ngrams.transform, True),
        'new, unknown="zero"': (zero.transform, True),
        'new, CBOS, unknown="zero"': (cbos.transform, True),
        "coverage": (zero.coverage, True),
    }


def thousands(embed, sentences):
    """Thousand sentences a CPU second."""
    began = time.process_time()
    embed(sentences)
    return len(sentences) / (time.process_time() - began) / 1e3


def main():
    options = arguments(__doc__)
    rows = []
    for name, sides in texts_of(options.data).items():
        models = models_of(sides[0])
        known = models.pop("coverage")[0](sides[1])
        n_words = np.array([len(sentence.split()) for sentence in sides[1]])
        runs = {title: (lambda e=embed, s=sides[is_new]: thousands(e, s)) for title, (embed, is_new) in models.items()}
        for run in runs.values():
            run()  # compiles
        speed = {title: max(found) for title, found in rounds_of(runs, options.rounds).items()}
        unknown = 100 * (1 - np.average(known, weights=n_words))
        row = {"text": name, "words": f"{n_words.mean():.0f}", "unknown %": f"{unknown:.0f}"}
        rows.append(row | {title: f"{value:.0f}" for title, value in speed.items()})
        print(rows[-1], flush=True)
    title = f"Thousand sentences a second, rows of {N_COMPONENTS} numbers"
    report(options, "student", title, rows, notes="Words: of a new sentence, in the mean.")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()
