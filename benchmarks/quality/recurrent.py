"""What do the recurrent methods learn from a text of a million words, how fast, and is it more than nothing?

    python benchmarks/quality/recurrent.py --data DATA [--sentences 40000] [--out doc/_results/quality]

"loss" is the mean negative log-probability of a word of held-out text, and "of frequency" that of a model that knows
how frequent each word is, and no more. TREC (its test part) and SUBJ (five folds) are accuracies of logistic regression
on standardised vectors. "random" has random word vectors of the same length, and takes their mean. Speeds are of one
pass over the first 8,000 sentences, compiled before and without held-out text, the best of three. "Mflop/word" are the
float32 operations of the matrix products that a word of that text needs, words that are not learned included, and "of
peak" is that times the speed, as a share of what one matrix product of numpy reaches in the same process.

URAE starts from random word vectors and from those of Sent2Vec. Its "loss", a squared distance of held-out text, does
not compare with that of the others.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from reporting import report
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from yardsticks import mean_score, read_labelled, tfidf_note

from skembed import FastSentVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed.research import RecursiveAutoencoderVectorizer, SequentialDenoisingAutoencoder, SkipThoughtVectorizer

_HELD_OUT = {"early_stopping": True, "validation_fraction": 0.02, "n_iter_no_change": 1000}


def words_a_second(estimator, corpus):
    """Words that an estimator learns in a CPU second of one core."""
    estimator = clone(estimator).set_params(early_stopping=False, max_iter=1, n_jobs=1)
    estimator.fit(corpus[:500])  # compiles
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        estimator.fit(corpus)
        seconds.append(time.process_time() - begin)
    return corpus.n_tokens / min(seconds)


def operations_a_word(estimator, corpus):
    """Operations of the products of states, word vectors, sentence vectors and scores, forward and twice backward."""
    small = clone(estimator).set_params(early_stopping=False, max_iter=1, n_components=2).fit(corpus)
    is_skip_thought = isinstance(estimator, SkipThoughtVectorizer)
    n, n_inputs, n_decoders = estimator.n_components, estimator.word_components, 1 + is_skip_thought
    rows = np.array([small.vocabulary_.get(word, -1) for word in corpus.vocabulary.words], np.int64)
    run = 4 if is_skip_thought else 1  # sentences that stay together
    order = np.random.default_rng(0).permutation(len(corpus) // run)[:, None] * run + np.arange(run)
    n_words = n_distinct = 0
    for chunk in np.array_split(order.ravel(), len(corpus) // 64):
        found = np.concatenate([rows[corpus.tokens[slice(*corpus.sent_ptr[i : i + 2])]] for i in chunk])
        n_words, n_distinct = n_words + (found >= 0).sum(), n_distinct + len(np.unique(found[found >= 0]))
    of_unit = 6 * n * ((n_words - len(corpus)) * n + n_distinct * n_inputs)  # a first word has no state before it
    of_decoder = of_unit + 6 * n * n * len(corpus) + 2 * n_words * n * min(estimator.negative, len(small.vocabulary_))
    return 3 * (of_unit + n_decoders * of_decoder) / corpus.n_tokens


def peak():
    """Operations a CPU second of a product of float32 matrices."""
    a, b = (np.random.default_rng(0).random(shape, np.float32) for shape in ((2048, 320), (320, 960)))
    seconds = []
    for _ in range(20):
        begin = time.process_time()
        for _ in range(10):
            a @ b
        seconds.append(time.process_time() - begin)
    return 10 * 2 * a.size * b.shape[1] / min(seconds)


def speeds(estimator, corpus):
    """Columns of the speed at each length of the vectors, and of the share of the machine's peak at the last."""
    row = {}
    for size in dict.fromkeys((estimator.n_components, 300)):
        sized = clone(estimator).set_params(n_components=size)
        speed = words_a_second(sized, corpus)
        row[f"words/CPU s, d={size}"] = f"{speed:,.0f}"
    operations = operations_a_word(sized, corpus)
    share = f"{100 * operations * speed / peak():.0f}%"
    return row | {f"Mflop/word, d={size}": round(operations / 1e6, 2), f"of peak, d={size}": share}


def accuracies(estimator, folder):
    """TREC, SUBJ."""
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))
    (sentences, labels), test = (read_labelled(folder / f"TREC.{part}.tsv") for part in ("train", "test"))
    trec = classifier.fit(estimator.transform(sentences), labels).score(estimator.transform(test[0]), test[1])
    sentences, labels = read_labelled(folder / "SUBJ.tsv")
    return 100 * trec, 100 * float(cross_val_score(classifier, estimator.transform(sentences), labels, cv=5).mean())


def unigram_loss(estimator):
    shares = estimator.word_counts_ / estimator.word_counts_.sum()
    return -float((shares * np.log(shares)).sum())


def main():
    options = arguments(__doc__, sentences={"type": int, "default": 40_000}, components={"type": int, "default": 100})
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")[: options.sentences]
    n = options.components
    common = {"random_state": 0}
    methods = {
        "SDAE": SequentialDenoisingAutoencoder(n, **common, **_HELD_OUT),
        "uni-skip": SkipThoughtVectorizer(n, **common, **_HELD_OUT),
        "FastSent": FastSentVectorizer(n, **common),
        "Sent2Vec": Sent2VecVectorizer(n, **common),
    }
    learned = clone(methods["Sent2Vec"]).fit(corpus)
    for start, init in {"random": None, "Sent2Vec": learned}.items():
        for learn in (False, True):
            name = f"URAE, {start} words{', learned' if learn else ''}"
            methods[name] = RecursiveAutoencoderVectorizer(n, init=init, learn_words=learn, **common, **_HELD_OUT)
    rows = []
    for name, estimator in methods.items():
        row = {"method": name}
        if hasattr(estimator, "word_components"):
            row |= speeds(estimator, corpus[:8000])
        rows.append(row | scores(estimator.fit(corpus), options.data))
        print(rows[-1], flush=True)
    words = list(estimator.vocabulary_)
    vectors = np.random.default_rng(0).normal(size=(len(words), n)).astype(np.float32)
    given = {"word_vectors": (words, vectors), "unknown": "zero", "weighting": None}
    random = MeanEmbeddingVectorizer(**given).fit(corpus)
    rows.append({"method": "random"} | scores(random, options.data))
    title = f"Recurrent and recursive methods, {n} dimensions, {corpus.n_tokens:,} words of Simple Wikipedia, one core"
    report(options, "recurrent", title, rows, notes=tfidf_note(options.data))


def scores(estimator, data):
    loss = getattr(estimator, "validation_loss_curve_", None)
    losses = {"loss": round(loss[-1], 2)} if loss else {}
    if isinstance(estimator, (SequentialDenoisingAutoencoder, SkipThoughtVectorizer)):
        losses["of frequency"] = round(unigram_loss(estimator), 2)
    trec, subj = accuracies(estimator, Path(data) / "eval" / "clf")
    return losses | {
        "TREC": round(trec, 1),
        "SUBJ": round(subj, 1),
        "STS": round(mean_score(estimator.transform, data), 1),
    }


if __name__ == "__main__":
    main()
