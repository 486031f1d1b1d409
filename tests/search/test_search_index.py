"""The search index finds what BM25 and cosines say, exactly, and grows."""

import pickle
from copy import copy

import numpy as np
import pytest
from collections_of_documents import best, bm25_of, make_documents, mix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skembed import SearchIndex, SentenceCorpus
from skembed.search import _searching as searching
from skembed.search._searching import WEIGHT

DOCUMENTS = make_documents(120)
QUERIES = [
    "a kitten and the dog",
    "snow storm storm",
    "recipe",
    "zebra",
    "",
    "train ticket in the rain",
    "the a and in",
]
COLUMNS = ["title", "text"]


@pytest.fixture(scope="module")
def plain():
    return SearchIndex(n_components=None).fit(DOCUMENTS)


@pytest.fixture(scope="module")
def index():
    return SearchIndex(24, random_state=0, keep_text=True).fit(DOCUMENTS)


def check_bm25(index, documents, **options):
    rows, scores = index.search(QUERIES, k=7)
    for i, query in enumerate(QUERIES):
        wanted = bm25_of(documents, query, **options)
        n_found = min(7, (wanted > 0).sum())
        np.testing.assert_allclose(scores[i, :n_found], wanted[rows[i, :n_found]], rtol=1e-5)
        np.testing.assert_allclose(scores[i, :n_found], np.sort(wanted)[::-1][:n_found], rtol=1e-5)
        assert len(set(rows[i, :n_found])) == n_found
        assert (rows[i, n_found:] == -1).all() and np.isnan(scores[i, n_found:]).all()


def test_bm25_equals_the_formula(plain):
    check_bm25(plain, DOCUMENTS)
    check_bm25(SearchIndex(n_components=None, k1=0.9, b=0.4).fit(DOCUMENTS), DOCUMENTS, k1=0.9, b=0.4)
    check_bm25(SearchIndex(n_components=None, b=0, k1=0).fit(DOCUMENTS), DOCUMENTS, k1=0, b=0)
    check_bm25(SearchIndex(n_components=None, stop_words=None).fit(DOCUMENTS), DOCUMENTS, of_function_words=1)


@pytest.mark.parametrize("weights", [[3.0, 1.0], [0.5, 2.0], [0.0, 1.0]])
def test_fields_have_weights(weights):
    documents = [*DOCUMENTS, ("zebra kitten", "")]
    for b in (0.75, 1.0):
        index = SearchIndex(n_components=None, field_weights=weights, b=b).fit(documents)
        if weights[0]:
            check_bm25(index, documents, weights=weights, b=b)
        else:  # as if there were no such field
            check_bm25(index, [("", text) for _, text in documents], b=b)


def cosines_of(index, query):
    return index.to_dense() @ index.to_dense([query])[0]


