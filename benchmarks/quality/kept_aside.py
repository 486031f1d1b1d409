"""TextVectorizer without labels, tf-idf, MetaEmbedding and Siamese CBOW on sets that chose no constant.

    python benchmarks/quality/kept_aside.py --data DATA [--sizes 2000 20000 160000] [--csv FILE] [--out FOLDER]

Own text of each size is that of own_text.py. Tf-idf and TextVectorizer are fitted on the sentences of each set, without
labels. Similarity: Pearson correlation x 100 of cosine and grade on eval/sts/sick/test.tsv, and the area under the ROC
curve x 100 of the cosine of the pairs of eval/clf/MSRP.*.tsv. Search: per cent of the sentences of opinosis_groups.tsv,
opinosis_topics.tsv and msrp_groups.tsv in eval/clf whose nearest other sentence is of the same group. Clusters:
adjusted mutual information x 100 of these groups with as many clusters, by Ward's method on rows of length one. Rows
that FILE has are not measured again. One seed.
"""

import argparse
import sys
from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_mutual_info_score, roc_auc_score

from skembed import SiameseCBOWVectorizer
from skembed.metrics import paired_cosine_similarity

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from beat_tfidf import unit_rows, ward_clusters
from own_text import ADVISED, SIZES, TEXTS, TFIDF, FittedOnce, draw_documents, make_methods, read_documents
from reporting import KeptRows, as_csv_table, save
from yardsticks import pearson, read_labelled, read_pairs, tfidf_of_stems

GROUPS = {"Opinosis groups": "opinosis_groups", "Opinosis topics": "opinosis_topics", "MSRP groups": "msrp_groups"}
COLUMNS = ["SICK", "MSRP pairs", *(f"{way} {name}" for way in ("search", "clusters") for name in GROUPS)]
METHODS = [ADVISED, "MetaEmbedding, spelling 0.8", "MetaEmbedding without spelling"]
SIAMESE = "Siamese CBOW(300)"


def nearest_is_of_group(rows, groups):
    """Per cent of the rows of length one whose nearest other row is of the same group."""
    cosines = rows @ rows.T
    cosines = cosines.toarray() if sparse.issparse(cosines) else cosines
    np.fill_diagonal(cosines, -np.inf)
    return 100 * float(np.mean(groups[cosines.argmax(axis=1)] == groups))


def measure(model, data):
    pairs = [read_pairs(data / "eval" / "clf" / f"MSRP.{part}.tsv") for part in ("train", "test")]
    labels, first, second = (list(chain(*column)) for column in zip(*pairs))
    rows = model.transform([*first, *second])
    cosine = paired_cosine_similarity(rows[: len(first)], rows[len(first) :])
    scores = [pearson(model, data / "eval" / "sts" / "sick" / "test.tsv"), 100 * float(roc_auc_score(labels, cosine))]
    search, clusters = [], []
    for name in GROUPS.values():
        sentences, groups = read_labelled(data / "eval" / "clf" / f"{name}.tsv")
        rows, groups = unit_rows(model.transform(sentences)), np.array(groups)
        search.append(nearest_is_of_group(rows, groups))
        found = ward_clusters(rows, len(set(groups)))
        clusters.append(100 * float(adjusted_mutual_info_score(groups, found)))
    return dict(zip(COLUMNS, [*scores, *search, *clusters]))


def methods_of(corpus):
    """Name -> function that fits."""
    fitted = FittedOnce(corpus)
    methods = make_methods(corpus, fitted)
    chosen = {name: methods[name] for name in METHODS}
    return chosen | {SIAMESE: lambda: fitted(SiameseCBOWVectorizer(300, random_state=0))}


def as_rst(rows):
    """A table of all; in bold what is not behind tf-idf."""
    level = rows["", 0, TFIDF]
    lines = [["own text", "", *COLUMNS]]
    for (text, size, method), scores in sorted(
        rows.items(), key=lambda row: (["", *TEXTS].index(row[0][0]), row[0][1])
    ):
        ahead = [
            round(value, 1) >= round(other, 1) and method != TFIDF
            for value, other in zip(scores.values(), level.values())
        ]
        values = [f"**{value:.1f}**" if bold else f"{value:.1f}" for value, bold in zip(scores.values(), ahead)]
        lines.append([f"{TEXTS[text]} {size:,}" if text else "none", method, *values])
    return as_csv_table("Sets kept aside", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--csv", type=Path, default=Path("kept_aside.csv"))
    parser.add_argument("--out", type=Path, help="folder for the table, kept_aside.inc")
    options = parser.parse_args()
    rows = KeptRows(options.csv, {"text": str, "size": int, "method": str}, COLUMNS)
    if ("", 0, TFIDF) not in rows:
        rows["", 0, TFIDF] = measure(tfidf_of_stems(), options.data)
    for text in TEXTS:
        _, parts = draw_documents(read_documents(options.data / "corpora" / f"{text}.txt.gz"), options.sizes)
        for size, corpus in parts.items():
            for name, make in methods_of(corpus).items():
                if (text, size, name) not in rows:
                    rows[text, size, name] = measure(make(), options.data)
    table = as_rst(rows)
    print(table)
    save(options.out, "kept_aside", table, "In bold what is not behind tf-idf. One seed.")


if __name__ == "__main__":
    main()
