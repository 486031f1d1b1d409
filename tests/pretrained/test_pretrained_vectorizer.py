"""Any model as a transformer of texts: what it may be, what of it is checked, and that no text is embedded twice."""

import copy
import json
import pickle
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import skembed
from skembed import CBOSVectorizer, PretrainedVectorizer
from skembed._pretrained import stores
from skembed._pretrained.identity import PROBES

FILES = Path(__file__).parents[1] / "interchange" / "files"
X = ["a cat", "a small cat", "", "a cat", "the dog"]


def rows_of(texts):
    return np.array([[len(text), text.count("a"), 1] for text in texts], np.float32)


class Model:
    """A model with encode, which counts what it embeds, and cannot be copied."""

    def __init__(self, factor=1.0):
        self.factor = factor
        self.n_embedded = 0
        self.largest = 0

    def encode(self, texts):
        self.n_embedded += len([text for text in texts if text not in PROBES])
        self.largest = max(self.largest, len(texts))
        return self.factor * rows_of(texts)

    def __deepcopy__(self, memo):
        raise RuntimeError("was copied")


class Tensor:
    """What PyTorch returns, as far as it is used."""

    def __init__(self, rows):
        self.rows = rows

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return self

    def numpy(self):
        return np.asarray(self.rows)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(stores.MemoryStore, "_models", [])
    monkeypatch.setattr(stores.MemoryStore, "_rows", {})
    monkeypatch.setattr(stores.MemoryStore, "_n_bytes", 0)


# --- What a model may be ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        Model(),
        rows_of,
        lambda texts: rows_of(texts).tolist(),
        lambda texts: rows_of(texts).astype(np.float64),
        lambda texts: rows_of(texts).astype(np.int8),
        lambda texts: Tensor(rows_of(texts)),
        lambda texts: [Tensor(row) for row in rows_of(texts)],
        dict(zip(X, rows_of(X))),
        dict(zip(X, rows_of(X).tolist())),
    ],
)
def test_rows_are_those_of_the_model(model):
    rows = PretrainedVectorizer(model).fit_transform(X)
    assert rows.dtype == np.float32 and rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, rows_of(X))


def test_estimators_give_their_rows():
    corpus = ["the cat drinks milk", "the bank lends money"] * 20
    own = CBOSVectorizer(8, random_state=0).fit(corpus)
    lsa = make_pipeline(TfidfVectorizer(), TruncatedSVD(2, random_state=0)).fit(corpus)
    for model in (own, lsa):
        found = PretrainedVectorizer(model).fit().transform(corpus[:2])
        np.testing.assert_allclose(found, model.transform(corpus[:2]), rtol=1e-6)


@pytest.mark.parametrize("name", ["model2vec", "model2vec_words", "sentence_transformers"])
def test_static_folders_are_opened(name):
    with open(FILES / f"{name}.json", encoding="utf-8") as file:
        found = json.load(file)
    for path in (FILES / name, str(FILES / name)):
        rows = np.vstack([PretrainedVectorizer(path).fit().transform([text]) for text in found["sentences"]])
        np.testing.assert_allclose(rows, found["vectors"], rtol=0, atol=1e-6)


def test_folders_and_word_vectors_of_others_are_opened(tmp_path):
    own = CBOSVectorizer(8, random_state=0).fit(["the cat drinks milk", "the bank lends money"] * 20)
    skembed.save(own, tmp_path / "model")
    np.testing.assert_array_equal(PretrainedVectorizer(tmp_path / "model").fit().transform(X), own.transform(X))
    binary = PretrainedVectorizer(FILES / "fasttext.bin").fit()
    assert binary.n_features_out_ == skembed.formats.import_model(FILES / "fasttext.bin").n_features_out_
    (tmp_path / "words.txt").write_text("3 2\ncat 1 0\ndog 0 1\nCat 5 5\n", encoding="utf-8")
    rows = PretrainedVectorizer(tmp_path / "words.txt").fit().transform(["cat dog", "Cat", "dog dog unheard"])
    np.testing.assert_allclose(rows, [[0.5, 0.5], [5, 5], [0, 1]])


