"""Cosine of pairs of rows: arrays, sparse matrices, data frames; what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cosine as distance

from skembed.metrics import paired_cosine_similarity, pearson_score, spearman_score

ROWS = np.random.default_rng(0).standard_normal((2, 6, 4))
EXPECTED = [1 - distance(a, b) for a, b in zip(*ROWS)]


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_matrix, sparse.coo_array, pd.DataFrame, np.ndarray.tolist])
@pytest.mark.parametrize(
    "second", [np.asarray, sparse.csc_array, lambda rows: pd.DataFrame(rows, index=range(9, 3, -1))]
)
def test_rows_are_paired_by_their_place(first, second):
    found = paired_cosine_similarity(first(ROWS[0]), second(ROWS[1]))
    assert found.shape == (6,) and found.dtype == np.float64
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-12)


def test_columns_of_data_frames_are_paired_by_their_place():
    names = [["cbos0", "cbos1", "cbos2", "cbos3"], ["sent2vec0", "sent2vec1", "sent2vec2", "sent2vec3"]]
    found = paired_cosine_similarity(*(pd.DataFrame(rows, columns=c) for rows, c in zip(ROWS, names)))
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_zero_and_large_rows(form):
    a, b = np.zeros((3, 2)), np.ones((3, 2))
    a[1:] = [[1e-3, 1e-3], [-2.0, -2.0]]
    assert paired_cosine_similarity(form(a), form(b)).tolist() == pytest.approx([0.0, 1.0, -1.0])
    assert paired_cosine_similarity(form(a[:0]), form(b[:0])).shape == (0,)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("factor", [1e200, 1e300, 1e-200, 1e-300])
def test_rows_whose_squares_leave_the_range_of_float64(form, factor):
    scales = np.array([[1], [factor], [-factor], [1], [factor], [1]])
    found = paired_cosine_similarity(form(ROWS[0] * scales), form(ROWS[1] * scales[::-1]))
    np.testing.assert_allclose(found, EXPECTED * np.sign(scales * np.sign(scales[::-1])).ravel(), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, pd.DataFrame])
@pytest.mark.parametrize(("value", "message"), [(np.nan, "A contains NaN|Input A contains NaN"), (np.inf, "infinity")])
def test_what_is_no_number_is_refused(form, value, message):
    rows = ROWS[0].copy()
    rows[2, 1] = value
    with pytest.raises(ValueError, match=message):
        paired_cosine_similarity(form(rows), form(ROWS[1]))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_shapes_must_agree(form):
    with pytest.raises(ValueError, match=r"same shape \(n_pairs, n_features\), got \(6, 4\) and \(5, 4\)"):
        paired_cosine_similarity(form(ROWS[0]), form(ROWS[1][:5]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("score", [pearson_score, spearman_score])
@pytest.mark.parametrize("scale", [1.0, 1e-320, 1e300])
def test_correlations_have_a_value(score, scale):
    assert score([scale] * 3, [1, 2, 3]) == score([1, 2, 3], [scale] * 3) == 0
    assert score([-scale, 0, scale], [1, 2, 3]) == pytest.approx(1)
    assert score([-scale, scale, scale], [scale, -scale, -scale]) == pytest.approx(-1)
