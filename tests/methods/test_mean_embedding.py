"""Means of word vectors: SIF and idf weights, and common components, against a few lines."""

import copy

import numpy as np
import pytest
from reference import sif
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus, Word2VecVectorizer

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
PLAIN = {"pooling": "mean", "weighting": None, "n_removed_components": 0, "unknown": "zero"}

# -- means of given vectors --------------------------------------------------------------------------------------------

X = ["The cat sat on the mat", "the dog sat", "A dog and a cat", "", "sat sat sat on zebras", "quagga", "cat dog mat"]
TOKENS = [sentence.lower().split() for sentence in X]
WORDS = ["dog", "cat", "the", "sat", "mat", "on", "unseen"]
VECTORS = dict(zip(WORDS, np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)))


def make(**options):
    return MeanEmbeddingVectorizer(word_vectors=VECTORS, **{**PLAIN, **options})


def weighted(weight, sentences=TOKENS, pooling="mean"):
    """Weighted sums or means of the known words, sentence by sentence."""
    rows = np.zeros((len(sentences), 4))
    for row, words in zip(rows, sentences):
        known = [word for word in words if word in VECTORS]
        for word in known:
            row += weight(word) * VECTORS[word] / (len(known) if pooling == "mean" else 1)
    return rows


def test_mean_and_sum_of_given_vectors():
    mean, total = make().fit(X).transform(X), make(pooling="sum").fit(X).transform(X)
    np.testing.assert_allclose(mean, weighted(lambda word: 1), rtol=1e-5, atol=1e-6)
    n_known = np.array([sum(word in VECTORS for word in words) for words in TOKENS])
    np.testing.assert_allclose(total, mean * n_known[:, None], rtol=1e-5, atol=1e-6)
    assert not mean[[3, 5]].any()


@pytest.mark.parametrize("n_removed", [0, 1, 2])
def test_sif_is_arora_s(n_removed):
    counts = {word: sum(words.count(word) for words in TOKENS) for words in TOKENS for word in words}
    expected, components = sif(TOKENS, VECTORS, counts, n_removed=n_removed)
    model = make(weighting="sif", n_removed_components=n_removed).fit(X)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-4, atol=1e-6)
    assert model.components_.shape == (n_removed, 4)
    np.testing.assert_allclose(np.abs((model.components_ * components).sum(axis=1)), 1, atol=1e-5)


def test_components_are_those_of_the_text_of_fit():
    counts = {word: sum(words.count(word) for words in TOKENS[:4]) for words in TOKENS[:4] for word in words}
    _, components = sif(TOKENS[:4], VECTORS, counts)
    model = make(weighting="sif", n_removed_components=1).fit(X[:4])
    expected = sif(TOKENS, VECTORS, counts, n_removed=0)[0]
    expected -= expected @ components.T @ components
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.transform(X) @ model.components_.T, 0, atol=1e-6)


def test_hashed_unknown_words_are_freed_of_the_components_too():
    model = make(n_removed_components=1, unknown="hash").fit(X)
    rows = model.transform(["quagga", "cat quagga"])
    assert rows.all(axis=1).all()
    np.testing.assert_allclose(rows @ model.components_.T, 0, atol=1e-6)


def test_a_call_that_fails_changes_nothing(monkeypatch):
    model = make(n_removed_components=1).fit(X[:3])
    before = model.transform(X).tobytes(), model.components_.tobytes(), set(vars(model))
    shared = copy.copy(model).fit(X[3:])
    assert shared.components_.tobytes() != before[1]
    with pytest.raises(ValueError, match="n_removed_components=4 would leave nothing"):
        model.set_params(n_removed_components=model.n_features_out_).fit(X)
    model.set_params(n_removed_components=1)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("skembed._meta_estimators.mean_embedding.strongest_directions", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    fresh = make(n_removed_components=1)
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X)
    assert set(vars(fresh)) == set(vars(make()))
    assert (model.transform(X).tobytes(), model.components_.tobytes(), set(vars(model))) == before


