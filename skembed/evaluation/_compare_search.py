"""Searches in your own documents side by side, with queries whose relevant documents are known."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Mapping
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from .._pretrained.models import PretrainedModel
from .._validation.columns import Labels, Sentences, as_list, check_same_length, columns_of, describe, is_lazy
from .._validation.messages import brief
from .._validation.values import RandomState
from ..search._documents import Documents, Texts, read_documents
from ..search._nearest import nearest
from ..search._search_index import SearchIndex
from ._comparison import Comparison, Run, Task, carry_out, megabytes
from ._documents import NamedEstimators, named_estimators
from ._pairs import embed
from ._retrieval import Judged, Judgements, measure_system, read_judged
from ._standard import SIMPLE, Method, OwnText, pretrained_methods, standard_methods

__all__ = ["compare_search"]

_DEEP = 1000  # documents that are asked for where a measure counts all


class VectorSearch(BaseEstimator):
    """Search by the cosine of rows that a vectorizer makes."""

    def __init__(self, vectorizer: BaseEstimator) -> None:
        self.vectorizer = vectorizer

    def fit(self, documents: list[str], y: Labels = None) -> Self:
        """Fit the vectorizer to the documents, and keep their rows."""
        self.vectorizer_ = clone(self.vectorizer).fit(documents)
        self.rows_ = embed(self.vectorizer_, documents)
        return self

    def search(self, queries: list[str], k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Find the documents with the largest cosines, if these are above zero."""
        rows, scores = nearest(embed(self.vectorizer_, queries), self.rows_, k)
        rows[scores <= 0] = -1
        return rows, scores


