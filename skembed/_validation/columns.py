"""What users pass text and numbers in: lists, arrays, generators, tables and columns of pandas, polars and pyarrow.

They are told apart here alone, by what they can do, so that no library is imported for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, Sized
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

from .messages import brief

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Text in any container: a list, array, generator, Series, column of Arrow or SentenceCorpus. Its items are strings, or
# what a callable analyzer takes.
Sentences: TypeAlias = Iterable[object]
# In any container: for each sentence a number or a string, None where it is missing; or a row of numbers.
Labels: TypeAlias = Iterable[object] | None
# Rows of numbers: an array, a sparse matrix, a data frame or a list of lists.
Rows: TypeAlias = Iterable[object]
Matrix: TypeAlias = np.ndarray | csr_array | csr_matrix


class _Frame(Protocol):  # a data frame of pandas or polars, or a table of Arrow
    @property
    def columns(self) -> Iterable[object]: ...

    def __getitem__(self, name: Any, /) -> Iterable[object]: ...


# Columns by name.
Table: TypeAlias = Mapping[Any, Iterable[object]] | _Frame
# Texts or pairs, and a label of each, as the fields `data` and `target` or in a tuple.
Labelled: TypeAlias = Table | tuple[Iterable[object], Iterable[object]]

_SLICE = 8192  # items of an Arrow array that are made objects of Python at a time


def is_sparse(values: object) -> TypeGuard[csr_array | csr_matrix]:
    """Whether this is sparse; after it, a type checker knows too."""
    return bool(issparse(values))


def is_missing(item: object) -> bool:
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


def is_lazy(X: object) -> bool:
    """Whether this is a table of polars that is still to be computed."""
    return hasattr(X, "collect_schema") and not hasattr(X, "shape")


def items_of(column: Any) -> Iterable[Any]:
    """Return something to iterate over the items of a column, unconsumed; a TypeError if it is none."""
    if hasattr(column, "to_pylist"):  # pyarrow, which gives scalars of its own when iterated over
        return _iter_arrow(column)
    iter(column)
    return column


def _iter_arrow(values: Any) -> Iterator[Any]:
    for start in range(0, len(values), _SLICE):
        yield from values[start : start + _SLICE].to_pylist()


def length_of(X: object) -> int | None:
    """Return the number of items of `X`; None if it is known only after reading them."""
    if not (hasattr(X, "__getitem__") and isinstance(X, Sized)):
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


def column_advice(X: object, name: str) -> str:
    """Say how to pass one column of a table."""
    if not (columns := list(columns_of(X) or ())):
        return f"Pass one column: {name}[:, 0]."
    return f"Pass one column, for example {name}[{code_of_name(columns[0])}]. The columns are {brief(columns)}."


def code_of_name(column: object) -> str:
    """Format the name of a column as code."""
    return f'"{column:.40}"' if isinstance(column, str) else brief(column, 40)


def filling_code(X: object) -> str:
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


def label_of_column(key: object, of: str) -> str:
    """Name a column of a table for a message."""
    return f"{key!r} of {of}" if isinstance(key, str) else f"column {key} of {of}"


def listed(names: Iterable[object]) -> str:
    """Format the first ten names for a message."""
    names = list(names)
    return ", ".join(f"{brief(name, 40)}" for name in names[:10]) + (", ..." if len(names) > 10 else "")


def describe(values: object) -> str:
    """Describe the type and shape of a value, without its content."""
    kind = type(values).__name__
    if not isinstance(values, Mapping) and (columns := columns_of(values)) is not None:
        return f"a {kind} with the columns {listed(columns)}"
    shape = getattr(values, "shape", None)
    return f"a {kind}" + (f" of shape {tuple(shape)}" if isinstance(shape, tuple) else "")


def as_list(values: object, name: str) -> list[Any]:
    """Return the items of an ordered collection or of a one-column table."""
    values = one_column(values)
    shape = getattr(values, "shape", None)
    is_flat = not isinstance(shape, tuple) or len(shape) == 1
    if is_flat and not isinstance(values, (str, bytes, bytearray, Mapping, Set)) and columns_of(values) is None:
        try:
            return list(items_of(values))
        except TypeError:
            pass
    raise TypeError(f"{name} must be a list, an array, a Series or another single column, got {describe(values)}.")


def as_column(values: object, name: str) -> np.ndarray:
    """Return a column as an array of shape (n_rows,): of objects if it is mixed, never converted to strings."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # None where masked
    elif hasattr(values, "__array__") and not hasattr(values, "to_pylist"):
        array = np.asarray(values)
        if array.ndim == 1 and array.dtype.kind in "biufcUSmM":
            return array
    items = as_list(values, name)
    kinds = {_kind_of(item) for item in items}
    if kinds & {"list", "tuple", "dict", "ndarray"}:
        raise TypeError(f"{name} must have one value per row; its rows are of type {_in_words(sorted(kinds))}.")
    if len(kinds) < 2 and kinds <= {"number", "text"}:
        return np.asarray(items)
    column = np.empty(len(items), object)
    column[:] = items
    return column


def _kind_of(item: object) -> str:
    if isinstance(item, str):
        return "text"
    return "number" if isinstance(item, (bool, int, float, np.bool_, np.number)) else type(item).__name__


def as_labels(values: object, name: str) -> np.ndarray:
    """Return labels as an array of shape (n_rows,); check that none is missing and all are of one type."""
    labels = as_column(values, name)
    if labels.dtype.kind in "fcOmM":
        for row, label in enumerate(labels.tolist()):
            if is_missing(label):
                raise ValueError(f"{name} has no label in row {row} ({label!r}). Leave such rows out.")
    if labels.dtype == object:
        kinds = [_kind_of(label) for label in labels]
        other = next((row for row, kind in enumerate(kinds) if kind != kinds[0]), None)
        if other is not None:
            raise TypeError(
                f"{name} mixes labels of the types {kinds[0]} and {kinds[other]} (rows 0 and {other}). Convert them "
                f"to one type, for example with [str(label) for label in {name}]."
            )
    return labels


