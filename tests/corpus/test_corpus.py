"""SentenceCorpus: building, slicing, cross-validation, copies and other processes."""

import copy
import gzip
import os
import pickle
import shutil
import subprocess
import sys
from collections import Counter
from itertools import repeat
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from estimators import as_is
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_consistent_length

from skembed import CBOSVectorizer
from skembed._corpus.corpus import SentenceCorpus
from skembed._text.tokenizer import Tokenizer
from skembed._text.vocabulary import Vocabulary

TEXT = ["The cat sat.", "The cat slept!", "", "A dog", "Rain, rain, rain.", "the end"]
GROUPS = [0, 0, 0, "b", "b", 0]
SENTENCES = st.lists(
    st.lists(
        st.sampled_from(["a", "bb", "c", "d", "\ud800", "\udc00", "\ud800\udc00", "\x00", "é", "e\u0301"]), max_size=4
    ),
    min_size=1,
    max_size=12,
)


def documents(corpus):
    """Return the corpus as nested lists, which is what it means."""
    sentences = list(corpus)
    return [sentences[a:b] for a, b in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:])]


def check(corpus):
    """Check what must hold for every corpus."""
    assert (corpus.tokens.dtype, corpus.sent_ptr.dtype, corpus.doc_ptr.dtype) == (np.int32, np.int64, np.int64)
    for array in (corpus.tokens, corpus.sent_ptr, corpus.doc_ptr):
        assert not array.flags.writeable and array.flags.c_contiguous and type(array) is np.ndarray
    counts = Counter(word for sentence in corpus for word in sentence)
    assert corpus.vocabulary.words == sorted(counts, key=lambda word: (-counts[word], word))
    assert corpus.vocabulary.counts.tolist() == [counts[word] for word in corpus.vocabulary.words]
    assert corpus.shape == (len(corpus),) == (corpus.n_sentences,)
    assert corpus.n_tokens == sum(counts.values())
    assert len(documents(corpus)) == corpus.n_documents and all(documents(corpus))
    return corpus


@pytest.fixture
def corpus():
    return check(SentenceCorpus.from_sentences(TEXT, GROUPS))


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
        ([pd.NA] * 6, TypeError, "one plain document id"),
        ([np.zeros(2)] * 6, TypeError, "one plain document id"),
        (np.zeros((6, 1)), ValueError, r"groups must be one-dimensional.*groups\[:, 0\]"),
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
    assert [document[0][0] for document in documents(corpus)] == ["b", "z.txt", "c", "a", "b"]
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


# -- slicing -----------------------------------------------------------------------------------------------------------


@given(SENTENCES, st.data())
def test_any_selection(sentences, data):
    n = len(sentences)
    groups = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    if not any(sentences):
        sentences[0] = ["a"]
    corpus = SentenceCorpus.from_sentences(sentences, groups, analyzer=as_is)
    rows = data.draw(st.lists(st.integers(-n, n - 1), max_size=15))
    taken = check(corpus[rows])
    assert list(taken) == [sentences[i] for i in rows]
    chosen = [i % n for i in rows]
    neighbours = [b == a + 1 and groups[a] == groups[b] for a, b in zip(chosen, chosen[1:])]
    borders = [i for i, near in enumerate(neighbours, 1) if not near]
    assert taken.doc_ptr.tolist() == ([0, *borders, len(rows)] if rows else [0])
    assert taken.tokenizer is corpus.tokenizer and taken.path is None
    mask = np.isin(np.arange(n), chosen)
    assert corpus[mask] == corpus[np.unique(chosen).astype(int)] == corpus[mask.tolist(), ...]
    cut = data.draw(st.slices(n))
    assert list(check(corpus[cut])) == sentences[cut]
    assert check(corpus[:]) == corpus


