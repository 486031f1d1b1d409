"""Vectorizers on your own text side by side: with labels, or without."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._pretrained.models import PretrainedModel
from .._validation.columns import Labels, Sentences
from .._validation.values import RandomState
from ._compare_labels import Scoring, label_task
from ._comparison import Comparison, carry_out
from ._documents import NamedEstimators, document_task, named_estimators
from ._semantic import Splits
from ._standard import pretrained_methods

__all__ = ["compare"]


def compare(
    X: Sentences,
    y: Labels = None,
    *,
    corpus: Sentences | None = None,
    groups: Labels = None,
    estimators: NamedEstimators | None = None,
    pretrained: PretrainedModel | None = None,
    classifier: BaseEstimator | None = None,
    cv: Splits = 5,
    scoring: Scoring = None,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Compare ways to turn text into vectors on your own text, and say whether any is ahead of tf-idf.

    Always in the table are tf-idf of words, the same beside its latent semantic analysis (LSA), tf-idf of characters,
    :class:`~skembed.TextVectorizer` and :class:`~skembed.CBOSVectorizer`. The others are compared with the better
    tf-idf, of words or of characters.

    Parameters
    ----------
    X : iterable of str, SentenceCorpus, or table of one column, of length n_texts
        Texts.
    y : array-like of shape (n_texts,) or (n_texts, n_labels), default=None
        Labels; numbers with fractions, for regression; or several labels in indicator form. Rows of -1, None or NaN
        have no label: they are own text, and never tested. None means that there are no labels: see Notes.
    corpus : collection of str or SentenceCorpus, default=None
        Own text without labels, from which :class:`~skembed.TextVectorizer` and rows named "all text" learn. A
        :class:`~skembed.SentenceCorpus` also gives a row of CBOS learned from order, and is given to
        estimators of yours whose parameter `corpus` is None.
    groups : array-like of shape (n_texts,), default=None
        Rows of one group are in one fold, such as texts of one author. Without labels, the document of each sentence,
        in reading order; None says that each text is a document.
    estimators : mapping of name to estimator, or (name, estimator) tuples, default=None
        More rows: transformers of text, or pipelines with a classifier. One with the name of a standard row takes its
        place. A clone is fitted in each fold; a :class:`~sklearn.frozen.FrozenEstimator` keeps what it has learned.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A model as :class:`~skembed.PretrainedVectorizer` takes it, for two more rows: alone, and beside the blocks of
        :class:`~skembed.TextVectorizer`.
    classifier : estimator, default=None
        Classifier or regressor behind each transformer. None is ``LinearSVC()``, and ``Ridge()`` for numbers.
    cv : int, cross-validation generator or iterable of (train, test), default=5
        Number of folds, stratified where `y` has classes, and shuffled; or how to split. Each row must be in one test
        fold.
    scoring : str or callable, default=None
        What is measured, as in scikit-learn. None is accuracy, for several labels F1 of a row, for numbers R2.
    n_jobs : int or None, default=None
        Number of processes. It does not change the scores, but the seconds.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, of the standard estimators and of the intervals.

    Returns
    -------
    comparison : :class:`Comparison`
        Prints as a table, and says whether the difference matters.

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
    *Intervals* are of the lead, from the differences on the same rows or groups, with the t distribution. They hold
    together in 95 % of cases, so the best of many rows is not ahead by chance: see :ref:`intervals_of_compare`. With
    `scoring`, they come from the scores of the folds with the correction of [1]_, and are wider: take ten folds.

    *Without labels* each fold learns from the other documents, and the score is `next_sentence` of
    :func:`document_scores`, with 20 candidates. Texts that are documents each are cut in two. Another simple row is
    tf-idf fitted on the compared sentences themselves.

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
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    given = pretrained_methods(pretrained, seed) | named_estimators(estimators)
    if y is not None:
        task = label_task(X, y, corpus, groups, given, classifier, cv, scoring, seed)
        return carry_out(task, n_jobs, seed)
    for name, value in {"corpus": corpus, "classifier": classifier, "scoring": scoring}.items():
        if value is not None:
            because = "X is own text" if name == "corpus" else "nothing is classified"
            raise ValueError(f"{name} must be None where y is None: {because}. Pass y, or leave {name} out.")
    return carry_out(document_task(X, groups, given, cv, seed), n_jobs, seed)
