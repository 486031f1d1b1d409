"""Search with judged documents: nDCG, recall, precision, MAP and MRR, their intervals, and a test between systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_random_state, check_scalar

from .._validation.columns import (
    Labels,
    Sentences,
    Table,
    as_fields,
    as_labels,
    as_list,
    as_scores,
    check_same_length,
    describe,
    listed,
)
from .._validation.messages import brief, warn_at_user
from .._validation.values import RandomState
from ._sts import N_DRAWS, interval

__all__ = ["retrieval"]

_Judged: TypeAlias = dict[Hashable, dict[Hashable, float]]
_Ranking: TypeAlias = tuple[ArrayLike, ArrayLike]  # rows and their scores, for each query


class _Searches(Protocol):
    def search(self, queries: list[str], /, k: int) -> _Ranking: ...


System: TypeAlias = _Searches | Callable[..., _Ranking] | _Ranking
Judgements: TypeAlias = Mapping[Hashable, Mapping[Hashable, float]] | Table


def retrieval(
    index: System | Mapping[str, System],
    queries: Mapping[Hashable, str] | Sentences,
    qrels: Judgements,
    *,
    documents: Labels = None,
    k: int | Iterable[int] = 10,
    depth: int = 1000,
    baseline: str | None = None,
    random_state: RandomState = 0,
) -> Bunch:
    r"""Measure how well a search finds the documents that people judged relevant: nDCG, recall, precision, MAP, MRR.

    The measures are those of trec_eval [1]_: `ndcg_cut`, `recall`, `P`, `map` and `recip_rank`.

    Parameters
    ----------
    index : object with `search`, callable, (rows, scores), or mapping of name to one of these
        ``index.search(texts, k=depth)``, or a callable with the same arguments, returns two arrays of shape
        (n_queries, depth or fewer): positions of documents, the best first, -1 where nothing was found; and their
        scores. Or the two arrays themselves.
    queries : mapping of id to str, or list of str of length n_queries
        The queries. The id of a query of a list is its position.
    qrels : mapping of query to mapping of document to grade, or table
        Relevance judgements, by ids: ``{"q1": {"d7": 2}}``, or a table with the columns `query`, `doc` and `relevance`.
        Grades are whole numbers, from 1 on relevant. A document without a judgement is not relevant.
    documents : array-like of shape (n_documents,), default=None
        Id of each document, by position. None: the ids in `qrels` are positions.
    k : int or sequence of int, default=10
        Numbers of documents, from the best on, that nDCG, recall and precision count.
    depth : int, default=1000
        Number of documents that are asked for; MAP and MRR count no others.
    baseline : str, default=None
        Name of one of several systems. The others are compared with it.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws.

    Returns
    -------
    result : :class:`~sklearn.utils.Bunch`
        scores : list of dict
            One a system and measure: `method`, `measure`, `mean` over the queries, `low` and `high`, its bootstrap
            interval of 95 %, and `n_queries`. With a baseline the other systems also have `lead`, the difference from
            it, `lead_low`, `lead_high`, and `p` of a paired randomisation test of it, from two sides [2]_.
        queries : list of dict
            One a system and query: `method`, `query`, and each measure, from 0 to 1.

    Warns
    -----
    UserWarning
        If a query has no relevant document, and is left out; or if `qrels` names a document that `documents` lacks,
        which then counts as relevant and not found.

    Raises
    ------
    TypeError
        If `index`, `queries` or `qrels` is none of the above.
    ValueError
        If no query has a relevant document, or no judged document is known; a grade is not a whole number, or differs
        from another of the same query and document; ids in `documents` repeat; a ranking has a document twice, a
        position out of range, a score above the one before it, or too few rows; or `baseline` is none of the systems.

    Notes
    -----
    With grade :math:`g_i` at rank i, :math:`DCG@k = \sum_{i \le k} g_i / \log_2(i + 1)`, and nDCG@k divides it by that
    of the best possible ranking. Grades below 1 count as 0. Recall@k divides the relevant documents among the first k
    by their number, precision@k by k. MAP is the mean over the relevant documents of the precision at their ranks, 0
    if not found. MRR is 1 / rank of the first relevant document.

    Two differences from trec_eval: equal scores keep the order in which they are returned, and a query without a
    relevant document is left out.

    References
    ----------
    .. [1] E. M. Voorhees and D. K. Harman, "TREC: Experiment and Evaluation in Information Retrieval", MIT Press, 2005.
    .. [2] M. D. Smucker, J. Allan and B. Carterette, "A Comparison of Statistical Significance Tests for Information
       Retrieval Evaluation", CIKM 2007.

    Examples
    --------
    >>> from skembed.evaluation import retrieval
    >>> rows = [[2, 0, 1], [1, -1, -1]]
    >>> scores = [[0.9, 0.5, 0.1], [0.7, 0.0, 0.0]]
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}
    >>> queries = {"q1": "a cat", "q2": "a dog"}
    >>> found = retrieval(
    ...     (rows, scores), queries, qrels, documents=["a", "b", "c"], k=2
    ... )
    >>> for row in found.scores:
    ...     print(row["measure"], round(row["mean"], 3))
    ndcg@2 0.622
    recall@2 0.75
    precision@2 0.5
    map 0.5
    mrr 0.75
    """
    cutoffs = list(k) if isinstance(k, Iterable) else [k]
    for cutoff in cutoffs:
        check_scalar(cutoff, "k", Integral, min_val=1)
    check_scalar(depth, "depth", Integral, min_val=max(cutoffs, default=1))
    systems = {str(name): system for name, system in _named(index).items()}
    if not systems:
        raise ValueError("index has no system to measure.")
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline={brief(baseline)} is not one of the systems {listed(systems)}.")
    judged = read_judged(queries, qrels, documents)
    per_query = {name: measure_system(system, name, judged, cutoffs, depth) for name, system in systems.items()}
    rows = [
        {"method": name, "query": query} | measures
        for name, found in per_query.items()
        for query, measures in zip(judged.grades, found)
    ]
    return Bunch(scores=_summaries(per_query, baseline, check_random_state(random_state)), queries=rows)


class Judged(NamedTuple):
    """Queries by id, grades of the relevant documents of those that have one, by position, and the number of all."""

    texts: dict[Hashable, str]
    grades: _Judged
    n_documents: int | None


def read_judged(queries: Mapping[Hashable, str] | Sentences, qrels: Judgements, documents: Labels) -> Judged:
    """Read queries, judgements, and the ids of documents, as :func:`retrieval` takes them."""
    texts = _read_queries(queries)
    ids = None if documents is None else _read_documents(documents)
    return Judged(texts, _by_position(_read_judgements(qrels), texts, ids), None if ids is None else len(ids))


def measure_system(system: System, name: str, judged: Judged, cutoffs: list[int], depth: int) -> list[dict[str, float]]:
    """Let a system search, and return the measures of each judged query."""
    rankings = _rank(system, name, list(judged.texts.values()), depth, judged.n_documents)
    ranked = dict(zip(judged.texts, rankings))
    return [_measure(ranked[query], grades, cutoffs) for query, grades in judged.grades.items()]


def _named(index: System | Mapping[str, System]) -> Mapping[str, System]:
    """Systems by name."""
    if isinstance(index, Mapping):
        return index
    return {"ranking" if isinstance(index, (tuple, list)) else getattr(index, "__name__", type(index).__name__): index}


def _read_queries(queries: Mapping[Hashable, str] | Sentences) -> dict[Hashable, str]:
    texts = dict(queries) if isinstance(queries, Mapping) else dict(enumerate(as_list(queries, "queries")))
    for query, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"Query {brief(query, 40)} of queries must be a string, got {brief(text, 40)}.")
    return texts


def _read_documents(documents: Labels) -> dict[Hashable, int]:
    """Position of each id."""
    ids = as_labels(documents, "documents").tolist()
    positions: dict[Hashable, int] = {}
    for row, document in enumerate(ids):
        if positions.setdefault(document, row) != row:
            raise ValueError(f"documents has {brief(document, 40)} in row {positions[document]} and in row {row}.")
    return positions


def _read_judgements(qrels: Judgements) -> _Judged:
    """Grades by query and document."""
    if isinstance(qrels, Mapping) and all(isinstance(grades, Mapping) for grades in qrels.values()):
        triples = [
            (query, document, grade)
            for query, grades in qrels.items()
            if isinstance(grades, Mapping)
            for document, grade in grades.items()
        ]
        queries, found, given = map(list, zip(*triples)) if triples else ([], [], [])
    elif isinstance(qrels, Mapping) and "query" not in qrels:
        raise TypeError("qrels must map each query to a mapping of documents to grades, such as {'q1': {'d7': 1}}.")
    else:
        table = as_fields(qrels, "qrels", ("query", "doc", "relevance"))
        check_same_length(table, of="qrels")
        queries, found = (as_labels(table[name], f"{name} of qrels").tolist() for name in ("query", "doc"))
        given = table.relevance
    judged: _Judged = {}
    for query, document, grade in zip(queries, found, as_scores(given, "relevance of qrels").tolist()):
        of = f"document {brief(document, 40)} for query {brief(query, 40)}"
        if grade != int(grade):
            raise ValueError(f"qrels has the grade {grade} of {of}. Grades must be whole numbers, from 1 on relevant.")
        if judged.setdefault(query, {}).setdefault(document, grade) != grade:
            raise ValueError(f"qrels has two grades of {of}: {judged[query][document]:g} and {grade:g}.")
    return judged


def _by_position(judged: _Judged, texts: Iterable[Hashable], ids: dict[Hashable, int] | None) -> _Judged:
    """Grades of the relevant documents of each query that has one, by position."""
    relevant = {query: {doc: g for doc, g in judged.get(query, {}).items() if g >= 1} for query in texts}
    without = [query for query, grades in relevant.items() if not grades]
    if len(without) == len(relevant):
        raise ValueError(
            f"No query has a relevant document: queries has {listed(relevant) or 'no query'}, and qrels "
            f"{listed(judged) or 'no query'}. Their ids must be equal, and of one type."
        )
    positions = _find(dict.fromkeys(doc for grades in relevant.values() for doc in grades), ids)
    if without:
        warn_at_user(
            f"{len(without)} of {len(relevant)} queries have no relevant document in qrels, and are left out: "
            f"{listed(without)}."
        )
    return {query: {positions[doc]: g for doc, g in grades.items()} for query, grades in relevant.items() if grades}


def _find(relevant: Iterable[Hashable], ids: dict[Hashable, int] | None) -> dict[Hashable, Hashable]:
    """Position of each relevant document; one that is not there gets a name that is equal to no position."""
    relevant = list(relevant)
    if ids is None:
        bad = next((doc for doc in relevant if not isinstance(doc, Integral) or doc < 0), None)
        if bad is not None:
            raise ValueError(
                f"qrels names the document {brief(bad, 40)}, which is no position. Pass documents, the id of each."
            )
        return {doc: doc for doc in relevant}
    absent = [doc for doc in relevant if doc not in ids]
    if len(absent) == len(relevant):
        raise ValueError(
            f"No relevant document of qrels is in documents: qrels has {listed(absent)}, and documents {listed(ids)}. "
            "Their ids must be equal, and of one type."
        )
    if absent:
        warn_at_user(
            f"Relevant documents of qrels that are not in documents count as not found, {len(absent)} in all: "
            f"{listed(absent)}."
        )
    return {doc: ids.get(doc, ("absent", doc)) for doc in relevant}


def _rank(system: System, name: str, texts: list[str], depth: int, n_documents: int | None) -> list[list[int]]:
    """Positions that a system found for each query, the best first."""
    if callable(search := getattr(system, "search", None)):
        found = search(texts, k=depth)
    elif callable(system):
        found = system(texts, k=depth)
    else:
        found = system
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise TypeError(
            f"{name} must be an index with search(queries, k=...), a callable, or two arrays, the rows and their "
            f"scores; got {describe(found)}."
        )
    rows, scores = map(np.asarray, found)
    if rows.ndim != 2 or len(rows) != len(texts) or rows.shape != scores.shape or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must give two arrays of shape ({len(texts)}, k), positions as integers and their scores; got "
            f"{describe(rows)} of {rows.dtype} and {describe(scores)}."
        )
    return [_ranking(row, score, name, at, n_documents) for at, (row, score) in enumerate(zip(rows, scores))]


def _ranking(row: np.ndarray, score: np.ndarray, name: str, at: int, n_documents: int | None) -> list[int]:
    found = row != -1
    ranking, score = row[found].tolist(), score[found]
    of = f"The ranking of {name} for query {at} (counted from 0)"
    if ranking and (min(ranking) < 0 or n_documents is not None and max(ranking) >= n_documents):
        bad = min(ranking) if min(ranking) < 0 else max(ranking)
        raise ValueError(f"{of} has the position {bad}, but there are {n_documents} documents.")
    if len(set(ranking)) < len(ranking):
        bad = next(document for i, document in enumerate(ranking) if document in ranking[:i])
        raise ValueError(f"{of} has document {bad} twice.")
    if not (score[1:] <= score[:-1]).all():  # NaN too
        raise ValueError(f"{of} has a score above the one before it. Give the best document first.")
    return ranking


def _measure(ranking: list[int], relevant: Mapping[Hashable, float], cutoffs: list[int]) -> dict[str, float]:
    """The measures of one query."""
    gains = np.array([relevant.get(document, 0.0) for document in ranking])
    ideal = np.sort(list(relevant.values()))[::-1]
    ranks = np.flatnonzero(gains) + 1  # of the relevant documents that were found
    return {
        **{f"ndcg@{k}": _dcg(gains[:k]) / _dcg(ideal[:k]) for k in cutoffs},
        **{f"recall@{k}": np.count_nonzero(ranks <= k) / len(relevant) for k in cutoffs},
        **{f"precision@{k}": np.count_nonzero(ranks <= k) / k for k in cutoffs},
        "map": float(np.sum(np.arange(1, len(ranks) + 1) / ranks)) / len(relevant),
        "mrr": 1 / int(ranks[0]) if len(ranks) else 0.0,
    }


def _dcg(gains: NDArray[np.float64]) -> float:
    return float(np.sum(gains / np.log2(np.arange(2, len(gains) + 2))))


def _summaries(
    per_query: Mapping[str, list[dict[str, float]]], baseline: str | None, random: np.random.RandomState
) -> list[dict[str, Any]]:
    """Means over the queries, their intervals, and the difference of each system from the baseline."""
    tables = {name: np.array([list(measures.values()) for measures in found]) for name, found in per_query.items()}
    n = len(next(iter(tables.values())))
    weights = random.multinomial(n, np.full(n, 1 / n), size=N_DRAWS) / n
    signs = random.choice([-1.0, 1.0], size=(N_DRAWS, n))
    rows = []
    for name, table in tables.items():
        for measure, values in zip(per_query[name][0], table.T):
            row = {"method": name, "measure": measure, "n_queries": n}
            row |= interval(values.mean(), weights @ values)
            if baseline is not None and name != baseline:
                lead = values - tables[baseline][:, list(per_query[name][0]).index(measure)]
                of_lead = interval(lead.mean(), weights @ lead)
                row |= {"lead": of_lead["mean"], "lead_low": of_lead["low"], "lead_high": of_lead["high"]}
                row["p"] = _randomisation_test(lead, signs)
            rows.append(row)
    return rows


def _randomisation_test(differences: NDArray[np.float64], signs: NDArray[np.float64]) -> float:
    """The share of random signs of the differences whose mean is as far from 0, that of all draws and the real one."""
    drawn = np.abs(signs @ differences)
    as_far = drawn >= abs(differences.sum()) * (1 - 1e-12)
    return float((1 + np.count_nonzero(as_far)) / (1 + len(signs)))
