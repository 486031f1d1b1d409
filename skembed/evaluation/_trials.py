"""Methods tried on parts of a task: values of the tested rows, seconds and sizes, and the comparison that they make."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._training.dense import ONE_BLAS_THREAD
from .._validation.messages import warn_at_user
from ._comparison import Comparison, Trial, make_comparison
from ._standard import Method


class Run(NamedTuple):
    """What a method did in one part of a task: a value for each tested row, or one for the part; and what it cost."""

    values: Any
    fit_seconds: float
    seconds_per_1000: float
    megabytes: float | None


class Task(NamedTuple):
    """Methods, what they are tried on, and how the result is called."""

    methods: Mapping[str, Method]
    run: Callable[[Method, Any], Run]
    parts: Sequence[Any]  # the folds
    simple: Sequence[str]  # names of methods; the others are compared with the best of them
    measure: str
    about: str
    what: str  # the tested rows, in words
    units: NDArray[Any] | None = None  # of tested rows; those of one unit are drawn together
    spread: float = 1.0  # what standard errors are multiplied with


def carry_out(task: Task, n_jobs: int | None, seed: int) -> Comparison:
    """Try each method in each part of a task, and compare them."""
    return make_comparison(
        _try_all(task, n_jobs),
        [name for name in task.methods if name in task.simple],
        measure=task.measure,
        about=task.about,
        units=task.units,
        what=task.what,
        spread=task.spread,
        random_state=seed,
    )


def megabytes(model: Any) -> float | None:
    """Size of a pickled model; None if it cannot be pickled, such as one with a lambda."""
    try:
        return len(pickle.dumps(model)) / 1e6
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _try_all(task: Task, n_jobs: int | None) -> dict[str, Trial]:
    """Run each method in each part; leave out a standard one that fails, with a warning."""
    tried = [(method, part) for method in task.methods.values() for part in task.parts]
    found = iter(Parallel(n_jobs=n_jobs)(delayed(_attempt)(task.run, *each) for each in tried))
    trials, faults = {}, {}
    for name, method in task.methods.items():
        runs = [next(found) for _ in task.parts]
        error = next((run for run in runs if isinstance(run, Exception)), None)
        if error is None:
            trials[name] = _joined(runs)
        elif method.is_given:
            raise ValueError(f"{name} of estimators failed: {error}") from error
        else:
            faults[name] = error
    if not set(trials) & set(task.simple):
        name, error = next(iter(faults.items()))
        raise ValueError(f"No simple method could be fitted. {name} failed: {error}") from error
    for name, error in faults.items():
        warn_at_user(f"{name} is left out, because it failed: {error}")
    return trials


def _attempt(run: Callable[[Method, Any], Run], method: Method, part: Any) -> Run | Exception:
    try:
        with ONE_BLAS_THREAD, warnings.catch_warnings():  # more threads change the rounding
            # Of several labels, one that no training row has is predicted for no row.
            warnings.filterwarnings("ignore", "Label .* is present in all training examples", UserWarning)
            return run(method, part)
    except Exception as error:  # an estimator may raise anything
        return error


def _joined(runs: Sequence[Run]) -> Trial:
    sizes = [run.megabytes for run in runs]
    return Trial(
        np.hstack([run.values for run in runs]),
        min(run.fit_seconds for run in runs),  # the first may compile
        min(run.seconds_per_1000 for run in runs),
        None if None in sizes else max(size for size in sizes if size is not None),
    )
