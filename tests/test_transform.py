"""Sentences to rows: the same bits for any number of threads, any size of a batch and any kind of input."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import skembed._base as base_module
import skembed._sentences as sentences_module
from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus

WORDS = ["the", "cat", "dog", "é_x", "a", "long" * 9]
TEXT = [
    "The cat",
    "",
    "a DOG! unknown",
    "...",
    "É_x dog dog",
    "strange words only",
    "LONG" * 9,
    "\u0130 cat \u03a3",
] * 9


def embedding(**options):
    rng = np.random.default_rng(0)
    stem = options.get("stemmer") or str
    vectors = {stem(word): rng.normal(size=37).astype(np.float32) for word in WORDS}
    return MeanEmbeddingVectorizer(word_vectors=vectors, **options).fit(TEXT)


def small_batches(monkeypatch, size):
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", size)
    monkeypatch.setattr(sentences_module, "BATCH_LENGTH", 20 * size)
    monkeypatch.setattr(base_module, "BATCH_LENGTH", 16 * size)


@pytest.mark.parametrize("unknown", ["hash", "zero"])
@pytest.mark.parametrize("stemmer", [None, str.upper])
@pytest.mark.parametrize("weighting", [None, "sif"])
def test_any_input_and_any_number_of_threads(monkeypatch, unknown, stemmer, weighting):
    model = embedding(unknown=unknown, stemmer=stemmer, weighting=weighting)
    expected = np.concatenate([model.transform([sentence]) for sentence in TEXT])
    assert expected.dtype == np.float32 and not expected[1].any() and expected[5].any() == (unknown == "hash")
    corpus = SentenceCorpus.from_sentences(TEXT, stemmer=stemmer)
    inputs = [lambda: TEXT, lambda: tuple(TEXT), lambda: iter(TEXT), lambda: np.array(TEXT), lambda: pd.Series(TEXT)]
    inputs += [lambda: pd.Series(TEXT, dtype="string"), lambda: corpus]
    for size in (1000, 5):
        small_batches(monkeypatch, size)
        for model.n_jobs in (None, 2, 3):
            for make in inputs:
                assert model.transform(make()).tobytes() == expected.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_given", [0, 3, 12])
def test_a_length_that_is_not_true(monkeypatch, n_jobs, n_given):
    class Sentences:
        def __len__(self):
            return 8

        def __iter__(self):
            return iter(TEXT[:n_given])

    small_batches(monkeypatch, 5)
    with pytest.raises(ValueError, match=rf"X says that it has 8 sentences, but gives {n_given}\. Pass list\(X\)\."):
        embedding().set_params(n_jobs=n_jobs).transform(Sentences())


def test_a_progress_bar_around_a_generator_has_no_length():
    class Bar:
        def __len__(self):
            return None  # as tqdm does, which len() refuses

        def __iter__(self):
            return (sentence for sentence in TEXT)

    model = embedding()
    assert model.transform(Bar()).tobytes() == model.transform(TEXT).tobytes()
    learned = CBOSVectorizer(4, random_state=0, min_count=1).fit(Bar(), groups=[0] * len(TEXT))
    assert learned.word_counts_.sum() > 0


def test_nothing_to_transform():
    for nothing in ([], iter([])):
        assert embedding().transform(nothing).shape == (0, 37)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_name_the_row(monkeypatch, n_jobs):
    small_batches(monkeypatch, 5)
    model = embedding().set_params(n_jobs=n_jobs)
    for X in ([*TEXT[:18], None, "a"], iter([*TEXT[:18], None])):
        with pytest.raises(TypeError, match="^Row 18 is missing"):
            model.transform(X)


def test_the_table_is_no_part_of_the_model():
    model = embedding()
    size = len(pickle.dumps(model))
    before = set(vars(model))
    rows = model.transform(TEXT)
    assert set(vars(model)) == before and len(pickle.dumps(model)) == size
    assert pickle.loads(pickle.dumps(model)).transform(TEXT).tobytes() == rows.tobytes()
    other = clone(model).set_params(word_vectors={"cat": [1.0, 0.0]}).fit(["cat"])
    assert other.transform(["cat"]).tolist() == [[1.0, 0.0]]
    model.set_params(word_vectors={"dog": [0.0, 2.0], "cat": [1.0, 0.0]}).fit(["cat"])  # a new vocabulary
    assert model.transform(["cat", "dog"]).tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_many_callers_at_once():
    model = embedding()
    expected = model.transform(TEXT).tobytes()
    with ThreadPoolExecutor(8) as pool:
        assert all(rows.tobytes() == expected for rows in pool.map(model.transform, [TEXT] * 64))
