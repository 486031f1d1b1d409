"""The ways to build a corpus: from sentences, text files, Parquet files, and the partitions of a Dask collection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from .._text.sources import advising, iter_grouped_batches
from .._text.tokenizer import Analyzer, Stemmer, StopWords, Tokenizer
from .._validation.columns import Labels, Sentences
from .._validation.values import PathLike
from .build import Built, build

if TYPE_CHECKING:
    from dask.bag import Bag
    from dask.dataframe import Series
    from distributed import Client


class Readers:
    """What builds a :class:`SentenceCorpus`."""

    @classmethod
    def _of(cls, built: Built) -> Any:
        """Make a corpus of what was built; :class:`SentenceCorpus` says how."""

    @classmethod
    def _encoded(
        cls,
        sentences: Iterable[Any],
        groups: Iterable[Any] | None,
        tokenizer: Tokenizer,
        missing: str,
        to: PathLike | None = None,
        min_count: int = 1,
        max_features: int | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Build a corpus with a tokenizer that is there already."""
        if isinstance(sentences, Readers):
            raise TypeError("sentences is a SentenceCorpus already; use it as it is, or slice it.")
        batches = iter_grouped_batches(sentences, groups, tokenizer, missing)
        with advising(sentences):
            return cls._of(build(batches, tokenizer, to, min_count, max_features, n_jobs))

    @classmethod
    def from_sentences(
        cls,
        sentences: Sentences,
        groups: Labels = None,
        *,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        missing: str = "error",
        to: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Build a corpus from sentences in reading order, in one pass.

        Parameters
        ----------
        sentences : iterable of str
            A list, array, Series, table of one column, generator, ..., read once.
        groups : iterable or None, default=None
            Document id of each sentence. A new document begins where the id changes. None means one document.
        analyzer, token_pattern, lowercase, stop_words, stemmer
            How a sentence becomes words: as the parameters of :class:`CBOSVectorizer` say, and :ref:`words`.
        min_count : int, default=1
            Drop words that occur less often.
        max_features : int or None, default=None
            Keep only this many of the most frequent words.
        missing : {"error", "empty"}, default="error"
            A missing sentence (None, NaN, NaT, NA) is an error, which names its row, or an empty sentence.
        to : path-like or None, default=None
            Folder to write the corpus to while it is read, so that it may be larger than memory; the corpus is
            memory-mapped from there. An older corpus at this path is replaced.
        n_jobs : int or None, default=None
            Number of threads; -1 means all cores. It does not change the result.

        Returns
        -------
        corpus : SentenceCorpus

        Raises
        ------
        TypeError
            If a sentence is not a string; names the row.
        ValueError
            If there is no sentence or no word, or `groups` has another length than `sentences`.
        OSError
            If `to` exists and is not a corpus, or cannot be written.
        """
        tokenizer = Tokenizer(
            analyzer=analyzer, token_pattern=token_pattern, lowercase=lowercase, stop_words=stop_words, stemmer=stemmer
        )
        return cls._encoded(sentences, groups, tokenizer, missing, to, min_count, max_features, n_jobs)

    @classmethod
    def from_file(
        cls,
        path: PathLike | Iterable[PathLike],
        *,
        encoding: str = "utf-8",
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        to: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Build a corpus from text files with one sentence a line and blank lines between documents.

        Parameters
        ----------
        path : path-like, or list of path-like
            A text file, decompressed if its name ends in ``.gz``, ``.bz2`` or ``.xz``; or a folder, for all files
            ``*.txt`` and such compressed ones in it and its subfolders, without hidden ones, in the order of their
            paths as strings; or a list of both. Each file begins a new document. Row i of the corpus is the i-th line
            that is not blank, through all files.
        encoding : str, default="utf-8"
            Encoding of the text. A byte order mark is skipped.
        analyzer, token_pattern, lowercase, stop_words, stemmer, min_count, max_features, to, n_jobs
            As in :meth:`from_sentences`.

        Returns
        -------
        corpus : SentenceCorpus

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ValueError
            If there is no sentence or no word, or a file is damaged, not a regular file or not text in that encoding;
            names the file, and the line and byte if known.
        """
        tokenizer = Tokenizer(
            analyzer=analyzer, token_pattern=token_pattern, lowercase=lowercase, stop_words=stop_words, stemmer=stemmer
        )
        from .._text.files import iter_text

        return cls._of(build(iter_text(path, encoding, tokenizer), tokenizer, to, min_count, max_features, n_jobs))

    @overload
    @classmethod
    def from_parquet(
        cls,
        path: PathLike | Iterable[PathLike],
        *,
        column: str,
        groups: str | None = None,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        missing: str = "error",
        return_ids: None = None,
        to: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> Self: ...
    @overload
    @classmethod
    def from_parquet(
        cls,
        path: PathLike | Iterable[PathLike],
        *,
        column: str,
        groups: str | None = None,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        missing: str = "error",
        return_ids: str,
        to: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Self, np.ndarray]: ...
    @classmethod
    def from_parquet(
        cls,
        path: PathLike | Iterable[PathLike],
        *,
        column: str,
        groups: str | None = None,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        missing: str = "error",
        return_ids: str | None = None,
        to: PathLike | None = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Build a corpus from a column of Parquet files, which are read a few thousand rows at a time.

        Parameters
        ----------
        path : path-like or URL, or list of them
            A Parquet file; or a folder, for all files ``*.parquet`` in it and its subfolders but those whose name
            begins with "." or "_"; or a pattern such as ``"text/2024-*.parquet"`` or ``"text/year=*"``. A URL such as
            ``"s3://bucket/text"`` is opened with fsspec. Files are read in the order of their paths as strings, as
            pandas, pyarrow and polars do: ``part.10.parquet`` before ``part.2.parquet``. For that of Dask, pass a list.
        column : str
            Name of the column with the sentences, in reading order.
        groups : str or None, default=None
            Name of the column with the document id of each sentence. A new document begins where the id changes, also
            in another file. None means one document. The key of a folder such as ``year=2024`` is no column.
        analyzer, token_pattern, lowercase, stop_words, stemmer, min_count, max_features, missing, to, n_jobs
            As in :meth:`from_sentences`.
        return_ids : str or None, default=None
            Name of a column whose values are returned beside the corpus, to join its rows with other tables.

        Returns
        -------
        corpus : SentenceCorpus
            The same, bit for bit, as :meth:`from_sentences` returns for the values of the columns.
        ids : ndarray of shape (n_sentences,)
            Only with `return_ids`: the value of that column for each sentence.

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ImportError
            If pyarrow is missing, or, for a URL, fsspec.
        ValueError
            If a file has no such column of strings, is damaged, or has a row that is null or not UTF-8 (names row group
            and row). The columns of all files are checked before the first one is read.
        """
        tokenizer = Tokenizer(
            analyzer=analyzer, token_pattern=token_pattern, lowercase=lowercase, stop_words=stop_words, stemmer=stemmer
        )
        ids: list[np.ndarray] = []
        from .._text.parquet import iter_parquet

        batches = iter_parquet(path, column, groups, tokenizer, missing, return_ids, ids)
        corpus = cls._of(build(batches, tokenizer, to, min_count, max_features, n_jobs))
        if return_ids is None:
            return corpus
        one_kind = len({part.dtype for part in ids}) == 1  # numbers of two kinds would lose digits
        return corpus, np.concatenate(ids if one_kind else [part.astype(object) for part in ids])

    @classmethod
    def from_dask(
        cls,
        sentences: Series | Bag,
        groups: Series | Bag | None = None,
        *,
        to: PathLike,
        client: Client | None = None,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        min_count: int = 1,
        max_features: int | None = None,
        missing: str = "error",
    ) -> Self:
        """Build a corpus from a series or bag of Dask, each partition by a task of its own, once, where it is.

        This process puts the partitions together. Where workers in other processes read them from files, it has no text
        in memory.

        Parameters
        ----------
        sentences : dask.dataframe.Series or dask.bag.Bag of str
            Sentences in reading order.
        groups : dask.dataframe.Series, dask.bag.Bag or None, default=None
            Document id of each sentence: a column of the same table, or a bag with the same partitions. None means one
            document. The column of another table is matched row by row, in partitions that must be as many and as long.
        to : path-like
            Folder to write the corpus to, which is memory-mapped from there. All workers must see it under this path.
            While it is written, it needs its size once more.
        client : dask.distributed.Client or None, default=None
            Where the tasks run; None means the scheduler that is set in Dask.
        analyzer, token_pattern, lowercase, stop_words, stemmer, min_count, max_features, missing
            As in :meth:`from_sentences`. Callables are pickled for the workers.

        Returns
        -------
        corpus : SentenceCorpus
            The same, bit for bit, as :meth:`from_sentences` returns for these sentences.

        Raises
        ------
        ImportError
            If dask or pyarrow is missing.
        TypeError
            If `sentences` is neither a series nor a bag, or a sentence is not a string, which names partition and row.
        ValueError
            If there is no sentence or no word, or `groups` does not fit.
        OSError
            If `to` exists and is not a corpus, cannot be written, or is not seen by a worker.
        """
        tokenizer = Tokenizer(
            analyzer=analyzer, token_pattern=token_pattern, lowercase=lowercase, stop_words=stop_words, stemmer=stemmer
        )
        from .partitions import build_from_dask

        return cls._of(build_from_dask(sentences, groups, tokenizer, to, min_count, max_features, missing, client))
