"""Files of word vectors: every format is read right, and what is damaged or another format is refused."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import struct
import tempfile
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_vector_sources import VECTORS, WORDS, binary, check, text

from skembed._word_vectors import files
from skembed._word_vectors.read import read_source
from skembed.formats import read_word_vectors


@pytest.fixture
def read(tmp_path):
    def read(content, name="v.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_source(path)

    return read


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
    for name in ("_CHUNK", "_READ_AT_ONCE"):
        monkeypatch.setattr(files, name, chunk)
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
        (b"PK\x03\x04....", "a zip archive .*Unpack it"),
        (b"\xba\x16\x4f\x2f....", "has the format version 774778414"),
        (pickle.dumps({"a": [1.0]}), "a pickle.* load it"),
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
    monkeypatch.setattr(files, "_MAX_LINE", 50)
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


# -- other compressions and other formats ------------------------------------------------------------------------------


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
        (saved(lambda file: np.save(file, VECTORS)), "is a NumPy array. .*load it with the library"),
        (saved(lambda file: np.savez(file, VECTORS)), "is a zip archive .as .docx, .xlsx and .npz are"),
        (saved(lambda file: TABLE.to_parquet(file)), "is a Parquet file. .*a DataFrame"),
        (saved(lambda file: TABLE.reset_index().to_feather(file)), "is an Arrow file. .*a DataFrame"),
        (saved(lambda file: joblib.dump({"cat": VECTORS}, file)), "is a pickle.*the object"),
        (b"\x89HDF\r\n\x1a\n....", "is an HDF5 file"),
        (b"SQLite format 3\x00....", "is an SQLite database"),
        (b"\x28\xb5\x2f\xfd....", "is compressed by Zstandard. Unpack it"),
        (struct.pack("<Q", 60) + b'{"vectors":{"dtype":"F32","shape":[1,1]}}', "is a file of safetensors"),
        (json.dumps({"cat": [1.0, 2.0], "dog": [3.0, 4.0]}), "looks like JSON. Load it with json.load"),
        (json.dumps({"cat": [1.0, 2.0], "dog": [3.0, 4.0]}, indent=2), "looks like JSON"),
        (json.dumps([["cat", 1.0]]), "looks like JSON"),
        (text().decode().encode("utf-16"), "is text in UTF-16 or UTF-32, not in UTF-8. .*save it as UTF-8"),
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
