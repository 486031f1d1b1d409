"""The STS Benchmark: a selection from the yearly sets of semantic textual similarity, in three parts."""

from __future__ import annotations

from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import (
    PathLike,
    check_choice,
    data_and_target,
    description,
    one_file,
    read_table,
    score,
    sentence,
)

__all__ = ["fetch_sts_benchmark"]

_PAIRS = {"train": 5749, "dev": 1500, "test": 1379}


def read_sts_benchmark(path: PathLike, *, complete: bool = True) -> Bunch:
    """Read a file of the STS Benchmark."""
    path = one_file(path)
    data, target, subset = [], [], []
    # genre, file, year, number in the file, score, two sentences, and where known their sources
    for number, fields in read_table(path, columns=(7, 20)):
        data.append((sentence(fields[5]), sentence(fields[6])))
        target.append(score(fields[4], 0, 5, path, number))
        subset.append(fields[0])
    if complete and len(data) not in _PAIRS.values():
        published = ", ".join(f"{n} ({name})" for name, n in _PAIRS.items())
        raise ValueError(
            f"{path}: found {len(data)} rows, the published files have {published}; "
            "use a complete copy, or read the part with complete=False"
        )
    return Bunch(
        data=data,
        target=np.array(target, dtype=np.float64),
        subset=np.array(subset, dtype=str),
        subset_names=sorted(set(subset)),
        n_unscored=0,
        DESCR=description("sts_benchmark"),
    )


@overload
def fetch_sts_benchmark(
    *, subset: str = "train", return_X_y: Literal[False] = False, **options: Unpack[Download]
) -> Bunch: ...
@overload
def fetch_sts_benchmark(
    *, subset: str = "train", return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[tuple[str, str]], NDArray[np.float64]]: ...
def fetch_sts_benchmark(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Any:
    """Download and read a part of the STS Benchmark.

    A file that is there already is kept.

    Parameters
    ----------
    subset : {"train", "dev", "test"}, default="train"
        The part: 5,749, 1,500 or 1,379 pairs.

    data_home : str or path-like, default=None
        The folder for downloaded data; None means that of :func:`sklearn.datasets.get_data_home`. The files go to
        ``skembed/stsb`` below it.

    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.

    n_retries : int, default=3
        How often to try again after an error of the network or the server.

    delay : float, default=1.0
        Seconds between two tries.

    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    sts : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

        data : list of (str, str) of length n_pairs
            The pairs of sentences, in the order of the file.
        target : ndarray of shape (n_pairs,), dtype float64
            The gold scores, from 0 (unrelated) to 5 (the same meaning).
        subset : ndarray of shape (n_pairs,), dtype str
            The genre of each pair, such as ``"main-captions"``.
        subset_names : list of str
            The genres, sorted.
        n_unscored : int
            Always 0: every pair has a score.
        DESCR : str
            Source, licence and citation.

    (data, target) : tuple if `return_X_y` is true
        The list and the array of the above.

    Raises
    ------
    OSError
        If a file is missing and cannot or must not be downloaded. The message says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_sts_benchmark
    >>> len(fetch_sts_benchmark(subset="dev").data)  # doctest: +SKIP
    1500
    """
    check_choice(subset, "subset", _PAIRS)
    files = [f"stsb/sts-{subset}.csv"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_sts_benchmark(folder / files[0]), return_X_y)
