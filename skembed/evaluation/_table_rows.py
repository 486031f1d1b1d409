"""The fields of the rows that functions of this package return."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class SetScore(TypedDict):
    """A row of :func:`sts_scores`."""

    year: str
    set: str
    n_pairs: int
    n_unknown: int
    pearson: float
    spearman: float


class Interval(TypedDict):
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


class MeanInterval(Interval):
    """A row of :func:`sts_intervals`; the last two fields are there with a baseline."""

    method: str
    baseline: NotRequired[str]
    share_above: NotRequired[float]


class SetComparison(TypedDict):
    """A row of :func:`sts_comparison`."""

    year: str
    set: str
    n_pairs: int
    statistic: float
    p: float
    difference: float


class SickScore(TypedDict):
    """A row of :func:`sick_scores`."""

    set: str
    n_pairs: int
    n_unknown: int
    pearson: float
    spearman: float


class SickResult(TypedDict):
    """What :func:`sick_relatedness` returns."""

    set: str
    n_pairs: int
    pearson: float
    spearman: float
    mse: float
    alpha: float
