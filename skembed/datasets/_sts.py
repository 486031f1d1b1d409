"""Semantic textual similarity: the test sets of SemEval 2012 to 2016 and the STS Benchmark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from skembed.datasets._files import (
    PathLike,
    check_choice,
    check_count,
    description,
    find_file,
    read_lines,
    read_table,
    score,
    sentence,
)

__all__ = ["read_sts", "read_sts_benchmark"]

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
        "SMT": ("SMT", 750, 750),  # sold by the LDC: read where a user has it, never downloaded
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
_BENCHMARK_PAIRS = {"train": 5749, "dev": 1500, "test": 1379}


def _read_subset(
    folder: PathLike, year: int, name: str, complete: bool
) -> tuple[list[tuple[str, str]], list[float], int]:
    """Pairs and scores of one subset, and how many pairs came without a score."""
    stem, n_pairs, n_scored = _SUBSETS[year][name]
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
            f"{input_path} has {len(rows)} lines, but {gold_path} has {len(gold)}: they belong side by side"
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
    """Read the test sets of a year of the SemEval task on semantic textual similarity.

    Parameters
    ----------
    folder : str or path-like
        The folder with the published files ``STS.input.*.txt`` and ``STS.gs.*.txt`` (in 2016 ``STS2016.*``).

    year : {2012, 2013, 2014, 2015, 2016}, default=2012
        The year of the task. The files of the set "SMT" of 2013 cannot be had freely; it is read if they are there.

    complete : bool, default=True
        If true, every file must have the published number of rows. If false, parts are read too.

    Returns
    -------
    sts : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

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
    FileNotFoundError
        If a file is missing.

    ValueError
        If a file is not what was published; the message names the file, the line and the reason.

    See Also
    --------
    fetch_sts : Download these files and read them.
    """
    check_choice(year, "year", _SUBSETS)
    data: list[tuple[str, str]] = []
    target: list[float] = []
    subset: list[str] = []
    subset_names: list[str] = []
    n_unscored = 0
    for name in _SUBSETS[year]:
        if name == "SMT" and not Path(folder, "STS.input.SMT.txt").is_file():
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


def read_sts_benchmark(path: PathLike, *, complete: bool = True) -> Bunch:
    """Read a file of the STS Benchmark.

    Parameters
    ----------
    path : str or path-like
        ``sts-train.csv``, ``sts-dev.csv`` or ``sts-test.csv`` as published: tab-separated without header and quoting.

    complete : bool, default=True
        If true, the file must have the number of rows of one of the three published files. If false, parts are read
        too.

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

    Raises
    ------
    FileNotFoundError
        If there is no such file.

    ValueError
        If the file is not what was published; the message names the file, the line and the reason.

    See Also
    --------
    fetch_sts_benchmark : Download the file and read it.
    """
    path = Path(path)
    data, target, subset = [], [], []
    # genre, file, year, number in the file, score, two sentences, and where known their sources
    for number, fields in read_table(path, columns=(7, 20)):
        data.append((sentence(fields[5]), sentence(fields[6])))
        target.append(score(fields[4], 0, 5, path, number))
        subset.append(fields[0])
    if complete and len(data) not in _BENCHMARK_PAIRS.values():
        published = ", ".join(f"{n} ({name})" for name, n in _BENCHMARK_PAIRS.items())
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
