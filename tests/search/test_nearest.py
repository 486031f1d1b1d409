"""Exact search: the same rows and bits as a slow search, for any blocks and threads; zero rows match nothing."""

import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from traced_memory import peak_of

from skembed.search import nearest


def some_rows(n, d=21, seed=0, dtype=np.float32):
    """Rows with zeros, copies, and multiples among them."""
    rows = np.random.default_rng(seed).standard_normal((max(n, 5), d)).astype(dtype)
    rows[1::17] = 0
    rows[3::11] = rows[2]
    rows[5::23] = 4 * rows[4]
    return rows[:n]


def slow_search(queries, vectors, k, excluded=None, cosine=True):
    """Indices and scores by one sort a query, in float64."""
    queries, vectors = np.asarray(queries, float), np.asarray(vectors, float)
    lengths = [np.linalg.norm(rows, axis=1) if cosine else np.ones(len(rows)) for rows in (queries, vectors)]
    scores = queries @ vectors.T
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = scores / lengths[0][:, None] / lengths[1]
    scores[~queries.any(axis=1)] = scores[:, ~vectors.any(axis=1)] = -np.inf
    if excluded is not None:
        which = np.flatnonzero(np.asarray(excluded) >= 0)
        scores[which, np.asarray(excluded)[which]] = -np.inf
    indices = np.argsort(-scores.round(5), axis=1, kind="stable")
    indices = np.pad(indices, ((0, 0), (0, k)), constant_values=-1)[:, :k]
    scores = np.where(indices < 0, -np.inf, np.take_along_axis(np.pad(scores, ((0, 0), (0, 1))), indices, 1))
    return np.where(scores == -np.inf, -1, indices), np.where(scores == -np.inf, np.nan, scores)


@pytest.mark.kernel
@pytest.mark.parametrize("form", [np.asarray, csr_array, csr_matrix])
@pytest.mark.parametrize("metric", ["cosine", "dot"])
def test_the_nearest_rows_are_found(form, metric):
    queries, vectors = some_rows(40, seed=1), some_rows(90)
    queries[7] = vectors[8]
    excluded = np.arange(40) * 2 - 1
    for k, exclude in ((1, None), (7, excluded), (95, None)):
        indices, scores = nearest(form(queries), form(vectors), k, metric=metric, exclude=exclude)
        expected, cosines = slow_search(queries, vectors, k, exclude, cosine=metric == "cosine")
        assert_array_equal(indices, expected)
        assert_allclose(scores, cosines, atol=1e-5)
        assert (indices.dtype, scores.dtype) == (np.int64, np.float32)
    assert (indices[:, -1] == -1).all() and np.isnan(scores[:, -1]).all()
    assert (indices[1] == -1).all()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_blocks_threads_and_neighbours_change_no_bit(form, monkeypatch):
    monkeypatch.setattr("skembed.search._nearest._LEAST_ROWS", 8)
    monkeypatch.setattr("skembed.search._nearest.count_threads", lambda n_jobs: n_jobs or 1)
    rows = some_rows(150)
    for k in (2, 6, 150):
        indices, scores = nearest(form(rows), form(rows), k, exclude="self")
        for memory, n_jobs in ((1024, 2), (0.02, 1), (0.1, 3)):
            with sklearn.config_context(working_memory=memory):
                again = nearest(form(rows), form(rows), k, exclude="self", n_jobs=n_jobs)
            assert again[0].tobytes() == indices.tobytes() and again[1].tobytes() == scores.tobytes()
        some = np.array([2, 9, 149])
        again = nearest(form(rows[some]), form(rows), k, exclude=some, n_jobs=2)
        assert again[0].tobytes() == indices[some].tobytes() and again[1].tobytes() == scores[some].tobytes()


def test_queries_are_answered_however_little_memory_there_is():
    """Even where the keys of a single query take more than there is."""
    rows = some_rows(150)
    indices, scores = nearest(rows, rows, 150)
    with sklearn.config_context(working_memory=0.001):
        again = nearest(rows, rows, 150)
    assert again[0].tobytes() == indices.tobytes() and again[1].tobytes() == scores.tobytes()


@pytest.mark.kernel
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_first_k_are_the_first_k_of_all(form):
    """However many are wanted, and however few are asked for."""
    queries, vectors = some_rows(20, seed=1), some_rows(150)
    excluded = np.arange(20) - 1
    expected, cosines = nearest(form(queries), form(vectors), 150, exclude=excluded)
    assert_array_equal(expected, slow_search(queries, vectors, 150, excluded)[0])
    for k in [*range(1, 9), 70, 149]:
        for n_queries in (1, 16, 17):
            some = form(queries[:n_queries]), form(vectors)
            found = nearest(*some, k, exclude=excluded[:n_queries])
            for array, of_all in zip(found, (expected, cosines)):
                assert array.tobytes() == of_all[:n_queries, :k].tobytes()


