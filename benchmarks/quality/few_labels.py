"""How much are models of own text, learned without labels, worth where labels are few?

    python benchmarks/quality/few_labels.py --data DATA [--models FILE] [--validate] [--out doc/_results/quality]

The tasks, and how they are held out, are those of labels.py. Sent2Vec, Siamese CBOW and CBOS of 300 dimensions learn
from simplewiki without labels (FILE keeps them for the next run), and their vectors stand side by side. "own text"
classifies them as they are. "own text, then labels" learns on from them with the labels of the task, a part of the way.
Rows have length one, and the classifier is scikit-learn's LogisticRegression with its defaults.
"""

import sys
from pathlib import Path

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus, SiameseCBOWVectorizer

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from labels import LABELS, MANY, few, line, read_tasks, tfidf
from measuring import arguments
from reporting import report

MOVES = {"learning_rate": 0.03, "interpolation": 0.05}  # chosen with --validate


def learn_own_text(options):
    """Three models of 300 dimensions, or those that an earlier run has kept."""
    if options.models is not None and options.models.exists():
        return joblib.load(options.models)
    corpus = SentenceCorpus.from_file(options.data / "corpora" / "simplewiki.txt.gz")
    corpus = corpus[: 50_000 if options.quick else corpus.n_sentences]
    classes = (Sent2VecVectorizer, SiameseCBOWVectorizer, CBOSVectorizer)
    models = [cls(300, random_state=0, n_jobs=-1).fit(corpus) for cls in classes]
    if options.models is not None:
        joblib.dump(models, options.models)
    return models


def joined(models, sentences):
    """Words and vectors side by side, of equal median length; without words that the sentences lack."""
    words = [word for word in models[0].vocabulary_ if word in sentences.vocabulary.index]
    rows = [models[0].vocabulary_[word] for word in words]  # of all models: they have learned from one text
    parts = [model.word_vectors_[rows] for model in models]
    vectors = np.hstack([part / np.median(np.linalg.norm(part, axis=1)) for part in parts])
    vectors.flags.writeable = False  # shared by all fits
    return words, vectors


def methods(init=None):
    """Name -> seed -> pipeline."""

    def classified(vectorizer):
        return make_pipeline(vectorizer, Normalizer(), LogisticRegression(max_iter=1000))

    return {
        "tf-idf": lambda seed: tfidf(),
        "CBOS": lambda seed: line(CBOSVectorizer(random_state=seed)),
        "Siamese CBOW": lambda seed: line(SiameseCBOWVectorizer(random_state=seed)),
        "own text": lambda seed: classified(MeanEmbeddingVectorizer(word_vectors=init, unknown="zero")),
        "own text, then labels (CBOS)": lambda seed: classified(CBOSVectorizer(init=init, random_state=seed, **MOVES)),
        "own text, then labels (Siamese CBOW)": lambda seed: classified(
            SiameseCBOWVectorizer(init=init, random_state=seed, **MOVES)
        ),
    }


def main():
    options = arguments(
        __doc__,
        validate={"action": "store_true", "help": "score on a part of the training sentences"},
        few={"action": "store_true", "help": "ten and fifty labels per class alone, which takes a tenth of the time"},
        models={"type": Path, "help": "file that keeps the models of own text"},
    )
    models, rows, means = learn_own_text(options), [], {}
    tasks = read_tasks(options.data, options.validate)
    del tasks[MANY]  # its classes have fewer sentences than fifty
    scores, numbers = {}, LABELS[:2] if options.few else LABELS
    for task, (X, y, X_test, y_test) in tasks.items():
        print(task, flush=True)
        init = joined(models, SentenceCorpus.from_sentences([*X, *X_test]))
        for n in numbers:
            for name, make in methods(init).items():
                fits = (
                    make(seed).fit(*few(X, y, n, seed)).score(X_test, y_test)
                    for seed in range(options.rounds if n else 1)
                )
                scores[name, n, task] = 100 * float(np.mean(list(fits)))
    for n in numbers:
        for name in methods():
            of_tasks = {task: scores[name, n, task] for task in tasks}
            means[name, n] = float(np.mean(list(of_tasks.values())))
            row = {"labels per class": n or "all", "method": name} | {k: round(v, 1) for k, v in of_tasks.items()}
            rows.append(row | {"mean": round(means[name, n], 1)})
    title = "Accuracy in per cent with few labels, from a model of own text"
    notes = f"Mean of {options.rounds} draws of the labels; one seed with all labels. Own text: simplewiki, 3 x 300."
    report(options, "few_labels", title, rows, notes=notes, draw=lambda figure: draw(figure, means))


def draw(figure, means):
    """The learning curves of the means."""
    ax, numbers = figure.subplots(), list(dict.fromkeys(n for _, n in means))
    for name in methods():
        ax.plot(range(len(numbers)), [means[name, n] for n in numbers], marker="o", label=name)
    ax.set(xticks=range(len(numbers)), xticklabels=[n or "all" for n in numbers])
    ax.set(xlabel="labels per class", ylabel="accuracy (%), mean of six tasks")
    ax.legend()


if __name__ == "__main__":
    main()