@pytest.mark.parametrize("weight", ["auto", 0.1, 5.0, 100.0])
@pytest.mark.parametrize("k", [1, 10, 150])
def test_exact_top_of_the_mixed_score(index, plain, weight, k):
    mixed = clone(index).set_params(vector_weight=weight).fit(DOCUMENTS)
    rows, scores = mixed.search(QUERIES, k=k)
    for i, query in enumerate(QUERIES):
        bm25, cosines = bm25_of(DOCUMENTS, query), cosines_of(mixed, query)
        if not bm25.any():
            assert (rows[i] == -1).all()
            continue
        slope = (WEIGHT if weight == "auto" else weight) * bm25.std() / cosines.std()
        wanted = bm25 + slope * cosines
        found = (bm25 > 0) | (cosines > 0)
        n_found = min(k, found.sum())
        assert (rows[i] >= 0).sum() == n_found
        np.testing.assert_allclose(scores[i, :n_found], np.sort(wanted[found])[::-1][:n_found], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(scores[i, :n_found], wanted[rows[i, :n_found]], rtol=1e-3, atol=1e-4)
        # The same order as the standardised scores have.
        standardised = mix(bm25, cosines, weight=WEIGHT if weight == "auto" else weight)[rows[i, :n_found]]
        assert (np.diff(standardised) < 1e-3).all()


def test_most_vectors_need_not_be_read(index):
    few = index.search(QUERIES, k=3)
    many = index.search(QUERIES, k=120)
    for one, all_of_them in zip(few, many):
        np.testing.assert_array_equal(one, all_of_them[:, :3])


def test_same_bits_for_any_number_of_threads_and_queries_at_once(index, monkeypatch):
    rows, scores = index.search(QUERIES * 5)
    monkeypatch.setattr(searching, "_AT_ONCE", 3)
    for n_jobs in (1, 2):
        again = pickle.loads(pickle.dumps(index)).set_params(n_jobs=n_jobs)
        for one, other in zip((rows, scores), again.search(QUERIES * 5)):
            np.testing.assert_array_equal(one, other)
    for one, other in zip((rows[:1], scores[:1]), index.search(QUERIES[:1])):
        np.testing.assert_array_equal(one, other)
    fitted_again = SearchIndex(24, random_state=0, n_jobs=2).fit(DOCUMENTS)
    np.testing.assert_array_equal(fitted_again.search(QUERIES * 5)[1], scores)


def test_equal_scores_stand_by_row():
    index = SearchIndex(n_components=None).fit(["same words", "other", "same words", "same words"])
    assert index.search(["same"], k=4)[0].tolist() == [[0, 2, 3, -1]]


def test_related_words_are_found_only_beside_a_known_word(index):
    documents = [*DOCUMENTS, ("", "kitten")]
    index = clone(index).fit(documents)
    rows = index.search(["purr", "zebra", "the zebra"], k=100)[0]
    has_word = np.array([bool(bm25_of(documents, "purr")[row]) for row in rows[0] if row >= 0])
    assert has_word[:3].all() and not has_word.all()
    assert (rows[1] == -1).all() and (rows[2] >= 0).any()


# --- What may be passed ---------------------------------------------------------------------------------------------


def test_containers(plain):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DOCUMENTS, columns=COLUMNS)
    options = {"n_components": None}
    with_columns = SearchIndex(**options, columns=COLUMNS)
    tables = [frame, {name: list(frame[name]) for name in COLUMNS}, DOCUMENTS]
    polars = pytest.importorskip("polars")
    tables.append(polars.DataFrame(DOCUMENTS, schema=COLUMNS, orient="row"))
    for table in tables:
        found = clone(with_columns).fit(table).search(QUERIES)
        np.testing.assert_array_equal(found[1], plain.search(QUERIES)[1])
    generated = SearchIndex(**options).fit(list(fields) for fields in DOCUMENTS)
    np.testing.assert_array_equal(generated.search(QUERIES)[1], plain.search(QUERIES)[1])
    one_column = SearchIndex(**options).fit(frame[["text"]]).search(QUERIES)
    series = SearchIndex(**options).fit(frame["text"]).search(QUERIES)
    np.testing.assert_array_equal(one_column[1], series[1])
    weighted = SearchIndex(**options, columns=COLUMNS, field_weights={"text": 1, "title": 3}).fit(frame)
    check_bm25(weighted, DOCUMENTS, weights=[3.0, 1.0])


def test_documents_of_a_corpus():
    sentences = ["A cat.", "It sat.", "Rain!"]
    corpus = SentenceCorpus.from_sentences(sentences, [0, 0, 1])
    index = SearchIndex(n_components=None).fit(corpus)
    assert index.search(["sat", "rain"], k=1)[0].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="SentenceCorpus of stems"):
        SearchIndex().fit(SentenceCorpus.from_sentences(sentences, stemmer=str.lower))


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ([], ValueError, "There are no documents"),
        (iter([]), ValueError, "There are no documents"),
        ("one string", ValueError, "got one str"),
        (b"bytes", ValueError, "got one bytes"),
        ({"a", "b"}, TypeError, "no reading order"),
        (3, TypeError, "iterable of documents"),
        (["", " ", "?!"], ValueError, "No document has a word"),
        (["a cat", None], TypeError, 'Row 1 is missing.*missing="empty"'),
        (["a cat", 3], TypeError, "Row 1 is 3 of type int"),
        (["a cat", b"x"], TypeError, "Decode it first"),
        ([("a", "b"), ("c",)], ValueError, "Document 1 has 1 fields, expected 2"),
        ([()], ValueError, "Document 0 has 0 fields"),
        ([("a", None)], TypeError, "Row 0 is missing"),
        ([("a", ("b", "c"))], TypeError, "Join its words to one string"),
        ([{"title": "a"}], TypeError, "Document 0 is a dict. Pass a tuple of its texts"),
        (np.array([["a", "b"]]), ValueError, "one-dimensional"),
    ],
)
def test_wrong_documents(documents, error, message):
    with pytest.raises(error, match=message):
        SearchIndex(n_components=None).fit(documents)


