"""What does each kind of evidence bring: own text, pairs, a teacher, labels?

    python benchmarks/quality/evidence.py doc/_results/quality

Measures nothing: it draws what `which_method.py`, `pairs_sts.py`, `teacher.py` and `few_labels.py` have written there.
"""

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from reporting import bars, read_table, save_figure

TEXT, TEACHER, PAIRS = "#0072B2", "#009E73", "#D55E00"
LINES = {
    "tf-idf": ("tf-idf", "0.4", "s"),
    "own text": ("own text", TEXT, "o"),
    "CBOS": ("labels (CBOS)", PAIRS, "^"),
    "own text, then labels (CBOS)": ("own text, then labels (CBOS)", "#CC79A7", "D"),
}


def similarity_of(folder):
    """Name, mean over the 14 sets, colour; by the text that was learned from and what came on top."""
    with (folder / "which_method.csv").open(encoding="utf8") as file:
        found = {(row["words"], row["method"]): float(row["sts"]) for row in csv.DictReader(file)}
    pairs = {row["pairs"]: float(row["14 sets"]) for row in rows_of(folder, "pairs_sts")}
    teacher = {row["method"]: float(row["STS"]) for row in rows_of(folder, "teacher")}
    text = found["28000000", "CBOS"]
    return [
        ("tf-idf of the compared sentences, stems", found["0", "tf-idf on stems of the task"], "0.4"),
        ("text: CBOS", text, TEXT),
        ("text: MetaEmbedding of CBOS and Sent2Vec, stems", pairs["none: the start"], TEXT),
        ("text, then captions", pairs["captions"], PAIRS),
        ("text, then a lexicon", pairs["lexicon"], PAIRS),
        ("text, then a lexicon and captions", pairs["lexicon, then captions"], PAIRS),
        ("200,000 sentences and a teacher", teacher["student, from random"], TEACHER),
        ("the teacher itself", teacher["wordllama, the teacher"], "0.7"),
    ]


def rows_of(folder, name):
    header, *rows = read_table(folder / f"{name}.inc")
    return [dict(zip(header, row)) for row in rows]


def draw(figure, folder):
    figure.set_size_inches(7, 7.5)
    top, bottom = figure.subplots(2, 1)
    names, values, colours = zip(*similarity_of(folder))
    bars(top, names, values, colours=colours)
    top.set(title="Similarity", xlabel="100 x Pearson, mean of 14 sets of STS", xlim=(0, 85))
    rows = rows_of(folder, "few_labels")
    for method, (label, colour, marker) in LINES.items():
        means = {row["labels per class"]: float(row["mean"]) for row in rows if row["method"] == method}
        bottom.plot(list(means), list(means.values()), color=colour, marker=marker, label=label)
    bottom.set(title="Classification", xlabel="labels per class", ylabel="accuracy (%), mean of six tasks")
    figure.legend(*bottom.get_legend_handles_labels(), loc="outside lower center", ncols=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the results, where the figure goes")
    folder = parser.parse_args().folder
    save_figure(folder / "evidence.png", lambda figure: draw(figure, folder))


if __name__ == "__main__":
    main()
