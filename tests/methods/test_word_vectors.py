"""Word vectors: options and paths of the reader; dicts, gensim, estimators and tables, or what is no source of them."""

import os
import re
import tracemalloc
import warnings
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from word_vector_sources import VECTORS, WORDS, binary, check, text

from skembed import MeanEmbeddingVectorizer, Sent2VecVectorizer, SentenceCorpus
from skembed._word_vectors.read import read_source
from skembed.formats import read_word_vectors

# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [binary(), text(), text(header=False)], ids=["binary", "text", "GloVe"])
def test_options_of_the_reader(tmp_path, content):
    path = tmp_path / "v"
    path.write_bytes(content)
    words, vectors = read_word_vectors(path)
    assert words == WORDS and vectors.dtype == np.float32 and vectors.flags.c_contiguous
    assert not vectors.flags.writeable
    np.testing.assert_array_equal(vectors, VECTORS)
    words, vectors = read_word_vectors(str(path), limit=2)
    assert words == WORDS[:2] and vectors.tolist() == VECTORS[:2].tolist()
    for some in (["7", "naïve", "absent"], {"7": 0, "naïve": 1}, SentenceCorpus.from_sentences(["7 naïve absent"])):
        words, vectors = read_word_vectors(path, words=some)
        assert words == ["naïve", "7"] and vectors.tolist() == VECTORS[[1, 3]].tolist()
    assert read_word_vectors(path, words=WORDS, limit=3)[0] == WORDS[:3]
    with pytest.raises(ValueError, match=r"has none of the 1 chosen words. It begins with \['the', 'naïve', '猫'\]"):
        read_word_vectors(path, words=["The"])


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"limit": 0}, ValueError, "limit must be a positive integer"),
        ({"limit": 1.5}, ValueError, "limit must be a positive integer"),
        ({"words": "cat"}, TypeError, "words must be a collection of str"),
        ({"words": 3}, TypeError, "words must be a collection of str"),
        ({"encoding": "utf-16"}, ValueError, "utf-16 has other bytes for ASCII"),
        ({"encoding": "no such"}, ValueError, "unknown encoding"),
        ({"errors": "no such"}, ValueError, "unknown error handler"),
    ],
)
def test_wrong_options_of_the_reader(tmp_path, options, error, message):
    (tmp_path / "v").write_bytes(text())
    with pytest.raises(error, match=message):
        read_word_vectors(tmp_path / "v", **options)
    with pytest.raises(TypeError, match="path must be a str or os.PathLike, got dict"):
        read_word_vectors({"a": [1.0]})