def test_one_sentence(corpus):
    assert corpus[1] == corpus[-5] == corpus[np.int64(1)] == corpus[1, ...] == ["the", "cat", "slept"]
    assert corpus[2] == []


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (6, "Sentence 6 of a corpus of 6 sentences"),
        (-7, "Sentence -7 of a corpus"),
        ([0, 6], "Sentence 6 of a corpus"),
        ([True, False], "A mask of 2 entries for a corpus of 6"),
        ([0.5], "Index a corpus with an int, a slice"),
        ("a", "Index a corpus with"),
        (True, "Index a corpus with"),
        ([[0]], "Index a corpus with"),
        ((slice(None), 0), "Index a corpus with"),
    ],
)
def test_wrong_keys(corpus, key, message):
    with pytest.raises(IndexError, match=message):
        corpus[key]


def test_nothing_of_the_test_fold_is_left(corpus):
    train = corpus[[0, 1, 3]]
    assert "rain" not in train.vocabulary.words and "end" not in train.vocabulary.index
    assert train.vocabulary.counts.sum() == train.n_tokens == 8


def test_large_selection_in_blocks(monkeypatch):
    monkeypatch.setattr("skembed._corpus.content._row_blocks.__defaults__", (5,))
    sentences = [list("abcdefgh"[: i % 9]) for i in range(200)]
    corpus = check(SentenceCorpus.from_sentences(sentences, analyzer=as_is))
    rows = np.random.default_rng(0).permutation(200)
    assert list(check(corpus[rows])) == [sentences[i] for i in rows]
    assert corpus.sentence_frequencies().tolist() == [
        sum(word in s for s in sentences) for word in corpus.vocabulary.words
    ]


# -- scikit-learn ------------------------------------------------------------------------------------------------------


class Lengths(TransformerMixin, BaseEstimator):
    """A stand-in for an estimator that takes a corpus."""

    def __init__(self, corpus=None):
        self.corpus = corpus

    def fit(self, X, y=None):
        assert isinstance(X, SentenceCorpus)
        return self

    def transform(self, X):
        return np.diff(X.sent_ptr).reshape(-1, 1)


def test_scikit_learn_helpers(corpus):
    assert _num_samples(corpus) == 6
    check_consistent_length(corpus, TEXT)
    assert _safe_indexing(corpus, 1) == corpus[1]
    for key in ([0, 2], np.array([0, 2]), (0, 2), [True, False, True, False, False, False], slice(0, 3, 2)):
        assert _safe_indexing(corpus, key) == corpus[[0, 2]]


