"""A saved index gives the same bits, and a damaged or forged one never reaches a kernel."""

import os
import pickle
from mmap import mmap as mapping

import numpy as np
import pytest
from collections_of_documents import make_documents

from benchmarks.forged_folders import forge
from skembed import SearchIndex
from skembed._storage import folders
from skembed.search import _index_folder as index_folder
from skembed.search import _index_state as index_state
from skembed.search import _search_index as search_index

DOCUMENTS, QUERIES = make_documents(60), ["a kitten and the dog", "snow", "zebra", "x-200"]


@pytest.fixture(scope="module")
def index():
    index = SearchIndex(16, random_state=0, stop_words=["the"], field_weights=[2, 1], keep_text=True, k1=1.1)
    return index.fit([*DOCUMENTS, ("The x-200", "猫は北京")]).add([("new words", "here")]).remove([4])


def is_mapped(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mapping)


def check_same(one, other):
    for mine, its in zip(one.search(QUERIES, k=70), other.search(QUERIES, k=70)):
        np.testing.assert_array_equal(mine, its)
    assert one.get_params() == other.get_params() and one.n_documents_ == other.n_documents_
    assert one.snippet("x-200", 60) == other.snippet("x-200", 60)


@pytest.mark.parametrize("mmap", [False, True])
def test_saved_and_loaded(index, tmp_path, mmap):
    sizes = index.save(tmp_path / "index")
    assert sizes["written"] == sum(file.stat().st_size for file in (tmp_path / "index").iterdir())
    loaded = SearchIndex.load(tmp_path / "index", mmap=mmap)
    check_same(index, loaded)
    assert is_mapped(loaded._state.documents.vectors) == is_mapped(loaded._state.postings.weights) == mmap
    again = pickle.loads(pickle.dumps(loaded))
    check_same(index, again)
    for one in (loaded, again):
        one.add([("a zebra", "")]).remove([0])
        assert one.search(["zebra"], k=1)[0].tolist() == [[62]]
    loaded.save(tmp_path / "index")  # over the one that it is mapped from
    check_same(loaded, SearchIndex.load(tmp_path / "index", mmap=mmap))
    assert os.listdir(tmp_path) == ["index"]


def test_without_vectors_and_text(tmp_path):
    index = SearchIndex(n_components=None).fit(["a cat", "a dog"])
    index.save(tmp_path / "index")
    for mmap in (False, True):
        loaded = SearchIndex.load(tmp_path / "index", mmap=mmap)
        assert loaded.search(["cat"], k=2)[0].tolist() == [[0, -1]] and not loaded.has_vectors_


def test_what_is_no_index(tmp_path):
    with pytest.raises(FileNotFoundError, match="no saved search index"):
        SearchIndex.load(tmp_path / "nothing")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("x")
    with pytest.raises(ValueError, match="not a saved search index"):
        SearchIndex.load(tmp_path / "other")
    with pytest.raises(FileExistsError, match="not a saved search index"):
        SearchIndex(n_components=None).fit(["a"]).save(tmp_path / "other")


@pytest.mark.parametrize("options", [{"stemmer": str.lower}, {"random_state": np.random.RandomState(0)}])
def test_code_is_not_saved(tmp_path, options):
    index = SearchIndex(n_components=None, **options).fit(["a cat"])
    with pytest.raises(TypeError, match=next(iter(options))):
        index.save(tmp_path / "index")
    assert not os.listdir(tmp_path)


FORGERIES = {
    "terms_ptr": [(1, -1), (1, 10**6)],
    "terms_order": [(0, 10**6), (0, -1), (0, 1)],
    "terms": [(0, 0xFF)],
    "tokens": [(0, 10**6), (0, -1)],
    "token_ptr": [(1, 10**9), (-1, 0)],
    "is_alive": [(0, 2)],
    "posting_ptr": [(1, -1), (-1, 10**9)],
    "posting_docs": [(0, 10**6), (0, -1)],
    "posting_weights": [(0, np.nan), (0, -1.0), (0, 2.0)],
    "rows_of_terms": [(0, 10**6), (0, -2)],
    "word_vectors": [((0, 0), np.nan)],
    "document_vectors": [((0, 0), np.nan), ((0, 0), 3.0)],
    "vector_total": [(0, np.inf)],
    "vector_products": [((0, 0), np.nan)],
    "field_weights": [(0, -1.0), (0, np.nan)],
    "text_ptr": [(1, -1)],
    "text": [(0, 0xFF)],
}


def test_each_array_is_in_the_list_of_forgeries(index):
    assert set(index_folder._arrays_of(index._state)) == set(FORGERIES)


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_arrays(index, tmp_path, monkeypatch, name):
    arrays = index_folder._arrays_of(index._state)
    of_state = index_folder._arrays_of
    forged = []
    for where, value in FORGERIES[name]:
        forged.append(arrays[name].copy())
        forged[-1][where] = value
    forged += [arrays[name][:-1], arrays[name][None], arrays[name].astype(np.float64).astype(np.float32)[..., None]]
    for array in forged:
        monkeypatch.setattr(index_folder, "_arrays_of", lambda state, array=array: of_state(state) | {name: array})
        index.save(tmp_path / "index")
        with pytest.raises(ValueError, match="damaged or was not written by skembed"):
            SearchIndex.load(tmp_path / "index")


@pytest.mark.parametrize(
    "change",
    [
        {"n_fitted": -1},
        {"n_fitted": 1000},
        {"scoring": {"k1": 1.2}},
        {"scoring": {"k1": -1.0, "b": 0.5}},
        {"scoring": {"k1": {"float": "nan"}, "b": 0.5}},
        {"scoring": {"k1": 1.2, "b": 2.0}},
        {"tokenizer": {"stemmer": None}},
        {"tokenizer": {"stemmer": "no such language", "stop_words": None}},
        {"tokenizer": {"stemmer": 3, "stop_words": None}},
        {"parameters": {"other": 1}},
        {"parameters": {"k1": -1.0}},
        {"parameters": {"k1": {"array": "tokens"}}},
    ],
)
def test_forged_headers(index, tmp_path, change):
    index.save(tmp_path / "index")
    forge(tmp_path / "index", lambda header: header.update(change))
    with pytest.raises(ValueError, match="damaged or was not written by skembed"):
        SearchIndex.load(tmp_path / "index")


@pytest.mark.parametrize("step", ["list_postings", "moments_of", "vectors_of"])
def test_killed_add_and_remove_leave_the_old_index(index, monkeypatch, step):
    other = pickle.loads(pickle.dumps(index))

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(index_state, step, stop)
    with pytest.raises(KeyboardInterrupt):
        other.add([("a zebra", "")])
    if step != "vectors_of":
        with pytest.raises(KeyboardInterrupt):
            other.remove([0])
    check_same(index, other)


def test_killed_save_leaves_the_old_folder(index, tmp_path, monkeypatch):
    index.save(tmp_path / "index")
    other = pickle.loads(pickle.dumps(index)).add([("a zebra", "")])
    monkeypatch.setattr(folders, "write_arrays", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        other.save(tmp_path / "index")
    check_same(index, SearchIndex.load(tmp_path / "index"))
    assert len(os.listdir(tmp_path / "index")) == 2


def test_a_process_that_reads_sees_no_half_state(index):
    assert search_index.SearchIndex is SearchIndex
    assert not index._state.tokens.flags.writeable and not index._state.documents.vectors.flags.writeable
