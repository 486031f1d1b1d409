"""Questions to a model: words, sentences and vectors in any container; errors call things by the user's names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import GROUPS, TEXT, make

from skembed import MeanEmbeddingVectorizer, SentenceCorpus

VECTORS = {
    "king": [1.0, 1.0, 0.0, 0.1],
    "man": [1.0, 0.0, 0.0, 0.0],
    "woman": [0.0, 0.0, 1.0, 0.0],
    "queen": [0.0, 1.0, 1.0, 0.1],
    "apple": [0.0, 0.1, 0.1, 1.0],
    "nothing": [0.0, 0.0, 0.0, 0.0],
}


@pytest.fixture(scope="module")
def model():
    return MeanEmbeddingVectorizer(word_vectors=VECTORS).fit(["king man woman queen apple"])


def names(found):
    return [word for word, _ in found]


def test_words_in_any_container(model):
    expected = [model.most_similar("king"), model.most_similar("apple")]
    words = ["king", "Apple!"]
    containers = [
        words,
        tuple(words),
        np.array(words),
        pd.Series(words, index=[7, 3]),
        pl.Series(words),
        pa.array(words),
        pd.DataFrame({"word": words}),
        np.array(words)[:, None],
        iter(words),
        (word for word in words),
        dict.fromkeys(words).keys(),
    ]
    for container in containers:
        assert model.most_similar(container) == expected
    assert model.most_similar(np.str_("king")) == expected[0]
    for nothing in ([], (), iter([]), np.array([], str), np.zeros((0, 4))):
        assert model.most_similar(nothing) == []


def test_cosines_are_those_of_the_vectors(model):
    vectors = np.array(list(VECTORS.values()))[:5]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = dict(model.most_similar("king"))
    assert set(found) == set(VECTORS) - {"king", "nothing"}
    for word, cosine in found.items():
        assert cosine == pytest.approx(vectors[0] @ vectors[list(VECTORS).index(word)], abs=1e-7)
    assert names(model.most_similar("king", 2)) == names(model.most_similar("king"))[:2]


def test_a_sentence_is_its_row_without_its_words(model):
    row = model.transform(["the king and a woman"])
    (by_row,) = model.most_similar(row)
    assert "king" in names(by_row) and "woman" in names(by_row)
    by_text = model.most_similar("king woman")
    (plain,) = model.most_similar(model.transform(["king woman"]))
    assert by_text == [(word, cosine) for word, cosine in plain if word not in ("king", "woman")]
    assert names(by_text)[0] == "queen"
    # As in transform, words that were not learned count too.
    assert model.most_similar("the king and a woman") == [
        (word, cosine) for word, cosine in by_row if word not in ("king", "woman")
    ]


def test_vectors_in_any_form(model):
    rows = model.transform(["king woman", "apple"])
    expected = [model.most_similar(row) for row in rows]
    assert names(expected[1])[0] == "apple" and isinstance(expected[0][0], tuple)
    for form in (
        rows,
        rows.astype(float),
        rows.tolist(),
        list(rows),
        iter(rows),
        pd.DataFrame(rows),
        pl.DataFrame(rows),
    ):
        assert model.most_similar(form) == expected
    assert model.most_similar(rows[0].tolist()) == model.most_similar(pd.Series(rows[0])) == expected[0]
    assert model.most_similar(["apple", rows[1]])[1] == expected[1]
    whole = model.most_similar([0, 1, 1, 0])
    assert names(whole)[0] == "queen"


def test_sums_and_differences(model):
    found = model.most_similar(positive=["king", "woman"], negative=["man"])
    assert names(found)[0] == "queen"
    assert not {"king", "woman", "man"} & set(names(found))
    unit = {word: np.array(vector) / (np.linalg.norm(vector) or 1) for word, vector in VECTORS.items()}
    total = unit["king"] + unit["woman"] - unit["man"]
    assert found[0][1] == pytest.approx(unit["queen"] @ total / np.linalg.norm(total))
    assert model.most_similar(positive=("king", "woman"), negative="man") == found
    assert model.most_similar(positive=iter(["king", "woman"]), negative=pd.Series(["man"])) == found
    by_vectors = model.most_similar(positive=np.array([VECTORS["king"], VECTORS["woman"]]), negative=VECTORS["man"])
    assert dict(by_vectors)["queen"] == pytest.approx(found[0][1]) and "king" in names(by_vectors)
    assert model.most_similar(positive="king") == model.most_similar("king")
    against = model.most_similar(negative=["king"])
    assert [cosine for _, cosine in against] == pytest.approx([-c for _, c in model.most_similar("king")][::-1])


def test_nothing_is_similar_to_zeros(model):
    assert model.most_similar("nothing") == model.most_similar(np.zeros(4)) == []
    assert model.most_similar(np.zeros((2, 4))) == [[], []]
    assert model.most_similar(positive=["man"], negative=["man"]) == []
    assert model.most_similar(positive=[], negative=[]) == []
    assert all("nothing" not in names(found) for found in model.most_similar(list(VECTORS)))


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e18, 1e29])
def test_numbers_whose_squares_leave_the_range(model, scale):
    scaled = {word: np.array(vector) * scale for word, vector in VECTORS.items()}
    other = MeanEmbeddingVectorizer(word_vectors=scaled, unknown="zero").fit(["king"])
    expected = dict(model.most_similar("king"))
    assert dict(other.most_similar("king")) == pytest.approx(expected, abs=0.1 if scale < 1e-40 else 1e-6)
    assert names(other.most_similar(np.array(VECTORS["king"]) * 1e300))[0] == "king"
    assert names(other.most_similar(np.array(VECTORS["king"]) * 1e-320))[0] == "king"


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ({"words": "kong"}, ValueError, "^words: 'kong' is not in the vocabulary of 6 words.*Close to it: 'king'"),
        (
            {"words": ["king", "zzzzz"]},
            ValueError,
            r"^words\[1\]: 'zzzzz' is not in the vocabulary.*min_count times\.$",
        ),
        ({"words": "zz yy"}, ValueError, "^words: no word of 'zz yy' is in the vocabulary"),
        ({"words": ["king", "..."]}, ValueError, r"^words\[1\] has no word: '...'"),
        ({"words": ["king", None]}, TypeError, r"^words\[1\] must be a word, a sentence or a vector, got None of type"),
        ({"words": [b"king"]}, TypeError, r"^words\[0\] must be .* of type bytes"),
        ({"words": 5}, TypeError, "^words must be an iterable"),
        ({"words": {"king"}}, TypeError, "^words is a set"),
        (
            {"words": [1.0, 2.0]},
            ValueError,
            r"^words must be 4 finite numbers, as a row of transform, got \[1.0, 2.0\]",
        ),
        ({"words": np.ones((2, 3))}, ValueError, r"^words\[0\] must be 4 finite numbers"),
        ({"words": [1.0, np.nan, 0.0, 0.0]}, ValueError, "^words must be 4 finite"),
        ({"words": ["x" * 10**6]}, ValueError, r"^words\[0\]: 'x{50,80}\.\.\. is not in"),
        ({"positive": ["king", "kong"]}, ValueError, r"^positive\[1\]: 'kong' is not in"),
        ({"positive": "king", "negative": [3]}, ValueError, "^negative must be 4 finite"),
        ({"words": "king", "positive": ["man"]}, ValueError, "^Give words, or else positive and negative"),
        ({}, ValueError, "^Give words, or else"),
        ({"words": "king", "n_words": 0}, ValueError, "^n_words must be a positive integer, got 0"),
        ({"words": "king", "n_words": True}, ValueError, "^n_words must be .*True"),
        ({"words": "king", "n_words": 2.0}, ValueError, "^n_words must be .*2.0"),
    ],
)
def test_errors_name_what_is_wrong(model, question, error, message):
    with pytest.raises(error, match=message) as caught:
        model.most_similar(**question)
    assert len(str(caught.value)) < 250


def test_the_learned_estimators_answer_too():
    for name in ("CBOSVectorizer-stem", "Sent2VecVectorizer-bigrams", "MeanEmbeddingVectorizer-spelled"):
        model = make(name).fit(TEXT, groups=GROUPS)
        first, second = model.most_similar(["cat", "cat dog"], n_words=3)
        assert len(first) == len(second) == 3 and first == model.most_similar("cat", 3)
        assert not {"cat", "dog"} & set(names(second))


def test_similarity_of_any_collections(model):
    a, b = ["king", "a man", "apple"], ["queen", "woman", "king"]
    expected = model.similarity(a, b)
    assert expected.tolist() == [model.similarity(*pair) for pair in zip(a, b)]
    corpus = SentenceCorpus.from_sentences(b)
    for other in (iter(b), tuple(b), pd.Series(b), pl.Series(b), pa.array(b), (x for x in b), np.array(b), corpus):
        assert model.similarity((x for x in a), other).tolist() == expected.tolist()
    assert model.similarity([], iter([])).shape == (0,)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        ("king", ["man"], ValueError, "^a is one sentence and b is not"),
        (["man"], "king", ValueError, "^b is one sentence and a is not"),
        (["man"], 5, TypeError, "^b must be an iterable"),
        (["man"], {"king"}, TypeError, "^b is a set"),
        (["man", None], ["man", "king"], TypeError, "^a: Row 1 is missing"),
        (["man"], iter([5]), TypeError, "^b: Row 0 is 5"),
        (["man"], ["man", "king"], ValueError, "^a has 1 sentences and b has 2"),
    ],
)
def test_errors_of_similarity_name_the_side(model, a, b, error, message):
    with pytest.raises(error, match=message):
        model.similarity(a, b)


def test_a_corpus_that_was_split_otherwise_is_named(model):
    with pytest.raises(ValueError, match="^b was made with"):
        model.similarity(["man"], SentenceCorpus.from_sentences(["a"], stemmer=str.upper))


def test_explain_names_the_side(model):
    with pytest.raises(ValueError, match=r"^a must be one sentence, a string, got \['king'\]"):
        model.explain(["king"], "man")
    with pytest.raises(ValueError, match="^b must be one sentence, a string, got None"):
        model.explain("king", None)
