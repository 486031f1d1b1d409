"""Semantic textual similarity: the test sets of SemEval 2012 to 2016, and the STS Benchmark made from them."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed._validation.values import user_path
from skembed.datasets._download import Download, fetch_files, sources
from skembed.datasets._files import (
    PathLike,
    check_choice,
    check_count,
    data_and_target,
    description,
    find_file,
    one_file,
    read_lines,
    read_table,
    score,
    sentence,
)

__all__ = ["fetch_sts", "fetch_sts_benchmark"]

# Year -> subset -> what stands in the file names, pairs, pairs with a gold score. In the order of the tasks' reports.
_SUBSETS: dict[int, dict[str, tuple[str, int, int]]] = {
    2012: {
        "MSRpar": ("MSRpar", 750, 750),
        "MSRvid": ("MSRvid", 750, 750),
        "SMTeuroparl": ("SMTeuroparl", 459, 459),
        "OnWN": ("surprise.OnWN", 750, 750),
        "SMTnews": ("surprise.SMTnews", 399, 399),
    },
    2013: {
        "headlines": ("headlines", 750, 750),
        "OnWN": ("OnWN", 561, 561),
        "FNWN": ("FNWN", 189, 189),
        "SMT": ("SMT", 750, 750),  # sold by the LDC: read if a user has it, never downloaded
    },
    2014: {
        "deft-forum": ("deft-forum", 450, 450),
        "deft-news": ("deft-news", 300, 300),
        "headlines": ("headlines", 750, 750),
        "images": ("images", 750, 750),
        "OnWN": ("OnWN", 750, 750),
        "tweet-news": ("tweet-news", 750, 750),
    },
    2015: {
        "answers-forums": ("answers-forums", 2000, 375),
        "answers-students": ("answers-students", 1500, 750),
        "belief": ("belief", 2000, 375),
        "headlines": ("headlines", 1500, 750),
        "images": ("images", 1500, 750),
    },
    2016: {
        "answer-answer": ("answer-answer", 1572, 254),
        "headlines": ("headlines", 1498, 249),
        "plagiarism": ("plagiarism", 1271, 230),
        "postediting": ("postediting", 3287, 244),
        "question-question": ("question-question", 1555, 209),
    },
}


def _read_subset(
    folder: PathLike, year: int, name: str, complete: bool
) -> tuple[list[tuple[str, str]], list[float], int]:
    """Pairs and scores of one subset, and how many pairs came without a score."""
    stem, n_pairs, n_scored = _SUBSETS[year][name]
    if name == "SMT" and not (user_path(folder) / "STS.gs.SMT.txt").is_file():
        raise FileNotFoundError(
            f"{folder} has the file STS.input.SMT.txt, but no file STS.gs.SMT.txt, which cannot be downloaded. Put it "
            "beside the other, or take that away to read the year without SMT"
        )
    prefixes = ("STS2016", "STS") if year == 2016 else ("STS",)  # some collections rename the files of 2016
    source = f"fetch_sts(year={year})"
    input_path, gold_path = (
        find_file(folder, *(f"{prefix}.{kind}.{stem}.txt" for prefix in prefixes), source=source)
        for kind in ("input", "gs")
    )
    # From 2015 on only a part of the pairs was judged, and columns about the origin may follow the sentences.
    rows = read_table(input_path, columns=(2, 2) if year < 2015 else (2, 20))
    gold = read_lines(gold_path)
    if len(rows) != len(gold):
        raise ValueError(
            f"{input_path} has {len(rows)} lines, but {gold_path} has {len(gold)}: they must match line by line"
        )
    pairs, scores = [], []
    for (number, fields), text in zip(rows, gold):
        if year >= 2015 and not text.strip():
            continue
        pairs.append((sentence(fields[0]), sentence(fields[1])))
        scores.append(score(text, 0, 5, gold_path, number))
    if complete:
        check_count(input_path, len(rows), n_pairs)
        check_count(gold_path, len(scores), n_scored, "gold scores")
    return pairs, scores, len(rows) - len(scores)


def read_sts(folder: PathLike, *, year: int = 2012, complete: bool = True) -> Bunch:
    """Read the test sets of a year of the SemEval task on semantic textual similarity."""
    check_choice(year, "year", _SUBSETS)
    data: list[tuple[str, str]] = []
    target: list[float] = []
    subset: list[str] = []
    subset_names: list[str] = []
    n_unscored = 0
    for name in _SUBSETS[year]:
        if name == "SMT" and not (user_path(folder) / "STS.input.SMT.txt").is_file():
            continue
        pairs, scores, unscored = _read_subset(folder, year, name, complete)
        data += pairs
        target += scores
        subset += [name] * len(pairs)
        subset_names.append(name)
        n_unscored += unscored
    return Bunch(
        data=data,
        target=np.array(target, dtype=np.float64),
        subset=np.array(subset, dtype=str),
        subset_names=subset_names,
        n_unscored=n_unscored,
        DESCR=description("sts"),
    )


def read_sts_benchmark(path: PathLike) -> Bunch:
    """Read a file of the STS Benchmark."""
    path = one_file(path)
    data, target, subset = [], [], []
    # genre, file, year, number in the file, score, two sentences, and where known their sources
    for number, fields in read_table(path, columns=(7, 20)):
        data.append((sentence(fields[5]), sentence(fields[6])))
        target.append(score(fields[4], 0, 5, path, number))
        subset.append(fields[0])
    return Bunch(
        data=data,
        target=np.array(target, dtype=np.float64),
        subset=np.array(subset, dtype=str),
        subset_names=sorted(set(subset)),
        n_unscored=0,
        DESCR=description("sts_benchmark"),
    )


@overload
def fetch_sts(*, year: int = 2012, return_X_y: Literal[False] = False, **options: Unpack[Download]) -> Bunch: ...
@overload
def fetch_sts(
    *, year: int = 2012, return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[tuple[str, str]], NDArray[np.float64]]: ...
def fetch_sts(
    *,
    year: int = 2012,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[tuple[str, str]], NDArray[np.float64]]:
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
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    sts : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs of sentences, subset by subset, in the order of the files.
        target : ndarray of shape (n_pairs,), dtype float64
            The gold scores, from 0 (unrelated) to 5 (the same meaning).
        subset : ndarray of shape (n_pairs,), dtype str
            The subset of each pair.
        subset_names : list of str
            The subsets.
        n_unscored : int
            How many pairs of the files are left out because they have no gold score: 0 before 2015.
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
    check_choice(year, "year", _SUBSETS)
    files = [file for file in sources() if file.startswith(f"sts{year}/")]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_sts(folder / f"sts{year}", year=year), return_X_y)


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
) -> Bunch | tuple[list[tuple[str, str]], NDArray[np.float64]]:
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
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

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
        n_unscored : int
            Always 0: every pair has a score.
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
    files = [f"stsb/sts-{subset}.csv"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_sts_benchmark(folder / files[0]), return_X_y)
