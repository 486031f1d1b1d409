"""What users pass text and numbers in: lists, arrays, generators, tables and columns of pandas, polars and pyarrow.

They are told apart here alone, by what they can do, so that no library is imported for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .messages import brief

_SLICE = 8192  # items of an Arrow array that are made objects of Python at a time


def is_missing(item: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, pandas' NA, or masked."""
    if item is None or type(item).__name__ in ("NAType", "MaskedConstant"):
        return True
    differs = item != item  # an array compares element by element
    return isinstance(differs, (bool, np.bool_)) and bool(differs)


def columns_of(table: Any) -> dict[Any, Any] | None:
    """Return the columns of a mapping, a data frame, an Arrow table or a structured array; else None."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, np.ndarray):
        return None if table.dtype.names is None else {name: table[name] for name in table.dtype.names}
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else {name: table[name] for name in names}


def one_column(values: Any) -> Any:
    """Return the column of a table that has one, or of an array of shape (n_rows, 1); anything else as it is."""
    shape = getattr(values, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != 1 or issparse(values):
        return values
    columns = columns_of(values)
    if columns is not None:
        return next(iter(columns.values()))
    return (values if isinstance(values, np.ma.MaskedArray) else np.asarray(values))[:, 0]


def is_lazy(X: Any) -> bool:
    """Whether this is a table of polars that is still to be computed."""
    return hasattr(X, "collect_schema") and not hasattr(X, "shape")


def items_of(column: Any) -> Iterable[Any]:
    """Return something to iterate over the items of a column; a TypeError if it is none.

    An iterator is not consumed here.
    """
    if hasattr(column, "to_pylist"):  # pyarrow, which gives scalars of its own when iterated over
        return _iter_arrow(column)
    iter(column)
    return column


def _iter_arrow(values: Any) -> Iterator[Any]:
    for start in range(0, len(values), _SLICE):
        yield from values[start : start + _SLICE].to_pylist()


def length_of(X: Any) -> int | None:
    """Return the number of items of `X`; None if it is known only after reading them.

    A generator has no length, and the length of a progress bar around one may be wrong.
    """
    if not hasattr(X, "__getitem__"):
        return None
    try:
        return len(X)
    except (TypeError, NotImplementedError):
        return None


def arrow_of(X: Any) -> Any:
    """Return a column that is in Arrow's memory as an array of pyarrow; None for any other."""
    if hasattr(X, "to_pylist"):
        return X
    if hasattr(X, "to_arrow"):  # polars
        try:
            return X.to_arrow()
        except ImportError:  # pyarrow is missing
            return None
    dtype = getattr(X, "dtype", None)  # of pandas
    is_arrow = hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", None) == "pyarrow"
    return X.array.__arrow_array__() if is_arrow and hasattr(getattr(X, "array", None), "__arrow_array__") else None


def column_advice(X: Any, name: str) -> str:
    """Say how to pass one column of a table."""
    if not (columns := list(columns_of(X) or ())):
        return f"Pass one column: {name}[:, 0]."
    return f"Pass one column, for example {name}[{code_of_name(columns[0])}]. The columns are {brief(columns)}."


def code_of_name(column: Any) -> str:
    """Format the name of a column as code."""
    return f'"{column:.40}"' if isinstance(column, str) else brief(column, 40)


def filling_code(X: Any) -> str:
    """Return code that replaces missing sentences of `X` by empty strings."""
    column, code = one_column(X), "X"
    if column is not X:
        columns = columns_of(X)
        code = "X[:, 0]" if columns is None else f"X[{code_of_name(next(iter(columns)))}]"
    dtype = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if hasattr(column, "fillna"):  # of pandas
        return f'{code}.astype(object).fillna("")' if dtype == "category" else f'{code}.fillna("")'
    if hasattr(column, "fill_null"):  # of polars or pyarrow
        # Categorical, Enum, dictionary
        cast = {"c": ".cast(pl.String)", "e": ".cast(pl.String)", "d": '.cast("string")'}
        return f'{code}{cast.get(dtype[:1], "")}.fill_null("")'
    return f'[s if isinstance(s, str) else "" for s in {code}]'
