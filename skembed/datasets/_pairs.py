"""Labelled pairs of sentences: SICK and the Microsoft Research paraphrase corpus."""

from __future__ import annotations

from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import (
    PathLike,
    check_choice,
    check_count,
    data_and_target,
    description,
    find_file,
    label,
    read_table,
    score,
    sentence,
)

__all__ = ["fetch_msrp", "fetch_sick"]

_SICK = {"train": ("SICK_train.txt", 4500), "trial": ("SICK_trial.txt", 500), "test": ("SICK_test_annotated.txt", 4927)}
_SICK_HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
_JUDGEMENTS = {name: code for code, name in enumerate(("CONTRADICTION", "ENTAILMENT", "NEUTRAL"))}

# The corpus has two files. A later publication splits the first in two and names all three otherwise.
_MSRP = {
    "train": (("msr_paraphrase_train.txt",), ("msr-para-train.tsv", "msr-para-val.tsv"), 4076),
    "test": (("msr_paraphrase_test.txt",), ("msr-para-test.tsv",), 1725),
}
_MSRP_HEADER = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"


def read_sick(folder: PathLike, *, subset: str = "train", complete: bool = True) -> Bunch:
    """Read a part of SICK, sentences involving compositional knowledge."""
    check_choice(subset, "subset", _SICK)
    name, published = _SICK[subset]
    path = find_file(folder, name, source=f"fetch_sick(subset={subset!r})")
    data, target, entailment = [], [], []
    for number, fields in read_table(path, _SICK_HEADER, columns=(5, 5)):
        data.append((sentence(fields[1]), sentence(fields[2])))
        target.append(score(fields[3], 1, 5, path, number))
        entailment.append(label(fields[4].strip(), _JUDGEMENTS, path, number))
    if complete:
        check_count(path, len(data), published)
    return Bunch(
        data=data,
        target=np.array(target, dtype=np.float64),
        entailment=np.array(entailment, dtype=np.int64),
        entailment_names=list(_JUDGEMENTS),
        DESCR=description("sick"),
    )


def read_msrp(folder: PathLike, *, subset: str = "train", complete: bool = True) -> Bunch:
    """Read a part of the Microsoft Research paraphrase corpus."""
    check_choice(subset, "subset", _MSRP)
    original, split, published = _MSRP[subset]
    source = f"fetch_msrp(subset={subset!r})"
    paths = [find_file(folder, split[0], original[0], source=source)]
    if paths[0].name == split[0]:
        paths += [find_file(folder, name, source=source) for name in split[1:]]
    data, target = [], []
    for path in paths:
        for number, fields in read_table(path, _MSRP_HEADER, columns=(5, 5)):
            data.append((sentence(fields[3]), sentence(fields[4])))
            target.append(label(fields[0], {"0": 0, "1": 1}, path, number))
    if complete:
        check_count(" and ".join(map(str, paths)), len(data), published)
    return Bunch(
        data=data,
        target=np.array(target, dtype=np.int64),
        target_names=["no paraphrase", "paraphrase"],
        DESCR=description("msrp"),
    )


@overload
def fetch_sick(*, subset: str = "train", return_X_y: Literal[False] = False, **options: Unpack[Download]) -> Bunch: ...
@overload
def fetch_sick(
    *, subset: str = "train", return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[tuple[str, str]], NDArray[np.float64]]: ...
def fetch_sick(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[tuple[str, str]], NDArray[np.float64]]:
    """Download and read a part of SICK, sentences involving compositional knowledge.

    Parameters
    ----------
    subset : {"train", "trial", "test"}, default="train"
        The part: 4,500, 500 or 4,927 pairs.
    data_home : str or path-like, default=None
        Where ``skembed/sick`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    sick : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs of sentences, in the order of the file.
        target : ndarray of shape (n_pairs,), dtype float64
            The relatedness, from 1 to 5.
        entailment : ndarray of shape (n_pairs,), dtype int64
            The second judgement, as an index into `entailment_names`.
        entailment_names : list of str
            ``["CONTRADICTION", "ENTAILMENT", "NEUTRAL"]``.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_sick
    >>> len(fetch_sick(subset="trial").data)  # doctest: +SKIP
    500
    """
    check_choice(subset, "subset", _SICK)
    files = [f"sick/{_SICK[subset][0]}"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_sick(folder / "sick", subset=subset), return_X_y)


@overload
def fetch_msrp(*, subset: str = "train", return_X_y: Literal[False] = False, **options: Unpack[Download]) -> Bunch: ...
@overload
def fetch_msrp(
    *, subset: str = "train", return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[tuple[str, str]], NDArray[np.int64]]: ...
def fetch_msrp(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[tuple[str, str]], NDArray[np.int64]]:
    """Download and read a part of the Microsoft Research paraphrase corpus.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part: 4,076 or 1,725 pairs.
    data_home : str or path-like, default=None
        Where ``skembed/msrp`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    msrp : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs of sentences, in the order of the files.
        target : ndarray of shape (n_pairs,), dtype int64
            1 for a paraphrase, 0 for none.
        target_names : list of str
            ``["no paraphrase", "paraphrase"]``.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_msrp
    >>> len(fetch_msrp(subset="test").data)  # doctest: +SKIP
    1725
    """
    check_choice(subset, "subset", _MSRP)
    files = [f"msrp/{file}" for file in _MSRP[subset][1]]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_msrp(folder / "msrp", subset=subset), return_X_y)
