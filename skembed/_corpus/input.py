"""Sentences that users pass: a corpus as it is, any other collection as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .._text.sources import advising, filled, iter_sentences, wrong_row
from .._text.tokenizer import Tokenizer
from .._validation.columns import (
    Labelled,
    Sentences,
    as_fields,
    as_list,
    check_same_length,
    columns_of,
    is_missing,
    label_of_column,
    listed,
)
from .._validation.messages import brief
from .corpus import SentenceCorpus

SENTENCE_COLUMNS = ("sentence1", "sentence2")  # of a table of pairs, as in published tables
_NO_HALF_PAIR = "Leave such pairs out."


def as_sentences(
    X: Sentences,
    name: str = "X",
    *,
    advice: str = "Leave it out, or replace it by an empty string.",
    missing: str = "error",
) -> list[Any] | SentenceCorpus:
    """A corpus as it is, other sentences as a list; a missing one is an error, or with ``missing="empty"`` empty."""
    if isinstance(X, SentenceCorpus):
        return X
    sentences = list(iter_sentences(X, name=name))
    if missing == "empty":
        return filled(sentences)
    for row, item in enumerate(sentences):
        if not isinstance(item, str) and is_missing(item):
            raise TypeError(f"Row {row} of {name} is missing ({item!r}). {advice}")
    return sentences


def list_of_texts(X: Sentences, name: str, *, missing: str = "error") -> list[str]:
    """The sentences of a corpus, which must have the words of its text, or of any other collection, as strings."""
    if isinstance(X, SentenceCorpus):
        check_has_text(X, name)
        return [X.tokenizer.join(words) for words in X]
    texts = []
    with advising(X):
        for row, item in enumerate(iter_sentences(X, name=name)):
            if missing == "empty" and not isinstance(item, str) and is_missing(item):
                item = ""
            if isinstance(item, (list, tuple)):
                raise TypeError(f"Row {row} of {name} is a {type(item).__name__}. Join its words to one string.")
            if not isinstance(item, str):
                raise wrong_row(row, item, name)
            texts.append(item)
    return texts


def check_has_text(corpus: SentenceCorpus, name: str) -> None:
    """Refuse a corpus whose words are not those of its text: stems beside words of raw text would have no match."""
    options = corpus.tokenizer
    changed = Tokenizer(analyzer=options.analyzer, stop_words=options.stop_words, stemmer=options.stemmer)
    if found := changed.difference(Tokenizer()):
        raise ValueError(
            f"{name} is a SentenceCorpus made with {found}, so it does not have the words of its text, and they would "
            "not match those of other texts. Pass the sentences themselves, or a SentenceCorpus without these options."
        )


def takes_corpus(model: object) -> bool:
    """Whether a model, or the first step of a pipeline, is an estimator of this package."""
    return hasattr(_first_step(model), "corpus")


def _first_step(model: object) -> object:
    while steps := getattr(model, "steps", None):
        model = steps[0][1]
    return model


def iter_texts(corpus: SentenceCorpus) -> Iterator[str]:
    """Yield the sentences of a corpus as text: their words joined by spaces."""
    return map(" ".join, corpus)


def sentences_for(model: object, X: Sentences) -> list[Any] | SentenceCorpus:
    """Return sentences for a model: a corpus as text, unless the model takes corpora; missing ones by its parameter."""
    sentences = as_sentences(X, missing=getattr(_first_step(model), "missing", "error"))
    if isinstance(sentences, SentenceCorpus) and not takes_corpus(model):
        return list(iter_texts(sentences))
    return sentences


def take_rows(sentences: list[Any] | SentenceCorpus, rows: Any) -> Any:
    """Return some of the sentences, in the order of `rows`."""
    return sentences[rows] if isinstance(sentences, SentenceCorpus) else [sentences[row] for row in rows]


def as_labelled(record: Labelled, name: str, *, pairs: bool = False, optional: Sequence[str] = ()) -> Bunch:
    """Return the fields `data` (checked), `target` and the optional ones of a Bunch, mapping, table or tuple."""
    if isinstance(record, tuple) and len(record) == 2:
        record = dict(zip(("data", "target"), record))
    columns = columns_of(record)
    if pairs and columns is not None and "data" not in columns and set(SENTENCE_COLUMNS) <= set(columns):
        record = {**columns, "data": {column: columns[column] for column in SENTENCE_COLUMNS}}
    fields = as_fields(record, name, ("data", "target"), optional)
    read = as_pairs if pairs else as_sentences
    fields.data = read(fields.data, f"data of {name}")
    return fields


def as_pairs(data: Iterable[object], name: str) -> list[tuple[Any, Any]]:
    """Return pairs of sentences, given as such or in two columns, as a list of tuples; a corpus becomes text."""
    columns = columns_of(data)
    if columns is not None:
        if len(columns) != 2:
            raise ValueError(
                f"{name} must have two columns, of first and of second sentences; it has {listed(columns)}."
            )
        named = {label_of_column(key, name): column for key, column in columns.items()}
        sides = {side: as_sentences(column, side, advice=_NO_HALF_PAIR) for side, column in named.items()}
        check_same_length(sides)
        return list(zip(*(iter_texts(s) if isinstance(s, SentenceCorpus) else s for s in sides.values())))
    rows = data.tolist() if isinstance(data, np.ndarray) and data.ndim == 2 else as_list(data, name)
    return [_as_pair(item, row, name) for row, item in enumerate(rows)]


def _as_pair(item: Any, row: int, name: str) -> tuple[Any, Any]:
    values = list(item.values()) if isinstance(item, Mapping) else item
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or len(values) != 2:
        advice = (
            " Of two columns, pass the pairs of their rows: list(zip(first, second))." if hasattr(item, "ndim") else ""
        )
        raise ValueError(f"Row {row} of {name} is not a pair of sentences but {brief(item, 60)}.{advice}")
    first, second = values
    if is_missing(first) or is_missing(second):
        raise ValueError(f"Row {row} of {name} lacks a sentence: {brief(item, 60)}. {_NO_HALF_PAIR}")
    return first, second
