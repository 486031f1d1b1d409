"""Word vectors in word2vec's binary format."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

LARGEST = 1e6  # models have smaller values; misread bytes almost always give larger ones
_CHUNK = 1 << 20  # bytes read at a time
_MAX_WORD = 1 << 16  # a longer word means that the file is damaged
_CONTROL_IN_WORD = re.compile(rb"[\x00-\x1f\x7f]")


class BinaryRows:
    """Rows of the word2vec binary format: a word, a space, little-endian floats and possibly a line end.

    Nothing marks the start of a row. After a word with a space, or a changed line end, all following rows are read at
    the wrong offset; the checks of words and numbers detect that.
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
                more = self.file.read(max(_CHUNK, n_bytes))
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
            rest = self.file.read(_CHUNK)

    def vector(self, floats: np.ndarray, byte: int) -> np.ndarray:
        return floats

    def check(self, words: list[str], vectors: np.ndarray, offsets: array[int]) -> None:
        """Refuse implausibly large numbers."""
        step = max(1, _CHUNK // self.n_components)
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
