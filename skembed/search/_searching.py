"""Queries answered from the state of an index, some at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._compiled.arrays import read_only_view
from .._compiled.simd import WIDTH
from .._compiled.threads import Threads, count_threads
from .._text.sources import offsets
from ._bm25 import idf
from ._index_state import IndexState
from ._learned_vectors import spread_of_cosines, vectors_of
from ._ranking import Queries, rank
from ._terms import Query
from ._tiles import ABSENT, split_keys

# Of standardised cosines, beside standardised BM25; found on the development collections. A pretrained model knows some
# of what learned vectors know, so these count less beside it.
WEIGHT, WEIGHT_BESIDE_PRETRAINED, PRETRAINED_WEIGHT = 0.6, 0.4, 0.75
_LIGHT = 0.3  # what a function word of a query counts, of other words one; found on the development collections
_AT_ONCE = 32  # queries of a thread
_FIRST = 100  # documents of the best BM25 whose vectors are read first: the better they are, the fewer follow
Weights = tuple[float, float]  # of the standardised cosines of learned vectors, and of a pretrained model


class Asked(NamedTuple):
    """Queries, and their vectors of a pretrained model."""

    queries: Sequence[Query]
    pretrained: np.ndarray  # (n_queries, n_columns) float32, of length one or zero; no columns without a model


def search_in(
    state: IndexState, asked: Asked, k: int, weights: Weights, n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
    """Find the k best documents of each query, or all documents if there are fewer.

    Returns rows and scores, (n_queries, k), -1 and NaN where there are fewer; and slopes, (n_queries,): a score is BM25
    plus the slope times the weighted mean of the cosines.
    """
    slices = (slice(first, first + _AT_ONCE) for first in range(0, max(len(asked.queries), 1), _AT_ONCE))
    parts = [Asked(asked.queries[part], asked.pretrained[part]) for part in slices]
    threads = Threads(count_threads(n_jobs) if len(parts) > 1 else 1)  # to count them takes longer than a query
    found = list(threads.in_order(lambda part: _rank(state, part, min(k, max(state.n_rows, 1)), weights), parts))
    rows, scores, slopes = map(np.concatenate, zip(*found))
    return rows, scores, slopes


def _rank(state: IndexState, asked: Asked, k: int, weights: Weights) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_queries = len(asked.queries)
    blocks = np.zeros((-(-state.n_rows // WIDTH), WIDTH), np.float32)
    slopes, keys = np.empty(n_queries, np.float32), np.full((n_queries, k), ABSENT)
    first = np.empty((1, max(k, _FIRST)), np.uint64)
    queries = encode_queries(state, asked, weights)
    rank(queries, state.postings, state.documents.vectors, state.n_alive, blocks.ravel(), blocks, first, slopes, keys)
    keys.sort(axis=1)
    rows, scores = np.empty(keys.shape, np.int64), np.empty(keys.shape, np.float32)
    split_keys(keys, rows, scores)
    return rows, scores, slopes


def encode_queries(state: IndexState, asked: Asked, weights: Weights) -> Queries:
    """Return queries as numbers; a query without a term that a document has gets none."""
    queries = asked.queries
    ptr, terms, counts, weights_in_query = terms_of(state, queries)
    bm25 = (weights_in_query * idf(state.postings.df(terms), state.n_alive)).astype(np.float32)
    learned = vectors_of_terms(state, ptr, terms, counts)
    slopes = slopes_of(state, learned, asked.pretrained, weights)
    vectors, total = np.hstack([learned, asked.pretrained]), slopes.sum(axis=1)
    if asked.pretrained.shape[1]:  # one product of rows gives the weighted mean of both cosines
        shares = np.divide(slopes, total[:, None], out=np.zeros_like(slopes), where=total[:, None] > 0)
        vectors = vectors * np.repeat(shares, [learned.shape[1], asked.pretrained.shape[1]], axis=1)
        vectors = vectors.astype(np.float32)
    filters, allowed = np.full(len(queries), -1), list[np.ndarray]()
    for i, query in enumerate(queries):
        if not query.is_plain:
            filters[i] = len(allowed)
            allowed.append(_allowed(state, query))
    rows_allowed = np.array(allowed, np.uint8).reshape(len(allowed), -1 if allowed else state.n_rows)
    return Queries(ptr, terms, bm25, read_only_view(vectors), total, filters, rows_allowed)


def vectors_of_terms(state: IndexState, ptr: np.ndarray, terms: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the learned vectors of queries, from what `terms_of` returns."""
    tokens, token_ptr = np.repeat(terms, counts), offsets(counts)[ptr]
    return vectors_of(tokens, token_ptr, state.rows_of_terms, state.word_vectors)


