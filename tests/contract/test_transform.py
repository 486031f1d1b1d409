"""Sentences to rows: the same bits for any number of threads, any size of a batch and any kind of input."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import skembed._base.embedding as base_module
import skembed._text.sources as sentences_module
from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus

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


class Wrapper:
    """A progress bar as tqdm's: its length is an estimate, and it can be read once."""

    def __init__(self, sentences, length):
        self.sentences, self.length = iter(sentences), length

    def __len__(self):
        return self.length

    def __iter__(self):
        return self.sentences


class Container(Wrapper):
    def __getitem__(self, i):
        raise AssertionError("nobody takes single sentences")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_given", [0, 3, 8, 12, 40])
@pytest.mark.parametrize("kind", [Wrapper, Container])
def test_a_length_that_is_not_true_loses_no_row(monkeypatch, kind, n_jobs, n_given):
    small_batches(monkeypatch, 5)
    model = embedding().set_params(n_jobs=n_jobs)
    expected = model.transform(TEXT[:n_given])
    assert model.transform(kind(TEXT[:n_given], 8)).tobytes() == expected.tobytes()
    bags = BOWPCA(None).fit(TEXT)
    rows = bags.transform(kind(TEXT[:n_given], 8))
    assert rows.shape[0] == n_given and (rows != bags.transform(TEXT[:n_given])).nnz == 0


@pytest.mark.parametrize("length", [10**12, 10**30, -1, 7.0, None])
def test_no_room_is_made_for_a_length_that_somebody_guessed(length):
    model = embedding()
    assert model.transform(Wrapper(TEXT, length)).tobytes() == model.transform(TEXT).tobytes()


@pytest.mark.parametrize("length", [3, len(TEXT), 200])
def test_fit_transform_of_what_can_be_read_once(length):
    model = embedding()
    expected = clone(model).fit_transform(TEXT)
    assert clone(model).fit_transform(Wrapper(TEXT, length)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("length", [3, 200])
def test_groups_are_counted_against_what_was_given(length):
    learned = CBOSVectorizer(4, random_state=0, min_count=1, max_iter=1)
    rows = clone(learned).fit(TEXT, groups=[0] * len(TEXT)).transform(TEXT)
    assert learned.fit(Wrapper(TEXT, length), groups=[0] * len(TEXT)).transform(TEXT).tobytes() == rows.tobytes()
    assert learned.fit(TEXT, groups=Wrapper([0] * len(TEXT), length)).transform(TEXT).tobytes() == rows.tobytes()
    with pytest.raises(ValueError, match="groups has 71 entries for at least 72 sentences"):
        learned.fit(Wrapper(TEXT, 71), groups=[0] * 71)


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
