"""What a user gives for sentences as `y`: as many values as sentences, labels of some of them, vectors of numbers."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from .columns import as_column, as_labels, as_matrix, is_missing, one_column, rows_of_column
from .messages import brief, warn_at_user

_STEP = 10_000  # rows that are checked at once
_LARGEST_NUMBER = 1e100  # the mean of the squares of more is infinite
_SMALLEST, _LARGEST = 1e-15, 1e15  # numbers between them have squares within float32


def check_length(y: Any, n_sentences: int | None, text: str) -> None:
    """Check that `y`, if it has a length, has a value for each sentence of the text, which the message names.

    Examples
    --------
    >>> from skembed._validation.targets import check_length
    >>> check_length([1, 2, 1], 2, "X")
    Traceback (most recent call last):
        ...
    ValueError: y has 3 values, but X has 2 sentences. Pass one for each.
    """
    shape = y.shape if hasattr(y, "shape") else (len(y),) if hasattr(y, "__len__") else ()
    if shape and isinstance(shape[0], Integral) and n_sentences not in (None, shape[0]):
        raise ValueError(f"y has {shape[0]} values, but {text} has {n_sentences} sentences. Pass one for each.")


def split_labels(y: Any, name: str = "y", *, signs: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows that have one, and which rows these are, (n_rows,) bool.

    None, NaN and NA mean that a row has no label, and so does -1 as in :mod:`sklearn.semi_supervised`, where it is the
    only negative number, or stands beside strings. With ``signs``, the values -1 and 1 alone are two classes.

    Warns
    -----
    UserWarning
        If the values are -1, 0 and 1, which may be three classes.

    Raises
    ------
    ValueError
        If a number is infinite.

    Examples
    --------
    >>> from skembed._validation.targets import split_labels
    >>> split_labels([2, -1, None, 0])
    (array([2, 0]), array([ True, False, False,  True]))
    >>> split_labels([1, -1, -1, 1])
    (array([ 1, -1, -1,  1]), array([ True,  True,  True,  True]))
    """
    column = as_column(y, name)
    has_label = np.ones(len(column), bool)
    if column.dtype.kind in "fcOmM":
        items = column.tolist()
        missing = (-1, -1.0) if any(isinstance(label, str) for label in items) else ()  # beside names of classes
        has_label[:] = [not (is_missing(label) or type(label) in (int, float) and label in missing) for label in items]
        column = as_labels(column[has_label].tolist() if column.dtype == object else column[has_label], name)
    if column.dtype.kind == "f" and len(infinite := np.flatnonzero(np.isinf(column))):
        row = np.flatnonzero(has_label)[infinite[0]]
        raise ValueError(f"{name} has infinity in row {row}. Pass a finite number, or None for a row without a label.")
    if column.dtype.kind in "if" and column.min(initial=0) == -1:
        values = np.unique(column)
        if not (signs and np.array_equal(values, (-1, 1))):
            if signs and np.array_equal(values, (-1, 0, 1)):
                warn_at_user(
                    f"{name} holds -1, 0 and 1. Its {np.count_nonzero(column == -1)} rows of -1 count as rows without "
                    "a label, as in sklearn.semi_supervised. If -1 is a class, pass strings: np.asarray(y).astype(str)."
                )
            has_label[has_label] = column != -1
            column = column[column != -1]
    return column, has_label


