"""Exact BM25: in which documents each term occurs, and what it adds to their scores.

The score of a document is the sum over the terms of the query of ``idf * count / (count + k1 (1 - b + b length /
mean length))`` with ``idf = log(1 + (N - df + 0.5) / (df + 0.5))``. The count of a term and the length of a document
are sums over its fields, each times the weight of the field (BM25F).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._compiled.arrays import read_only_view
from .._validation.constraints import INT32_MAX


class Scoring(NamedTuple):
    """The settings of BM25."""

    k1: float  # how soon a repeated term counts no more
    b: float  # how much the length of a document counts
    field_weights: np.ndarray  # (n_fields,) float64

    @property
    def n_fields(self) -> int:
        return len(self.field_weights)


class Postings(NamedTuple):
    """The documents of each term: those of term t are ``docs[ptr[t]:ptr[t + 1]]``, in rising order."""

    ptr: np.ndarray  # (n_terms + 1,) int64
    docs: np.ndarray  # (n_postings,) int32
    weights: np.ndarray  # (n_postings,) float32: score of the term in the document, without its idf

    def df(self, terms: np.ndarray) -> NDArray[np.int64]:
        """Return the number of documents of each of some terms."""
        return self.ptr[terms + 1] - self.ptr[terms]

    def of(self, term: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents of a term, and its weight in each."""
        part = slice(self.ptr[term], self.ptr[term + 1])
        return self.docs[part], self.weights[part]

    def weight(self, term: int, doc: int) -> float:
        """Return the weight of a term in a document, 0 where it does not occur."""
        docs, weights = self.of(term)
        at = int(np.searchsorted(docs, doc))
        return float(weights[at]) if at < len(docs) and docs[at] == doc else 0.0


def idf(df: np.ndarray | int, n_documents: int) -> NDArray[np.float64]:
    """Return what a term counts that occurs in ``df`` of the documents."""
    frequency = np.asarray(df, np.float64)
    return np.log1p((n_documents - frequency + 0.5) / (frequency + 0.5))


def list_postings(
    tokens: np.ndarray, ptr: np.ndarray, n_terms: int, is_alive: np.ndarray, scoring: Scoring
) -> Postings:
    """Return the postings of documents; a field without weight does not count.

    ``tokens`` (n_tokens,) int32 and ``ptr`` (n_documents n_fields + 1,) int64: the terms of all fields
    """
    n_fields, k1, b = scoring.n_fields, scoring.k1, scoring.b
    sizes = np.diff(ptr)
    of_field = np.tile(scoring.field_weights.astype(np.float32), len(is_alive))
    dtype = np.int32 if len(tokens) <= INT32_MAX else np.int64
    entries = np.repeat(of_field, sizes), tokens, ptr[::n_fields].astype(dtype)
    counts = csr_array(entries, shape=(len(is_alive), n_terms)).tocsc()
    counts.has_sorted_indices = True
    counts.sum_duplicates()
    counts.eliminate_zeros()
    docs = counts.indices.astype(np.int32, copy=False)
    lengths = sizes.reshape(-1, n_fields) @ scoring.field_weights
    mean = lengths.sum() / max(np.count_nonzero(is_alive), 1)
    norms = (k1 * (1 - b + b * lengths / (mean if mean > 0 else 1.0))).astype(np.float32)
    weights = counts.data / (counts.data + norms[docs])
    return Postings(*map(read_only_view, (counts.indptr.astype(np.int64), docs, weights)))
