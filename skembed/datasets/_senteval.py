"""Sentences with a label, in the files that evaluations of sentence vectors pass around."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import PathLike, check_choice, data_and_target, description, lines_of, sentence

__all__ = ["fetch_senteval", "fetch_trec"]

# Set -> the file of each label, in the order of the labels
_TWO_FILES = {
    "MR": {"negative": "senteval/rt-polarity.neg", "positive": "senteval/rt-polarity.pos"},
    "CR": {"negative": "senteval/custrev.neg", "positive": "senteval/custrev.pos"},
    "SUBJ": {"objective": "senteval/subj.objective", "subjective": "senteval/subj.subjective"},
    "MPQA": {"negative": "senteval/mpqa.neg", "positive": "senteval/mpqa.pos"},
}
_TREC = {
    "ABBR": "abb exp",
    "DESC": "def desc manner reason",
    "ENTY": "animal body color cremat currency dismed event food instru lang letter other plant product religion sport "
    "substance symbol techmeth termeq veh word",
    "HUM": "desc gr ind title",
    "LOC": "city country mount other state",
    "NUM": "code count date dist money ord other perc period speed temp volsize weight",
}


def read_senteval(folder: Path, *, name: str) -> Bunch:
    """Read one of four sets of sentences with two labels."""
    parts = [lines_of((folder / file).read_bytes()) for file in _TWO_FILES[name].values()]
    return Bunch(
        data=[sentence(line) for part in parts for line in part],
        target=np.repeat(np.arange(2, dtype=np.int64), [len(part) for part in parts]),
        target_names=list(_TWO_FILES[name]),
        DESCR=description(name.lower()),
    )


def read_trec(folder: Path, *, subset: str, fine: bool = False) -> Bunch:
    """Read a part of the TREC questions, labelled with what they ask for."""
    names = [f"{coarse}:{kind}" for coarse, kinds in _TREC.items() for kind in kinds.split()] if fine else list(_TREC)
    rows = [line.partition(" ") for line in lines_of((folder / f"senteval/TREC.{subset}").read_bytes())]
    labels = [label if fine else label.partition(":")[0] for label, _, _ in rows]
    return Bunch(
        data=[sentence(question) for _, _, question in rows],
        target=np.array([names.index(label) for label in labels], dtype=np.int64),
        target_names=names,
        DESCR=description("trec"),
    )


@overload
def fetch_senteval(*, name: str = "MR", return_X_y: Literal[False] = False, **options: Unpack[Download]) -> Bunch: ...
@overload
def fetch_senteval(
    *, name: str = "MR", return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[str], NDArray[np.int64]]: ...
def fetch_senteval(
    *,
    name: str = "MR",
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Download and read one of four sets of sentences with two labels.

    ======  ===========================================  ======================
    Name    Sentences                                    Labels
    ======  ===========================================  ======================
    MR      10,662 of film reviews                       negative, positive
    CR      3,775 of customer reviews                    negative, positive
    SUBJ    10,000 of film reviews and plot summaries    objective, subjective
    MPQA    10,606 phrases of news articles              negative, positive
    ======  ===========================================  ======================

    Parameters
    ----------
    name : {"MR", "CR", "SUBJ", "MPQA"}, default="MR"
        The set.
    data_home : str or path-like, default=None
        Where ``skembed/senteval`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    senteval : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_sentences
            The sentences, label by label, in the order of the files. CR has four empty ones and MPQA three.
        target : ndarray of shape (n_sentences,), dtype int64
            The label of each sentence, as an index into `target_names`.
        target_names : list of str
            The labels.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_senteval
    >>> sentences, labels = fetch_senteval(name="SUBJ", return_X_y=True)  # doctest: +SKIP
    >>> len(sentences)  # doctest: +SKIP
    10000
    """
    check_choice(name, "name", _TWO_FILES)
    folder = fetch_files(list(_TWO_FILES[name].values()), data_home, download_if_missing, n_retries, delay)
    return data_and_target(read_senteval(folder, name=name), return_X_y)


@overload
def fetch_trec(
    *, subset: str = "train", fine: bool = False, return_X_y: Literal[False] = False, **options: Unpack[Download]
) -> Bunch: ...
@overload
def fetch_trec(
    *, subset: str = "train", fine: bool = False, return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[str], NDArray[np.int64]]: ...
def fetch_trec(
    *,
    subset: str = "train",
    fine: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Download and read a part of the TREC questions, labelled with what they ask for.

    Parameters
    ----------
    subset : {"train", "test"}, default="train"
        The part: 5,452 or 500 questions.
    fine : bool, default=False
        If true, the 50 fine labels such as ``"HUM:title"`` are the target, otherwise the 6 coarse ones.
    data_home : str or path-like, default=None
        Where ``skembed/senteval`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    trec : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_questions
            The questions, in the order of the file.
        target : ndarray of shape (n_questions,), dtype int64
            The label of each question, as an index into `target_names`.
        target_names : list of str
            The labels, sorted, the same for both parts.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_trec
    >>> trec = fetch_trec(subset="test")  # doctest: +SKIP
    >>> len(trec.data), len(trec.target_names)  # doctest: +SKIP
    (500, 6)
    """
    check_choice(subset, "subset", ("train", "test"))
    folder = fetch_files([f"senteval/TREC.{subset}"], data_home, download_if_missing, n_retries, delay)
    return data_and_target(read_trec(folder, subset=subset, fine=fine), return_X_y)
