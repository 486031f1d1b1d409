"""From what users pass to sentences: containers, one door; batches of them, and their strings as one text in UTF-8."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._validation.columns import (
    Labels,
    Sentences,
    arrow_of,
    column_advice,
    filling_code,
    is_lazy,
    is_missing,
    items_of,
    length_of,
    one_column,
)
from .._validation.messages import brief
from .tokenizer import Tokenizer
from .words import UNSPACED_LETTER, composing, lower, marks

PADDING = b"\n" * 64  # after a text: compiled code may read this far beyond its end
_N_CHARACTERS = 0x40000  # no code point from here on belongs to a word in any version of Unicode; a test checks it
_LINE_FEED = 10
_SIGMA = "\u03a3"  # the only capital letter that is lowered to another one at the end of a word
# Of what `lowered_characters` gives: the code point, and whether it belongs to the word of a letter before it, whether
# it is a letter of a script without spaces, and whether a mark next to it may have to change places with it.
CODE, MARK, UNSPACED, STACKED, IN_CONTEXT = 0x1FFFFF, 1 << 24, 1 << 25, 1 << 26, 0xFFFFFFFF


class Text(NamedTuple):
    """Sentences in UTF-8, each followed by a line feed, and PADDING after all."""

    data: np.ndarray  # (n_bytes + len(PADDING),) uint8, read-only
    file: Path | None = None  # whose lines these are

    @property
    def n_bytes(self) -> int:
        """Number of bytes without the padding."""
        return len(self.data) - len(PADDING)

    def decode(self, start: int, end: int) -> str:
        """Return the string of some bytes."""
        return self.data[start:end].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Column:
    """Sentences of an Arrow array: sentence i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: np.ndarray  # uint8, read-only
    offsets: np.ndarray  # (n_sentences + 1,) int64

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentences: slice) -> Column:
        return Column(self.data, self.offsets[sentences.start : sentences.stop + 1])


Batch = list[Any] | Text | Column


def join_strings(sentences: list[Any]) -> tuple[Text, np.ndarray]:
    """Return strings as a text, lone surrogates as three bytes, and the offsets of the line feeds after them."""
    encoded = [str.encode(sentence, "utf-8", "surrogatepass") for sentence in sentences]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
    return Text(np.frombuffer(b"\n".join([*encoded, PADDING]), np.uint8)), ends


def lower_rows(text: Text, ends: np.ndarray) -> tuple[Text, np.ndarray]:
    """A text whose lines beyond ASCII are as Python lowers them, and the offsets of its line feeds."""
    last = int(ends[-1])
    lines = [line if line.isascii() else lower(line) for line in text.decode(0, last).split("\n")]
    lowered = "\n".join(lines).encode("utf-8", "surrogatepass")
    data = np.concatenate([np.frombuffer(lowered, np.uint8), text.data[last:]])
    data.flags.writeable = False
    before, after = np.flatnonzero(text.data[: last + 1] == _LINE_FEED), np.flatnonzero(data == _LINE_FEED)
    return text._replace(data=data), after[np.searchsorted(before, ends)]


@functools.cache
def lowered_characters(*, is_lowered: bool = False) -> np.ndarray:
    """What becomes of each character, as this version of Python knows Unicode, (n_characters,) uint32.

    The code point of the lowered character, with MARK, UNSPACED and STACKED, if that is of a word, else 0; IN_CONTEXT
    where it depends on those around, which it does not in text that is lowered. 0x7F stands for "_".
    """
    points = np.arange(_N_CHARACTERS, dtype="<u4")
    characters = points.tobytes().decode("utf-32-le", "surrogatepass")
    text = characters.replace(_SIGMA, "\0").replace("\u0130", "i").lower()
    lowered = np.zeros(_N_CHARACTERS, np.uint32)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    for word in re.finditer(r"\w+", text):
        lowered[word.start() : word.end()] = codes[word.start() : word.end()]
    lowered[[match.start() for match in UNSPACED_LETTER.finditer(text)]] |= UNSPACED
    combining = [ord(c) for c in marks() if ord(c) < _N_CHARACTERS]
    lowered[combining] = points[combining] | MARK
    if not is_lowered:
        lowered[[code for code in combining if unicodedata.combining(chr(code))]] |= STACKED
        lowered[[ord(c) for c in composing() if ord(c) < _N_CHARACTERS]] = IN_CONTEXT
        lowered[[i for i, c in enumerate(text) if not unicodedata.is_normalized("NFC", c)]] = IN_CONTEXT
    lowered[ord(_SIGMA)] = IN_CONTEXT
    lowered[ord("_")] = 0x7F
    lowered.flags.writeable = False
    return lowered


