"""BOWPCA against CountVectorizer, TfidfTransformer and PCA."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from skembed import BOWPCA
from skembed._methods import bow_pca

PATTERN = r"(?u)\b\w+\b"


def make_text(n_sentences, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(30)])
    p = 1 / np.arange(1, 31)
    sentences = [" ".join(rng.choice(words, n, p=p / p.sum())) for n in rng.integers(1, 12, n_sentences)]
    return [*sentences[:-2], "", "W1 w1, unseen-in-fit?"]


X = make_text(80)
OTHER = [*make_text(20, seed=1), "nothing known"]
NOTHING = [18, 20]  # the rows of OTHER without a known word: zeros, as everywhere in the package


def counts_of(model, sentences):
    """Counts by scikit-learn, in the column order of the model."""
    return CountVectorizer(vocabulary=model.vocabulary_, token_pattern=PATTERN).transform(sentences)


def same_up_to_sign(rows, expected, **tolerance):
    signs = np.sign((rows * expected).sum(axis=0))
    np.testing.assert_allclose(rows * signs, expected, **tolerance)


@pytest.mark.parametrize("min_count", [1, 5])
@pytest.mark.parametrize("token_pattern", [PATTERN, r"(?u)\b\w\w+\b", r"\w|[^\w\s]"])
def test_plain_counts_are_those_of_count_vectorizer(token_pattern, min_count):
    model = BOWPCA(None, token_pattern=token_pattern, min_count=min_count).fit(X)
    counter = CountVectorizer(token_pattern=token_pattern).fit(X)
    table = counter.transform(X)
    total = np.asarray(table.sum(axis=0)).ravel()
    kept = dict(zip(counter.get_feature_names_out(), total.tolist()))
    kept = {word: count for word, count in kept.items() if count >= min_count}
    assert dict(zip(model.vocabulary_, model.word_counts_.tolist())) == kept
    for sentences in (X, OTHER):
        rows = model.transform(sentences)
        assert sparse.issparse(rows) and rows.dtype == np.float32
        expected = counter.transform(sentences).toarray()[:, [counter.vocabulary_[word] for word in model.vocabulary_]]
        np.testing.assert_array_equal(rows.toarray(), expected)
    assert model.get_feature_names_out().tolist() == list(model.vocabulary_)


def test_max_features_keeps_the_most_frequent():
    model = BOWPCA(None, max_features=5).fit(X)
    counts = np.asarray(CountVectorizer(token_pattern=PATTERN).fit_transform(X).sum(axis=0)).ravel()
    assert sorted(model.word_counts_.tolist()) == sorted(counts.tolist())[-5:]


def test_idf_is_that_of_scikit_learn():
    model = BOWPCA(None, weighting="idf").fit(X)
    tfidf = TfidfTransformer().fit(counts_of(model, X))
    np.testing.assert_allclose(model.transform(OTHER).toarray(), tfidf.transform(counts_of(model, OTHER)).toarray())


@pytest.mark.parametrize("weighting", [None, "idf"])
def test_components_are_those_of_pca_learned_on_the_text_of_fit(weighting):
    model = BOWPCA(6, weighting=weighting, random_state=0).fit(X)
    table, other = counts_of(model, X).astype(float), counts_of(model, OTHER).astype(float)
    if weighting == "idf":
        tfidf = TfidfTransformer().fit(table)
        table, other = tfidf.transform(table), tfidf.transform(other)
    pca = PCA(6, svd_solver="full").fit(table.toarray())
    rows = model.transform(OTHER)
    assert rows.dtype == np.float32 and rows.shape == (len(OTHER), 6)
    expected = pca.transform(other.toarray())
    expected[NOTHING] = 0
    same_up_to_sign(rows, expected, rtol=1e-3, atol=1e-4)
    same_up_to_sign(model.components_.T, pca.components_.T, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-4)
    np.testing.assert_allclose(model.mean_, pca.mean_, rtol=1e-5)
    assert not model.transform(["", "nothing known"]).any()


def test_transform_learns_nothing():
    model = BOWPCA(4, random_state=0).fit(X)
    before = model.transform(X)
    model.transform(OTHER * 3)
    np.testing.assert_array_equal(model.transform(X), before)
    assert "nothing" not in model.vocabulary_


@pytest.mark.parametrize("n_components", [33, 200])
def test_too_many_components(n_components):
    assert len(BOWPCA(None).fit(X).vocabulary_) == 33
    with pytest.raises(ValueError, match=f"n_components={n_components}"):
        BOWPCA(n_components).fit(X)
    with pytest.raises(ValueError, match="n_components=3"):
        BOWPCA(3).fit(["a b c d e", "b c d e f", "c"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weighting", [None, "idf"])
@pytest.mark.parametrize("exact_size", [10**6, 1])
def test_equal_sentences_have_no_variance_to_explain(monkeypatch, exact_size, weighting):
    monkeypatch.setattr(bow_pca, "_EXACT_SIZE", exact_size)  # ARPACK cannot start without variance
    model = BOWPCA(2, weighting=weighting, random_state=0).fit(["a b c d"] * 9)
    np.testing.assert_array_equal(model.explained_variance_ratio_, [0, 0])
    np.testing.assert_allclose(model.transform(["a b c d", "nothing known"]), np.zeros((2, 2)), atol=1e-6)


def test_a_large_table_of_nearly_equal_sentences(monkeypatch):
    monkeypatch.setattr(bow_pca, "_EXACT_SIZE", 1)
    model = BOWPCA(1, random_state=0).fit([*["a b c d"] * 9, "a a"])
    np.testing.assert_allclose(model.explained_variance_ratio_, [1.0], rtol=1e-6)
