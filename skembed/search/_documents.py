"""Documents from what a user passes: strings, tuples of fields, a table, a corpus, a generator."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._corpus.corpus import SentenceCorpus
from .._text.sources import advising, iter_sentences, wrong_row
from .._validation.columns import Sentences, Table, as_list, columns_of, describe, is_missing, listed, one_column
from .._validation.messages import brief


class Texts(NamedTuple):
    """Documents as texts: field f of document d is ``texts[d * n_fields + f]``."""

    texts: list[str]
    n_fields: int

    @property
    def n_documents(self) -> int:
        return len(self.texts) // self.n_fields

    def rows(self) -> list[tuple[str, ...]]:
        """Return the fields of each document."""
        n = self.n_fields
        return [tuple(self.texts[first : first + n]) for first in range(0, len(self.texts), n)]

    def joined(self) -> list[str]:
        """Return the fields of each document as one text."""
        return self.texts if self.n_fields == 1 else [" ".join(filter(None, fields)) for fields in self.rows()]


Documents: TypeAlias = Iterable[object] | Table  # texts, rows of fields, or a table


def read_documents(
    documents: Documents, columns: Sequence[Hashable] | None, missing: str, n_fields: int | None = None
) -> Texts:
    """Read documents, of `n_fields` fields if that is given."""
    if columns is not None and not columns:
        raise ValueError("columns is empty. Name the columns to search.")
    if isinstance(documents, SentenceCorpus):
        return _checked(Texts(_texts_of_corpus(documents), 1), n_fields)
    if columns is not None and (table := _table_of(documents)) is not None:
        fields = [_column(table, column, documents) for column in columns]
        if len({len(field) for field in fields}) > 1:
            raise ValueError(f"The columns of documents have {listed(map(len, fields))} rows.")
        rows: Iterable[object] = zip(*fields, strict=True)
        given = table[columns[0]]
    else:
        shape: Any = getattr(documents, "shape", ())
        is_wide = isinstance(shape, tuple) and len(shape) == 2 and shape[1] > 1
        if is_wide and (table := _table_of(documents)) is not None:
            raise ValueError(f"documents is {describe(documents)}. Say which to search: columns={brief(list(table))}.")
        rows, given = iter_sentences(documents, name="documents", items="documents"), documents
    with advising(given):
        return _checked(_read_rows(rows, missing, n_fields), n_fields)


def _table_of(documents: object) -> dict[Any, Any] | None:
    return None if hasattr(documents, "dtype") and documents.dtype.names is None else columns_of(documents)


def _column(table: dict[Any, Any], column: Hashable, documents: Documents) -> list[Any]:
    if column not in table:
        raise ValueError(f"documents has no column {brief(column)}: it is {describe(documents)}.")
    return as_list(one_column(table[column]), f"the column {brief(column)} of documents")


def _texts_of_corpus(corpus: SentenceCorpus) -> list[str]:
    if corpus.tokenizer.stemmer is not None:
        raise ValueError(
            "documents is a SentenceCorpus of stems. Build it without stemmer: the index stems its words itself."
        )
    words, tokens = corpus.vocabulary.words, corpus.tokens
    begins = corpus.sent_ptr[corpus.doc_ptr].tolist()
    return [
        " ".join([words[token] for token in tokens[first:last].tolist()]) for first, last in zip(begins, begins[1:])
    ]


def _read_rows(rows: Iterable[object], missing: str, n_fields: int | None) -> Texts:
    texts: list[str] = []
    for row, item in enumerate(rows):
        if isinstance(item, Mapping):
            raise TypeError(f"Document {row} is a {type(item).__name__}. Pass a tuple of its texts, or all as a table.")
        fields = item if isinstance(item, (tuple, list)) else (item,)
        if n_fields is None:
            n_fields = len(fields)
        if len(fields) != n_fields or not fields:
            raise ValueError(
                f"Document {row} has {len(fields)} fields, expected {n_fields or 'at least one'}. Pass an empty string "
                "for a field that a document lacks."
            )
        for text in fields:
            if not isinstance(text, str):
                if missing != "empty" or not is_missing(text):
                    raise _wrong_text(row, text)
                text = ""
            texts.append(text)
    return Texts(texts, n_fields or 1)


def _wrong_text(row: int, text: object) -> TypeError:
    if isinstance(text, (list, tuple, np.ndarray)):
        return TypeError(f"Row {row} has {brief(text, 60)}, not a string. Join its words to one string.")
    return wrong_row(row, text)


def _checked(texts: Texts, n_fields: int | None) -> Texts:
    if n_fields is not None and texts.n_fields != n_fields and texts.texts:
        raise ValueError(f"The documents have {texts.n_fields} fields, expected {n_fields}.")
    return texts


def read_queries(queries: Sentences) -> list[str]:
    """Return queries as a list of strings."""
    found = list(iter_sentences(queries, name="queries", items="queries"))
    for row, text in enumerate(found):
        if not isinstance(text, str):
            raise TypeError(f"queries: {_wrong_text(row, text)}")
    return found


_TITLE = 3.0  # weight of the first of several fields
_SMALLEST, _LARGEST = 1e-12, 1e12  # of the largest weight: float32 holds the scores

FieldWeights: TypeAlias = ArrayLike | dict[Any, float] | None


def read_field_weights(given: FieldWeights, columns: Sequence[Hashable] | None, n_fields: int) -> NDArray[np.float64]:
    """Return the weight of each field."""
    if given is None:
        return np.array([_TITLE if n_fields > 1 else 1.0, *[1.0] * (n_fields - 1)])
    if isinstance(given, dict):
        if columns is None or set(given) != set(columns):
            raise ValueError(f"field_weights has the names {brief(list(given))}, columns are {brief(columns)}.")
        given = [given[column] for column in columns]
    weights = np.asarray(given, np.float64)
    if weights.shape != (n_fields,) or not (weights >= 0).all() or not _SMALLEST <= weights.max() <= _LARGEST:
        raise ValueError(
            f"field_weights must be {n_fields} numbers of at least 0, one a field, and the largest from {_SMALLEST:g} "
            f"to {_LARGEST:g}, got {brief(given)}."
        )
    return weights


def pairs_of_queries(
    queries: Sentences | None, relevant: Iterable[object] | None, texts: Texts
) -> list[tuple[str, str]]:
    """Return each query of a user beside the text of each document that is relevant to it."""
    if queries is None and relevant is None:
        return []
    if queries is None or relevant is None:
        raise ValueError("Pass queries and relevant together.")
    asked = read_queries(queries)
    if isinstance(relevant, (str, Mapping)) or not hasattr(relevant, "__iter__"):
        raise TypeError(f"relevant must be a list of the rows of each query, got {brief(relevant)}.")
    rows_of = list(relevant)
    if len(asked) != len(rows_of):
        raise ValueError(f"There are {len(asked)} queries, but relevant has {len(rows_of)} entries.")
    documents, pairs = texts.rows(), []
    for number, (query, rows) in enumerate(zip(asked, rows_of)):
        for row in np.atleast_1d(np.asarray(rows, dtype=object)).tolist():
            if isinstance(row, bool) or not isinstance(row, Integral) or not 0 <= int(row) < len(documents):
                raise ValueError(
                    f"Query {number} has the relevant row {brief(row)}, expected an integer from 0 to "
                    f"{len(documents) - 1}: a document that `fit` gets."
                )
            pairs.append((query, " ".join(documents[row])))
    return pairs