def test_what_scikit_learn_asks():
    emb = PretrainedVectorizer(rows_of).fit(X)
    assert list(emb.get_feature_names_out()) == [f"pretrainedvectorizer{i}" for i in range(3)]
    assert emb.set_output(transform="pandas").transform(X).shape == (5, 3)
    assert emb.set_output(transform="default").transform([]).shape == (0, 3)
    with pytest.raises(NotFittedError):
        PretrainedVectorizer(rows_of).transform(X)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Model, TypeError, "is the class Model. Pass an instance"),
        (5, TypeError, "must be the path of a model, an object with encode or transform.*got 5"),
        (None, TypeError, "must be the path"),
        ("no/such/folder", FileNotFoundError, "no pretrained model at no/such/folder. Nothing is downloaded"),
        ("https://huggingface.co/x", ValueError, "is a URL"),
        (FILES, ValueError, "is not a binary model"),
        ({}, ValueError, "precomputed rows is empty"),
        (
            lambda texts: rows_of(texts)[:-1],
            ValueError,
            r"turned 4 texts into shape \(3, 3\), expected \(4, n_columns\)",
        ),
        (lambda texts: rows_of(texts)[0], ValueError, r"shape \(3,\)"),
        (lambda texts: rows_of(texts)[:, :0], ValueError, r"shape \(4, 0\)"),
        (lambda texts: rows_of(texts) * np.nan, ValueError, "NaN, infinity or too large a number for the text 'A cat"),
        (lambda texts: rows_of(texts).astype(np.float64) * 1e39, ValueError, "too large a number"),
        (lambda texts: [[1], [1, 2], [1], [1]], TypeError, "into rows of numbers"),
        (lambda texts: ["a"] * len(texts), TypeError, "into rows of numbers"),
        (lambda texts: rows_of(texts) > 0, TypeError, "into rows of numbers"),
        (lambda texts: rows_of(texts).astype(complex), TypeError, r"into rows of numbers, got .*\(complex128\)"),
        (lambda texts: None, TypeError, "into rows of numbers, got None"),
        (lambda texts: csr_array(rows_of(texts)), TypeError, "sparse rows. Make them dense"),
        (TfidfVectorizer(), NotFittedError, "not fitted"),
    ],
)
def test_models_that_are_none_are_refused(model, error, message):
    with pytest.raises(error, match=message):
        PretrainedVectorizer(model).fit(X)


def test_rows_that_are_missing_or_differ_are_refused():
    emb = PretrainedVectorizer({"a cat": [1, 2], "a dog": [1, 2, 3], "two": [[1, 2]]}).fit()
    with pytest.raises(ValueError, match="none for 2 of 3 texts, the first of which is 'unheard'"):
        emb.transform(["a cat", "unheard", "of"])
    with pytest.raises(ValueError, match=r"row of 'a dog' must be .* as long as that of 'a cat', got \[1, 2, 3\]"):
        emb.transform(["a cat", "a dog"])
    with pytest.raises(ValueError, match="gives rows of 3 numbers, but has given rows of 2 before"):
        emb.transform(["a dog"])
    with pytest.raises(ValueError, match="must be one-dimensional, of numbers"):
        emb.transform(["two"])
    with pytest.raises(ValueError, match="row of 'a cat' must be one-dimensional, of numbers, .* got None"):
        PretrainedVectorizer({"a cat": None}).fit()


def test_a_table_of_pandas_is_no_model():
    pandas = pytest.importorskip("pandas")
    for table in (pandas.DataFrame({"a cat": [1.0]}), pandas.Series([1.0], ["a cat"])):
        with pytest.raises(TypeError, match="must be the path of a model"):
            PretrainedVectorizer(table).fit()


def test_a_function_that_only_looks_up_is_told_how_to_pass_rows():
    rows = dict(zip(X, rows_of(X)))
    with pytest.raises(KeyError) as caught:
        PretrainedVectorizer(lambda texts: np.array([rows[text] for text in texts])).fit()
    assert "pass these as a mapping" in caught.value.__notes__[0]


