"""Word vectors that were learned elsewhere: from a dict, gensim, a fitted estimator or a file."""

from __future__ import annotations

import codecs
import errno
import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from .._corpus.corpus import SentenceCorpus
from .fasttext import is_binary_model
from .files import Choice, read_file
from .matches import WordVectors


def keyed_vectors_of(source: object) -> Any:
    """Return the KeyedVectors that something is or has; None if it has none."""
    keyed = source if hasattr(source, "index_to_key") else getattr(source, "wv", None)
    return keyed if hasattr(keyed, "index_to_key") and hasattr(keyed, "vectors") else None


def counts_of(keyed: Any) -> list[Any] | None:
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


def make_keyed_vectors(words: list[str], vectors: np.ndarray, counts: np.ndarray | None) -> Any:
    """Return KeyedVectors with a copy of the vectors, and with the counts, where they are known."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise ImportError("to_gensim needs gensim: pip install gensim.") from None
    keyed = KeyedVectors(vectors.shape[1], count=0)
    keyed.add_vectors(words, vectors.copy())
    if counts is not None:
        for word, count in zip(words, counts.tolist()):
            keyed.set_vecattr(word, "count", count)
    return keyed


_LARGEST = 1e30  # sums of larger numbers over a sentence could overflow float32
_ACCEPTED = (
    "a dict of word -> vector, a tuple (words, array), a DataFrame with the words as its index, gensim KeyedVectors or "
    "a gensim model with .wv, a fitted estimator with vocabulary_ and word_vectors_, or the path of a file in word2vec "
    "text, word2vec binary or GloVe format (also .gz, .bz2 and .xz) or of a binary model of fastText"
)
_Found = tuple[list[str], np.ndarray, Any, str]  # words, float32 vectors, counts or None, name for messages


def learns_none(estimator: object) -> str:
    """Message for an estimator without word vectors."""
    return (
        f"{type(estimator).__name__} learns no word vectors. Give an estimator that does, such as Word2VecVectorizer."
    )


def read_word_vectors(
    path: str | os.PathLike[str],
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    limit: int | None = None,
    words: Collection[str] | SentenceCorpus | None = None,
) -> tuple[list[str], NDArray[np.float32]]:
    r"""Read words and their vectors from a file, for the parameter `word_vectors`.

    :class:`~skembed.MeanEmbeddingVectorizer` also takes the path of a file. Use this function to set an option below,
    or to read the file once for many fits, which share the array.

    Parameters
    ----------
    path : str or os.PathLike
        A file in word2vec format, text or binary, or GloVe format, also compressed as .gz, .bz2 or .xz; or a binary
        model of fastText or sent2vec. Its content shows the format. A leading ``~`` is the home folder.
    encoding : str, default="utf-8"
        Encoding of the words. It must encode ASCII characters as single bytes, so UTF-16 is not possible.
    errors : str, default="strict"
        What to do with bytes that are invalid in this encoding, as in ``bytes.decode``. "strict" refuses them.
        "replace" and "ignore" may make two words equal; then the first is kept. "surrogateescape" keeps them distinct.
    limit : int or None, default=None
        Read only this many rows from the beginning of the file. Most files have the most frequent words first.
    words : collection of str, SentenceCorpus or None, default=None
        Keep only these words, or those of the corpus. Other rows take no memory.

    Returns
    -------
    words : list of str
        Distinct words in the order of the file.
    vectors : ndarray of shape (n_words, n_components), dtype float32
        C-contiguous, finite and read-only.

    Raises
    ------
    FileNotFoundError
        If there is no file at the path.
    TypeError
        If an argument has the wrong type.
    ValueError
        If the file is truncated, damaged or in another format, if a word cannot be decoded, if a vector has NaN,
        infinity or a number beyond 1e30 (1e6 in a binary file), if none of `words` is in the file, or if an option is
        invalid.

    Warns
    -----
    UserWarning
        If a word occurs more than once; its first vector is kept.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from skembed import MeanEmbeddingVectorizer, SentenceCorpus
    >>> from skembed.formats import read_word_vectors
    >>> corpus = SentenceCorpus.from_sentences(["A cat.", "A dog."])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "vectors.txt")
    ...     _ = path.write_text("cat 1 0\ndog 0 1\nzebra 1 1\n")
    ...     words, vectors = read_word_vectors(path, words=corpus)
    >>> words
    ['cat', 'dog']
    >>> emb = MeanEmbeddingVectorizer(word_vectors=(words, vectors)).fit(corpus)
    >>> emb.word_vectors_ is vectors
    True
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(name := os.fspath(path), str):
        raise TypeError(f"path must be a str or os.PathLike, got {type(path).__name__}.")
    found = read_file(name, _choice(encoding, errors, limit, words))
    kept, vectors, _ = _checked(*found, None, name)
    vectors.flags.writeable = False
    return kept, vectors


