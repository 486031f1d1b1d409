"""Rows of the blocks of TextVectorizer, without the checks of scikit-learn, which take longer than one row does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from .._validation.columns import Matrix, is_sparse
from .._validation.constraints import INT32_MAX

_STEP = 20_000  # rows that are put side by side at once


def tfidf_rows(vectorizer: TfidfVectorizer, texts: list[str]) -> csr_array:
    """What `transform` of a vectorizer with ``sublinear_tf=True`` returns, up to rounding."""
    counts = count_rows(map(vectorizer.build_analyzer(), texts), vectorizer.vocabulary_)
    return weighted_rows(counts, vectorizer.idf_)


def count_rows(terms_of_texts: Iterable[Iterable[str]], vocabulary: dict[str, int]) -> csr_array:
    """How often each known term is in each text."""
    find = vocabulary.get
    columns: list[int] = []
    counts: list[int] = []
    ends = [0]
    for terms in terms_of_texts:
        of_text: dict[int, int] = {}
        for term in terms:
            column = find(term)
            if column is not None:
                of_text[column] = of_text.get(column, 0) + 1
        columns.extend(of_text)
        counts.extend(of_text.values())
        ends.append(len(columns))
    dtype = np.int32 if len(columns) <= INT32_MAX else np.int64
    entries = np.array(counts, np.float64), np.array(columns, dtype), np.array(ends, dtype)
    rows = csr_array(entries, shape=(len(ends) - 1, len(vocabulary)))
    rows.sort_indices()
    return rows


def weighted_rows(counts: csr_array, idf: np.ndarray) -> csr_array:
    """The counts, in place, as sublinear tf-idf of length one."""
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, values**2, counts.shape[0]))
    counts.data = (values / lengths[row]).astype(np.float32)
    return counts


def side_by_side(rows: dict[str, Matrix], weights: dict[str, float]) -> csr_array:
    """The rows of all blocks, each times the square root of its weight."""
    n_rows = next(iter(rows.values())).shape[0]
    if n_rows <= _STEP:
        return _stacked(rows, weights)
    # Part by part into arrays of the final size: scipy would hold all rows three times.
    found = {name: block for name, block in rows.items() if weights[name]}
    n_entries = sum(block.nnz if is_sparse(block) else np.count_nonzero(block) for block in found.values())
    data = np.empty(n_entries, np.float32)
    indices = np.empty(n_entries, np.int32 if n_entries <= INT32_MAX else np.int64)
    ends = np.zeros(n_rows + 1, indices.dtype)
    end = 0
    for start in range(0, n_rows, _STEP):
        part = _stacked({name: block[start : start + _STEP] for name, block in rows.items()}, weights)
        ends[start + 1 : start + 1 + part.shape[0]] = part.indptr[1:]
        ends[start + 1 : start + 1 + part.shape[0]] += end
        data[end : end + part.nnz], indices[end : end + part.nnz] = part.data, part.indices
        end += part.nnz
    return csr_array((data[:end], indices[:end], ends), shape=(n_rows, part.shape[1]))


def _stacked(rows: dict[str, Matrix], weights: dict[str, float]) -> csr_array:
    """The same at once, without the intermediate matrices of scipy, which take longer than one row does."""
    n_rows = next(iter(rows.values())).shape[0]
    blocks = []  # entries, their columns, and where rows begin
    n_columns = 0
    for name, weight in weights.items():
        block, scale = rows[name], np.float32(weight**0.5)
        width = block.shape[1]
        if weight and not is_sparse(block) and block.all():
            columns = np.arange(n_rows * width) % width + n_columns
            blocks.append((block.ravel() * scale, columns, np.arange(n_rows + 1) * width))
        elif weight:
            block = block if isinstance(block, csr_array) else csr_array(block)
            blocks.append((block.data * scale, block.indices + n_columns, block.indptr))
        n_columns += width
    if n_rows == 1:
        data, indices = (np.concatenate([block[part] for block in blocks]) for part in (0, 1))
        ends = np.array([0, len(data)], np.int32)
        return csr_array((data, indices.astype(np.int32), ends), shape=(1, n_columns))
    lengths = [np.diff(indptr) for _, _, indptr in blocks]
    ends = np.zeros(n_rows + 1, np.int64)
    np.cumsum(sum(lengths), out=ends[1:])
    data = np.empty(ends[-1], np.float32)
    indices = np.empty(ends[-1], np.int32 if ends[-1] <= INT32_MAX else np.int64)
    firsts = ends[:-1].copy()
    for (values, columns, indptr), length in zip(blocks, lengths):
        places = np.repeat(firsts - indptr[:-1], length) + np.arange(len(values))
        data[places], indices[places] = values, columns
        firsts += length
    return csr_array((data, indices, ends.astype(indices.dtype)), shape=(n_rows, n_columns))
