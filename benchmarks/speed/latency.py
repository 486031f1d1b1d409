"""How long does one short sentence take on a fitted model?

    python benchmarks/speed/latency.py --data DATA

A service answers one request at a time: `transform` of a list of one sentence, `similarity` of two. The sentences have
nine words and three. Wall time in microseconds: the fastest of many short batches of calls, in the median of rounds.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, public, rounds_of, saved_corpus, spread, workers
from reporting import bars, report

SENTENCE, OTHER = "where is the river that goes to the sea", "a small river"
MODELS = {
    "CBOS": ("CBOSVectorizer", {"max_iter": 1}),
    "Siamese CBOW": ("SiameseCBOWVectorizer", {"max_iter": 1}),
    "Sent2Vec, bigrams": ("Sent2VecVectorizer", {"max_iter": 1, "ngram_range": [1, 2]}),
}
CALLS = ["transform", "transform, one word unknown", "similarity"]


def fastest(call, n_calls=20, n_batches=200):
    """Microseconds of a call."""
    best = float("inf")
    for _ in range(n_batches):
        start = time.perf_counter()
        for _ in range(n_calls):
            call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / n_calls


def prepare_skembed(folder, cls, settings):
    import skembed

    corpus = skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False)
    model = public()[cls](random_state=0, **settings).fit(corpus)
    known, unknown = [SENTENCE], [SENTENCE.replace("river", "rrriver")]
    assert model.coverage(known + unknown).tolist() == [1.0, 8 / 9]
    return lambda: [
        fastest(lambda: model.transform(known)),
        fastest(lambda: model.transform(unknown)),
        fastest(lambda: model.similarity(SENTENCE, OTHER)),
    ]


def prepare_svd(folder):
    import numpy as np
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    import skembed

    corpus = skembed.SentenceCorpus.load(f"{folder}/simplewiki", verify=False)
    sentences = [" ".join(corpus[i]) for i in range(corpus.n_sentences)]
    tfidf = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", min_df=5, dtype=np.float32)
    model = make_pipeline(tfidf, TruncatedSVD(100, random_state=0)).fit(sentences)
    return lambda: [fastest(lambda: model.transform([SENTENCE]), 2)]


def main():
    options = arguments(__doc__)
    with saved_corpus(options, 50_000) as folder:
        source = {"folder": str(folder)}
        wanted = {"TfidfVectorizer and TruncatedSVD": ("prepare_svd", source)}
        for name, (cls, settings) in MODELS.items():
            wanted[name] = ("prepare_skembed", source | {"cls": cls, "settings": settings})
        with workers(__file__, wanted) as found:
            results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
    rows = []
    for name, measured in results.items():
        for call, taken in zip(CALLS, zip(*(result["value"] for result in measured))):
            rows.append({"what": f"{name}: {call}", "microseconds": round(median(taken)), "± %": spread(taken)})

    def draw(figure):
        values = [row["microseconds"] for row in rows]
        bars(figure.subplots(), [row["what"] for row in rows], values, unit="microseconds a call")

    notes = "A sentence of nine words; `similarity` compares it with one of three words."
    report(options, "latency", "One short sentence", rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
