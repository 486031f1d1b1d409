"""Why the search index found a document: contributions that add up to the score, snippets, matrices."""

import numpy as np
import pytest
from collections_of_documents import bm25_of, make_documents

from skembed import SearchIndex

DOCUMENTS = make_documents(120)
QUERIES = ["a kitten and the dog", "snow storm storm", "zebra", "", "the a and in"]


@pytest.fixture(scope="module")
def plain():
    return SearchIndex(n_components=None).fit(DOCUMENTS)


@pytest.fixture(scope="module")
def index():
    return SearchIndex(24, random_state=0, keep_text=True).fit(DOCUMENTS)


@pytest.mark.parametrize("query", ["a kitten and the dog the", "snow", "kitten zebra"])
def test_explanations_add_up_to_the_score(index, plain, query):
    for one in (index, plain):
        rows, scores = one.search([query], k=120)
        for row, score in zip(rows[0], scores[0]):
            if row >= 0:
                found = one.explain(query, row)
                assert found.score == pytest.approx(score, rel=1e-4, abs=1e-5)
                total = sum(found.bm25.values()) + found.contributions.sum()
                assert found.score == pytest.approx(total, rel=1e-12)
    assert found.related == []
    found = index.explain("kitten", int(index.search(["kitten"], k=1)[0][0, 0]))
    assert found.related[0][0] == "kitten" and set(found.bm25) == {"kitten"}
    assert found.contributions.shape == (len(found.query_terms), len(found.document_terms))


def test_wrong_explanations(index):
    with pytest.raises(TypeError, match="one string"):
        index.explain(["cat"], 0)
    with pytest.raises(ValueError, match="no document 500"):
        index.explain("cat", 500)
    assert index.explain("unheard", 0).score == 0


def test_snippets():
    index = SearchIndex(n_components=None, keep_text=True).fit(
        [("Trains", "word " * 50 + "the x-200 engine of C++, engines! " + "word " * 50), ("", "short\n text")]
    )
    assert index.snippet("short", 1) == "**short** text"
    assert index.snippet("engine x-200", 0, n_words=4) == "... the **x-200** **engine** of ..."
    assert index.snippet("engines c++", 0, n_words=2, marks=("<b>", "</b>")) == "... <b>C++,</b> <b>engines</b>! ..."
    assert index.snippet("unheard", 0, n_words=3) == "Trains word word ..."
    for marks in ("*", ("<b>",), (1, 2), None):
        with pytest.raises(ValueError, match="marks must be two strings"):
            index.snippet("short", 1, marks=marks)
    with pytest.raises(ValueError, match="keep_text"):
        SearchIndex(n_components=None).fit(["a"]).snippet("a", 0)


def test_matrices_for_other_engines(index, plain):
    scores = (plain.to_sparse(QUERIES) @ plain.to_sparse().T).toarray()
    for row, query in zip(scores, QUERIES):
        np.testing.assert_allclose(row, bm25_of(DOCUMENTS, query), rtol=1e-5, atol=1e-6)
    names = plain.get_feature_names_out()
    assert plain.n_features_out_ == len(names) == plain.to_sparse().shape[1]
    assert "kitten" in names and index.to_dense().shape == (120, 24)
    np.testing.assert_allclose(np.linalg.norm(index.to_dense(), axis=1), 1, rtol=1e-5)
