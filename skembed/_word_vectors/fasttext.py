"""Binary models of fastText and of epfml/sent2vec: one layout, with different versions and kinds of rows.

Little-endian and without padding. Only what a sentence needs is read.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._text.sources import offsets
from .._validation.values import describe_unreadable, user_path

MAGIC = b"\xba\x16\x4f\x2f"
_VERSIONS = 11, 12
_SETTINGS = struct.Struct("<12id")
_NAMES = "n_components window epochs min_count negative word_ngrams loss kind n_buckets shortest longest rate t".split()
_SIZES = struct.Struct("<3i2q")
_AFTER_WORD = struct.Struct("<qb")
_SHAPE = struct.Struct("<?2q")
_SKIPGRAM, _NEGATIVE_SAMPLING = 2, 2  # kinds of models and of losses
_SENT2VEC, _WITH_BOTH_NGRAMS = 4, 5  # kinds of models; 1 to 3 are those of fastText
LONGEST_NGRAM = 100  # characters; models have about 6
_LARGEST_COUNT = 1 << 60
_MAX_WORD = 1 << 16  # bytes
_CHUNK = 1 << 20  # bytes read at a time
_STEP = 10_000  # words at a time
END_OF_LINE = b"</s>"  # a word that has no character n-grams


class BinaryModel(NamedTuple):
    """What a file holds, before its matrices are read."""

    path: str
    settings: dict[str, float]
    words: list[bytes]
    counts: NDArray[np.int64]
    n_tokens: int  # of the text that it was learned from
    matrix_offset: int  # where the source vectors begin

    @property
    def is_sent2vec(self) -> bool:
        """Whether a sentence is the mean of its words and word n-grams."""
        return self.settings["kind"] == _SENT2VEC

    def setting(self, name: str) -> int:
        """Return a setting that is a whole number."""
        return int(self.settings[name])

    @property
    def lengths(self) -> tuple[int, int]:
        """Least and most characters of the n-grams that share rows; (1, 0) if there are none."""
        shortest, longest = self.setting("shortest"), self.setting("longest")
        return (shortest, longest) if longest and self.setting("n_buckets") else (1, 0)

    @property
    def decoded_words(self) -> list[str]:
        """The words; bytes that are not UTF-8, as a word cut within a character has, become lone surrogates."""
        return [word.decode("utf-8", "surrogateescape") for word in self.words]

    def read_rows(self, first: int, n_rows: int) -> NDArray[np.float32]:
        """Read some source vectors."""
        n_components = self.setting("n_components")
        with open(self.path, "rb") as file:
            file.seek(self.matrix_offset + 4 * first * n_components)
            rows = np.fromfile(file, "<f4", n_rows * n_components)
        if len(rows) < n_rows * n_components:
            raise ValueError(f"{self.path} was cut short while it was read.")
        rows = rows.astype(np.float32, copy=False).reshape(n_rows, n_components)
        for start in range(0, n_rows, _STEP):
            if not np.isfinite(rows[start : start + _STEP]).all():
                raise ValueError(f"{self.path}: the source vectors have NaN or infinity. The training diverged.")
        return rows

    def read_ngrams(self) -> NDArray[np.float32]:
        """Read the rows that n-grams share, (n_buckets, n_components)."""
        return self.read_rows(len(self.words), self.setting("n_buckets"))

    def read_word_vectors(self, ngrams: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """The vectors of the words: in a fastText model the mean of the word's row and those of its n-grams."""
        vectors = self.read_rows(0, len(self.words))
        if self.lengths[1] == 0 or self.is_sent2vec:
            return vectors
        from . import character_ngrams  # numba takes a while to import

        ngrams = self.read_ngrams() if ngrams is None else ngrams
        for start in range(0, len(vectors), _STEP):
            words = [b"" if word == END_OF_LINE else word for word in self.words[start : start + _STEP]]
            ptr = offsets(np.array([len(word) for word in words], np.int64))
            text = np.frombuffer(b"".join(words), np.uint8)
            character_ngrams.average(text, ptr, self.lengths, ngrams, vectors[start : start + _STEP], has_own_row=True)
        return vectors


