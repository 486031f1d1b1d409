"""Word vectors from dicts, gensim, estimators and files: read right, or refused with a message that helps."""

import gzip
import pickle
import re
import struct
import tempfile
import warnings
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import skembed._word_vector_files as module
from skembed._word_vectors import read_source as read_word_vectors

WORDS = ["the", "naïve", "猫", "7", "a-b"]
VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def text(words=WORDS, vectors=VECTORS, header=True, end="\n", separator=" "):
    lines = [f"{len(words)} {len(vectors[0])}"] if header else []
    lines += [separator.join([word, *(f"{x:.9g}" for x in vector)]) for word, vector in zip(words, vectors)]
    return "".join(line + end for line in lines).encode()


def binary(words=WORDS, vectors=VECTORS, end=b"\n"):
    rows = [word.encode() + b" " + vector.astype("<f4").tobytes() + end for word, vector in zip(words, vectors)]
    return f"{len(words)} {vectors.shape[1]}\n".encode() + b"".join(rows)


@pytest.fixture
def read(tmp_path):
    def read(content, name="v.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_word_vectors(path)

    return read


def check(found, words=WORDS, vectors=VECTORS, counts=None):
    assert found[0] == list(words) and all(type(word) is str for word in found[0])
    assert found[1].dtype == np.float32 and found[1].flags.c_contiguous and found[1].flags.writeable
    np.testing.assert_array_equal(found[1], np.asarray(vectors, dtype=np.float32))
    if counts is None:
        assert found[2] is None
    else:
        assert found[2].dtype == np.int64 and found[2].tolist() == counts


# -- files -------------------------------------------------------------------------------------------------------------

FORMATS = {
    "word2vec text": text(),
    "word2vec text of the C program": text(end=" \n"),
    "no last line end": text()[:-1],
    "tabs": text(separator="\t"),
    "Windows line ends": text(end="\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(),
    "blank lines": b"5 3\n\n" + text(header=False) + b"\n \n",
    "GloVe": text(header=False),
    "GloVe with a mark": b"\xef\xbb\xbf" + text(header=False),
    "binary": binary(),
    "binary of gensim": binary(end=b""),
}


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.vec.gz"])
@pytest.mark.parametrize("content", FORMATS.values(), ids=FORMATS)
def test_formats(read, content, name):
    check(read(content, name))
    check(read(gzip.compress(content), name))


def test_str_path(tmp_path):
    (tmp_path / "v").write_bytes(binary())
    check(read_word_vectors(str(tmp_path / "v")))


@pytest.mark.parametrize("chunk", [150, 257, 400])
@pytest.mark.parametrize("make", [binary, text], ids=["binary", "text"])
def test_large_files_are_read_in_chunks(read, monkeypatch, make, chunk):
    monkeypatch.setattr(module, "_CHUNK", chunk)
    words = [f"w{i}" for i in range(3000)]
    vectors = np.random.default_rng(1).normal(size=(3000, 7)).astype(np.float32)
    check(read(make(words, vectors)), words, vectors)
    check(read(text(words, vectors, header=False)), words, vectors)


@pytest.mark.parametrize("n_components", [1, 2, 50, 300])
@pytest.mark.parametrize("seed", range(5))
def test_binary_is_told_from_text(read, n_components, seed):
    vectors = np.random.default_rng(seed).normal(size=(4, n_components)).astype(np.float32)
    vectors[seed % 4] = [0, 1, 0.1, 32, 8.0e-11][seed]
    check(read(binary("abcd", vectors)), "abcd", vectors)
    check(read(text("abcd", vectors)), "abcd", vectors)


def test_integers_and_exponents(read):
    check(read("2 2\na 1 -2\nb 1e-3 +.5\n"), "ab", [[1, -2], [1e-3, 0.5]])


def test_words_with_spaces(read):
    content = ". . . 0.1 0.2\nat name@domain.com 1 2\nb 3 4\n"
    words = [". . .", "at name@domain.com", "b"]
    check(read(content), words, [[0.1, 0.2], [1, 2], [3, 4]])
    check(read("3 2\n" + content), words, [[0.1, 0.2], [1, 2], [3, 4]])


def test_words_that_look_like_numbers_or_nothing(read):
    check(read("1 0.1 0.2\n2 0.3 0.4\n"), ["1", "2"], [[0.1, 0.2], [0.3, 0.4]])
    check(read("nan 1 2\ninf 3 4\n"), ["nan", "inf"], [[1, 2], [3, 4]])
    check(read("2 2\n 1 2\na 3 4\n"), ["", "a"], [[1, 2], [3, 4]])
    check(read("1\u00a0000 1 2\nx\u2028y 3 4\n"), ["1\u00a0000", "x\u2028y"], [[1, 2], [3, 4]])


def test_bytes_that_are_not_utf8_stay_distinct(read):
    for content in (b"2 1\n\xff 1\n\xfe 2\n", b"\xff 1\n\xfe 2\n"):
        words = read(content)[0]
        assert words == ["\udcff", "\udcfe"]
        assert [word.encode("utf-8", "surrogateescape") for word in words] == [b"\xff", b"\xfe"]
    assert read(b"1 2\ncaf\xc3 " + struct.pack("<2f", 1, 2))[0] == ["caf\udcc3"]


def test_repeated_words_warn_and_the_first_is_kept(read):
    with pytest.warns(UserWarning, match=r"v\.txt: 2 rows repeat a word of an earlier row, for example 'b'") as caught:
        found = read("a 1\nb 2\nb 3\na 4\n")
    check(found, "ab", [[1], [2]])
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="1 rows repeat"):
        check(read(binary("aba", VECTORS[:3])), "ab", VECTORS[:2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty or has no word vectors"),
        ("\n \n", "is empty or has no word vectors"),
        ("only words here\nand here\n", "is empty or has no word vectors"),
        ("cat,1,2\ndog,3,4\n", "is empty or has no word vectors"),
        ("0 5\n", "promises 0 words"),
        ("5 0\na\n", "vectors of length 0"),
        ("-1 5\na 1 2 3 4 5\n", "promises -1 words"),
        ("1 2\n", "more than the file can hold"),
        ("9999999999999999 300\na 1 2\n", "promises 9999999999999999 words .* more than the file can hold"),
        ("3 2\na 1 2\nb 3 4\n\n\n", "promises 3 words but the file ends after 2"),
        ("1 2\na 1 2\nb 3 4\n", "more than the 1 words"),
        ("a 1 2\nb 3 4\nc 5\n", "line 3: 1 numbers after the word, not the 2 that the first lines have"),
        ("a 1 2\nb 3 4\nc 5 6 7\n", "line 3: more than 2 numbers after the word"),
        ("a 1. 2.\nb 3. 4.\nc 5. 6. 7.\n", "line 3: more than 2 numbers after the word"),
        ("a 1\nb 3 4\nc 5 6\n", "line 1: 1 numbers after the word, not the 2"),
        ("2 2\na 1 2\nb 3\n", "line 3: 1 numbers after the word, not the 2 that the first line says"),
        ("2 2\na 1\nb 3 4\n", "line 2: 1 numbers"),
        ("2 2\na 1 2 3\nb 3 4 5\n", "line 2: more than 2 numbers"),
        ("2 2\na 1 2\nb x 4\n", "line 3: 'x' is not a number"),
        ("2 2\na 1 2x\nb 3 4\n", "line 2: '2x' is not a number"),
        ("a 1 2\nb 3 4\nc 3 1,5\n", "line 3: '1,5' is not a number"),
        ("a 1 2\nb nan 4\n", "vector of 'b' has NaN or infinity"),
        ("1 2\na 1 -inf\n", "vector of 'a' has NaN or infinity"),
        ("1 2\na 1 1e39\n", "vector of 'a' has NaN or infinity"),
        (binary()[:-2], "promises 5 words but the file ends after 4"),
        (binary()[:-20], "more than the file can hold|ends after 3"),
        (binary(end=b"") + b"x", "there is more after the 5 words"),
        (binary(vectors=VECTORS * [1, np.nan, 1]), "vector of 'the' has NaN or infinity"),
        (b"2 100\n" + b"\0" * 70000, "no end of a word after 0 words"),
        (b"PK\x03\x04....", "a zip archive. Extract it"),
        (b"\xba\x16\x4f\x2f....", "a fastText model. Give its .vec file"),
        (pickle.dumps({"a": [1.0]}), "a pickle. Load it"),
        (gzip.compress(text())[:-9], "is cut short or damaged"),
        (gzip.compress(text())[:30] + b"\0" * 20, "is cut short or damaged"),
        (gzip.compress(b"99999999 300\na 1 2\n"), "more than the file can hold"),
    ],
)
def test_bad_files(read, content, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"v\.txt.*(" + message + ")"):
            read(content)


def test_a_line_without_end(read, monkeypatch):
    monkeypatch.setattr(module, "_MAX_LINE", 50)
    with pytest.raises(ValueError, match="line 2 is longer than 50 bytes"):
        read("a 1 2\nb" + " " * 80 + "1 2\n")


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file at .*nowhere\.txt.*GloVe"):
        read_word_vectors(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="is a folder"):
        read_word_vectors(tmp_path)


@pytest.mark.parametrize(
    ("name", "shape"), [("glove_twitter_25d_12k", (11925, 25)), ("word2vec_google_300d_1k", (1000, 300))]
)
def test_published_vectors(data_dir, tmp_path, name, shape):
    path = data_dir / "vectors" / f"{name}.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    words, vectors, counts = read_word_vectors(path)
    assert vectors.shape == shape and len(set(words)) == len(words) == shape[0] and counts is None
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    for row in (0, 17, shape[0] - 1):
        word, *numbers = lines[row + 1].split()
        assert words[row] == word.decode()
        np.testing.assert_array_equal(vectors[row], np.array(numbers, dtype=np.float64).astype(np.float32))
    (tmp_path / "glove").write_bytes(b"\n".join(lines[1:]))
    check(read_word_vectors(tmp_path / "glove"), words, vectors)
    (tmp_path / "binary").write_bytes(binary(words, vectors))
    check(read_word_vectors(tmp_path / "binary"), words, vectors)


@settings(max_examples=300)
@given(
    content=st.sampled_from([binary(), text(), text(header=False), gzip.compress(text()), gzip.compress(binary())]),
    cut=st.integers(0, 150),
    flips=st.lists(st.tuples(st.integers(0, 150), st.integers(1, 255)), max_size=4),
)
def test_damage_is_refused_or_gives_finite_vectors(content, cut, flips):
    damaged = bytearray(content[: len(content) - cut] if cut < len(content) else content)
    for place, mask in flips:
        damaged[place % len(damaged)] ^= mask
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*repeat a word")
        path = Path(folder, "v")
        path.write_bytes(damaged)
        try:
            words, vectors, counts = read_word_vectors(path)
        except ValueError as error:
            assert str(path) in str(error)
        else:
            assert len(words) == len(set(words)) == len(vectors) > 0 and counts is None
            assert vectors.dtype == np.float32 and np.isfinite(vectors).all() and vectors.shape[1] > 0


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
    found = read_word_vectors(kind(source))
    check(found)
    found[1][:] = 0
    assert source["the"].any()


def test_numpy_words_become_str():
    check(read_word_vectors(dict(zip(np.array(WORDS), VECTORS))))


def test_gensim_keyed_vectors():
    source = KeyedVectors(count=np.array([9, 5, 5, 2, 1]))
    found = read_word_vectors(source)
    check(found, counts=[9, 5, 5, 2, 1])
    found[1][:] = 0
    assert source.vectors.any()
    check(read_word_vectors(SimpleNamespace(wv=source, fit=None)), counts=[9, 5, 5, 2, 1])
    del source.expandos
    source.get_vecattr = lambda word, attribute: len(word) if attribute == "count" else None
    check(read_word_vectors(source), counts=[3, 5, 1, 1, 3])


@pytest.mark.parametrize("counts", [{}, {"count": [3, 2, None, 1, 1]}, {"count": np.zeros(5, int)}])
def test_gensim_without_counts(counts):
    check(read_word_vectors(KeyedVectors(**counts)))
    check(read_word_vectors(SimpleNamespace(index_to_key=WORDS, vectors=np.asfortranarray(VECTORS))))


def test_counts_that_gensim_made_up_are_left_out():
    words, vectors = [f"w{i}" for i in range(11)], np.ones((11, 2))
    check(read_word_vectors(KeyedVectors(words, vectors, count=np.arange(11, 0, -1))), words, vectors)
    real = [12, *range(10, 0, -1)]
    check(read_word_vectors(KeyedVectors(words, vectors, count=np.array(real))), words, vectors, real)
    check(read_word_vectors(KeyedVectors(count=np.arange(5, 0, -1))), counts=[5, 4, 3, 2, 1])


def test_repeated_words_of_an_object_lose_their_counts_too():
    with pytest.warns(UserWarning, match="KeyedVectors: 1 rows repeat .* 'a'"):
        found = read_word_vectors(KeyedVectors("aab", VECTORS[:3], count=[3, 1, 2]))
    check(found, "ab", VECTORS[[0, 2]], [3, 2])


def test_estimator():
    vocabulary = {word: row for row, word in reversed(list(enumerate(WORDS)))}
    rows = np.vstack([VECTORS, np.full((4, 3), np.nan)])  # the rows of n-grams are not looked at
    source = Estimator(vocabulary_=vocabulary, word_vectors_=rows, word_counts_=np.array([9, 8, 7, 1, 1]))
    found = read_word_vectors(source)
    check(found, counts=[9, 8, 7, 1, 1])
    assert not np.shares_memory(found[1], rows) and not np.shares_memory(found[2], source.word_counts_)
    check(read_word_vectors(Estimator(vocabulary_=vocabulary, word_vectors_=VECTORS.astype(np.float64))))


def test_unfitted_estimator():
    with pytest.raises(NotFittedError, match="This Estimator has no word_vectors_. Call fit first"):
        read_word_vectors(Estimator())


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
            read_word_vectors(source)


@pytest.mark.parametrize("source", [None, 3, b"path", ["a"], VECTORS, Estimator, KeyedVectors, SimpleNamespace(wv=3)])
def test_other_types(source):
    with pytest.raises(TypeError, match=r"a dict of word -> vector, gensim .*, a fitted .* or the path .* Got "):
        read_word_vectors(source)
    if isinstance(source, type):
        with pytest.raises(TypeError, match=re.escape(repr(source))):
            read_word_vectors(source)


@pytest.mark.parametrize("source", [{1: [1.0]}, {b"a": [1.0]}, KeyedVectors([0, 1], VECTORS[:2])])
def test_words_must_be_str(source):
    with pytest.raises(TypeError, match="words must be str, got"):
        read_word_vectors(source)
