"""Word vectors of several models joined, by themselves and as the source of means."""

import numpy as np
import pytest
from estimators import GROUPS, TEXT, bits, learned
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, MetaEmbeddingVectorizer, Sent2VecVectorizer

pytestmark = pytest.mark.filterwarnings("ignore:Only .* of the words of the text have a vector")
FIRST = {"cat": [3.0, 4.0, 0.0], "dog": [0.0, 0.0, 2.0], "nowhere": [1.0, 1.0, 1.0], "nil": [0.0, 0.0, 0.0]}
SECOND = {"soup": [0.0, 5.0], "cat": [1.0, 0.0], "dog": [1.0, 1.0]}


def join(sources, n_components=100, *, whiten=False, **options):
    if whiten:
        sources = MetaEmbeddingVectorizer(sources, n_components, whiten=True)
        n_components = "auto"
    return MeanEmbeddingVectorizer(n_components, word_vectors=sources, **options).fit(TEXT, groups=GROUPS)


def models():
    return [CBOSVectorizer(6, min_count=1, max_iter=1), Sent2VecVectorizer(5, min_count=1, max_iter=1)]


def test_one_source_is_scaled_to_length_one():
    model = join([FIRST])
    assert list(model.vocabulary_) == list(FIRST)
    expected = np.array([[0.6, 0.8, 0], [0, 0, 1], [3**-0.5] * 3, [0, 0, 0]])
    np.testing.assert_allclose(model.word_vectors_, expected, rtol=1e-6)
    assert not MeanEmbeddingVectorizer(word_vectors=FIRST).fit(TEXT).word_vectors_[0, 0] == model.word_vectors_[0, 0]


def test_side_by_side_with_zeros_where_a_word_is_missing():
    model = join([FIRST, SECOND])
    assert list(model.vocabulary_) == ["cat", "dog", "nowhere", "nil", "soup"]
    half = 0.5**0.5
    expected = half * np.array([[0.6, 0.8, 0, 1, 0], [0, 0, 1, half, half]])
    np.testing.assert_allclose(model.word_vectors_[:2], expected, rtol=1e-6)
    np.testing.assert_allclose(model.word_vectors_[[2, 4]], [[3**-0.5] * 3 + [0, 0], [0, 0, 0, 0, 1]], rtol=1e-6)
    assert not model.word_vectors_[3].any()
    assert model.n_features_out_ == 5


def test_projection_keeps_the_directions_of_frequent_words_of_weight():
    """Against the singular value decomposition of the weighted rows, which needs no moments and no eigenvectors."""
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "soup", "the", "rain", "ticket", "spoon", "nowhere"]
    first, second = ({word: rng.normal(size=n) for word in words} for n in (4, 3))
    model = join([first, second], n_components=3)
    counts = np.array([sum(sentence.lower().strip(".").split().count(word) for sentence in TEXT) for word in words])
    joined = np.hstack([[v[w] / np.linalg.norm(v[w]) for w in words] for v in (first, second)])
    n_tokens = sum(len(sentence) for sentence in _sentences())
    weights = counts * (1e-3 / (1e-3 + counts / n_tokens)) ** 2
    _, _, directions = np.linalg.svd(np.sqrt(weights)[:, None] * joined, full_matrices=False)
    expected = joined @ directions[:3].T
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert model.word_vectors_.shape == (8, 3)
    np.testing.assert_allclose(model.word_vectors_ @ model.word_vectors_.T, expected @ expected.T, atol=1e-5)
    assert np.abs(joined @ joined.T / 2 - expected @ expected.T).max() > 0.1  # something was lost


def test_whitening_makes_models_and_directions_equally_strong():
    words = ["cat", "dog", "soup", "the", "rain", "ticket", "spoon", "nowhere"]
    rng = np.random.default_rng(0)
    first, second = ({word: rng.normal(size=n) for word in words} for n in (4, 3))
    second = {word: 100 * vector for word, vector in second.items()}
    weighted = MeanEmbeddingVectorizer(word_vectors=first, weighting="sif").fit(TEXT)
    model = join([weighted, second], n_components=5, whiten=True)
    counts = np.array([sum(sentence.lower().strip(".").split().count(word) for sentence in TEXT) for word in words])
    sources = [np.array([first[w] for w in words]) * weighted.word_weights_[:, None], np.array(list(second.values()))]
    joined = np.hstack([vectors / np.sqrt(counts @ (vectors**2).sum(axis=1) / counts.sum()) for vectors in sources])
    moments = joined.T @ (joined * counts[:, None]) / counts.sum()
    strengths, directions = np.linalg.eigh(moments)
    expected = joined @ directions[:, -5:] / np.sqrt(5 * strengths[-5:])
    np.testing.assert_allclose(model.word_vectors_ @ model.word_vectors_.T, expected @ expected.T, rtol=1e-3, atol=1e-4)
    found = model.word_vectors_.astype(float)
    np.testing.assert_allclose(found.T @ (found * counts[:, None]) / counts.sum(), np.eye(5) / 5, atol=1e-5)
    assert model.vocabulary_ == weighted.vocabulary_


