"""The task of :func:`compare` with labels: to predict those of each fold from the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import take_rows
from .._validation.columns import Labels, Matrix, Sentences, is_sparse
from ._compare_input import Fold, as_own_texts, as_texts, labelled_folds, read_groups, read_labels, warn_of_repeated
from ._comparison import Run, Task, megabytes
from ._semantic import Splits
from ._standard import SIMPLE, Method, OwnText, classifier_for, standard_methods, with_own_text

_MEASURES = {"binary": "accuracy", "multiclass": "accuracy", "continuous": "R2", "multilabel-indicator": "F1"}

Scoring: TypeAlias = str | Callable[..., float] | None


def label_task(
    X: Sentences,
    y: Labels,
    corpus: Sentences | None,
    groups: Labels,
    given: Mapping[str, BaseEstimator],
    classifier: BaseEstimator | None,
    cv: Splits,
    scoring: Scoring,
    seed: int,
) -> Task[Fold]:
    """Read texts and labels, and split the rows that have one."""
    texts = as_texts(X, "X")
    labels, has_label, kind = read_labels(y, len(texts))
    labelled, unlabelled = np.flatnonzero(has_label), np.flatnonzero(~has_label)
    own = OwnText(
        [*as_own_texts(corpus, X), *take_rows(texts, unlabelled)],
        corpus if isinstance(corpus, SentenceCorpus) else None,
    )
    groups = read_groups(groups, len(texts))
    groups = None if groups is None else groups[labelled]
    texts = take_rows(texts, labelled)
    folds = labelled_folds(cv, labels, groups, kind, seed)
    warn_of_repeated(texts, folds)
    classifier = classifier_for(kind, classifier, seed)
    methods = standard_methods(own, "" if kind == "continuous" else "labels", seed)
    methods |= {name: Method(with_own_text(estimator, own), is_given=True) for name, estimator in given.items()}
    variance = float(np.var(labels)) if kind == "continuous" else None
    judge = partial(_score_rows, kind, variance) if scoring is None else get_scorer(scoring)
    run = partial(_predict, classifier, texts, labels, judge, scoring is None)
    measure = _MEASURES[kind] if scoring is None else scoring if isinstance(scoring, str) else "score"
    per_cent = " in per cent" if scoring is None else ""
    return Task(
        methods,
        run,
        folds,
        SIMPLE,
        measure=measure,
        about=f"{measure[0].upper()}{measure[1:]}{per_cent}, {len(folds)}-fold cross-validation of {len(texts):,} rows "
        f"with {type(classifier).__name__}.",
        units=None if groups is None or scoring is not None else groups[np.concatenate([test for _, test in folds])],
        what=f"{len(texts):,} rows",
        # Scores of folds hang together, since their training rows are the same in part (Nadeau and Bengio, 2003).
        spread=1.0 if scoring is None else (1 + len(folds) / (len(folds) - 1)) ** 0.5,
    )


def _predict(
    classifier: BaseEstimator,
    texts: list[str],
    y: np.ndarray,
    judge: Callable[..., float | np.ndarray],
    by_row: bool,
    method: Method,
    fold: Fold,
) -> Run:
    """Fit to the training rows, and judge the predictions for the test rows."""
    (train, test), (X, X_test) = fold, (take_rows(texts, rows) for rows in fold)
    start = time.perf_counter()
    model = _fit(method, classifier, X, y[train])
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    seconds = time.perf_counter() - fitted
    values = judge(y[test], predicted) if by_row else judge(model, X_test, y[test])
    return Run(values, fitted - start, 1000 * seconds / len(test), megabytes(model))


def _fit(method: Method, classifier: BaseEstimator, X: list[str], y: np.ndarray) -> BaseEstimator:
    estimator = method.estimator
    if not hasattr(estimator, "fit") or not (hasattr(estimator, "transform") or hasattr(estimator, "predict")):
        raise TypeError(f"{type(estimator).__name__} must have fit, and transform or predict.")
    if not hasattr(estimator, "transform"):
        return clone(estimator).fit(X, y)
    if method.texts:
        estimator = FrozenEstimator(clone(estimator).fit([*method.texts, *X]))
    return make_pipeline(clone(estimator), clone(classifier)).fit(X, y)


def _score_rows(kind: str, variance: float | None, y: np.ndarray, predicted: Matrix) -> NDArray[np.float64]:
    """Scores whose mean over all rows is the accuracy, R2, or the F1 of a row."""
    if variance is not None:
        return 1 - (y - predicted) ** 2 / variance
    if kind == "multilabel-indicator":
        found = predicted.toarray() if is_sparse(predicted) else np.asarray(predicted)
        n_both, n_all = (y * found).sum(axis=1), y.sum(axis=1) + found.sum(axis=1)
        return np.where(n_all == 0, 1.0, 2 * n_both / np.maximum(n_all, 1))
    return (y == predicted).astype(np.float64)
