"""SentenceCorpus: slices, folds of cross-validation, copies, and what other processes get."""

import copy
import os
import pickle
import shutil

import joblib
import numpy as np
import pytest
from corpus_checks import GROUPS, SENTENCES, TEXT, check, documents
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
    monkeypatch.setattr("skembed._corpus.content.STEP", 5)
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
    assert handle == stored and handle.digest == stored.digest and "_content" not in vars(handle)
    assert handle.path == stored.path == str(tmp_path / "c")
    assert joblib.hash(handle) == joblib.hash(stored) == joblib.hash(SentenceCorpus.load(tmp_path / "c"))
    assert "_content" not in vars(copy.deepcopy(handle))
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