def test_a_joined_model_is_a_model_to_join():
    cbos, sent2vec = models()
    unit = MeanEmbeddingVectorizer(6, word_vectors=[cbos], weighting="sif")
    options = {"whiten": True, "spelling_weight": 0.8, "binary": True, "hash_numbers": True}
    model = join([unit, sent2vec], 7, random_state=0, **options)
    assert model.word_vectors_.shape == (len(model.vocabulary_), 7) and not hasattr(unit, "vocabulary_")
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=2)
    by_hand = [
        source.set_params(random_state=int(s)).fit(TEXT, groups=GROUPS) for source, s in zip((unit, sent2vec), seeds)
    ]
    assert learned(join(by_hand, 7, **options)) == learned(model)


def test_whitening_with_fewer_words_than_directions():
    model = join([FIRST, SECOND], n_components=4, whiten=True)
    strengths = np.linalg.svd(model.word_vectors_[[0, 1, 4]], compute_uv=False)  # of the words that the text has
    assert np.isfinite(model.word_vectors_).all() and strengths[2] > 0.01
    assert np.abs(model.word_vectors_).max() < 100
    assert not model.word_vectors_[3].any()
    one = join([SECOND], whiten=True)
    assert one.word_vectors_.shape == (3, 2) and np.isfinite(one.word_vectors_).all()


@pytest.mark.parametrize(("n_components", "n_left_out"), [(100, 1), (249, 1), (250, 0)])
def test_projection_leaves_out_the_directions_that_all_words_share(n_components, n_left_out):
    """One in a hundred, where there are more directions than are kept."""
    rng = np.random.default_rng(0)
    words = ["cat", "dog", "soup", "the", "rain", "ticket", "spoon"]
    first, second = ({word: 1 + rng.normal(size=125) for word in words} for _ in range(2))
    vectors = join([first, second], n_components).word_vectors_
    joined = np.hstack([[v[w] / np.linalg.norm(v[w]) for w in words] for v in (first, second)])
    cosines = joined @ joined.T / 2
    others = np.triu_indices(7, 1)
    assert vectors.shape == (7, n_components)
    assert cosines[others].min() > 0.3
    if n_left_out:
        assert np.abs((vectors @ vectors.T)[others]).mean() < 0.2
    else:
        np.testing.assert_allclose(vectors @ vectors.T, cosines, atol=1e-5)


def _sentences():
    from skembed import SentenceCorpus

    return list(SentenceCorpus.from_sentences(TEXT))


def test_models_are_learned_from_the_text():
    sources = models()
    model = join(sources, 7, random_state=0)
    assert not any(hasattr(source, "vocabulary_") for source in sources)  # copies were
    assert model.word_vectors_.shape == (len(model.vocabulary_), 7)
    np.testing.assert_allclose(np.linalg.norm(model.word_vectors_, axis=1), 1, rtol=1e-5)
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=2)
    by_hand = [source.set_params(random_state=int(s)).fit(TEXT, groups=GROUPS) for source, s in zip(models(), seeds)]
    assert learned(join(by_hand, 7)) == learned(model)
    assert not np.array_equal(join(sources, 7, random_state=1).word_vectors_, model.word_vectors_)


def test_their_own_seed_wins():
    one, other = (
        join([source.set_params(random_state=5) for source in models()], random_state=seed) for seed in (0, 1)
    )
    assert learned(one) == learned(other)


@pytest.mark.parametrize("n_jobs", [2, 3, 7])
@pytest.mark.parametrize("options", [{}, {"whiten": True, "spelling_weight": 0.4}])
def test_number_of_threads_changes_no_bit(n_jobs, options):
    options = {"random_state": 0, "n_removed_components": 1, **options}
    one, more = (join(models(), 7, n_jobs=n, **options) for n in (1, n_jobs))
    assert learned(one) == learned(more)


def test_text_options_are_those_of_the_joining_estimator():
    model = join(models(), random_state=0, stemmer=str.upper)
    assert all(word == word.upper() for word in model.vocabulary_)
    assert model.transform(["cat"]).any()


@pytest.mark.filterwarnings("ignore:.*found nothing to predict")  # in two words
def test_clone_learns_again_and_frozen_models_stay():
    fitted = [source.fit(TEXT, groups=GROUPS) for source in models()]
    frozen = join([FrozenEstimator(source) for source in fitted])
    assert bits(frozen.word_vectors_) == bits(join(fitted).word_vectors_)
    again = clone(frozen).fit(["other words", "soup"])
    assert bits(again.word_vectors_) == bits(frozen.word_vectors_)
    copied = clone(join(fitted)).fit(["other words", "words again"] * 20)
    assert set(copied.vocabulary_) == {"other", "words", "again"}


