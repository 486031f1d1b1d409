"""Where sentences come from: a collection that the user passes, or text files."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from ._text import PADDING, Column, Part, Text, iter_columns
from ._tokenizer import Tokenizer

# Sentences that are worked on at a time, at the most, and about how many characters or bytes; then there are several
# batches for the threads whether sentences are short or long.
BATCH_SIZE = 8192
BATCH_LENGTH = 1 << 19
READ_SIZE = 1 << 18  # characters, or bytes, of a file that are read at a time


def iter_sentences(X: Any, *, name: str = "X") -> Iterable[Any]:
    """Check that `X` is a one-dimensional collection of sentences and return something to iterate over.

    Parameters
    ----------
    X : list, tuple, 1-D array, pandas or polars Series, pyarrow array, or any iterable
        An iterator is not consumed here.
    name : str, default="X"
        What the error messages call it.

    Returns
    -------
    sentences : iterable

    Raises
    ------
    ValueError
        If `X` is a single string, or a table.
    TypeError
        If `X` cannot be iterated over, or has no order.
    """
    if isinstance(X, (str, bytes, bytearray)):
        raise ValueError(
            f"{name} must be an iterable of sentences, got one {type(X).__name__}. Wrap it in a list: [{name}]."
        )
    if isinstance(X, (Mapping, set, frozenset)):
        raise TypeError(
            f"{name} is a {type(X).__name__}, which has no reading order. Pass a list, for example "
            f"list({name}{'.values()' if isinstance(X, Mapping) else ''})."
        )
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) > 1:
        column = f'{name}["text"]' if hasattr(X, "columns") or hasattr(X, "column_names") else f"{name}[:, 0]"
        raise ValueError(
            f"{name} must be one-dimensional, got a {type(X).__name__} of shape {shape}. Pass one column: {column}."
        )
    if hasattr(X, "to_pylist"):  # a pyarrow array gives pyarrow scalars when iterated over, not strings
        return _iter_arrow(X)
    try:
        iter(X)
    except TypeError:
        raise TypeError(f"{name} must be an iterable of sentences, got {X!r:.80} of type {type(X).__name__}.") from None
    return X


def length_of(X: Any) -> int | None:
    """How many sentences `X` has; None where only the sentences tell.

    A generator has no length, and a progress bar around one has what somebody guessed.
    """
    if not hasattr(X, "__getitem__"):
        return None
    try:
        return len(X)
    except (TypeError, NotImplementedError):
        return None


def _iter_arrow(values: Any, step: int = BATCH_SIZE) -> Iterator[Any]:
    for start in range(0, len(values), step):
        yield from values[start : start + step].to_pylist()


def describe_wrong_item(item: Any) -> str:
    """Say what a row that is not a string is, and what to do about it."""
    kind = type(item).__name__
    if item is None or kind in ("NAType", "NaTType") or (isinstance(item, (float, np.floating)) and item != item):
        return f'missing ({item!r}). Replace missing sentences first: X = X.fillna("") for a pandas Series.'
    if isinstance(item, (bytes, bytearray)):
        return f"bytes ({item!r:.60}). Decode it first, for example with item.decode('utf-8')."
    if isinstance(item, (list, tuple, np.ndarray)):
        return (
            f"a {kind} ({item!r:.60}), not a string. If it already holds the tokens of a sentence, pass analyzer= "
            "a named function that returns its argument: def as_is(tokens): return tokens."
        )
    return f"{item!r:.60} of type {kind}, not a string. Convert it first, for example with str(item)."


def iter_pieces(
    X: Any, tokenizer: Tokenizer, name: str = "X", n_batches: int = 1
) -> Iterator[list[Any] | Part | Column]:
    """Yield sentences, some at a time: as lists; of lists, or as Arrow holds them, if the tokenizer can read that.

    A part of a list is as long as `n_batches`. More of them leave the threads less to hand over; but what comes of a
    part should stay in a core's cache.
    """
    items = iter_sentences(X, name=name)
    columns = iter_columns(X, BATCH_SIZE) if tokenizer.is_compiled else None
    if columns is not None:
        for column in columns:
            if isinstance(column, list):
                yield column
                continue
            yield from map(column.part, iter_slices(column.offsets, BATCH_LENGTH))
    elif isinstance(X, (list, tuple)):
        start = 0
        while start < len(X):
            stop = min(start + n_batches * BATCH_SIZE, len(X))
            few = X[start:stop:64]  # their lengths stand for those of the others
            n_sentences = n_batches * BATCH_LENGTH * len(few) // (_n_characters(few) + 1)
            part = Part(X, start, min(start + max(n_sentences, 1), stop))
            yield part if tokenizer.is_compiled else part.take()
            start = part.last
    else:
        rest = iter(items)
        while piece := _take(rest):
            yield piece


def iter_slices(ptr: np.ndarray, length: int) -> Iterator[slice]:
    """Yield slices of sentences, of which i is from ptr[i] to ptr[i + 1], that are about `length` long together."""
    first = 0
    while first < len(ptr) - 1:
        last = first + np.searchsorted(ptr[first : first + BATCH_SIZE + 1], ptr[first] + length, "right") - 1
        last = max(int(last), first + 1)
        yield slice(first, last)
        first = last


def _n_characters(sentences: Sequence[Any]) -> int:
    if set(map(type, sentences)) == {str}:
        return sum(map(len, sentences))
    return sum(len(sentence) for sentence in sentences if isinstance(sentence, str))


def _take(items: Iterator[Any]) -> list[Any]:
    """Take a batch; the last sentence taken stands for those that were taken with it, and for the next ones."""
    taken: list[Any] = []
    length, n_more = 0, 1
    while length < BATCH_LENGTH and (few := list(islice(items, n_more))):
        taken += few
        n_characters = _n_characters(few[-1:])
        length += len(few) * n_characters
        n_more = min(BATCH_LENGTH // (n_characters + 1) + 1, 256, BATCH_SIZE - len(taken))
    return taken


def iter_batches(
    sentences: Iterable[Any], groups: Iterable[Any] | None, tokenizer: Tokenizer
) -> Iterator[tuple[list[Any] | Part | Column, list[int]]]:
    """Yield sentences, some at a time, with the positions among them at which a new document begins."""
    pieces = iter_pieces(sentences, tokenizer, name="sentences", n_batches=2)
    if groups is None:
        starts = [0]
        for batch in pieces:
            yield batch, starts
            starts = []
        return
    n_labels, n_given = length_of(groups), length_of(sentences)
    if None not in (n_labels, n_given) and n_labels != n_given:
        raise ValueError(f"groups has {n_labels} entries for {n_given} sentences; each sentence needs one.")
    labels = iter(iter_sentences(groups, name="groups"))
    n_sentences = 0
    previous: Any = object()  # equal to no label
    for batch in pieces:
        ids = list(islice(labels, len(batch)))
        if len(ids) < len(batch):
            raise ValueError(
                f"groups has {n_sentences + len(ids)} entries for at least {n_sentences + len(batch)} sentences; each "
                "sentence needs one."
            )
        yield batch, _document_starts(previous, ids, n_sentences)
        previous = ids[-1]
        n_sentences += len(batch)
    if any(True for _ in labels):
        raise ValueError(f"groups has more than {n_sentences} entries for {n_sentences} sentences.")


def _document_starts(previous: Any, ids: list[Any], first_row: int) -> list[int]:
    try:
        missing = [i for i, label in enumerate(ids) if label is None or label != label]
        starts = [i for i, (a, b) in enumerate(pairwise(chain([previous], ids))) if a != b]
    except (TypeError, ValueError):  # an array, or pandas.NA, does not compare to True or False
        raise TypeError(
            "groups must hold one plain document id, such as an integer or a string, per sentence."
        ) from None
    if missing:
        raise ValueError(f"groups has no document id at row {first_row + missing[0]}; every sentence needs one.")
    return starts


def iter_text(
    path: str | os.PathLike[str], encoding: str, tokenizer: Tokenizer
) -> Iterator[tuple[list[str] | Text, list[int]]]:
    """Yield sentences, some at a time, with the positions among them at which a new document begins.

    Where the tokenizer reads UTF-8 itself, the lines of a text are yet to be looked at, and [0] says that it is the
    first one of its file.

    See :meth:`skembed.SentenceCorpus.from_file` for what is read and what is refused.
    """
    try:
        as_bytes = codecs.lookup(encoding).name == "utf-8" and tokenizer.is_compiled
    except LookupError:
        raise ValueError(f"There is no encoding called {encoding!r}.") from None
    for file in _text_files(Path(path)):
        if as_bytes:
            starts = [0]
            for text in _iter_bytes(file):
                yield text, starts
                starts = []
            continue
        new_document = True
        for lines in _iter_lines(file, encoding):
            sentences: list[str] = []
            starts = []
            for line in lines:
                if line.isspace() or not line:
                    new_document = True
                    continue
                if new_document:
                    starts.append(len(sentences))
                    new_document = False
                sentences.append(line.rstrip("\r\n"))
            if sentences:
                yield sentences, starts


def _text_files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"There is no file or folder {path}.")
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(folder, name)
            for name in names
            if name.lower().endswith((".txt", ".txt.gz")) and not name.startswith(".")
        ]
    if not found:
        raise ValueError(f"The folder {path} has no file *.txt or *.txt.gz.")
    return sorted(found, key=lambda file: file.relative_to(path).parts)  # parts: the same order on every system


def _open_bytes(file: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(file, "rb") if file.name.lower().endswith(".gz") else open(file, "rb"))


def _iter_bytes(file: Path) -> Iterator[Text]:
    """Yield whole lines as they stand in the file."""
    pieces: list[bytes] = []  # of a line that is longer than what is read at a time
    try:
        with _open_bytes(file) as raw:
            piece = raw.read(max(READ_SIZE, len(codecs.BOM_UTF8))).removeprefix(codecs.BOM_UTF8)
            while piece or (piece := raw.read(READ_SIZE)):
                cut = piece.rfind(b"\n") + 1
                if cut:
                    yield _as_text([*pieces, piece[:cut]], file)
                    pieces = []
                pieces.append(piece[cut:])
                piece = b""
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(file, error) from error
    if any(pieces):
        yield _as_text([*pieces, b"\n"], file)


def _as_text(pieces: list[bytes], file: Path) -> Text:
    return Text(np.frombuffer(b"".join([*pieces, PADDING]), np.uint8), file=file)


def _damaged(file: Path, error: Exception) -> ValueError:
    return ValueError(f"{file} is not a complete gzip file: {error}")


def _iter_lines(file: Path, encoding: str) -> Iterator[list[str]]:
    """Yield lists of lines that end only at a line feed; other Unicode line separators are text."""
    first = True
    try:
        with _open_bytes(file) as raw, io.TextIOWrapper(raw, encoding=encoding, newline="\n") as stream:
            while lines := stream.readlines(READ_SIZE):
                if first:
                    lines[0] = lines[0].removeprefix("\ufeff")  # the byte order mark
                    first = False
                yield lines
    except UnicodeError as error:
        raise ValueError(decoding_message(file, encoding, error)) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _damaged(file, error) from error
    except LookupError as error:  # a codec such as "hex" that is not for text
        raise ValueError(f"encoding={encoding!r} cannot be used: {error}") from None


def decoding_message(file: Path, encoding: str, error: UnicodeError) -> str:
    """Say where in a file the bytes are that cannot be decoded."""
    advice = "If the text has another encoding, pass it, for example encoding='latin-1'."
    if "\n".encode(encoding) == b"\n":
        # The decoder counts from the start of its own buffer, so find the line by reading again.
        with _open_bytes(file) as raw:
            for number, line in enumerate(raw, 1):
                try:
                    line.decode(encoding)
                except UnicodeDecodeError as found:
                    wrong = found.object[found.start : found.end]
                    return (
                        f"{file}, line {number}, byte offset {found.start} in the line: {wrong!r} is not valid "
                        f"{encoding}. {advice}"
                    )
    return f"{file} is not valid {encoding}: {error}. {advice}"
