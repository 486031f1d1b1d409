"""Paragraph vectors beside gensim's Doc2Vec: quality and speed after equal passes over the same text, on one core.

    python benchmarks/speed/paragraphs.py --data DATA

Both see the same sentences, split in the same way and in lower case, with the same window, negatives, subsampling and
minimum count. gensim's rate for single sentences is 0.1, with which it is best here; with its default and few passes it
learns next to nothing from them. Its `infer_vector` makes 50 passes, as fewer are worse. A pass is the difference of
two fits over the passes between them, so it holds no start-up. Times are CPU seconds of all threads. STS is the mean
Pearson correlation with the grades of the 14 sets of 2012 to 2014, on which the defaults were chosen; MR and TREC are
the accuracies of a logistic regression.
"""

import gzip
import re
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, rounds_of, workers
from reporting import report
from yardsticks import mean_score, read_labelled, tfidf_note

N_SENTENCES, PASSES, PASSES_OF_GENSIM, RATE = 100_000, 10, 50, 0.1
SHARED = {"negative": 5, "window": 5, "min_count": 5}
MODELS = {
    "PV-DBOW": ({"algorithm": "dbow"}, {"dm": 0}),
    "PV-DM, mean": ({"algorithm": "dm", "combine": "mean"}, {"dm": 1, "dm_mean": 1}),
    "PV-DM, sum": ({"algorithm": "dm", "combine": "sum"}, {"dm": 1, "dm_mean": 0}),
}
split = re.compile(r"(?u)\b\w+\b").findall


def read_sentences(data, n_sentences):
    with gzip.open(Path(data) / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
        return [line.strip() for line, _ in zip((line for line in file if line.strip()), range(n_sentences))]


def accuracies(transform, data):
    """MR in five folds, and the test part of TREC."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    folder, model = Path(data) / "eval" / "clf", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    reviews, ratings = read_labelled(folder / "MR.tsv")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    of_reviews = cross_val_score(model, transform(reviews), ratings, cv=folds).mean()
    (questions, kinds), (asked, wanted) = (read_labelled(folder / f"TREC.{part}.tsv") for part in ("train", "test"))
    return 100 * of_reviews, 100 * model.fit(transform(questions), kinds).score(transform(asked), wanted)


def task_of(fit, n_words, data):
    """What a worker does: fit a number of passes, and if asked embed the questions of TREC and score the vectors."""
    questions = read_labelled(Path(data) / "eval" / "clf" / "TREC.train.tsv")[0]

    def task(passes, score=False):
        start = time.process_time()
        transform = fit(passes)
        seconds = time.process_time() - start
        start = time.process_time()
        transform(questions)
        encoded = len(questions) / (time.process_time() - start)
        scores = [mean_score(transform, data), *accuracies(transform, data)] if score else None
        return {"seconds": seconds, "words": n_words, "encoded": encoded, "scores": scores}

    return task


def prepare_skembed(data, n_sentences, settings):
    import skembed

    corpus = skembed.SentenceCorpus.from_sentences(read_sentences(data, n_sentences))

    def fit(passes):
        model = skembed.ParagraphVectorizer(max_iter=passes, random_state=0, n_jobs=1, **SHARED, **settings)
        return model.fit(corpus).transform

    fit(1)(["compiles"])
    return task_of(fit, corpus.n_tokens, data)


def prepare_gensim(data, n_sentences, settings):
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    texts = [TaggedDocument(split(line.lower()), [i]) for i, line in enumerate(read_sentences(data, n_sentences))]

    def fit(passes):
        model = Doc2Vec(vector_size=100, alpha=RATE, sample=1e-3, workers=1, seed=0, **SHARED, **settings)
        model.cbow_mean = settings.get("dm_mean", 1)  # gensim 4 does not pass it on, and always takes means
        model.build_vocab(texts)
        model.train(texts, total_examples=len(texts), epochs=passes)
        return lambda X: np.array([model.infer_vector(split(x.lower()), epochs=PASSES_OF_GENSIM) for x in X])

    return task_of(fit, sum(len(text.words) for text in texts), data)


def row_of(found, scores):
    """Speeds and scores of one method, from the runs of one pass and of all."""
    first, last = (median([run["value"]["seconds"] for run in runs]) for runs in found)
    of_all = [run["value"]["encoded"] for runs in found for run in runs]
    words = found[0][0]["value"]["words"] * (PASSES - 1) / (last - first)
    names = ("STS 2012-2014", "MR", "TREC")
    return {"words/s": words, "sentences/s": median(of_all), **dict(zip(names, scores))}


def main():
    options = arguments(__doc__, only={"nargs": "*", "default": list(MODELS), "help": "rows"})
    n_sentences = N_SENTENCES // (10 if options.quick else 1)
    wanted = {}
    for name in options.only:
        of_both = {"data": str(options.data), "n_sentences": n_sentences}
        for peer, settings in zip(("skembed", "gensim"), MODELS[name]):
            wanted[name, peer] = (f"prepare_{peer}", {**of_both, "settings": settings})
    with workers(__file__, wanted) as alive:
        runs = {
            (*key, passes): lambda worker=worker, passes=passes: worker.run(passes=passes)
            for key, worker in alive.items()
            for passes in (1, PASSES)
        }
        found = rounds_of(runs, options.rounds)
        scores = {key: worker.run(passes=PASSES, score=True)["value"]["scores"] for key, worker in alive.items()}
    rows = {key: row_of([found[*key, passes] for passes in (1, PASSES)], scores[key]) for key in alive}
    shown = [
        {
            "method": name,
            "program": peer,
            "words/s": f"{row['words/s']:,.0f}",
            "sentences/s": f"{row['sentences/s']:,.0f}",
            **{column: f"{row[column]:.1f}" for column in ("STS 2012-2014", "MR", "TREC")},
        }
        for (name, peer), row in rows.items()
    ]
    notes = (
        f"{n_sentences:,} sentences of Simple English Wikipedia, 100 dimensions, {PASSES} passes, one core; gensim "
        f"with a rate of {RATE} and {PASSES_OF_GENSIM} passes for a new sentence. " + tfidf_note(options.data)
    )
    report(options, "paragraphs", "Paragraph vectors beside gensim", shown, notes=notes)


if __name__ == "__main__":
    main()
