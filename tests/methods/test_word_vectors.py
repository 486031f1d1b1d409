"""Word vectors from dicts, gensim, estimators and files: read right, or refused with a message that helps."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import re
import struct
import tempfile
import tracemalloc
import warnings
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import skembed._word_vectors.files as module
from skembed import MeanEmbeddingVectorizer, SentenceCorpus, read_word_vectors
from skembed._word_vectors.read import read_source

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
        return read_source(path)

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
    check(read_source(str(tmp_path / "v")))


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


def test_bytes_that_are_not_utf8_are_refused(read, tmp_path):
    for content, where in (
        (b"2 1\na 1\n\xff\xfe 2\n", "line 3"),
        (b"a 1\n\xff\xfe 2\n", "line 2"),
        (b"2 1\na " + struct.pack("<f", 1) + b"\n\xff\xfe " + struct.pack("<f", 2), "row 2, byte 11"),
    ):
        with pytest.raises(ValueError, match=rf"v\.txt, {where}: the word b'\\xff\\xfe' is not text in utf-8"):
            read(content)
        path = tmp_path / "v.txt"
        for options, word in (
            ({"encoding": "latin-1"}, "ÿþ"),
            ({"errors": "replace"}, "\ufffd\ufffd"),
            ({"errors": "surrogateescape"}, "\udcff\udcfe"),
            ({"errors": "ignore"}, ""),
        ):
            words, vectors = read_word_vectors(path, **options)
            assert words == ["a", word] and vectors.tolist() == [[1], [2]]


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
        ("cat,1,2\ndog,3,4\n", "looks like a table with commas. Read it with pandas.read_csv"),
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
        (b"PK\x03\x04....", "a zip archive, .* Extract it"),
        (b"\xba\x16\x4f\x2f....", "has the format version 774778414"),
        (pickle.dumps({"a": [1.0]}), "a pickle, .* Load it"),
        (gzip.compress(text(), mtime=0)[:-9], "is cut short or damaged"),
        (gzip.compress(text(), mtime=0)[:30] + b"\0" * 20, "is cut short or damaged"),
        (gzip.compress(b"99999999 300\na 1 2\n", mtime=0), "more than the file can hold"),
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
        read_source(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="is a folder"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("name", "shape"), [("glove_twitter_25d_12k", (11925, 25)), ("word2vec_google_300d_1k", (1000, 300))]
)
def test_published_vectors(data_dir, tmp_path, name, shape):
    path = data_dir / "vectors" / f"{name}.txt.gz"
    if not path.exists():
        pytest.skip(f"no {path}")
    words, vectors, counts = read_source(path)
    assert vectors.shape == shape and len(set(words)) == len(words) == shape[0] and counts is None
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    for row in (0, 17, shape[0] - 1):
        word, *numbers = lines[row + 1].split()
        assert words[row] == word.decode()
        np.testing.assert_array_equal(vectors[row], np.array(numbers, dtype=np.float64).astype(np.float32))
    (tmp_path / "glove").write_bytes(b"\n".join(lines[1:]))
    check(read_source(tmp_path / "glove"), words, vectors)
    (tmp_path / "binary").write_bytes(binary(words, vectors))
    check(read_source(tmp_path / "binary"), words, vectors)


@settings(max_examples=300)
@given(
    content=st.sampled_from(
        [binary(), text(), text(header=False), gzip.compress(text(), mtime=0), gzip.compress(binary(), mtime=0)]
    ),
    cut=st.integers(0, 150),
    flips=st.lists(st.tuples(st.integers(0, 150), st.integers(1, 255)), max_size=4),
)
def test_damage_is_refused_or_gives_finite_vectors(content, cut, flips):
    damaged = bytearray(content[: len(content) - cut] if cut < len(content) else content)
    for offset, mask in flips:
        damaged[offset % len(damaged)] ^= mask
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*repeat a word")
        path = Path(folder, "v")
        path.write_bytes(damaged)
        try:
            words, vectors, counts = read_source(path)
        except ValueError as error:
            assert str(path) in str(error)
        else:
            assert len(words) == len(set(words)) == len(vectors) > 0 and counts is None
            assert vectors.dtype == np.float32 and np.isfinite(vectors).all() and vectors.shape[1] > 0


# -- files that are damaged in a way that the format does not show -----------------------------------------------------


@pytest.mark.parametrize("row", [0, 2])
@pytest.mark.parametrize("n_components", [3, 50])
@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("word", ["the cat", "New York", "a bc", "one two three"])
def test_a_space_in_a_word_of_a_binary_file(read, word, end, n_components, row):
    vectors = np.random.default_rng(0).normal(size=(5, n_components)).astype(np.float32)
    words = list("abcde")
    words[row] = word
    with pytest.raises(
        ValueError, match=r"v\.txt.*(, row \d, byte \d+: the word b|byte \d+: the vector of |there is more)"
    ):
        read(binary(words, vectors, end))


def test_line_ends_that_were_changed(read):
    with pytest.raises(
        ValueError, match=r"row 2, byte \d+: the word b'\\r\\nna.* has a control character. A word with"
    ):
        read(binary(end=b"\r\n"))


def test_numbers_that_no_model_has(read):
    vectors = VECTORS.copy()
    vectors[3, 1] = -1.5e6
    with pytest.raises(ValueError, match=r"v\.txt, byte 58: the vector of '7' has numbers up to 1.5e\+06"):
        read(binary(WORDS, vectors))
    check(read(text(WORDS, vectors)), WORDS, vectors)  # here they can be nothing else


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


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_other_compressed_files(read, pack):
    check(read(pack(text())))
    check(read(pack(binary())))
    with pytest.raises(ValueError, match="is cut short or damaged"):
        read(pack(text())[:-12])


def saved(save):
    file = io.BytesIO()
    save(file)
    return file.getvalue()


TABLE = pd.DataFrame({"x": [1.0], "y": [2.0]}, index=["cat"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (saved(lambda file: np.save(file, VECTORS)), "is a NumPy array without words. Load it with numpy.load"),
        (saved(lambda file: np.savez(file, VECTORS)), "is a zip archive, as numpy.savez and torch.save write too"),
        (saved(lambda file: TABLE.to_parquet(file)), "is a Parquet file. Read it with pandas.read_parquet"),
        (
            saved(lambda file: TABLE.reset_index().to_feather(file)),
            "is an Arrow file. Read it with pandas.read_feather",
        ),
        (saved(lambda file: joblib.dump({"cat": VECTORS}, file)), "is a pickle, as joblib"),
        (b"FEA1....", "is a Feather file"),
        (b"\x89HDF\r\n\x1a\n....", "is an HDF5 file"),
        (b"SQLite format 3\x00....", "is an SQLite database"),
        (b"\x28\xb5\x2f\xfd....", "is compressed by Zstandard. Unpack it first"),
        (struct.pack("<Q", 60) + b'{"vectors":{"dtype":"F32","shape":[1,1]}}', "is a file of safetensors"),
        (json.dumps({"cat": [1.0, 2.0], "dog": [3.0, 4.0]}), "looks like JSON. Load it with json.load"),
        (json.dumps({"cat": [1.0, 2.0], "dog": [3.0, 4.0]}, indent=2), "looks like JSON"),
        (json.dumps([["cat", 1.0]]), "looks like JSON"),
        (text().decode().encode("utf-16"), "is text in UTF-16 or UTF-32. Save it as UTF-8"),
        (text().decode().encode("utf-16-le"), "has NUL characters, which no text in UTF-8 has"),
        (text().replace(b"\n", b"\r"), "has carriage returns but no line feeds.*mac2unix"),
        (b"cat 1 2\nd\0g 1 2\n", "line 2: the word has a NUL character"),
        (b"\0" * 257 + b"ustar" + b"\0" * 200, "is a tar archive"),
    ],
)
def test_files_of_other_formats(read, content, message):
    for packed in (content, gzip.compress(content.encode() if isinstance(content, str) else content)):
        with pytest.raises(ValueError, match=r"v\.txt,? " + message):
            read(packed)


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
