"""Own text of a few thousand sentences or of many: which method is the best advice, and is it better than tf-idf?

    python benchmarks/quality/own_text.py --data DATA [--sizes 2000 20000 160000] [--csv FILE] [--out FOLDER]

Everything learns from stems of whole documents drawn at random from DATA/corpora/simplewiki.txt.gz, or from
books_small.txt.gz, each size inside the next larger one. Documents of 20,000 other sentences are kept aside for the two
tasks of `document_scores`: the true next sentence among 20, and the same document or not. DATA/eval/sts/2012, 2013 and
2014 are scored as in sts_table.py. Tf-idf is fitted on the compared sentences: those of one STS set, or those that the
two tasks draw. Rows that FILE has are not measured again. One seed.
"""

import argparse
import gzip
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skembed import (
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    MetaEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    TextVectorizer,
)
from skembed.evaluation import document_scores
from skembed.evaluation._baselines import FittedOnCompared

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import KeptRows, as_csv_table, save
from yardsticks import mean_score, tfidf_of_stems

TEXTS = {"simplewiki": "wiki", "books_small": "books"}
SIZES = [2_000, 20_000, 160_000]
N_TEST = 20_000
TASKS = {
    "sts": "Similarity: mean Pearson correlation, times 100, over the 14 sets of STS 2012 to 2014",
    "next": "The true next sentence among 20 of documents kept aside: accuracy in per cent",
    "document": "The same document or not: area under the ROC curve, times 100",
    "seconds": "CPU seconds to learn",
}
TFIDF = "tf-idf of the compared sentences"
ADVISED = "TextVectorizer, without labels"


def make_methods(corpus, fitted):
    """Name -> function that fits; `fitted` fits a model that several rows share once."""
    common = {"random_state": 0}

    def cbos():
        return fitted(CBOSVectorizer(300, max_sentence_length=32, **common))

    def sent2vec():
        return fitted(Sent2VecVectorizer(300, **common))

    def siamese():
        return fitted(SiameseCBOWVectorizer(300, **common))

    def whitened(*more):
        weighted = [MetaEmbeddingVectorizer([model()], 300, weighting="sif") for model in (cbos, *more)]
        return MetaEmbeddingVectorizer([*weighted, sent2vec()], 300, whiten=True)

    def recipe(*more, spelling_weight=0.0):
        options = {"binary": True, "hash_numbers": True, "spelling_weight": spelling_weight}
        return MeanEmbeddingVectorizer(word_vectors=whitened(*more), **options).fit(corpus)

    def refitted():
        models = [MetaEmbeddingVectorizer([FrozenEstimator(cbos())], 300, weighting="sif"), FrozenEstimator(sent2vec())]
        models = MetaEmbeddingVectorizer(models, 300, whiten=True)
        options = {"binary": True, "hash_numbers": True, "stemmer": "english"}
        return FittedOnCompared(MeanEmbeddingVectorizer(word_vectors=models, **options))

    def advised():
        return FittedOnCompared(make_pipeline(FunctionTransformer(stems), TextVectorizer(corpus=corpus, **common)))

    def joined():
        return MeanEmbeddingVectorizer(300, word_vectors=[cbos(), sent2vec()], weighting="sif").fit(corpus)

    return {
        TFIDF: tfidf_of_stems,
        "CBOS(100)": lambda: fitted(CBOSVectorizer(**common)),
        "Siamese CBOW(100)": lambda: fitted(SiameseCBOWVectorizer(**common)),
        "Sent2Vec(100)": lambda: fitted(Sent2VecVectorizer(**common)),
        "MetaEmbedding of CBOS and Sent2Vec, 300": joined,
        "MetaEmbedding, spelling 0.8": lambda: recipe(spelling_weight=0.8),
        "MetaEmbedding without spelling": recipe,
        "MetaEmbedding without spelling, last stage fitted on the compared sentences": refitted,
        "MetaEmbedding without spelling, Siamese CBOW as a third": lambda: recipe(siamese),
        ADVISED: advised,
    }


