"""Vectors to search in, dense or sparse: checked, and scored against queries a tile at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn import get_config
from sklearn.preprocessing import normalize

from .._compiled.arrays import read_only, read_only_view
from .._compiled.products import multiply, panels_of
from .._compiled.simd import WIDTH
from .._validation.columns import Matrix, Rows, as_matrix, is_sparse
from ._tiles import SPARSE_COLUMNS, multiply_sparse, prepare_rows

_TILE_ROWS, _TILE_QUERIES = 512, 256  # a tile and its rows stay in the cache of a core
FRACTION = 1 / 16  # of the working memory, for the tile of a thread
_LARGEST = 1e15  # products of numbers below it are within float32


class Queries(NamedTuple):
    """A block of queries, as the columns of a matrix."""

    columns: np.ndarray  # float32; dense: panels of sixteen columns; sparse: a row for each feature that occurs
    positions: np.ndarray | None  # (n_features,) int32, sparse: row of each feature in `columns`, 0 if none
    is_zero: np.ndarray  # (n_queries,) bool

    @property
    def n_columns(self) -> int:
        """Columns of a tile, a multiple of sixteen."""
        n = len(self.is_zero)
        return n + -n % WIDTH if self.positions is None else self.columns.shape[1]

    def floors(self, least: np.float32) -> np.ndarray:
        """Return the score that a row must exceed for each column of a tile, (1, n_columns) float32."""
        floors = np.full((1, self.n_columns), np.inf, np.float32)  # no score exceeds it
        floors[0, : len(self.is_zero)][~self.is_zero] = least
        return floors


# The index of the first row, and scores (n_rows, n_columns) float32; a column is a query or, at the end, padding.
Tile = tuple[int, np.ndarray]


class DenseRows:
    """Rows of an array, which may be memory-mapped: they are copied a block at a time."""

    block_size = _TILE_QUERIES

    def __init__(self, values: np.ndarray, name: str, scaled: bool) -> None:
        self._values, self._name, self._scaled = values, name, scaled
        self.shape: tuple[int, int] = values.shape
        self.n_terms = values.shape[1]  # of a score, at most

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Some rows as they were given."""
        return np.asarray(self._values[rows])

    def queries(self, rows: range) -> Queries:
        """Rows as a block of queries."""
        block = self.block(rows)
        return Queries(panels_of(block), None, np.isnan(block[:, 0]))

    def tiles(self, queries: Queries, rows: range) -> Iterator[Tile]:
        """Scores of rows for a block of queries."""
        buffer = np.empty((_tile_rows(queries.n_columns + self.shape[1]), queries.n_columns), np.float32)
        for first in range(rows.start, rows.stop, len(buffer)):
            block = self.block(range(first, min(first + len(buffer), rows.stop)))
            scores = buffer[: len(block)]
            multiply(block, queries.columns, scores)
            yield first, scores

    def block(self, rows: range) -> np.ndarray:
        """Rows as the kernels take them: of length one for cosines, NaN where all numbers are zero."""
        given = self._values[rows.start : rows.stop]
        if self._scaled and given.dtype not in (np.float32, np.float16):
            given = given.astype(np.float64)
            largest = np.abs(given).max(axis=1, keepdims=True)  # beyond the range of float32, or below it
            given /= np.where((largest > 0) & (largest < np.inf), largest, 1)
        with np.errstate(over="ignore"):
            numbers = read_only(given)
        block = np.empty(numbers.shape, np.float32)
        n_good = prepare_rows(numbers, self._scaled, np.float32(np.inf if self._scaled else _LARGEST), block)
        if n_good < len(block):
            found = given[n_good].astype(np.float64)
            odd = found[~(np.abs(found) < _LARGEST)][0]
            limit = "" if not np.isfinite(odd) else f"; dot products need numbers below {_LARGEST:g}"
            raise ValueError(f"{self._name} has {odd:g} in row {rows.start + n_good}{limit}.")
        return block