def test_wrong_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(DOCUMENTS, columns=COLUMNS)
    with pytest.raises(ValueError, match="no column 'body'"):
        SearchIndex(columns=["title", "body"]).fit(frame)
    with pytest.raises(ValueError, match=r"columns=\['title', 'text'\]"):
        SearchIndex().fit(frame)
    with pytest.raises(ValueError, match=r"Document 0 has 2 fields, expected 1"):
        SearchIndex(columns=["title"]).fit(DOCUMENTS)
    with pytest.raises(ValueError, match="field_weights has the names"):
        SearchIndex(columns=COLUMNS, field_weights={"title": 1}).fit(frame)
    with pytest.raises(ValueError, match="columns is empty"):
        SearchIndex(columns=[]).fit(frame)
    for weights in ([1.0], [-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1e300, 1.0], [0.0, 1e-300]):
        with pytest.raises(ValueError, match="field_weights must be 2 numbers"):
            SearchIndex(field_weights=weights).fit(DOCUMENTS)


@pytest.mark.parametrize(
    "parameters",
    [
        {"k1": -1},
        {"k1": 1e300},
        {"b": 1.5},
        {"n_components": 0},
        {"vector_weight": -1},
        {"vector_weight": 1e300},
        {"vector_weight": "x"},
        {"missing": 3},
    ],
)
def test_wrong_parameters(parameters, index):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        SearchIndex(**parameters).fit(DOCUMENTS)
    if "vector_weight" in parameters:
        with pytest.raises(ValueError, match="vector_weight"):  # it takes effect in a search
            copy(index).set_params(**parameters).search(["kitten"])


def test_missing_texts_may_be_empty():
    index = SearchIndex(n_components=None, missing="empty").fit(["a cat", None, float("nan"), ""])
    assert index.n_documents_ == 4 and index.search(["cat"], k=2)[0].tolist() == [[0, -1]]


def test_wrong_queries(plain):
    with pytest.raises(ValueError, match="queries must be an iterable"):
        plain.search("cat")
    with pytest.raises(TypeError, match="queries: Row 1 is missing"):
        plain.search(["cat", None])
    with pytest.raises(ValueError, match="'k'"):
        plain.search(["cat"], k=0)
    for rows, scores in (plain.search([], k=3), plain.search(iter([]), k=3)):
        assert rows.shape == scores.shape == (0, 3) and rows.dtype == np.int64 and scores.dtype == np.float32


def test_nothing_before_fit():
    index = SearchIndex()
    for call in (
        lambda: index.search(["x"]),
        lambda: index.add(["x"]),
        lambda: index.remove([0]),
        lambda: index.save("x"),
        lambda: index.explain("x", 0),
        lambda: index.to_sparse(),
        lambda: index.n_documents_,
    ):
        with pytest.raises(NotFittedError):
            call()


def test_a_fit_that_fails_leaves_the_index(plain):
    index = pickle.loads(pickle.dumps(plain))
    with pytest.raises(TypeError):
        index.fit(["a", 3])
    np.testing.assert_array_equal(index.search(QUERIES)[1], plain.search(QUERIES)[1])


def test_too_little_text_for_vectors():
    for documents in (["cat"], ["cat", "cat"], ["", "a b"]):
        index = SearchIndex(8, random_state=0).fit(documents)
        assert not index.has_vectors_
        with pytest.raises(ValueError, match="no vectors"):
            index.to_dense()
        assert (index.search([documents[-1]], k=1)[0] >= 0).all()


def test_queries_of_users_are_learned():
    documents = [f"{topic} {i}" for i, topic in enumerate(["alpha beta gamma", "delta epsilon zeta"] * 30)]
    queries, relevant = ["first letters alpha", "last letters delta"] * 20, [[0, 2], 1] * 20
    index = SearchIndex(16, random_state=0).fit(documents, queries=queries, relevant=relevant)
    assert index.has_vectors_ and index.search(["letters first beta"], k=1)[0][0, 0] % 2 == 0
    for wrong, message in (
        ({"queries": ["x"]}, "together"),
        ({"queries": ["x"], "relevant": [1, 2]}, "1 queries, but relevant has 2"),
        ({"queries": ["x"], "relevant": [60]}, "Query 0 has the relevant row 60"),
        ({"queries": ["x"], "relevant": [[0.5]]}, "row 0.5"),
        ({"queries": ["x"], "relevant": [[True, False]]}, "row True, expected an integer from 0 to 59"),
    ):
        with pytest.raises(ValueError, match=message):
            SearchIndex(16).fit(documents, **wrong)


