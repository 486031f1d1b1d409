"""The table of searches: what is measured on which queries, and what goes wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from skembed import SearchIndex
from skembed.evaluation import compare_search, retrieval
from skembed.evaluation._compare_search import VectorSearch

RNG = np.random.RandomState(0)
TOPICS = ["cat fur tail", "bank loan rate", "rain wind cloud", "soup bread salt"]
DOCUMENTS = [f"{' '.join(RNG.choice(TOPICS[i % 4].split(), 2))} w{RNG.randint(9)} the d{i}" for i in range(40)]
QUERIES = {f"q{i}": f"{TOPICS[i % 4].split()[i // 4]} the w{i % 9}" for i in range(12)}
IDS = [f"d{i}" for i in range(40)]
RELEVANT = {f"q{i}": {f"d{j}": 1 for j in range(i % 4, 40, 4)} for i in range(12)}


@pytest.fixture(scope="module")
def result():
    given = {"counts": CountVectorizer(), "no vectors": SearchIndex(n_components=None)}
    return compare_search(DOCUMENTS, QUERIES, RELEVANT, ids=IDS, estimators=given)


def test_the_scores_are_those_of_retrieval(result):
    found = {row["method"]: row for row in result.rows}
    index = SearchIndex(n_components=None).fit(DOCUMENTS)
    expected = retrieval(index, QUERIES, RELEVANT, documents=IDS).scores[0]
    assert expected["measure"] == "ndcg@10" == result.measure
    assert found["BM25"]["score"] == found["no vectors"]["score"] == pytest.approx(expected["mean"])
    names = {"BM25", "SearchIndex", "TextVectorizer", "tf-idf", "tf-idf with LSA", "characters", "counts", "no vectors"}
    assert set(found) == names
    assert result.reference in ("BM25", "tf-idf", "characters")
    assert result.about == "ndcg@10 in per cent, 12 queries in 40 documents."
    assert "points" in result.sentence


def test_positions_are_the_ids_if_there_are_none(result):
    relevant = {query: {int(name[1:]): grade for name, grade in grades.items()} for query, grades in RELEVANT.items()}
    again = compare_search(DOCUMENTS, QUERIES, relevant)
    score = {row["method"]: row["score"] for row in result.rows}
    assert {row["method"]: row["score"] for row in again.rows} == {
        row["method"]: score[row["method"]] for row in again.rows
    }


@pytest.mark.parametrize("measure", ["recall@5", "precision@1", "map", "mrr"])
def test_other_measures(measure):
    result = compare_search(DOCUMENTS, QUERIES, RELEVANT, ids=IDS, measure=measure)
    index = SearchIndex(n_components=None).fit(DOCUMENTS)
    scores = retrieval(index, QUERIES, RELEVANT, documents=IDS, k=[1, 5]).scores
    expected = next(row["mean"] for row in scores if row["measure"] == measure)
    assert next(row["score"] for row in result.rows if row["method"] == "BM25") == pytest.approx(expected)


def test_vectors_are_searched_by_cosine_and_find_nothing_at_zero():
    search = VectorSearch(TfidfVectorizer()).fit(DOCUMENTS)
    rows, _ = search.search([*QUERIES.values(), "unheard"], 40)
    tfidf = TfidfVectorizer().fit(DOCUMENTS)
    cosines = cosine_similarity(tfidf.transform(QUERIES.values()), tfidf.transform(DOCUMENTS))
    for found, cosine in zip(rows, cosines):
        assert np.count_nonzero(found >= 0) == np.count_nonzero(cosine)
        assert np.allclose(cosine[found[found >= 0]], np.sort(cosine)[::-1][: np.count_nonzero(cosine)])
    assert (rows[-1] == -1).all()


def test_a_query_without_a_relevant_document_is_left_out_with_one_warning():
    with pytest.warns(UserWarning, match="1 of 13 queries have no relevant document") as caught:
        result = compare_search(DOCUMENTS, QUERIES | {"q12": "cat"}, RELEVANT, ids=IDS)
    assert len(caught) == 1 and "12 queries" in result.about


FIELDS = [(f"{TOPICS[i % 4].split()[i % 3]} title", document) for i, document in enumerate(DOCUMENTS)]


@pytest.mark.parametrize("kind", ["tuples", "mapping", "frame", "missing"])
def test_documents_are_what_a_search_index_takes(kind):
    titles, texts = map(list, zip(*FIELDS))
    options = {} if kind == "tuples" else {"columns": ["title", "text"]}
    documents = FIELDS if kind == "tuples" else {"title": titles, "text": texts}
    fields = FIELDS
    if kind == "frame":
        documents = pd.DataFrame(documents)
    if kind == "missing":
        options["missing"] = "empty"
        documents = {"title": [None, *titles[1:]], "text": texts}
        fields = [("", texts[0]), *FIELDS[1:]]
    given = {"no vectors": SearchIndex(n_components=None), "counts": CountVectorizer()}
    result = compare_search(documents, QUERIES, RELEVANT, ids=IDS, index=SearchIndex(**options), estimators=given)
    found = {row["method"]: row["score"] for row in result.rows}
    joined = [" ".join(filter(None, field)) for field in fields]
    for name, index, read in (
        ("BM25", SearchIndex(n_components=None), joined),
        ("no vectors", SearchIndex(n_components=None), fields),
        ("counts", VectorSearch(CountVectorizer()), joined),
    ):
        expected = retrieval(index.fit(read), QUERIES, RELEVANT, documents=IDS).scores[0]["mean"]
        assert found[name] == pytest.approx(expected)
    assert found["BM25"] != found["no vectors"]


def first_three(word):
    return word[:3]


def test_bm25_and_the_index_have_the_options_of_a_given_index(result):
    index = SearchIndex(stemmer=first_three, k1=0.5, random_state=3)
    queries = {name: text.replace("cat", "cats").replace("rain", "rains") for name, text in QUERIES.items()}
    stemmed = compare_search(DOCUMENTS, queries, RELEVANT, ids=IDS, index=index)
    found = {row["method"]: row["score"] for row in stemmed.rows}
    bm25 = SearchIndex(n_components=None, stemmer=first_three, k1=0.5)
    for name, search in (("BM25", bm25), ("SearchIndex", index)):
        expected = retrieval(search.fit(DOCUMENTS), queries, RELEVANT, documents=IDS).scores[0]["mean"]
        assert found[name] == pytest.approx(expected)
    plain = compare_search(DOCUMENTS, queries, RELEVANT, ids=IDS)
    assert found["BM25"] > {row["method"]: row["score"] for row in plain.rows}["BM25"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"measure": "ndcg"}, ValueError, "measure must be like 'ndcg@10'"),
        ({"measure": "ndcg@0"}, ValueError, "measure must be like 'ndcg@10'"),
        ({"measure": 10}, ValueError, "measure must be like 'ndcg@10'"),
        ({"ids": IDS[1:]}, ValueError, "documents and ids must have the same length, got 40 and 39"),
        ({"relevant": {"q1": RELEVANT["q1"]}, "queries": {"q1": "cat"}}, ValueError, "two queries with a relevant"),
        ({"documents": [*DOCUMENTS[1:], None]}, TypeError, "Row 39 is missing"),
        ({"estimators": {"mine": CountVectorizer(vocabulary=[])}}, ValueError, "mine of estimators failed"),
        ({"documents": []}, ValueError, "documents has no text"),
        ({"documents": [("a", "b"), ("c",)]}, ValueError, "Document 1 has 1 fields, expected 2"),
        ({"documents": {"title": IDS, "text": DOCUMENTS}}, ValueError, r"index=SearchIndex\(columns=\['title', 'text'"),
        (
            {"documents": pd.DataFrame({"a": IDS, "b": DOCUMENTS})},
            ValueError,
            r"index=SearchIndex\(columns=\['a', 'b'\]",
        ),
        ({"index": "english"}, TypeError, "index must be a SearchIndex or None, got 'english'"),
        ({"index": SearchIndex(k1=-1)}, ValueError, "k1"),
        ({"estimators": {"mine": SearchIndex(columns=["text"])}}, ValueError, "mine of estimators has columns="),
        ({"estimators": [CountVectorizer()]}, TypeError, "estimators must be a mapping of names"),
    ],
)
def test_what_cannot_be_compared_is_named(arguments, error, message):
    known = {"documents": DOCUMENTS, "queries": QUERIES, "relevant": RELEVANT, "ids": IDS}
    with pytest.raises(error, match=message):
        compare_search(**known | arguments)
