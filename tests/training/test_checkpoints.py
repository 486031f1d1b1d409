"""Fits that were killed go on from a checkpoint, and end with the bits of an unbroken fit."""

import contextlib
import os
from pathlib import Path

import pytest
from estimators import GROUPS, RECURRENT, TEXT, TRAINED, TRAINED_CLASSES, learned, make
from sklearn.base import clone

from skembed._training.checkpoint import Checkpoint

ROOT = Path(__file__).resolve().parents[2]


class Killed(BaseException):
    """Ends a fit as a signal would, but for what the process does at its end."""


@contextlib.contextmanager
def killed_after(n_writes):
    """End a fit after it has written this many checkpoints, the first of which is that of no pass."""
    write, left = Checkpoint.write, [n_writes]

    def write_and_die(self, *args):
        write(self, *args)
        left[0] -= 1
        if not left[0]:
            raise Killed

    Checkpoint.write = write_and_die
    try:
        with pytest.raises(Killed):
            yield
    finally:
        Checkpoint.write = write


def fit(estimator, **options):
    return estimator.fit(TEXT, groups=GROUPS, **options)


def options_of(name, **changes):
    return {key: value for key, value in changes.items() if key in make(name).get_params()}


@pytest.mark.parametrize("name", TRAINED)
def test_a_killed_fit_ends_with_the_same_bits(name, tmp_path):
    options = options_of(name, max_iter=3, n_jobs=1)
    expected = learned(fit(make(name, **options)))
    broken = make(name, **options)
    with killed_after(2):
        fit(broken, checkpoint=tmp_path / "state")
    assert not hasattr(broken, "vocabulary_")
    broken.set_params(n_jobs=2, verbose=0)
    assert learned(fit(broken, checkpoint=tmp_path / "state")) == expected
    after = fit(clone(broken), checkpoint=tmp_path / "state")  # from a finished fit, the model
    assert learned(after) == expected
    assert os.listdir(tmp_path) == ["state"]


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if "early_stopping" in make(name).get_params()])
def test_early_stopping_goes_on(name, tmp_path):
    rate = {"learning_rate": 0.5} if name not in RECURRENT else {}
    options = {"max_iter": 6, "early_stopping": True, "n_iter_no_change": 2, "tol": 0.2, **rate}
    expected = fit(make(name, **options))
    for n_writes in range(1, expected.n_iter_ + 2):
        with killed_after(n_writes):
            fit(make(name, **options), checkpoint=tmp_path / str(n_writes))
        assert learned(fit(make(name, **options), checkpoint=tmp_path / str(n_writes))) == learned(expected)