# --- It grows -------------------------------------------------------------------------------------------------------


def test_add_is_as_if_fitted_on_all(plain):
    index = SearchIndex(n_components=None, keep_text=True).fit(DOCUMENTS[:50])
    index.add(DOCUMENTS[50:51]).add([]).add(iter(DOCUMENTS[51:]))
    np.testing.assert_array_equal(index.search(QUERIES)[0], plain.search(QUERIES)[0])
    np.testing.assert_array_equal(index.search(QUERIES)[1], plain.search(QUERIES)[1])
    index.add([("", ""), ("A zebra", "")])
    check_bm25(index, [*DOCUMENTS, ("", ""), ("A zebra", "")])
    assert index.search(["zebra"], k=1)[0].tolist() == [[121]]
    assert index.snippet("zebra", 121) == "A **zebra**"


def test_remove_is_as_if_never_there(plain):
    index = pickle.loads(pickle.dumps(plain)).remove([3, 0, 119]).remove(7)
    left = [None if row in (0, 3, 7, 119) else fields for row, fields in enumerate(DOCUMENTS)]
    check_bm25(index, left)
    assert index.n_documents_ == 116
    assert index.to_sparse()[[0, 3, 7, 119]].nnz == 0
    index.add([("zebra", "")])
    assert index.search(["zebra"], k=2)[0].tolist() == [[120, -1]]


def test_removed_documents_are_not_found_by_vectors(index):
    index = pickle.loads(pickle.dumps(index))
    gone = index.search(["kitten"], k=5)[0][0]
    rows = index.remove(gone).search(["kitten"], k=120)[0][0]
    assert not np.isin(gone, rows).any() and (rows >= 0).sum() > 30
    bm25 = bm25_of([None if row in gone else fields for row, fields in enumerate(DOCUMENTS)], "kitten")
    cosines, alive = cosines_of(index, "kitten"), ~np.isin(np.arange(120), gone)
    slope = WEIGHT * np.sqrt(np.mean(bm25[alive] ** 2) - bm25[alive].mean() ** 2) / cosines[alive].std()
    np.testing.assert_array_equal(rows[:5], best(bm25 + slope * cosines, 5, alive & ((bm25 > 0) | (cosines > 0))))


def test_a_word_of_removed_documents_alone_is_unknown():
    documents = [*DOCUMENTS, ("", "a kitten in Timbuktu"), ("", "the kitten of Timbuktu")]
    index = SearchIndex(24, random_state=0).fit(documents)
    assert (index.search(["timbuktu"], k=5)[0] >= 0).all()
    assert (index.remove([120, 121]).search(["timbuktu"], k=5)[0] == -1).all()
    assert index.explain("timbuktu", 0).bm25 == {} and index.to_sparse(["timbuktu kitten"]).nnz == 1


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([1, 1], ValueError, "1 stands twice"),
        ([5], ValueError, "5 was removed before"),
        ([120], ValueError, "no document 120"),
        ([-1], ValueError, "no document -1"),
        ([1.0], TypeError, "integers"),
        (["1"], TypeError, "integers"),
        ([True], TypeError, "integers"),
        ([[1]], ValueError, "one-dimensional"),
    ],
)
def test_wrong_rows_to_remove(plain, rows, error, message):
    index = pickle.loads(pickle.dumps(plain)).remove([5])
    with pytest.raises(error, match=message):
        index.remove(rows)
    assert index.n_documents_ == 119
    assert index.remove([]).n_documents_ == 119


def test_all_documents_removed():
    index = SearchIndex(n_components=None).fit(["a cat", "a dog"]).remove([0, 1])
    assert index.n_documents_ == 0 and (index.search(["cat"])[0] == -1).all()
    assert index.add(["a cat"]).search(["cat"], k=1)[0].tolist() == [[2]]


def test_a_warning_says_when_to_fit_again(index):
    index = pickle.loads(pickle.dumps(index)).add(DOCUMENTS[:100])
    with pytest.warns(UserWarning, match="Fit the index again"):
        index.add(DOCUMENTS[:100])


def test_add_with_other_fields(plain):
    with pytest.raises(ValueError, match="Document 0 has 1 fields, expected 2"):
        plain.add(["one string"])
    with pytest.raises(TypeError, match="Row 1 is missing"):
        plain.add([("a", "b"), ("c", None)])
    assert plain.n_documents_ == 120
