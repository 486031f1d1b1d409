"""AdaptedVectorizer: what own text adds to the vectors of another model."""

import numpy as np
import pytest
from estimators import bits

import skembed
from skembed import AdaptedVectorizer, MeanEmbeddingVectorizer
from skembed._methods.adapted import _in_order, _of_class

TOPICS = ["cat dog mouse kitten", "rain snow storm wind"]
JARGON = ["zorp blicket", "quux frobnic"]
COMMON = "the of and is".split()


def text(n_documents=60, seed=0):
    """Documents of one topic each, with words that the model does not know."""
    generator = np.random.default_rng(seed)
    sentences, groups = [], []
    for document in range(n_documents):
        known, jargon = TOPICS[document % 2].split(), JARGON[document % 2].split()
        for row in range(6):
            words = [*generator.choice(jargon if row % 2 else known, 2), *generator.choice(COMMON, 3)]
            sentences.append(" ".join(words))
            groups.append(document)
    return sentences, groups


def model(n=8):
    """Knows the topics, and gives common words long vectors of no meaning."""
    generator = np.random.default_rng(3)
    directions = generator.normal(size=(2, n))
    known = {
        word: directions[topic] + 0.3 * generator.normal(size=n) for topic in (0, 1) for word in TOPICS[topic].split()
    }
    return known | {word: 2 * generator.normal(size=n) for word in COMMON} | {"puppy": directions[0]}


def same_document(embed, sentences, groups):
    rows = embed(sentences)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    cosines = rows @ rows.T
    topic = np.array(groups) % 2
    same = topic[:, None] == topic
    np.fill_diagonal(same, val=False)
    return cosines[same].mean() - cosines[topic[:, None] != topic].mean()


def test_own_text_teaches_what_the_model_does_not_know():
    sentences, groups = text()
    new, of_new = text(20, seed=7)
    static = MeanEmbeddingVectorizer(word_vectors=model(), unknown="zero").fit(sentences)
    adapted = AdaptedVectorizer(model(), random_state=0).fit(sentences, groups=groups)
    assert same_document(adapted.transform, new, of_new) > same_document(static.transform, new, of_new) + 0.3
    assert adapted.similarity("zorp", "cat") > 0.3 > adapted.similarity("zorp", "rain")


def test_labels_say_what_belongs_together():
    sentences, groups = text()
    labels = np.where(np.array(groups) % 2, "weather", "animals").astype(object)
    labels[::3] = None
    adapted = AdaptedVectorizer(model(), random_state=0).fit(sentences, labels)
    assert adapted.similarity("zorp", "cat") > 0.3 > adapted.similarity("zorp", "rain")


def test_words_that_the_text_lacks_are_kept():
    sentences, groups = text()
    adapted = AdaptedVectorizer(model(), random_state=0).fit(sentences, groups=groups)
    assert adapted.word_counts_[adapted.vocabulary_["puppy"]] == 0
    assert adapted.similarity("puppy", "cat") > 0.5 > adapted.similarity("puppy", "rain")


def test_what_stands_around_a_sentence():
    rows = np.eye(6, dtype=np.float32)
    expected = np.zeros((6, 6))
    for i, j in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]:
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(_in_order(rows, np.array([0, 0, 0, 1, 1, 1]), 2), expected)
    np.testing.assert_array_equal(_in_order(rows, np.array([0, 0, 0, 1, 1, 1]), 100), expected)
    np.testing.assert_array_equal(_of_class(rows, ["a", "a", "a", "b", "b", "b"]), expected)
    alone = _of_class(rows, ["a", "a", None, "b", "c", "c"])
    assert not alone[[2, 3]].any()
    np.testing.assert_array_equal(alone[4], rows[5])


def test_an_estimator_is_read_as_it_sums_its_words(tmp_path):
    sentences, groups = text()
    static = MeanEmbeddingVectorizer(word_vectors=model(), unknown="zero", norm="l2").fit(sentences)
    of_estimator = AdaptedVectorizer(static, random_state=0).fit(sentences, groups=groups)
    of_table = AdaptedVectorizer(model(), random_state=0).fit(sentences, groups=groups)
    assert bits(of_estimator.transform(sentences)) == bits(of_table.transform(sentences))
    assert static.norm == "l2"


def test_it_is_exported(tmp_path):
    sentences, groups = text()
    adapted = AdaptedVectorizer(model(), unknown="zero", random_state=0).fit(sentences, groups=groups)
    assert skembed.formats.export_model(adapted, tmp_path / "folder")["smallest_cosine"] > 1 - 1e-6
    back = skembed.formats.import_model(tmp_path / "folder").transform(sentences)
    np.testing.assert_allclose(back, adapted.transform(sentences), atol=1e-5)


def test_text_in_no_order_warns():
    sentences, _ = text(seed=1)
    shuffled = list(np.random.default_rng(0).permutation(sentences))
    with pytest.warns(UserWarning, match="nothing to do with it.* reading order"):
        AdaptedVectorizer(model(), random_state=0).fit(shuffled)


def test_bad_input():
    sentences, groups = text(4)
    with pytest.raises(TypeError, match="word_vectors is None"):
        AdaptedVectorizer(None).fit(sentences)
    with pytest.raises(ValueError, match="0 sentences have another one around them"):
        AdaptedVectorizer(model()).fit(sentences, groups=range(len(sentences)))
    with pytest.raises(ValueError, match="None of the words of the text has a vector"):
        AdaptedVectorizer({"other": [1.0, 2.0]}).fit(sentences)
    with pytest.raises(ValueError, match="y has 3 values, but X has 24 sentences"):
        AdaptedVectorizer(model()).fit(sentences, ["a", "b", "c"])
