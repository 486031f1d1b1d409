"""Does the order of the paper on semantic classification hold, with its 300 dimensions and over many splits?

    python benchmarks/quality/semantic_order.py --data DATA [--corpus CORPUS] [--splits 5] [--out doc/_results/quality]

Means and sums of skip-gram vectors, bags of words and their principal components, 300 dimensions each but for the bags,
on DATA/eval/clf/msrp_groups.tsv and opinosis_groups.tsv. As in the paper words without a vector are left out, then also
those that its vectors lack, which it took from others; a bag counts every token, and the components learn from the
training folds. The paper has one split into three folds; here the sentences are shuffled before each of several. What a
penalty C means depends on the lengths of the vectors, which the paper does not say, so there are several of these, too;
the paper's is 1, that of its library. Vectors learn from CORPUS, by default all of DATA/corpora.
"""

import argparse
import sys
from copy import copy
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from skembed import MeanEmbeddingVectorizer, SentenceCorpus, Word2VecVectorizer
from skembed.evaluation import semantic_classification

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from papers.methods import METHODS
from papers.tables import published_results
from reporting import print_table
from yardsticks import read_labelled

SETS = {"msrp": "msrp_groups", "opinosis": "opinosis_groups"}
PENALTIES = [1, 0.1, 0.01]
WITHOUT = "no numerals, and, a, of"
THEIRS = {"mean": "MOWE", "sum": "SOWE", f"mean, {WITHOUT}": "MOWE", f"sum, {WITHOUT}": "SOWE"}
THEIRS |= {"bag of words": "BOW", "principal components": "PCA BOW"}


def is_left_out(word):
    """Whether it is one of those that, says the paper, its published vectors lack: numerals and three small words."""
    return word in ("and", "a", "of") or any(map(str.isdigit, word))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="a file or a folder of text")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path, help="folder for the table, semantic_order.inc")
    options = parser.parse_args()
    if options.splits < 2:
        parser.error("--splits must be 2 or more: one split has no standard deviation")
    corpus = SentenceCorpus.from_file(options.corpus or options.data / "corpora")
    mean = Word2VecVectorizer(300, unknown="zero", random_state=0, n_jobs=2).fit(corpus)
    fewer = {word: vector for word, vector in zip(mean.vocabulary_, mean.word_vectors_) if not is_left_out(word)}
    given = MeanEmbeddingVectorizer(word_vectors=fewer, unknown="zero")
    models = {"mean": mean, "sum": copy(mean).set_params(pooling="sum")}
    models |= {f"{name}, {WITHOUT}": clone(given).set_params(pooling=name).fit(corpus) for name in ("mean", "sum")}
    bags = {"bag of words": "BOW", "principal components": "BOWPCA"}
    models |= {name: METHODS[bag].make_in_fold(corpus, 0, 2) for name, bag in bags.items()}
    theirs = {(row["set"], row["method"]): row["value"] for row in published_results("semantic")}
    table = [["groups", "", "published", *(f"C = {penalty:g}" for penalty in PENALTIES)]]
    for set_name, file in SETS.items():
        sentences, groups = read_labelled(options.data / "eval" / "clf" / f"{file}.tsv")
        splits = [StratifiedKFold(3, shuffle=True, random_state=seed) for seed in range(options.splits)]
        for name, model in models.items():
            figures = []
            for penalty in PENALTIES:
                svm = LinearSVC(class_weight="balanced", C=penalty, random_state=0)
                scores = [
                    100 * semantic_classification(model, sentences, groups, classifier=svm, cv=split).accuracy
                    for split in splits
                ]
                figures.append(f"{np.mean(scores):.2f} ± {np.std(scores, ddof=1):.2f}")
            table.append([set_name, name, f"{theirs[set_name, THEIRS[name]]:.2f}", *figures])
            print(*table[-1], flush=True)
    lengths = np.linalg.norm(mean.transform(corpus.vocabulary.words[:10_000]), axis=1)
    title = f"Per cent of sentences in the right group, mean and standard deviation of {options.splits} shuffled splits"
    note = f"{corpus.n_tokens:,} words; median length of the vectors of frequent words {np.median(lengths):.1f}."
    print_table(options, "semantic_order", title, table, note)


if __name__ == "__main__":
    main()
