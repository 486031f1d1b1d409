"""How well do words, characters and both serve a classifier of text in many languages?

    python benchmarks/quality/languages.py --data DATA [--quick] [--out doc/_results/quality]

DATA/eval/lang holds seven topics in seven languages (SIB-200, 701 sentences to learn from), Chinese news titles
(THUCNews) and Polish job titles, of which a stratified 30 % of the classes with five titles or more are held out.
CBOS learns from the labels of the task; scikit-learn's LinearSVC with its defaults classifies. The Polish titles were
kept aside: nothing was chosen on them. --quick leaves out few labels.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from labels import few, line
from measuring import arguments, cpu_seconds
from reporting import report
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from yardsticks import read_labelled

from skembed import CBOSVectorizer

TOPICS = {
    "German": "deu_Latn",
    "Russian": "rus_Cyrl",
    "Hindi": "hin_Deva",
    "Japanese": "jpn_Jpan",
    "Thai": "tha_Thai",
    "Chinese": "zho_Hans",
    "English": "eng_Latn",
}
N_TESTED = 4000  # Chinese titles, of 9,990
CHARACTERS = {"ngram_range": (1, 4)}
METHODS = {
    "tf-idf, char": lambda seed: line(TfidfVectorizer(analyzer="char", **CHARACTERS)),
    "tf-idf, char_wb": lambda seed: line(TfidfVectorizer(analyzer="char_wb", **CHARACTERS)),
    "CBOS, word": lambda seed: line(CBOSVectorizer(analyzer="word", random_state=seed)),
    "CBOS, char_wb": lambda seed: line(CBOSVectorizer(analyzer="char_wb", random_state=seed)),
    "CBOS, char": lambda seed: line(CBOSVectorizer(analyzer="char", random_state=seed)),
    "CBOS, word+char_wb (default)": lambda seed: line(CBOSVectorizer(random_state=seed)),
}


def read_tasks(folder):
    """Name -> training texts, their labels, test texts, their labels."""
    files = {name: f"sib200.{code}" for name, code in TOPICS.items()} | {"Chinese titles": "thucnews_zh"}
    tasks = {
        name: [*read_labelled(folder / f"{file}.train.tsv"), *read_labelled(folder / f"{file}.test.tsv")]
        for name, file in files.items()
    }
    tasks["Chinese titles"][2:] = (part[:N_TESTED] for part in tasks["Chinese titles"][2:])
    titles, labels = read_labelled(folder / "job_titles_pl.tsv")
    sizes = Counter(labels)
    titles, labels = zip(*((title, label) for title, label in zip(titles, labels) if sizes[label] >= 5))
    X, X_test, y, y_test = train_test_split(titles, labels, test_size=0.3, stratify=labels, random_state=0)
    return tasks | {"Polish titles": [X, y, X_test, y_test]}


def main():
    options = arguments(__doc__)
    tasks = read_tasks(options.data / "eval" / "lang")
    rows = []
    for n in (None,) if options.quick else (None, 10):
        for name, make in METHODS.items():
            scores, start = {}, cpu_seconds()
            for task, (X, y, X_test, y_test) in tasks.items():
                fits = (make(seed).fit(*few(X, y, n, seed)).score(X_test, y_test) for seed in range(options.rounds))
                scores[task] = 100 * float(np.mean(list(fits)))
            row = {"labels per class": n or "all", "method": name} | {k: round(v, 1) for k, v in scores.items()}
            row["mean of topics"] = round(float(np.mean([scores[task] for task in TOPICS])), 1)
            rows.append(row | {"CPU s": round((cpu_seconds() - start) / len(tasks) / options.rounds, 1)})
            print(rows[-1], flush=True)
    notes = (
        f"Mean of {options.rounds} seeds, which also draw the ten labels per class. tf-idf is of one to four "
        "characters. CPU s: learning, embedding and classifying one task."
    )
    title = "Many languages: accuracy in per cent of a linear classifier"
    report(options, "languages", title, rows, notes=notes)


if __name__ == "__main__":
    main()