class SparseRows:
    """Rows of a sparse matrix in CSR format, whose columns ascend: scaled copies of its numbers, its own columns."""

    block_size = SPARSE_COLUMNS

    def __init__(self, values: csr_array | csr_matrix, name: str, scaled: bool) -> None:
        self._values = values
        self.shape: tuple[int, int] = values.shape
        self._ptr, self._columns = values.indptr.astype(np.int64), values.indices.astype(np.int32, copy=False)
        self.n_terms = int(np.diff(self._ptr).max(initial=0))
        odd = np.flatnonzero(~(np.abs(values.data) < (np.inf if scaled else _LARGEST)))
        if len(odd):
            row = np.searchsorted(self._ptr, odd[0], side="right") - 1
            raise ValueError(f"{name} has {values.data[odd[0]]:g} in row {row}.")
        self._is_zero = np.diff((values != 0).indptr) == 0
        if scaled and values.nnz:  # by the largest number first, whose square may leave the range of float64
            values = normalize(normalize(values.astype(np.float64), "max", copy=False), copy=False)
        self._data = values.data.astype(np.float32)

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, rows: np.ndarray) -> csr_array | csr_matrix:
        """Some rows as they were given."""
        return self._values[rows]

    def queries(self, rows: range) -> Queries:
        """Rows as a block of queries."""
        ptr = self._ptr[rows.start : rows.stop + 1]
        numbers, columns = self._data[ptr[0] : ptr[-1]], self._columns[ptr[0] : ptr[-1]]
        features, inverse = np.unique(columns, return_inverse=True)
        positions = np.zeros(self.shape[1], np.int32)
        positions[features] = np.arange(1, len(features) + 1)
        panel = np.zeros((len(features) + 1, WIDTH if len(rows) <= WIDTH else SPARSE_COLUMNS), np.float32)
        panel[inverse + 1, np.repeat(np.arange(len(rows)), np.diff(ptr))] = numbers
        return Queries(panel, positions, self._is_zero[rows.start : rows.stop])

    def tiles(self, queries: Queries, rows: range) -> Iterator[Tile]:
        """Scores of rows for a block of queries."""
        buffer = np.empty((_tile_rows(queries.n_columns), queries.n_columns), np.float32)
        for first in range(rows.start, rows.stop, len(buffer)):
            ptr = self._ptr[first : min(first + len(buffer), rows.stop) + 1]
            scores = buffer[: len(ptr) - 1]
            multiply_sparse(self._data, read_only_view(self._columns), ptr, queries.positions, queries.columns, scores)
            scores[self._is_zero[first : first + len(scores)]] = np.nan
            yield first, scores


SearchRows = DenseRows | SparseRows


def _tile_rows(n_columns: int) -> int:
    """Rows of a tile that have ``n_columns`` float32 each, within scikit-learn's `working_memory` (MiB)."""
    n_bytes = get_config()["working_memory"] * 2**20 * FRACTION
    return int(np.clip(n_bytes // (4 * n_columns), 1, _TILE_ROWS))


def search_rows(tables: dict[str, Rows], scaled: bool) -> list[SearchRows]:
    """Return the rows of named tables, all dense or all sparse, for cosines if `scaled`, else for dot products."""
    found = {name: _numbers(as_matrix(values, name), name) for name, values in tables.items()}
    for name, matrix in found.items():
        if not matrix.shape[1]:
            raise ValueError(f"{name} must have a column or more, got shape {matrix.shape}.")
    widths = {matrix.shape[1] for matrix in found.values()}
    if len(widths) > 1:
        shapes = " and ".join(f"{name} of shape {matrix.shape}" for name, matrix in found.items())
        raise ValueError(f"The number of columns differs: {shapes}.")
    if not any(map(is_sparse, found.values())):
        return [DenseRows(matrix, name, scaled) for name, matrix in found.items()]
    return [SparseRows(_as_csr(matrix), name, scaled) for name, matrix in found.items()]


def _numbers(matrix: Matrix, name: str) -> Matrix:
    """Return a matrix of numbers, which a data frame of nullable columns holds as objects."""
    if matrix.dtype == object:
        with contextlib.suppress(TypeError, ValueError):  # text, or a value is missing
            return matrix.astype(np.float32)
    if matrix.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must hold numbers, got an array of {matrix.dtype}. Of a table with a column of vectors, pass that "
            "column."
        )
    return matrix


def _as_csr(matrix: Matrix) -> csr_array | csr_matrix:
    """Return a matrix of float32 or float64 whose columns ascend, each once in a row: as it is, if it is one."""
    rows: csr_array = matrix if is_sparse(matrix) and matrix.format == "csr" else csr_array(matrix)
    if not rows.has_canonical_format:
        rows = csr_array(rows, dtype=np.float64, copy=True)
        rows.sum_duplicates()
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
