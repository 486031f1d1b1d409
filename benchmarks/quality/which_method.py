"""Which method, for how much text, which task and how much time?

    python benchmarks/quality/which_method.py --data DATA [--csv FILE] [--words 100000 1000000 ...]
        [--out doc/_results/quality]

DATA/corpora holds simplewiki.txt.gz and books_small.txt.gz, DATA/eval the sets. Every method learns, with its
defaults, from whole documents of simplewiki drawn at random, each sample inside the next larger one, then from all
of it and from both files. Rows that FILE has already are not measured again, so a stopped run goes on.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from skembed import (
    BOWPCA,
    CBOSVectorizer,
    MeanEmbeddingVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    Word2VecVectorizer,
)
from skembed.evaluation import make_baseline

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import KeptRows, save
from yardsticks import mean_score, pearson, read_labelled, tfidf_of_stems

WORDS = [100_000, 1_000_000, 4_000_000, 16_000_000, 28_000_000]  # the last two are all of one file, and both
TASKS = {
    "sts": "Similarity of sentence pairs: mean Pearson correlation, times 100, over the 14 sets of STS 2012 to 2014",
    "sick": "Relatedness of picture captions: Pearson correlation, times 100, on the trial set of SICK",
    "mr": "Positive or negative film review (MR): accuracy in per cent",
    "trec": "Kind of a question (TREC, six kinds): accuracy in per cent",
    "opinosis": "Clusters of opinions on 51 topics (Opinosis): adjusted mutual information, times 100",
    "seconds": "Time to learn: CPU seconds of all threads",
}


# The same for any size of text: it knows the sentences of the task and nothing else.
OWN = "tf-idf on stems of the task"


def make_methods():
    """Name -> estimator. Those that learn have their defaults."""
    common = {"random_state": 0, "n_jobs": 2}
    random = make_baseline("random vectors", random_state=0)
    return {
        "tf-idf": BOWPCA(n_components=None, weighting="idf"),
        "random vectors, SIF": random.set_params(weighting="sif", unknown="hash"),
        "BOWPCA (100, tf-idf)": BOWPCA(n_components=100, weighting="idf", min_count=5, random_state=0),
        "skip-gram mean, SIF": Word2VecVectorizer(weighting="sif", **common),
        "CBOW mean, SIF": Word2VecVectorizer(algorithm="cbow", weighting="sif", **common),
        "Sent2Vec": Sent2VecVectorizer(**common),
        "Siamese CBOW": SiameseCBOWVectorizer(**common),
        "CBOS": CBOSVectorizer(**common),
        "MetaEmbedding of CBOS and Sent2Vec, 300": MeanEmbeddingVectorizer(
            300, word_vectors=[CBOSVectorizer(300, **common), Sent2VecVectorizer(300, **common)], weighting="sif"
        ),
    }


def parts_of(data, words):
    """Number of words wanted, corpus of about as many: whole documents at random, each sample inside the next."""
    whole = SentenceCorpus.from_file(data / "corpora" / "simplewiki.txt.gz", n_jobs=2)
    sizes = np.diff(whole.sent_ptr[whole.doc_ptr])
    order = np.random.default_rng(0).permutation(whole.n_documents)
    held = np.cumsum(sizes[order])
    for n_words in words:
        if n_words < WORDS[-2]:
            chosen = np.zeros(whole.n_documents, bool)
            chosen[order[held <= n_words]] = True
            yield n_words, whole[chosen[whole.doc_of()]]
        elif n_words == WORDS[-2]:
            yield n_words, whole
        else:
            yield n_words, SentenceCorpus.from_file(data / "corpora", n_jobs=2)


def accuracy(rows, labels):
    """Of a logistic regression, in 5 folds. Dense columns are brought to one scale, tf-idf has it already."""
    classifier = LogisticRegression(max_iter=1000)
    if isinstance(rows, np.ndarray):
        classifier = make_pipeline(StandardScaler(), classifier)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return 100 * float(cross_val_score(classifier, rows, labels, cv=folds).mean())


def agreement(rows, topics):
    """Of k-means clusters of unit rows with the topics, mean of three seeds."""
    rows = normalize(rows)
    found = [KMeans(len(set(topics)), n_init=1, random_state=seed).fit_predict(rows) for seed in range(3)]
    return 100 * float(np.mean([adjusted_mutual_info_score(topics, clusters) for clusters in found]))


def measure_labelled(transform, data):
    """Classification and clustering of the rows that `transform` makes of each set's sentences."""
    clf = data / "eval" / "clf"
    reviews, questions, opinions = (read_labelled(clf / f"{n}.tsv") for n in ("MR", "TREC.train", "opinosis_topics"))
    return {
        "mr": accuracy(transform(reviews[0]), reviews[1]),
        "trec": accuracy(transform(questions[0]), questions[1]),
        "opinosis": agreement(transform(opinions[0]), opinions[1]),
    }


