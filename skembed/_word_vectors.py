"""Word vectors that were learned elsewhere: from a dict, gensim, a fitted estimator or a file."""

from __future__ import annotations

import gzip
import os
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from functools import partial
from itertools import takewhile
from typing import IO, Any

import numpy as np
from sklearn.exceptions import NotFittedError

_CHUNK = 1 << 20  # bytes of a file that are read at a time, and within which its format is recognised
_MAX_WORD = 1 << 16  # a longer word in a binary file means that the file is damaged
_MAX_LINE = 1 << 24  # a longer line means that the file is not text
_MAX_DEFLATE = 1032  # no byte of a .gz file stands for more bytes than this
_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"\s*(-?\d+)\s+(-?\d+)\s*\Z")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")  # hardly ever in text, almost always among the bytes of floats
_FOREIGN = {
    b"PK\x03\x04": "a zip archive. Extract it and give the file inside",
    b"\xba\x16\x4f\x2f": "a fastText model. Give its .vec file, which holds the word vectors as text",
    **{bytes([0x80, protocol]): "a pickle. Load it with what saved it and give the object" for protocol in range(2, 6)},
}
_ACCEPTED = (
    "a dict of word -> vector, gensim KeyedVectors or a gensim model with .wv, a fitted estimator with vocabulary_ "
    "and word_vectors_, or the path of a file in word2vec text, word2vec binary or GloVe format (also .gz)"
)
_File = IO[bytes] | gzip.GzipFile
_Rows = Iterator[tuple[bytes, np.ndarray]]  # the words and vectors of a file
_Found = tuple[list[str], np.ndarray, Any, str]  # words, float32 copy of vectors, counts or None, name for messages


def read_word_vectors(source: Any) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Read words and their vectors from wherever they are.

    Parameters
    ----------
    source : dict, gensim KeyedVectors or model, fitted estimator, or path
        - A mapping of word to 1-D array-like.
        - gensim's KeyedVectors, or a gensim model with ``.wv``; anything with ``index_to_key`` and ``vectors``.
        - A fitted estimator with ``vocabulary_``, ``word_vectors_`` and possibly ``word_counts_``. Rows of
          ``word_vectors_`` after those of the vocabulary belong to n-grams and are left out.
        - The path (str or os.PathLike) of a file in word2vec text format (first line "n_words n_components"), word2vec
          binary format or GloVe text format (no first line), also compressed by gzip. The content of the file decides
          which one it is, not its name.

    Returns
    -------
    words : list of str
        Distinct words in the order of the source. Bytes of a file that are not valid UTF-8 become lone surrogates
        (the error handler "surrogateescape"), so different words stay different.
    vectors : ndarray of shape (n_words, n_components), dtype float32
        C-contiguous and a copy, finite.
    counts : ndarray of shape (n_words,), dtype int64, or None
        How often each word occurred, None where the source does not know: files never do, and the counts that gensim
        makes up for vectors read from a file (n_words, ..., 2, 1) are left out where there are more than ten words.

    Raises
    ------
    FileNotFoundError
        If there is no file at the path.
    NotFittedError
        If the source is an estimator without ``word_vectors_``.
    TypeError
        If the source is none of the above, or a word is not a str.
    ValueError
        If the source has no words or vectors of length zero, if vectors differ in length, are not numbers or are not
        finite, or if the file is cut short, damaged or does not hold what its first line promises.

    Warns
    -----
    UserWarning
        If words occur more than once; the first vector of each is kept.

    Examples
    --------
    >>> from skembed._word_vectors import read_word_vectors
    >>> words, vectors, counts = read_word_vectors({"cat": [1, 2], "dog": [3, 4]})
    >>> words, vectors, counts
    (['cat', 'dog'], array([[1., 2.], [3., 4.]], dtype=float32), None)
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is infinite as float32 is refused below
        words, vectors, counts, name = _find(source)
    if not words or vectors.shape[1] == 0:
        raise ValueError(f"{name} has {len(words)} words and vectors of length {vectors.shape[1]}. Give at least one.")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name}: words must be str, got {word!r} of type {type(word).__name__}.")
    words = list(map(str, words))  # numpy has a str of its own
    step = max(1, (1 << 20) // vectors.shape[1])  # in pieces, to spend little memory
    for start in range(0, len(words), step):
        bad = np.flatnonzero(~np.isfinite(vectors[start : start + step]).all(axis=1))
        if len(bad):
            word = words[start + int(bad[0])]
            raise ValueError(f"{name}: the vector of {word!r} has NaN or infinity (as float32). Remove or mend it.")
    counts = None if counts is None else _as_counts(counts, len(words), name)

    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    if len(first) < len(words):
        word = next(word for row, word in enumerate(words) if first[word] != row)
        message = f"{name}: {len(words) - len(first)} rows repeat a word of an earlier row, for example {word!r}; "
        warnings.warn(message + "the first vector of each word is kept.", UserWarning, stacklevel=2)
        rows = list(first.values())
        words, vectors, counts = list(first), vectors[rows], None if counts is None else counts[rows]
    return words, vectors, counts


def _find(source: Any) -> _Found:
    """Choose the reader of a source by its type or, without importing other packages, by its attributes."""
    name = type(source).__name__
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, str):
            return _read_file(path)
    elif isinstance(source, Mapping):
        return _read_mapping(source, name)
    elif not isinstance(source, type):
        if hasattr(source, "word_vectors_") and hasattr(source, "vocabulary_"):
            return _read_estimator(source, name)
        keyed: Any = source if hasattr(source, "index_to_key") else getattr(source, "wv", None)
        if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors"):
            words = list(keyed.index_to_key)
            return words, _as_vectors(keyed.vectors, len(words), False, name), _gensim_counts(keyed), name
        if hasattr(source, "fit"):
            raise NotFittedError(f"This {name} has no word_vectors_. Call fit first, or give another estimator.")
    got = repr(source) if isinstance(source, type) else name
    raise TypeError(f"Word vectors are read from {_ACCEPTED}. Got {got}.")


