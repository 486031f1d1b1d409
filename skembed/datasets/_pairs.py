"""Labelled pairs of sentences: SICK and the Microsoft Research paraphrase corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from skembed.datasets._download import fetch_files
from skembed.datasets._files import PathLike, check_choice, description, read_table, sentence

__all__ = ["fetch_msrp", "fetch_sick"]

_SICK = {"train": "sick/SICK_train.txt", "trial": "sick/SICK_trial.txt", "test": "sick/SICK_test_annotated.txt"}
_JUDGEMENTS = ["CONTRADICTION", "ENTAILMENT", "NEUTRAL"]
_MSRP = {"train": ["msrp/msr-para-train.tsv", "msrp/msr-para-val.tsv"], "test": ["msrp/msr-para-test.tsv"]}


def read_sick(folder: Path, *, subset: str) -> Bunch:
    """Read a part of SICK, sentences involving compositional knowledge."""
    rows = read_table(folder / _SICK[subset], header=True)
    return Bunch(
        data=[(sentence(first), sentence(second)) for _, first, second, _, _ in rows],
        target=np.array([float(row[3]) for row in rows]),
        entailment=np.array([_JUDGEMENTS.index(row[4].strip()) for row in rows], dtype=np.int64),
        entailment_names=list(_JUDGEMENTS),
        DESCR=description("sick"),
    )


def read_msrp(folder: Path, *, subset: str) -> Bunch:
    """Read a part of the Microsoft Research paraphrase corpus."""
    rows = [row for file in _MSRP[subset] for row in read_table(folder / file, header=True)]
    return Bunch(
        data=[(sentence(first), sentence(second)) for _, _, _, first, second in rows],
        target=np.array([int(row[0]) for row in rows], dtype=np.int64),
        target_names=["no paraphrase", "paraphrase"],
        DESCR=description("msrp"),
    )


def fetch_sick(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
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
    folder = fetch_files([_SICK[subset]], data_home, download_if_missing, n_retries, delay)
    return read_sick(folder, subset=subset)


def fetch_msrp(
    *,
    subset: str = "train",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
) -> Bunch:
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
    folder = fetch_files(_MSRP[subset], data_home, download_if_missing, n_retries, delay)
    return read_msrp(folder, subset=subset)
