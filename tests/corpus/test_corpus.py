"""SentenceCorpus: built from sentences, from arrays and from files."""

import gzip
import subprocess
import sys
from collections import Counter
from itertools import repeat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from corpus_checks import SENTENCES, TEXT, check, documents
from estimators import as_is
from hypothesis import given
from hypothesis import strategies as st

from skembed._corpus.corpus import SentenceCorpus
from skembed._text.tokenizer import Tokenizer
from skembed._text.vocabulary import Vocabulary

# -- from sentences ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 2, 10**6, sys.maxsize])
def test_a_collection_may_be_wrong_about_its_length(length):
    class Stream:
        to_numpy = None  # as a column has it, whose length is asked for

        def __len__(self):
            return length

        def __iter__(self):
            return iter(TEXT)

    assert SentenceCorpus.from_sentences(Stream()) == SentenceCorpus.from_sentences(list(TEXT))


def test_nobody_asks_a_stream_for_its_length():
    class Stream:
        def __len__(self):
            raise NotImplementedError

        def __iter__(self):
            return iter(TEXT)

    assert SentenceCorpus.from_sentences(Stream()) == SentenceCorpus.from_sentences(list(TEXT))


def test_small_example(corpus):
    assert documents(corpus) == [
        [["the", "cat", "sat"], ["the", "cat", "slept"], []],
        [["a", "dog"], ["rain", "rain", "rain"]],
        [["the", "end"]],
    ]
    assert corpus.vocabulary.words == ["rain", "the", "cat", "a", "dog", "end", "sat", "slept"]
    assert repr(corpus) == "SentenceCorpus(n_documents=3, n_sentences=6, n_tokens=13, n_words=8)"
    assert corpus.doc_of().tolist() == [0, 0, 0, 1, 1, 2]
    assert corpus.sentence_frequencies().tolist() == [1, 3, 2, 1, 1, 1, 1, 1]
    assert corpus.sentence_frequencies().dtype == corpus.doc_of().dtype == np.int64
    assert (corpus.path, corpus.min_count, corpus.max_features, corpus.tokenizer) == (None, 1, None, Tokenizer())
    assert list(corpus) == [corpus[i] for i in range(6)]


@given(SENTENCES, st.data())
def test_limits_and_groups(sentences, data):
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(sentences), max_size=len(sentences)))
    min_count, max_features = data.draw(st.integers(1, 3)), data.draw(st.none() | st.integers(1, 4))
    counts = Counter(word for sentence in sentences for word in sentence)
    kept = [word for word in sorted(counts, key=lambda word: (-counts[word], word)) if counts[word] >= min_count]
    kept = set(kept[:max_features])
    arguments = {"analyzer": as_is, "min_count": min_count, "max_features": max_features}
    if not kept:
        with pytest.raises(ValueError, match="No word is left|no words"):
            SentenceCorpus.from_sentences(sentences, groups, **arguments)
        return
    corpus = check(SentenceCorpus.from_sentences(sentences, groups, **arguments))
    assert list(corpus) == [[word for word in sentence if word in kept] for sentence in sentences]
    changes = [i for i in range(len(groups)) if i == 0 or groups[i] != groups[i - 1]]
    assert corpus.doc_ptr.tolist() == [*changes, len(groups)]
    assert corpus.sentence_frequencies().tolist() == [
        sum(word in sentence for sentence in sentences) for word in corpus.vocabulary.words
    ]


@pytest.mark.parametrize(
    "wrap", [iter, tuple, np.array, pd.Series, lambda x: pd.Series(x, index=range(9, 3, -1)), pd.Index]
)
def test_containers_of_sentences_and_groups(corpus, wrap):
    groups = [0, 0, 0, 1, 1, 0]
    assert SentenceCorpus.from_sentences(wrap(TEXT), wrap(groups)) == SentenceCorpus.from_sentences(TEXT, groups)
    assert SentenceCorpus.from_sentences(wrap(TEXT), wrap(groups)).n_documents == 3


