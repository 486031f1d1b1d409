"""Relatedness of SICK, learned from its training pairs, beside table 3 of the paper on CSE.

    python benchmarks/quality/sick_supervised.py --data DATA --pairs PAIRS [--start FILE] [--out doc/_results/quality]

"Universal" encoders learn from a lexicon and captions first (`pairs_sts.py`), "random" ones start from the word vectors
alone, with the filters of CSE at their start. The settings of each row are those with the best Pearson correlation in
three folds of the training part; then it learns from all of that part, and the test part is seen once.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments, cpu_seconds
from pairs_sts import COMMON, START, WORDS, read_captions, read_lexicon, start_of
from papers.systems import JIAO
from papers.tables import published_results
from reporting import report
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold
from yardsticks import read_pairs

from skembed import CSEVectorizer, ParaphraseVectorizer
from skembed.evaluation import FineTunedRelatednessRegressor
from skembed.metrics import pearson_score, spearman_score

CAPTIONS = {"learning_rate": 3e-4, "max_iter": 4, "word_dropout": 0.3, **COMMON}
GRID = [{"dropout": [0.6, 0.7], "encoder_learning_rate": [2.5e-4]}, {"dropout": [0.7], "encoder_learning_rate": [5e-4]}]


def read_sick(data, part):
    scores, first, second = read_pairs(data / "eval" / "sts" / "sick" / f"{part}.tsv")
    return list(zip(first, second)), np.array(scores)


def encoders(options):
    """Name -> encoder to start from."""
    start = start_of(options)
    n_pairs = 2000 if options.quick else None
    lexicon = read_lexicon(options.pairs / "ppdb_xl_lexical.tsv.gz")[:n_pairs]
    captions, images = (column[:n_pairs] for column in read_captions(options.pairs / "flickr30k_captions.tsv.gz"))
    for name, cls in (("PP", ParaphraseVectorizer), ("CSE", CSEVectorizer)):
        yield f"{name} random", cls(init=start)
        of_words, of_sentences = (
            {key: value for key, value in settings.items() if key in cls().get_params()}
            for settings in (WORDS, CAPTIONS)
        )
        words = cls(init=start, **of_words).fit(lexicon)
        yield f"{name} universal", cls(init=cls(init=words, **of_sentences).fit(captions, images))


def published():
    """The rows of table 3 of the paper: correlations, which are kept times 100, and the error."""
    rows = {}
    for row in published_results("sick"):
        if (row["source"], row["set"]) == (JIAO, "test, trained"):
            name = {"pearson": "r", "spearman": "rho", "mse": "MSE"}[row["metric"]]
            value = row["value"] if name == "MSE" else row["value"] / 100
            rows.setdefault(row["method"], {"model": f"{row['method']} (the paper)"})[name] = f"{value:.4f}"
    return list(rows.values())


def main():
    options = arguments(__doc__, pairs={"type": Path, "required": True, "help": "folder with the pairs"}, start=START)
    train, test = read_sick(options.data, "train"), read_sick(options.data, "test")
    n_pairs = 500 if options.quick else None
    rows = []
    for name, encoder in encoders(options):
        began = cpu_seconds()
        search = GridSearchCV(
            FineTunedRelatednessRegressor(encoder, grades=[1, 2, 3, 4, 5], random_state=0),
            GRID,
            scoring=make_scorer(pearson_score),
            cv=KFold(3, shuffle=True, random_state=0),
        ).fit(*(column[:n_pairs] for column in train))
        predicted, scores = search.predict(test[0]), test[1]
        rows.append(
            {
                "model": name,
                "folds of the training part, r": f"{search.best_score_:.4f}",
                "r": f"{pearson_score(scores, predicted):.4f}",
                "rho": f"{spearman_score(scores, predicted):.4f}",
                "MSE": f"{mean_squared_error(scores, predicted):.4f}",
                "dropout": search.best_params_["dropout"],
                "rate of the encoder": search.best_params_["encoder_learning_rate"],
                "CPU s": round(cpu_seconds() - began),
            }
        )
        print(rows[-1], flush=True)
    notes = f"{len(train[0])} pairs to learn from, {len(test[0])} of the test part. CPU s: the search and the last fit."
    report(options, "sick_supervised", "SICK, learned from its training part", rows + published(), notes=notes)


if __name__ == "__main__":
    main()
