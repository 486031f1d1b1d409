"""Tasks that need no labels, on documents kept aside: the next sentence, and sentences of the same document."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.utils import Bunch, check_random_state, check_scalar
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import has_fit_parameter

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import as_sentences, iter_texts, take_rows, takes_corpus
from .._text.words import halves_of
from .._validation.columns import Labels, Sentences, as_labels, as_named, check_same_length, describe
from .._validation.messages import brief
from .._validation.values import RandomState
from ..metrics import paired_cosine_similarity
from ._baselines import TFIDF, tfidf_of_compared
from ._compare_labels import Fold, as_texts, n_of_folds
from ._comparison import NEXT_SENTENCE, SECOND_HALF, Run, Task, megabytes
from ._pairs import Model, embed
from ._semantic import Splits
from ._standard import SIMPLE, Method, OwnText, standard_methods

__all__ = ["document_scores"]

_N_QUESTIONS, _N_CANDIDATES = 2000, 20


def document_scores(
    model: Model,
    X: Sentences,
    *,
    groups: Labels = None,
    n_questions: int = 2000,
    n_candidates: int = 20,
    random_state: RandomState = 0,
) -> Bunch:
    """Test a fitted model on ordered text without labels: the next sentence, and the same document or not.

    Each question is a sentence of the text. Its cosine is taken with the sentence after it, with another one of its
    document, and with `n_candidates` - 1 of other documents. Give documents that the model has not learned from.

    Parameters
    ----------
    model : object with `transform`
        A fitted estimator, or anything else that makes rows of sentences, dense or sparse.
    X : iterable of str, or SentenceCorpus, of length n_sentences
        Sentences in reading order, in any form that :func:`semantic_classification` takes.
    groups : array-like of shape (n_sentences,), default=None
        Document of each sentence. None is for a corpus, and for lines of text with a blank line between documents.
        Where each text is a document of its own (``groups=range(n)``), its second half is the next sentence.
    n_questions : int, default=2000
        Largest number of questions. With 2000 the standard error of `next_sentence` is at most 0.011.
    n_candidates : int, default=20
        Number of sentences from which the next one is chosen.
    random_state : int, RandomState instance or None, default=0
        Seed of the questions and the candidates.

    Returns
    -------
    scores : :class:`~sklearn.utils.Bunch`
        next_sentence : float
            Fraction of the questions whose true next sentence has the highest cosine of the `n_candidates`; among k
            equal cosines it counts 1 / k. Chance is 1 / `n_candidates`.
        same_document : float
            Area under the ROC curve: how often a sentence of the same document is closer than one of another. Chance is
            0.5.
        n_questions : int
            Number of questions.
        n_unknown : int
            Sentences compared that have no known word. Their cosine is 0.

    Raises
    ------
    ValueError
        If there are no documents or too few sentences, or `groups` has another length than `X`, or changes at every
        sentence and repeats values.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from skembed.evaluation import document_scores
    >>> text = [
    ...     "The cat sat.", "The cat ran.", "", "Shares fell.", "All shares rose.", "",
    ...     "Rain came.", "More rain.",
    ... ]
    >>> scores = document_scores(TfidfVectorizer().fit(text), text, n_candidates=3)
    >>> scores.n_questions, scores.next_sentence, scores.same_document
    (3, 1.0, 1.0)
    """
    sentences, documents = read_documents(X, groups)
    if are_single(documents):
        sentences, documents = in_halves(sentences)
    questions = draw(documents, n_questions, n_candidates, random_state)
    found = answer(model, sentences, questions)
    is_same = np.repeat([True, False], [found.same.size, found.others.size])
    return Bunch(
        next_sentence=float(np.mean(found.is_next)),
        same_document=float(roc_auc_score(is_same, np.append(found.same, found.others))),
        n_questions=len(questions),
        n_unknown=found.n_unknown,
    )


NamedEstimators: TypeAlias = Mapping[str, BaseEstimator] | Sequence[tuple[str, BaseEstimator]]


def named_estimators(estimators: NamedEstimators | None) -> dict[str, BaseEstimator]:
    """Return the parameter `estimators` by name."""
    names, values = as_named({} if estimators is None else estimators, "estimators")
    if names is None:
        raise TypeError(f"estimators must be a mapping of names to estimators, got {describe(estimators)}.")
    return dict(zip(names, values))


def read_documents(X: Sentences, groups: Labels) -> tuple[list[Any] | SentenceCorpus, NDArray[np.int64]]:
    """Return sentences and the document of each, ascending."""
    sentences = as_sentences(X)
    if isinstance(sentences, SentenceCorpus):
        if groups is not None:
            raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
        documents = sentences.doc_of()
    elif groups is not None:
        labels = as_labels(groups, "groups")
        check_same_length({"X": sentences, "groups": labels})
        documents = np.cumsum(np.append(False, labels[1:] != labels[:-1])[: len(labels)])
        if len(labels) > len(np.unique(labels)) and are_single(documents):
            raise ValueError("groups changes at every sentence, and repeats values. Sort X and groups by document.")
    else:
        blank = np.array([isinstance(sentence, str) and not sentence.strip() for sentence in sentences], bool)
        documents = np.cumsum(blank)[~blank]
        sentences = take_rows(sentences, np.flatnonzero(~blank))
    n_documents = len(np.unique(documents))
    if n_documents < 2:
        raise ValueError(
            f"X must have two documents or more, got {n_documents}. Pass groups, the document of each sentence; or a "
            "corpus with documents; or lines of text with a blank line between documents."
        )
    return sentences, documents


def are_single(documents: NDArray[np.int64]) -> bool:
    """Whether each document is one text."""
    return not (documents[1:] == documents[:-1]).any()


def in_halves(sentences: list[Any] | SentenceCorpus) -> tuple[list[str] | SentenceCorpus, NDArray[np.int64]]:
    """Cut each text in two, which are a document then; texts of one word are left out."""
    if isinstance(sentences, SentenceCorpus):
        some = sentences[np.diff(sentences.sent_ptr) > 1]
        ptr = np.append(
            np.column_stack([some.sent_ptr[:-1], (some.sent_ptr[:-1] + some.sent_ptr[1:]) // 2]), some.n_tokens
        )
        pairs = np.arange(0, len(ptr), 2)
        halves: list[str] | SentenceCorpus = SentenceCorpus(
            some.tokens, ptr, pairs, some.vocabulary, tokenizer=some.tokenizer
        )
    else:
        halves = [half for pair in map(halves_of, sentences) if all(pair) for half in pair]
    return halves, np.repeat(np.arange(len(halves) // 2), 2)


def draw(documents: np.ndarray, n_questions: int, n_candidates: int, random_state: RandomState) -> NDArray[np.int64]:
    """Draw questions: row of a sentence, of the next, of any other of its document, and of those of other documents."""
    check_scalar(n_questions, "n_questions", Integral, min_val=1)
    check_scalar(n_candidates, "n_candidates", Integral, min_val=2)
    random = check_random_state(random_state)
    n_sentences = len(documents)
    have_next = np.flatnonzero(documents[1:] == documents[:-1])
    if not len(have_next):
        raise ValueError("No sentence has a next one in its document. Give sentences in order, or texts of two words.")
    sizes = np.bincount(documents)
    n_others = n_sentences - int(sizes.max())
    if n_others < n_candidates - 1:
        raise ValueError(
            f"The documents to test on have {n_sentences} sentences, {sizes.max()} of them in the largest document. "
            f"That leaves {n_others} of other documents, too few for n_candidates={n_candidates}. Give more documents, "
            "or fewer candidates."
        )
    n_questions = min(int(n_questions), len(have_next))
    first = np.sort(have_next[sample_without_replacement(len(have_next), n_questions, random_state=random)])
    start, size = (np.cumsum(sizes) - sizes)[documents[first]], sizes[documents[first]]
    same = start + (first - start + 1 + random.randint(size - 1)) % size
    # The sentences of other documents are one range, from the end of the document round to its start.
    draws = [sample_without_replacement(n_sentences - n, n_candidates - 1, random_state=random) for n in size]
    others = ((start + size)[:, None] + draws) % n_sentences
    return np.column_stack([first, first + 1, same, others])


def answer(model: Model, sentences: list[Any] | SentenceCorpus, questions: NDArray[np.int64]) -> Bunch:
    """Return how far each question is answered by its next sentence, from 0 to 1, and the cosines."""
    rows, index = np.unique(questions, return_inverse=True)
    vectors = embed(model, take_rows(sentences, rows))
    first, *candidates = index.reshape(questions.shape).T
    cosines = np.array([paired_cosine_similarity(vectors[first], vectors[candidate]) for candidate in candidates])
    # Equal cosines may differ in their last bits.
    following, same, others = (part.round(12) for part in (cosines[0], cosines[1], cosines[2:]))
    n_equal = 1 + (others == following).sum(axis=0)
    is_first = (others <= following).all(axis=0)
    n_unknown = int(np.count_nonzero(np.asarray(abs(vectors).sum(axis=1)).ravel() == 0))
    return Bunch(is_next=is_first / n_equal, same=same, others=others, n_unknown=n_unknown, n_embedded=len(rows))


def check_learns_from_fit(model: BaseEstimator, name: str) -> None:
    """Refuse a parameter `corpus`, also of a step or a joined model: it would replace the text of `fit`."""
    parameters = model.get_params() if hasattr(model, "get_params") else {}
    for parameter, value in parameters.items():
        if parameter.split("__")[-1] == "corpus" and value is not None:
            raise ValueError(
                f"The model {brief(name)} has {parameter}={brief(value)}, which may hold documents that are kept aside "
                "for the test. Leave it out: the models learn from X."
            )


def learn(model: BaseEstimator, text: list[Any] | SentenceCorpus, documents: np.ndarray) -> BaseEstimator:
    """Fit a clone; an estimator of this package, also as the first step of a pipeline, gets the documents."""
    if isinstance(model, FrozenEstimator) or not hasattr(model, "fit"):
        return model
    learned = clone(model, safe=False)
    if not takes_corpus(model):
        return learned.fit(list(iter_texts(text)) if isinstance(text, SentenceCorpus) else text)
    if isinstance(text, SentenceCorpus):
        return learned.fit(text)
    prefix = ""
    while steps := getattr(model, "steps", None):
        name, model = steps[0]
        prefix += f"{name}__"
    if not has_fit_parameter(model, "groups"):  # learns from text without order
        return learned.fit(text)
    return learned.fit(text, **{f"{prefix}groups": documents})


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
    """The task of :func:`compare` without labels: read documents, and draw questions about those of each fold."""
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