def test_idf_is_the_smooth_one_of_scikit_learn():
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit(X)
    idf = dict(zip(counter.get_feature_names_out(), TfidfTransformer().fit(counter.transform(X)).idf_))
    expected = weighted(idf.__getitem__)
    np.testing.assert_allclose(make(weighting="idf").fit(X).transform(X), expected, rtol=1e-5, atol=1e-6)
    never = make(weighting="idf").fit(X).transform(["unseen"])  # given, but not in the text of fit
    np.testing.assert_allclose(never[0], (np.log(1 + len(X)) + 1) * VECTORS["unseen"], rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("pooling", ["mean", "sum"])
def test_each_word_once_is_the_binary_count_of_scikit_learn(pooling):
    text = [*X, "cat cat", "quagga zebras quagga", "dog quagga dog cat quagga cat"]
    counter = CountVectorizer(token_pattern=r"(?u)\b\w+\b", vocabulary=WORDS, binary=True)
    counts = counter.transform(text).toarray()
    expected = counts @ np.array([VECTORS[word] for word in WORDS])
    expected /= np.maximum(counts.sum(axis=1, keepdims=True), 1) if pooling == "mean" else 1
    model = make(binary=True, pooling=pooling).fit(X)
    np.testing.assert_allclose(model.transform(text), expected, rtol=1e-5, atol=1e-6)
    corpus = SentenceCorpus.from_sentences(text)
    assert model.transform(corpus).tobytes() == model.transform(text).tobytes()
    model.set_params(unknown="hash")
    assert model.transform(["quagga cat quagga"]).tobytes() == model.transform(["quagga cat"]).tobytes()
    explained = model.explain("dog quagga dog cat quagga", "dog dog")
    assert explained.words_a == ["dog", "quagga", "cat"] and explained.words_b == ["dog"]
    assert explained.similarity == pytest.approx(model.similarity("dog quagga dog cat quagga", "dog dog"), abs=1e-6)


@pytest.mark.parametrize("n_removed", [0, 1])
def test_numbers_get_random_directions(n_removed):
    vectors = VECTORS | {"1914": [1, 2, 3, 4], "1939": [1, 2, 3, 5], "b2b": [4, 3, 2, 1]}
    text = [*X, "cat 1914", "dog 1939 b2b"]
    options = PLAIN | {"word_vectors": vectors, "unknown": "hash", "n_removed_components": n_removed}
    hashed = MeanEmbeddingVectorizer(**options, hash_numbers=True).fit(text)
    plain = MeanEmbeddingVectorizer(**options).fit(text)
    assert plain.similarity("1914", "1939") > 0.9 > hashed.similarity("1914", "1939")
    if not n_removed:
        assert hashed.transform(["cat dog"]).tobytes() == plain.transform(["cat dog"]).tobytes()
    else:
        np.testing.assert_allclose(hashed.transform(text) @ hashed.components_.T, 0, atol=1e-5)
    assert hashed.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    # A number has the row that it has where it is unknown; what `fit` has seen decides about its weight alone.
    del vectors["1914"]
    without = MeanEmbeddingVectorizer(**options, hash_numbers=True).fit(text)
    row, unknown = hashed.transform(["1914"])[0], without.transform(["1914"])[0]
    cosine = row @ unknown / np.linalg.norm(row) / np.linalg.norm(unknown)
    assert cosine == pytest.approx(1, abs=1e-5) if not n_removed else cosine > 0.5


def test_learned_numbers_are_hashed_too():
    text = ["in 1914 and 1939 there was war", "war is in 1914", "no war in 1939"] * 20
    options = {"n_components": 5, "random_state": 0, "min_count": 1}
    hashed = MeanEmbeddingVectorizer(**options, hash_numbers=True).fit(text)
    plain = MeanEmbeddingVectorizer(**options).fit(text)
    assert hashed.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    rows, others = hashed.transform(["1914", "war"]), plain.transform(["1914", "war"])
    assert rows[1].tobytes() == others[1].tobytes() and not np.allclose(rows[0], others[0])


def test_given_vectors_are_kept_as_they_are():
    model = make().fit(X)
    assert list(model.vocabulary_) == WORDS and model.word2vec_ is None
    np.testing.assert_array_equal(model.word_vectors_, np.array(list(VECTORS.values())))
    counts = {word: sum(words.count(word) for words in TOKENS) for word in WORDS}
    assert dict(zip(WORDS, model.word_counts_.tolist())) == counts
    assert make(min_count=3).fit(X).vocabulary_ == model.vocabulary_  # min_count is for words that are learned
    assert model.get_feature_names_out().tolist() == [f"meanembeddingvectorizer{i}" for i in range(4)]


@pytest.mark.kernel
def test_vectors_of_another_fitted_estimator():
    text = ["a b c", "b c d", "d a b"] * 4
    other = CBOSVectorizer(5, min_count=1, max_iter=1, pooling="mean", unknown="zero", random_state=0).fit(text)
    model = MeanEmbeddingVectorizer(word_vectors=other, **PLAIN).fit(text)
    assert model.vocabulary_ == other.vocabulary_
    np.testing.assert_array_equal(model.transform(text), other.transform(text))
    rows = model.transform(["a"])
    other.fit(text[::-1])
    assert rows.any() and np.array_equal(model.transform(["a"]), rows), "what the other learns later changes nothing"


@pytest.mark.parametrize("n_removed", [4, 5])
def test_components_that_would_leave_nothing(n_removed):
    with pytest.raises(ValueError, match="n_removed_components"):
        make(n_removed_components=n_removed).fit(X)
    with pytest.raises(ValueError, match="n_removed_components"):
        MeanEmbeddingVectorizer(4, min_count=1, n_removed_components=n_removed).fit(X)


@pytest.mark.kernel
def test_learned_vectors_are_freed_of_their_components():
    text = ["a b c", "b c d", "d a b", "c"] * 5
    options = {
        **PLAIN,
        "random_state": 0,
        "word_vectors": Word2VecVectorizer(5, min_count=1, max_iter=2, subsample=1.0),
    }
    plain = MeanEmbeddingVectorizer(**options).fit(text)
    freed = MeanEmbeddingVectorizer(**{**options, "n_removed_components": 1}).fit(text)
    np.testing.assert_array_equal(plain.word_vectors_, freed.word_vectors_)
    rows = plain.transform(text).astype(float)
    component = np.linalg.svd(rows)[2][0]
    np.testing.assert_allclose(freed.transform(text), rows - np.outer(rows @ component, component), atol=1e-6)


def test_a_length_that_is_not_that_of_the_vectors_is_named():
    vectors = {"cat": [1.0, 2.0], "dog": [2.0, 1.0]}
    with pytest.warns(UserWarning, match="n_components=7 is not used: word_vectors has vectors of length 2"):
        MeanEmbeddingVectorizer(7, word_vectors=vectors).fit(["a cat", "a dog"])
    MeanEmbeddingVectorizer(2, word_vectors=vectors).fit(["a cat", "a dog"])