def test_many_batches():
    # Documents and sentences that end, begin and go on at the border of a batch.
    sentences = [f"w{i % 7} w{i % 5}" if i % 4 else "" for i in range(20_000)]
    groups = [i // 2731 for i in range(20_000)]
    small = check(SentenceCorpus.from_sentences(iter(sentences), iter(groups)))
    assert small.doc_ptr.tolist() == [0, 2731, 5462, 8193, 10924, 13655, 16386, 19117, 20000]
    assert list(small) == [sentence.split() for sentence in sentences]
    assert small.sentence_frequencies()[0] == sum(small.vocabulary.words[0] in sentence for sentence in small)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([0, 1], ValueError, "groups has 2 entries for 6 sentences"),
        (range(7), ValueError, "groups has 7 entries for 6 sentences"),
        (iter([0, 1]), ValueError, "groups has 2 entries for at least 6 sentences"),
        (iter(range(7)), ValueError, "groups has more than 6 entries for 6 sentences"),
        (repeat(0), ValueError, "groups has more than 6 entries"),
        ([0, 0, None, 1, 1, 1], ValueError, "no document id at row 2"),
        ([0, 0, 0, float("nan"), 1, 1], ValueError, "no document id at row 3"),
        (np.array([0, 0, 0, 0, 0, np.nan]), ValueError, "no document id at row 5"),
        ([0, pd.NA, 1, 1, 1, 1], ValueError, "no document id at row 1"),
        ([np.zeros(2)] * 6, TypeError, "one plain document id"),
        (np.zeros((6, 2)), ValueError, r"groups must be one-dimensional.*groups\[:, 0\]"),
        ("abcdef", ValueError, "groups must be an iterable"),
    ],
)
def test_wrong_groups(groups, error, message):
    with pytest.raises(error, match=message):
        SentenceCorpus.from_sentences(TEXT, groups)


@pytest.mark.parametrize(
    ("sentences", "error", "message"),
    [
        ([], ValueError, "The corpus has no sentences"),
        (iter([]), ValueError, "no sentences.*iterator.*consumed"),
        (["", " . "], ValueError, "no words"),
        ("a text", ValueError, "got one str"),
        (["a", None], TypeError, "Row 1 is missing"),
        (["a", "b"], ValueError, "2 distinct words and the most frequent occurs 1 times, below min_count=2. Lower"),
    ],
)
def test_wrong_sentences(sentences, error, message):
    with pytest.raises(error, match=message):
        SentenceCorpus.from_sentences(sentences, min_count=2)


def test_a_corpus_is_not_a_list_of_sentences(corpus):
    with pytest.raises(TypeError, match="is a SentenceCorpus already"):
        SentenceCorpus.from_sentences(corpus)


def test_stemmer_is_called_once_for_each_word_of_the_corpus():
    calls = []

    def stem(word):
        calls.append(word)
        return word.rstrip("s")

    corpus = SentenceCorpus.from_sentences(["cats cat dogs", "cats"] * 9000, stemmer=stem)
    assert calls == ["cats", "cat", "dogs"]
    assert corpus.vocabulary.words == ["cat", "dog"]
    assert len(corpus[5:8][1:]) == 2 and calls == ["cats", "cat", "dogs"]


# -- from arrays -------------------------------------------------------------------------------------------------------


def test_from_arrays(corpus):
    same = SentenceCorpus(corpus.tokens, corpus.sent_ptr, corpus.doc_ptr, corpus.vocabulary)
    assert check(same) == corpus
    mine = np.array([0, 1])
    SentenceCorpus(mine, [0, 2], [0, 1], Vocabulary(["a", "b"], [1, 1]))
    mine[0] = 1  # the caller's own array is not frozen


@pytest.mark.parametrize(
    ("tokens", "sent_ptr", "doc_ptr", "message"),
    [
        ([0, 2], [0, 2], [0, 1], "tokens must be from 0 to 1"),
        ([0, -1], [0, 2], [0, 1], "tokens must be from 0"),
        ([0, 2**32], [0, 2], [0, 1], "tokens must be a one-dimensional array that fits int32"),
        ([0, 0.5], [0, 2], [0, 1], "fits int32"),
        ([[0, 1]], [0, 2], [0, 1], "one-dimensional"),
        ([0, 1], [0, 3], [0, 1], "sent_ptr must run from 0 to 2"),
        ([0, 1], [1, 2], [0, 1], "sent_ptr must run from 0 to 2"),
        ([0, 1], [], [0, 1], "sent_ptr must run"),
        ([0, 1], [0, 2, 1, 2], [0, 3], "sent_ptr must rise by at least 0"),
        ([0, 1], [0, 1, 2], [0, 0, 2], "doc_ptr must rise by at least 1"),
        ([0, 1], [0, 1, 2], [0, 1], "doc_ptr must run from 0 to 2"),
    ],
)
def test_wrong_arrays(tokens, sent_ptr, doc_ptr, message):
    with pytest.raises(ValueError, match=message):
        SentenceCorpus(tokens, sent_ptr, doc_ptr, Vocabulary(["a", "b"], [1, 1]))


# -- from files --------------------------------------------------------------------------------------------------------

LINES = "One line.\nTwo lines\n\n  \n\nNext document\x85still\u2028the same line\nlast"


