"""Text that arrives in parts: what does `partial_fit` gain from the words that the first part has not?

    python benchmarks/quality/new_words.py --data DATA [--rounds SEEDS] [--out doc/_results/quality]

Each method learns from the first 150,000 sentences of simplewiki of DATA/corpora in ten parts, one after the other,
with each value of `new_words`, and in one pass over all. The score is the mean Pearson correlation x 100 over the 14
development sets of STS, a mean over the seeds with the least and the most.
"""

import sys
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, public
from reporting import report
from yardsticks import mean_score, tfidf_note

METHODS = {"CBOS": "CBOSVectorizer", "Siamese CBOW": "SiameseCBOWVectorizer", "Sent2Vec": "Sent2VecVectorizer"}
N_SENTENCES, N_PARTS = 150_000, 10


def learn(name, corpus, new_words, seed):
    """Learn in parts, or in one pass if `new_words` is None."""
    model = public()[name](max_iter=1, random_state=seed, n_jobs=2)
    if new_words is None:
        return model.fit(corpus)
    for part in np.array_split(np.arange(corpus.n_sentences), N_PARTS):
        model.partial_fit(corpus[part[0] : part[-1] + 1], new_words=new_words)
    return model


def main():
    options = arguments(__doc__)
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")
    corpus = corpus[: N_SENTENCES // (10 if options.quick else 1)]
    rows = []
    for new_words, title in (("ignore", "ten parts, ignore"), ("append", "ten parts, append"), (None, "one pass")):
        row = {"text": title}
        for method, name in METHODS.items():
            models = [learn(name, corpus, new_words, seed) for seed in range(options.rounds)]
            scores = [mean_score(model.transform, options.data) for model in models]
            print(title, method, scores, flush=True)
            row["words"] = f"{len(models[0].vocabulary_):,}"
            row[method] = f"{np.mean(scores):.1f} ({min(scores):.1f} to {max(scores):.1f})"
        rows.append(row)
    title = f"Mean of 14 sets, and the range of {options.rounds} seeds"
    report(options, "new_words", title, rows, notes=tfidf_note(options.data))


if __name__ == "__main__":
    main()
