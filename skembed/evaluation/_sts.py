"""Semantic textual similarity: correlations, intervals, and the test between two models."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
from scipy.stats import wilcoxon
from sklearn.utils import Bunch, check_random_state

from .._validation.columns import Labelled, as_labels, as_named, check_same_length, describe, listed
from .._validation.messages import brief
from .._validation.values import RandomState
from ..metrics import pearson_score, spearman_score
from ._pairs import Model, cosines_of_pairs, scored_pairs

__all__ = ["sts_comparison", "sts_intervals", "sts_scores", "sts_similarities"]

N_DRAWS = 2000  # of pairs, or of queries, for the intervals
NamedSets: TypeAlias = Mapping[Any, Labelled] | Sequence[tuple[str, Labelled]]
Similarities: TypeAlias = Sequence[Mapping[str, Any]]  # what `sts_similarities` returns


class Score(TypedDict):
    """A row of :func:`sick_scores`."""

    set: str
    n_pairs: int
    n_unknown: int
    pearson: float
    spearman: float


class SetScore(Score):
    """A row of :func:`sts_scores`."""

    year: str


class Interval(TypedDict):
    """A mean and the ends of its interval."""

    mean: float
    low: float
    high: float


class MeanInterval(Interval):
    """A row of :func:`sts_intervals`."""

    method: str


class SetComparison(TypedDict):
    """A row of :func:`sts_comparison`."""

    year: str
    set: str
    n_pairs: int
    statistic: float
    p: float
    difference: float


def sts_similarities(model: Model, sets: NamedSets) -> list[Bunch]:
    r"""Cosine of the two sentences of each pair, set by set.

    The other functions of this page take these, so that a model embeds each sentence once.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator, or anything else that makes rows of sentences, dense or sparse.
    sets : mapping of a year, or another name, to Bunch; or (name, Bunch) tuples
        Pairs as :func:`~skembed.datasets.fetch_sts` returns them: `data`, a list of two sentences each; `target`, what
        people say; and where it has subsets `subset`, the name of the subset of each pair. Other forms as in
        :func:`pair_classification`.

    Returns
    -------
    similarities : list of :class:`~sklearn.utils.Bunch`
        One a subset, with `year`, `set`, `cosine` and `target` (ndarray of shape (n_pairs,), float64) and `n_unknown`,
        the pairs with a sentence whose vector is zero, because it has no known word. Their cosine is 0.

    Raises
    ------
    TypeError
        If `sets` is no mapping of names to pairs, for instance the pairs of one year without the year.
    ValueError
        If `data`, `target` and `subset` differ in length, a field is missing, or a score is not finite.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.utils import Bunch
    >>> from skembed.evaluation import sts_similarities
    >>> pairs = Bunch(
    ...     data=[("a cat", "the cat"), ("a cat", "a cat"), ("a dog", "?")],
    ...     target=[4.0, 5.0, 0.0],
    ... )
    >>> model = CountVectorizer(token_pattern=r"\w+").fit(["a cat", "the dog"])
    >>> [similarity] = sts_similarities(model, {"mine": pairs})
    >>> similarity.cosine.round(2), similarity.n_unknown
    (array([0.5, 1. , 0. ]), 1)
    """
    years, parts = as_named(sets, "sets")
    if years is None or "target" in years:  # one Bunch or table: its names are fields
        raise TypeError(
            "sets must be a mapping of a year, or another name, to pairs, such as {2012: fetch_sts(year=2012)}; got "
            + (f"{describe(sets)}." if years is None else "the pairs without a name.")
        )
    similarities = []
    for year, part in zip(years, parts):
        pairs = scored_pairs(part, year, optional=("subset",))
        subset = as_labels(pairs.get("subset", [year] * len(pairs.target)), f"subset of {year}")
        check_same_length({"data": pairs.data, "subset": subset}, of=year)
        cosine, unknown = cosines_of_pairs(model, pairs.data)
        for name in dict.fromkeys(subset.tolist()):
            rows = subset == name
            found = {"cosine": cosine[rows], "target": pairs.target[rows], "n_unknown": int(unknown[rows].sum())}
            similarities.append(Bunch(year=year, set=str(name), **found))
    return similarities


def score_of(name: str, cosine: np.ndarray, target: np.ndarray, n_unknown: int) -> Score:
    """Return the correlations of one set."""
    return {
        "set": name,
        "n_pairs": len(target),
        "n_unknown": n_unknown,
        "pearson": pearson_score(target, cosine),
        "spearman": spearman_score(target, cosine),
    }


def sts_scores(similarities: Similarities) -> list[SetScore]:
    """Correlate cosines with what people say: per set, per year and over all sets.

    The sets of a year are joined in two ways: "mean" is the plain mean, as in the papers of CBOS and of Siamese CBOW;
    "weighted mean" weights each set by its number of pairs, as the SemEval tasks do.

    Parameters
    ----------
    similarities : list of :class:`~sklearn.utils.Bunch` or dict
        From :func:`sts_similarities`.

    Returns
    -------
    rows : list of dict
        For each set, then for each year and for all, `year`, `set`, `n_pairs`, `n_unknown`, `pearson` and `spearman`.
        A :class:`pandas.DataFrame` takes it as it is.

    Raises
    ------
    ValueError
        If there are no similarities, or a set has fewer than two pairs.

    Examples
    --------
    >>> from skembed.evaluation import sts_scores
    >>> sets = [
    ...     {"year": 2012, "set": name, "cosine": cosine, "target": target, "n_unknown": 0}
    ...     for name, cosine, target in (
    ...         ("a", [0.1, 0.2, 0.3], [1, 2, 3]), ("b", [0.5, 0.5], [1, 2])
    ...     )
    ... ]
    >>> for row in sts_scores(sets)[:4]:
    ...     print(row["year"], row["set"], row["n_pairs"], round(row["pearson"], 2))
    2012 a 3 1.0
    2012 b 2 0.0
    2012 mean 5 0.5
    2012 weighted mean 5 0.6
    """
    if not similarities:
        raise ValueError("similarities is empty: there is no set to score. Pass what sts_similarities returns.")
    sets: list[SetScore] = [
        {"year": s["year"], **score_of(s["set"], s["cosine"], s["target"], s["n_unknown"])} for s in similarities
    ]
    return sets + sts_means(sets)


def sts_means(sets: Sequence[SetScore]) -> list[SetScore]:
    """Rows of the means, of rows of single sets."""
    rows: list[SetScore] = []
    for year in [*dict.fromkeys(row["year"] for row in sets), "all"]:
        chosen = [row for row in sets if year in ("all", row["year"])]
        n_pairs = np.array([row["n_pairs"] for row in chosen])
        for name, weights in (("mean", np.ones(len(chosen))), ("weighted mean", n_pairs)):
            of_all: SetScore = {
                "year": year,
                "set": name,
                "n_pairs": int(n_pairs.sum()),
                "n_unknown": sum(row["n_unknown"] for row in chosen),
                "pearson": float(np.average([row["pearson"] for row in chosen], weights=weights)),
                "spearman": float(np.average([row["spearman"] for row in chosen], weights=weights)),
            }
            rows.append(of_all)
    return rows


def sts_intervals(
    models: Mapping[str, Similarities], *, baseline: str | None = None, random_state: RandomState = 0
) -> list[MeanInterval]:
    """Bootstrap intervals of the mean Pearson correlation over the sets, which hold 95 % of 2,000 draws.

    Pairs are drawn with replacement within each set, the same for all models, so the interval of a difference is much
    narrower than the two single intervals suggest. The intervals hold for other pairs from the same sets, not for other
    sets or another seed of the training.

    Parameters
    ----------
    models : mapping of name to similarities
        From :func:`sts_similarities`, of the same pairs for each model.
    baseline : str, default=None
        One of the names. If given, the intervals are those of the difference from that model.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws.

    Returns
    -------
    rows : list of dict
        `method`, `mean`, `low` and `high`.

    Raises
    ------
    ValueError
        If the models were not compared on the same pairs, or there is no model or no set.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed.evaluation import sts_intervals
    >>> target = np.arange(50.0)
    >>> noise = np.random.default_rng(0).normal(size=50)
    >>> good, poor = target + noise, target + 40 * noise
    >>> models = {
    ...     name: [{"year": 2012, "set": "a", "cosine": cosine, "target": target}]
    ...     for name, cosine in (("good", good), ("poor", poor))
    ... }
    >>> [row] = sts_intervals(models, baseline="poor")
    >>> row["method"], row["low"] > 0
    ('good', True)
    """
    _check_same_pairs(models)
    if baseline is not None and baseline not in models:
        raise ValueError(f"baseline={brief(baseline)} is not one of the models {listed(models)}.")
    means, draws = bootstrap_means(models, N_DRAWS, random_state)
    if baseline is not None:
        means = {name: means[name] - means[baseline] for name in models if name != baseline}
        draws = {name: draws[name] - draws[baseline] for name in means}
    return [{"method": name, **interval(means[name], draws[name])} for name in means]


def interval(mean: float, draws: np.ndarray) -> Interval:
    """A mean and the ends of the interval that holds 95 % of the draws."""
    low, high = np.quantile(draws, [0.025, 0.975])
    return {"mean": float(mean), "low": float(low), "high": float(high)}


def sts_comparison(a: Similarities, b: Similarities) -> list[SetComparison]:
    """Wilcoxon signed-rank test between the cosines of two models, set by set.

    This is the test of Kenter et al. [1]_, section 3.3, who call runs different if p < 0.0001. A small p says that the
    cosines of one model tend to be higher, not that it is better: for "better", see :func:`sts_intervals`.

    Parameters
    ----------
    a, b : list of :class:`~sklearn.utils.Bunch` or dict
        From :func:`sts_similarities`, of the same pairs.

    Returns
    -------
    rows : list of dict
        For each set `year`, `set`, `n_pairs`, `statistic`, `p` (1 where all cosines are equal), and `difference`, the
        Pearson correlation of `a` minus that of `b`.

    Raises
    ------
    ValueError
        If the models were not compared on the same pairs, or there is no set.

    References
    ----------
    .. [1] T. Kenter, A. Borisov and M. de Rijke, "Siamese CBOW: Optimizing Word Embeddings for Sentence
       Representations", ACL 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed.evaluation import sts_comparison
    >>> target, cosine = np.arange(20.0), np.linspace(0.1, 1, 20)
    >>> a = [{"year": 2012, "set": "x", "cosine": cosine, "target": target}]
    >>> b = [{"year": 2012, "set": "x", "cosine": cosine / 2, "target": target}]
    >>> [row] = sts_comparison(a, b)
    >>> row["p"] < 0.0001, abs(round(row["difference"], 6))  # other scores, the same quality
    (True, 0.0)
    """
    _check_same_pairs({"a": a, "b": b})
    rows: list[SetComparison] = []
    for s, t in zip(a, b):
        with warnings.catch_warnings():
            # SciPy before 1.13 warns where it approximates.
            warnings.filterwarnings("ignore", "Exact p-value|Sample size too small")
            equal = np.array_equal(s["cosine"], t["cosine"])
            statistic, p = (0.0, 1.0) if equal else wilcoxon(s["cosine"], t["cosine"])
        rows.append(
            {
                "year": s["year"],
                "set": s["set"],
                "n_pairs": len(s["target"]),
                "statistic": float(statistic),
                "p": float(p),
                "difference": pearson_score(s["target"], s["cosine"]) - pearson_score(t["target"], t["cosine"]),
            }
        )
    return rows


def _check_same_pairs(models: Mapping[str, Similarities]) -> None:
    if not isinstance(models, Mapping):
        raise TypeError(f"models must be a mapping of names to similarities, got {describe(models)}.")
    (name, first), *others = models.items() or [("", [])]
    if not first:
        raise ValueError("There are no similarities to compare: give each model what sts_similarities returned for it.")
    for other, sets in others:
        if [(s["year"], s["set"]) for s in first] != [(s["year"], s["set"]) for s in sets] or any(
            not np.array_equal(s["target"], t["target"]) for s, t in zip(first, sets)
        ):
            raise ValueError(f"The models {brief(name)} and {brief(other)} were not compared on the same pairs.")


def bootstrap_means(
    models: Mapping[str, Similarities], n_resamples: int, random_state: RandomState
) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Mean correlation over the sets, of all pairs and of each draw, by model; a draw is how often each pair counts."""
    generator = check_random_state(random_state)
    draws = {name: np.zeros(n_resamples) for name in models}
    for sets in zip(*models.values()):
        y = sets[0]["target"] - np.mean(sets[0]["target"])
        n = len(y)
        counts = generator.multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(np.float64)
        for name, similarity in zip(models, sets):
            x = similarity["cosine"] - np.mean(similarity["cosine"])
            sum_x, sum_y, sum_xy, sum_xx, sum_yy = (counts @ np.column_stack([x, y, x * y, x * x, y * y])).T / n
            variance_x, variance_y = sum_xx - sum_x**2, sum_yy - sum_y**2
            # A draw that repeats one pair has no variance; rounding errors would give it a correlation.
            varies = (variance_x > 1e-12 * sum_xx) & (variance_y > 1e-12 * sum_yy)
            root = np.sqrt(np.where(varies, variance_x * variance_y, 1.0))
            covariance = np.where(varies, sum_xy - sum_x * sum_y, 0.0)
            draws[name] += covariance / root / len(models[name])
    means = {
        name: float(np.mean([pearson_score(s["target"], s["cosine"]) for s in sets])) for name, sets in models.items()
    }
    return means, draws
