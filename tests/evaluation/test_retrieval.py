"""Measures of search: by hand, equal to those of trec_eval, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.stats import permutation_test

from skembed.evaluation import retrieval

DOCUMENTS = list("abcdef")
QUERIES = {"q1": "one", "q2": "two", "q3": "three"}
ROWS = np.array([[2, 0, 1, 5], [4, 3, -1, -1], [-1, -1, -1, -1]])
SCORES = np.array([[9.0, 8, 8, 1], [2, 1, 0, 0], [0, 0, 0, 0]])
QRELS = {"q1": {"a": 2, "b": 1, "e": 3, "c": 0}, "q2": {"e": 1, "d": -1}, "q3": {"a": 1}}
K = (1, 3)


def means(found, method="ranking"):
    return {row["measure"]: row["mean"] for row in found.scores if row["method"] == method}


def random_task(seed=0, n_queries=40, n_documents=60):
    """Rankings with ties and gaps, and grades from -1 to 3."""
    random = np.random.default_rng(seed)
    depth = 30
    rows = np.array([random.permutation(n_documents)[:depth] for _ in range(n_queries)])
    scores = -np.sort(-random.integers(0, 20, rows.shape), axis=1) / 4
    rows[random.random(rows.shape) < np.linspace(0, 0.9, n_queries)[:, None]] = -1
    qrels = {
        q: {int(d): int(random.integers(-1, 4)) for d in random.permutation(n_documents)[:15]} for q in range(n_queries)
    }
    for grades in qrels.values():
        grades[0] = 1
    return rows, scores, qrels


def test_measures_by_hand():
    found = retrieval((ROWS, SCORES), QUERIES, QRELS, documents=DOCUMENTS, k=K)
    q1, q2, q3 = found.queries
    ideal = 3 + 2 / np.log2(3) + 1 / 2
    assert q1 == pytest.approx(
        {
            "method": "ranking",
            "query": "q1",
            "ndcg@1": 0,
            "ndcg@3": (2 / np.log2(3) + 1 / 2) / ideal,
            "recall@1": 0,
            "recall@3": 2 / 3,
            "precision@1": 0,
            "precision@3": 2 / 3,
            "map": (1 / 2 + 2 / 3) / 3,
            "mrr": 1 / 2,
        }
    )
    perfect = {"ndcg@1": 1, "ndcg@3": 1, "recall@1": 1, "recall@3": 1, "precision@1": 1, "precision@3": 1 / 3}
    assert q2 == pytest.approx({"method": "ranking", "query": "q2", **perfect, "map": 1, "mrr": 1})
    assert q3 == {"method": "ranking", "query": "q3", **dict.fromkeys([*perfect, "map", "mrr"], 0)}
    for measure, mean in means(found).items():
        assert mean == pytest.approx(np.mean([q1[measure], q2[measure], 0]))


def test_equal_to_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="of the extra bench")
    rows, scores, qrels = random_task()
    # Other scores, without ties: trec_eval sorts those by document.
    run = {str(q): {str(d): float(-at) for at, d in enumerate(row) if d != -1} for q, row in enumerate(rows.tolist())}
    names = {"map": "map", "recip_rank": "mrr"}
    for k in (5, 10):
        names |= {f"ndcg_cut_{k}": f"ndcg@{k}", f"recall_{k}": f"recall@{k}", f"P_{k}": f"precision@{k}"}
    asked = {"map", "recip_rank", "ndcg_cut.5,10", "recall.5,10", "P.5,10"}
    judged = {str(q): {str(d): grade for d, grade in grades.items()} for q, grades in qrels.items()}
    theirs = pytrec_eval.RelevanceEvaluator(judged, asked).evaluate(run)
    ours = retrieval((rows, scores), ["?"] * len(rows), qrels, k=[5, 10])
    assert len(theirs) == len(ours.queries) == 40
    for row in ours.queries:
        found = theirs[str(row["query"])]
        assert {names[name]: found[name] for name in names} == pytest.approx(
            {name: row[name] for name in names.values()}
        )


def test_what_may_be_measured():
    asked = []

    class Index:
        def search(self, queries, k):
            asked.append((queries, k))
            return ROWS, SCORES

    def search(queries, k):
        return Index().search(queries, k)

    expected = retrieval((ROWS, SCORES), QUERIES, QRELS, documents=DOCUMENTS, k=K)
    for system, name in ((Index(), "Index"), (search, "search")):
        found = retrieval(system, QUERIES, QRELS, documents=np.array(DOCUMENTS), k=K, depth=50)
        assert means(found, name) == means(expected)
        assert asked.pop() == (["one", "two", "three"], 50)
    many = retrieval({"A": Index(), "B": (ROWS.tolist(), SCORES.tolist())}, QUERIES, QRELS, documents=DOCUMENTS, k=K)
    assert means(many, "A") == means(many, "B") == means(expected)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, dict])
def test_judgements_as_a_table(table):
    triples = [(query, doc, grade) for query, grades in QRELS.items() for doc, grade in grades.items()]
    columns = dict(zip(("query", "doc", "relevance"), map(list, zip(*triples))))
    expected = retrieval((ROWS, SCORES), QUERIES, QRELS, documents=DOCUMENTS)
    assert retrieval((ROWS, SCORES), QUERIES, table(columns), documents=DOCUMENTS) == expected


def test_ids_are_positions_unless_given():
    by_position = {q: {DOCUMENTS.index(d): g for d, g in QRELS[name].items()} for q, name in enumerate(QRELS)}
    found = retrieval((ROWS, SCORES), list(QUERIES.values()), by_position)
    assert means(found) == means(retrieval((ROWS, SCORES), QUERIES, QRELS, documents=DOCUMENTS))


def test_queries_without_a_relevant_document_are_left_out():
    qrels = {"q1": QRELS["q1"], "q2": {"e": 0}, "other": {"a": 1}}
    with pytest.warns(UserWarning, match="2 of 3 queries have no relevant document in qrels, and are left out: 'q2'"):
        found = retrieval((ROWS, SCORES), QUERIES, qrels, documents=DOCUMENTS)
    assert [row["query"] for row in found.queries] == ["q1"]


def test_a_relevant_document_that_is_not_there_counts_as_not_found():
    qrels = {query: {"gone": 1} | grades for query, grades in QRELS.items()}
    with pytest.warns(UserWarning, match="not in documents count as not found, 1 in all: 'gone'"):
        found = retrieval((ROWS, SCORES), QUERIES, qrels, documents=DOCUMENTS)
    assert found.queries[1]["recall@10"] == 0.5


def test_intervals_and_the_test_between_systems():
    rows, scores, qrels = random_task(n_queries=80)
    better = rows.copy()
    better[::5, 0] = [next(d for d, g in qrels[q].items() if g > 1 or d == 0) for q in range(0, 80, 5)]
    for row in better[::5]:
        row[1:][row[1:] == row[0]] = -1
    systems = {"old": (rows, scores), "new": (better, scores)}
    found = retrieval(systems, ["?"] * 80, qrels, baseline="old")
    old, new = ([row for row in found.scores if row["method"] == name] for name in systems)
    assert all("lead" not in row and row["low"] < row["mean"] < row["high"] for row in old)
    per_query = pd.DataFrame(found.queries)
    for before, after in zip(old, new):
        measure = after["measure"]
        lead = (
            per_query[measure][per_query.method == "new"].to_numpy()
            - per_query[measure][per_query.method == "old"].to_numpy()
        )
        assert after["lead"] == pytest.approx(after["mean"] - before["mean"]) == pytest.approx(lead.mean())
        assert after["lead_low"] < after["lead"] < after["lead_high"]
        assert after["lead_high"] - after["lead_low"] == pytest.approx(2 * 1.96 * lead.std() / 80**0.5, rel=0.15)
        exact = permutation_test((lead,), np.mean, permutation_type="samples", vectorized=True, n_resamples=4999)
        assert after["p"] == pytest.approx(exact.pvalue, abs=0.03)
        standard_error = np.std(per_query[measure][per_query.method == "new"]) / 80**0.5
        assert after["high"] - after["low"] == pytest.approx(2 * 1.96 * standard_error, rel=0.15)
    assert max(row["p"] for row in new) < 0.05
    same = retrieval({"a": (rows, scores), "b": (rows, scores)}, ["?"] * 80, qrels, baseline="a")
    assert {row["p"] for row in same.scores if row["method"] == "b"} == {1.0}
    again = retrieval(systems, ["?"] * 80, qrels, baseline="old")
    assert again == found != retrieval(systems, ["?"] * 80, qrels, baseline="old", random_state=1)


def test_the_test_finds_no_difference_as_often_as_it_says():
    """Of systems that are equally good, one in ten has p up to 0.1."""
    p = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        rankings = {
            name: (random.permuted(np.tile(np.arange(9), (25, 1)), axis=1), -np.tile(np.arange(9), (25, 1)))
            for name in "ab"
        }
        found = retrieval(rankings, ["?"] * 25, {q: {0: 1} for q in range(25)}, baseline="a")
        p.append(found.scores[-1]["p"])
    assert 0.04 < np.mean(np.array(p) <= 0.1) < 0.17
    assert_allclose(np.mean(p), 0.5, atol=0.08)


def change(array, at, value):
    array = array.copy()
    array[at] = value
    return array


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"index": (change(ROWS, (0, 1), 2), SCORES)}, ValueError, "ranking for query 0 .* has document 2 twice"),
        ({"index": (change(ROWS, (0, 1), 6), SCORES)}, ValueError, "has the position 6, but there are 6 documents"),
        ({"index": (change(ROWS, (0, 1), -2), SCORES)}, ValueError, "has the position -2"),
        ({"index": (ROWS, -SCORES)}, ValueError, "a score above the one before it"),
        ({"index": (ROWS, change(SCORES, (1, 0), np.nan))}, ValueError, "query 1 .* a score above the one before it"),
        ({"index": (ROWS[:2], SCORES[:2])}, ValueError, r"two arrays of shape \(3, k\)"),
        ({"index": (ROWS.astype(float), SCORES)}, ValueError, "positions as integers"),
        ({"index": (ROWS, SCORES[:, :2])}, ValueError, r"two arrays of shape \(3, k\)"),
        ({"index": ROWS}, TypeError, "must be an index with search"),
        ({"index": {}}, ValueError, "index has no system"),
        ({"index": 3}, TypeError, "int must be an index with search"),
        ({"queries": "one"}, TypeError, "queries must be a list"),
        ({"queries": {"q1": None}}, TypeError, "Query 'q1' of queries must be a string, got None"),
        ({"queries": ["one", "two", "three"]}, ValueError, "No query has a relevant document"),
        ({"queries": []}, ValueError, "queries has no query"),
        ({"qrels": {}}, ValueError, "No query has a relevant document"),
        ({"qrels": {"q1": ["a"]}}, TypeError, "must map each query to a mapping"),
        ({"qrels": pd.DataFrame({"query": ["q1"], "doc": ["a"]})}, ValueError, "has no 'relevance'"),
        ({"qrels": {"query": ["q1"], "doc": ["a", "b"], "relevance": [1]}}, ValueError, "must have the same length"),
        ({"qrels": {"q1": {"a": 0.5}}}, ValueError, "grade 0.5 of document 'a' for query 'q1'"),
        ({"qrels": {"q1": {"a": np.nan}}}, ValueError, "relevance of qrels has nan in row 0"),
        ({"qrels": {"query": ["q1"] * 2, "doc": ["a"] * 2, "relevance": [1, 2]}}, ValueError, "two grades"),
        ({"qrels": {"q1": {1: 1}}}, ValueError, "No relevant document of qrels is in documents"),
        ({"documents": None}, ValueError, "the document 'a', which is no position"),
        ({"documents": None, "qrels": {"q1": {-1: 1}}}, ValueError, "the document -1, which is no position"),
        ({"documents": ["a", "b", "a"]}, ValueError, "documents has 'a' in row 0 and in row 2"),
        ({"k": 0}, ValueError, "k == 0"),
        ({"k": 20, "depth": 10}, ValueError, "depth == 10, must be >= 20"),
        ({"baseline": "BM25"}, ValueError, "'BM25' is not one of the systems 'ranking'"),
    ],
)
def test_what_is_refused(changes, error, message):
    given = {"index": (ROWS, SCORES), "queries": QUERIES, "qrels": QRELS, "documents": DOCUMENTS} | changes
    with pytest.raises(error, match=message):
        retrieval(**given)
