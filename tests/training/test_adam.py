"""Adam's compiled step, against the one written with arrays."""

import numpy as np
import pytest
from reference import adam_step

from skembed._training.dense import move_by_adam
from skembed._training.learned_arrays import LearnedArray

RATE, DIVISOR, N_STEPS = 0.01, 3.7, 5


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("shape", "rows", "unit"),
    [
        ((5, 7), ..., ()),
        ((5, 2, 3), ..., (5, 1, 1)),
        ((5, 2, 1), ..., (5, 1, 1)),
        ((5, 2, 3), ..., (3,)),
        ((5, 7), np.array([4, 0, 3]), (3, 1)),
    ],
    ids=[
        "matrix",
        "a unit for each matrix",
        "matrices of one column",
        "a unit for each column",
        "a unit for each of some rows",
    ],
)
def test_the_compiled_step_is_that_of_the_arrays(shape, rows, unit):
    random = np.random.default_rng(0)
    unit = random.normal(size=unit).astype(np.float32) if unit else np.float32(1)
    weights, *moments = random.normal(size=(3, *shape)).astype(np.float32)
    moments = np.abs(np.stack(moments, axis=0 if rows is ... else 1))
    gradient = random.normal(size=weights[rows].shape).astype(np.float32)
    twin, moments_of_twin = weights.copy(), moments.copy()
    twin[rows] -= unit * adam_step(moments_of_twin, rows, gradient / np.float32(DIVISOR), RATE, N_STEPS)
    move_by_adam(weights, moments, rows, gradient, DIVISOR, RATE, N_STEPS, unit)
    assert weights.tobytes() == twin.tobytes() and moments.tobytes() == moments_of_twin.tobytes()


@pytest.mark.parametrize(
    ("update", "solver", "shape"),
    [
        ("rows", "adam", (5, 2, 3)),
        ("rows", "adagrad", (5, 2)),
        ("dense", "adam", (2, 5, 3)),
        ("dense", "adagrad", (5, 3)),
    ],
)
def test_a_solver_keeps_no_more_numbers_than_it_needs(update, solver, shape):
    """Two moments a number, or one sum; of a word, a sum and a count."""
    array = LearnedArray("word_vectors_", (5, 3), update=update)
    assert array.accumulator_shape(solver) == shape
    (record,) = array.records(solver)[1:]
    assert record.shape == shape
