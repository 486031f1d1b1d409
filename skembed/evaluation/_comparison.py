"""A table of methods on the same rows: scores, leads over the best simple one with intervals, seconds and sizes."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._optional_dependencies import check_matplotlib_support, check_pandas_support

from .._training.dense import ONE_BLAS_THREAD
from .._validation.messages import warn_at_user
from .._validation.values import RandomState
from ._standard import Method

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Table = Sequence[Sequence[str]]  # its first row is the header
NEXT_SENTENCE, SECOND_HALF = "next sentence", "second half"
IN_PER_CENT = ("accuracy", "R2", "F1", NEXT_SENTENCE, SECOND_HALF, "ndcg", "recall", "precision", "map", "mrr")
_CONFIDENCE = 0.95
_N_DRAWS = 10_000  # of the joint distribution of the leads

Part = TypeVar("Part")


class Run(NamedTuple):
    """What a method did in one part of a task, or in all: a value for each tested row or part, and what it cost."""

    values: NDArray[np.float64] | Sequence[float] | float
    fit_seconds: float
    seconds_per_1000: float
    megabytes: float | None  # None if it cannot be pickled


class Task(NamedTuple, Generic[Part]):
    """Methods, what they are tried on, and how the result is called."""

    methods: Mapping[str, Method]
    run: Callable[[Method, Part], Run]
    parts: Sequence[Part]  # the folds
    simple: Sequence[str]  # names of methods; the others are compared with the best of them
    measure: str
    about: str
    what: str  # the tested rows, in words
    units: np.ndarray | None = None  # of tested rows; those of one unit are drawn together
    spread: float = 1.0  # what standard errors are multiplied with


@dataclass(repr=False, eq=False)
class Comparison:
    """A table of methods with the lead of each over the best simple one.

    :func:`compare` and :func:`compare_search` make it.

    Attributes
    ----------
    rows : list of dict
        One a method, the best first:

        - `method`: its name;
        - `score`: as `measure` says;
        - `lead`, `low`, `high`: the difference from the score of `reference`, and its interval; None for `reference`;
        - `fit_seconds`: of the fastest fold; with the time to compile, if there is one fit;
        - `seconds_per_1000`: to transform, and with labels predict, 1,000 rows; or to search with 1,000 queries;
        - `megabytes`: size of the pickled model, a million bytes; None if it cannot be pickled.

    reference : str
        The simple method with the highest score, which the others are compared with.
    measure : str
        What `score` is: "accuracy", "R2", "F1", "next sentence", "second half", or as `scoring` or `measure` say.
    about : str
        What was measured, in a sentence.
    sentence : str
        What follows: whether the best of the other methods is ahead of `reference`.
    """

    rows: list[dict[str, Any]]
    reference: str
    measure: str
    about: str
    sentence: str

    def __repr__(self) -> str:
        return f"{self.about}\n\n{markdown(self._table())}\n{self.sentence}"

    def _table(self) -> list[list[str]]:
        header = ["method", self.measure, "lead", "95 % interval", "fit, s", "1,000 rows, s", "size, MB"]
        return [header, *map(self._cells, self.rows)]

    def _cells(self, row: Mapping[str, Any]) -> list[str]:
        show = partial(_shown, measure=self.measure)
        if row["lead"] is None:
            lead = ["", "reference"]
        else:
            lead = [show(row["lead"], sign="+"), " to ".join(show(row[end], sign="+") for end in ("low", "high"))]
        costs = (row["fit_seconds"], row["seconds_per_1000"], row["megabytes"])
        return [row["method"], show(row["score"]), *lead, *("" if cost is None else f"{cost:.2f}" for cost in costs)]

    def to_frame(self) -> DataFrame:
        """Return the rows as a data frame.

        Returns
        -------
        frame : :class:`pandas.DataFrame`
            One row a method, with the columns that `rows` has, and NaN for None.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = check_pandas_support("Comparison.to_frame")
        frame = pandas.DataFrame(self.rows)
        return frame.astype(dict.fromkeys(["lead", "low", "high", "megabytes"], np.float64))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the lead of each method over the reference, with its interval.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to plot on. None makes a new figure.

        Returns
        -------
        ax : matplotlib Axes
            The axes, with the best method on top.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib_support("Comparison.plot")
        import matplotlib.pyplot as plt

        n, show = len(self.rows), partial(_shown, measure=self.measure)
        if ax is None:
            ax = plt.subplots(figsize=(7, 1.2 + 0.4 * n), layout="constrained")[1]
        scale = 100 if _is_in_per_cent(self.measure) else 1
        leads = [[scale * (row[key] or 0.0) for row in self.rows] for key in ("lead", "low", "high")]
        lead, low, high = map(np.array, leads)
        ax.errorbar(lead, range(n), xerr=[lead - low, high - lead], fmt="o", capsize=3)
        ax.axvline(0, color="0.4", linewidth=0.8)
        names = [f"{row['method']}  {show(row['score'])}" for row in self.rows]
        ax.set_yticks(range(n), names, parse_math=False, usetex=False)
        ax.set_ylim(n - 0.5, -0.5)  # the best on top
        ax.grid(axis="x", alpha=0.3)
        unit = "points of " if _is_in_per_cent(self.measure) else ""
        ax.set_xlabel(f"{unit}{self.measure}: lead over {self.reference}", parse_math=False, usetex=False)
        return ax


