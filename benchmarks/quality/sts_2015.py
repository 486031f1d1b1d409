"""Why are the published figures of STS 2015 a third of what everybody else finds? Pairs that nobody judged count as 0.

    python benchmarks/quality/sts_2015.py --corpus CORPUS.txt.gz --published PUBLISHED [--out doc/_results/quality]

Means of skip-gram vectors with their defaults, on the files of PUBLISHED/sts2015. From 2015 on a line without a score
in a file of scores means that the pair was not judged. Pearson correlation x 100: over the judged pairs, as the
organisers count; over all pairs, with 0 for a blank line; and as published for the same method by Kenter et al. (2016).
The last column is that of tf-idf on stems, fitted on the pairs that are compared, over the judged pairs.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from skembed import SentenceCorpus, Word2VecVectorizer
from skembed.metrics import paired_cosine_similarity

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from papers.tables import published_results
from reporting import as_csv_table, how_measured
from yardsticks import TFIDF, tfidf_of_stems


def published():
    """Pearson x 100 of the means of skip-gram vectors in the paper on Siamese CBOW, by set."""
    wanted = {"source": "Kenter et al. 2016", "method": "skip-gram", "metric": "pearson"}
    return {row["set"]: row["value"] for row in published_results("sts") if wanted.items() <= row.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="folder for the table, sts_2015.inc")
    options = parser.parse_args()
    corpus = SentenceCorpus.from_file(options.corpus)
    model = Word2VecVectorizer(algorithm="skipgram", random_state=0, n_jobs=2).fit(corpus)
    theirs = published()
    table = [["set", "pairs", "judged", "the judged pairs", "all pairs, 0 where not judged", "published", TFIDF]]
    folder = options.published / "sts2015"
    for path in sorted(folder.glob("STS.gs.*.txt")):
        name = path.name.split(".")[2]
        scores = [line.strip() for line in path.read_text(encoding="utf-8").split("\n")]
        lines = (folder / f"STS.input.{name}.txt").read_text(encoding="utf-8").split("\n")
        pairs = [line.split("\t")[:2] for line in lines if line]
        scores = scores[: len(pairs)]
        first, second = zip(*pairs)
        of_means, of_tfidf = (
            paired_cosine_similarity(rows[: len(first)], rows[len(first) :])
            for rows in (embed(first + second) for embed in (model.transform, tfidf_of_stems().transform))
        )
        judged = np.array([score != "" for score in scores])
        gold = np.array([float(score or 0) for score in scores])
        right, zeros = (np.corrcoef(of_means[kept], gold[kept])[0, 1] for kept in (judged, judged | True))
        figures = [f"{100 * right:.1f}", f"{100 * zeros:.1f}", f"{theirs[f'2015/{name}']:.1f}"]
        figures.append(f"{100 * np.corrcoef(of_tfidf[judged], gold[judged])[0, 1]:.1f}")
        table.append([name, str(len(pairs)), str(judged.sum()), *figures])
    text = as_csv_table("Pearson x 100, means of skip-gram vectors, STS 2015", table)
    print(text)
    if options.out:
        note = f"{corpus.n_tokens:,} words; "
        note += how_measured(
            "python benchmarks/quality/sts_2015.py --corpus CORPUS --published PUBLISHED --out doc/_results/quality"
        )
        (options.out / "sts_2015.inc").write_text(text + "\n" + note, encoding="utf8")


if __name__ == "__main__":
    main()
