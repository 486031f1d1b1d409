"""Sentence vectors as features of a classifier: the downstream tasks of Pagliardini et al. (2018)."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils import Bunch

from .._corpus.input import as_labelled, sentences_for, take_rows
from .._training.dense import ONE_BLAS_THREAD
from .._validation.columns import Labelled, Labels, Matrix, Sentences, as_labels, check_one_kind, check_same_length
from .._validation.messages import brief
from ._pairs import Model, embed, embed_pairs, pair_features
from ._semantic import is_fitted

__all__ = ["nested_classification", "pair_classification", "split_classification"]

# Widely spaced: the length of rows differs by a factor of a hundred between methods.
C_GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_NEWTON_WEIGHTS, _NEWTON_WEIGHTS_OF_TWO = 320, 1001  # up to which Newton's method is the fastest


def nested_classification(
    model: Model, X: Sentences, y: Labels, *, cv: int = 10, inner_cv: int = 10, n_jobs: int | None = None
) -> Bunch:
    """Classify sentences by logistic regression, in nested cross-validation: MR, CR, SUBJ and MPQA.

    The protocol of [1]_: in each outer fold the L2 penalty is chosen by cross-validation within the training folds,
    from ``C`` in 0.01, 0.1, ..., 1000.

    Parameters
    ----------
    model : estimator
        If it is fitted, it is used as it is. If not, a clone learns from the training sentences of each outer fold.
    X : iterable of str, or SentenceCorpus, of length n_sentences
        Sentences, as in :func:`semantic_classification`.
    y : array-like of shape (n_sentences,)
        Labels: numbers, or strings.
    cv : int, default=10
        Number of outer folds, stratified and shuffled with one fixed seed.
    inner_cv : int, default=10
        Number of folds that choose the penalty.
    n_jobs : int, default=None
        Number of processes or threads of the search.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        accuracy : float
            Fraction of correct predictions, of all outer folds.
        f1 : float
            F1 of the larger label where there are two, else the plain mean over the labels.
        C : list of float
            Chosen in each outer fold.
        predictions : ndarray of shape (n_sentences,)
            Predictions for each test fold.

    Raises
    ------
    ValueError
        If `X` and `y` differ in length, a label is missing, or there is one label only or too few sentences of each.
    TypeError
        If a sentence is missing, or `y` mixes numbers and strings.

    References
    ----------
    .. [1] M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional
       n-Gram Features", NAACL 2018.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> from skembed.datasets import load_paraphrase_groups
    >>> from skembed.evaluation import nested_classification
    >>> groups = load_paraphrase_groups()
    >>> is_hotel = [topic == "hotel" for topic in groups.topics]
    >>> result = nested_classification(
    ...     BOWPCA(n_components=None), groups.data, is_hotel, cv=3, inner_cv=3
    ... )
    >>> result.accuracy > 0.8, result.f1 > 0.5
    (True, True)
    """
    X, y = sentences_for(model, X), as_labels(y, "y")
    check_same_length({"X": X, "y": y})
    _check_two_labels(y, "y")
    vectors = embed(model, X) if is_fitted(model) else None
    predictions = np.empty_like(y)
    penalties = []
    for train, test in StratifiedKFold(cv, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        if vectors is not None:
            inside, outside = vectors[train], vectors[test]
        else:
            learned = clone(model).fit(take_rows(X, train))
            inside, outside = embed(learned, take_rows(X, train)), embed(learned, take_rows(X, test))
        search = _penalty_search(inside, y[train], inner_cv, n_jobs)
        predictions[test] = search.predict(outside)
        penalties.append(float(search.best_params_["C"]))
    return _result(y, predictions, penalties, y)


def split_classification(
    model: Model, train: Labelled, test: Labelled, *, inner_cv: int = 10, n_jobs: int | None = None
) -> Bunch:
    """Classify sentences by logistic regression, on a published split: TREC. Else as :func:`nested_classification`.

    Parameters
    ----------
    model : estimator
        If it is not fitted, a clone learns from the training sentences.
    train, test : Bunch, mapping, data frame or (data, target) tuple
        Sentences as `data` and their labels as `target`, for example from :func:`~skembed.datasets.fetch_trec`.
    inner_cv, n_jobs : int, default=10; int, default=None
        As in :func:`nested_classification`.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        As from :func:`nested_classification`; `predictions` are for the test set.

    Raises
    ------
    ValueError, TypeError
        As :func:`nested_classification`, of `train` and of `test`; or if a field is missing.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from skembed import BOWPCA
    >>> from skembed.evaluation import split_classification
    >>> train = Bunch(
    ...     data=["who is he", "where is it", "who was she", "where was he"],
    ...     target=[0, 1, 0, 1],
    ... )
    >>> test = Bunch(data=["who knows", "where to"], target=[0, 1])
    >>> split_classification(BOWPCA(n_components=None), train, test, inner_cv=2).accuracy
    1.0
    """
    known, new = _read_split(train, test)
    learned = model if is_fitted(model) else clone(model).fit(sentences_for(model, known.data))
    X, X_test = embed(learned, known.data), embed(learned, new.data)
    return _classify(X, known.target, X_test, new.target, inner_cv, n_jobs)


def pair_classification(
    model: Model, train: Labelled, test: Labelled, *, inner_cv: int = 10, n_jobs: int | None = None
) -> Bunch:
    """Tell paraphrases from other pairs by logistic regression, on the published split: MSRP.

    The features of a pair are :func:`pair_features`: products and absolute differences of the two vectors.

    Parameters
    ----------
    model : estimator
        If it is not fitted, a clone learns from the training sentences.
    train, test : Bunch, mapping, data frame or (data, target) tuple
        Pairs of sentences as `data` and their labels as `target`, for example from
        :func:`~skembed.datasets.fetch_msrp`. The pairs may be a list, a zip, an array or a table of two columns. A data
        frame may have the columns `sentence1` and `sentence2` instead of `data`.
    inner_cv, n_jobs : int, default=10; int, default=None
        As in :func:`nested_classification`.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        As from :func:`nested_classification`; `predictions` are for the test set.

    Raises
    ------
    ValueError, TypeError
        As :func:`nested_classification`, of `train` and of `test`; or if a field is missing.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> from skembed import BOWPCA
    >>> from skembed.evaluation import pair_classification
    >>> train = Bunch(
    ...     data=[("a b", "b a"), ("a b", "c d"), ("c d", "d c"), ("b c", "a d")],
    ...     target=[1, 0, 1, 0],
    ... )
    >>> test = Bunch(data=[("a c", "c a"), ("a d", "b c")], target=[1, 0])
    >>> pair_classification(BOWPCA(n_components=None), train, test, inner_cv=2).f1
    1.0
    """
    known, new = _read_split(train, test, pairs=True)
    learned = model if is_fitted(model) else clone(model).fit([sentence for pair in known.data for sentence in pair])
    X, X_test = (pair_features(*embed_pairs(learned, part.data)) for part in (known, new))
    return _classify(X, known.target, X_test, new.target, inner_cv, n_jobs)


def _read_split(train: Labelled, test: Labelled, *, pairs: bool = False) -> tuple[Bunch, Bunch]:
    """Return both parts, checked, with `data` as a list or corpus and `target` as an array."""
    known, new = as_labelled(train, "train", pairs=pairs), as_labelled(test, "test", pairs=pairs)
    for name, part in (("train", known), ("test", new)):
        part.target = as_labels(part.target, f"target of {name}")
        check_same_length({"data": part.data, "target": part.target}, of=name)
    _check_two_labels(known.target, "target of train")
    check_one_kind({"target of train": known.target, "target of test": new.target})
    return known, new


def _check_two_labels(y: np.ndarray, name: str) -> None:
    labels = np.unique(y).tolist()
    if len(labels) < 2:
        found = f"only {brief(labels[0], 40)}" if len(y) else "none"
        raise ValueError(f"{name} must have two labels or more, got {found}.")


def _classify(X: Matrix, y: np.ndarray, X_test: Matrix, y_test: np.ndarray, inner_cv: int, n_jobs: int | None) -> Bunch:
    search = _penalty_search(X, y, inner_cv, n_jobs)
    return _result(y_test, search.predict(X_test), [float(search.best_params_["C"])], np.append(y, y_test))


def _penalty_search(X: Matrix, y: np.ndarray, inner_cv: int, n_jobs: int | None) -> GridSearchCV:
    solver = _choose_solver(X, len(np.unique(y)))
    if solver == "newton-cholesky":
        X = np.asarray(X, np.float64)  # scikit-learn 1.6 cannot fall back to L-BFGS with float32
    logistic = LogisticRegression(solver=solver, max_iter=1000, random_state=0)
    folds = StratifiedKFold(inner_cv, shuffle=True, random_state=0)
    with ONE_BLAS_THREAD, warnings.catch_warnings():
        # Where Newton's method fails, scikit-learn falls back to L-BFGS.
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.filterwarnings("ignore", "Line search of Newton solver", ConvergenceWarning)
        return GridSearchCV(logistic, {"C": C_GRID}, cv=folds, n_jobs=n_jobs).fit(X, y)


def _choose_solver(X: Matrix, n_labels: int) -> str:
    """Return the fastest solver for features of this shape; the scores are the same within noise."""
    two = n_labels == 2
    if issparse(X):
        return "liblinear" if two else "newton-cg"
    # A Newton step costs the square of the number of weights. L-BFGS needs many steps where columns differ in scale.
    n_weights = (X.shape[1] + 1) * (1 if two else n_labels)
    if n_weights <= (_NEWTON_WEIGHTS_OF_TWO if two else _NEWTON_WEIGHTS):
        return "newton-cholesky"
    return "liblinear" if two else "lbfgs"


def _result(y: np.ndarray, predictions: np.ndarray, penalties: list[float], known: np.ndarray) -> Bunch:
    """Return accuracy and F1. With two labels, F1 is that of the larger label, even if the test set has only one."""
    labels = np.unique(known)
    f1: dict[str, object] = {"pos_label": labels[-1]} if len(labels) == 2 else {"average": "macro"}
    return Bunch(
        accuracy=float(accuracy_score(y, predictions)),
        f1=float(f1_score(y, predictions, **f1)),
        C=penalties,
        predictions=predictions,
    )
