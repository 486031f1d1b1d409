"""How many sentences of 15 words a second become rows, beside the mean of gensim, fse and tf-idf with SVD?

    python benchmarks/speed/transform.py --data DATA

From Python strings to float32 rows of 100 dimensions. All models are learned before the clock starts; gensim averages
the vectors of CBOS behind scikit-learn's analyzer. The clock is CPU seconds for one thread and the wall's for two.

fse is in no extra, because pip alone cannot build its last release, 1.0.0. With setuptools before 70, run Cython 0.29
over its .pyx, then ``pip install --no-build-isolation`` the source; it needs psutil, wordfreq and huggingface_hub.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, learners, median, public, rounds_of, saved_corpus, spread, workers
from reporting import bars, report

WORDS = 15
SVD = "TfidfVectorizer and TruncatedSVD"
# A peer, the estimator that does the same, and how many times faster it is to be.
METHODS = {
    "BOWPCA": ("BOWPCA", {"n_components": 100}),
    **learners(),
    "CBOS, two threads": ("CBOSVectorizer", {"n_jobs": 2}),
    "CBOS, SIF weights": ("CBOSVectorizer", {"weighting": "sif"}),
    "skip-gram, SIF, 1 removed": ("MeanEmbeddingVectorizer", {"weighting": "sif", "n_removed_components": 1}),
}


def load(folder):
    """The corpus to learn from, and its first sentences cut anew to 15 words each."""
    from skembed import SentenceCorpus

    corpus = SentenceCorpus.load(f"{folder}/simplewiki", verify=False)
    words = np.array(corpus.vocabulary.words, object)[corpus.tokens]
    return corpus, [" ".join(words[i : i + WORDS]) for i in range(0, len(words) - WORDS, WORDS)]


def prepare_skembed(folder, cls, settings):
    import skembed

    corpus, sentences = load(folder)
    make = public()[cls]
    if cls == "MeanEmbeddingVectorizer":
        settings = settings | {"word_vectors": skembed.Word2VecVectorizer(max_iter=1)}
    elif cls != "BOWPCA":
        settings = settings | {"max_iter": 1}
    model = make(random_state=0, **settings).fit(corpus)
    model.transform(sentences)  # compiles
    return lambda: model.transform(sentences).shape


def prepare_gensim(folder):
    from gensim.models import KeyedVectors
    from sklearn.feature_extraction.text import CountVectorizer

    from skembed import CBOSVectorizer

    corpus, sentences = load(folder)
    model = CBOSVectorizer(max_iter=1, random_state=0).fit(corpus)
    vectors = KeyedVectors(100)
    vectors.add_vectors(list(model.vocabulary_), model.word_vectors_)
    analyze = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    return lambda: np.array([vectors.get_mean_vector(analyze(s), pre_normalize=False) for s in sentences]).shape


def prepare_fse(folder):
    from fse import SplitIndexedList
    from fse.models import SIF
    from gensim.models import Word2Vec

    corpus, sentences = load(folder)
    model = SIF(Word2Vec([corpus[i] for i in range(20_000)], vector_size=100, epochs=1), workers=1)
    indexed = SplitIndexedList(sentences)
    model.train(indexed)
    return lambda: model.infer([(words, i) for i, words in enumerate(s.split() for s in sentences)]).shape


def prepare_svd(folder):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    _, sentences = load(folder)
    tfidf = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", min_df=5, dtype=np.float32)
    model = make_pipeline(tfidf, TruncatedSVD(100, random_state=0)).fit(sentences)
    return lambda: model.transform(sentences).shape


def main():
    options = arguments(__doc__)
    with saved_corpus(options, 200_000) as folder:
        source = {"folder": str(folder)}
        wanted = {
            "gensim, mean of vectors": ("prepare_gensim", source),
            "fse, SIF": ("prepare_fse", source),
            SVD: ("prepare_svd", source),
        }
        for name, (cls, settings) in METHODS.items():
            wanted[name] = ("prepare_skembed", source | {"cls": cls, "settings": settings})
        with workers(__file__, wanted) as found:
            results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
    rows, speed = [], {}
    for name, measured in results.items():
        clock = "wall" if name.endswith("threads") else "cpu"
        seconds = [result[clock] for result in measured]
        speed[name] = measured[0]["value"][0] / median(seconds)
        thousands = round(speed[name] / 1e3)
        rows.append({"what": name, "clock": clock, "k sentences/s": thousands, "± %": spread(seconds)})

    def draw(figure):
        colours = ["C0" if row["what"] in METHODS else "0.6" for row in rows]
        labels, values = [row["what"] for row in rows], [row["k sentences/s"] for row in rows]
        bars(figure.subplots(), labels, values, colours=colours, unit="thousand sentences a second")

    notes = f"{results['CBOS'][0]['value'][0]:,} sentences of {WORDS} words, the text of simplewiki cut anew."
    title = "From sentences of 15 words to float32 rows"
    report(options, "transform", title, rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
