"""Pairs above a threshold, and the groups made of them: all of them, no others, the same for any threads."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from skembed.metrics import paired_cosine_similarity
from skembed.search import communities, near_duplicates


@pytest.fixture(scope="module")
def rows():
    """Rows around a few directions, a row of zeros, and copies."""
    draws = np.random.default_rng(0)
    rows = draws.standard_normal((6, 19))[draws.integers(0, 6, 130)] + 0.3 * draws.standard_normal((130, 19))
    rows[11] = 0
    rows[70] = 5 * rows[12]
    return rows.astype(np.float32)


def slow_pairs(rows, threshold):
    a, b = np.triu_indices(len(rows), 1)
    cosines = paired_cosine_similarity(rows[a], rows[b]).astype(np.float32)
    kept = (cosines >= np.float32(threshold)) & (np.abs(rows[a]).sum(1) > 0) & (np.abs(rows[b]).sum(1) > 0)
    return np.stack([a[kept], b[kept]], axis=1), cosines[kept]


@pytest.mark.kernel
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("threshold", [0, 0.5, 0.93, 1])
def test_all_pairs_above_the_threshold_are_found(rows, form, threshold):
    pairs, scores = near_duplicates(form(rows), threshold=threshold)
    expected, cosines = slow_pairs(rows, threshold)
    assert_array_equal(pairs, expected)
    assert_allclose(scores, cosines, atol=1e-6)
    assert (pairs.dtype, scores.dtype) == (np.int64, np.float32)
    assert [12, 70] in pairs.tolist() and 11 not in pairs


def test_a_cosine_at_the_threshold_is_decided_exactly(rows):
    """Where rounding to float32 decides, float64 is asked."""
    _, cosines = slow_pairs(rows, 0.5)
    for threshold in np.sort(cosines)[::200].astype(float):
        for t in (threshold, np.nextafter(np.float32(threshold), np.float32(2)).astype(float)):
            assert_array_equal(near_duplicates(rows, threshold=t)[0], slow_pairs(rows, t)[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_copies_of_any_size_are_found(form, factor):
    assert_array_equal(near_duplicates(form(np.full((3, 2), factor)), threshold=1)[0], [[0, 1], [0, 2], [1, 2]])


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_threads_and_memory_change_no_bit(rows, form, monkeypatch):
    monkeypatch.setattr("skembed.search._near_duplicates.count_threads", lambda n_jobs: n_jobs or 1)
    many = np.tile(rows, (3, 1))
    pairs, scores = near_duplicates(form(many), threshold=0.9)
    with sklearn.config_context(working_memory=0.05):
        again = near_duplicates(form(many), threshold=0.9, n_jobs=3)
    assert again[0].tobytes() == pairs.tobytes() and again[1].tobytes() == scores.tobytes()


def test_too_many_pairs_are_refused(rows):
    n_pairs = len(near_duplicates(rows, threshold=0.9)[0])
    assert len(near_duplicates(rows, threshold=0.9, max_pairs=n_pairs)[0]) == n_pairs
    for find in (near_duplicates, communities):
        with pytest.raises(ValueError, match=f"More than max_pairs={n_pairs - 1:,} pairs"):
            find(rows, threshold=0.9, max_pairs=n_pairs - 1)
    copies = np.ones((600, 2))
    with pytest.raises(ValueError, match="max_pairs=10"):
        near_duplicates(copies, max_pairs=10)


@pytest.mark.parametrize("find", [near_duplicates, communities])
def test_invalid_input_is_refused(find, rows):
    with pytest.raises(ValueError, match=f"The 'threshold' parameter of {find.__name__}"):
        find(rows, threshold=1.5)
    with pytest.raises(ValueError, match="vectors has nan in row 1"):
        find([[0.5, 1], [1, np.nan]])
    assert len(find(rows[:0])[0]) == 0


def slow_communities(rows, threshold, min_size):
    """Recompute all neighbourhoods for each community."""
    pairs, _ = slow_pairs(rows, threshold)
    near = np.eye(len(rows), dtype=bool)
    near[pairs[:, 0], pairs[:, 1]] = near[pairs[:, 1], pairs[:, 0]] = True
    labels, centers = np.full(len(rows), -1), []
    while True:
        free = labels < 0
        sizes = np.where(free, near[:, free].sum(axis=1), 0)
        center = int(sizes.argmax())
        if sizes[center] < min_size:
            return labels, centers
        labels[near[center] & free] = len(centers)
        centers.append(center)


@pytest.mark.parametrize(("threshold", "min_size"), [(0.5, 2), (0.85, 2), (0.9, 4), (1, 2), (0.999, 3)])
def test_communities_are_those_of_the_definition(rows, threshold, min_size):
    labels, centers = communities(rows, threshold=threshold, min_size=min_size)
    expected, expected_centers = slow_communities(rows, threshold, min_size)
    assert_array_equal(labels, expected)
    assert_array_equal(centers, expected_centers)
    sizes = np.bincount(labels[labels >= 0])
    assert (np.diff(sizes) <= 0).all() and (sizes >= min_size).all()
    assert_array_equal(labels[centers], np.arange(len(centers)))


def test_communities_do_not_grow_along_chains():
    angles = np.deg2rad([0, 20, 40, 60, 80, 200])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    labels, centers = communities(rows, threshold=0.9)
    assert_array_equal(labels, [0, 0, 0, 1, 1, -1])
    assert_array_equal(centers, [1, 3])
    with pytest.raises(ValueError, match="The 'min_size' parameter of communities"):
        communities(rows, min_size=1)
