"""Sentences in groups, from zip archives: the paraphrase groups of White et al. (2015) and the Opinosis topics."""

from __future__ import annotations

import re
import zipfile
from itertools import chain
from pathlib import Path
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import PathLike, check_choice, data_and_target, description, lines_of, sentence

__all__ = ["fetch_opinosis", "fetch_semantic_groups"]

_GROUPS = "semantic/{}_paraphrase_grouped.zip"
_OPINOSIS = "opinosis/OpinosisDataset1.0_0.zip"
_SMALLEST_GROUP = 3  # sentences
_TOPIC_FILE = re.compile(r"topics/([^/]+)\.txt\.data")


def read_paraphrase_groups(folder: Path, *, name: str) -> Bunch:
    """Read the groups of three sentences or more."""
    with zipfile.ZipFile(folder / _GROUPS.format(name)) as archive:
        texts, table = (
            lines_of(archive.read(f"{name}_distribute/{file}")) for file in ("phrases.txt", "phrase_groups.csv")
        )
    rows = np.array([line.split(",") for line in table[1:]], dtype=np.int64)
    groups = rows[np.argsort(rows[:, 0]), 1]
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(sizes[codes] >= _SMALLEST_GROUP)
    used, target = np.unique(codes[kept], return_inverse=True)
    return Bunch(
        data=[sentence(texts[row]) for row in kept],
        target=target.astype(np.int64),
        target_names=[str(names[code]) for code in used],
        DESCR=description(f"{name}_groups"),
    )


def read_opinosis(folder: Path) -> Bunch:
    """Read the sentences of the Opinosis data, each with the topic that it is about."""
    with zipfile.ZipFile(folder / _OPINOSIS) as archive:
        topics = sorted((found[1], name) for name in archive.namelist() if (found := _TOPIC_FILE.fullmatch(name)))
        texts = [[text for text in map(sentence, lines_of(archive.read(name))) if text] for _, name in topics]
    return Bunch(
        data=list(chain.from_iterable(texts)),
        target=np.repeat(np.arange(len(topics), dtype=np.int64), [len(part) for part in texts]),
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
    folder = fetch_files([_GROUPS.format(name)], data_home, download_if_missing, n_retries, delay)
    return data_and_target(read_paraphrase_groups(folder, name=name), return_X_y)


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
    folder = fetch_files([_OPINOSIS], data_home, download_if_missing, n_retries, delay)
    return data_and_target(read_opinosis(folder), return_X_y)
