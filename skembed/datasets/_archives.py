"""Sentences in groups, from zip archives: the paraphrase groups of White et al. (2015) and the Opinosis topics."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_scalar

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import (
    Archive,
    PathLike,
    check_choice,
    check_count,
    data_and_target,
    description,
    row_error,
    sentence,
)

__all__ = ["fetch_opinosis", "fetch_semantic_groups"]

# Folder inside the archive -> description, published sentences
_PARAPHRASE_GROUPS = {"msrp_distribute": ("msrp_groups", 859), "opinosis_distribute": ("opinosis_groups", 669)}
_GROUPS_HEADER = "phrase_index,paraphrase_group_index"
_TOPIC_FILE = re.compile(r"(?:.*/)?topics/([^/]+)\.txt\.data")


def read_paraphrase_zip(path: PathLike, *, min_group_size: int = 3, complete: bool = True) -> Bunch:
    """Read sentences in groups of paraphrases."""
    min_group_size = check_scalar(min_group_size, "min_group_size", int, min_val=1)
    archive = Archive(path)
    found = [name for name in archive.files if PurePosixPath(name).name == "phrases.txt"]
    if len(found) != 1:
        raise ValueError(f"{archive.path} must hold one file phrases.txt, found {len(found)}")
    folder = PurePosixPath(found[0]).parent
    table = str(folder / "phrase_groups.csv")
    if table not in archive.files:
        raise ValueError(f"{archive.path} has no file {table} beside {found[0]}")
    sentences = [sentence(line) for line in archive.lines(found[0])]
    groups = _paraphrase_groups(archive.lines(table), archive.path / table, len(sentences))
    descr, published = _PARAPHRASE_GROUPS.get(folder.name, ("", len(sentences)))
    if complete:
        check_count(archive.path / found[0], len(sentences), published, "sentences")
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes[codes] >= min_group_size)
    used, target = np.unique(codes[kept], return_inverse=True)
    return Bunch(
        data=[sentences[row] for row in kept],
        target=target.astype(np.int64),
        target_names=[str(names[code]) for code in used],
        DESCR=description(descr) if descr else f"Groups of paraphrases, read from {archive.path.name}.",
    )


def _paraphrase_groups(lines: list[str], name: object, n_sentences: int) -> list[int]:
    """Return the group of each sentence."""
    if not lines or lines[0] != _GROUPS_HEADER:
        raise row_error(name, 1, f"the header must be {_GROUPS_HEADER!r}")
    groups: dict[int, int] = {}
    for number, line in enumerate(lines[1:], 2):
        if not re.fullmatch(r"\d+,\d+", line):
            raise row_error(name, number, f"expected two numbers, got {line[:40]!r}")
        row, group = map(int, line.split(","))
        if row >= n_sentences or row in groups:
            reason = "stands here twice" if row in groups else f"does not exist: there are {n_sentences} sentences"
            raise row_error(name, number, f"sentence {row} {reason}")
        groups[row] = group
    if len(groups) < n_sentences:
        missing = sorted(set(range(n_sentences)) - set(groups))
        raise ValueError(f"{name}: {len(missing)} of {n_sentences} sentences have no group, the first is {missing[0]}")
    return [groups[row] for row in range(n_sentences)]


def read_opinosis(path: PathLike) -> Bunch:
    """Read the sentences of the Opinosis data, each with the topic that it is about."""
    archive = Archive(path)
    topics = sorted((match.group(1), name) for name in archive.files if (match := _TOPIC_FILE.fullmatch(name)))
    data: list[str] = []
    lengths = []
    for _, name in topics:
        sentences = [text for line in archive.lines(name, cp1252=True) if (text := sentence(line))]
        data += sentences
        lengths.append(len(sentences))
    if not topics:
        raise ValueError(f"{archive.path} has no files topics/*.txt.data")
    return Bunch(
        data=data,
        target=np.repeat(np.arange(len(topics), dtype=np.int64), lengths),
        target_names=[topic for topic, _ in topics],
        DESCR=description("opinosis"),
    )


@overload
def fetch_semantic_groups(
    *, name: str = "msrp", return_X_y: Literal[False] = False, **options: Unpack[Download]
) -> Bunch: ...
@overload
def fetch_semantic_groups(
    *, name: str = "msrp", return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[str], NDArray[np.int64]]: ...
def fetch_semantic_groups(
    *,
    name: str = "msrp",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Download and read sentences in groups of paraphrases.

    Parameters
    ----------
    name : {"msrp", "opinosis"}, default="msrp"
        The set: 859 sentences of news in 274 groups, or 521 of reviews in 89 groups.
    data_home : str or path-like, default=None
        Where ``skembed/semantic`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    groups : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_sentences
            The sentences, in the order of the file: 859, or 521 of Opinosis.
        target : ndarray of shape (n_sentences,), dtype int64
            The group of each sentence, as an index into `target_names`.
        target_names : list of str of length n_groups
            The numbers of the groups in the archive. There are 274, one more than the paper says, or 89 of Opinosis.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning",
       Proceedings of the 20th Australasian Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed.datasets import fetch_semantic_groups
    >>> groups = fetch_semantic_groups(name="opinosis")  # doctest: +SKIP
    >>> len(groups.data), len(groups.target_names)  # doctest: +SKIP
    (521, 89)
    """
    check_choice(name, "name", ("msrp", "opinosis"))
    files = [f"semantic/{name}_paraphrase_grouped.zip"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_paraphrase_zip(folder / files[0]), return_X_y)


@overload
def fetch_opinosis(*, return_X_y: Literal[False] = False, **options: Unpack[Download]) -> Bunch: ...
@overload
def fetch_opinosis(
    *, return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[str], NDArray[np.int64]]: ...
def fetch_opinosis(
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Download and read the sentences of the Opinosis data, each with the topic that it is about.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Where ``skembed/opinosis`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    opinosis : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_sentences
            The sentences of reviews, topic by topic, in the order of the files; blank lines are left out.
        target : ndarray of shape (n_sentences,), dtype int64
            The topic of each sentence, as an index into `target_names`.
        target_names : list of str of length n_topics
            The topics, such as ``"battery-life_amazon_kindle"``, sorted.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_opinosis
    >>> len(fetch_opinosis().data)  # doctest: +SKIP
    7086
    """
    files = ["opinosis/OpinosisDataset1.0_0.zip"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_opinosis(folder / files[0]), return_X_y)
