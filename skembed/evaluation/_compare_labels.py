"""The task of :func:`compare` with labels: texts, labels of some of them, and folds; predict those of each fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_scalar
from sklearn.utils.multiclass import type_of_target

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import as_sentences, check_has_text, iter_texts, take_rows
from .._text.sources import wrong_row
from .._validation.columns import (
    Labels,
    Matrix,
    Sentences,
    as_labels,
    as_matrix,
    check_same_length,
    is_sparse,
    listed,
    one_column,
)
from .._validation.messages import brief, warn_at_user
from .._validation.targets import check_length, split_labels
from ._comparison import Run, Task, megabytes
from ._semantic import Splits, check_folds
from ._standard import SIMPLE, Method, OwnText, classifier_for, standard_methods, with_own_text

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows to learn from, rows to test
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


def as_texts(X: Sentences, name: str) -> list[str]:
    """Return texts as strings; a corpus as its words joined by spaces."""
    sentences = as_sentences(X, name)
    if isinstance(sentences, SentenceCorpus):
        return list(iter_texts(sentences))
    for row, text in enumerate(sentences):
        if not isinstance(text, str):
            raise wrong_row(row, text)
    if not sentences:
        raise ValueError(f"{name} has no text.")
    return sentences


def as_own_texts(corpus: Sentences | None, X: Sentences) -> list[str]:
    """Return own text as strings, whose words are those of `X`: stems beside words of raw text would have no match."""
    if corpus is None:
        return []
    made = {name: given for name, given in {"corpus": corpus, "X": X}.items() if isinstance(given, SentenceCorpus)}
    if len(made) < 2 or made["X"].tokenizer.difference(made["corpus"].tokenizer):
        for name, given in made.items():
            check_has_text(given, name)
    return as_texts(corpus, "corpus")


def read_labels(y: Labels, n_texts: int) -> tuple[np.ndarray, NDArray[np.bool_], str]:
    """Return the labels of the rows that have one, which rows these are, and the kind of target."""
    check_length(y, n_texts, "X")
    y = one_column(y)
    if is_sparse(y) or len(getattr(y, "shape", ())) > 1:
        table = as_matrix(y, "y")
        labels = table.toarray() if is_sparse(table) else table
        has_label = np.ones(n_texts, bool)
    else:
        labels, has_label = split_labels(y)
    check_length(has_label, n_texts, "X")
    if not len(labels):
        raise ValueError("y has no label. Pass y=None to compare without labels.")
    kind = type_of_target(labels)
    if kind not in ("binary", "multiclass", "continuous", "multilabel-indicator"):
        raise ValueError(
            f"y must be classes, numbers, or several labels of a row in indicator form, as "
            f"sklearn.preprocessing.MultiLabelBinarizer makes; got {brief(y)}, which is {kind}."
        )
    found = np.unique(labels).tolist()
    if kind == "multilabel-indicator":
        if not set(found) <= {0, 1}:
            raise ValueError(f"y must have 0 and 1 in each column, got {found[0]} and {found[-1]}.")
        return labels.astype(np.int64), has_label, kind
    if len(found) < 2:
        raise ValueError(f"y must have two labels or more, got only {brief(found[0], 40)}.")
    return labels, has_label, kind


def read_groups(groups: Labels, n_texts: int) -> NDArray[np.int64] | None:
    """Return the number of the group of each row."""
    if groups is None:
        return None
    numbers = np.unique(as_labels(groups, "groups"), return_inverse=True)[1]
    check_same_length({"X": range(n_texts), "groups": numbers})
    return numbers


def labelled_folds(cv: Splits, y: np.ndarray, groups: NDArray[np.int64] | None, kind: str, seed: int) -> list[Fold]:
    """Split the rows, stratified by class and never within a group; with an own splitter, as that does."""
    classes = kind in ("binary", "multiclass")
    splitter: BaseCrossValidator
    if hasattr(cv, "split") or np.iterable(cv):
        splitter = check_cv(cv, y, classifier=classes)
    else:
        n_folds = n_of_folds(cv, len(y), f"y has {len(y)} labels")
        if groups is not None:
            n_groups = len(np.unique(groups))
            n_folds = n_of_folds(n_folds, n_groups, f"groups has {n_groups} groups with labels")
        if classes:
            _, sizes = np.unique(y, return_counts=True)
            n_folds = n_of_folds(n_folds, int(sizes.max()), f"the largest class has {sizes.max()} rows")
        shuffled: dict[str, int] = {"n_splits": n_folds, "shuffle": True, "random_state": seed}
        if groups is None:
            splitter = StratifiedKFold(**shuffled) if classes else KFold(**shuffled)
        else:
            splitter = StratifiedGroupKFold(**shuffled) if classes else GroupKFold(**shuffled)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)  # said below, if it matters
        folds = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(np.zeros(len(y)), y, groups)]
    check_folds(folds, len(y))
    if classes:
        _check_classes(y, folds)
    return folds


def n_of_folds(cv: Any, most: int, because: str) -> int:
    """Return the number of folds, at most as many as there is material for."""
    check_scalar(cv, "cv", Integral, min_val=2)
    if most < 2:
        raise ValueError(f"Two folds need more: {because}.")
    if most < cv:
        warn_at_user(f"There are {most} folds instead of {cv}, because {because}.")
    return min(int(cv), most)


def _check_classes(y: np.ndarray, folds: Sequence[Fold]) -> None:
    for place, (train, _) in enumerate(folds):
        if len(found := np.unique(y[train])) < 2:
            raise ValueError(
                f"The training rows of fold {place} have only the class {brief(found.tolist()[0], 40)}. Pass rows, or "
                "groups, of more classes."
            )
    names, sizes = np.unique(y, return_counts=True)
    if (sizes == 1).any():
        warn_at_user(
            f"Classes with one row, which no model can predict: {listed(names[sizes == 1].tolist())}. Set these labels "
            "to None, to keep the rows as own text."
        )


def warn_of_repeated(texts: Sequence[str], folds: Sequence[Fold]) -> None:
    """Warn of texts in a test fold that are in its training folds too, up to case and spaces."""
    keys = [" ".join(text.lower().split()) for text in texts]
    n_repeated = 0
    for train, test in folds:
        known = {keys[row] for row in train.tolist()}
        n_repeated += sum(keys[row] in known for row in test.tolist())
    if n_repeated:
        warn_at_user(
            f"{n_repeated} of {len(texts)} texts are both in a test fold and in its training folds, so the scores are "
            "too high if new texts will not repeat old ones. Drop repeated rows, or pass groups that keep them in one "
            "fold, such as groups=X."
        )