@pytest.mark.kernel
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_opposite_rows_and_zeros_of_either_sign_are_in_order(form):
    vectors = np.float32([[-1, 0], [0, 1], [0, -1], [1, 0], [-1, -1], [1, 1], [-0.0, 2], [0, 0]])
    for k in (1, 8):
        indices, scores = nearest(form(vectors[3:4]), form(vectors), k, metric="dot")
        assert_array_equal(indices[0], [3, 5, 1, 2, 6, 0, 4, -1][:k])
        assert_array_equal(scores[0], np.float32([1, 1, 0, 0, 0, -1, -1, np.nan])[:k])


@pytest.mark.parametrize("change", ["unsorted", "copies", "zeros", "float32", "int", "read-only"])
def test_any_form_of_a_sparse_matrix_is_searched_and_stays_as_it_is(change):
    rows = (4 * some_rows(60)).round()
    table = csr_array(rows.astype(np.float64))
    if change == "unsorted":
        table.indices[: table.indptr[1]] = table.indices[: table.indptr[1]][::-1].copy()
        table.data[: table.indptr[1]] = table.data[: table.indptr[1]][::-1].copy()
        table.has_sorted_indices = table.has_canonical_format = False
    elif change == "copies":  # each number in two halves
        columns, numbers = np.repeat(table.indices, 2), np.repeat(table.data / 2, 2)
        table = csr_array((numbers, columns, 2 * table.indptr), shape=table.shape)
    elif change == "zeros":
        given = np.ones_like(rows), np.tile(np.arange(21), 60), np.arange(61) * 21
        table = csr_array((given[0].ravel(), *given[1:]), shape=rows.shape)
        table.data[:] = rows.ravel()
    elif change == "read-only":
        for array in (table.data, table.indices, table.indptr):
            array.flags.writeable = False
    else:
        table = table.astype(np.float32 if change == "float32" else np.int64)
    before = [array.copy() for array in (table.data, table.indices, table.indptr)]
    for metric in ("cosine", "dot"):
        for found, expected in zip(nearest(table, table, 5, metric=metric), nearest(rows, rows, 5, metric=metric)):
            assert_allclose(found, expected, rtol=1e-6)
    for array, as_before in zip((table.data, table.indices, table.indptr), before):
        assert_array_equal(array, as_before)


@pytest.mark.kernel
def test_equal_scores_are_in_the_order_of_the_rows():
    vectors = np.tile(some_rows(3, seed=5)[[0, 2]], (300, 1))
    indices, scores = nearest(vectors[:1], vectors, 5)
    assert_array_equal(indices, [[0, 2, 4, 6, 8]])
    assert_array_equal(scores, scores[:, :1].repeat(5, 1))
    assert_array_equal(nearest(vectors[:1], vectors, 3, exclude=[0])[0], [[2, 4, 6]])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32])
def test_other_types_give_what_float32_gives(dtype, tmp_path):
    rows = (8 * some_rows(60)).astype(dtype)
    indices, scores = nearest(rows.astype(np.float32), rows.astype(np.float32), 4)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for table in (rows, mapped, pd.DataFrame(rows.astype(np.float32)), np.asfortranarray(rows)):
        again = nearest(table, table, 4)
        assert_array_equal(again[0], indices)
        assert_allclose(again[1], scores, atol=3e-7)