def iter_columns(X: object, size: int, fill: bool = False) -> Iterator[Column | list[Any]] | None:
    """Read a column of strings in Arrow's memory, `size` sentences at a time; None if `X` is no such column."""
    array = arrow_of(X)
    if array is None:
        return None
    import pyarrow  # which has made the array

    chunks = getattr(array, "chunks", [array])
    text_types = string_types(pyarrow)
    if not all(hasattr(chunk, "type") and chunk.type in text_types for chunk in chunks):
        return None
    return _iter_slices(pyarrow, chunks, size, fill)


def string_types(pyarrow: Any) -> list[Any]:
    """Return Arrow's types of strings."""
    return [getattr(pyarrow, name)() for name in ("string", "large_string", "string_view") if hasattr(pyarrow, name)]


def _iter_slices(pyarrow: Any, chunks: list[Any], size: int, fill: bool) -> Iterator[Column | list[Any]]:
    for chunk in chunks:
        for start in range(0, len(chunk), size):
            batch = chunk.slice(start, size)
            if batch.null_count and not fill:
                yield batch.to_pylist()
                continue
            if batch.type not in (pyarrow.string(), pyarrow.large_string()):
                batch = batch.cast(pyarrow.large_string())
            if batch.null_count:
                batch = batch.fill_null("")
            _, offsets, data = batch.buffers()
            width = np.int32 if batch.type == pyarrow.string() else np.int64
            ptr = np.frombuffer(offsets, width, len(batch) + 1, batch.offset * np.dtype(width).itemsize)
            yield Column(np.frombuffer(b"" if data is None else data, np.uint8), ptr.astype(np.int64))


def encode_words(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all words in UTF-8, lone surrogates too, and where they begin, with the end of the last."""
    ptr = offsets(np.fromiter(map(len, words), np.int64, count=len(words)))  # in characters
    text = np.frombuffer("".join(words).encode("utf-8", "surrogatepass"), np.uint8)
    if len(text) > ptr[-1]:
        first_bytes = np.flatnonzero((text & 0xC0) != 0x80)  # of the characters: the others are 0b10xxxxxx
        ptr = np.append(first_bytes, len(text))[ptr]
    return text, ptr


def decode_words(text: np.ndarray, ptr: np.ndarray) -> list[str]:
    """Undo :func:`encode_words`; a UnicodeDecodeError where a word is not UTF-8, or begins within a character."""
    packed = text.tobytes()
    return [packed[first:last].decode("utf-8", "surrogatepass") for first, last in pairwise(ptr.tolist())]


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Return the offset of each item, of these lengths, and the end of the last one."""
    ptr = np.zeros(len(lengths) + 1, np.int64)
    lengths.cumsum(out=ptr[1:])
    return ptr


# Largest number of sentences in a batch, and about how many characters or bytes it has: with both limits, threads get
# several batches whether sentences are short or long.
BATCH_SIZE = 8192
BATCH_LENGTH = 1 << 19


def iter_sentences(X: Any, *, name: str = "X", items: str = "sentences") -> Iterable[Any]:
    """Check that `X` is a collection of sentences, or a table of one column; an iterator is not consumed here."""
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


def wrong_row(row: int, item: object, name: str = "X") -> TypeError:
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
def advising(X: object) -> Iterator[None]:
    """Add to the error for a missing sentence how to replace it in `X`."""
    try:
        yield
    except MissingSentence as error:
        raise TypeError(f'{error} Set missing="empty", or replace missing sentences first: {filling_code(X)}') from None


def iter_batches(
    X: Sentences, tokenizer: Tokenizer, name: str = "X", multiple: int = 1, missing: str = "error"
) -> Iterator[list[Any] | Column]:
    """Yield batches of sentences: lists, or slices of an Arrow column; those of a list `multiple` times as long."""
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
    """Yield slices of at most `most` sentences, of about `length` in total, where sentence i begins at ptr[i]."""
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


def _take_batch(items: Iterator[object]) -> list[Any]:
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
    sentences: Sentences, groups: Labels, tokenizer: Tokenizer, missing: str = "error"
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
    previous: object = object()  # equal to no label
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


def document_starts(previous: object, ids: list[Any], first_row: int) -> list[int]:
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
