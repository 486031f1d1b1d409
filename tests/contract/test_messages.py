"""What error messages show: a line of a value at most, and advice that works for what was passed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import CLASSES, GROUPS, METHODS, TEXT, default, fitted, make

from skembed import CBOSVectorizer, SentenceCorpus
from skembed._text.tokenizer import Tokenizer
from skembed._validation.messages import brief
from skembed.evaluation import RelatednessRegressor

every_class = pytest.mark.parametrize("name", METHODS)


# -- values in messages ------------------------------------------------------------------------------------------------


class Costly:
    """Its repr must not be made."""

    def __repr__(self):
        raise AssertionError("the repr of what is not shown was computed")


class Items(list):
    def __repr__(self):
        raise AssertionError("the repr of all items was computed")


MANY = ["The cat sat on the mat."] * 6 + [Costly()] * 10_000
LARGE = {
    "list": MANY,
    "list of another type": Items(MANY),
    "dict": dict(enumerate(MANY)),
    "nested list": [[MANY] * 9] * 9,
    "string": "word " * 10**4,
    "bytes": b"word " * 10**6,
    "array": np.zeros((1000, 1000)),
    "objects": np.array(MANY, dtype=object),
    "Series": pd.Series(MANY, dtype=object),
    "number": 10**5000,
    "estimator": CBOSVectorizer(stop_words=MANY),
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_value_is_shown_by_type_and_size(kind):
    text = brief(LARGE[kind])
    assert len(text) <= 80 and "\n" not in text
    assert type(LARGE[kind]).__name__ in text or text[:2] in ("'w", "b'", "[l")


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "word", b"x", "it's", (1,), (1, 2), [], [1, "2"], {"a": 1}, {1}, set(), int, np.int64(3)],
)
def test_a_small_value_is_shown_as_it_is(value):
    assert brief(value) == repr(value)


def test_what_is_shown_of_a_collection():
    assert brief(["a", "b"] * 5) == "list of length 10: ['a', 'b', 'a', 'b', 'a', 'b', ...]"
    assert brief({"a": np.zeros(300), "b": ["x"] * 9}) == "{'a': ndarray of shape (300,), 'b': list of length 9}"
    assert brief(pd.DataFrame({"a": [1]})) == "DataFrame of shape (1, 1)"
    assert brief("a" * 100) == f"'{'a' * 76}..."


def _one_line(error):
    message = str(error.value)
    assert len(message) < 600 and "\n" not in message
    return message


MAY_BE_LARGE = {"stop_words", "word_vectors", "callback", "verbose"}
OWNERS = {
    parameter: name
    for name in [*METHODS, "CBOSVectorizer"]
    for parameter in sorted(make(name).get_params(deep=False).keys() - MAY_BE_LARGE)
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "list") for name in sorted(set(OWNERS.values()))]
    + [("CBOSVectorizer", kind) for kind in ("dict", "string", "array")],
)
def test_any_parameter_with_a_large_value(name, kind):
    """Each parameter in one class: all check theirs in the same way."""
    parameters = [parameter for parameter, owner in OWNERS.items() if owner == name]
    assert parameters
    for parameter in parameters:
        with pytest.raises((ValueError, TypeError)) as error:
            make(name, **{parameter: LARGE[kind]}).fit(TEXT, groups=GROUPS)
        assert parameter in _one_line(error)


@every_class
def test_sentences_in_the_place_of_the_corpus(name):
    for given in (TEXT, iter(TEXT), pd.Series(TEXT), "a text"):
        with pytest.raises(ValueError, match=r"'corpus' parameter.*SentenceCorpus\.from_sentences") as error:
            make(name, corpus=given).fit(TEXT)
        assert "skembed._" not in _one_line(error)


def test_parameters_of_the_regressor():
    with pytest.raises(ValueError, match="n_hidden"):
        RelatednessRegressor(n_hidden=MANY).fit([[1.0]], [1.0])


@every_class
def test_contradiction_of_long_stop_words(name):
    words = [f"word{i}" for i in range(10_000)]
    corpus = SentenceCorpus.from_sentences(TEXT, stop_words=words)
    with pytest.raises(ValueError, match="stop_words=tuple of length 9999.*contradicts") as error:
        make(name, stop_words=words[1:], corpus=corpus).fit(TEXT)
    _one_line(error)
    with pytest.raises(
        ValueError, match="stop_words=tuple of length 10000.*stop_words=None.*the same options"
    ) as error:
        fitted(name).transform(corpus)
    _one_line(error)


def test_other_messages_with_what_was_passed():
    emb = fitted("CBOSVectorizer")
    wrong = [
        lambda: Tokenizer(analyzer=LARGE["list"]),
        lambda: Tokenizer(token_pattern="(" + LARGE["string"]),
        lambda: Tokenizer(token_pattern="(?P<" + LARGE["string"]),
        lambda: Tokenizer(lowercase=LARGE["list"]),
        lambda: Tokenizer(stop_words=LARGE["string"]),
        lambda: Tokenizer(stemmer=LARGE["list"]),
        lambda: SentenceCorpus.from_sentences(TEXT, min_count=LARGE["list"]),
        lambda: SentenceCorpus.from_sentences(TEXT, max_features=-LARGE["number"]),
        lambda: SentenceCorpus.from_sentences([MANY]),
        lambda: SentenceCorpus.from_sentences([b"word" * 10**6]),
        lambda: SentenceCorpus.from_sentences([TEXT], analyzer=lambda item: [Items(MANY)]),
        lambda: SentenceCorpus.from_sentences(TEXT, stemmer=lambda word: Items(MANY)),
        lambda: SentenceCorpus.from_sentences(TEXT)[LARGE["string"]],
        lambda: SentenceCorpus.from_file("a.txt", encoding=LARGE["string"]),
        lambda: SentenceCorpus.from_file(dict(enumerate(MANY))),
        lambda: emb.most_similar("word " * 10**5),
        lambda: emb.most_similar("a" * 10**6),
        lambda: emb.fit(pd.DataFrame(np.full((2, 1000), "a"), columns=[f"column {i}" for i in range(1000)])),
        lambda: emb.fit(pd.DataFrame({"a" * 10**5: ["b"], "c": ["d"]})),
    ]
    for call in wrong:
        with pytest.raises((TypeError, ValueError, IndexError)) as error:
            call()
        _one_line(error)


# -- advice ------------------------------------------------------------------------------------------------------------

WITH_MISSING = {
    "list": ["a b", None, "c"],
    "tuple": ("a b", float("nan"), "c"),
    "array": np.array(["a b", None, "c"], dtype=object),
    "object": pd.Series(["a b", None, "c"], dtype=object),
    "string": pd.Series(["a b", None, "c"], dtype="string"),
    "pyarrow string": pd.Series(["a b", None, "c"], dtype="string[pyarrow]"),
    "ArrowDtype": pd.Series(["a b", None, "c"], dtype=pd.ArrowDtype(pa.string())),
    "category": pd.Series(["a b", None, "c"], dtype="category"),
    "index": pd.Index(["a b", None, "c"]),
    "polars": pl.Series(["a b", None, "c"]),
    "polars Categorical": pl.Series(["a b", None, "c"], dtype=pl.Categorical),
    "polars Enum": pl.Series(["a b", None, "c"], dtype=pl.Enum(["a b", "c"])),
    "pyarrow": pa.array(["a b", None, "c"]),
    "pyarrow chunks": pa.chunked_array([["a b", None], ["c"]]),
    "pyarrow large": pa.array(["a b", None, "c"], pa.large_string()),
    "pyarrow dictionary": pa.array(["a b", None, "c"]).dictionary_encode(),
    "pyarrow dictionary chunks": pa.chunked_array([pa.array(["a b", None, "c"]).dictionary_encode()]),
}


@pytest.mark.parametrize("kind", WITH_MISSING)
def test_the_advice_for_a_missing_sentence_works(kind):
    X = WITH_MISSING[kind]
    emb, other = fitted("CBOSVectorizer"), make("CBOSVectorizer")
    calls = (SentenceCorpus.from_sentences, other.fit, other.fit_transform, emb.transform, fitted("BOWPCA").transform)
    for call in calls:
        with pytest.raises(
            TypeError, match=r"^Row 1 is missing \(.*\)\. Set missing=\"empty\", or replace .* first: "
        ) as error:
            call(X)
    code = str(error.value).partition("first: ")[2]
    filled = eval(code, {"pl": pl}, {"X": X})  # the last of the calls: all give the same
    assert list(SentenceCorpus.from_sentences(filled)) == [["a", "b"], [], ["c"]]
    assert emb.transform(filled).shape == (3, 8)


@every_class
def test_the_advice_for_a_table_names_its_columns(name):
    with pytest.raises(ValueError, match=r'for example X\["a"\]\. The columns are \[\'a\', 0\]\.'):
        make(name).fit(pd.DataFrame({"a": TEXT, 0: TEXT}))
    with pytest.raises(ValueError, match=r"Pass one column: X\[:, 0\]\."):
        make(name).fit(np.array([TEXT, TEXT]).T)


def test_groups_hold_document_ids():
    for groups, error, message in [
        ("abcdef", ValueError, "groups must be an iterable of document ids, got one str. Pass one for each"),
        (7, TypeError, "groups must be an iterable of document ids, got 7"),
        (pd.DataFrame({"doc": GROUPS, "part": GROUPS}), ValueError, r'groups must be one-dimensional.*groups\["doc"\]'),
        (dict(enumerate(GROUPS)), TypeError, r"groups is a dict.*list\(groups\.values\(\)\)"),
    ]:
        with pytest.raises(error, match=message) as found:
            make("CBOSVectorizer").fit(TEXT, groups=groups)
        assert "of sentences" not in str(found.value)


# -- stop words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrap"),
    [(name, np.array) for name in METHODS]
    + [
        ("CBOSVectorizer", wrap)
        for wrap in (list, tuple, set, frozenset, pd.Series, pd.Index, pl.Series, pa.array, dict.fromkeys)
    ],
)
def test_stop_words_in_any_collection(name, wrap):
    words = ["the", "cat"]
    corpus = SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=wrap(words))
    assert corpus.tokenizer.stop_words == ("cat", "the")
    emb = make(name, stop_words=wrap(words)).fit(TEXT, groups=GROUPS)
    assert "cat" not in emb.vocabulary_ and emb.vocabulary_ == make(name, stop_words=words).fit(TEXT).vocabulary_
    emb.set_params(corpus=corpus).fit(TEXT)
    emb.transform(corpus)


@every_class
def test_wrong_stop_words(name):
    for words in (iter(["the"]), "the", 3, b"the", ["the", 3], np.array([1, 2])):
        with pytest.raises((TypeError, ValueError), match="stop_words"):
            make(name, stop_words=words).fit(TEXT)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrong_argument_names_no_private_class(cls):
    """Which private base class has the method says nothing to a user, and reads as the wrong estimator."""
    expected = rf"^({cls.__name__}\.)?fit\(\) got an unexpected keyword argument 'sample_weight'"
    with pytest.raises(TypeError, match=expected):
        default(cls).fit(["a cat", "a dog"], [0, 1], sample_weight=[1, 2])