@pytest.mark.parametrize("stored", [False, True])
def test_splitters(tmp_path, stored):
    sentences = [f"w{i} " * (i % 2 + 1) for i in range(40)]
    corpus = SentenceCorpus.from_sentences(
        sentences, [i // 4 for i in range(40)], to=tmp_path / "c" if stored else None
    )
    y = np.arange(40) % 2
    for train, test in KFold(4).split(corpus):
        assert len(corpus[train]) == 30 and len(corpus[test]) == 10
    for train, test in GroupKFold(5).split(corpus, groups=corpus.doc_of()):
        assert corpus[test].n_documents == 2 and corpus[train].n_documents <= 8
    train, test, y_train, y_test = train_test_split(corpus, y, random_state=0)
    assert (len(train), len(test)) == (30, 10) == (len(y_train), len(y_test))
    assert [len(sentence) % 2 for sentence in test] == [1 - label for label in y_test]
    model = make_pipeline(Lengths(corpus), LogisticRegression(C=100.0))
    assert cross_val_score(model, corpus, y, cv=KFold(4)).tolist() == [1.0] * 4
    assert clone(model)[0].corpus is corpus


def test_tfidf_takes_a_corpus(corpus):
    from sklearn.feature_extraction.text import TfidfVectorizer

    assert sorted(TfidfVectorizer(analyzer=as_is).fit(corpus).vocabulary_) == sorted(corpus.vocabulary.words)


# -- copies and other processes ----------------------------------------------------------------------------------------


def test_copies_are_the_corpus_itself(corpus):
    assert copy.copy(corpus) is corpus and copy.deepcopy([corpus])[0] is corpus
    with pytest.raises(ValueError, match="read-only"):
        corpus.tokens[0] = 1


def test_equality(corpus):
    again = SentenceCorpus.from_sentences(iter(TEXT), iter(GROUPS))
    assert again == corpus and hash(again) == hash(corpus) and again.digest == corpus.digest
    others = [
        SentenceCorpus.from_sentences(TEXT),
        SentenceCorpus.from_sentences([*TEXT[:-1], "the and"], GROUPS),
        SentenceCorpus.from_sentences([*TEXT[:-2], "Rain, rain", "rain the end"], GROUPS),
        SentenceCorpus.from_sentences(TEXT, GROUPS, stop_words=["zebra"]),
        SentenceCorpus.from_sentences(TEXT, GROUPS, max_features=100),
    ]
    assert len({corpus, *others}) == 6
    assert corpus != TEXT


def test_pickle_by_value(corpus):
    assert len(pickle.dumps(corpus)) < 2000
    again = check(pickle.loads(pickle.dumps(corpus)))
    assert again == corpus and again.path is None and documents(again) == documents(corpus)
    assert joblib.hash(again) == joblib.hash(corpus) != joblib.hash(corpus[1:])


def test_pickle_of_a_stored_corpus(tmp_path):
    stored = SentenceCorpus.from_sentences(TEXT * 100, to=tmp_path / "c")
    data = pickle.dumps(stored)
    assert len(data) < 700 and stored.digest.encode() in data and b"cat" not in data
    handle = pickle.loads(data)
    assert handle._loaded is None and handle == stored and handle.digest == stored.digest and handle._loaded is None
    assert handle.path == stored.path == str(tmp_path / "c")
    assert joblib.hash(handle) == joblib.hash(stored) == joblib.hash(SentenceCorpus.load(tmp_path / "c"))
    assert copy.deepcopy(handle)._loaded is None
    assert documents(check(handle)) == documents(stored)


def test_handle_whose_folder_is_gone_or_changed(tmp_path):
    stored = SentenceCorpus.from_sentences(TEXT, to=tmp_path / "c")
    data = pickle.dumps(stored)
    SentenceCorpus.from_sentences(TEXT[1:]).save(tmp_path / "new")
    del stored  # Windows does not remove a file that is mapped
    shutil.rmtree(tmp_path / "c")
    with pytest.raises(FileNotFoundError, match=r"memory map of the folder .*, which is gone\. Put the folder back"):
        len(pickle.loads(data))
    model = CBOSVectorizer(corpus=pickle.loads(data))
    assert "gone or was replaced" in repr(model) and "gone or was replaced" in model._repr_html_()
    os.rename(tmp_path / "new", tmp_path / "c")
    with pytest.raises(ValueError, match=r"replaced by another.*SentenceCorpus\.load"):
        len(pickle.loads(data))


def words_of(corpus):
    return os.getpid(), list(corpus), corpus.path


@pytest.mark.parametrize("kind", ["value", "stored"])
def test_other_processes(tmp_path, corpus, kind):
    if kind == "stored":
        corpus.save(tmp_path / "c")
        corpus = SentenceCorpus.load(tmp_path / "c")
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(words_of)(c) for c in (corpus, corpus[1:3]))
    assert [words for _, words, _ in results] == [list(corpus), list(corpus)[1:3]]
    assert os.getpid() not in [pid for pid, _, _ in results]
    assert (results[0][2] is None) == (kind == "value")


def test_relative_path_survives_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SentenceCorpus.from_sentences(TEXT, to="c")
    data = pickle.dumps(SentenceCorpus.load("c"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(pickle.loads(data)) == len(TEXT)


def test_no_leaked_imports():
    """Reading text needs neither numba nor scikit-learn."""
    code = "import skembed._corpus.corpus, sys; print([m for m in ('numba', 'sklearn', 'joblib') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