def make_comparison(task: Task[Part], runs: Mapping[str, Run], random_state: RandomState) -> Comparison:
    """Rank the methods, and compare them with the best of the simple ones."""
    names, simple = list(runs), task.simple
    values = np.column_stack([run.values for run in runs.values()])
    scores = dict(zip(names, values.mean(axis=0).tolist()))
    reference = max((name for name in names if name in simple), key=scores.__getitem__)
    others = [name for name in names if name != reference]
    differences = values[:, [name != reference for name in names]] - values[:, [names.index(reference)]]
    widths = task.spread * joint_half_widths(differences, task.units, random_state)
    leads = {
        name: {"lead": lead, "low": lead - width, "high": lead + width}
        for name, lead, width in zip(others, differences.mean(axis=0).tolist(), widths.tolist())
    }
    no_lead = dict.fromkeys(["lead", "low", "high"])
    rows = [
        {"method": name, "score": scores[name], **leads.get(name, no_lead)}
        | {cost: getattr(runs[name], cost) for cost in Run._fields[1:]}
        for name in sorted(names, key=scores.__getitem__, reverse=True)
    ]
    best = next((row for row in rows if row["method"] not in simple), None)
    if best is None:
        sentence = f"Only simple methods were tried; {reference} is the best."
    else:
        sentence = say(best, reference, task.measure, task.what)
    return Comparison(rows, reference, task.measure, task.about, sentence)


