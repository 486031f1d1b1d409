"""Grid search over a Pipeline whose embedding learns from an ordered corpus, on the TREC questions.

    python benchmarks/quality/trec_grid_search.py --data DATA [--corpus CORPUS.txt.gz]

DATA/eval/clf/TREC.train.tsv and TREC.test.tsv hold the questions, tab-separated with a header: label, sentence. Each
candidate and fold learns its vectors from the corpus, never from the questions; the corpus is saved once and read
through a memory map by both worker processes.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, SentenceCorpus

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from yardsticks import read_labelled


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, help="default: the first documents of DATA/corpora/simplewiki.txt.gz")
    parser.add_argument("--max-sentences", type=int, default=200_000)
    options = parser.parse_args()
    questions, labels = read_labelled(options.data / "eval" / "clf" / "TREC.train.tsv")
    test_questions, test_labels = read_labelled(options.data / "eval" / "clf" / "TREC.test.tsv")
    corpus = SentenceCorpus.from_file(options.corpus or options.data / "corpora" / "simplewiki.txt.gz")
    corpus = corpus[: options.max_sentences]
    with tempfile.TemporaryDirectory() as folder:
        corpus.save(f"{folder}/corpus")
        corpus = SentenceCorpus.load(f"{folder}/corpus")
        print(corpus)
        pipeline = Pipeline(
            [("emb", CBOSVectorizer(corpus=corpus, random_state=0)), ("svm", LinearSVC(random_state=0))]
        )
        grid = {"emb__window": [1, 2], "emb__negative": [5, 10], "svm__C": [0.1, 1.0]}
        search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2, verbose=1)
        start = time.perf_counter()
        search.fit(questions, labels)
        seconds = time.perf_counter() - start
        for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
            print(f"  {100 * score:5.1f} %  {parameters}")
        print(f"best {search.best_params_}, cross-validated {100 * search.best_score_:.1f} %")
        print(f"test accuracy {100 * search.score(test_questions, test_labels):.1f} %, {seconds:.0f} s")


if __name__ == "__main__":
    main()