def measure(model, data):
    """All tasks but the time, of anything that has `transform`."""
    return {
        "sts": mean_score(model.transform, data),
        "sick": pearson(model, data / "eval" / "sts" / "sick" / "trial.tsv"),
    } | measure_labelled(model.transform, data)


def warm_up(model, corpus):
    """Compile the kernel, so that its time is not counted."""
    if hasattr(model, "max_iter"):
        clone(model).fit(corpus[:300])


def in_words(n):
    return f"{n / 1e6:.0f} M" if n >= 1e6 else f"{n / 1e3:.0f} k"


def as_rst(rows):
    """A table a task: methods down, words across; the best of each column in bold, but not of the times."""
    words = sorted({n_words for n_words, _ in rows} - {0})
    rows = {(n_words, OWN): rows[0, OWN] for n_words in words} | rows
    methods = list(dict.fromkeys(method for _, method in rows))
    text = []
    for task, title in TASKS.items():
        text += [
            f"**{title}**",
            "",
            ".. csv-table::",
            '   :header: "words of text", ' + ", ".join(map(in_words, words)),
            "",
        ]
        none = dict.fromkeys(TASKS, float("nan"))
        table = np.array([[rows.get((n, method), none)[task] for n in words] for method in methods])
        shown = [[f"{x:.1f}" if np.isfinite(x) else "" for x in line] for line in table]
        for column in range(len(words)):
            best = int(np.nanargmax(table[:, column]))
            if task != "seconds":
                shown[best][column] = f"**{shown[best][column]}**"
        text += [f'   "{method}", ' + ", ".join(line) for method, line in zip(methods, shown) if any(line)] + [""]
    return "\n".join(text)


def draw(figure, rows):
    """One panel a task, a line a method; dots where tf-idf of the task's own sentences comes."""
    own = rows[0, OWN]
    rows = {key: row for key, row in rows.items() if key[0]}
    words = sorted({n_words for n_words, _ in rows})
    panels = figure.subplots(3, 2).ravel()
    for axes, task, title in zip(panels, TASKS, ("STS", "SICK", "MR", "TREC", "Opinosis", "CPU seconds")):
        for i, method in enumerate(dict.fromkeys(method for _, method in rows)):
            points = [(n, rows[n, method][task]) for n in words if (n, method) in rows]
            axes.plot(*zip(*points), marker="osvDP^X*d"[i], color=f"C{i}", label=method, linewidth=1.2, markersize=5)
        if np.isfinite(own[task]):
            axes.axhline(own[task], color="black", linestyle=":", linewidth=1.2, label=OWN)
        axes.set_xscale("log")
        axes.set_title(title)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_yscale("log")
    for axes in panels[-2:]:
        axes.set_xlabel("words of text")
    figure.legend(*panels[2].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.set_size_inches(8, 9.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="folder for the tables (.inc) and the figure (.png)")
    parser.add_argument("--csv", type=Path, default=Path("which_method.csv"))
    parser.add_argument("--words", type=int, nargs="*", choices=WORDS, default=WORDS)
    options = parser.parse_args()
    rows = KeptRows(options.csv, {"words": int, "method": str}, TASKS)
    if (0, OWN) not in rows:
        rows[0, OWN] = {"seconds": float("nan")} | measure(tfidf_of_stems(), options.data)
    for n_words, corpus in parts_of(options.data, options.words):
        print(corpus, flush=True)
        for name, model in make_methods().items():
            if (n_words, name) in rows:
                continue
            warm_up(model, corpus)
            start = time.process_time()
            model.fit(corpus)
            seconds = time.process_time() - start
            rows[n_words, name] = measure(model, options.data) | {"seconds": seconds}
    save(options.out, "which_method", as_rst(rows), draw=lambda figure: draw(figure, rows))


if __name__ == "__main__":
    main()