def test_only_what_is_kept_takes_memory(tmp_path):
    words = [f"w{i}" for i in range(40_000)]
    (tmp_path / "v").write_bytes(binary(words, np.ones((40_000, 100), np.float32)))
    tracemalloc.start()
    read_word_vectors(tmp_path / "v", words=["w7", "w39999"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # the file has 16 MB; some pieces of it at a time


# -- paths -------------------------------------------------------------------------------------------------------------


def test_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "v.txt").write_bytes(text())
    check(read_source("~/v.txt"))
    assert read_word_vectors(Path("~/v.txt"))[0] == WORDS
    X = ["the 猫", "naïve 7"]
    assert MeanEmbeddingVectorizer(word_vectors="~/v.txt").fit(X).coverage_ == 1.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a pipe"), ("/dev/zero", "a device")):
        with pytest.raises(ValueError, match=f"is {kind}[.] Give the path of a file of word vectors"):
            read_source(path)


# -- objects -----------------------------------------------------------------------------------------------------------


class KeyedVectors:
    """What gensim's class of this name has that is read."""

    def __init__(self, words=WORDS, vectors=VECTORS, **expandos):
        self.index_to_key, self.vectors, self.expandos = list(words), vectors, expandos

    def get_vecattr(self, word, attribute):
        return self.expandos[attribute][self.index_to_key.index(word)]


class Estimator:
    """What a fitted estimator of this package has that is read."""

    def __init__(self, **fitted):
        self.__dict__.update(fitted)

    def fit(self, X, y=None):
        return self


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_mapping(kind):
    source = dict(zip(WORDS, VECTORS.astype(np.float64)))
    source["7"] = source["7"].tolist()
    found = read_source(kind(source))
    check(found)
    found[1][:] = 0
    assert source["the"].any()


def test_numpy_words_become_str():
    check(read_source(dict(zip(np.array(WORDS), VECTORS))))


def test_gensim_keyed_vectors():
    source = KeyedVectors(count=np.array([9, 5, 5, 2, 1]))
    found = read_source(source)
    check(found, counts=[9, 5, 5, 2, 1])
    found[1][:] = 0
    assert source.vectors.any()
    check(read_source(SimpleNamespace(wv=source, fit=None)), counts=[9, 5, 5, 2, 1])
    del source.expandos
    source.get_vecattr = lambda word, attribute: len(word) if attribute == "count" else None
    check(read_source(source), counts=[3, 5, 1, 1, 3])


@pytest.mark.parametrize("counts", [{}, {"count": [3, 2, None, 1, 1]}, {"count": np.zeros(5, int)}])
def test_gensim_without_counts(counts):
    check(read_source(KeyedVectors(**counts)))
    check(read_source(SimpleNamespace(index_to_key=WORDS, vectors=np.asfortranarray(VECTORS))))


def test_counts_that_gensim_made_up_are_left_out():
    words, vectors = [f"w{i}" for i in range(11)], np.ones((11, 2))
    check(read_source(KeyedVectors(words, vectors, count=np.arange(11, 0, -1))), words, vectors)
    real = [12, *range(10, 0, -1)]
    check(read_source(KeyedVectors(words, vectors, count=np.array(real))), words, vectors, real)
    check(read_source(KeyedVectors(count=np.arange(5, 0, -1))), counts=[5, 4, 3, 2, 1])


def test_repeated_words_of_an_object_lose_their_counts_too():
    with pytest.warns(UserWarning, match="KeyedVectors: 1 rows repeat .* 'a'"):
        found = read_source(KeyedVectors("aab", VECTORS[:3], count=[3, 1, 2]))
    check(found, "ab", VECTORS[[0, 2]], [3, 2])


def test_estimator():
    vocabulary = {word: row for row, word in reversed(list(enumerate(WORDS)))}
    rows = np.vstack([VECTORS, np.full((4, 3), np.nan)])  # the rows of n-grams are not looked at
    source = Estimator(vocabulary_=vocabulary, word_vectors_=rows, word_counts_=np.array([9, 8, 7, 1, 1]))
    found = read_source(source)
    check(found, counts=[9, 8, 7, 1, 1])
    assert not np.shares_memory(found[1], rows) and not np.shares_memory(found[2], source.word_counts_)
    check(read_source(Estimator(vocabulary_=vocabulary, word_vectors_=VECTORS.astype(np.float64))))


def test_unfitted_estimator():
    with pytest.raises(NotFittedError, match="This Estimator has no word_vectors_. Call fit first"):
        read_source(Estimator())


def fitted(**changes):
    attributes = {"vocabulary_": {"a": 0, "b": 1}, "word_vectors_": VECTORS[:2], "word_counts_": [2, 1]}
    return Estimator(**{**attributes, **changes})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "dict has 0 words"),
        ({"a": []}, "dict has 1 words and vectors of length 0"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "dict: the vector of 'b' has length 3, others 2"),
        ({"a": 1.0}, "vector of 'a' must be a 1-D array of numbers, got 1.0"),
        ({"a": [1.0], "b": [[1.0]]}, "vector of 'b' must be a 1-D"),
        ({"a": [[1.0], [1.0, 2.0]]}, "vector of 'a' must be a 1-D"),
        ({"a": "text"}, "vector of 'a' must be a 1-D .* 'text'"),
        ({"a": ["1", "2"]}, "vector of 'a' must be a 1-D"),
        ({"a": [1j]}, "vector of 'a' must be a 1-D"),
        ({"a": [1, 2], "b": [1, np.nan]}, "vector of 'b' has NaN or infinity"),
        ({"a": [1e300]}, "vector of 'a' has NaN or infinity"),
        ({"b": [1.0], "a": [-1.1e30]}, "vector of 'a' has numbers beyond 1e30. Divide all vectors by a constant"),
        ((["a"], VECTORS), r"tuple: the vectors of 1 words must be .* got shape \(5, 3\)"),
        (([], VECTORS[:0]), "tuple has 0 words"),
        ((["a"], np.array([["x"]])), "must be a 2-D array of numbers"),
        (pd.DataFrame({"text": ["a"], "x": [1.0]}, index=["b"]), "must be a 2-D array of numbers"),
        (KeyedVectors([], np.empty((0, 3))), "KeyedVectors has 0 words"),
        (KeyedVectors("ab", np.empty((2, 0))), "vectors of length 0"),
        (KeyedVectors("ab", VECTORS), r"vectors of 2 words must be .* shape \(5, 3\)"),
        (KeyedVectors("ab", VECTORS[0]), r"must be a 2-D array"),
        (KeyedVectors("ab", [["x"], ["y"]]), r"must be a 2-D array of numbers"),
        (KeyedVectors("ab", VECTORS[:2], count=[1, 2, 3]), "word counts must be 2 whole numbers"),
        (KeyedVectors("ab", VECTORS[:2], count=[1, -2]), "word counts must be 2 whole numbers"),
        (fitted(word_counts_=[1.5, 1]), "Estimator: the word counts must be 2 whole numbers"),
        (fitted(word_counts_=[np.inf, 1]), "word counts must be 2 whole numbers"),
        (fitted(word_counts_=["2", "1"]), "word counts must be 2 whole numbers"),
        (fitted(word_vectors_=VECTORS[:1]), r"vectors of 2 words must be .* got shape \(1, 3\)"),
        (fitted(vocabulary_={}), "Estimator has 0 words"),
        (fitted(vocabulary_={"a": 0, "b": 2}), "vocabulary_ must give the words the rows 0 to 1"),
        (fitted(vocabulary_={"a": 0, "b": 0}), "vocabulary_ must give the words the rows 0 to 1"),
        (fitted(word_vectors_=VECTORS[:2] * np.inf), "vector of 'a' has NaN or infinity"),
    ],
)
def test_bad_objects(source, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
            read_source(source)


@pytest.mark.parametrize("source", [None, 3, b"path", ["a"], VECTORS, Estimator, KeyedVectors, SimpleNamespace(wv=3)])
def test_other_types(source):
    with pytest.raises(TypeError, match=r"a dict of word -> vector, .* gensim .*, a fitted .* or the path .* Got "):
        read_source(source)
    if isinstance(source, type):
        with pytest.raises(TypeError, match=re.escape(repr(source))):
            read_source(source)


@pytest.mark.parametrize(
    "source",
    [{1: [1.0]}, {b"a": [1.0]}, KeyedVectors([0, 1], VECTORS[:2]), pd.DataFrame({"x": [1.0]}), ([1], VECTORS[:1])],
)
def test_words_must_be_str(source):
    with pytest.raises(TypeError, match="words must be str, got"):
        read_source(source)


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [WORDS, tuple(WORDS), np.array(WORDS), np.array(WORDS, object), pd.Index(WORDS)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
def test_words_and_array(words, dtype):
    vectors = np.arange(15).reshape(5, 3).astype(dtype)
    found = read_source((words, vectors))
    check(found, WORDS, vectors)
    assert not np.shares_memory(found[1], vectors)
    check(read_source((words, np.asfortranarray(vectors))), WORDS, vectors)


def test_a_read_only_array_is_not_copied():
    vectors = VECTORS.copy()
    vectors.flags.writeable = False
    assert read_source((WORDS, vectors))[1] is vectors
    for other in (np.asfortranarray(vectors), vectors.astype(np.float64)):
        other.flags.writeable = False
        check(read_source((WORDS, other)))


def test_data_frame():
    frame = pd.DataFrame(VECTORS, index=WORDS)
    found = read_source(frame)
    check(found)
    found[1][:] = 0
    assert frame.to_numpy().all()
    check(read_source(frame.astype(np.float64)))


def test_a_tuple_of_two_sources_is_joined():
    one, other = {"cat": [1.0, 0.0]}, pd.DataFrame([[0.0, 3.0]], index=["cat"])
    for sources in ((one, other), [other, other], (other, other), [(["cat"], np.ones((1, 2))), one]):
        model = MeanEmbeddingVectorizer(word_vectors=sources).fit(["cat"])
        assert model.word_vectors_.shape == (1, 4)
    assert MeanEmbeddingVectorizer(word_vectors=(["cat"], np.ones((1, 2)))).fit(["cat"]).word_vectors_.shape == (1, 2)


class Word2Vec:
    """What a model of gensim has: its vectors, and no item."""

    def __init__(self):
        self.wv = KeyedVectors(["cat", "dog"], VECTORS[:2])


def test_models_of_gensim():
    X = ["a cat", "a dog"]
    model = MeanEmbeddingVectorizer(word_vectors=Word2Vec()).fit(X)
    assert model.word_vectors_.tolist() == VECTORS[:2].tolist()
    assert MeanEmbeddingVectorizer(word_vectors=[Word2Vec(), Word2Vec()]).fit(X).word_vectors_.shape == (2, 6)


@pytest.mark.parametrize("source", [3, b"path", {1, 2}, range(10**6), [3]])
def test_what_is_no_source_of_vectors_is_not_shown(source):
    with pytest.raises(TypeError, match="^Word vectors are read from .* Got (int|bytes|set|range)[.]$") as caught:
        MeanEmbeddingVectorizer(word_vectors=source).fit(["a cat"])
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "estimator",
    [
        lambda vectors: MeanEmbeddingVectorizer(word_vectors=vectors),
        lambda vectors: MeanEmbeddingVectorizer(word_vectors=[vectors]),
        lambda vectors: Sent2VecVectorizer(2, init=vectors, freeze_init=True, min_count=1, max_iter=1, random_state=0),
    ],
    ids=["given", "joined", "init"],
)
def test_words_are_found_in_any_unicode_form(estimator):
    text = ["un café olé ici", "le café ici ou un café"] * 10
    one, both = {"café": [1.0, 0.0], "olé": [0.0, 2.0]}, {"ole\u0301": [5.0, 5.0]}
    decomposed = {"cafe\u0301": [1.0, 0.0], "olé": [0.0, 2.0]}
    composed, found = estimator(one | both).fit(text), estimator(decomposed | both).fit(text)
    assert list(found.vocabulary_)[:3] == ["café", "olé", "ole\u0301"]
    assert found.transform(text).tobytes() == composed.transform(text).tobytes()


def test_a_pattern_leaves_words_in_their_unicode_form():
    model = MeanEmbeddingVectorizer(word_vectors={"cafe\u0301": [1.0]}, token_pattern=r"\S+").fit(["cafe\u0301"])
    assert list(model.vocabulary_) == ["cafe\u0301"] and model.coverage_ == 1
