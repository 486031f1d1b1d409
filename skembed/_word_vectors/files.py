"""Files of word vectors, whose format is recognised from their content: plain, compressed, or of another program."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from array import array
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from .._validation.values import describe_unreadable, user_path
from .binary_rows import BinaryRows
from .fasttext import MAGIC, open_binary_model
from .text_rows import TextRows, guess_n_components, is_text

_CHUNK = 1 << 20  # bytes read at a time; the first chunk shows the format
_MAX_PACKED = {b"\x1f\x8b": 1032, b"BZh": 1 << 16, b"\xfd7zXZ\x00": 1 << 14}  # largest compression ratio
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(-?\d+)\s+(-?\d+)\s*\Z")
_TABLE = "pass (words, array) with words as a list of str"
_FOREIGN = {  # first bytes of other formats, and what to do with them
    b"PK\x03\x04": "a zip archive, as numpy.savez and torch.save write too. Extract it and pass the file of word "
    f"vectors inside, or load it with the program that wrote it and {_TABLE}",
    MAGIC: "a compressed model of fastText or sent2vec. Unpack it first",
    **{
        bytes([0x80, protocol]): "a pickle, as joblib, gensim's save and old versions of torch write too. Load it with "
        "the library that wrote it and pass the object"
        for protocol in range(2, 6)
    },
    b"\x93NUMPY": f"a NumPy array without words. Load it with numpy.load and {_TABLE}",
    b"PAR1": "a Parquet file. Read it with pandas.read_parquet and pass the DataFrame with the words as its index",
    b"ARROW1": "an Arrow file. Read it with pandas.read_feather and pass the DataFrame with the words as its index",
    b"FEA1": "a Feather file. Read it with pandas.read_feather and pass the DataFrame with the words as its index",
    b"\x89HDF": "an HDF5 file. Read it with pandas.read_hdf and pass the DataFrame with the words as its index",
    b"SQLite format 3\x00": f"an SQLite database. Read the words and the vectors from it and {_TABLE}",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard. Unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive. Extract it and pass the file inside",
    codecs.BOM_UTF16_LE: "text in UTF-16 or UTF-32. Save it as UTF-8",
    codecs.BOM_UTF16_BE: "text in UTF-16. Save it as UTF-8",
}
_File = IO[bytes] | Any


class Choice(NamedTuple):
    """Which rows of a file are read, and how words are decoded."""

    encoding: str = "utf-8"
    errors: str = "strict"
    limit: int | None = None
    words: Collection[str] | None = None


def read_file(path: str, choice: Choice) -> tuple[list[str], np.ndarray]:
    """Recognise the format of a file and read the chosen words and vectors.

    Raises
    ------
    FileNotFoundError
        If there is no file at the path.
    ValueError
        If the file is not in one of the formats, is truncated or damaged, or has none of the chosen words.
    """
    path = os.fspath(user_path(path))
    if kind := describe_unreadable(Path(path)):
        raise ValueError(f"{path} is {kind}. Give the path of a file of word vectors.")
    with open(path, "rb") as raw:
        start, n_bytes = raw.peek(8), os.fstat(raw.fileno()).st_size
        if start.startswith(MAGIC):
            return _read_binary_model(path, choice)
        for magic, largest in _MAX_PACKED.items():
            if start.startswith(magic):
                return _read_packed(raw, magic, n_bytes * largest, path, choice)
        return _read_stream(raw, n_bytes, path, choice)


def _read_binary_model(path: str, choice: Choice) -> tuple[list[str], np.ndarray]:
    model, words = open_binary_model(path), []
    for entry, word in enumerate(model.words[: choice.limit]):
        try:
            words.append(word.decode(choice.encoding, choice.errors))
        except UnicodeDecodeError:
            raise ValueError(
                f"{path}, dictionary entry {entry}: the word {word[:40]!r} is not text in {choice.encoding}. "
                f"{TextRows.advice}"
            ) from None
    rows = [row for row, word in enumerate(words) if choice.words is None or word in choice.words]
    if not rows:
        raise _none_chosen(path, choice, words[:3])
    return [words[row] for row in rows], model.read_word_vectors()[rows]


def _none_chosen(path: str, choice: Choice, first_words: list[str]) -> ValueError:
    n_words = len(choice.words or ())
    return ValueError(f"{path} has none of the {n_words} chosen words. It begins with {first_words!r:.80}.")


def _read_packed(raw: IO[bytes], magic: bytes, max_bytes: int, path: str, choice: Choice) -> Any:
    import bz2  # missing in some builds of Python
    import lzma

    opener: Any = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}.get(magic, lzma.open)
    try:
        with opener(raw) as unpacked:
            return _read_stream(unpacked, max_bytes, path, choice)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"{path} is cut short or damaged ({error}). Get the file again.") from error


def _read_stream(file: _File, max_bytes: int, path: str, choice: Choice) -> tuple[list[str], np.ndarray]:
    """Read an open file from its start; it unpacks to at most `max_bytes`."""
    head = file.read(_CHUNK)
    _refuse_foreign(head, path)
    skip = len(_BOM) if head.startswith(_BOM) else 0
    first, newline, rest = head[skip:].partition(b"\n")
    header = _HEADER.match(first) if len(first) < 64 else None
    if header is None:
        n_components = guess_n_components(head[skip:], len(head) == _CHUNK, path)
        file.seek(skip)
        return _gather(TextRows(file, n_components, 1, path), n_components, None, path, choice)

    n_rows, n_components = int(header[1]), int(header[2])
    has_text = is_text(rest, n_components)
    least = n_rows * (2 * n_components if has_text else 4 * n_components + 1)  # a digit and a space take two bytes
    if min(n_rows, n_components) < 1 or least > max_bytes:
        raise ValueError(
            f"{path}: the first line promises {n_rows} words and vectors of length {n_components}, which is less than "
            "one or more than the file can hold. It is cut short or not a file of word vectors; get it again."
        )
    file.seek(skip + len(first) + len(newline))
    kind = partial(TextRows, file, n_components, 2) if has_text else partial(BinaryRows, file, n_components, n_rows)
    return _gather(kind(path), n_components, n_rows, path, choice)


def _refuse_foreign(head: bytes, path: str) -> None:
    for magic, meaning in _FOREIGN.items():
        if head.startswith(magic):
            raise ValueError(f"{path} is {meaning}.")
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 32:
        raise ValueError(f"{path} is a file of safetensors. Load it with safetensors.numpy.load_file and {_TABLE}.")
    if head[257:262] == b"ustar":
        raise ValueError(f"{path} is a tar archive. Extract it and pass the file inside.")
    if b"\n" not in head and b"\r" in head.rstrip():
        raise ValueError(
            f"{path} has carriage returns but no line feeds, as files of old Macs have. Convert its line ends first, "
            "for example with mac2unix."
        )


def _gather(
    rows: TextRows | BinaryRows, n_components: int, n_rows: int | None, path: str, choice: Choice
) -> tuple[list[str], np.ndarray]:
    """Collect the chosen words and vectors; memory grows only with what is kept."""
    words: list[str] = []
    offsets = array("Q")
    n_read, first_words = 0, []
    expected = min(n_rows or 1024, 1024 if choice.words is not None else n_rows or 1024, choice.limit or n_rows or 1024)
    vectors = np.empty((min(expected, (1 << 26) // n_components + 1), n_components), dtype=np.float32)
    for offset, word, values in rows:
        if n_read == n_rows:
            raise ValueError(f"{path} holds more than the {n_rows} words that its first line promises. Correct it.")
        n_read += 1
        try:
            text = word.decode(choice.encoding, choice.errors)
        except UnicodeDecodeError:
            where = rows.where(n_read, offset)
            raise ValueError(
                f"{where}: the word {word[:40]!r} is not text in {choice.encoding}. {rows.advice}"
            ) from None
        if n_read <= 3:
            first_words.append(text)
        if choice.words is None or text in choice.words:
            if len(words) == len(vectors):  # there are no views of the array, so its memory may move
                vectors.resize((len(words) + len(words) // 2 + 1, n_components), refcheck=False)
            vectors[len(words)] = rows.vector(values, offset)
            words.append(text)
            offsets.append(offset)
        if n_read == choice.limit:
            break
    if n_rows is not None and n_read < min(n_rows, choice.limit or n_rows):
        raise ValueError(
            f"{path}: the first line promises {n_rows} words but the file ends after {n_read}. It is cut short, "
            "or its first line is wrong; get it again."
        )
    if not words:
        raise _none_chosen(path, choice, first_words)
    vectors.resize((len(words), n_components), refcheck=False)
    rows.check(words, vectors, offsets)
    return words, vectors
