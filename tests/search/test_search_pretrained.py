"""SearchIndex with a pretrained model: a third part of the score, exact, and never copied."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import normalize

from skembed import PretrainedVectorizer, SearchIndex

DOCUMENTS = [
    "the cat drinks milk in the house",
    "a dog eats meat near the river",
    "the bank lends money to the company",
    "money flows like a river",
    "cats and dogs sleep at home",
    "the house by the river was sold by the bank",
] * 3
QUERIES = ["cat in the house", "money of the bank", "unheard", "river river", ""]
RANDOM = np.random.default_rng(0).normal(size=(26, 6))


def model(texts):
    """Rows of the letters of a text."""
    return np.array(
        [sum((RANDOM[ord(c) - 97] for c in text.lower() if "a" <= c <= "z"), np.zeros(6)) for text in texts]
    )


def fitted(**params):
    return SearchIndex(**{"n_components": 8, "pretrained": model, "random_state": 0, **params}).fit(DOCUMENTS)


def reference(index, queries, vector_weight=0.4, pretrained_weight=0.75):
    """All scores: BM25 beside both cosines, each times its weight and the ratio of the spreads."""
    bm25 = (index.to_sparse(queries) @ index.to_sparse().T).toarray().astype(np.float64)
    scores = bm25.copy()
    for weight, rows in ((vector_weight, clone(index).set_params(pretrained=None)), (pretrained_weight, None)):
        if rows is None:
            documents, asked = normalize(model(DOCUMENTS)), normalize(model(queries))
        elif index.n_components is None:
            continue
        else:
            rows.fit(DOCUMENTS)
            documents, asked = rows.to_dense(), rows.to_dense(queries)
        cosines = asked.astype(np.float64) @ documents.T.astype(np.float64)
        spread = cosines.std(axis=1, keepdims=True)
        slope = weight * bm25.std(axis=1, keepdims=True) / np.where(spread > 1e-6, spread, np.inf)
        scores += slope * cosines
    return scores, bm25


def test_a_data_frame_as_the_output_of_all_transformers_changes_no_score():
    found = fitted().search(QUERIES, k=3)
    with config_context(transform_output="pandas"):
        again = fitted().search(QUERIES, k=3)
    np.testing.assert_array_equal(again[0], found[0])
    np.testing.assert_array_equal(again[1], found[1])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_components": None},
        {"vector_weight": 0},
        {"pretrained_weight": 0},
        {"pretrained_weight": 2.0, "vector_weight": 0.1, "n_jobs": 2},
    ],
)
def test_score_is_bm25_and_both_cosines(params):
    index = fitted(**params)
    weights = {"vector_weight": 0.4, "pretrained_weight": 0.75} | {k: params[k] for k in params if "weight" in k}
    rows, scores = index.search(QUERIES, k=len(DOCUMENTS))
    expected, bm25 = reference(index, QUERIES, **weights)
    for query in range(len(QUERIES)):
        if not bm25[query].any():  # no word of the documents
            assert (rows[query] == -1).all()
            continue
        found = rows[query][rows[query] >= 0]
        np.testing.assert_allclose(scores[query, : len(found)], expected[query, found], rtol=2e-5, atol=1e-5)
        best = np.sort(expected[query])[::-1][: len(found)]
        np.testing.assert_allclose(scores[query, : len(found)], best, rtol=2e-5, atol=1e-5)


def test_bits_depend_on_neither_batches_nor_threads():
    queries = QUERIES * 30
    rows, scores = fitted().search(queries, k=7)
    for n_jobs in (1, 2):
        other = fitted(n_jobs=n_jobs).search(queries, k=7)
        assert other[0].tobytes() == rows.tobytes() and other[1].tobytes() == scores.tobytes()
    single = fitted().search(queries[:1], k=7)
    assert single[1].tobytes() == scores[:1].tobytes()


def test_documents_come_and_go():
    index = fitted()
    grown = SearchIndex(8, pretrained=model, random_state=0).fit(DOCUMENTS).add(["a new cat drinks", "money"])
    assert grown.n_documents_ == len(DOCUMENTS) + 2
    rows, _ = grown.search(["new"], k=1)
    assert rows[0, 0] == len(DOCUMENTS)
    grown.remove([len(DOCUMENTS), len(DOCUMENTS) + 1])
    before, after = index.search(QUERIES, k=5), grown.search(QUERIES, k=5)
    np.testing.assert_array_equal(before[0], after[0])
    np.testing.assert_allclose(before[1], after[1], rtol=1e-5)


@pytest.mark.parametrize("params", [{}, {"n_components": None}, {"pretrained_weight": 0}])
def test_explanation_adds_up(params):
    index = fitted(**params)
    rows, scores = index.search(QUERIES[:2], k=3)
    for query, row, score in zip(QUERIES, rows[:, 1], scores[:, 1]):
        found = index.explain(query, int(row))
        assert found.score == pytest.approx(float(score), rel=1e-5)
        total = sum(found.bm25.values()) + found.contributions.sum() + found.pretrained
        assert found.score == pytest.approx(total)
        assert bool(found.pretrained) == (params.get("pretrained_weight") != 0)
    assert SearchIndex(8, random_state=0).fit(DOCUMENTS).explain(QUERIES[0], 0).pretrained == 0


def test_dense_rows_are_both_vectors_by_their_weights():
    index = fitted()
    documents, asked = index.to_dense(), index.to_dense(QUERIES[:2])
    assert documents.shape == (len(DOCUMENTS), 8 + 6)
    pretrained = normalize(model(QUERIES[:2])) @ normalize(model(DOCUMENTS)).T
    learned = SearchIndex(8, random_state=0).fit(DOCUMENTS)
    cosines = learned.to_dense(QUERIES[:2]) @ learned.to_dense().T
    np.testing.assert_allclose(asked @ documents.T, (0.4 * cosines + 0.75 * pretrained) / 1.15, atol=1e-5)
    alone = fitted(n_components=None)
    np.testing.assert_allclose(alone.to_dense(), normalize(model(DOCUMENTS)), atol=1e-6)


def test_operators_are_not_shown_to_the_model():
    asked = []

    def listening(texts):
        asked.extend(texts)
        return model(texts)

    index = SearchIndex(8, pretrained=PretrainedVectorizer(listening, cache=None), random_state=0).fit(DOCUMENTS)
    index.search(['"cat drinks" +house -river "by the bank" plain'], operators=True)
    index.search(['"cat drinks" -river'])
    assert asked[-2:] == ["cat drinks house by the bank plain", '"cat drinks" -river']


def test_fields_are_one_text_to_the_model():
    seen = []

    def listening(texts):
        seen.extend(texts)
        return model(texts)

    SearchIndex(pretrained=listening).fit([("Title", "body text"), ("", "body alone")])
    assert seen[-2:] == ["Title body text", "body alone"]


def test_a_model_is_never_copied():
    class Fragile:
        def encode(self, texts):
            return model(texts)

        def __deepcopy__(self, memo):
            raise RuntimeError("was copied")

    given = Fragile()
    assert clone(SearchIndex(pretrained=given)).pretrained is given


def test_a_huge_k_asks_for_all_documents():
    for queries in (QUERIES, QUERIES * 30):
        rows, scores = fitted().search(queries, k=10**9)
        assert rows.shape == scores.shape == (len(queries), len(DOCUMENTS))


def test_wrong_models_are_named():
    with pytest.raises(TypeError, match="got 5"):
        SearchIndex(pretrained=5).fit(DOCUMENTS)
    widths = iter([6, 6, 6, 5])

    def changing(texts):
        return model(texts)[:, : next(widths)]

    index = SearchIndex(pretrained=PretrainedVectorizer(changing, cache=None)).fit(DOCUMENTS)
    index.search(["cat"])
    with pytest.raises(ValueError, match="gives rows of 5 numbers, but has given rows of 6 before"):
        index.search(["cat"])
