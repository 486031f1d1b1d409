"""Sentences as bytes: what the compiled tokenizer reads."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._validation.columns import arrow_of
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


class Buffer:
    """Memory for one text after the other, since the first write to new memory is slow."""

    most = 1 << 24  # bytes that are kept

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, size: int, dtype: type) -> np.ndarray:
        """Return an array with anything in it; the one taken before is not used any more."""
        n_bytes = size * np.dtype(dtype).itemsize
        if n_bytes > self.most:
            return np.empty(size, dtype)
        if n_bytes > len(self._bytes):
            self._bytes = np.empty(n_bytes + n_bytes // 4, np.uint8)
        return self._bytes[:n_bytes].view(dtype)


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
    """Return strings as a text, and the offsets of the line feeds after them; TypeError if an item is not a string.

    Lone surrogates, which UTF-8 does not allow, become three bytes.
    """
    encoded = [str.encode(sentence, "utf-8", "surrogatepass") for sentence in sentences]
    ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1) - 1
    return Text(np.frombuffer(b"\n".join([*encoded, PADDING]), np.uint8)), ends


def lower_rows(text: Text, ends: np.ndarray) -> tuple[Text, np.ndarray]:
    """Have Python lower a text, since a character cannot be lowered without those around it.

    Returns the text, and the offsets of the line feeds after its sentences. No line feed comes or goes.
    """
    last = int(ends[-1])
    lowered = "\n".join(map(lower, text.decode(0, last).split("\n"))).encode("utf-8", "surrogatepass")
    data = np.concatenate([np.frombuffer(lowered, np.uint8), text.data[last:]])
    data.flags.writeable = False
    before, after = np.flatnonzero(text.data[: last + 1] == _LINE_FEED), np.flatnonzero(data == _LINE_FEED)
    return text._replace(data=data), after[np.searchsorted(before, ends)]


@functools.cache
def lowered_characters(*, is_lowered: bool = False) -> np.ndarray:
    r"""Return what becomes of each character, as this version of Python knows Unicode, (n_characters,) uint32.

    It is the code point of the lowered character, with MARK, UNSPACED and STACKED, if that is of a word, else 0;
    IN_CONTEXT where it depends on the characters around. 0x7F stands for "_", as in a table of words. No character of
    a text that `lower` has lowered depends on others (`is_lowered`).
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


def iter_columns(X: Any, size: int, fill: bool = False) -> Iterator[Column | list[Any]] | None:
    """Read a column of strings in Arrow's memory without making Python strings, up to `size` sentences at a time.

    A batch with missing values is a list, or, if `fill`, has empty strings in their place. Returns None if `X` is no
    column of strings, or pyarrow is missing.
    """
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
    """Return the bytes of all words, and where they begin: word i is ``text[ptr[i]:ptr[i + 1]]``, in UTF-8.

    Lone surrogates, which UTF-8 does not allow, are kept as three bytes.
    """
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
