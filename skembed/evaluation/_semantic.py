"""Semantic classification: find the paraphrase group of a sentence (White et al., 2015)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from .._corpus.input import sentences_for, take_rows
from .._validation.columns import Labels, Rows, Sentences, Table, as_labels, as_named, check_one_kind, check_same_length
from ._pairs import Model, embed

__all__ = ["error_agreement", "semantic_classification"]


Splits: TypeAlias = int | BaseCrossValidator | Iterable[tuple[np.ndarray, np.ndarray]]


def is_fitted(model: object) -> bool:
    """Whether a model is fitted; an object that is not a scikit-learn estimator counts as fitted."""
    if not isinstance(model, BaseEstimator):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def semantic_classification(
    model: Model, X: Sentences, y: Labels, *, classifier: BaseEstimator | None = None, cv: Splits = 3
) -> Bunch:
    """Classify sentences into groups of the same meaning, as White et al. do.

    A linear support vector machine with class weights, in stratified cross-validation ([1]_, section 3.3).

    Parameters
    ----------
    model : estimator
        If it is fitted, it is used as it is. If not, a clone learns from the training folds.
    X : iterable of str, or SentenceCorpus, of length n_sentences
        Sentences: a list, an array, a pandas or polars Series, an Arrow array or a generator. A model of another
        package gets the sentences of a corpus as their words, joined by spaces.
    y : array-like of shape (n_sentences,)
        Group of each: numbers, or strings.
    classifier : estimator, default=None
        None is ``LinearSVC(class_weight="balanced", C=1.0, random_state=0)``; the paper names no penalty.
    cv : int, cross-validation generator or iterable of (train, test), default=3
        Number of stratified folds, not shuffled, or how to split; each sentence must be in one test fold.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        accuracy : float
            Mean over the folds.
        fold_accuracies : ndarray of shape (n_folds,)
            Accuracy in each fold.
        predictions : ndarray of shape (n_sentences,)
            The group that each sentence was put into when it was in the test fold.
        errors : ndarray of shape (n_sentences,), dtype bool
            Where the prediction is wrong.

    Raises
    ------
    ValueError
        If `X` and `y` differ in length, a label is missing, or a sentence is in no test fold or in more than one.
    TypeError
        If a sentence is missing, or `y` mixes numbers and strings.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> from skembed.datasets import load_paraphrase_groups
    >>> from skembed.evaluation import semantic_classification
    >>> X, y = load_paraphrase_groups(return_X_y=True)
    >>> result = semantic_classification(BOWPCA(n_components=None), X, y)
    >>> bool(0.4 < result.accuracy < 0.9)
    True
    """
    X, y = sentences_for(model, X), as_labels(y, "y")
    check_same_length({"X": X, "y": y})
    if classifier is None:
        classifier = LinearSVC(class_weight="balanced", C=1.0, random_state=0)
    folds = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))
    check_folds(folds, len(y))
    fitted = is_fitted(model)
    vectors = embed(model, X) if fitted else None
    predictions = np.empty_like(y)
    accuracies = []
    for train, test in folds:
        if vectors is not None:
            predicted = clone(classifier).fit(vectors[train], y[train]).predict(vectors[test])
        else:
            pipeline = make_pipeline(clone(model), clone(classifier))
            predicted = pipeline.fit(take_rows(X, train), y[train]).predict(take_rows(X, test))
        predictions[test] = predicted
        accuracies.append(float(np.mean(predicted == y[test])))
    return Bunch(
        accuracy=float(np.mean(accuracies)),
        fold_accuracies=np.array(accuracies),
        predictions=predictions,
        errors=predictions != y,
    )


def check_folds(folds: Sequence[tuple[np.ndarray, np.ndarray]], n_sentences: int) -> None:
    """Check that each sentence is in one test fold; a prediction that no fold makes would be uninitialised memory."""
    times = np.zeros(n_sentences, np.int64)
    for _, test in folds:
        np.add.at(times, test, 1)
    if not (times == 1).all():
        raise ValueError(
            f"cv must put each sentence into exactly one test fold, as StratifiedKFold does. Of {n_sentences} "
            f"sentences {np.count_nonzero(times == 0)} are in none and {np.count_nonzero(times > 1)} in more than one."
        )


def error_agreement(y_true: Labels, predictions: Table | Sequence[tuple[str, Labels]] | Rows) -> Bunch:
    r"""Count, among the sentences that two models both get wrong, those with the same wrong answer.

    An estimate of :math:`P(m_1(x) = m_2(x) \mid m_1(x) \neq y \wedge m_2(x) \neq y)` for each pair of models, figure 4
    of [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The truth.
    predictions : mapping of name to array-like, data frame, or array-like of shape (n_models, n_samples)
        Predictions of each model: a mapping, a data frame with one column per model, (name, answers) tuples, or rows
        without names.

    Returns
    -------
    agreement : :class:`~sklearn.utils.Bunch`
        names : list of str
            The models.
        n_errors : ndarray of shape (n_models,), dtype int64
            Mistakes of each.
        n_compared : ndarray of shape (n_models, n_models), dtype int64
            Sentences that both get wrong, the denominator.
        n_shared : ndarray of shape (n_models, n_models), dtype int64
            Those for which both give the same answer, the numerator.
        agreement : ndarray of shape (n_models, n_models), dtype float64
            The fraction; 0 where no sentence is wrong in both.

    Raises
    ------
    ValueError
        If the number of predictions of a model is not n_samples, or a label is missing.
    TypeError
        If the predictions of a model are strings and `y_true` is numbers, or the other way round.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed.evaluation import error_agreement
    >>> result = error_agreement([0, 0, 2, 0], {"a": [0, 1, 1, 2], "b": [0, 1, 0, 2]})
    >>> result.n_compared.tolist(), result.n_shared.tolist()
    ([[3, 3], [3, 3]], [[3, 2], [2, 3]])
    """
    names, answers = as_named(predictions, "predictions")
    names = [f"model {i}" for i in range(len(answers))] if names is None else names
    truth = as_labels(y_true, "y_true")
    rows = [as_labels(row, f"predictions of {name}") for name, row in zip(names, answers)]
    for name, row in zip(names, rows):
        both = {"y_true": truth, f"predictions of {name}": row}
        check_same_length(both)
        check_one_kind(both)
    said = np.array(rows).reshape(len(rows), len(truth))
    wrong = said != truth
    both = wrong[:, None] & wrong[None]
    n_compared = both.sum(axis=2)
    n_shared = (both & (said[:, None] == said[None])).sum(axis=2)
    agreement = np.divide(n_shared, n_compared, out=np.zeros(n_compared.shape), where=n_compared > 0)
    return Bunch(names=names, n_errors=wrong.sum(axis=1), n_compared=n_compared, n_shared=n_shared, agreement=agreement)
