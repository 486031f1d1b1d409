"""An index of many rows, for answers within a millisecond."""

from __future__ import annotations

import os
import tempfile
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._compiled.threads import count_threads
from .._validation.constraints import check_values, integers
from .._validation.values import PathLike, user_path
from ._rows import DenseRows, search_rows

__all__ = ["ApproximateIndex"]

_BLOCK = 8192  # rows that are added at a time


class ApproximateIndex:
    """An index of the rows of a matrix, for approximate search by the cosine (HNSW, by the library usearch).

    :func:`~skembed.search.nearest` compares a query with all rows. From some millions of rows on, or where a query may
    take a millisecond at most, an index of near neighbours is faster [1]_: it finds most of the nearest rows, not
    always all. Needs the optional library usearch (``pip install skembed[search]``).

    Parameters
    ----------
    vectors : array-like or data frame of shape (n_vectors, n_features)
        Vectors to search in. They are read block by block and may be memory-mapped; the index holds a copy in float32.
    n_jobs : int or None, default=1
        Number of threads that build the index; -1 for one per core. With several, the index differs from build to
        build, and so may a row that it misses.

    Attributes
    ----------
    n_features : int
        Number of columns.

    Raises
    ------
    ImportError
        If usearch is not installed.
    TypeError
        If the matrix does not hold numbers, or is sparse: :func:`~skembed.search.nearest` searches sparse rows.
    ValueError
        If a number is NaN or infinite, or a parameter is invalid.

    See Also
    --------
    nearest : Finds the nearest rows exactly.

    Notes
    -----
    A row of zeros, such as that of a sentence without a known word, matches nothing, and nothing matches it.

    References
    ----------
    .. [1] Yu. A. Malkov and D. A. Yashunin, "Efficient and robust approximate nearest neighbor search using
       Hierarchical Navigable Small World graphs", IEEE TPAMI 42 (4), 2020.

    Examples
    --------
    >>> from skembed.search import ApproximateIndex
    >>> index = ApproximateIndex([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]])
    >>> index.search([[2.0, 0.1], [0.0, 0.0]], k=2)[0]
    array([[ 0,  1],
           [-1, -1]])
    """

    def __init__(self, vectors: Any, *, n_jobs: int | None = 1) -> None:
        check_values({"n_jobs": [Integral, None]}, {"n_jobs": n_jobs}, "ApproximateIndex")
        rows = _dense_rows(vectors, "vectors")
        n_vectors, self.n_features = rows.shape
        self._index = _usearch().Index(ndim=self.n_features, metric="cos", dtype="f32")
        for start in range(0, n_vectors, _BLOCK):
            block = rows.block(range(start, min(start + _BLOCK, n_vectors)))
            known = np.flatnonzero(~np.isnan(block[:, 0]))
            if len(known):
                self._index.add(start + known, block[known], threads=count_threads(n_jobs))

    def search(
        self, queries: Any, k: int = 10, *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Find about the `k` nearest rows for each query.

        Parameters
        ----------
        queries : array-like or data frame of shape (n_queries, n_features)
            Vectors to search for.
        k : int, default=10
            How many to find for each query. More than there are vectors cost memory, as in
            :func:`~skembed.search.nearest`.
        n_jobs : int or None, default=None
            Number of threads; -1 for one per core. It does not change the result.

        Returns
        -------
        indices : ndarray of shape (n_queries, k), dtype int64
            Rows of the vectors, by falling cosine; -1 where there are fewer than `k`.
        cosines : ndarray of shape (n_queries, k), dtype float32
            Their cosines; NaN where the index is -1.

        Raises
        ------
        TypeError
            If the queries do not hold numbers, or are sparse.
        ValueError
            If a number is NaN or infinite, the number of columns is not that of the index, or a parameter is invalid.
        """
        check_values({"k": [integers(1)], "n_jobs": [Integral, None]}, {"k": k, "n_jobs": n_jobs}, "search")
        rows = _dense_rows(queries, "queries")
        if rows.shape[1] != self.n_features:
            raise ValueError(f"queries have {rows.shape[1]} columns, the vectors of the index {self.n_features}.")
        block = rows.block(range(len(rows)))
        indices, cosines = np.full((len(rows), k), -1), np.full((len(rows), k), np.nan, np.float32)
        known = np.flatnonzero(~np.isnan(block[:, 0]))
        if len(known) and len(self._index):
            found = self._index.search(block[known], min(k, len(self._index)), threads=count_threads(n_jobs))
            keys, distances = np.atleast_2d(found.keys), np.atleast_2d(found.distances)
            n_found = np.ravel(np.asarray(getattr(found, "counts", keys.shape[1])))
            filled = np.arange(keys.shape[1]) < n_found[:, None]
            indices[known, : keys.shape[1]] = np.where(filled, keys.astype(np.int64), -1)
            cosines[known, : keys.shape[1]] = np.where(filled, np.clip(1 - distances, -1, 1), np.nan)
        return indices, cosines

    def save(self, path: PathLike) -> None:
        """Write the index to a file of usearch. A file that is there is replaced in one step.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            If `path` is a URL.
        """
        target = user_path(path)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            written = Path(folder, "index")
            try:
                self._index.save(os.fspath(written))
            except RuntimeError as error:
                raise OSError(f"{os.fspath(path)!r} cannot be written: {error}.") from None
            os.replace(written, target)

    @classmethod
    def load(cls, path: PathLike) -> ApproximateIndex:
        """Open an index that `save` wrote. usearch does not check what it reads: open only files that you trust.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        index : ApproximateIndex
            The index.

        Raises
        ------
        ImportError
            If usearch is not installed.
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file is no index of cosines, or `path` is a URL.
        """
        file = user_path(path)
        file.stat()
        usearch = _usearch()
        try:
            found = usearch.Index.restore(os.fspath(file))
        except (RuntimeError, ValueError):
            found = None
        if found is None or found.metric_kind != usearch.MetricKind.Cos:
            raise ValueError(f"{os.fspath(path)!r} is no index that ApproximateIndex.save wrote, or damaged.")
        index = cls.__new__(cls)
        index._index, index.n_features = found, found.ndim
        return index

    def __getstate__(self) -> bytes:
        return bytes(self._index.save())

    def __setstate__(self, content: bytes) -> None:
        self._index = _usearch().Index.restore(content)
        self.n_features = self._index.ndim


def _dense_rows(values: Any, name: str) -> DenseRows:
    (rows,) = search_rows({name: values}, True)
    if not isinstance(rows, DenseRows):
        raise TypeError(f"{name} is sparse, and an ApproximateIndex needs dense rows. Use nearest, or make it dense.")
    return rows


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError as error:
        raise ImportError("ApproximateIndex needs the optional library usearch: pip install skembed[search]") from error
    return index
