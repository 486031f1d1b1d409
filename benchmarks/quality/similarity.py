"""Do the cosines of TextVectorizer follow the grades of sentence pairs better than those of tf-idf?

    python benchmarks/quality/similarity.py doc/_results/quality --data DATA    # measures, and draws
    python benchmarks/quality/similarity.py doc/_results/quality                # draws the table that is there

Writes similarity.inc and similarity.png. The 14 sets of STS 2012 to 2014 (DATA/eval/sts), in stems. TextVectorizer is
fitted without labels, on the sentences of the set; "with own text" also on 20,000 sentences of an encyclopedia.
"""

import argparse
import gzip
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from reporting import as_csv_table, bars, read_table, save, save_figure
from yardsticks import pearson, read_pairs, tfidf_of_stems

from skembed import SentenceCorpus, TextVectorizer

NAME, N_OWN = "similarity", 20_000


def in_stems(texts):
    return [" ".join(words) for words in SentenceCorpus.from_sentences(texts, stemmer="english")]


def measure(folder, data):
    with gzip.open(data / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf8") as file:
        own = in_stems(list(islice((line for line in file if line.strip()), N_OWN)))
    rows = []
    for path in sorted((data / "eval" / "sts").glob("201[234]/*.tsv")):
        _, first, second = read_pairs(path)
        compared = in_stems(list(dict.fromkeys([*first, *second])))
        found = [pearson(tfidf_of_stems(), path)]
        for corpus in (None, own):
            emb = TextVectorizer(corpus=corpus, random_state=0).fit(compared)
            found.append(pearson(SimpleNamespace(transform=lambda texts: emb.transform(in_stems(texts))), path))  # noqa: B023
        rows.append([f"{path.stem} {path.parent.name}", *found, found[1] - found[0], found[2] - found[0]])
        print(*rows[-1], flush=True)
    rows.append(["mean", *np.mean([row[1:] for row in rows], axis=0)])
    rows = [[row[0], *(f"{value:.1f}" for value in row[1:4]), *(f"{value:+.1f}" for value in row[4:])] for row in rows]
    header = ["set", "tf-idf", "TextVectorizer", "with own text", "lead", "lead with own text"]
    table = as_csv_table("Pearson correlation with the grades, times 100", [header, *rows])
    save(folder, NAME, table, "tf-idf of the compared sentences, each word once; all in stems.")


def draw(figure, rows):
    rows = sorted((row for row in rows if row[0] != "mean"), key=lambda row: -float(row[4]))
    ax = figure.subplots()
    bars(ax, [row[0] for row in rows], [float(row[4]) for row in rows], colours="#0072B2")
    ax.set_xlabel("lead of TextVectorizer over tf-idf, points of correlation")
    ax.axvline(0, color="0.3", lw=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the table and the figure")
    parser.add_argument("--data", type=Path, help="folder with eval/ and corpora/: measure first")
    options = parser.parse_args()
    if options.data is not None:
        measure(options.folder, options.data)
    rows = read_table(options.folder / f"{NAME}.inc")[1:]
    save_figure(options.folder / f"{NAME}.png", lambda figure: draw(figure, rows))


if __name__ == "__main__":
    main()