def test_words_that_no_model_knows_are_as_long_as_the_others():
    rows = join(models(), 7, unknown="hash", random_state=0).transform(["qqq", "cat", "dog"])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "sources, n_components, message",
    [
        ([], 100, "empty list"),
        ([{"never": [1.0, 2.0], "seen": [0.0, 1.0]}], 1, "None of the words of the text has a vector"),
        ([FIRST, {"Cat": [1.0]}], 100, r"None of the words .* word_vectors\[1\], 1 in all: 'Cat'\."),
        ([{"cat": [0.0, 0.0]}], 1, "has a vector, or only zeros"),
        ([FIRST, {"cat": [np.nan]}], 100, "NaN"),
        ([FIRST, CBOSVectorizer(min_count=10_000)], 100, "min_count=10000"),
        ([FIRST, SECOND], 100, "would leave nothing"),
    ],
)
@pytest.mark.parametrize("whiten", [False, True])
def test_errors(sources, n_components, message, whiten):
    joined = MetaEmbeddingVectorizer(sources, n_components, whiten=True) if whiten else sources
    model = MeanEmbeddingVectorizer("auto" if whiten else n_components, word_vectors=joined, n_removed_components=5)
    with pytest.raises(ValueError, match=message):
        model.fit(TEXT)
    assert not learned(model)


def test_what_is_no_source_of_vectors():
    with pytest.raises(TypeError, match="Word vectors are read from"):
        join([FIRST, 3])
    with pytest.raises(TypeError, match="Got <class"):
        join([CBOSVectorizer])


@pytest.mark.parametrize("whiten", [False, True])
def test_the_joined_vectors_by_themselves(whiten):
    model = MetaEmbeddingVectorizer(models(), 7, whiten=whiten, random_state=0).fit(TEXT, groups=GROUPS)
    mean = join(models(), 7, whiten=whiten, random_state=0)
    assert bits(model.word_vectors_) == bits(mean.word_vectors_)
    assert bits(model.transform([*TEXT, "qqq"])) == bits(mean.transform([*TEXT, "qqq"]))
    options = {"random_state": 0, "pooling": "sum", "weighting": "sif"}
    summed = MetaEmbeddingVectorizer(models(), 7, whiten=whiten, **options).fit(TEXT, groups=GROUPS)
    mean = join(models(), 7, whiten=whiten, **options)
    assert bits(summed.transform(TEXT)) == bits(mean.transform(TEXT))


@pytest.mark.parametrize("word_vectors", [FIRST, CBOSVectorizer(6), (["cat"], np.ones((1, 2))), None, "path"])
def test_one_source_is_no_list(word_vectors):
    with pytest.raises(ValueError, match="'word_vectors' parameter of MetaEmbeddingVectorizer must be a list"):
        MetaEmbeddingVectorizer(word_vectors).fit(TEXT)


@pytest.mark.parametrize("whiten", [False, True])
def test_fitted_models_of_an_unfitted_joint_model_stay(whiten):
    fitted = [source.fit(TEXT, groups=GROUPS) for source in models()]
    meta = MetaEmbeddingVectorizer(fitted, 7, whiten=whiten)
    by_hand = clone(meta).set_params(word_vectors=fitted).fit(["a cat and a dog"] * 3)
    mean = MeanEmbeddingVectorizer(word_vectors=meta).fit(["a cat and a dog"] * 3)
    assert bits(mean.word_vectors_) == bits(by_hand.word_vectors_) and not hasattr(meta, "vocabulary_")
    assert set(mean.vocabulary_) == {*fitted[0].vocabulary_, *fitted[1].vocabulary_}


def test_one_unfitted_model_is_learned_with_our_seed_and_keeps_its_lengths():
    model = MeanEmbeddingVectorizer(word_vectors=models()[0], random_state=3).fit(TEXT, groups=GROUPS)
    expected = models()[0].set_params(random_state=3).fit(TEXT, groups=GROUPS)
    assert bits(model.word_vectors_) == bits(expected.word_vectors_) and model.word2vec_ is None
    with_ngrams = Sent2VecVectorizer(5, min_count=1, max_iter=1, ngram_range=(1, 2), n_buckets=100)
    model = MeanEmbeddingVectorizer(word_vectors=with_ngrams, random_state=3).fit(TEXT)
    assert model.word_vectors_.shape == (len(model.vocabulary_), 5)


@pytest.mark.parametrize("make", [lambda one: MeanEmbeddingVectorizer(word_vectors=one), lambda one: join([one])])
def test_a_frozen_model_that_is_not_fitted(make):
    with pytest.raises(NotFittedError, match="CBOSVectorizer instance is not fitted"):
        make(FrozenEstimator(CBOSVectorizer())).fit(TEXT)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("source", [BOWPCA(2), TfidfVectorizer()])
def test_an_estimator_without_word_vectors_is_refused(source, fitted):
    source = clone(source).fit(TEXT) if fitted else source
    for model in (MetaEmbeddingVectorizer([source]), MeanEmbeddingVectorizer(word_vectors=source)):
        with pytest.raises(
            TypeError, match=r"(BOWPCA|TfidfVectorizer) learns no word vectors\. Give an estimator that"
        ):
            model.fit(TEXT)
