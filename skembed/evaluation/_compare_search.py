"""Searches in your own documents side by side, with queries whose relevant documents are known."""

from __future__ import annotations

import re
import time
from functools import partial
from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from .._search.nearest import nearest
from .._search.search_index import SearchIndex
from .._validation.columns import as_list, check_same_length
from .._validation.messages import brief
from ._compare_input import as_texts
from ._comparison import Comparison
from ._documents import named_estimators
from ._pairs import embed
from ._retrieval import Judged, measure_system, read_judged
from ._standard import SIMPLE, Method, OwnText, pretrained_methods, standard_methods
from ._trials import Run, Task, carry_out, megabytes

__all__ = ["compare_search"]

_DEEP = 1000  # documents that are asked for where a measure counts all


class VectorSearch(BaseEstimator):
    """Search by the cosine of rows that a vectorizer makes.

    Parameters
    ----------
    vectorizer : estimator
        What makes rows of texts.
    """

    def __init__(self, vectorizer: Any) -> None:
        self.vectorizer = vectorizer

    def fit(self, documents: list[str], y: Any = None) -> Self:
        """Fit the vectorizer to the documents, and keep their rows.

        Parameters
        ----------
        documents : list of str
            The documents.
        y : ignored
            Not used, present by convention.

        Returns
        -------
        self : object
        """
        self.vectorizer_ = clone(self.vectorizer).fit(documents)
        self.rows_ = embed(self.vectorizer_, documents)
        return self

    def search(self, queries: list[str], k: int = 10) -> Any:
        """Find the documents with the largest cosines, if these are above zero.

        Parameters
        ----------
        queries : list of str
            The queries.
        k : int, default=10
            How many documents to find for each.

        Returns
        -------
        rows, scores : ndarray of shape (n_queries, k)
        """
        rows, scores = nearest(embed(self.vectorizer_, queries), self.rows_, k)
        rows[scores <= 0] = -1
        return rows, scores


def compare_search(
    documents: Any,
    queries: Any,
    relevant: Any,
    *,
    ids: Any = None,
    estimators: Any = None,
    pretrained: Any = None,
    measure: str = "ndcg@10",
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Comparison:
    """Compare searches in your own documents, and say whether any is ahead of BM25.

    Always in the table are BM25, the cosine of tf-idf of words and of characters, of tf-idf beside its latent semantic
    analysis (LSA) and of :class:`~skembed.TextVectorizer`, and :class:`~skembed.SearchIndex`. The others are compared
    with the best of the simple ones, the first three.

    Parameters
    ----------
    documents : iterable of str, SentenceCorpus, or table of one column, of length n_documents
        The documents.
    queries : mapping of id to str, or list of str
        The queries, as in :func:`retrieval`.
    relevant : mapping of query to mapping of document to grade, or table
        Relevance judgements, as `qrels` of :func:`retrieval`.
    ids : array-like of shape (n_documents,), default=None
        Ids of the documents. None: `relevant` has their positions.
    estimators : mapping of name to estimator, or (name, estimator) tuples, default=None
        More rows of the table: transformers of text, which are searched by cosine, or anything with `fit` and `search`,
        such as a :class:`~skembed.SearchIndex`. A clone is fitted to the documents.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A model that somebody else has trained, as :class:`~skembed.PretrainedVectorizer` takes it, which has three more
        rows: "pretrained" alone, in `TextVectorizer` and in :class:`~skembed.SearchIndex`. Each text is embedded once.
    measure : str, default="ndcg@10"
        "ndcg", "recall" or "precision" with "@" and a number of documents, "map" or "mrr".
    n_jobs : int or None, default=None
        Number of processes. It does not change the scores, but the seconds.
    random_state : int, RandomState instance or None, default=0
        Seed of the standard estimators and of the intervals.

    Returns
    -------
    comparison : :class:`Comparison`
        The scores are means over the queries that have a relevant document.

    Warns
    -----
    UserWarning
        If a query has no relevant document, and is left out; a relevant document is not in `documents`; or a standard
        row is left out, because its estimator failed.

    Raises
    ------
    ValueError
        If there are fewer than two queries with a relevant document, `measure` is none of these, an estimator of yours
        fails, or what :func:`retrieval` names.
    TypeError
        If a document is missing or no string, or `estimators` has no names.

    Examples
    --------
    >>> from skembed.evaluation import compare_search
    >>> documents = ["a cat purrs", "the dog barks", "cats and dogs", "shares fell", "a bank"]
    >>> relevant = {0: {0: 1, 2: 1}, 1: {3: 1, 4: 1}}
    >>> result = compare_search(documents, ["cats purr", "bank shares"], relevant)
    >>> sorted(row["method"] for row in result.rows)[:3]
    ['BM25', 'SearchIndex', 'TextVectorizer']
    """
    texts = as_texts(documents, "documents")
    found = re.fullmatch(r"(?:ndcg|recall|precision)@([1-9]\d*)|map|mrr", measure) if isinstance(measure, str) else None
    if found is None:
        raise ValueError(
            f"measure must be like 'ndcg@10', 'recall@100', 'precision@1', 'map' or 'mrr', got {brief(measure)}."
        )
    ids = list(range(len(texts))) if ids is None else as_list(ids, "ids")
    check_same_length({"documents": texts, "ids": ids})
    judged = read_judged(queries, relevant, ids)
    if len(judged.grades) < 2:
        raise ValueError("An interval needs two queries with a relevant document or more, got 1.")
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    given = pretrained_methods(pretrained, seed)
    if pretrained is not None:
        given["SearchIndex, pretrained"] = SearchIndex(pretrained=pretrained, random_state=seed)
    given |= {} if estimators is None else named_estimators(estimators, "estimators")
    vectorizers = standard_methods(OwnText([], None), "", seed)
    methods = {
        "BM25": Method(SearchIndex(n_components=None)),
        **{name: Method(VectorSearch(method.estimator)) for name, method in vectorizers.items()},
        "SearchIndex": Method(SearchIndex(random_state=seed)),
        **{name: Method(_searching(estimator), is_given=True) for name, estimator in given.items()},
    }
    depth = int(found[1]) if found[1] else _DEEP
    task = Task(
        methods,
        partial(_search, judged, measure, depth),
        [texts],
        ("BM25", *SIMPLE),
        measure=measure,
        about=f"{measure} in per cent, {len(judged.grades):,} queries in {len(texts):,} documents.",
        what=f"{len(judged.grades):,} queries",
    )
    return carry_out(task, n_jobs, seed)


def _searching(estimator: Any) -> Any:
    return estimator if hasattr(estimator, "search") else VectorSearch(estimator)


def _search(judged: Judged, measure: str, depth: int, method: Method, documents: list[str]) -> Run:
    start = time.perf_counter()
    index = clone(method.estimator).fit(documents)
    fitted = time.perf_counter()
    found = index.search(list(judged.texts.values()), k=depth)
    seconds = time.perf_counter() - fitted
    cutoffs = [depth] if "@" in measure else []
    measured = measure_system(found, "search", judged, cutoffs, depth)
    values = [measures[measure] for measures in measured]
    return Run(values, fitted - start, 1000 * seconds / len(judged.texts), megabytes(index))
