"""Sentences from a collection that the user passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from .._validation.columns import column_advice, filling_code, is_lazy, is_missing, items_of, length_of, one_column
from .._validation.messages import brief
from .batches import Column, iter_columns
from .tokenizer import Tokenizer

# Largest number of sentences in a batch, and about how many characters or bytes it has: with both limits, threads get
# several batches whether sentences are short or long.
BATCH_SIZE = 8192
BATCH_LENGTH = 1 << 19


def iter_sentences(X: Any, *, name: str = "X", items: str = "sentences") -> Iterable[Any]:
    """Check that `X` is a collection of sentences, or a table of one column, and return something to iterate over.

    An iterator is not consumed here. `name` and `items` are what messages call `X` and its items.
    """
    if type(X) is list:  # the other checks take a tenth of the time of a short `transform`
        return X
    if isinstance(X, (str, bytes, bytearray)):
        is_of_sentences = items == "document ids"
        advice = "Pass one for each sentence, in a list." if is_of_sentences else f"Wrap it in a list: [{name}]."
        raise ValueError(f"{name} must be an iterable of {items}, got one {type(X).__name__}. {advice}")
    if isinstance(X, (Mapping, set, frozenset)):
        raise TypeError(
            f"{name} is a {type(X).__name__}, which has no reading order. Pass a list, for example "
            f"list({name}{'.values()' if isinstance(X, Mapping) else ''})."
        )
    X = one_column(X)
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 1:
        raise ValueError(
            f"{name} must be one-dimensional, got a {type(X).__name__} of shape {shape}. {column_advice(X, name)}"
        )
    if is_lazy(X):
        raise TypeError(
            f'{name} is a {type(X).__name__}, which has no rows yet. Pass a column: {name}.collect()["column"].'
        )
    if hasattr(type(X), "n_pairs"):
        raise TypeError(f"{name} is a {type(X).__name__}, not sentences. Pass those of its pairs: {name}.sentences.")
    try:
        return items_of(X)
    except TypeError:
        raise TypeError(f"{name} must be an iterable of {items}, got {brief(X)} of type {type(X).__name__}.") from None


class MissingSentence(TypeError):
    """A row is missing (None, NaN, NaT or NA). :func:`advising` adds how to replace it."""


def wrong_row(row: int, item: Any, name: str = "X") -> TypeError:
    """Return the error for a row that is not a string, with advice."""
    kind, place = type(item).__name__, f"Row {row}" if name == "X" else f"Row {row} of {name}"
    if is_missing(item):
        return MissingSentence(f"{place} is missing ({item!r}).")
    what = f"{brief(item, 60)} of type {kind}, not a string"
    if isinstance(item, (bytes, bytearray)):
        return TypeError(f"{place} is {what}. Decode it first, for example with item.decode('utf-8').")
    if isinstance(item, (list, tuple, np.ndarray)):
        return TypeError(
            f"{place} is a {kind} ({brief(item, 60)}), not a string. If it already holds the tokens of a sentence, "
            "pass analyzer= a named function that returns its argument: def as_is(tokens): return tokens."
        )
    return TypeError(f"{place} is {what}. Convert it first, for example with str(item).")


@contextmanager
def advising(X: Any) -> Iterator[None]:
    """Add to the error for a missing sentence how to replace it in `X`."""
    try:
        yield
    except MissingSentence as error:
        raise TypeError(f'{error} Set missing="empty", or replace missing sentences first: {filling_code(X)}') from None


def iter_batches(
    X: Any, tokenizer: Tokenizer, name: str = "X", multiple: int = 1, missing: str = "error"
) -> Iterator[list[Any] | Column]:
    """Yield batches of sentences: lists; or, if the tokenizer is compiled, slices of an Arrow column.

    Batches of a list or tuple are `multiple` times as long as others. Longer ones switch threads less often, but their
    ids should fit in a core's cache. Where `missing` is "empty", a missing sentence becomes an empty string.
    """
    if not isinstance(missing, str) or missing not in ("error", "empty"):
        raise ValueError(f"The 'missing' parameter must be 'error' or 'empty', got {brief(missing)}.")
    if missing == "error":
        return _read_batches(X, tokenizer, name, multiple)
    return map(filled, _read_batches(X, tokenizer, name, multiple, fill=True))


def filled(batch: Any) -> Any:
    """Return a list with empty strings in place of missing sentences; a column has none."""
    if isinstance(batch, Column) or set(map(type, batch)) <= {str}:
        return batch
    return ["" if not isinstance(item, str) and is_missing(item) else item for item in batch]


def _read_batches(
    X: Any, tokenizer: Tokenizer, name: str, multiple: int, fill: bool = False
) -> Iterator[list[Any] | Column]:
    items = iter_sentences(X, name=name)
    X = one_column(X)
    columns = iter_columns(X, BATCH_SIZE, fill) if tokenizer.is_compiled else None
    if columns is not None:
        for column in columns:
            if isinstance(column, list):
                yield column
                continue
            yield from map(column.__getitem__, iter_slices(column.offsets, BATCH_LENGTH))
    elif isinstance(X, (list, tuple)):
        start = 0
        while start < len(X):
            stop = min(start + multiple * BATCH_SIZE, len(X))
            sample = X[start:stop:64]
            n_sentences = multiple * BATCH_LENGTH * len(sample) // (_n_characters(sample) + 1)
            batch = X[start : min(start + max(n_sentences, 1), stop)]
            yield batch if type(batch) is list else list(batch)
            start += len(batch)
    else:
        rest = iter(items)
        while batch := _take_batch(rest):
            yield batch


def iter_slices(ptr: np.ndarray, length: int, most: int = BATCH_SIZE) -> Iterator[slice]:
    """Yield slices of at most `most` sentences, of about `length` in total; sentence i goes from ptr[i] to ptr[i + 1].

    A longer sentence is a slice of its own.
    """
    first = 0
    while first < len(ptr) - 1:
        last = first + np.searchsorted(ptr[first : first + most + 1], ptr[first] + length, "right") - 1
        last = max(int(last), first + 1)
        yield slice(first, last)
        first = last


def _n_characters(sentences: Sequence[Any]) -> int:
    if set(map(type, sentences)) == {str}:
        return sum(map(len, sentences))
    return sum(len(sentence) for sentence in sentences if isinstance(sentence, str))


def _take_batch(items: Iterator[Any]) -> list[Any]:
    """Take a batch; the length of the last sentence taken estimates that of its neighbours."""
    taken: list[Any] = []
    length, n_more = 0, 1
    while length < BATCH_LENGTH and (few := list(islice(items, n_more))):
        taken += few
        n_characters = _n_characters(few[-1:])
        length += len(few) * n_characters
        n_more = min(BATCH_LENGTH // (n_characters + 1) + 1, 256, BATCH_SIZE - len(taken))
    return taken


def iter_grouped_batches(
    sentences: Iterable[Any], groups: Iterable[Any] | None, tokenizer: Tokenizer, missing: str = "error"
) -> Iterator[tuple[list[Any] | Column, list[int]]]:
    """Yield batches of sentences, with the indices in them at which a new document begins."""
    batches = iter_batches(sentences, tokenizer, name="sentences", multiple=2, missing=missing)
    if groups is None:
        starts = [0]
        for batch in batches:
            yield batch, starts
            starts = []
        return
    labels = iter(iter_sentences(groups, name="groups", items="document ids"))
    n_labels, n_given = length_of(groups), length_of(sentences)
    if None not in (n_labels, n_given) and n_labels != n_given:
        raise ValueError(f"groups has {n_labels} entries for {n_given} sentences; each sentence needs one.")
    n_sentences = 0
    previous: Any = object()  # equal to no label
    for batch in batches:
        ids = list(islice(labels, len(batch)))
        if len(ids) < len(batch):
            raise ValueError(
                f"groups has {n_sentences + len(ids)} entries for at least {n_sentences + len(batch)} sentences; each "
                "sentence needs one."
            )
        yield batch, document_starts(previous, ids, n_sentences)
        previous = ids[-1]
        n_sentences += len(batch)
    if any(True for _ in labels):
        raise ValueError(f"groups has more than {n_sentences} entries for {n_sentences} sentences.")


def document_starts(previous: Any, ids: list[Any], first_row: int) -> list[int]:
    """Return the indices at which the document id is not that of the sentence before."""
    starts: list[int] = []
    try:
        missing = [i for i, label in enumerate(ids) if label is None or label != label]
        starts = [i for i, (a, b) in enumerate(pairwise(chain([previous], ids))) if a != b]
    except (TypeError, ValueError):  # an array, or pandas.NA, does not compare to True or False
        missing = [i for i, label in enumerate(ids) if is_missing(label)]
        if not missing:
            raise TypeError(
                "groups must hold one plain document id, such as an integer or a string, per sentence."
            ) from None
    if missing:
        raise ValueError(f"groups has no document id at row {first_row + missing[0]}; every sentence needs one.")
    return starts
