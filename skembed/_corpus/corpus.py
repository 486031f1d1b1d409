"""Sentences as word ids: encode once, then slice, save, memory-map and share between processes."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._text.tokenizer import Tokenizer
from .._text.vocabulary import Vocabulary
from .._validation.values import PathLike
from .build import Built
from .content import (
    Arrays,
    Content,
    as_rows,
    check_arrays,
    check_content,
    corpus_digest,
    make_settings,
    open_content,
    read_handle,
    save_content,
)
from .readers import Readers

_Row = TypeVar("_Row")


class Sizes(NamedTuple):
    """How large a corpus is."""

    n_documents: int
    n_sentences: int
    n_tokens: int
    n_words: int


class Immutable(Generic[_Row]):
    """What `SentenceCorpus` and `PairCorpus` have in common: they never change, and have rows."""

    ndim = 0  # for pandas: a scalar, not a column of sentences

    if TYPE_CHECKING:

        def __len__(self) -> int: ...
        def __getitem__(self, key: int) -> _Row: ...

    @property
    def shape(self) -> tuple[int]:
        """Number of rows, as a tuple: scikit-learn reads it."""
        return (len(self),)

    def __iter__(self) -> Iterator[_Row]:
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """Return a 0-d object array: otherwise NumPy would read all rows, for example in a parameter search."""
        array = np.empty((), object)
        array[()] = self
        return array if dtype is None else array.astype(dtype)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self


def _read_only(attribute: str, doc: str) -> Any:
    return property(attrgetter(attribute), doc=doc)


class SentenceCorpus(Immutable[list[str]], Readers):
    """Sentences in reading order, tokenized once and held as arrays of word ids.

    Build one with :meth:`from_sentences` or :meth:`from_file`, or open a saved one with :meth:`load`. A corpus never
    changes, so a copy of it is the corpus itself. The pickle of a corpus in memory has all its text; that of a
    memory-mapped corpus has only the path of the folder.

    Sentence i is ``tokens[sent_ptr[i]:sent_ptr[i + 1]]``, document d is the sentences ``doc_ptr[d]:doc_ptr[d + 1]``.

    Parameters
    ----------
    tokens : ndarray of shape (n_tokens,), dtype int32
        Word ids of all sentences, one sentence after the other. The arrays are not copied: do not change them.
    sent_ptr : ndarray of shape (n_sentences + 1,), dtype int64
        Where each sentence begins in `tokens`.
    doc_ptr : ndarray of shape (n_documents + 1,), dtype int64
        Where each document begins among the sentences. No document is empty.
    vocabulary : Vocabulary
        The words, by falling count.
    tokenizer : Tokenizer or None, default=None
        How sentences become words; None means the default options.
    min_count : int, default=1
        Words that occur less often were dropped when the corpus was built.
    max_features : int or None, default=None
        The largest number of words that were kept when the corpus was built.

    Examples
    --------
    >>> from skembed import SentenceCorpus
    >>> sentences = ["A cat sat.", "The cat slept.", "Rain!"]
    >>> corpus = SentenceCorpus.from_sentences(sentences, groups=[0, 0, 1])
    >>> corpus
    SentenceCorpus(n_documents=2, n_sentences=3, n_tokens=7, n_words=6)
    >>> corpus[1]
    ['the', 'cat', 'slept']
    """

    tokenizer: Tokenizer
    _content: Content
    _sizes: Sizes
    _settings: dict[str, Any]  # the options as JSON holds them, min_count and max_features
    _path: str | None
    _digest: str | None

    def __init__(
        self,
        tokens: NDArray[np.int32],
        sent_ptr: NDArray[np.int64],
        doc_ptr: NDArray[np.int64],
        vocabulary: Vocabulary,
        *,
        tokenizer: Tokenizer | None = None,
        min_count: int = 1,
        max_features: int | None = None,
    ) -> None:
        self.tokenizer = Tokenizer() if tokenizer is None else tokenizer
        self._settings = make_settings(self.tokenizer, min_count, max_features)
        self._path = self._digest = None
        self._hold(check_content(tokens, sent_ptr, doc_ptr, vocabulary))

    @classmethod
    def _of(cls, built: Built) -> SentenceCorpus:
        return _make(*built)

    def _hold(self, content: Content) -> None:
        for array in content[:3]:
            array.flags.writeable = False
        tokens, sent_ptr, doc_ptr, vocabulary = content
        self._content = content
        self._sizes = Sizes(len(doc_ptr) - 1, len(sent_ptr) - 1, len(tokens), len(vocabulary.counts))

    def __getattr__(self, name: str) -> Any:
        """Open what another process has sent as a path and a digest, at the first use of it."""
        if name not in ("_content", "_sizes") or "_path" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._hold(read_handle(str(self._path), str(self._digest), self.tokenizer))
        return vars(self)[name]

    tokens: NDArray[np.int32] = _read_only("_content.tokens", "Word ids, ndarray of shape (n_tokens,), dtype int32.")
    sent_ptr: NDArray[np.int64] = _read_only(
        "_content.sent_ptr", "Where the sentences begin in `tokens`, ndarray of shape (n_sentences + 1,), dtype int64."
    )
    doc_ptr: NDArray[np.int64] = _read_only(
        "_content.doc_ptr", "Where the documents begin, ndarray of shape (n_documents + 1,), dtype int64."
    )
    vocabulary: Vocabulary = _read_only("_content.vocabulary", "The words and their counts.")
    n_sentences: int = _read_only("_sizes.n_sentences", "Number of sentences.")
    n_documents: int = _read_only("_sizes.n_documents", "Number of documents.")
    n_tokens: int = _read_only("_sizes.n_tokens", "Number of tokens.")
    path: str | None = _read_only("_path", "Folder that it is memory-mapped from, or None.")

    @property
    def min_count(self) -> int:
        """Words that occur less often were dropped when the corpus was built."""
        return int(self._settings["min_count"])

    @property
    def max_features(self) -> int | None:
        """The largest number of words that were kept when the corpus was built."""
        return self._settings["max_features"]

    @property
    def digest(self) -> str:
        """Hexadecimal digest of the contents, computed once."""
        if self._digest is None:
            self._digest = corpus_digest(self._content.arrays(), self._settings)
        return self._digest

    def __len__(self) -> int:
        return self.n_sentences

    def __repr__(self) -> str:
        try:
            sizes = self._sizes
        except (FileNotFoundError, ValueError):  # so that a model that holds it can still be printed
            return f"SentenceCorpus(path={self._path!r}, which is gone or was replaced)"
        return str(sizes).replace(Sizes.__name__, type(self).__name__)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SentenceCorpus):
            return NotImplemented
        # Sizes usually decide, without computing a digest.
        may_be_equal = (self._digest and other._digest) or self._sizes == other._sizes
        return self is other or bool(may_be_equal and self.digest == other.digest)

    def __hash__(self) -> int:
        return int(self.digest[:15], 16)

    def doc_of(self) -> NDArray[np.int64]:
        """Return the document index of each sentence, ndarray of shape (n_sentences,), dtype int64."""
        return np.repeat(np.arange(self.n_documents, dtype=np.int64), np.diff(self.doc_ptr))

    def sentence_frequencies(self) -> NDArray[np.int64]:
        """Return in how many sentences each word occurs, ndarray of shape (n_words,), dtype int64."""
        return self._content.sentence_frequencies()

    @overload
    def __getitem__(self, key: int | np.integer) -> list[str]: ...
    @overload
    def __getitem__(self, key: Any) -> SentenceCorpus: ...
    def __getitem__(self, key: Any) -> list[str] | SentenceCorpus:
        """Return the words of one sentence, or a new corpus of some sentences.

        An int gives the words of that sentence. A slice, or an array-like of int or bool, gives a corpus in memory of
        these sentences with their words only. A new document begins where two were not neighbours before.
        """
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:  # as scikit-learn indexes arrays
            key = key[0]
        if isinstance(key, numbers.Integral) and not isinstance(key, bool):
            i, words = int(as_rows([key], len(self))[0]), self.vocabulary.words
            return [words[t] for t in self.tokens[self.sent_ptr[i] : self.sent_ptr[i + 1]].tolist()]
        return _make(self._content.take(as_rows(key, len(self))), self.tokenizer, self._settings)

    def save(self, path: PathLike) -> None:
        """Save to a folder, to be opened with :meth:`load`.

        The folder appears only when it is complete; an older corpus at this path is replaced.

        Parameters
        ----------
        path : path-like
            The folder.

        Raises
        ------
        OSError
            If `path` exists and is not a corpus, or cannot be written. No files are left.
        ValueError
            If `path` is a URL: save to a local folder and copy that.
        """
        save_content(path, self._content, self._settings, own_path=self._path, own_digest=self._digest)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        mmap: bool = True,
        verify: bool = True,
        analyzer: Callable[[Any], Iterable[str]] | None = None,
        stemmer: Callable[[str], str] | None = None,
        token_pattern: str | None = None,
    ) -> SentenceCorpus:
        """Open a corpus that :meth:`save` or ``to=`` wrote.

        Parameters
        ----------
        path : path-like
            The folder.
        mmap : bool, default=True
            Memory-map the arrays instead of reading them.
        verify : bool, default=True
            Check the contents against the digest. Offsets and ids are checked in any case, once in a process.
        analyzer, stemmer, token_pattern : callable, callable, str or None, default=None
            What the corpus was built with: callables, which are not stored, and a special pattern (see :func:`load`).

        Returns
        -------
        corpus : SentenceCorpus

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ValueError
            If a file is missing, damaged, or from another version, or a callable is missing.
        """
        options: dict[str, Any] = {"analyzer": analyzer, "stemmer": stemmer, "token_pattern": token_pattern}
        return _make(*open_content(path, mmap=mmap, verify=verify, **options))

    def __getstate__(self) -> dict[str, object]:
        options = {"tokenizer": self.tokenizer, "_settings": self._settings, "_digest": self._digest}
        return {**options, "_content": self._content, "_path": None}  # for skops, which stores all arrays

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: value for name, value in state.items() if name != "_content"})
        self._hold(check_content(*state["_content"]))

    def __reduce__(self) -> tuple[object, ...]:
        if self._path is not None:
            return _make, (None, self.tokenizer, self._settings, self._path, self.digest)
        # Plain arrays: joblib writes large ones to a file that all its processes map. The digest is made if nobody has
        # asked for it yet, or joblib.Memory would find two corpora.
        return _from_arrays, (tuple(self._content.arrays()), self.tokenizer, self._settings, None, self.digest)


def _make(
    content: Content | None,
    tokenizer: Tokenizer,
    settings: dict[str, Any],
    path: str | None = None,
    digest: str | None = None,
) -> SentenceCorpus:
    """Make a corpus without checks: of valid content or, without content, of a folder that is read at first use."""
    corpus = SentenceCorpus.__new__(SentenceCorpus)
    corpus.tokenizer, corpus._settings, corpus._path, corpus._digest = tokenizer, settings, path, digest
    if content is not None:
        corpus._hold(content)
    return corpus


def _from_arrays(arrays: Iterable[np.ndarray], *others: Any) -> SentenceCorpus:
    plain = Arrays(*map(np.asarray, arrays))  # joblib may give memory maps
    check_arrays(plain, "The pickle of a SentenceCorpus")
    return _make(Content.from_arrays(plain), *others)