def as_scores(values: object, name: str) -> np.ndarray:
    """Return finite numbers as an array of shape (n_rows,), dtype float64; an error names the row."""
    column = as_column(values, name)
    try:
        scores = column.astype(np.float64)
    except (TypeError, ValueError):
        for row, item in enumerate(column.tolist()):
            try:
                float(item)
            except (TypeError, ValueError):
                raise ValueError(f"{name} has {brief(item, 40)} in row {row}, which is not a number.") from None
        raise
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise ValueError(f"{name} has {scores[bad[0]]} in row {bad[0]}.")
    return scores


def as_matrix(values: Any, name: str) -> Matrix:
    """Return rows of numbers as an array of shape (n_rows, n_columns), of any dtype; a sparse matrix as it is."""
    if issparse(values):
        return values.reshape(1, -1) if values.ndim == 1 else values
    if is_lazy(values):
        raise TypeError(f"{name} is a {type(values).__name__}, which has no rows yet. Pass {name}.collect().")
    if isinstance(values, np.ma.MaskedArray) and len(masked := np.argwhere(np.ma.getmaskarray(values))):
        raise ValueError(f"{name} has a masked value in row {masked[0, 0]}. Fill or drop it first.")
    columns = columns_of(values)
    if columns and not hasattr(values, "__array__") or getattr(getattr(values, "dtype", None), "names", None):
        assert columns is not None
        return np.column_stack([as_column(column, label_of_column(key, name)) for key, column in columns.items()])
    try:
        array = rows_of_column(np.asarray(values if hasattr(values, "__array__") else list(values)))
    except (TypeError, ValueError):  # not iterable, or rows of several lengths
        array = np.empty(0)
    if array.ndim != 2:
        found = f"shape {array.shape}" if hasattr(values, "__array__") else describe(values)
        is_row = array.ndim == 1 and len(array) and array.dtype.kind in "fiub"
        advice = f" If it is one row, pass [{name}]." if is_row else ""
        raise ValueError(
            f"{name} must be a table of numbers, a row of equal length for each sentence; got {found}.{advice}"
        )
    # C order, so that sums have the same bits for a data frame and an array.
    return array if isinstance(values, np.ndarray) else np.ascontiguousarray(array)


def rows_of_column(array: np.ndarray) -> np.ndarray:
    """Return a column that holds an array in each row, as of a data frame, as one array; others as they are."""
    return np.asarray(list(array)) if array.dtype == object and array.ndim == 1 else array


def as_named(things: object, name: str) -> tuple[list[str] | None, list[Any]]:
    """Return names and values of a mapping, a table or (name, value) tuples; names are None for a plain list."""
    columns = columns_of(things)
    if columns is None:
        if isinstance(things, str) or not np.iterable(things):
            raise TypeError(f"{name} must be a mapping of names, a table, or a sequence, got {describe(things)}.")
        rows = list(things)
        if not rows or not all(map(_is_named, rows)):
            return None, rows
        columns = dict(rows)
        if len(columns) < len(rows):
            raise ValueError(f"{name} has a name twice: {listed(key for key, _ in rows)}.")
    return [str(key) for key in columns], list(columns.values())


def _is_named(row: object) -> bool:
    return isinstance(row, tuple) and len(row) == 2 and np.isscalar(row[0]) and not np.isscalar(row[1])


def as_fields(record: object, name: str, required: Sequence[str], optional: Sequence[str] = ()) -> Bunch:
    """Return the fields of a Bunch, a mapping, an object with attributes, or the columns of a table."""
    from sklearn.utils import Bunch  # takes a while to import

    found = columns_of(record)
    if found is None:
        found = {field: getattr(record, field) for field in (*required, *optional) if hasattr(record, field)}
        if not found:
            raise TypeError(f"{name} must have the fields {listed(required)}, like a Bunch; got {describe(record)}.")
    missing = [field for field in required if field not in found]
    if missing:
        raise ValueError(f"{name} has no {missing[0]!r}; it has {listed(found)}.")
    return Bunch(**{field: found[field] for field in (*required, *optional) if field in found})


def as_records(records: object, name: str) -> list[Any]:
    """Return a table as a list of dicts, one per row, and other collections as a list."""
    columns = columns_of(records)
    if columns is None:
        return as_list(records, name)
    lists = {key: as_list(column, label_of_column(key, name)) for key, column in columns.items()}
    check_same_length({label_of_column(key, name): column for key, column in lists.items()})
    return [dict(zip(lists, row)) for row in zip(*lists.values())]


def check_same_length(columns: Mapping[str, Sized], of: str = "") -> None:
    """Raise a ValueError with the lengths of the named columns `of` a set, if they differ."""
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1:
        names = _in_words(columns) + (of and f" of {of}")
        raise ValueError(f"{names} must have the same length, got {_in_words(lengths)}.")


def check_one_kind(columns: Mapping[str, np.ndarray]) -> None:
    """Raise a TypeError if some columns of labels are strings and others numbers, so that none would be equal."""
    texts = {name: column.dtype.kind in "US" for name, column in columns.items() if len(column)}
    if len(set(texts.values())) > 1:
        kinds = (f"{name} has {'strings' if is_text else 'numbers'}" for name, is_text in texts.items())
        raise TypeError(f"{_in_words(kinds)}, so no labels match. Convert them to one type.")


def _in_words(things: Iterable[object]) -> str:
    *first, last = map(str, things)
    return f"{', '.join(first)} and {last}" if first else last
