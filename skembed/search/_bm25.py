"""Exact BM25: in which documents each term occurs, and what it adds to their scores.

The score of a document is the sum over the terms of the query of ``idf * count / (count + k1 (1 - b + b length /
mean length))`` with ``idf = log(1 + (N - df + 0.5) / (df + 0.5))``. The count of a term and the length of a document
are sums over its fields, each times the weight of the field (BM25F).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._compiled.arrays import read_only_view
from .._compiled.compile import lean_kernel
from .._text.sources import offsets


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
    """Return the postings of documents."""
    n_fields, k1, b = scoring.n_fields, scoring.k1, scoring.b
    df, last = np.zeros(n_terms, np.int64), np.full(n_terms, -1, np.int32)
    tokens, ptr, weights = read_only_view(tokens), read_only_view(ptr), scoring.field_weights.astype(np.float32)
    _count_documents(tokens, ptr, weights, last, df)
    posting_ptr = offsets(df)
    docs, counts = np.empty(posting_ptr[-1], np.int32), np.empty(posting_ptr[-1], np.float32)
    last[:] = -1
    _write_postings(tokens, ptr, weights, last, posting_ptr[:-1].copy(), docs, counts)
    lengths = np.diff(ptr).reshape(-1, n_fields) @ scoring.field_weights
    mean = lengths.sum() / max(np.count_nonzero(is_alive), 1)
    norms = k1 * (1 - b + b * lengths / (mean if mean > 0 else 1.0))
    _saturate(docs, norms.astype(np.float32), counts)
    return Postings(*map(read_only_view, (posting_ptr, docs, counts)))


@lean_kernel
def _count_documents(tokens, ptr, field_weights, last, df):
    """Count the documents of each term; a field without weight does not count.

    ``tokens`` (n_tokens,) int32; ``ptr`` (n_documents n_fields + 1,) int64, where the fields begin
    ``field_weights`` (n_fields,) float32; ``last`` (n_terms,) int32, all -1, receives the last document of each term
    ``df`` (n_terms,) int64, zeros
    """
    n_fields = field_weights.shape[0]
    for row in range(ptr.shape[0] - 1):
        doc, weight = row // n_fields, field_weights[row % n_fields]
        for i in range(ptr[row], ptr[row + 1] if weight > 0.0 else ptr[row]):
            term = tokens[i]
            if last[term] != doc:
                last[term] = doc
                df[term] += 1


@lean_kernel
def _write_postings(tokens, ptr, field_weights, last, at, docs, counts):
    """Write the documents of each term, and the sum of the weights of the fields where it stands.

    ``tokens`` (n_tokens,) int32; ``ptr`` (n_documents n_fields + 1,) int64, where the fields begin
    ``field_weights`` (n_fields,) float32; ``last`` (n_terms,) int32, all -1
    ``at`` (n_terms,) int64: where the postings of each term begin; ends where they end
    ``docs`` int32 and ``counts`` float32, (n_postings,), are written
    """
    n_fields = field_weights.shape[0]
    for row in range(ptr.shape[0] - 1):
        doc, weight = row // n_fields, field_weights[row % n_fields]
        for i in range(ptr[row], ptr[row + 1] if weight > 0.0 else ptr[row]):
            term = tokens[i]
            if last[term] == doc:
                counts[at[term] - 1] += weight
                continue
            last[term] = doc
            docs[at[term]] = doc
            counts[at[term]] = weight
            at[term] += 1


@lean_kernel
def _saturate(docs, norms, counts):
    """Turn counts into ``count / (count + norm)``: ``docs`` int32 and ``counts`` float32, (n_postings,)."""
    for i in range(docs.shape[0]):
        counts[i] /= counts[i] + norms[docs[i]]


@lean_kernel
def have_phrase(tokens, ptr, n_fields, docs, phrase, found):
    """Find out which documents have the terms of a phrase one after the other in a field.

    ``tokens`` (n_tokens,) int32; ``ptr`` (n_documents n_fields + 1,) int64, where the fields begin
    ``docs`` (n,) int32 or int64; ``phrase`` (n_terms,) int32; ``found`` (n,) bool is written
    """
    n = phrase.shape[0]
    for d in range(docs.shape[0]):
        found[d] = False
        for row in range(docs[d] * n_fields, (docs[d] + 1) * n_fields):
            for first in range(ptr[row], ptr[row + 1] - n + 1):
                same = np.int64(0)
                while same < n and tokens[first + same] == phrase[same]:
                    same += 1
                if same == n:
                    found[d] = True
