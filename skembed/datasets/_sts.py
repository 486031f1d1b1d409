"""Semantic textual similarity: the test sets of SemEval 2012 to 2016, and the STS Benchmark made from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from skembed.datasets._download import fetch_files, sources
from skembed.datasets._files import PathLike, check_choice, description, lines_of, read_table, sentence

__all__ = ["fetch_sts", "fetch_sts_benchmark"]


def _files_of(year: int, kind: str) -> list[str]:
    """The files of the sets of a year, in the order of the task's report; SMT of 2013 is sold, not published."""
    return [file for file in sources() if file.startswith(f"sts{year}/") and f".{kind}." in file]


def read_sts(folder: Path, *, year: int) -> Bunch:
    """Read the test sets of a year of the SemEval task on semantic textual similarity."""
    rows = [
        (file.split(".")[-2], score, fields)
        for file, gold in zip(_files_of(year, "input"), _files_of(year, "gs"))
        for fields, score in zip(read_table(folder / file), lines_of((folder / gold).read_bytes()))
        if score.strip()  # from 2015 on only a part of the pairs was judged
    ]
    return Bunch(
        data=[(sentence(fields[0]), sentence(fields[1])) for _, _, fields in rows],
        target=np.array([float(score) for _, score, _ in rows]),
        subset=np.array([name for name, _, _ in rows]),
        subset_names=list(dict.fromkeys(name for name, _, _ in rows)),
        DESCR=description("sts"),
    )


def read_sts_benchmark(folder: Path, *, subset: str) -> Bunch:
    """Read a part of the STS Benchmark."""
    rows = read_table(folder / f"stsb/sts-{subset}.csv")  # genre, file, year, number, score, two sentences, ...
    return Bunch(
        data=[(sentence(row[5]), sentence(row[6])) for row in rows],
        target=np.array([float(row[4]) for row in rows]),
        subset=np.array([row[0] for row in rows]),
        subset_names=sorted({row[0] for row in rows}),
        DESCR=description("sts_benchmark"),
    )


def fetch_sts(
    *,
    year: int = 2012,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Download and read the test sets of a year of the SemEval task on semantic textual similarity.

    Parameters
    ----------
    year : {2012, 2013, 2014, 2015, 2016}, default=2012
        The year of the task. The set "SMT" of 2013 is not free and is left out.
    data_home : str or path-like, default=None
        Where ``skembed/sts2012`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.

    Returns
    -------
    sts : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs that have a gold score, subset by subset, in the order of the files.
        target : ndarray of shape (n_pairs,), dtype float64
            The gold scores, from 0 (unrelated) to 5 (the same meaning).
        subset : ndarray of shape (n_pairs,), dtype str
            The subset of each pair.
        subset_names : list of str
            The subsets.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_sts
    >>> sts = fetch_sts(year=2014)  # doctest: +SKIP
    >>> len(sts.data), sts.subset_names[0]  # doctest: +SKIP
    (3750, 'deft-forum')
    """
    check_choice(year, "year", range(2012, 2017))
    files = [*_files_of(year, "input"), *_files_of(year, "gs")]
    folder = fetch_files(files, data_home, download_if_missing, n_retries, delay)
    return read_sts(folder, year=year)


def fetch_sts_benchmark(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
    """Download and read a part of the STS Benchmark.

    Parameters
    ----------
    subset : {"train", "dev", "test"}, default="train"
        The part: 5,749, 1,500 or 1,379 pairs.
    data_home : str or path-like, default=None
        Where ``skembed/stsb`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.

    Returns
    -------
    sts : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs of sentences, in the order of the file.
        target : ndarray of shape (n_pairs,), dtype float64
            The gold scores, from 0 (unrelated) to 5 (the same meaning).
        subset : ndarray of shape (n_pairs,), dtype str
            The genre of each pair, such as ``"main-captions"``.
        subset_names : list of str
            The genres, sorted.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_sts_benchmark
    >>> len(fetch_sts_benchmark(subset="dev").data)  # doctest: +SKIP
    1500
    """
    check_choice(subset, "subset", ("train", "dev", "test"))
    folder = fetch_files([f"stsb/sts-{subset}.csv"], data_home, download_if_missing, n_retries, delay)
    return read_sts_benchmark(folder, subset=subset)
