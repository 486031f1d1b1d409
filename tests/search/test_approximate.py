"""An index of usearch, with the conventions of `nearest`."""

import copy
import pickle
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from skembed.search import ApproximateIndex, nearest

ROWS = np.random.default_rng(0).standard_normal((2000, 16)).astype(np.float32)
ROWS[[0, 7, 1999]] = 0


@pytest.fixture(scope="module")
def index():
    pytest.importorskip("usearch")
    return ApproximateIndex(ROWS)


def test_finds_nearly_all_that_an_exact_search_finds(index):
    rows, cosines = index.search(ROWS[:200], k=5)
    exact, scores = nearest(ROWS[:200], ROWS, k=5)
    assert rows.dtype == np.int64 and cosines.dtype == np.float32 and rows.shape == cosines.shape == (200, 5)
    same = rows == exact
    assert same.mean() > 0.95
    np.testing.assert_allclose(cosines[same], scores[same], atol=1e-5)
    known = np.setdiff1d(np.arange(200), [0, 7])
    assert (rows[known, 0] == known).all()


def test_zero_rows_match_nothing(index):
    rows, cosines = index.search(ROWS[[7, 8]], k=3)
    assert (rows[0] == -1).all() and np.isnan(cosines[0]).all() and (rows[1] >= 0).all()
    everything = index.search(ROWS[[8]], k=2500)[0]
    assert not np.isin([0, 7, 1999], everything).any()


def test_fewer_rows_than_asked_for(index):
    rows, cosines = ApproximateIndex(ROWS[:3]).search(ROWS[[1, 2]], k=4)
    assert (rows == [[1, 2, -1, -1], [2, 1, -1, -1]]).all()
    assert (np.isnan(cosines) == (rows < 0)).all()
    assert (ApproximateIndex(np.zeros((3, 16))).search(ROWS[[1]])[0] == -1).all()
    assert index.search(ROWS[:0], k=3)[0].shape == (0, 3)


def test_one_thread_builds_the_same_index_and_threads_search_alike(index):
    again = ApproximateIndex(ROWS)
    for n_jobs in (1, 2):
        for one, other in zip(index.search(ROWS[:50]), again.search(ROWS[:50], n_jobs=n_jobs)):
            np.testing.assert_array_equal(one, other)


def test_saved_and_opened(index, tmp_path):
    index.save(tmp_path / "index")
    opened = ApproximateIndex.load(tmp_path / "index")
    assert opened.n_features == 16
    np.testing.assert_array_equal(opened.search(ROWS[:50])[0], index.search(ROWS[:50])[0])
    with pytest.raises(FileNotFoundError, match="missing"):
        index.save(tmp_path / "missing" / "index")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ApproximateIndex.load(tmp_path / "nowhere")
    with pytest.raises(OSError, match="tmp"):
        index.save(tmp_path)
    content = (tmp_path / "index").read_bytes()
    for damaged in (b"", b"no index " * 100, content[:5000], content[:-100]):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ValueError, match="no index that ApproximateIndex.save wrote"):
            ApproximateIndex.load(tmp_path / "damaged")
    index.save(tmp_path / "damaged")  # replaces it
    assert (tmp_path / "damaged").read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged", "index"]


def test_copies_and_pickles(index):
    for other in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        np.testing.assert_array_equal(other.search(ROWS[:50])[0], index.search(ROWS[:50])[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda index: ApproximateIndex([[1.0, np.nan]]), "vectors has nan in row 0"),
        (lambda index: index.search([[np.inf] * 16]), "queries has inf in row 0"),
        (lambda index: index.search([[1.0, 2.0]]), "queries have 2 columns, the vectors of the index 16"),
        (lambda index: index.search(ROWS[:1], k=0), "k"),
        (lambda index: ApproximateIndex(ROWS, n_jobs="all"), "n_jobs"),
        (lambda index: index.search(csr_array(ROWS[:1])), "queries is sparse, .* Use nearest, or make it dense"),
        (lambda index: ApproximateIndex([["a"]]), "must hold numbers"),
    ],
)
def test_wrong_input_is_named(index, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wrong(index)


def test_without_usearch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(ImportError, match=r"pip install skembed\[search\]"):
        ApproximateIndex(ROWS)
