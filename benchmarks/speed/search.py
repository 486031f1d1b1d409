"""How long does a search index take to build and to search, beside bm25s?

    python benchmarks/speed/search.py --data DATA

Documents are pieces of 100 words of Simple English Wikipedia, queries five words in a row of a document. All read the
text themselves, use one thread, and neither stems nor stop words. bm25s runs with its numba back end, the formula is
the same ("lucene", k1 1.2, b 0.75). The clock is CPU seconds. bm25s is in no extra: ``pip install bm25s``.
"""

import gzip
import sys
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, rounds_of, spread, workers
from reporting import bars, report

N_WORDS, N_QUERIES, K = 100, 2000, 10
FORMULA = {"k1": 1.2, "b": 0.75}
METHODS = {
    "SearchIndex, BM25 alone": ("skembed", {"n_components": None}),
    "SearchIndex, with vectors": ("skembed", {"n_components": 300}),
    "bm25s": ("bm25s", {}),
}
TASKS = {"build": "building, s", "many": f"{N_QUERIES:,} queries, ms each", "one": "a query alone, ms"}


def documents_of(data, n_documents):
    """Documents of 100 words, and queries of five."""
    found, words = [], []
    with gzip.open(Path(data) / "corpora" / "simplewiki.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            words += line.split()
            if len(words) >= N_WORDS or not line.strip():
                found += [" ".join(words)] if words else []
                words = []
            if len(found) == n_documents:
                break
    draws = np.random.default_rng(0)
    queries = []
    for row in draws.choice(len(found), N_QUERIES):
        words = found[row].split()
        first = draws.integers(max(len(words) - 5, 1))
        queries.append(" ".join(islice(words, first, first + 5)))
    return found, queries


def prepare_skembed(task, data, n_documents, **options):
    from skembed import SearchIndex

    documents, queries = documents_of(data, n_documents)

    def build():
        return SearchIndex(random_state=0, n_jobs=1, **FORMULA, **options).fit(documents)

    if task == "build":
        SearchIndex(**options).fit(documents[:100])  # compiles
        return lambda: bool(build())
    index = build()
    return searches(lambda texts: index.search(texts, k=K), queries, task)


def prepare_bm25s(task, data, n_documents):
    import bm25s

    documents, queries = documents_of(data, n_documents)
    options = {"stopwords": None, "show_progress": False, "token_pattern": r"(?u)\b\w+\b"}

    def build(texts=documents):
        index = bm25s.BM25(method="lucene", backend="numba", **FORMULA)
        index.index(bm25s.tokenize(texts, **options), show_progress=False)
        return index

    if task == "build":
        build(documents[:100])
        return lambda: bool(build())
    index = build()

    def search(texts):
        tokens = bm25s.tokenize(texts, **options)
        return index.retrieve(tokens, k=K, show_progress=False, n_threads=1)

    return searches(search, queries, task)


def searches(search, queries, task):
    search(queries[:10])  # compiles
    search(queries[:1])
    if task == "many":
        return lambda: bool(search(queries))

    def one_by_one():
        for query in queries[:500]:
            search([query])

    return one_by_one


def main():
    options = arguments(__doc__)
    n_documents = 5_000 if options.quick else 100_000
    rows = {name: {"what": name} for name in METHODS}
    for task, column in TASKS.items():
        sizes = {"task": task, "data": str(options.data), "n_documents": n_documents}
        wanted = {name: (f"prepare_{program}", sizes | settings) for name, (program, settings) in METHODS.items()}
        with workers(__file__, wanted) as found:
            results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
        unit = {"build": 1, "many": 1000 / N_QUERIES, "one": 1000 / 500}[task]
        for name, measured in results.items():
            taken = [unit * result["cpu"] for result in measured]
            rows[name] |= {column: round(median(taken), 3), f"{column}, ± %": spread(taken)}
    rows = [row for row in rows.values() if len(row) > 1]
    notes = f"{n_documents:,} documents of about {N_WORDS} words, the {K} best, five words a query, one thread, CPU s."

    def draw(figure):
        column = TASKS["many"]
        bars(figure.subplots(), [row["what"] for row in rows], [row[column] for row in rows], unit=column)

    report(options, "search", "Search in documents", rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
