"""Word vectors for other programs."""

import os
import sys

import numpy as np
import pytest
from estimators import bits, fitted
from sklearn.exceptions import NotFittedError

import skembed
from skembed import Word2VecVectorizer
from skembed.formats import read_word_vectors, to_gensim, write_word_vectors

VECTORS = (np.random.default_rng(0).normal(size=(4, 7)) * 10.0 ** np.arange(-3, 4)).astype(np.float32)
WORDS = ["cat", "Straße", "北京", "don't_split-this"]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", ["Word2VecVectorizer", "CBOSVectorizer", "Sent2VecVectorizer-bigrams"])
def test_every_bit_is_read_again(name, binary, tmp_path):
    model = fitted(name)
    write_word_vectors(model, tmp_path / "vectors", binary=binary)
    words, vectors = read_word_vectors(tmp_path / "vectors")
    assert words == list(model.vocabulary_)
    assert bits(vectors) == bits(model.word_vectors_)


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_vectors_and_counts(binary, tmp_path):
    models = pytest.importorskip("gensim.models")
    model = fitted("Word2VecVectorizer")
    vectors, counts = tmp_path / "vectors.w2v", tmp_path / "counts.txt"
    write_word_vectors(model, vectors, binary=binary, counts_path=counts)
    read = models.KeyedVectors.load_word2vec_format(str(vectors), fvocab=str(counts), binary=binary)
    assert read.index_to_key == list(model.vocabulary_)
    assert bits(np.asarray(read.vectors)) == bits(model.word_vectors_)
    assert [read.get_vecattr(word, "count") for word in read.index_to_key] == model.word_counts_.tolist()


def test_gensim_gets_vectors_and_counts():
    pytest.importorskip("gensim.models")
    model = fitted("Word2VecVectorizer")
    keyed = to_gensim(model)
    assert keyed.index_to_key == list(model.vocabulary_)
    assert bits(np.asarray(keyed.vectors)) == bits(model.word_vectors_)
    assert [keyed.get_vecattr(word, "count") for word in keyed.index_to_key] == model.word_counts_.tolist()
    keyed.vectors[:] = 0
    assert model.word_vectors_.any()  # the model keeps its own
    words, vectors, _ = (*model.vocabulary_,), model.word_vectors_, None
    assert bits(np.asarray(to_gensim((list(words), vectors)).vectors)) == bits(vectors)


def test_without_gensim_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(ImportError, match="pip install gensim"):
        to_gensim({"cat": [1.0]})


def test_words_of_any_script(tmp_path):
    write_word_vectors((WORDS, VECTORS), tmp_path / "vectors")
    words, vectors = read_word_vectors(tmp_path / "vectors")
    assert words == WORDS and bits(vectors) == bits(VECTORS)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("word", ["new york", "", "tab\tbed", "line\nfeed", "no\u00a0break", "nul\x00"])
def test_words_that_the_format_cannot_hold_are_named(word, binary, tmp_path):
    with pytest.raises(ValueError, match="The format cannot hold the word"):
        write_word_vectors(({"cat": [1.0], word: [2.0]}), tmp_path / "vectors", binary=binary)
    assert not list(tmp_path.iterdir())


def test_lone_surrogates_are_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be encoded in UTF-8"):
        write_word_vectors({"a\ud800": [1.0]}, tmp_path / "vectors")


def test_numbers_that_binary_readers_refuse(tmp_path):
    write_word_vectors({"cat": [2e6]}, tmp_path / "vectors")
    assert read_word_vectors(tmp_path / "vectors")[1] == np.float32(2e6)
    with pytest.raises(ValueError, match="binary=False, or scale"):
        write_word_vectors({"cat": [2e6]}, tmp_path / "vectors", binary=True)


def test_sources_without_vectors_or_counts(tmp_path):
    with pytest.raises(NotFittedError):
        write_word_vectors(Word2VecVectorizer(), tmp_path / "vectors")
    with pytest.raises(TypeError):
        write_word_vectors(3, tmp_path / "vectors")
    with pytest.raises(ValueError, match="no counts"):
        write_word_vectors({"cat": [1.0]}, tmp_path / "vectors", counts_path=tmp_path / "counts")
    assert not list(tmp_path.iterdir())


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "vectors"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left on device.*vectors"):
        write_word_vectors({"cat": [1.0]}, path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    write_word_vectors({"cat": [1.0]}, path)
    assert path.read_text() == "1 1\ncat 1\n" and list(tmp_path.iterdir()) == [path]
    if os.name == "posix":
        beside = tmp_path / "beside"
        beside.write_text("")
        assert path.stat().st_mode == beside.stat().st_mode


def test_paths_that_cannot_be_written(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write_word_vectors({"cat": [1.0]}, tmp_path)
    with pytest.raises(FileNotFoundError, match="missing"):
        write_word_vectors({"cat": [1.0]}, tmp_path / "missing" / "vectors")


def test_both_are_public():
    assert {"write_word_vectors", "to_gensim"} <= set(skembed.formats.__all__)