def slopes_of(state: IndexState, learned: np.ndarray, pretrained: np.ndarray, weights: Weights) -> np.ndarray:
    """Return the weights of both cosines over their standard deviations, (n_queries, 2) float64."""
    slopes = np.zeros((len(learned), 2))
    documents = state.documents
    parts = (learned, documents.learned), (pretrained, documents.pretrained)
    for column, ((vectors, covariance), weight) in enumerate(zip(parts, weights)):
        if weight > 0 and vectors.shape[1]:
            spread = spread_of_cosines(vectors, covariance)
            np.divide(weight, spread, out=slopes[:, column], where=spread > 0)
    return slopes


def terms_of(state: IndexState, queries: Sequence[Query]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the terms of queries that documents have, in the order of each query.

    ``ptr`` (n_queries + 1,) int64, where those of each query begin; ``terms`` (n,) int32; ``counts`` (n,) int64, how
    often the query has each; ``weights`` (n,) float64, the same, less for a light term.
    """
    terms, all_counts, sizes, factors = list[str](), list[int](), list[int](), list[float]()
    for query in queries:
        counted = Counter(query.terms)
        terms += counted
        all_counts += counted.values()
        factors += [_LIGHT if term in query.light else 1.0 for term in counted]
        sizes.append(len(counted))
    numbers, counts = state.lexicon.find(terms), np.array(all_counts, np.int64)
    known = (numbers >= 0) & (state.postings.df(numbers) > 0)  # -1 reads some term
    ptr = np.append(0, np.cumsum(known))[offsets(np.array(sizes, np.int64))]
    return ptr, numbers[known], counts[known], (counts * np.array(factors, np.float64))[known]


def _allowed(state: IndexState, query: Query) -> NDArray[np.bool_]:
    """Which documents have all that a query requires and nothing that it excludes, (n_rows,)."""
    allowed = np.ones(state.n_rows, bool)
    for phrase in query.required:
        has_phrase = np.zeros(state.n_rows, bool)
        has_phrase[_rows_with(state, phrase)] = True
        allowed &= has_phrase
    for phrase in query.excluded:
        allowed[_rows_with(state, phrase)] = False
    return allowed


def _rows_with(state: IndexState, phrase: list[str]) -> np.ndarray:
    """The rows that have the terms of a phrase one after the other."""
    terms = state.lexicon.find(phrase)
    if not len(terms) or (terms < 0).any():
        return np.empty(0, np.int32)
    rarest_first = terms[np.argsort(state.postings.df(terms), kind="stable")]
    rows = state.postings.of(rarest_first[0])[0]
    for term in rarest_first[1:]:
        rows = np.intersect1d(rows, state.postings.of(term)[0], assume_unique=True)
    if len(terms) > 1:
        n_fields = state.scoring.n_fields
        fields = (rows[:, None].astype(np.int64) * n_fields + np.arange(n_fields)).ravel()
        positions = _positions_of(state.tokens, state.token_ptr, fields, terms)
        rows = (np.searchsorted(state.token_ptr, positions, side="right") - 1) // n_fields
    return rows


def _positions_of(tokens: np.ndarray, ptr: np.ndarray, rows: np.ndarray, phrase: np.ndarray) -> np.ndarray:
    """Return where the terms of a phrase stand one after the other in some of the texts, which `ptr` separates."""
    lengths = ptr[rows + 1] - ptr[rows]
    found = np.repeat(ptr[rows + 1] - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
    is_inside = np.repeat(ptr[rows + 1], lengths) - found >= len(phrase)
    found = found[is_inside]
    for at, term in enumerate(phrase):
        found = found[tokens[found + at] == term]
    return found