def test_texts_are_checked():
    emb = PretrainedVectorizer(rows_of).fit()
    with pytest.raises(TypeError, match="[Rr]ow 1"):
        emb.transform(["a", 5])
    with pytest.raises(ValueError, match="one str"):
        emb.transform("a cat")
    np.testing.assert_array_equal(emb.set_params(missing="empty").transform(["a", None]), rows_of(["a", ""]))


def test_a_model_may_change_the_list_that_it_gets():
    def with_prefix(texts):
        texts[:] = [f"query: {text}" for text in texts]
        return rows_of(texts)

    texts, probes = [str(number) for number in range(100)], list(PROBES)  # so many that the model is asked again
    rows = PretrainedVectorizer(with_prefix, cache=None).fit().transform(texts)
    np.testing.assert_array_equal(rows, rows_of([f"query: {text}" for text in texts]))
    assert probes == PROBES


# --- The same model ---------------------------------------------------------------------------------------------------


def test_a_model_is_never_copied():
    model = Model()
    emb = PretrainedVectorizer(model).fit()
    assert clone(emb).model is model and copy.copy(emb).model is model
    np.testing.assert_array_equal(clone(emb).fit_transform(X), rows_of(X))


def test_a_pickle_has_the_model():
    emb = pickle.loads(pickle.dumps(PretrainedVectorizer(Model()).fit()))
    np.testing.assert_array_equal(emb.transform(X), rows_of(X))


def test_a_model_that_changes_is_refused():
    model = Model()
    emb = PretrainedVectorizer(model, cache=None).fit()
    emb.transform(X)
    model.factor = 1.01  # as rounding does
    emb.transform([str(number) for number in range(200)])
    model.factor = 1.5
    emb.transform(X)  # too few to ask it again
    with pytest.raises(ValueError, match="gives other rows than at first.*fit again.*model.eval"):
        emb.transform([str(number) for number in range(200)])
    again = pickle.loads(pickle.dumps(emb))
    with pytest.raises(ValueError, match="other rows than at first"):
        again.transform(X)
    np.testing.assert_array_equal(emb.fit().transform(X), 1.5 * rows_of(X))


def test_a_model_with_dropout_is_refused():
    random = np.random.default_rng(0)
    emb = PretrainedVectorizer(lambda texts: rows_of(texts) * random.integers(0, 2, 3), cache=None).fit()
    with pytest.raises(ValueError, match="other rows than at first"):
        emb.transform([str(number) for number in range(200)])


# --- Batches and caches -----------------------------------------------------------------------------------------------


def test_the_model_gets_batches_of_distinct_texts():
    model = Model()
    texts = [str(number % 50) for number in range(200)]
    rows = PretrainedVectorizer(model, batch_size=16, cache=None).fit_transform(texts)
    assert model.n_embedded == 50 and model.largest == 16
    np.testing.assert_array_equal(rows, rows_of(texts))


@pytest.mark.parametrize("cache", ["memory", "file"])
def test_a_text_is_embedded_once(cache, tmp_path):
    cache = cache if cache == "memory" else tmp_path / "new" / "folder"
    model = Model()
    emb = PretrainedVectorizer(model, cache=cache)
    for other in (emb, clone(emb), pickle.loads(pickle.dumps(emb))):
        np.testing.assert_array_equal(other.fit_transform(X), rows_of(X))
    assert model.n_embedded == 4
    model.factor = 3.0  # another model, which the cache must not answer for
    np.testing.assert_array_equal(clone(emb).fit_transform(X), 3 * rows_of(X))
    assert model.n_embedded == 8
    assert PretrainedVectorizer(model, cache=None).fit_transform(X).shape == (5, 3) and model.n_embedded == 12


