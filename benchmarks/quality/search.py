"""Is SearchIndex ahead of BM25 in documents that it has not seen, without a download?

    python benchmarks/quality/search.py --data DATA [--kept-aside] [--out doc/_results/quality]

nDCG@10 times 100, by `skembed.evaluation.retrieval`, on the collections of DATA/eval/ir: queries, documents, judgements
of people. BM25 is a plain one on title and text as one: stems, English stop words left out, pairs of characters for
Chinese. SearchIndex has one setting for all: the stems of the language, nothing else. The lead is over the better BM25,
with its 95 % interval and the p of the paired test. Last stands the same with wordllama, static vectors of 256 numbers,
as `pretrained`, and its lead: it comes from the package index with its weights inside (``pip install wordllama``).
--kept-aside takes the collections on which nothing was chosen.
"""

import csv
import functools
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfTransformer
from snowballstemmer import stemmer

from skembed import SearchIndex
from skembed.evaluation import retrieval
from skembed.search import nearest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments
from reporting import print_table

COLLECTIONS = ("cosqa", "covid_faq", "cranfield", "cacm", "time", "hadoop_duplicates", "adi", "xquad_r_zh", "nfcorpus")
KEPT_ASIDE = ("med", "cisi", "legal_summaries", "stackfaq", "xquad_r_en", "xquad_r_de")
LANGUAGES = {"xquad_r_zh": None, "xquad_r_de": "german"}  # of Snowball stemmers; the others are English
FORMULAS = {"BM25 1.2, .75": (1.2, 0.75), "BM25 .9, .4": (0.9, 0.4)}
K, DEPTH = 10, 100


def read(folder):
    """Documents as (title, text), queries by id, judgements, ids of the documents."""
    documents, queries, judgements = (
        pd.read_csv(folder / f"{name}.tsv", sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, dtype=str)
        for name in ("docs", "queries", "qrels")
    )
    judgements["relevance"] = judgements["relevance"].astype(int)
    judgements = judgements[judgements["doc"].isin(documents["id"])]  # of two collections some documents are lost
    texts = dict(zip(queries["id"], queries["text"]))
    judged = set(judgements["query"][judgements["relevance"] > 0])
    texts = {query: text for query, text in texts.items() if query in judged}
    return list(zip(documents["title"], documents["text"])), texts, judgements, documents["id"].tolist()


def plain_terms(language):
    """From a text to the terms of the plain BM25: stems of words, or pairs of characters."""
    if language is None:
        runs = re.compile("[\u3400-\u9fff]+|[a-z0-9]+")
        return lambda text: [
            term
            for run in runs.findall(text.lower())
            for term in ([run] if run[0] < "\u3400" or len(run) == 1 else map("".join, zip(run, run[1:])))
        ]
    stems, stop_words, known = stemmer(language), ENGLISH_STOP_WORDS if language == "english" else (), {}

    def terms(text):
        words = [word for word in re.findall(r"\w\w+", text.lower()) if word not in stop_words]
        return [known.get(word) or known.setdefault(word, stems.stemWord(word)) for word in words]

    return terms


def bm25_weights(counts, k1, b):
    """Weight of each term in each document."""
    length, df = counts.sum(axis=1), np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((counts.shape[0] - df + 0.5) / (df + 0.5))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = k1 * (1 - b + b * length / length.mean())
    weights = counts.data / (counts.data + norm[rows]) * idf[counts.indices]
    return sparse.csr_array((weights, counts.indices, counts.indptr), counts.shape)


def best(scores):
    """Rows and scores of the best documents; -1 where no term matches."""
    scores = scores.toarray()
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    scores = np.take_along_axis(scores, rows, axis=1)
    return np.where(scores > 0, rows, -1), scores


def rankings_of(name, documents, queries):
    """The rankings of each system."""
    language = LANGUAGES.get(name, "english")
    counter = CountVectorizer(analyzer=plain_terms(language), dtype=np.float64)
    counts = sparse.csr_array(counter.fit_transform([f"{title} {text}" for title, text in documents]))
    asked = sparse.csr_array(counter.transform(queries))
    systems = {formula: best(asked @ bm25_weights(counts, *FORMULAS[formula]).T) for formula in FORMULAS}
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts)
    systems["tf-idf"] = best(sparse.csr_array(tfidf.transform(asked) @ tfidf.transform(counts).T))
    has_titles = any(title for title, _ in documents)
    index = SearchIndex(stemmer=language, random_state=0)
    index.fit(documents if has_titles else [text for _, text in documents])
    systems["its vectors"] = nearest(index.to_dense(queries), index.to_dense(), min(DEPTH, len(documents)))
    systems["its BM25"] = index.set_params(vector_weight=0).search(queries, k=DEPTH)
    systems["SearchIndex"] = index.set_params(vector_weight="auto").search(queries, k=DEPTH)
    index.set_params(pretrained=static_model()).fit(documents if has_titles else [text for _, text in documents])
    systems["with wordllama"] = index.search(queries, k=DEPTH)
    return systems


@functools.cache
def static_model():
    """A function from texts to the rows of wordllama."""
    import wordllama

    inside = Path(wordllama.__file__).parent  # its tokenizer lies where it only looks for a cache
    return wordllama.WordLlama.load(cache_dir=inside, disable_download=True).embed


def measure(name, folder):
    """Row of a collection."""
    documents, queries, judgements, ids = read(folder / name)
    systems = rankings_of(name, documents, list(queries.values()))
    scores = {}
    for system in systems:
        found = retrieval(systems[system], queries, judgements, documents=ids, k=K, depth=DEPTH)
        scores[system] = 100 * found.scores[0]["mean"]
    baseline = max(FORMULAS, key=scores.get)
    pair = {system: systems[system] for system in (baseline, "SearchIndex")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compared = retrieval(pair, queries, judgements, documents=ids, k=K, depth=DEPTH, baseline=baseline)
    row = next(row for row in compared.scores if "lead" in row and row["measure"] == f"ndcg@{K}")
    leads = [100 * row[end] for end in ("lead", "lead_low", "lead_high")]
    return len(documents), len(queries), scores, leads, row["p"]


def main():
    options = arguments(
        __doc__, kept_aside={"action": "store_true", "help": "take the collections on which nothing was chosen"}
    )
    names = KEPT_ASIDE if options.kept_aside else COLLECTIONS
    rows, leads, leads_with_model = [], [], []
    for name in names[-3:-1] if options.quick else names:
        n_documents, n_queries, scores, (lead, low, high), p = measure(name, options.data / "eval" / "ir")
        leads.append(lead)
        cells = [f"{score:.1f}" for score in scores.values()]
        more = scores["with wordllama"] - max(scores[formula] for formula in FORMULAS)
        leads_with_model.append(more)
        rows.append(
            [
                name,
                n_documents,
                n_queries,
                *cells,
                f"{lead:+.1f}",
                f"{low:+.1f} to {high:+.1f}",
                f"{p:.4f}",
                f"{more:+.1f}",
            ]
        )
        print(*rows[-1], flush=True)
    rows.append(
        ["mean", *[""] * (2 + len(scores)), f"{np.mean(leads):+.1f}", "", "", f"{np.mean(leads_with_model):+.1f}"]
    )
    header = ["collection", "documents", "queries", *scores, "lead", "interval", "p", "lead with wordllama"]
    title = "nDCG@10 of search" + (", collections on which nothing was chosen" if options.kept_aside else "")
    print_table(
        options,
        "search",
        title,
        [header, *rows],
        f"The worst lead is {min(leads):+.1f}, with wordllama {min(leads_with_model):+.1f}.",
    )


if __name__ == "__main__":
    main()
