"""Pairs to learn from: sentences of two Wikipedias that say the same, and words with like translations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sklearn.utils import Bunch

from skembed.datasets._download import fetch_files
from skembed.datasets._files import (
    Archive,
    PathLike,
    check_count,
    description,
    one_file,
    read_lines,
    row_error,
    sentence,
)

__all__ = ["fetch_ppdb_lexicon", "fetch_simple_wikipedia_pairs"]

_WIKIPEDIA = "altlex_train_bootstrapped.tsv"
_WIKIPEDIA_ROWS, _WIKIPEDIA_COLUMNS = 50_372, 7
_WORD = re.compile(r"\w+")
_LEXICON = "ppdb-xl.txt"
_LEXICON_PAIRS = 187_276


def read_simple_wikipedia_pairs(path: PathLike, *, complete: bool = True) -> Bunch:
    """Read sentences of English Wikipedia, each with one of Simple English Wikipedia."""
    archive = Archive(path)
    if _WIKIPEDIA not in archive.files:
        raise ValueError(f"{archive.path} has no file {_WIKIPEDIA}")
    name = archive.path / _WIKIPEDIA
    pairs = []
    for number, line in enumerate(archive.lines(_WIKIPEDIA), 1):
        fields = line.split("\t")
        if len(fields) != _WIKIPEDIA_COLUMNS:
            raise row_error(name, number, f"expected {_WIKIPEDIA_COLUMNS} columns between tabs, found {len(fields)}")
        first, second = _join_fields(fields[1:4]), _join_fields(fields[4:7])
        if not (first and second):
            raise row_error(name, number, "a sentence is empty")
        pairs.append((first, second))
    if complete:
        check_count(name, len(pairs), _WIKIPEDIA_ROWS)
    return Bunch(
        data=[pair for pair in dict.fromkeys(pairs) if _sorted_words(pair[0]) != _sorted_words(pair[1])],
        DESCR=description("simple_wikipedia_pairs"),
    )


def _join_fields(parts: Iterable[str]) -> str:
    """Return the sentence before, within and after its connective, with plain slashes."""
    return " ".join(text for part in parts if (text := sentence(part))).replace("\\/", "/")


def _sorted_words(text: str) -> list[str]:
    """Return the words of a sentence in lower case, in alphabetical order."""
    return sorted(_WORD.findall(text.lower()))


def read_ppdb_lexicon(path: PathLike, *, complete: bool = True) -> Bunch:
    """Read pairs of words that mean about the same."""
    path = one_file(path)
    pairs: dict[tuple[str, str], None] = {}
    for line in read_lines(path):
        head, *paraphrases = line.split() or [""]
        for word in paraphrases:
            if word != head and (word, head) not in pairs:
                pairs[head, word] = None
    if complete:
        check_count(path, len(pairs), _LEXICON_PAIRS, "pairs")
    return Bunch(data=list(pairs), DESCR=description("ppdb_lexicon"))


def fetch_simple_wikipedia_pairs(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, n_retries: int = 3, delay: float = 1.0
) -> Bunch:
    """Download and read sentences of English Wikipedia, each with one of Simple English Wikipedia.

    A file that is there already is kept.

    Parameters
    ----------
    data_home : str or path-like, default=None
        The folder for downloaded data; None means that of :func:`sklearn.datasets.get_data_home`. The file goes to
        ``skembed/simple_wikipedia`` below it.

    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.

    n_retries : int, default=3
        How often to try again after an error of the network or the server.

    delay : float, default=1.0
        Seconds between two tries.

    Returns
    -------
    pairs : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

        data : list of (str, str) of length n_pairs
            The sentence of English Wikipedia and that of Simple English Wikipedia, in the order of the file: 28,819
            pairs. Repeated pairs are left out, and pairs whose two sentences hold the same words in any order
            and case: nothing can be learned from them by sums of word vectors.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and cannot or must not be downloaded. The message says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_simple_wikipedia_pairs
    >>> len(fetch_simple_wikipedia_pairs().data)  # doctest: +SKIP
    28819
    """
    file = f"simple_wikipedia/{_WIKIPEDIA}.zip"
    folder = fetch_files(
        [file], data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return read_simple_wikipedia_pairs(folder / file)


def fetch_ppdb_lexicon(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, n_retries: int = 3, delay: float = 1.0
) -> Bunch:
    """Download and read pairs of words that mean about the same.

    A file that is there already is kept.

    Parameters
    ----------
    data_home : str or path-like, default=None
        The folder for downloaded data; None means that of :func:`sklearn.datasets.get_data_home`. The file goes to
        ``skembed/ppdb`` below it.

    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.

    n_retries : int, default=3
        How often to try again after an error of the network or the server.

    delay : float, default=1.0
        Seconds between two tries.

    Returns
    -------
    lexicon : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

        data : list of (str, str) of length n_pairs
            The pairs of words: 187,276. A pair that the file has in both directions is listed once, in the direction
            that comes first.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and cannot or must not be downloaded. The message says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_ppdb_lexicon
    >>> len(fetch_ppdb_lexicon().data)  # doctest: +SKIP
    187276
    """
    file = f"ppdb/{_LEXICON}"
    folder = fetch_files(
        [file], data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return read_ppdb_lexicon(folder / file)
