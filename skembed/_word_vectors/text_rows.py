"""Word vectors as text: word2vec's text format, and GloVe's, which has no first line."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import IO, Any

import numpy as np

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
