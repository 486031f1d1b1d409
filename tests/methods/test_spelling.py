"""Vectors turned towards the directions of their words' character n-grams."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skembed import MeanEmbeddingVectorizer
from skembed._word_vectors.bag import hash_vectors
from skembed._word_vectors.processing import add_spelling

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]
WORDS = st.text(st.characters() | st.sampled_from("ab\ud800\udc00\x00\n"), max_size=5)


def slow_direction(word, n_components):
    """Of one word, in float64."""
    marked = f"<{word}>" if word else ""
    ngrams = [marked[i:j] for i in range(len(marked)) for j in range(i + 3, min(i + 5, len(marked)) + 1)]
    total = hash_vectors(ngrams, n_components).astype(float).sum(axis=0)
    return total / max(np.linalg.norm(total), 1e-30)


@given(st.lists(WORDS, max_size=4), st.integers(1, 20), st.sampled_from([0.0, 0.3, 1.0]))
def test_against_a_slow_twin(words, n_components, weight):
    vectors = np.random.default_rng(len(words)).normal(size=(len(words), n_components)).astype(np.float32)
    vectors[1:2] = 0
    spelled = add_spelling(vectors.copy(), words, weight)
    assert spelled.dtype == np.float32
    for word, before, after in zip(words, vectors.astype(float), spelled):
        length = np.linalg.norm(before)
        expected = before
        if word and length:
            expected = (1 - weight**2) ** 0.5 * before / length + weight * slow_direction(word, n_components)
            norm = np.linalg.norm(expected)
            if norm < 1e-3:  # opposite directions: what is left of the sum is rounding
                continue
            expected *= length / norm
        np.testing.assert_allclose(after, expected, rtol=1e-3, atol=1e-4)


def test_a_row_depends_on_its_word_alone():
    words = [f"word{i}" for i in range(1003)]  # more than one step
    vectors = np.random.default_rng(0).normal(size=(1003, 33)).astype(np.float32)
    spelled = add_spelling(vectors.copy(), words, 0.5)
    for i in (0, 1, 999, 1000, 1002):
        assert add_spelling(vectors[i : i + 1].copy(), [words[i]], 0.5).tobytes() == spelled[i].tobytes()


VECTORS = {
    "teacher": [1.0, *[0.0] * 99],
    "cat": [0.0, 2.0, *[0.0] * 98],
    "in": [0.0] * 100,
    "1914": [0.0, 0.0, 3.0, *[0.0] * 97],
}


def model(**options):
    return MeanEmbeddingVectorizer(word_vectors=VECTORS, **options).fit(["the cat in 1914", "a teacher"])


def test_words_of_like_spelling_become_alike():
    plain, spelled = model(), model(spelling_weight=0.9)
    assert abs(plain.similarity("teacher", "teachers")) < 0.4 < spelled.similarity("teacher", "teachers")
    assert spelled.similarity("quaggas", "quagga") > 0.4 > abs(plain.similarity("quaggas", "quagga"))
    assert spelled.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    lengths = [np.linalg.norm(m.transform([*VECTORS, "quagga"]), axis=1) for m in (plain, spelled)]
    np.testing.assert_allclose(*lengths, rtol=1e-5)
    assert model(spelling_weight=0.0).transform(["cat teacher"]).tobytes() == plain.transform(["cat teacher"]).tobytes()
    assert spelled.most_similar("cat", n_words=1)[0][0] != "cat"


def test_another_weight_waits_for_the_next_fit():
    one = model(spelling_weight=0.5)
    rows = one.transform(["cat teacher quagga"])
    assert one.set_params(spelling_weight=0.0).transform(["cat teacher quagga"]).tobytes() == rows.tobytes()
    assert one.fit(["the cat"]).transform(["cat teacher quagga"]).tobytes() != rows.tobytes()


def test_learned_vectors_are_spelled_too():
    text = ["in 1914 and 1939 there was war", "war is in 1914", "no war in 1939"] * 20
    options = {"n_components": 5, "random_state": 0, "min_count": 1}
    spelled = MeanEmbeddingVectorizer(**options, spelling_weight=0.5).fit(text)
    plain = MeanEmbeddingVectorizer(**options).fit(text)
    assert spelled.word_vectors_.tobytes() == plain.word_vectors_.tobytes()
    words = [*plain.vocabulary_, "wars"]
    expected = add_spelling(plain.transform(words), words, 0.5)
    np.testing.assert_allclose(spelled.transform(words), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_removed", [0, 1])
def test_a_number_has_the_row_that_it_has_where_it_is_unknown(n_removed):
    known = model(spelling_weight=0.6, hash_numbers=True, n_removed_components=n_removed)
    row, unknown = known.transform(["1914"])[0], known._unknown_vectors(known._state, ["1914"])[0]
    np.testing.assert_allclose(row, unknown, atol=1e-5)
    if n_removed:
        np.testing.assert_allclose(known.transform([*VECTORS, "quagga"]) @ known.components_.T, 0, atol=1e-5)


@pytest.mark.parametrize("weight", [-0.1, 1.1, "yes"])
def test_wrong_weight(weight):
    with pytest.raises(ValueError, match="'spelling_weight' parameter of MeanEmbeddingVectorizer must be a float"):
        model(spelling_weight=weight)
