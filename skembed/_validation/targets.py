"""What a user gives for sentences as `y`: as many values as sentences, labels, classes, vectors of numbers."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from .columns import Labels, as_column, as_labels, as_matrix, is_missing, is_sparse, one_column, rows_of_column
from .messages import brief, warn_at_user

NO_CLASS = -1  # fills up the row of a sentence with fewer classes than the others
# More whole numbers than this, each in fewer rows in the mean, may be the target of a regression.
_MOST_PLAIN_CLASSES, _FEW_ROWS = 20, 50
ALONE = "every class of y has one sentence"
_STEP = 10_000  # rows that are checked at once
_LARGEST_NUMBER = 1e100  # the mean of the squares of more is infinite
_SMALLEST, _LARGEST = 1e-15, 1e15  # numbers between them have squares within float32


def check_length(y: object, n_sentences: int | None, text: str) -> None:
    """Check that `y`, if it has a length, has a value for each sentence of the text, which the message names."""
    shape = y.shape if hasattr(y, "shape") else (len(y),) if hasattr(y, "__len__") else ()
    if shape and isinstance(shape[0], Integral) and n_sentences not in (None, shape[0]):
        raise ValueError(f"y has {shape[0]} values, but {text} has {n_sentences} sentences. Pass one for each.")


def split_labels(y: Labels, name: str = "y", *, signs: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the rows that have one, and which rows these are, (n_rows,) bool.

    None, NaN and NA mean that a row has no label, and so does -1 as in :mod:`sklearn.semi_supervised`, where it is the
    only negative number, or stands beside strings. With ``signs``, the values -1 and 1 alone are two classes.

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


def classes_in(y: Labels, who: str, keep: bool) -> np.ndarray | None:
    """The classes of each sentence, of a later text with ``keep``; None if it has none and no `who` asks for them."""
    is_table, values = _has_rows(y), y
    if is_table:
        _check_table(y)
    else:
        labels, has_label = split_labels(y)
        values = labels
        if len(has_label) and not has_label.any():
            return np.full((len(has_label), 1), NO_CLASS)
    with np.errstate(invalid="ignore"):  # it checks for NaN after a cast
        kind = type_of_target(values, input_name="y")
    if kind == "unknown":
        raise ValueError(
            "y holds no classes: they are neither numbers nor strings. Pass a class for each sentence, or "
            "context='order' to learn from the order of the sentences."
        )
    if kind in ("binary", "multiclass"):
        if is_table:
            labels, has_label = split_labels(np.asarray(y).ravel())
        if not who:
            _warn_of_quantities(labels)
        elif keep and np.array_equal(np.unique(labels), (-1, 1)):
            warn_at_user("y holds -1 and 1 alone, so -1 is a class. Where it means that there is no label, pass None.")
        classes = np.full((len(has_label), 1), NO_CLASS)
        classes[has_label, 0] = np.unique(labels, return_inverse=True)[1]
        return classes
    if not who and kind.startswith("continuous"):
        return None
    holds_numbers = is_sparse(y) or np.asarray(y).dtype.kind in "biuf"
    if kind == "multilabel-indicator" or kind.endswith("-multioutput") and holds_numbers:
        return _listed(csr_matrix(y))
    if not who:
        return None
    raise ValueError(
        f"{who} learns from classes, but y is {kind}. Pass a class for each sentence, or a matrix of 0 and 1 with a "
        "column for each class, or context='order'."
    )


def _warn_of_quantities(labels: np.ndarray) -> None:
    """Warn of whole numbers that look like the target of a regression (prices, ages), not like numbered classes."""
    if labels.dtype.kind not in "iuf":
        return
    values, sizes = np.unique(labels, return_counts=True)
    are_numbered = values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1
    are_few = len(values) <= _MOST_PLAIN_CLASSES or len(labels) >= _FEW_ROWS * len(values)
    if sizes.max() > 1 and not are_numbered and not are_few:
        warn_at_user(
            f"y holds {len(values)} different whole numbers from {values[0]:g} to {values[-1]:g} in {len(labels)} "
            "rows, and context='auto' learns each of them as a class. If they are the target of a regression, pass "
            "context='order' and text in reading order, or Sent2VecVectorizer, which needs neither. If they are "
            "classes, pass context='labels'."
        )


def _check_table(y: Labels) -> None:
    """Raise an error that names the first row of a table that lacks a number."""
    table = y.tocoo() if is_sparse(y) else None
    try:
        values = np.asarray(y if table is None else table.data)
    except ValueError:  # rows of several lengths, which `type_of_target` explains
        return
    if values.dtype.kind == "f":
        missing = np.argwhere(np.isnan(values))
    elif values.dtype == object:
        missing = np.argwhere(np.vectorize(is_missing, otypes=[bool])(values))
    else:
        return
    if len(missing):
        row, column = missing[0] if table is None else (table.row[missing[0, 0]], table.col[missing[0, 0]])
        raise ValueError(f"Row {row} of y has no number in column {column}. Leave such rows out.")


def fault_of_classes(classes: np.ndarray) -> str:
    """Why nothing can be learned from classes; "" if something can."""
    sizes = np.bincount(classes[classes != NO_CLASS])
    if len(classes) and not len(sizes):
        return "y holds no class: every sentence is without a label"
    if len(classes) and _all_share(classes):
        several = np.count_nonzero(sizes) > 1
        beside = " beside rows without a label (None, NaN or -1)" if (classes == NO_CLASS).all(axis=1).any() else ""
        return "y gives every two sentences a common class" if several else f"y holds one class only{beside}"
    return ALONE if sizes.max(initial=0) < 2 else ""


def _has_rows(y: Labels) -> bool:
    """Whether `y` is a table: a matrix of indicators, in an array, a data frame, a sparse matrix or lists."""
    shape = getattr(y, "shape", None)
    if shape is None:
        return isinstance(y, (list, tuple)) and len(y) > 0 and isinstance(y[0], (list, tuple, np.ndarray))
    return len(shape) == 2 and shape[1] != 1


def _all_share(classes: np.ndarray) -> bool:
    """Whether every two sentences have a class in common, so that none is a negative of another."""
    rows = classes[(classes != NO_CLASS).any(axis=1)]
    if np.bincount(rows[rows != NO_CLASS]).max(initial=0) == len(rows):
        return True  # one class is that of all: the loop would take as long as there are pairs of sentences
    while len(rows):
        first = rows[0]
        if not np.isin(rows, first[first != NO_CLASS]).any(axis=1).all():
            return False
        rows = rows[(rows != first).any(axis=1)]
    return True


def _listed(indicators: csr_matrix) -> np.ndarray:
    """The columns that are 1 in each row, padded with NO_CLASS; a ValueError if some are neither 0 nor 1."""
    found = indicators.tocoo()
    wrong = np.flatnonzero((found.data != 0) & (found.data != 1))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"Row {found.row[first]} of y has {found.data[first]:g} in column {found.col[first]}, but a matrix of "
            "classes holds 0 and 1 only. Pass y > 0 if larger numbers mark a class, one column of classes, or "
            "context='order' if y holds no classes."
        )
    row, column = indicators.nonzero()
    n_of_each = np.bincount(row, minlength=indicators.shape[0])
    classes = np.full((indicators.shape[0], max(1, int(n_of_each.max(initial=0)))), NO_CLASS)
    order = np.lexsort((column, row))
    position = np.arange(len(row)) - np.repeat(np.cumsum(n_of_each) - n_of_each, n_of_each)
    classes[row[order], position] = column[order]
    return classes


def numbers_in_columns(y: Labels) -> np.ndarray:
    """Return a table of targets, which may be sparse, as a float64 array; check that each is a number."""
    table = as_matrix(y, "y")
    try:
        numbers = check_array(table.toarray() if is_sparse(table) else table, dtype=np.float64, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(f"y has several columns, so it must have a number in each row of each. {error}") from None
    check_size(numbers)
    return np.asarray(numbers)


def check_size(y: np.ndarray) -> None:
    """Refuse numbers whose squares overflow."""
    if y.dtype.kind == "f" and np.abs(y).max(initial=0) > _LARGEST_NUMBER:
        raise ValueError(f"y has numbers beyond {_LARGEST_NUMBER:g}. Divide all of them by a constant.")


def checked_targets(y: Labels, n_sentences: int | None, estimator: str, text: str, name: str = "y") -> np.ndarray:
    """Return targets as an array with a direction a row, for each sentence, or for any number of them (None)."""
    if y is None:
        raise ValueError(
            f"This {estimator} estimator requires {name} to be passed, but the target {name} is None. Pass an array "
            "with a vector for each sentence."
        )
    if is_sparse(y):
        raise TypeError(
            f"{name} must be a dense array with a vector for each sentence, got a sparse one: pass {name}.toarray()."
        )
    if np.ma.is_masked(y):
        masked = np.argwhere(np.ma.getmaskarray(np.ma.asanyarray(y)))
        raise ValueError(f"{name} has a masked value in row {masked[0, 0]}. Leave such rows out.")
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


def targets_of_rows(y: Labels, n_texts: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets of the rows that have one, a class each or numbers in columns, and which rows these are."""
    if y is None:
        return np.empty(0), np.zeros(n_texts, bool)
    check_length(y, n_texts, "X")
    y = one_column(y)
    if is_sparse(y) or len(getattr(y, "shape", ())) > 1:
        return numbers_in_columns(y), np.ones(n_texts, bool)
    labels, has_label = split_labels(y)
    check_length(has_label, n_texts, "X")
    check_size(labels)
    if len(labels) and type_of_target(labels) == "continuous":
        labels = labels[:, None].astype(np.float64)
    return labels, has_label