def _choice(encoding: str, errors: str, limit: int | None, words: Collection[str] | SentenceCorpus | None) -> Choice:
    try:
        codecs.lookup_error(errors)
        if "a 1".encode(encoding) != b"a 1":
            raise LookupError(f"{encoding} has other bytes for ASCII characters. Save the file as UTF-8")
    except LookupError as error:
        raise ValueError(f"encoding and errors must be names that Python knows: {error}.") from None
    if limit is not None and (not isinstance(limit, Integral) or limit < 1):
        raise ValueError(f"limit must be a positive integer or None, got {limit!r:.50}.")
    if isinstance(words, SentenceCorpus):
        words = words.vocabulary.words
    if isinstance(words, (str, bytes)) or (words is not None and not isinstance(words, Collection)):
        raise TypeError(f"words must be a collection of str, a SentenceCorpus or None, got {type(words).__name__}.")
    return Choice(encoding, errors, None if limit is None else int(limit), None if words is None else frozenset(words))


def read_source(source: WordVectors) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Read words and their vectors from any value of `word_vectors` but a list.

    Returns the distinct words in the order of the source; a C-contiguous, finite float32 copy of their vectors, or the
    array itself of (words, array) if it is that already and read-only; and the count of each word, int64, or None where
    the source does not know them: files never do, and gensim makes some up for vectors from a file.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # _checked refuses infinite numbers
        found = _find(source)
    return _checked(*found)