def test_from_file(tmp_path):
    expected = [[["one", "line"], ["two", "lines"]], [["next", "document", "still", "the", "same", "line"], ["last"]]]
    plain = tmp_path / "a.txt"
    for text in (LINES, "\n\n" + LINES + "\n\n", LINES.replace("\n", "\r\n"), "\ufeff" + LINES):
        plain.write_bytes(text.encode())
        assert documents(check(SentenceCorpus.from_file(plain))) == expected
    # A whole line as one token shows every character: no byte order mark, no line end, but "\r" within a line.
    plain.write_bytes("\ufeffa\rb\r\n\ufeffc \r\n".encode())
    assert list(SentenceCorpus.from_file(plain, analyzer=lambda line: [line])) == [["a\rb"], ["\ufeffc "]]
    zipped = tmp_path / "a.txt.GZ"
    zipped.write_bytes(gzip.compress(LINES.encode()))
    assert documents(SentenceCorpus.from_file(str(zipped))) == expected
    for encoding in ("latin-1", "utf-16", "utf-16-le", "utf-32", "cp1252"):
        plain.write_bytes("Ünö\n\ndos".encode(encoding))
        assert documents(SentenceCorpus.from_file(plain, encoding=encoding)) == [[["ünö"]], [["dos"]]]


def test_options_reach_the_corpus(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("The Cats the\n")
    options = {"lowercase": False, "stop_words": ["the"], "stemmer": str.upper, "min_count": 1, "max_features": 1}
    corpus = SentenceCorpus.from_file(file, **options)
    assert list(corpus) == [["CATS"]] and corpus.max_features == 1  # of equal count, the first in the alphabet
    assert list(SentenceCorpus.from_file(file, token_pattern=r"\w\w\w\w")) == [["cats"]]
    assert list(SentenceCorpus.from_file(file, analyzer=str.split)) == [["The", "Cats", "the"]]
    assert list(SentenceCorpus.from_file(file, analyzer=lambda line: [line])) == [["The Cats the"]]


def test_a_folder_in_sorted_order(tmp_path):
    for name in ("b.txt", "a/z.txt.gz", "a/b.TXT", "a.txt", ".hidden.txt", ".git/x.txt", "readme.md", "a-b/c.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        text = Path(name).stem.encode() + b"\nx\n"
        file.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    corpus = SentenceCorpus.from_file(tmp_path, token_pattern=r"\S+")
    assert [document[0][0] for document in documents(corpus)] == ["c", "a", "b", "z.txt", "b"]
    assert all(len(document) == 2 for document in documents(corpus))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or folder .*nowhere"):
        SentenceCorpus.from_file(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"has no file \*\.txt, \*\.txt\.gz"):
        SentenceCorpus.from_file(tmp_path)
    file = tmp_path / "a.txt"
    file.write_bytes(b"\n \n")
    with pytest.raises(ValueError, match="no sentences"):
        SentenceCorpus.from_file(file)
    with pytest.raises(ValueError, match="no encoding called 'utf-9'"):
        SentenceCorpus.from_file(file, encoding="utf-9")
    with pytest.raises(ValueError, match="encoding='hex' cannot be used"):
        SentenceCorpus.from_file(file, encoding="hex")


@pytest.mark.parametrize("ahead", [0, 100_000])
def test_invalid_bytes_are_found(tmp_path, ahead):
    file = tmp_path / "a.txt"
    file.write_bytes("é line\n".encode() * ahead + "abé".encode() + b"\xe9 x\nfine\n")
    message = rf"a.txt, line {ahead + 1}, byte offset 4 in the line: b'\\xe9' is not valid utf-8.*encoding='latin-1'"
    with pytest.raises(ValueError, match=message):
        SentenceCorpus.from_file(file)
    file.write_bytes("\ufeffab\n".encode("utf-16") + b"\x00")
    with pytest.raises(ValueError, match="a.txt is not valid utf-16: .*If the text has another encoding"):
        SentenceCorpus.from_file(file, encoding="utf-16")


def test_damaged_gzip(tmp_path):
    data = gzip.compress("\n".join(f"line {i}" for i in range(9999)).encode())
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 0xFF
    for damaged in (data[: len(data) // 2], data[:5], b"plain text", bytes(flipped)):
        (tmp_path / "a.txt.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.txt\.gz is damaged or not a complete \.gz file"):
            SentenceCorpus.from_file(tmp_path)


def test_one_very_long_line(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"word " * 1_000_000 + b"\nend")
    assert SentenceCorpus.from_file(tmp_path).sent_ptr.tolist() == [0, 1_000_000, 1_000_001]


def test_no_leaked_imports():
    """Reading text needs neither numba nor scikit-learn."""
    code = "import skembed._corpus.corpus, sys; print([m for m in ('numba', 'sklearn', 'joblib') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