def stems(sentences):
    return SentenceCorpus.from_sentences(list(sentences), stemmer="english")


def read_documents(path):
    """List of documents, each a list of sentences."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [document.split("\n") for document in file.read().strip("\n").split("\n\n")]


def draw_documents(documents, sizes):
    """Documents to test on, and own text of each size as a corpus of stems: whole documents at random."""
    order = np.random.default_rng(0).permutation(len(documents))
    held = np.cumsum([len(documents[d]) for d in order])
    first = int(np.searchsorted(held, N_TEST)) + 1

    def text_of(chosen):
        chosen = np.sort(chosen)
        sentences = [sentence for d in chosen for sentence in documents[d]]
        return sentences, np.repeat(chosen, [len(documents[d]) for d in chosen])

    lasts = {size: int(np.searchsorted(held, held[first - 1] + size, "right")) for size in sizes}
    parts = {size: text_of(order[first:last]) for size, last in lasts.items()}
    return text_of(order[:first]), {n: SentenceCorpus.from_sentences(*p, stemmer="english") for n, p in parts.items()}


def measure(model, test, data):
    sentences, groups = test
    scores = document_scores(model, sentences, groups=groups)
    return {
        "sts": mean_score(model.transform, data),
        "next": 100 * scores.next_sentence,
        "document": 100 * scores.same_document,
    }


class FittedOnce:
    """Fits a model that several rows share once; `reused` are CPU seconds that a row did not spend again."""

    def __init__(self, corpus):
        self.corpus, self.fitted, self.reused = corpus, {}, 0.0

    def __call__(self, model):
        key = repr(model)
        if key in self.fitted:
            self.reused += self.fitted[key][1]
        else:
            start = time.process_time()
            self.fitted[key] = model.fit(self.corpus), time.process_time() - start
        return self.fitted[key][0]


def measure_text(text, options, rows):
    test, parts = draw_documents(read_documents(options.data / "corpora" / f"{text}.txt.gz"), options.sizes)
    for size, corpus in parts.items():
        print(text, size, corpus, flush=True)
        fitted = FittedOnce(corpus)
        for name, make in make_methods(corpus, fitted).items():
            if (text, size, name) in rows:
                continue
            fitted.reused, start = 0.0, time.process_time()
            model = make()
            seconds = time.process_time() - start + fitted.reused
            rows[text, size, name] = measure(model, test, options.data) | {"seconds": seconds}


def as_rst(rows):
    """A table a task: methods down, texts and sizes across; in bold what is not behind tf-idf."""
    columns = sorted({key[:2] for key in rows}, key=lambda column: (list(TEXTS).index(column[0]), column[1]))
    methods = list(dict.fromkeys(key[2] for key in rows))
    tables = []
    for task, title in TASKS.items():
        lines = [["sentences of own text", *(f"{TEXTS[text]} {size:,}" for text, size in columns)]]
        for method in methods:
            lines.append([method])
            for column in columns:
                row, level = rows.get((*column, method)), rows[(*column, TFIDF)][task]
                value = "" if row is None else f"{row[task]:.1f}"
                ahead = value and task != "seconds" and float(value) >= round(level, 1)
                lines[-1].append(f"**{value}**" if ahead else value)
        tables.append(as_csv_table(title, lines))
    return "\n".join(tables)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--csv", type=Path, default=Path("own_text.csv"))
    parser.add_argument("--out", type=Path, help="folder for the tables, own_text.inc")
    options = parser.parse_args()
    rows = KeptRows(options.csv, {"text": str, "size": int, "method": str}, TASKS)
    for text in TEXTS:
        measure_text(text, options, rows)
    tables = as_rst(rows)
    print(tables)
    save(options.out, "own_text", tables, "In bold what is not behind tf-idf. One seed.")


if __name__ == "__main__":
    main()
