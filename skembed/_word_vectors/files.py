"""Files of word vectors, in the formats of word2vec and GloVe, in text and binary: how they are recognised and read."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from .._text.files import BEGINNINGS
from .._validation.values import describe_unreadable, user_path
from .fasttext import MAGIC, open_binary_model

LARGEST = 1e6  # models have smaller values; misread bytes almost always give larger ones
_READ_AT_ONCE = 1 << 20  # bytes read at a time
_MAX_WORD = 1 << 16  # a longer word means that the file is damaged
_CONTROL_IN_WORD = re.compile(rb"[\x00-\x1f\x7f]")


class BinaryRows:
    """Rows of the word2vec binary format: a word, a space, little-endian floats and possibly a line end.

    Nothing marks the start of a row: what shifts one row shifts all after it, which checks of words and numbers detect.
    """

    advice = (
        "A word with a space, or changed line ends, shift all following rows. Get the vectors as text, or write the "
        "file again without spaces in words; if words are cut within a character, use "
        "skembed.formats.read_word_vectors(path, errors='replace')."
    )

    def __init__(self, file: IO[bytes] | Any, n_components: int, n_rows: int, path: str) -> None:
        self.file, self.n_components, self.n_rows, self.path = file, n_components, n_rows, path

    def where(self, row: int, byte: int) -> str:
        return f"{self.path}, row {row}, byte {byte}"

    def __iter__(self) -> Iterator[tuple[int, bytes, Any]]:
        n_bytes = 4 * self.n_components
        position = self.file.tell()
        buffer, start, space = b"", 0, -1
        for row in range(self.n_rows):
            space = buffer.find(b" ", start, start + _MAX_WORD)
            while space < 0 or space + 1 + n_bytes > len(buffer):
                if space < 0 and len(buffer) - start >= _MAX_WORD:
                    raise ValueError(f"{self.path}: no end of a word after {row} words. {self.advice}")
                more = self.file.read(max(_READ_AT_ONCE, n_bytes))
                if not more:
                    return  # the caller reports the missing rows
                buffer, position, start = buffer[start:] + more, position + start, 0
                space = buffer.find(b" ", 0, _MAX_WORD)
            word = buffer[start:space].removeprefix(b"\n")
            byte = position + space - len(word)
            if _CONTROL_IN_WORD.search(word):
                where = self.where(row + 1, byte)
                raise ValueError(f"{where}: the word {word[:40]!r} has a control character. {self.advice}")
            yield byte, word, np.frombuffer(buffer, "<f4", count=self.n_components, offset=space + 1)
            start = space + 1 + n_bytes
        rest = buffer[start:]
        while rest:
            if rest.strip():
                raise ValueError(
                    f"{self.path}: there is more after the {self.n_rows} words that the first line promises. "
                    f"{self.advice}"
                )
            rest = self.file.read(_READ_AT_ONCE)

    def vector(self, floats: np.ndarray, byte: int) -> np.ndarray:
        return floats

    def check(self, words: list[str], vectors: np.ndarray, offsets: array[int]) -> None:
        """Refuse implausibly large numbers."""
        step = max(1, _READ_AT_ONCE // self.n_components)
        for start in range(0, len(words), step):
            chunk = vectors[start : start + step]
            bad = np.flatnonzero((np.abs(chunk) > LARGEST).any(axis=1))
            if len(bad):
                row = start + int(bad[0])
                raise ValueError(
                    f"{self.path}, byte {offsets[row]}: the vector of {words[row]!r:.50} has numbers up to "
                    f"{np.nanmax(np.abs(vectors[row])):.3g}, which no model has. {self.advice}"
                )


def binary_row(vector: np.ndarray) -> bytes:
    return vector.astype("<f4").tobytes()


_MAX_LINE = 1 << 24  # a longer line means that the file is not text
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")  # rare in text, common in the bytes of floats
_FIRST = 100  # lines that show how long the vectors are


class TextRows:
    """Rows "word number ... number" of a text file; the word is all text before the last `n_components` fields."""

    advice = (
        "Call skembed.formats.read_word_vectors(path, encoding=..., errors=...) and pass the result as word_vectors."
    )

    def __init__(self, file: IO[bytes] | Any, n_components: int, first_line: int, path: str) -> None:
        self.file, self.n_components, self.first_line, self.path = file, n_components, first_line, path

    def where(self, row: int, line: int) -> str:
        return f"{self.path}, line {line}"

    def __iter__(self) -> Iterator[tuple[int, bytes, Any]]:
        n_components = self.n_components
        expected = f"not the {n_components} that the first {'lines have' if self.first_line == 1 else 'line says'}"
        for line_number, line in enumerate(iter(partial(self.file.readline, _MAX_LINE), b""), self.first_line):
            if line.isspace():
                continue
            where = self.where(0, line_number)
            if len(line) == _MAX_LINE:
                raise ValueError(f"{where} is longer than {_MAX_LINE} bytes: this is not a file of word vectors.")
            fields = line.rsplit(None, n_components)
            if len(fields) == n_components and line[:1].isspace():
                fields.insert(0, b"")  # the empty word
            if len(fields) <= n_components:
                raise ValueError(f"{where}: {len(fields) - 1} numbers after the word, {expected}.")
            tokens = fields[0].split()
            if len(tokens) > 1 and tokens[-1].rstrip(b".")[-1:].isdigit() and _is_number(tokens[-1]):
                raise ValueError(f"{where}: more than {n_components} numbers after the word, {expected}.")
            if b"\0" in fields[0]:
                raise ValueError(f"{where}: the word has a NUL character, which no text has: the file is damaged.")
            yield line_number, fields[0].strip(), fields[1:]

    def vector(self, fields: list[bytes], line: int) -> np.ndarray:
        try:
            return np.fromiter(map(float, fields), dtype=np.float32, count=self.n_components)
        except ValueError:
            bad = next(field for field in fields if not _is_number(field))
            where = self.where(0, line)
            raise ValueError(f"{where}: {bad[:40].decode('utf-8', 'replace')!r} is not a number.") from None

    def check(self, words: list[str], vectors: np.ndarray, offsets: array[int]) -> None:
        """Nothing to check: each line was checked when it was read."""


def text_row(vector: np.ndarray) -> bytes:
    return " ".join([f"{number:.9g}" for number in vector.tolist()]).encode()


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def is_text(rest: bytes, n_components: int) -> bool:
    """Whether what follows the first line is text: a row of numbers, or at least no bytes of floats."""
    fields = rest.lstrip().partition(b"\n")[0].split()
    if len(fields) >= n_components and all(map(_is_number, fields[-n_components:])):
        return True
    return not _CONTROL.search(rest[:4096]) and any(map(_is_number, [*fields[1:2], *fields[-1:]]))


def guess_n_components(head: bytes, is_cut: bool, path: str) -> int:
    """Return how many numbers end most of the first lines: a word may have spaces and look like a number."""
    lines = head.split(b"\n")
    if is_cut and len(lines) > 1:
        lines.pop()  # probably not whole
    found: Counter[int] = Counter()
    for line in [line for line in lines if line.strip()][:_FIRST]:
        fields = line.split()[0 if line[:1].isspace() else 1 :]
        found[sum(1 for _ in takewhile(_is_number, reversed(fields)))] += 1
    n_components = found.most_common(1)[0][0] if found else 0  # of equally frequent ones the first
    if n_components == 0:
        meaning = "is empty or has no word vectors: its first lines must be a word and numbers each"
        if head.lstrip()[:1] in (b"{", b"["):
            meaning = "looks like JSON. Load it with json.load and give the dict of words and vectors"
        elif b"\0" in head:
            meaning = "has NUL characters, which no text in UTF-8 has. If it is in UTF-16, save it as UTF-8"
        elif _is_number(lines[0].rpartition(b",")[2]):
            meaning = "looks like a table with commas. Read it with pandas.read_csv and give the DataFrame with the "
            meaning += "words as its index"
        raise ValueError(f"{path} {meaning}.")
    return n_components


_CHUNK = 1 << 20  # bytes read at a time; the first chunk shows the format
_MAX_PACKED = {b"\x1f\x8b": 1032, b"BZh": 1 << 16, b"\xfd7zXZ\x00": 1 << 14}  # largest compression ratio
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(-?\d+)\s+(-?\d+)\s*\Z")
_FOREIGN = BEGINNINGS | {
    MAGIC: "a compressed model of fastText or sent2vec",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    codecs.BOM_UTF16_LE: "text in UTF-16 or UTF-32, not in UTF-8",
    codecs.BOM_UTF16_BE: "text in UTF-16, not in UTF-8",
}
_File = IO[bytes] | Any


class Choice(NamedTuple):
    """Which rows of a file are read, and how words are decoded."""

    encoding: str = "utf-8"
    errors: str = "strict"
    limit: int | None = None
    words: Collection[str] | None = None


def read_file(path: str, choice: Choice) -> tuple[list[str], np.ndarray]:
    """Recognise the format of a file and read the chosen words and vectors; a ValueError says what is wrong with it."""
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
    kinds = [kind for magic, kind in _FOREIGN.items() if head.startswith(magic)]
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 32:
        kinds.append("a file of safetensors")
    if head[257:262] == b"ustar":
        kinds.append("a tar archive")
    if kinds:
        raise ValueError(
            f"{path} is {kinds[0]}. Unpack it or save it as UTF-8; or load it with the library that wrote it, and pass "
            "the object, (words, array) with words as a list of str, or a DataFrame with the words as its index."
        )
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
