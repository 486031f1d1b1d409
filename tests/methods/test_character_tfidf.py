"""CharacterTfidf: the block of characters of TextVectorizer."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer

from skembed._meta_estimators.character_tfidf import CharacterTfidf

S = ["The cat drinks milk.", "the  bank lends\nmoney", "dogs eat meat, meat, meat", "", "Die Straße", "日本語"] * 3
NEW = ["cats!", "banks and dogs", "", "漢字", "STRASSE Straße"]


def assert_same(mine, expected):
    expected = expected.tocsr()
    expected.sort_indices()
    assert type(mine) is type(expected)
    assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
    assert mine.has_sorted_indices
    assert np.array_equal(mine.indptr, expected.indptr)
    assert np.array_equal(mine.indices, expected.indices)
    np.testing.assert_allclose(mine.data, expected.data, rtol=1e-6)


@pytest.mark.parametrize("analyzer", ["char", "char_wb"])
@pytest.mark.parametrize("ngram_range, min_df", [((2, 5), 2), ((1, 1), 1), ((3, 4), 0.2)])
def test_rows_are_those_of_tfidf_vectorizer(analyzer, ngram_range, min_df):
    options = {"analyzer": analyzer, "ngram_range": ngram_range, "min_df": min_df}
    mine, expected = CharacterTfidf(**options), TfidfVectorizer(**options, sublinear_tf=True, dtype=np.float32)
    assert_same(mine.fit_transform(S), expected.fit_transform(S))
    assert_same(clone(mine).fit(S).transform(NEW), expected.transform(NEW))
    assert list(mine.get_feature_names_out()) == list(expected.get_feature_names_out())
    np.testing.assert_allclose(mine.idf_, expected.idf_, rtol=1e-6)


def test_a_row_does_not_depend_on_the_others():
    emb = CharacterTfidf().fit(S)
    rows = emb.transform(NEW)
    for row, text in enumerate(NEW):
        assert (emb.transform([text]) != rows[[row]]).nnz == 0
    assert emb.transform([]).shape == (0, len(emb.idf_))


def test_a_pickle_is_smaller_than_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(97, 123, size=50))) for _ in range(200)]
    expected = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, dtype=np.float32).fit(texts)
    emb = CharacterTfidf().fit(texts)
    saved = pickle.dumps(emb)
    assert len(saved) < 0.65 * len(pickle.dumps(expected))
    copy = pickle.loads(saved)
    assert (copy.transform(texts) != emb.transform(texts)).nnz == 0
    assert len(pickle.dumps(emb)) == len(saved)  # the table of compiled code is not in it


@pytest.mark.parametrize(
    "params, texts, error, message",
    [
        ({}, [], ValueError, "X has no text"),
        ({}, ["", " \n"], ValueError, r"all 2 texts are shorter than ngram_range=\(2, 5\) or empty"),
        ({"analyzer": "char", "ngram_range": (9, 9)}, ["short"], ValueError, "all 1 texts are shorter"),
        ({"min_df": 3}, ["ab", "ab"], ValueError, "the most frequent one is in 2 of 2 texts, below min_df=3. Lower"),
        ({"min_df": 1.5}, S, ValueError, "'min_df' parameter"),
        ({"min_df": 0}, S, ValueError, "'min_df' parameter"),
        ({"min_df": True}, S, ValueError, "'min_df' parameter"),
        ({"ngram_range": (0, 2)}, S, ValueError, r"from 1 on; got \(0, 2\)"),
        ({"ngram_range": (3, 2)}, S, ValueError, r"got \(3, 2\)"),
        ({"ngram_range": (1, 2, 3)}, S, ValueError, "two integers"),
        ({"ngram_range": (1.0, 2)}, S, ValueError, "two integers"),
        ({"analyzer": "word"}, S, ValueError, "'analyzer' parameter"),
        ({}, ["a", None], TypeError, r"Row 1 is missing \(None\)"),
        ({}, ["a", 1], TypeError, "Row 1 is 1 of type int, not a string"),
    ],
)
def test_errors_say_what_to_do(params, texts, error, message):
    with pytest.raises(error, match=message):
        CharacterTfidf(**params).fit(texts)


def test_it_is_fitted_first():
    with pytest.raises(NotFittedError):
        CharacterTfidf().transform(S)