def numbers_in_columns(y: Any) -> np.ndarray:
    """Return a table of targets, which may be sparse, as a float64 array; check that each is a number."""
    table = as_matrix(y, "y")
    try:
        numbers = check_array(table.toarray() if issparse(table) else table, dtype=np.float64, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(f"y has several columns, so it must have a number in each row of each. {error}") from None
    check_size(numbers)
    return np.asarray(numbers)


def check_size(y: np.ndarray) -> None:
    """Refuse numbers whose squares overflow."""
    if y.dtype.kind == "f" and np.abs(y).max(initial=0) > _LARGEST_NUMBER:
        raise ValueError(f"y has numbers beyond {_LARGEST_NUMBER:g}. Divide all of them by a constant.")


def checked_targets(y: Any, n_sentences: int | None, estimator: str, text: str, name: str = "y") -> np.ndarray:
    """Return the targets of sentences as an array of numbers, without a copy if they are an array.

    `n_sentences` of None is any number of rows.

    Raises
    ------
    TypeError
        If `y` does not hold numbers, or is sparse.
    ValueError
        If `y` is missing, has the wrong shape, differs in length from the `text`, which the message names, or has a row
        without a direction.

    Examples
    --------
    >>> from skembed._validation.targets import checked_targets
    >>> checked_targets([[1, 2], [0, 3]], 2, "TargetVectorizer", "the text")
    array([[1, 2],
           [0, 3]])
    >>> checked_targets([[1, 2], [0, 0]], 2, "TargetVectorizer", "the text")
    Traceback (most recent call last):
        ...
    ValueError: Row 1 of y has only zeros. Every sentence needs a vector with a direction.
    """
    if y is None:
        raise ValueError(
            f"This {estimator} estimator requires {name} to be passed, but the target {name} is None. Pass an array "
            "with a vector for each sentence."
        )
    if issparse(y):
        raise TypeError(
            f"{name} must be a dense array with a vector for each sentence, got a sparse one: pass {name}.toarray()."
        )
    if np.ma.is_masked(y):
        raise ValueError(
            f"{name} has a masked value in row {np.argwhere(np.ma.getmaskarray(y))[0, 0]}. Leave such rows out."
        )
    try:
        targets = rows_of_column(np.asarray(y))
    except ValueError:
        raise ValueError(f"{name} must have a vector of the same length for each sentence.") from None
    if targets.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} must hold a vector of numbers for each sentence, got {brief(y)}, an array of {targets.dtype} for "
            "NumPy."
        )
    if targets.ndim != 2:
        raise ValueError(
            f"{name} must have a row for each sentence and a column for each number of its vector, got shape "
            f"{targets.shape}. To learn from one label a sentence, use an estimator that takes labels."
        )
    if targets.shape[1] < 2:
        raise ValueError(
            f"{name} has vectors of length {targets.shape[1]}, but only their directions are learned. Pass two columns "
            "or more."
        )
    if n_sentences not in (None, len(targets)):
        raise ValueError(f"{name} has {len(targets)} rows, but {text} has {n_sentences} sentences.")
    for start in range(0, len(targets), _STEP):
        largest = np.abs(targets[start : start + _STEP].astype(np.float64)).max(axis=1)
        wrong = np.flatnonzero(~((largest > _SMALLEST) & (largest < _LARGEST)))
        if len(wrong):
            row, fault = start + wrong[0], _fault(largest[wrong[0]])
            raise ValueError(f"Row {row} of {name} has {fault}. Every sentence needs a vector with a direction.")
    return targets


def _fault(largest: float) -> str:
    """What is wrong with a row whose largest number is `largest`, in absolute value."""
    if np.isnan(largest):
        return "NaN"
    if np.isinf(largest):
        return "infinity"
    if largest == 0:
        return "only zeros"
    return f"too {'small' if largest < 1 else 'large'} numbers"


def targets_of_rows(y: Any, n_texts: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets of the rows that have one, a class each or numbers in columns, and which rows these are."""
    if y is None:
        return np.empty(0), np.zeros(n_texts, bool)
    check_length(y, n_texts, "X")
    y = one_column(y)
    if issparse(y) or len(getattr(y, "shape", ())) > 1:
        return numbers_in_columns(y), np.ones(n_texts, bool)
    labels, has_label = split_labels(y)
    check_length(has_label, n_texts, "X")
    check_size(labels)
    if len(labels) and type_of_target(labels) == "continuous":
        labels = labels[:, None].astype(np.float64)
    return labels, has_label
