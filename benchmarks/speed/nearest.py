"""How long does an exact search take, beside scikit-learn, faiss and usearch?

    python benchmarks/speed/nearest.py --data DATA

The ten nearest of random vectors of 100 float32 for 1,000 queries and for one, on one thread. All programs compute all
cosines; faiss and usearch have the vectors scaled to length one in an index of their own before the clock starts. The
clock is CPU seconds. faiss-cpu and usearch are in no extra: ``pip install faiss-cpu usearch``.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

from measuring import arguments, median, rounds_of, spread, workers
from reporting import bars, report

N_QUERIES, N_DIMENSIONS, K = 1000, 100, 10
METHODS = ["nearest", "nearest, float16", "scikit-learn, brute force", "faiss, flat", "usearch, exact"]


def vectors_of(n_vectors, n_queries):
    draws = np.random.default_rng(0)
    vectors = draws.standard_normal((n_vectors, N_DIMENSIONS), dtype=np.float32)
    return draws.standard_normal((n_queries, N_DIMENSIONS), dtype=np.float32), vectors


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def many_times(search, n_queries):
    """One query takes too little for the clock."""
    n_times = 1 if n_queries > 1 else 20

    def run():
        for _ in range(n_times):
            search()
        return n_times

    run()  # compiles
    return run


def prepare_skembed(dtype, **sizes):
    from skembed.search import nearest

    queries, vectors = vectors_of(**sizes)
    vectors = vectors.astype(dtype)
    return many_times(lambda: nearest(queries, vectors, K), len(queries))


def prepare_sklearn(**sizes):
    from sklearn.neighbors import NearestNeighbors

    queries, vectors = vectors_of(**sizes)
    index = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="cosine").fit(vectors)
    return many_times(lambda: index.kneighbors(queries), len(queries))


def prepare_faiss(**sizes):
    import faiss

    faiss.omp_set_num_threads(1)
    queries, vectors = map(unit, vectors_of(**sizes))
    index = faiss.IndexFlatIP(N_DIMENSIONS)
    index.add(vectors)
    return many_times(lambda: index.search(queries, K), len(queries))


def prepare_usearch(**sizes):
    from usearch.index import search

    queries, vectors = map(unit, vectors_of(**sizes))
    return many_times(lambda: search(vectors, queries, K, "ip", exact=True, threads=1), len(queries))


PREPARE = ["prepare_skembed", "prepare_skembed", "prepare_sklearn", "prepare_faiss", "prepare_usearch"]


def main():
    options = arguments(__doc__)
    n_vectors = 10_000 if options.quick else 100_000
    rows = {name: {"what": name} for name in METHODS}
    for n_queries, column, unit_of_time in ((N_QUERIES, f"{N_QUERIES:,} queries, s", 1), (1, "one query, ms", 1000)):
        sizes = {"n_vectors": n_vectors, "n_queries": n_queries}
        wanted = {
            name: (prepare, sizes | ({"dtype": "float16" if "16" in name else "float32"} if "nearest" in name else {}))
            for name, prepare in zip(METHODS, PREPARE)
        }
        with workers(__file__, wanted) as found:
            results = rounds_of({name: worker.run for name, worker in found.items()}, options.rounds)
        for name, measured in results.items():
            taken = [result["cpu"] / result["value"] for result in measured]
            rows[name] |= {column: round(unit_of_time * median(taken), 3), f"{column}, ± %": spread(taken)}
    rows = [row for row in rows.values() if len(row) > 1]
    notes = f"The {K} nearest of {n_vectors:,} vectors of {N_DIMENSIONS} dimensions, one thread, CPU time."

    def draw(figure):
        column = list(rows[0])[1]
        bars(figure.subplots(), [row["what"] for row in rows], [row[column] for row in rows], unit=column)

    report(options, "nearest", "Exact search", rows, notes=notes, draw=draw)


if __name__ == "__main__":
    main()
