"""Rows of float32, sixteen at a time: every length of a row, every number of rows, and what must stay visible."""

import numpy as np
import pytest
from kernel_cases import for_python
from scipy.special import expit, log_softmax

from skembed._compiled.rows import (
    Selection,
    add_scaled,
    blend,
    combine,
    combine_strided,
    combine_two,
    copy_scaled,
    dots,
    dots_of_two,
    logistic,
    mean_square,
    padded,
    prefetch_row,
    softmax,
)

add_scaled, copy_scaled, blend, mean_square = map(for_python, (add_scaled, copy_scaled, blend, mean_square))
combine, combine_strided, combine_two = map(for_python, (combine, combine_strided, combine_two))
dots, dots_of_two = map(for_python, (dots, dots_of_two))
softmax, logistic = map(for_python, (softmax, logistic))
prefetch_row = for_python(prefetch_row)

pytestmark = pytest.mark.kernel
# Shorter than a vector; one, two and four of them; a last one that overlaps by one, by some, by all but one element.
LENGTHS = [1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 79, 100, 128, 129]


def random_rows(n, length, seed=0):
    return np.random.default_rng(seed).normal(size=(n, length)).astype(np.float32)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("n", range(1, 10))
def test_dots_and_combine_are_products_of_matrices(length, n):
    a, rows = random_rows(3, length), random_rows(6, length, seed=1)
    rng = np.random.default_rng(n)
    index = rng.integers(0, 6, n + 5).astype(np.int32)
    scale = rng.normal(size=3 + n).astype(np.float32)
    out = np.full((3, n + 5), 7, np.float32)
    dots(out, 1, a, 2, Selection(rows, index, 4, n))
    wanted = rows[index[4 : 4 + n]].astype(float)
    np.testing.assert_allclose(out[1, :n], wanted @ a[2], rtol=1e-5, atol=1e-5)
    assert (out[[0, 2]] == 7).all() and (out[1, n + -n % 4 :] == 7).all(), "nothing is written past a group of four"
    result = np.full((3, length), 7, np.float32)
    square = combine(result, 1, scale, 3, Selection(rows, index, 4, n))
    np.testing.assert_allclose(result[1], scale[3:] @ wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(square, np.mean(result[1].astype(float) ** 2), rtol=1e-5)
    assert (result[[0, 2]] == 7).all()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_combination_with_scales_that_are_not_adjacent(length, n):
    rows, rng = random_rows(6, length), np.random.default_rng(n)
    index, scale = rng.integers(0, 6, n + 2).astype(np.int32), rng.normal(size=2 + 3 * n).astype(np.float32)
    result, wanted = np.full((2, 3, length), 7, np.float32)
    square = combine_strided(result, 1, (scale, 2, 3), Selection(rows, index, 2, n))
    assert square == combine(wanted, 1, scale[2::3].copy(), 0, Selection(rows, index, 2, n))
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("second", [1, 2])
def test_two_rows_at_a_time_are_the_same_as_one_by_one(length, n, second):
    a, rows, rng = random_rows(4, length), random_rows(6, length, seed=1), np.random.default_rng(n)
    index, scale = rng.integers(0, 6, n + 2).astype(np.int32), rng.normal(size=3 + 3 * n).astype(np.float32)
    scores, wanted_scores = np.full((2, 4, n + 5), 7, np.float32)
    dots_of_two((scores, 1, second), (a, 1, second), Selection(rows, index, 2, n))
    sums, wanted = np.full((2, 4, length), 7, np.float32)
    squares = combine_two((sums, 1, second), (scale, 0, second - 1, 3), Selection(rows, index, 2, n))
    for i in (1, second):
        dots(wanted_scores, i, a, i, Selection(rows, index, 2, n))
        assert squares[i - 1] == combine_strided(wanted, i, (scale, i - 1, 3), Selection(rows, index, 2, n))
    np.testing.assert_array_equal(scores, wanted_scores)
    np.testing.assert_array_equal(sums, wanted)


@pytest.mark.parametrize("length", LENGTHS)
def test_combination_of_nothing_is_zero(length):
    result = np.full((2, length), 7, np.float32)
    nothing = np.zeros(1, np.float32), 0, Selection(random_rows(1, length), np.zeros(1, np.int32), 0, 0)
    assert combine(result, 0, *nothing) == 0
    assert not result[0].any() and (result[1] == 7).all()


@pytest.mark.parametrize("length", LENGTHS)
def test_one_row_and_another(length):
    rows, others = random_rows(3, length), random_rows(2, length, seed=1)
    before = rows.copy()
    np.testing.assert_allclose(mean_square(rows, 1), np.mean(rows[1].astype(float) ** 2), rtol=1e-5)
    prefetch_row(rows, 2)
    square = blend(rows, 2, (np.float32(0.5), others, 0), (np.float32(-0.7), others, 1))
    np.testing.assert_allclose(rows[2], 0.5 * others[0].astype(float) - 0.7 * others[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(square, np.mean(rows[2].astype(float) ** 2), rtol=1e-5)
    before[2] = rows[2]
    add_scaled(rows, 1, np.float32(0.3), others, 1)
    np.testing.assert_allclose(rows[1], before[1] + 0.3 * others[1].astype(float), rtol=1e-5, atol=1e-6)
    copy_scaled(rows, 0, np.float32(-2.0), others, 0)
    np.testing.assert_array_equal(rows[0], -2 * others[0])
    np.testing.assert_array_equal(rows[2], before[2])
    copy_scaled(others, 0, np.float32(0.5), others, 0)  # in place
    np.testing.assert_array_equal(others[0], rows[0] / -4)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("scale", [1e-3, 1, 20, 1e4])
def test_softmax_and_logistic(n, scale):
    x = np.random.default_rng(n).normal(size=n) * scale
    x = x.astype(np.float32).astype(float)
    scores = np.zeros((2, padded(n)), np.float32)
    scores[1, :n] = x
    norm = softmax(scores, 1, n)
    np.testing.assert_allclose(scores[1, :n], np.exp(log_softmax(x)), rtol=2e-5, atol=1e-37)
    np.testing.assert_allclose(norm, np.logaddexp.reduce(x), rtol=1e-6, atol=1e-6)
    scores[1, :n] = x
    loss = logistic(scores, 1, n)
    np.testing.assert_allclose(scores[1, :n], expit(x), rtol=2e-6, atol=1e-37)
    np.testing.assert_allclose(loss, np.logaddexp(0, x).sum(), rtol=1e-6, atol=1e-5)
    assert not scores[0].any()


def test_exponential_has_seven_digits():
    # softmax([0, x]) = exp(x) / (1 + exp(x)) for x <= 0
    for x in np.linspace(-80, 0, 400).astype(np.float32):
        scores = np.zeros((1, 16), np.float32)
        scores[0, 1] = x
        softmax(scores, 0, 2)
        np.testing.assert_allclose(scores[0, 1], expit(float(x)), rtol=3e-7)


def test_scores_that_are_left_out():
    scores = np.array([[0, -np.inf, 0] + [0] * 13], np.float32)
    assert np.isclose(logistic(scores, 0, 3), 2 * np.log(2))
    assert scores[0, 1] < 1e-37


def test_not_a_number_stays_visible():
    # Diverged weights must not be hidden by the compiler's arithmetic, nor by a clamp.
    rows = random_rows(2, 20)
    rows[0, 3] = np.nan
    out = np.zeros((1, 16), np.float32)
    dots(out, 0, rows, 0, Selection(rows, np.array([1], np.int32), 0, 1))
    assert np.isnan(out[0, 0]) and np.isnan(mean_square(rows, 0))
    for function in (softmax, logistic):
        for index in (0, 2):
            scores = np.zeros((1, 16), np.float32)
            scores[0, index] = np.nan
            assert np.isnan(function(scores, 0, 3))
            assert np.isnan(scores[0, index])


@pytest.mark.parametrize("length", [5, 20, 100])
def test_a_row_s_place_in_memory_does_not_matter(length):
    # Whether an array begins at a multiple of 64 bytes must not decide a bit.
    found = set()
    for shift in range(0, 16, 3):
        buffer = np.zeros(3 * length + 16, np.float32)
        rows = buffer[shift : shift + 3 * length].reshape(3, length)
        rows[:] = random_rows(3, length)
        out = np.zeros((1, 16), np.float32)
        dots(out, 0, rows, 0, Selection(rows, np.array([0, 1, 2], np.int32), 0, 3))
        combine(rows, 0, out[0], 0, Selection(rows, np.array([1, 2], np.int32), 0, 2))
        found.add(out.tobytes() + rows.tobytes())
    assert len(found) == 1
