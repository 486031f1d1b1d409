"""How well does each method follow human similarity with its defaults, beside another revision of the package?

    python benchmarks/quality/revisions.py --data DATA --other FOLDER [--out doc/_results/quality]

FOLDER is a checkout of the other revision. Both learn from Simple English Wikipedia; scores are the mean Pearson
correlation x 100 of the cosine over the 14 sets of 2012 to 2014.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, workers
from reporting import report

ROOT = Path(__file__).resolve().parents[2]
METHODS = {
    "CBOS": ("CBOSVectorizer", {}),
    "Siamese CBOW": ("SiameseCBOWVectorizer", {}),
    "Sent2Vec": ("Sent2VecVectorizer", {}),
    "means of skip-gram": ("MeanEmbeddingVectorizer", {}),
    "BOWPCA": ("BOWPCA", {}),
}


def prepare(text, sentences, n_sentences, cls, settings):
    """A fit and the rows of sentences, which it writes to a file."""
    import skembed

    corpus = skembed.SentenceCorpus.from_file(text)[:n_sentences]
    listed = Path(sentences).read_text(encoding="utf8").split("\n")

    def task(seed, rows):
        model = getattr(skembed, cls)(random_state=seed, **settings).fit(corpus)
        np.save(rows, np.asarray(model.transform(listed)))

    return task


def main():
    """Measure and report."""
    options = arguments(__doc__, other={"type": Path, "required": True, "help": "checkout of the other revision"})
    from yardsticks import mean_score, read_pairs, tfidf_note

    files = sorted((options.data / "eval" / "sts").glob("201[234]/*.tsv"))
    sentences = sorted({text for path in files for side in read_pairs(path)[1:] for text in side})
    found = []
    with tempfile.TemporaryDirectory(prefix="skembed-bench-") as folder:
        listed = Path(folder) / "sentences.txt"
        listed.write_text("\n".join(sentences), encoding="utf8")

        def score(worker, seed):
            rows = f"{folder}/rows.npy"
            worker.run(seed=seed, rows=rows)
            of_sentence = dict(zip(sentences, np.load(rows)))
            return mean_score(lambda texts: np.array([of_sentence[text] for text in texts]), options.data)

        for method, (cls, settings) in METHODS.items():
            common = {"text": str(options.data / "corpora" / "simplewiki.txt.gz"), "sentences": str(listed)}
            common |= {"n_sentences": 50_000 if options.quick else None, "cls": cls, "settings": settings}
            roots = {"before": options.other.resolve(), "now": ROOT}
            wanted = {
                name: ("prepare", common | {"environment": {"PYTHONPATH": str(root), "NUMBA_CACHE_DIR": folder}})
                for name, root in roots.items()
            }
            row = {"method": method}
            with workers(__file__, wanted) as alive:
                for name, worker in alive.items():
                    scores = [score(worker, seed) for seed in range(options.rounds)]
                    row |= {name: round(float(np.mean(scores)), 2)}
                    row |= {f"{name}, by seed": " ".join(f"{each:.1f}" for each in scores)}
            found.append(row)
            print(row, flush=True)
    title = "Mean score of the 14 STS sets with the defaults, before and now"
    report(options, "revisions", title, found, notes=tfidf_note(options.data))


if __name__ == "__main__":
    main()
