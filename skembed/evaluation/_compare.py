"""Vectorizers on your own text side by side: with labels, or without."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import as_sentences, take_rows
from .._training.dense import ONE_BLAS_THREAD
from .._validation.messages import warn_at_user
from ._baselines import TFIDF
from ._compare_input import as_texts, labelled_folds, n_of_folds, read_groups, read_labels, warn_of_repeated
from ._compared import tfidf_of_compared
from ._comparison import NEXT_SENTENCE, SECOND_HALF, Comparison, Trial, make_comparison
from ._documents import (
    answer,
    are_single,
    check_learns_from_fit,
    draw,
    in_halves,
    learn,
    named_estimators,
    read_documents,
)
from ._standard import SIMPLE, Method, OwnText, classifier_for, standard_methods, with_own_text

__all__ = ["compare"]

_MEASURES = {"binary": "accuracy", "multiclass": "accuracy", "continuous": "R2", "multilabel-indicator": "F1"}
_N_QUESTIONS, _N_CANDIDATES = 2000, 20


class _Run(NamedTuple):
    """What a method did in one fold: a value for each tested row, or one for the fold; and what it cost."""

    values: Any
    fit_seconds: float
    predict_seconds: float
    megabytes: float | None


def compare(
    X: Any,
    y: Any = None,
    *,
    corpus: Any = None,
    groups: Any = None,
    estimators: Any = None,
    classifier: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Comparison:
    """Compare ways to turn text into vectors on your own text, and say whether any is ahead of tf-idf.

    Always in the table are tf-idf of words, the same beside its latent semantic analysis (LSA), tf-idf of characters,
    :class:`~skembed.TextVectorizer` and :class:`~skembed.CBOSVectorizer`. The others are compared with the best of the
    simple ones, tf-idf of words or of characters. 2,000 short rows take less than a minute.

    Parameters
    ----------
    X : iterable of str, SentenceCorpus, or table of one column, of length n_texts
        Texts.
    y : array-like of shape (n_texts,) or (n_texts, n_labels), default=None
        Labels, for classification; numbers with fractions, for regression; or several labels in indicator form. Rows
        of -1, None or NaN have no label, as :class:`~skembed.TextVectorizer` reads them: they are own text, and are
        never tested. None means that there are no labels: see Notes.
    corpus : collection of str or SentenceCorpus, default=None
        Own text without labels. :class:`~skembed.TextVectorizer` learns from it, and rows named "all text" do. A
        :class:`~skembed.SentenceCorpus` is text in reading order: it also gives a row of CBOS learned from order, and
        estimators of yours whose parameter `corpus` is None get it.
    groups : array-like of shape (n_texts,), default=None
        Rows of one group are in one fold, such as texts of one author. Without labels it is the document of each
        sentence, in reading order, and None says that each text is a document.
    estimators : mapping of name to estimator, or (name, estimator) tuples, default=None
        More rows of the table: transformers of text, or whole pipelines with a classifier of their own. One with the
        name of a standard row takes its place. A clone is fitted in each fold; a
        :class:`~sklearn.frozen.FrozenEstimator` keeps what it has learned.
    classifier : estimator, default=None
        Classifier or regressor behind each transformer. None is ``LinearSVC()``, for several labels one of each, and
        ``Ridge()`` for numbers.
    cv : int, cross-validation generator or iterable of (train, test), default=5
        Number of folds, stratified where `y` has classes, and shuffled; or how to split. Each row must be in one test
        fold. With fewer rows than folds in every class, or fewer groups, there are fewer folds.
    scoring : str or callable, default=None
        What is measured, as in scikit-learn. None is accuracy, for several labels F1 of a row, for numbers R2.
    n_jobs : int or None, default=None
        Number of processes. It does not change the scores, but the seconds.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, of the standard estimators and of the intervals.

    Returns
    -------
    comparison : :class:`Comparison`
        Prints as a table. `rows` are the figures, `sentence` says whether the difference matters,
        :meth:`~Comparison.to_frame` makes a data frame, and :meth:`~Comparison.plot` a drawing.

    Warns
    -----
    UserWarning
        If texts are in a training and in a test fold, which makes all scores too high; there are fewer folds; a class
        has one row; or a standard row is left out, because its estimator failed.

    Raises
    ------
    ValueError
        If there are no labels in `y`, one class, or one group; lengths differ; a fold lacks rows; an estimator of
        yours fails; or, without labels, `corpus`, `classifier` or `scoring` is given, or the text is too short.
    TypeError
        If a text is missing or no string, or `estimators` has no names.

    Notes
    -----
    *Intervals* are of the lead, from the differences on the same rows, or in the same groups, with the t distribution.
    They hold together in 95 % of cases, not each alone, so that the best of many rows is not ahead by chance. They do
    not count what other training rows would change: in 400 simulated comparisons on four sets they held together in 91
    to 94 % of cases, and each alone in 97 to 98 %. With `scoring`, they come from the scores of the folds with the
    correction of [1]_, and are wider: take ten folds.

    *Own text* in `corpus` that holds the texts of `X` tells the vectors about the words of the test rows, though not
    about their labels. That is fair if later texts will be in it too.

    *Without labels* each text is to find its continuation: each fold learns from the other documents, and the score is
    that of `next_sentence` in :func:`document_scores`, with 20 candidates. Texts that are documents each are cut in
    two. Another simple row is tf-idf fitted on the compared sentences themselves.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.

    Examples
    --------
    >>> from skembed.evaluation import compare
    >>> X = [f"{a} {b}" for a in ("cats", "dogs", "shares", "stocks") for b in "abcdefgh"]
    >>> y = ["animals"] * 16 + ["money"] * 16
    >>> result = compare(X, y, cv=2)
    >>> result.reference
    'tf-idf'
    >>> print(result.sentence)
    No difference that matters: ...
    """
    random = check_random_state(random_state)
    seed = int(random.randint(np.iinfo(np.int32).max))
    given = {} if estimators is None else named_estimators(estimators, "estimators")
    if y is not None:
        return _with_labels(X, y, corpus, groups, given, classifier, cv, scoring, n_jobs, seed)
    for name, value in {"corpus": corpus, "classifier": classifier, "scoring": scoring}.items():
        if value is not None:
            advice = "X is own text" if name == "corpus" else "nothing is classified"
            raise ValueError(f"{name} must be None where y is None: {advice}. Pass y, or leave {name} out.")
    return _without_labels(X, groups, given, cv, n_jobs, seed)


def _with_labels(
    X: Any,
    y: Any,
    corpus: Any,
    groups: Any,
    given: Mapping[str, Any],
    classifier: Any,
    cv: Any,
    scoring: Any,
    n_jobs: int | None,
    seed: int,
) -> Comparison:
    texts = as_texts(X, "X")
    labels, has_label, kind = read_labels(y, len(texts))
    labelled, unlabelled = np.flatnonzero(has_label), np.flatnonzero(~has_label)
    own = OwnText(
        [*([] if corpus is None else as_texts(corpus, "corpus")), *take_rows(texts, unlabelled)],
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
    return make_comparison(
        _try_all(methods, run, folds, n_jobs),
        SIMPLE,
        measure=measure,
        about=f"{measure[0].upper()}{measure[1:]}{per_cent}, {len(folds)}-fold cross-validation of {len(texts):,} rows "
        f"with {type(classifier).__name__}.",
        units=None if groups is None or scoring is not None else groups[np.concatenate([test for _, test in folds])],
        what=f"{len(texts):,} rows",
        # Scores of folds hang together, since their training rows are the same in part (Nadeau and Bengio, 2003).
        spread=1.0 if scoring is None else (1 + len(folds) / (len(folds) - 1)) ** 0.5,
        random_state=seed,
    )


def _predict(
    classifier: Any,
    texts: list[str],
    y: NDArray[Any],
    judge: Callable[..., Any],
    by_row: bool,
    method: Method,
    fold: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> _Run:
    """Fit to the training rows, and judge the predictions for the test rows."""
    (train, test), (X, X_test) = fold, (take_rows(texts, rows) for rows in fold)
    start = time.perf_counter()
    model = _fit(method, classifier, X, y[train])
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    seconds = time.perf_counter() - fitted
    values = judge(y[test], predicted) if by_row else judge(model, X_test, y[test])
    return _Run(values, fitted - start, 1000 * seconds / len(test), _megabytes(model))


def _fit(method: Method, classifier: Any, X: list[str], y: NDArray[Any]) -> Any:
    estimator = method.estimator
    if not hasattr(estimator, "fit") or not (hasattr(estimator, "transform") or hasattr(estimator, "predict")):
        raise TypeError(f"{type(estimator).__name__} must have fit, and transform or predict.")
    if not hasattr(estimator, "transform"):
        return clone(estimator).fit(X, y)
    if method.texts:
        estimator = FrozenEstimator(clone(estimator).fit([*method.texts, *X]))
    return make_pipeline(clone(estimator), clone(classifier)).fit(X, y)


def _megabytes(model: Any) -> float | None:
    """Size of the pickled model; None if it cannot be pickled, such as one with a lambda."""
    try:
        return len(pickle.dumps(model)) / 1e6
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _score_rows(kind: str, variance: float | None, y: NDArray[Any], predicted: Any) -> NDArray[np.float64]:
    """Scores whose mean over all rows is the accuracy, R2, or the F1 of a row."""
    if variance is not None:
        return 1 - (y - predicted) ** 2 / variance
    if kind == "multilabel-indicator":
        found = predicted.toarray() if issparse(predicted) else np.asarray(predicted)
        n_both, n_all = (y * found).sum(axis=1), y.sum(axis=1) + found.sum(axis=1)
        return np.where(n_all == 0, 1.0, 2 * n_both / np.maximum(n_all, 1))
    return (y == predicted).astype(np.float64)


def _without_labels(
    X: Any, groups: Any, given: Mapping[str, Any], cv: Any, n_jobs: int | None, seed: int
) -> Comparison:
    for name, estimator in given.items():
        check_learns_from_fit(estimator, name)
    sentences = as_sentences(X)
    if groups is None and not isinstance(sentences, SentenceCorpus):
        groups = range(len(sentences))
    sentences, documents = read_documents(sentences, groups)
    n_documents, single = len(np.unique(documents)), are_single(documents)
    n_folds = n_of_folds(cv, n_documents, f"X has {n_documents} documents")
    splits = GroupKFold(n_folds, shuffle=True, random_state=seed).split(documents, groups=documents)
    folds = [_hold_out(sentences, documents, split, place, n_folds, seed) for place, split in enumerate(splits)]
    units = np.concatenate([fold.units for fold in folds])
    methods = standard_methods(OwnText([], None), "" if single else "order", seed)
    methods |= {TFIDF: Method(tfidf_of_compared())}
    methods |= {name: Method(estimator, is_given=True) for name, estimator in given.items()}
    kind = SECOND_HALF if single else NEXT_SENTENCE
    return make_comparison(
        _try_all(methods, _find_next, folds, n_jobs),
        (*SIMPLE, TFIDF),
        measure=kind,
        about=f"How often the {kind} is found among {_N_CANDIDATES}, in per cent: {len(units):,} questions, "
        f"{n_folds} folds of {n_documents:,} documents.",
        units=units,
        what=f"{len(units):,} questions",
        spread=1.0,
        random_state=seed,
    )


class _HeldOut(NamedTuple):
    """Documents to learn from, the sentences of the others, and questions about them with the document of each."""

    text: Any
    documents: NDArray[np.int64]
    tested: Any
    questions: NDArray[np.int64]
    units: NDArray[np.int64]


def _hold_out(
    sentences: Any, documents: NDArray[np.int64], split: Any, place: int, n_folds: int, seed: int
) -> _HeldOut:
    train, test = split
    tested, its_documents = take_rows(sentences, test), documents[test]
    if are_single(documents):
        tested, its_documents = in_halves(tested)
    questions = draw(its_documents, _N_QUESTIONS // n_folds, _N_CANDIDATES, seed + place)
    units = place * len(documents) + its_documents[questions[:, 0]]
    return _HeldOut(take_rows(sentences, train), documents[train], tested, questions, units)


def _find_next(method: Method, fold: _HeldOut) -> _Run:
    start = time.perf_counter()
    model = learn(method.estimator, fold.text, fold.documents)
    fitted = time.perf_counter()
    found = answer(model, fold.tested, fold.questions)
    seconds = time.perf_counter() - fitted
    return _Run(found.is_next, fitted - start, 1000 * seconds / found.n_embedded, _megabytes(model))


def _try_all(
    methods: Mapping[str, Method], run: Callable[..., _Run], folds: Sequence[Any], n_jobs: int | None
) -> dict[str, Trial]:
    """Run each method in each fold; leave out a standard one that fails, with a warning."""
    found = iter(
        Parallel(n_jobs=n_jobs)(delayed(_attempt)(run, method, fold) for method in methods.values() for fold in folds)
    )
    trials, faults = {}, {}
    for name, method in methods.items():
        runs = [next(found) for _ in folds]
        error = next((of_fold for of_fold in runs if isinstance(of_fold, Exception)), None)
        if error is None:
            sizes = [of_fold.megabytes for of_fold in runs]
            trials[name] = Trial(
                np.hstack([of_fold.values for of_fold in runs]),
                min(of_fold.fit_seconds for of_fold in runs),  # the first may compile
                min(of_fold.predict_seconds for of_fold in runs),
                None if None in sizes else max(sizes),
            )
        elif method.is_given:
            raise ValueError(f"{name} of estimators failed: {error}") from error
        else:
            faults[name] = error
    if not set(trials) & {*SIMPLE, TFIDF}:
        name, error = next(iter(faults.items()))
        raise ValueError(f"No simple method could be fitted. {name} failed: {error}") from error
    for name, error in faults.items():
        warn_at_user(f"{name} is left out, because it failed: {error}")
    return trials


def _attempt(run: Callable[..., _Run], method: Method, fold: Any) -> _Run | Exception:
    try:
        with ONE_BLAS_THREAD, warnings.catch_warnings():  # more threads change the rounding
            # Of several labels, one that no training row has is predicted for no row.
            warnings.filterwarnings("ignore", "Label .* is present in all training examples", UserWarning)
            return run(method, fold)
    except Exception as error:  # an estimator may raise anything
        return error
