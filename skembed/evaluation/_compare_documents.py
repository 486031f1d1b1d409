"""The task of :func:`compare` without labels: to find the next sentence, or the second half of a text."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import take_rows
from .._validation.columns import Labels, Sentences
from ._baselines import TFIDF, tfidf_of_compared
from ._compare_input import Fold, as_texts, n_of_folds
from ._comparison import NEXT_SENTENCE, SECOND_HALF, Run, Task, megabytes
from ._documents import answer, are_single, check_learns_from_fit, draw, in_halves, learn, read_documents
from ._semantic import Splits
from ._standard import SIMPLE, Method, OwnText, standard_methods

_N_QUESTIONS, _N_CANDIDATES = 2000, 20


class _HeldOut(NamedTuple):
    """Documents to learn from, the sentences of the others, and questions about them with the document of each."""

    text: list[str] | SentenceCorpus
    documents: NDArray[np.int64]
    tested: list[str] | SentenceCorpus
    questions: NDArray[np.int64]
    units: NDArray[np.int64]


def document_task(
    X: Sentences, groups: Labels, given: Mapping[str, BaseEstimator], cv: Splits, seed: int
) -> Task[_HeldOut]:
    """Read documents, and draw questions about those of each fold."""
    for name, estimator in given.items():
        check_learns_from_fit(estimator, name)
    sentences = X if isinstance(X, SentenceCorpus) else as_texts(X, "X")
    if groups is None and not isinstance(sentences, SentenceCorpus):
        groups = range(len(sentences))
    sentences, documents = read_documents(sentences, groups)
    n_documents, single = len(np.unique(documents)), are_single(documents)
    n_folds = n_of_folds(cv, n_documents, f"X has {n_documents} documents")
    splits = GroupKFold(n_folds, shuffle=True, random_state=seed).split(documents, groups=documents)
    folds = [_hold_out(sentences, documents, split, place, n_folds, seed) for place, split in enumerate(splits)]
    methods = standard_methods(OwnText([], None), "" if single else "order", seed)
    methods |= {TFIDF: Method(tfidf_of_compared())}
    methods |= {name: Method(estimator, is_given=True) for name, estimator in given.items()}
    units = np.concatenate([fold.units for fold in folds])
    return Task(
        methods,
        _find_next,
        folds,
        (*SIMPLE, TFIDF),
        measure=SECOND_HALF if single else NEXT_SENTENCE,
        about=f"How often the {'second half of a text' if single else NEXT_SENTENCE} is found among {_N_CANDIDATES}, "
        f"in per cent: {len(units):,} questions, {n_folds} folds of {n_documents:,} documents.",
        what=f"{len(units):,} questions",
        units=units,
    )


def _hold_out(
    sentences: list[str] | SentenceCorpus,
    documents: NDArray[np.int64],
    split: Fold,
    place: int,
    n_folds: int,
    seed: int,
) -> _HeldOut:
    train, test = split
    tested, its_documents = take_rows(sentences, test), documents[test]
    if are_single(documents):
        tested, its_documents = in_halves(tested)
    questions = draw(its_documents, _N_QUESTIONS // n_folds, _N_CANDIDATES, seed + place)
    units = place * len(documents) + its_documents[questions[:, 0]]
    return _HeldOut(take_rows(sentences, train), documents[train], tested, questions, units)


def _find_next(method: Method, fold: _HeldOut) -> Run:
    start = time.perf_counter()
    model = learn(method.estimator, fold.text, fold.documents)
    fitted = time.perf_counter()
    found = answer(model, fold.tested, fold.questions)
    seconds = time.perf_counter() - fitted
    return Run(found.is_next, fitted - start, 1000 * seconds / found.n_embedded, megabytes(model))
