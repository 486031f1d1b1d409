"""What do vectors that are saved in 16 and in 8 bits cost in similarity, and how small is the folder?

    python benchmarks/quality/rounded_models.py --data DATA [--out doc/_results/quality]

Each model learns from 200,000 sentences of simplewiki, is saved for inference only as float32, float16 and int8, and is
loaded again. "STS" is the mean Pearson correlation over the 14 sets of 2012 to 2014, x 100; "smallest cosine" is that
of a sentence of these sets with the same sentence by the model that was never saved.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from reporting import report
from yardsticks import mean_score, read_pairs

import skembed
from skembed.metrics import paired_cosine_similarity

MODELS = {
    "CBOS": skembed.CBOSVectorizer(300, random_state=0, n_jobs=2),
    "Sent2Vec, bigrams": skembed.Sent2VecVectorizer(300, ngram_range=(1, 2), random_state=0, n_jobs=2),
    "skip-gram, mean": skembed.MeanEmbeddingVectorizer(300, weighting="sif", random_state=0, n_jobs=2),
    "BOW-PCA": skembed.BOWPCA(300, random_state=0),
}


def smallest_cosine(model, back, sentences):
    """Of each sentence that has a vector."""
    rows, found = model.transform(sentences), back.transform(sentences)
    return float(paired_cosine_similarity(rows, found)[np.linalg.norm(rows, axis=1) > 0].min())


def main():
    options = arguments(__doc__)
    corpus = skembed.SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")
    corpus = corpus[: 20_000 if options.quick else 200_000]
    paths = [path for year in ("2012", "2013", "2014") for path in (options.data / "eval" / "sts" / year).glob("*.tsv")]
    sentences = sorted({sentence for path in paths for column in read_pairs(path)[1:] for sentence in column})
    rows = []
    for name, model in MODELS.items():
        model.fit(corpus)
        for dtype in ("float32", "float16", "int8"):
            with tempfile.TemporaryDirectory() as folder:
                sizes = skembed.save(model, f"{folder}/model", inference_only=True, dtype=dtype)
                back = skembed.load(f"{folder}/model")
            row = {"model": name, "saved as": dtype, "MB": f"{sizes['written'] / 1e6:.1f}"}
            row["STS"] = f"{mean_score(back.transform, options.data):.2f}"
            row["smallest cosine"] = f"{smallest_cosine(model, back, sentences):.5f}"
            rows.append(row)
            print(row, flush=True)
    notes = f"{corpus.n_sentences:,} sentences, 300 dimensions, one seed."
    report(options, "rounded_models", "Models saved in fewer bits", rows, notes=notes)


if __name__ == "__main__":
    main()