def compare_search(
    documents: Documents,
    queries: Mapping[Hashable, str] | Sentences,
    relevant: Judgements,
    *,
    ids: Labels = None,
    index: SearchIndex | None = None,
    estimators: NamedEstimators | None = None,
    pretrained: PretrainedModel | None = None,
    measure: str = "ndcg@10",
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Compare searches in your own documents, and say whether any is ahead of BM25.

    Always in the table are BM25, the cosine of tf-idf of words and of characters, of tf-idf beside its latent semantic
    analysis (LSA) and of :class:`~skembed.TextVectorizer`, and :class:`~skembed.SearchIndex`. The others are compared
    with the best of the first three.

    Parameters
    ----------
    documents : iterable of str or of tuple of str, table, or SentenceCorpus, of length n_documents
        The documents, as :meth:`skembed.SearchIndex.fit` takes them; a table needs the `columns` of `index`. Only a
        SearchIndex, but not the row "BM25", reads fields; the others read them joined by spaces.
    queries : mapping of id to str, or list of str
        The queries, as in :func:`retrieval`.
    relevant : mapping of query to mapping of document to grade, or table
        Relevance judgements, as `qrels` of :func:`retrieval`.
    ids : array-like of shape (n_documents,), default=None
        Ids of the documents. None: `relevant` has their positions.
    index : SearchIndex or None, default=None
        The row "SearchIndex", fitted anew, such as ``SearchIndex(stemmer="english")``. "BM25" has its parameters too,
        but no vectors and no fields. None: a SearchIndex with its defaults.
    estimators : mapping of name to estimator, or (name, estimator) tuples, default=None
        More rows: transformers of text, searched by cosine, or anything with `fit` and `search`. A clone is fitted.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        A model as :class:`~skembed.PretrainedVectorizer` takes it, for three more rows: alone, in `TextVectorizer` and
        in :class:`~skembed.SearchIndex`.
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
        If a document is missing or no string, `index` is no SearchIndex, or `estimators` has no names.

    Examples
    --------
    >>> from skembed.evaluation import compare_search
    >>> documents = ["a cat purrs", "the dog barks", "cats and dogs", "shares fell", "a bank"]
    >>> relevant = {0: {0: 1, 2: 1}, 1: {3: 1, 4: 1}}
    >>> result = compare_search(documents, ["cats purr", "bank shares"], relevant)
    >>> sorted(row["method"] for row in result.rows)[:3]
    ['BM25', 'SearchIndex', 'TextVectorizer']
    """
    if not isinstance(index, SearchIndex | None):
        raise TypeError(f"index must be a SearchIndex or None, got {brief(index)}. Others are rows of estimators.")
    index = SearchIndex() if index is None else clone(index)
    index._validate_params()
    columns = None if index.columns is None else list(index.columns)
    texts = _read(documents, index, columns)
    found = re.fullmatch(r"(?:ndcg|recall|precision)@([1-9]\d*)|map|mrr", measure) if isinstance(measure, str) else None
    if found is None:
        raise ValueError(
            f"measure must be like 'ndcg@10', 'recall@100', 'precision@1', 'map' or 'mrr', got {brief(measure)}."
        )
    ids = list(range(texts.n_documents)) if ids is None else as_list(ids, "ids")
    check_same_length({"documents": range(texts.n_documents), "ids": ids})
    judged = read_judged(queries, relevant, ids)
    if len(judged.grades) < 2:
        raise ValueError("An interval needs two queries with a relevant document or more, got 1.")
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    if index.random_state is None:
        index.set_params(random_state=seed)
    given = pretrained_methods(pretrained, seed)
    if pretrained is not None:
        given["SearchIndex, pretrained"] = clone(index).set_params(pretrained=pretrained)
    given |= named_estimators(estimators)
    vectorizers = standard_methods(OwnText([], None), "", seed)
    methods = {
        "BM25": Method(clone(index).set_params(n_components=None, pretrained=None, columns=None, field_weights=None)),
        **{name: Method(VectorSearch(method.estimator)) for name, method in vectorizers.items()},
        "SearchIndex": Method(index, reads_fields=True),
        **{name: _given_method(name, estimator, columns) for name, estimator in given.items()},
    }
    depth = int(found[1]) if found[1] else _DEEP
    task = Task(
        methods,
        partial(_search, judged, measure, depth),
        [texts],
        ("BM25", *SIMPLE),
        measure=measure,
        about=f"{measure} in per cent, {len(judged.grades):,} queries in {texts.n_documents:,} documents.",
        what=f"{len(judged.grades):,} queries",
    )
    return carry_out(task, n_jobs, seed)


def _read(documents: Documents, index: SearchIndex, columns: list[Hashable] | None) -> Texts:
    table = None if columns is not None or is_lazy(documents) else columns_of(documents)
    if table is not None and (len(table) > 1 or isinstance(documents, Mapping)):
        options = f"index=SearchIndex(columns={brief(list(table))})"
        raise ValueError(f"documents is {describe(documents)}. Say which to search: {options}.")
    texts = read_documents(documents, columns, index.missing, None if columns is None else len(columns))
    if not texts.n_documents:
        raise ValueError("documents has no text.")
    return texts


def _given_method(name: str, estimator: BaseEstimator, columns: list[Hashable] | None) -> Method:
    """A method of the user, or with a pretrained model."""
    if not isinstance(estimator, SearchIndex):
        is_search = hasattr(estimator, "search")
        return Method(estimator if is_search else VectorSearch(estimator), is_given=True)
    if estimator.columns is not None and list(estimator.columns) != columns:
        raise ValueError(
            f"{name} of estimators has columns={brief(estimator.columns)}, but documents are read with those of index: "
            f"{brief(columns)}. Pass index=SearchIndex(columns={brief(estimator.columns)})."
        )
    return Method(estimator, is_given=True, reads_fields=True)


def _search(judged: Judged, measure: str, depth: int, method: Method, documents: Texts) -> Run:
    has_fields = method.reads_fields and documents.n_fields > 1
    texts: list[str] | list[tuple[str, ...]] = documents.rows() if has_fields else documents.joined()
    start = time.perf_counter()
    index = clone(method.estimator).fit(texts)
    fitted = time.perf_counter()
    found = index.search(list(judged.texts.values()), k=depth)
    seconds = time.perf_counter() - fitted
    cutoffs = [depth] if "@" in measure else []
    measured = measure_system(found, "search", judged, cutoffs, depth)
    values = [measures[measure] for measures in measured]
    return Run(values, fitted - start, 1000 * seconds / len(judged.texts), megabytes(index))