def read_parameter(
    source: WordVectors, name: str, if_no_file: str = ""
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """The same, of a parameter, whose name errors begin with; `if_no_file` is advice."""
    try:
        return read_source(source)
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{name}: {error}") from None
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{name}: {error}{if_no_file}") from None


def is_table(source: object) -> bool:
    """Whether `word_vectors` is one source (words, array), not a tuple of sources."""
    if not isinstance(source, tuple) or len(source) != 2:
        return False
    words, vectors = source
    return getattr(vectors, "ndim", None) == 2 and (
        getattr(words, "ndim", None) == 1 or isinstance(words, Sequence) and not isinstance(words, (str, bytes))
    )


def _checked(
    words: Sequence[Any], vectors: np.ndarray, counts: ArrayLike | None, name: str
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Refuse invalid words and vectors, and keep the first of rows that repeat a word."""
    if not len(words) or vectors.shape[1] == 0:
        raise ValueError(f"{name} has {len(words)} words and vectors of length {vectors.shape[1]}. Give at least one.")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name}: words must be str, got {word!r:.50} of type {type(word).__name__}.")
    words = list(map(str, words))  # numpy strings have another type
    step = max(1, (1 << 20) // vectors.shape[1])  # in pieces, to spend little memory
    for start in range(0, len(words), step):
        bad = np.flatnonzero(~(np.abs(vectors[start : start + step]) <= _LARGEST).all(axis=1))
        if len(bad):
            row = start + int(bad[0])
            fault = "has numbers beyond 1e30. Divide all vectors by a constant"
            if not np.isfinite(vectors[row]).all():
                fault = "has NaN or infinity (as float32). Remove or correct it"
            raise ValueError(f"{name}: the vector of {words[row]!r:.50} {fault}.")
    counts = None if counts is None else _as_counts(counts, len(words), name)

    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(word, row)
    if len(first) < len(words):
        word = next(word for row, word in enumerate(words) if first[word] != row)
        message = f"{name}: {len(words) - len(first)} rows repeat a word of an earlier row, for example {word!r:.50}; "
        warnings.warn(message + "the first vector of each word is kept.", UserWarning, stacklevel=3)
        rows = list(first.values())
        words, vectors, counts = list(first), vectors[rows], None if counts is None else counts[rows]
    return words, vectors, counts


def _find(source: Any) -> _Found:
    """Choose the reader of a source by its type or, without importing other packages, by its attributes."""
    name = type(source).__name__
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, str):
            return *_read_path(path), None, path
    elif isinstance(source, Mapping):
        return _read_mapping(source, name)
    elif is_table(source):
        words, vectors = source
        return words, _as_vectors(vectors, len(words), False, name, shared=True), None, name
    elif hasattr(source, "to_numpy") and getattr(source, "ndim", None) == 2 and hasattr(source, "index"):
        return list(source.index), _as_vectors(source.to_numpy(), len(source), False, name), None, f"{name}.index"
    elif not isinstance(source, type):
        if hasattr(source, "word_vectors_") and hasattr(source, "vocabulary_"):
            return _read_estimator(source, name)
        if (keyed := keyed_vectors_of(source)) is not None:
            words = list(keyed.index_to_key)
            return words, _as_vectors(keyed.vectors, len(words), False, name), counts_of(keyed), name
        if hasattr(source, "fit") and hasattr(source, "vocabulary_"):
            raise TypeError(learns_none(source))
        if hasattr(source, "fit"):
            raise NotFittedError(
                f"This {name} has no word_vectors_. Call fit first, or pass the estimator that has them, such as the "
                "first step of a pipeline."
            )
    got = repr(source) if isinstance(source, type) else name
    raise TypeError(f"Word vectors are read from {_ACCEPTED}. Got {got}.")


def _read_path(path: str) -> tuple[list[str], np.ndarray]:
    try:
        return read_file(path, Choice(errors="surrogateescape" if is_binary_model(path) else "strict"))
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file at {path!r}. Word vectors are read from {_ACCEPTED}.") from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise ValueError(
            f"A string of {len(path):,} characters is no path of a file. Word vectors are read from {_ACCEPTED}."
        ) from None


# -- objects -----------------------------------------------------------------------------------------------------------


def _read_mapping(source: Mapping[str, ArrayLike], name: str) -> _Found:
    vectors = np.empty((0, 0), dtype=np.float32)
    for row, (word, value) in enumerate(source.items()):
        try:
            vector = np.asarray(value)
        except ValueError:  # lists of different lengths within one another
            vector = np.array(None)
        if vector.ndim != 1 or vector.dtype.kind not in "fiub":
            raise ValueError(f"{name}: the vector of {word!r:.50} must be a 1-D array of numbers, got {value!r:.80}.")
        if row == 0:
            vectors = np.empty((len(source), len(vector)), dtype=np.float32)
        if len(vector) != vectors.shape[1]:
            raise ValueError(f"{name}: the vector of {word!r:.50} has length {len(vector)}, others {vectors.shape[1]}.")
        vectors[row] = vector
    return list(source), vectors, None, name


def _read_estimator(source: Any, name: str) -> _Found:
    source = copy(source)  # a snapshot: another thread may fit it
    vocabulary = source.vocabulary_
    words = sorted(vocabulary, key=vocabulary.__getitem__)
    if [vocabulary[word] for word in words] != list(range(len(words))):
        raise ValueError(f"{name}: vocabulary_ must give the words the rows 0 to {len(words) - 1}, each once.")
    vectors = _as_vectors(source.word_vectors_, len(words), True, name)
    return words, vectors, getattr(source, "word_counts_", None), name


def _as_vectors(vectors: ArrayLike, n_words: int, more_rows: bool, name: str, *, shared: bool = False) -> np.ndarray:
    """Return a float32 copy of the first `n_words` rows; check shape and type.

    With `shared`, a read-only float32 array is returned without a copy.
    """
    vectors = np.asarray(vectors)
    n_rows = len(vectors) if vectors.ndim == 2 and vectors.dtype.kind in "fiub" else -1
    if n_rows < n_words or (n_rows > n_words and not more_rows):
        raise ValueError(
            f"{name}: the vectors of {n_words} words must be a 2-D array of numbers with a row a word, got shape "
            f"{vectors.shape} and dtype {vectors.dtype}."
        )
    if shared and vectors.dtype == np.float32 and vectors.flags.c_contiguous and not vectors.flags.writeable:
        return vectors
    return np.array(vectors[:n_words], dtype=np.float32, order="C")


def _as_counts(counts: ArrayLike, n_words: int, name: str) -> np.ndarray:
    """Return counts as int64, or raise ValueError: other estimators and gensim's vectors may hold anything."""
    given = np.asarray(counts)
    is_sound = given.shape == (n_words,) and given.dtype.kind in "iuf" and bool((given >= 0).all())
    if not is_sound or not np.array_equal(given, given.astype(np.int64)):
        raise ValueError(f"{name}: the word counts must be {n_words} whole numbers of at least 0, one for each word.")
    return given.astype(np.int64)