# -- objects -----------------------------------------------------------------------------------------------------------


def _read_mapping(source: Mapping[Any, Any], name: str) -> _Found:
    vectors = np.empty((0, 0), dtype=np.float32)
    for row, (word, value) in enumerate(source.items()):
        try:
            vector = np.asarray(value)
        except ValueError:  # lists of different lengths within one another
            vector = np.array(None)
        if vector.ndim != 1 or vector.dtype.kind not in "fiub":
            raise ValueError(f"{name}: the vector of {word!r} must be a 1-D array of numbers, got {value!r:.80}.")
        if row == 0:
            vectors = np.empty((len(source), len(vector)), dtype=np.float32)
        if len(vector) != vectors.shape[1]:
            raise ValueError(f"{name}: the vector of {word!r} has length {len(vector)}, others {vectors.shape[1]}.")
        vectors[row] = vector
    return list(source), vectors, None, name


def _read_estimator(source: Any, name: str) -> _Found:
    source = copy(source)  # as it is now, whatever a fit in another thread makes of it
    vocabulary = source.vocabulary_
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[word] for word in words] != list(range(len(words))):
        raise ValueError(f"{name}: vocabulary_ must give the words the rows 0 to {len(words) - 1}, each once.")
    vectors = _as_vectors(source.word_vectors_, len(words), True, name)
    return words, vectors, getattr(source, "word_counts_", None), name


def _as_vectors(vectors: Any, n_words: int, more_rows: bool, name: str) -> np.ndarray:
    """Return a float32 copy of the first `n_words` rows, or say what is wrong with the shape or the type."""
    vectors = np.asarray(vectors)
    n_rows = len(vectors) if vectors.ndim == 2 and vectors.dtype.kind in "fiub" else -1
    if n_rows < n_words or (n_rows > n_words and not more_rows):
        raise ValueError(
            f"{name}: the vectors of {n_words} words must be a 2-D array of numbers with a row a word, got shape "
            f"{vectors.shape} and dtype {vectors.dtype}."
        )
    return np.array(vectors[:n_words], dtype=np.float32, order="C")


