"""Adam's compiled step, against the one written with arrays."""

import numpy as np
import pytest

from skembed._training.dense import adam_step, move_by_adam

RATE, DIVISOR, N_STEPS = 0.01, 3.7, 5


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("shape", "rows"), [((5, 7), ...), ((5, 2, 3), ...), ((5, 7), np.array([4, 0, 3]))], ids=["matrix", "deep", "rows"]
)
def test_the_compiled_step_is_that_of_the_arrays(shape, rows):
    random = np.random.default_rng(0)
    weights, *moments = random.normal(size=(3, *shape)).astype(np.float32)
    moments = np.abs(np.stack(moments))
    gradient = random.normal(size=weights[rows].shape).astype(np.float32)
    twin, moments_of_twin = weights.copy(), moments.copy()
    twin[rows] -= adam_step(moments_of_twin, rows, gradient / np.float32(DIVISOR), RATE, N_STEPS)
    move_by_adam(weights, moments, rows, gradient, DIVISOR, RATE, N_STEPS)
    assert weights.tobytes() == twin.tobytes() and moments.tobytes() == moments_of_twin.tobytes()