def test_what_was_embedded_before_an_error_is_kept(tmp_path):
    class Stops(Model):
        def encode(self, texts):
            if "3" in texts and not self.goes_on:
                raise KeyboardInterrupt
            return super().encode(texts)

    model, texts = Stops(), list("0123")
    model.goes_on = False
    emb = PretrainedVectorizer(model, cache=tmp_path, batch_size=2)
    with pytest.raises(KeyboardInterrupt):
        emb.fit_transform(texts)
    model.goes_on, model.n_embedded = True, 0
    np.testing.assert_array_equal(emb.fit_transform(texts), rows_of(texts))
    assert model.n_embedded == 2


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(stores, "_MOST_BYTES", 12 * 10)
    model = Model()
    emb = PretrainedVectorizer(model, batch_size=3).fit()
    texts = [str(number) for number in range(30)]
    np.testing.assert_array_equal(emb.transform(texts), rows_of(texts))
    assert len(stores.MemoryStore._rows) == 10
    model.n_embedded = 0
    emb.transform(texts[-10:])
    assert model.n_embedded == 0


def test_the_file_has_no_text(tmp_path):
    PretrainedVectorizer(rows_of, cache=str(tmp_path)).fit_transform(["a very secret text"])
    (file,) = tmp_path.iterdir()
    assert b"secret" not in file.read_bytes()


def embedded_in_a_process(folder, first):
    texts = [f"text {number}" for number in range(first, first + 300)]
    rows = PretrainedVectorizer(rows_of, cache=folder, batch_size=10).fit_transform(texts)
    return np.array_equal(rows, rows_of(texts))


@pytest.mark.slow
def test_processes_share_a_file(tmp_path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert all(pool.map(embedded_in_a_process, [tmp_path] * 4, [0, 100, 200, 300]))
    with sqlite3.connect(tmp_path / stores.FILE) as database:
        assert database.execute("SELECT COUNT(*) FROM models").fetchone() == (1,)
        assert database.execute("SELECT COUNT(*) FROM vectors").fetchone() == (600,)
    database.close()


@pytest.mark.parametrize("vector", ["NULL", "'text'", "x'00'", "zeroblob(8)", "x'0000C07F0000C07F0000C07F'"])
def test_damaged_rows_in_a_file_are_not_used(vector, tmp_path):
    PretrainedVectorizer(rows_of, cache=tmp_path).fit_transform(X)
    with sqlite3.connect(tmp_path / stores.FILE) as database:
        database.execute(f"UPDATE vectors SET vector = {vector}")
    database.close()
    emb = PretrainedVectorizer(rows_of, cache=tmp_path).fit()
    with pytest.warns(UserWarning, match="cannot be used: .* Texts are embedded anew"):
        np.testing.assert_array_equal(emb.transform(X), rows_of(X))


@pytest.mark.parametrize("of_file", [False, True])
def test_a_cache_tells_a_model_from_its_next_epoch(of_file, tmp_path):
    cache = tmp_path if of_file else "memory"
    for factor in (1.0, 1.02, 1.0):
        found = PretrainedVectorizer(Model(factor), cache=cache).fit_transform(X)
        np.testing.assert_allclose(found, factor * rows_of(X), rtol=1e-6)


@pytest.mark.parametrize("content", [b"no database" * 100, None])
def test_a_file_that_cannot_be_used_costs_the_cache_alone(content, tmp_path):
    if content is None:  # a folder in its place
        (tmp_path / stores.FILE).mkdir()
    else:
        (tmp_path / stores.FILE).write_bytes(content)
    emb = PretrainedVectorizer(rows_of, cache=tmp_path).fit()
    with pytest.warns(UserWarning, match="cannot be used: .* Texts are embedded anew. If it is damaged, delete it"):
        np.testing.assert_array_equal(emb.transform(X), rows_of(X))


def test_progress_is_told(capsys, monkeypatch):
    monkeypatch.setattr("skembed._pretrained.vectorizer._PAUSE", -1)
    PretrainedVectorizer(rows_of, batch_size=2, verbose=1).fit_transform(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("[PretrainedVectorizer] 2 of 4 texts, ")
    PretrainedVectorizer(rows_of, batch_size=2).fit_transform(X)
    assert capsys.readouterr().out == ""
