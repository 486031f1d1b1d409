"""SICK relatedness, without and with training on its pairs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TypedDict

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning

from .._validation.columns import Labelled, as_scores
from .._validation.values import RandomState
from ..metrics import pearson_score, spearman_score
from ._pairs import Model, cosines_of_pairs, embed_pairs, pair_features, scored_pairs
from ._relatedness import RelatednessRegressor
from ._sts import Score, score_of

__all__ = ["sick_relatedness", "sick_scores"]


class SickResult(TypedDict):
    """What :func:`sick_relatedness` returns."""

    set: str
    n_pairs: int
    pearson: float
    spearman: float
    mse: float
    alpha: float


def sick_scores(model: Model, **subsets: Labelled) -> list[Score]:
    r"""Correlate the cosine of two sentences with their relatedness, without training on the pairs.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator, or anything else that makes rows of sentences.
    **subsets : Bunch, mapping, data frame or (data, target) tuple
        Pairs by name, such as ``test=fetch_sick(subset="test")``, with the fields `data` and `target`, in the forms
        that :func:`pair_classification` accepts. If `train` and `test` are given, a row for both together is added,
        as in the table of [1]_.

    Returns
    -------
    rows : list of dict
        `set`, `n_pairs`, `n_unknown` (pairs with a sentence without a known word), `pearson` and `spearman`.

    Raises
    ------
    ValueError
        If `data` and `target` differ in length, one is missing, a score is not finite, or there are fewer than two
        pairs.

    References
    ----------
    .. [1] M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional
       n-Gram Features", NAACL 2018.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.utils import Bunch
    >>> from skembed.evaluation import sick_scores
    >>> test = Bunch(
    ...     data=[("a cat", "a cat"), ("a cat", "the cat"), ("a cat", "no dog")],
    ...     target=[5.0, 4.0, 1.0],
    ... )
    >>> model = CountVectorizer(token_pattern=r"\w+").fit(["a cat", "the dog"])
    >>> [row] = sick_scores(model, test=test)
    >>> row["set"], row["spearman"]
    ('test', 1.0)
    """
    found: dict[str, tuple[np.ndarray, ...]] = {}
    for name, subset in subsets.items():
        pairs = scored_pairs(subset, name)
        found[name] = (*cosines_of_pairs(model, pairs.data), pairs.target)
    if {"train", "test"} <= set(found):
        found["test + train"] = tuple(map(np.concatenate, zip(found["test"], found["train"])))
    return [score_of(name, cosine, target, int(unknown.sum())) for name, (cosine, unknown, target) in found.items()]


def sick_relatedness(
    model: Model,
    train: Labelled,
    trial: Labelled,
    test: Labelled,
    *,
    alphas: Iterable[float] = (1e-2, 3e-3, 1e-3, 3e-4),
    random_state: RandomState = 0,
) -> SickResult:
    """Learn relatedness from the training pairs of SICK.

    A :class:`RelatednessRegressor` of the grades 1 to 5 learns in 200 iterations; its penalty is the one with the best
    Pearson correlation on the trial pairs ([1]_, section 4.2). The sentence vectors stay as they are; the paper trains
    them too.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator, or anything else that makes dense rows of sentences.
    train, trial, test : Bunch, mapping, data frame or (data, target) tuple
        Pairs from :func:`~skembed.datasets.fetch_sick`, or in the forms that :func:`pair_classification` accepts.
    alphas : sequence of float, default=(1e-2, 3e-3, 1e-3, 3e-4)
        Penalties to choose from.
    random_state : int, RandomState instance or None, default=0
        Seed of the head.

    Returns
    -------
    row : dict
        `set`, `n_pairs`, `pearson`, `spearman`, `mse` (mean squared error) and `alpha`, the chosen penalty.

    Raises
    ------
    TypeError
        If the rows are sparse: with one column per word they are too wide for the hidden layer.
    ValueError
        As :func:`sick_scores`, and if `alphas` is empty.

    References
    ----------
    .. [1] X. Jiao, F. Wang and D. Feng, "Convolutional Neural Network for Universal Sentence Embeddings", COLING 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.utils import Bunch
    >>> from skembed import MeanEmbeddingVectorizer
    >>> from skembed.evaluation import sick_relatedness
    >>> words = "red green blue pink grey black white brown".split()
    >>> pairs = Bunch(
    ...     data=[(f"{a} {b}", f"{a} {c}") for a in words for b in words for c in words]
    ... )
    >>> pairs.target = [
    ...     5.0 if len(set(a.split() + b.split())) < 3 else 1.0 for a, b in pairs.data
    ... ]
    >>> model = MeanEmbeddingVectorizer(word_vectors=dict(zip(words, np.eye(8)))).fit(words)
    >>> row = sick_relatedness(model, pairs, pairs, pairs, alphas=[1e-3])
    >>> row["pearson"] > 0.9, row["mse"] < 1.0
    (True, True)
    """
    penalties = as_scores(alphas, "alphas").tolist()
    parts = [scored_pairs(part, name) for name, part in (("train", train), ("trial", trial), ("test", test))]
    features = [pair_features(*embed_pairs(model, pairs.data)) for pairs in parts]
    if issparse(features[0]):
        raise TypeError(f"sick_relatedness needs dense rows, {type(model).__name__}.transform gives sparse ones.")
    targets = [pairs.target for pairs in parts]
    if not penalties:
        raise ValueError("alphas is empty.")
    heads = []
    for alpha in penalties:
        head = RelatednessRegressor(grades=[1, 2, 3, 4, 5], alpha=alpha, max_iter=200, random_state=random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # stopping early is meant
            heads.append(head.fit(features[0], targets[0]))
    best = max(heads, key=lambda head: pearson_score(targets[1], head.predict(features[1])))
    predicted = best.predict(features[2])
    return {
        "set": "test",
        "n_pairs": len(predicted),
        "pearson": pearson_score(targets[2], predicted),
        "spearman": spearman_score(targets[2], predicted),
        "mse": float(np.mean((predicted - targets[2]) ** 2)),
        "alpha": float(best.alpha),
    }
