"""Rows of the blocks of TextVectorizer, without the checks of scikit-learn, which take longer than one row does."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from .._text.sources import offsets
from .._validation.columns import Matrix, is_sparse
from .._validation.constraints import INT32_MAX

_STEP = 20_000  # rows of a block that are written at once


def tfidf_rows(vectorizer: TfidfVectorizer, texts: list[str]) -> csr_array:
    """What `transform` of a vectorizer with ``sublinear_tf=True`` returns, up to rounding."""
    column_of, terms_of = vectorizer.vocabulary_, vectorizer.build_analyzer()
    counted = [Counter(column_of[term] for term in terms_of(text) if term in column_of) for text in texts]
    ends = offsets(np.fromiter(map(len, counted), np.int64, len(counted)))
    dtype = _index_dtype(ends[-1])
    columns = np.fromiter(chain.from_iterable(counted), dtype, ends[-1])
    counts = np.fromiter(chain.from_iterable(of_text.values() for of_text in counted), np.float64, ends[-1])
    rows = csr_array((counts, columns, ends.astype(dtype)), shape=(len(texts), len(column_of)))
    rows.sort_indices()
    return weighted_rows(rows, vectorizer.idf_)


def weighted_rows(counts: csr_array, idf: np.ndarray) -> csr_array:
    """The counts, in place, as sublinear tf-idf of length one."""
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, values**2, counts.shape[0]))
    counts.data = (values / lengths[row]).astype(np.float32)
    return counts


def side_by_side(rows: dict[str, Matrix], weights: dict[str, float]) -> csr_array:
    """The rows of all blocks, each times the square root of its weight.

    They are written part by part into arrays of the final size: scipy would hold all rows three times.
    """
    blocks = [(rows[name], weight**0.5) for name, weight in weights.items()]
    lengths = [
        np.diff(block.indptr) if is_sparse(block) else np.count_nonzero(block, axis=1)
        for block, scale in blocks
        if scale
    ]
    ends = offsets(sum(lengths))
    data, indices = np.empty(ends[-1], np.float32), np.empty(ends[-1], _index_dtype(ends[-1]))
    free, n_columns = ends[:-1].copy(), 0  # where the next entries of each row go
    for block, scale in blocks:
        for start in range(0, len(free) if scale else 0, _STEP):
            part = block if len(free) <= _STEP else block[start : start + _STEP]
            if is_sparse(part):
                values, columns, length = part.data, part.indices, np.diff(part.indptr)
            else:
                row, columns = np.nonzero(part)
                values, length = part[row, columns], np.bincount(row, minlength=len(part))
            at = free[start : start + _STEP]
            places = np.repeat(at - np.cumsum(length) + length, length) + np.arange(len(values))
            data[places], indices[places] = values * np.float32(scale), columns + n_columns
            at += length
        n_columns += block.shape[1]
    return csr_array((data, indices, ends.astype(indices.dtype)), shape=(len(free), n_columns))


def _index_dtype(n_entries: int) -> type[np.signedinteger]:
    """Many estimators of scikit-learn refuse 64-bit indices."""
    return np.int32 if n_entries <= INT32_MAX else np.int64