def is_binary_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as models of fastText and sent2vec do."""
    file = user_path(path)
    if not file.exists() or describe_unreadable(file):
        return False
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


def open_binary_model(path: str | os.PathLike[str]) -> BinaryModel:
    """Read settings and dictionary, and check all sizes by the length of the file; a ValueError names the field."""
    name = os.fspath(user_path(path))
    with open(name, "rb") as file:
        n_bytes = os.fstat(file.fileno()).st_size
        if _read_field(file, len(MAGIC), name, "magic number") != MAGIC:
            raise ValueError(f"{name} is no model of fastText or sent2vec: it begins with other bytes.")
        version = int.from_bytes(_read_field(file, 4, name, "version"), "little", signed=True)
        if version not in _VERSIONS:
            raise ValueError(f"{name} has the format version {version}; versions 11 and 12 can be read.")
        settings = dict(zip(_NAMES, _SETTINGS.unpack(_read_field(file, _SETTINGS.size, name, "settings"))))
        n_entries, n_words, n_labels, n_tokens, n_pruned = _SIZES.unpack(
            _read_field(file, _SIZES.size, name, "dictionary")
        )
        _check_settings(settings, version, name)
        if min(n_words, n_labels, n_tokens) < 0 or n_words == 0 or n_entries != n_words + n_labels:
            raise ValueError(
                f"{name}: the dictionary has {n_entries} entries, {n_words} words and {n_labels} labels. The file is "
                "damaged."
            )
        if n_pruned != -1:
            raise ValueError(f"{name} is a pruned model, in which n-grams lost their rows. Give the model before that.")
        n_rows = n_words + settings["n_buckets"]
        if n_entries * (1 + _AFTER_WORD.size) + 4 * n_rows * settings["n_components"] > n_bytes:
            raise ValueError(
                f"{name}: {n_entries} dictionary entries and {n_rows} vectors of length {settings['n_components']} do "
                f"not fit in its {n_bytes} bytes. It is cut short or damaged; get it again."
            )
        entries = list(_iter_entries(file, n_entries, n_words, name))
        words, counts = [word for word, _ in entries[:n_words]], np.array([n for _, n in entries[:n_words]], np.int64)
        if len(set(words)) < n_words:
            raise ValueError(f"{name}: a word is twice in the dictionary. The file is damaged.")
        offset = _check_matrices(file, n_bytes, n_rows, settings, name)
    return BinaryModel(name, settings, words, counts, n_tokens, offset)


def _read_field(file: IO[bytes], n_bytes: int, name: str, field: str) -> bytes:
    found = file.read(n_bytes)
    if len(found) < n_bytes:
        raise ValueError(f"{name} ends within the {field}. It is cut short; get it again.")
    return found


def _check_settings(settings: dict[str, float], version: int, name: str) -> None:
    kind, n_buckets = settings["kind"], settings["n_buckets"]
    if kind == _WITH_BOTH_NGRAMS:
        raise ValueError(f"{name} is a model of word and character n-grams, which is not supported.")
    if kind not in (1, 2, 3, _SENT2VEC):
        raise ValueError(f"{name}: the settings have the kind of model {kind}. The file is damaged.")
    if settings["n_components"] < 1 or n_buckets < 0 or settings["word_ngrams"] < 1:
        raise ValueError(
            f"{name}: the settings have vectors of length {settings['n_components']}, {n_buckets} buckets and word "
            f"n-grams of {settings['word_ngrams']} words. The file is damaged."
        )
    if kind == _SENT2VEC and settings["word_ngrams"] > 1 and n_buckets == 0:
        raise ValueError(f"{name}: the settings have word n-grams, but no buckets for them. The file is damaged.")
    if not 0 <= settings["shortest"] <= LONGEST_NGRAM or not 0 <= settings["longest"] <= LONGEST_NGRAM:
        raise ValueError(
            f"{name}: the settings have n-grams of {settings['shortest']} to {settings['longest']} characters. The "
            "file is damaged."
        )
    if kind == 3 and version == 11:  # character n-grams came to classifiers with version 12
        settings["longest"] = 0


def _iter_entries(file: IO[bytes], n_entries: int, n_words: int, name: str) -> Iterator[tuple[bytes, int]]:
    """Yield words and labels with their counts, and leave the file at the end of the dictionary."""
    position, buffer, start = file.tell(), b"", 0
    for entry in range(n_entries):
        end = buffer.find(b"\0", start)
        while end < 0 or end + 1 + _AFTER_WORD.size > len(buffer):
            if end < 0 and len(buffer) - start > _MAX_WORD:
                raise ValueError(f"{name}, dictionary entry {entry}: the word has no end. The file is damaged.")
            more = file.read(_CHUNK)
            if not more:
                raise ValueError(f"{name} ends within the dictionary, entry {entry}. It is cut short; get it again.")
            position, buffer, start = position + start, buffer[start:] + more, 0
            end = buffer.find(b"\0")
        count, is_label = _AFTER_WORD.unpack_from(buffer, end + 1)
        if not 0 <= count < _LARGEST_COUNT or is_label != (entry >= n_words):
            raise ValueError(
                f"{name}, dictionary entry {entry}: the count is {count} and the type {is_label}. The file is damaged."
            )
        yield buffer[start:end], count
        start = end + 1 + _AFTER_WORD.size
    file.seek(position + start)


def _check_matrices(file: IO[bytes], n_bytes: int, n_rows: int, settings: dict[str, float], name: str) -> int:
    """Check that both matrices are whole and end the file; return where the first one begins."""
    begins = 0
    for matrix in ("source vectors", "target vectors"):
        is_compressed, n_found, n_components = _SHAPE.unpack(
            _read_field(file, _SHAPE.size, name, f"shape of the {matrix}")
        )
        if is_compressed:
            raise ValueError(f"{name}: the {matrix} are quantised. Give the model before that, the file .bin.")
        more = n_found - n_rows if begins == 0 else 0
        if n_components != settings["n_components"] or n_found < 0 or more < 0 or (more > 0 and settings["kind"] != 4):
            raise ValueError(
                f"{name}: the {matrix} have the shape ({n_found}, {n_components}), which does not fit the dictionary "
                "and the settings. The file is damaged."
            )
        begins = begins or file.tell()
        end = file.tell() + 4 * n_found * n_components
        if end > n_bytes:
            raise ValueError(f"{name} ends within the {matrix}. It is cut short; get it again.")
        file.seek(end)
    if end != n_bytes:
        raise ValueError(f"{name} has {n_bytes - end} bytes after the target vectors. It is damaged; get it again.")
    return begins


def write_binary_model(
    file: IO[bytes], words: Sequence[tuple[bytes, int]], vectors: NDArray[np.float32], lengths: tuple[int, int]
) -> None:
    """Write a model of fastText, as of skip-grams: rows of words, then those of n-grams; target vectors are zeros."""
    n_components, n_buckets = vectors.shape[1], len(vectors) - len(words)
    n_tokens = sum(count for _, count in words)
    settings = (n_components, 5, 5, 1, 5, 1, _NEGATIVE_SAMPLING, _SKIPGRAM, n_buckets, *lengths, 100, 1e-4)
    file.write(MAGIC + _VERSIONS[1].to_bytes(4, "little") + _SETTINGS.pack(*settings))
    file.write(_SIZES.pack(len(words), len(words), 0, n_tokens, -1))
    file.writelines(word + b"\0" + _AFTER_WORD.pack(count, 0) for word, count in words)
    file.write(_SHAPE.pack(False, *vectors.shape))
    file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
    file.write(_SHAPE.pack(False, len(words), n_components))
    zeros = np.zeros(n_components, "<f4").tobytes()
    file.writelines(zeros for _ in words)