def joint_half_widths(
    differences: NDArray[np.float64], units: np.ndarray | None, random_state: RandomState
) -> NDArray[np.float64]:
    """Half the widths of intervals of the means of all columns, which hold together with probability 0.95.

    The columns are correlated, as all are compared with one method on the same rows. Their t statistics are drawn from
    the joint distribution, and the largest of each draw decides how wide the intervals are.
    """
    n_rows = len(differences)
    units = np.arange(n_rows) if units is None else np.unique(units, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    residuals = np.zeros((n_units, differences.shape[1]))
    np.add.at(residuals, units, differences - differences.mean(axis=0))
    covariance = residuals.T @ residuals * n_units / ((n_units - 1) * n_rows**2)
    errors = np.sqrt(covariance.diagonal())
    scale = np.where(errors > 0, errors, 1.0)
    eigenvalues, directions = np.linalg.eigh(covariance / np.outer(scale, scale))
    random = check_random_state(random_state)
    draws = random.standard_normal((_N_DRAWS, len(errors))) @ (directions * np.sqrt(np.maximum(eigenvalues, 0))).T
    draws /= np.sqrt(random.chisquare(n_units - 1, size=(_N_DRAWS, 1)) / (n_units - 1))
    return np.quantile(np.abs(draws).max(axis=1, initial=0.0), _CONFIDENCE) * errors


def carry_out(task: Task[Part], n_jobs: int | None, seed: int) -> Comparison:
    """Try each method in each part of a task, and compare them."""
    return make_comparison(task, _try_all(task, n_jobs), seed)


def megabytes(model: object) -> float | None:
    """Size of a pickled model; None if it cannot be pickled, such as one with a lambda."""
    try:
        return len(pickle.dumps(model)) / 1e6
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _try_all(task: Task[Part], n_jobs: int | None) -> dict[str, Run]:
    """Run each method in each part; leave out a standard one that fails, with a warning."""
    tried = [(method, part) for method in task.methods.values() for part in task.parts]
    found = iter(Parallel(n_jobs=n_jobs)(delayed(_attempt)(task.run, *each) for each in tried))
    whole, faults = {}, {}
    for name, method in task.methods.items():
        runs = [next(found) for _ in task.parts]
        error = next((run for run in runs if isinstance(run, Exception)), None)
        if error is None:
            whole[name] = _joined(runs)
        elif method.is_given:
            raise ValueError(f"{name} of estimators failed: {error}") from error
        else:
            faults[name] = error
    if not set(whole) & set(task.simple):
        name, error = next(iter(faults.items()))
        raise ValueError(f"No simple method could be fitted. {name} failed: {error}") from error
    for name, error in faults.items():
        warn_at_user(f"{name} is left out, because it failed: {error}")
    return whole


def _attempt(run: Callable[[Method, Part], Run], method: Method, part: Part) -> Run | Exception:
    try:
        with ONE_BLAS_THREAD, warnings.catch_warnings():  # more threads change the rounding
            # Of several labels, one that no training row has is predicted for no row.
            warnings.filterwarnings("ignore", "Label .* is present in all training examples", UserWarning)
            return run(method, part)
    except Exception as error:  # an estimator may raise anything
        return error


def _joined(runs: Sequence[Run]) -> Run:
    sizes = [run.megabytes for run in runs]
    return Run(
        np.hstack([run.values for run in runs]),
        min(run.fit_seconds for run in runs),  # the first may compile
        min(run.seconds_per_1000 for run in runs),
        None if None in sizes else max(size for size in sizes if size is not None),
    )


def say(best: Mapping[str, Any], reference: str, measure: str, what: str) -> str:
    """Say whether the best method is ahead of the reference."""
    show = partial(_shown, measure=measure)
    points = " points" if _is_in_per_cent(measure) else f" of {measure}"
    name, lead, low, high = (best[key] for key in ("method", "lead", "low", "high"))
    interval = f"(95 % interval {show(low)} to {show(high)})"
    if low > 0:
        return f"{name} is {show(lead)}{points} ahead of {reference} {interval}."
    distance = f"{name} is {show(abs(lead))}{points} {'ahead of' if lead >= 0 else 'behind'} {reference} {interval}"
    if high < 0:
        return f"{reference} is ahead of all others: {distance}."
    return (
        f"No difference that matters: {distance}. {what} show only a difference of more than about "
        f"{show((high - low) / 2)}{points}."
    )


def _is_in_per_cent(measure: str) -> bool:
    return measure.partition("@")[0] in IN_PER_CENT


def _shown(value: float, measure: str, sign: str = "-") -> str:
    """Write a score or a difference of scores."""
    if _is_in_per_cent(measure):
        return f"{round(100 * value, 1) + 0.0:{sign}.1f}"  # 0.0 makes -0.0 positive
    return f"{value + 0.0:{sign}.4g}"


def markdown(table: Table) -> str:
    """Write a table in Markdown, its columns aligned."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = [
        "| " + " | ".join(f"{c:{'<' if i == 0 else '>'}{w}}" for i, (c, w) in enumerate(zip(row, widths))) + " |"
        for row in table
    ]
    rule = "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"