def _as_counts(counts: Any, n_words: int, name: str) -> np.ndarray:
    """Return counts as int64, or raise ValueError."""
    counts = np.asarray(counts)
    good = counts.shape == (n_words,) and counts.dtype.kind in "iuf"
    if not good or not ((counts >= 0) & (counts < 2**63) & (counts == np.floor(counts))).all():
        raise ValueError(f"{name}: the word counts must be {n_words} whole numbers of at least 0, one for each word.")
    return counts.astype(np.int64)


def _gensim_counts(keyed: Any) -> list[Any] | None:
    """Return the counts of gensim's KeyedVectors, or None where it has none or made them up."""
    try:
        if "count" in getattr(keyed, "expandos", ()):
            counts = list(keyed.expandos["count"])
        else:
            counts = [keyed.get_vecattr(word, "count") for word in keyed.index_to_key]
    except (AttributeError, KeyError, TypeError):
        return None
    if any(count is None for count in counts) or not any(counts):  # None: not in the vocabulary file; 0: never set
        return None
    made_up = len(counts) > 10 and all(a - b == 1 for a, b in zip(counts, counts[1:]))
    return None if made_up else counts


# -- files -------------------------------------------------------------------------------------------------------------


def _read_file(path: str) -> _Found:
    """Recognise the format of a file and read it."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file at {path!r}. Word vectors are read from {_ACCEPTED}.")
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder. Give the path of the file of word vectors in it.")
    with open(path, "rb") as raw:
        start = raw.peek(8)
        for magic, meaning in _FOREIGN.items():
            if start.startswith(magic):
                raise ValueError(f"{path} is {meaning}.")
        max_bytes = os.fstat(raw.fileno()).st_size
        if not start.startswith(b"\x1f\x8b"):
            return _read_stream(raw, max_bytes, path)
        try:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                return _read_stream(unpacked, max_bytes * _MAX_DEFLATE, path)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{path} is cut short or damaged ({error}). Get the file again.") from error


def _read_stream(file: _File, max_bytes: int, path: str) -> _Found:
    """Read a file of which nothing has been read yet; it unpacks to at most `max_bytes`."""
    head = file.read(_CHUNK)
    skip = len(_BOM) if head.startswith(_BOM) else 0
    first, newline, rest = head[skip:].partition(b"\n")
    header = _HEADER.match(first) if len(first) < 64 else None
    if header is None:
        n_components = _guess_n_components(head[skip:], path)
        file.seek(skip)
        return _gather(_read_text(file, n_components, 1, path), n_components, None, path)

    n_rows, n_components = int(header[1]), int(header[2])
    is_text = _is_text(rest, n_components)
    least = n_rows * (2 * n_components if is_text else 4 * n_components + 1)  # a digit and a space take two bytes
    if min(n_rows, n_components) < 1 or least > max_bytes:
        raise ValueError(
            f"{path}: the first line promises {n_rows} words and vectors of length {n_components}, which is less than "
            "one or more than the file can hold. It is cut short or not a file of word vectors; get it again."
        )
    file.seek(skip + len(first) + len(newline))
    rows = _read_text(file, n_components, 2, path) if is_text else _read_binary(file, n_components, n_rows, path)
    return _gather(rows, n_components, n_rows, path)


def _gather(rows: _Rows, n_components: int, n_rows: int | None, path: str) -> _Found:
    """Collect the words and vectors of a file in memory that grows by no more than the file really holds."""
    words: list[str] = []
    vectors = np.empty((min(n_rows or 1024, (1 << 26) // n_components + 1), n_components), dtype=np.float32)
    for word, vector in rows:
        if len(words) == n_rows:
            raise ValueError(f"{path} holds more than the {n_rows} words that its first line promises. Correct it.")
        if len(words) == len(vectors):  # there are no views of the array, so its memory may move
            vectors.resize((len(words) + len(words) // 2 + 1, n_components), refcheck=False)
        vectors[len(words)] = vector
        words.append(word.decode("utf-8", "surrogateescape"))
    if n_rows is not None and len(words) < n_rows:
        raise ValueError(
            f"{path}: the first line promises {n_rows} words but the file ends after {len(words)}. It is cut short, "
            "or its first line is wrong; get it again."
        )
    vectors.resize((len(words), n_components), refcheck=False)
    return words, vectors, None, path


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_text(rest: bytes, n_components: int) -> bool:
    """Whether what follows the first line is text: a row of numbers, or at least no bytes of floats."""
    fields = rest.lstrip().partition(b"\n")[0].split()
    if len(fields) >= n_components and all(map(_is_number, fields[-n_components:])):
        return True
    return not _CONTROL.search(rest[:4096]) and any(map(_is_number, [*fields[1:2], *fields[-1:]]))


def _guess_n_components(head: bytes, path: str) -> int:
    """Return how many numbers end most of the first lines: a word may have spaces and look like a number."""
    lines = head.split(b"\n")
    if len(head) >= _CHUNK - len(_BOM) and len(lines) > 1:
        lines.pop()  # probably not whole
    found: Counter[int] = Counter()
    for line in [line for line in lines if line.strip()][:100]:
        fields = line.split()[0 if line[:1].isspace() else 1 :]
        found[sum(1 for _ in takewhile(_is_number, reversed(fields)))] += 1
    n_components = found.most_common(1)[0][0] if found else 0  # of equally frequent ones the first
    if n_components == 0:
        raise ValueError(f"{path} is empty or has no word vectors: its first lines must be a word and numbers each.")
    return n_components


def _read_text(file: _File, n_components: int, start: int, path: str) -> _Rows:
    """Yield the lines "word number ... number" from line `start` on; what stands before the numbers is the word."""
    expected = f"not the {n_components} that the first {'lines have' if start == 1 else 'line says'}"
    for number, line in enumerate(iter(partial(file.readline, _MAX_LINE), b""), start):
        if line.isspace():
            continue
        where = f"{path}, line {number}"
        if len(line) == _MAX_LINE:
            raise ValueError(f"{where} is longer than {_MAX_LINE} bytes: this is not a file of word vectors.")
        fields = line.rsplit(None, n_components)
        if len(fields) == n_components and line[:1].isspace():
            fields.insert(0, b"")  # the empty word
        if len(fields) <= n_components:
            raise ValueError(f"{where}: {len(fields) - 1} numbers after the word, {expected}.")
        parts = fields[0].split()
        if len(parts) > 1 and parts[-1].rstrip(b".")[-1:].isdigit() and _is_number(parts[-1]):
            raise ValueError(f"{where}: more than {n_components} numbers after the word, {expected}.")
        try:
            vector = np.fromiter(map(float, fields[1:]), dtype=np.float32, count=n_components)
        except ValueError:
            bad = next(field for field in fields[1:] if not _is_number(field))
            raise ValueError(f"{where}: {bad[:40].decode('utf-8', 'replace')!r} is not a number.") from None
        yield fields[0].strip(), vector


def _read_binary(file: _File, n_components: int, n_rows: int, path: str) -> _Rows:
    """Yield what the word2vec program writes: a word, a space, little-endian floats and possibly a line end."""
    n_bytes = 4 * n_components
    buffer, start, space = b"", 0, -1
    for row in range(n_rows):
        space = buffer.find(b" ", start, start + _MAX_WORD)
        while space < 0 or space + 1 + n_bytes > len(buffer):
            if space < 0 and len(buffer) - start >= _MAX_WORD:
                raise ValueError(f"{path}: no end of a word after {row} words. The file is damaged; get it again.")
            more = file.read(max(_CHUNK, n_bytes))
            if not more:
                return  # with fewer rows than promised
            buffer, start = buffer[start:] + more, 0
            space = buffer.find(b" ", 0, _MAX_WORD)
        vector = np.frombuffer(buffer, dtype="<f4", count=n_components, offset=space + 1)
        yield buffer[start:space].lstrip(b"\n"), vector
        start = space + 1 + n_bytes
    rest = buffer[start:]
    while rest:
        if rest.strip():
            raise ValueError(f"{path}: there is more after the {n_rows} words that the first line promises.")
        rest = file.read(_CHUNK)