@pytest.mark.kernel
def test_directions_of_extreme_numbers_are_found():
    rows = some_rows(30).astype(np.float64)
    expected = nearest(rows, rows, 3)
    for scale in (1e-300, 1e-42, 1e-30, 1e20, 1e38, 1e300):
        found = nearest(rows, rows * scale, 3)
        assert_array_equal(found[0], expected[0])
        assert_allclose(found[1], expected[1], atol=1e-6)
    small = np.float32(1e-38) * some_rows(30)
    assert_allclose(nearest(small, small, 3)[1], expected[1], atol=1e-5)
    found = nearest(csr_array(rows * 1e300), csr_array(rows), 3)
    assert_allclose(found[1], expected[1], atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_more_rows_asked_for_than_there_are_take_no_memory_beyond_the_result(form):
    queries, vectors, k = form(some_rows(30, seed=1)), form(some_rows(20)), 30_000
    indices, scores = nearest(queries, vectors, k)
    assert indices.shape == scores.shape == (30, k)
    limit = 1.1 * (indices.nbytes + scores.nbytes)
    assert peak_of(lambda: nearest(queries, vectors, k), limit) < limit
    expected = nearest(queries, vectors, 20)
    assert_array_equal(indices[:, :20], expected[0])
    assert_array_equal(scores[:, :20], expected[1])
    assert (indices[:, 20:] == -1).all() and np.isnan(scores[:, 20:]).all()


def test_a_result_larger_than_memory_is_an_error_before_the_search(monkeypatch):
    monkeypatch.setattr("skembed.search._nearest.keep_best", None)
    with pytest.raises(MemoryError, match="Unable to allocate"):
        nearest(some_rows(9000), some_rows(5), 2**31 - 1)


def test_empty_tables():
    rows = some_rows(4)
    for form in (np.asarray, csr_array):
        assert nearest(form(rows[:0]), form(rows), 2)[0].shape == (0, 2)
        assert_array_equal(nearest(form(rows), form(rows[:0]), 2)[0], np.full((4, 2), -1))
        assert np.isnan(nearest(form(rows), form(rows[:0]), 2)[1]).all()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(
    ("number", "metric"), [(np.nan, "cosine"), (np.inf, "cosine"), (1e16, "dot"), (-np.inf, "dot")]
)
@pytest.mark.parametrize("name", ["queries", "vectors"])
def test_numbers_that_have_no_score_are_refused(form, number, metric, name):
    tables = {"queries": some_rows(5), "vectors": some_rows(700)}
    tables[name][4, 20] = number
    with pytest.raises(ValueError, match=rf"^{name} has {re.escape(format(np.float32(number), 'g'))} in row 4"):
        nearest(form(tables["queries"]), form(tables["vectors"]), metric=metric)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"k": 0}, ValueError, "The 'k' parameter of nearest must be an int in the range"),
        ({"k": True}, ValueError, "The 'k' parameter"),
        ({"metric": "l2"}, ValueError, "The 'metric' parameter"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
        ({"queries": [[1.0, 2.0]]}, ValueError, r"queries of shape \(1, 2\) and vectors of shape \(5, 21\)"),
        ({"queries": np.zeros(21)}, ValueError, "queries must be a table of numbers"),
        ({"queries": np.zeros((1, 0)), "vectors": np.zeros((1, 0))}, ValueError, "must have a column"),
        ({"vectors": [["a"] * 21]}, TypeError, "vectors must hold numbers"),
        ({"exclude": "self"}, ValueError, "got 3 queries and 5 vectors"),
        ({"exclude": [0, 1]}, ValueError, "for each of the 3 queries"),
        ({"exclude": [0.5, 1, 2]}, ValueError, "an index of vectors"),
        ({"exclude": [0, 1, 5]}, ValueError, "from -1 to 4"),
        ({"exclude": [0, 1, -2]}, ValueError, "from -1 to 4"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else None,
)
def test_errors_say_what_is_wrong(change, error, message):
    with pytest.raises(error, match=message):
        nearest(**{"queries": some_rows(3), "vectors": some_rows(5), **change})


def test_a_column_of_arrays_is_a_table():
    """As data frames keep vectors."""
    rows = np.float32([[1, 0], [0, 1], [1, 1]])
    column = pd.DataFrame({"vector": list(rows)})["vector"]
    for found, expected in zip(nearest(rows, column, k=2), nearest(rows, rows, k=2)):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="a row of equal length for each sentence"):
        nearest(rows, pd.Series([np.ones(2), np.ones(3)]), k=1)


@pytest.mark.parametrize("dtype", ["Float32", "float[pyarrow]"])
def test_frames_of_nullable_numbers(dtype):
    rows = some_rows(40)
    frame = pd.DataFrame(rows).astype(dtype)
    for found, expected in zip(nearest(frame, frame, 3), nearest(rows, rows, 3)):
        assert_array_equal(found, expected)
    frame.iloc[7, 0] = pd.NA
    with pytest.raises((TypeError, ValueError), match="queries (must hold numbers|has nan in row 7)"):
        nearest(frame, rows, 3)


def test_tables_without_numbers_yet():
    rows = some_rows(5)
    masked = np.ma.masked_array(rows, np.indices(rows.shape)[0] == 3)
    with pytest.raises(ValueError, match=r"^vectors has a masked value in row 3\. Fill or drop it first\.$"):
        nearest(rows, masked, 1)
    assert_array_equal(nearest(rows, np.ma.masked_array(rows), 1)[1], nearest(rows, rows, 1)[1])
    lazy = pytest.importorskip("polars").LazyFrame(rows)
    assert_array_equal(nearest(lazy.collect(), rows, 1)[0], nearest(rows, rows, 1)[0])
    with pytest.raises(TypeError, match=r"^queries is a LazyFrame, .* Pass queries\.collect\(\)\.$"):
        nearest(lazy, rows, 1)
