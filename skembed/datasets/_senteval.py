"""Sentences with a label, in the files that evaluations of sentence vectors pass around."""

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
    read_lines,
    sentence,
)

__all__ = ["fetch_senteval", "fetch_trec"]

# Set -> a file and its published number of lines for each label, in the order of the labels
_TWO_FILES: dict[str, tuple[tuple[str, str, int], tuple[str, str, int]]] = {
    "MR": (("negative", "rt-polarity.neg", 5331), ("positive", "rt-polarity.pos", 5331)),
    "CR": (("negative", "custrev.neg", 1368), ("positive", "custrev.pos", 2407)),
    "SUBJ": (("objective", "subj.objective", 5000), ("subjective", "subj.subjective", 5000)),
    "MPQA": (("negative", "mpqa.neg", 7294), ("positive", "mpqa.pos", 3312)),
}
_TREC = {"train": ("TREC.train", "train_5500.label", 5452), "test": ("TREC.test", "TREC_10.label", 500)}
_TREC_LABELS = {
    "ABBR": "abb exp",
    "DESC": "def desc manner reason",
    "ENTY": "animal body color cremat currency dismed event food instru lang letter other plant product religion sport "
    "substance symbol techmeth termeq veh word",
    "HUM": "desc gr ind title",
    "LOC": "city country mount other state",
    "NUM": "code count date dist money ord other perc period speed temp volsize weight",
}


def read_senteval(folder: PathLike, *, name: str = "MR", complete: bool = True) -> Bunch:
    """Read one of four sets of sentences with two labels."""
    check_choice(name, "name", _TWO_FILES)
    data: list[str] = []
    lengths = []
    for _, file, published in _TWO_FILES[name]:
        path = find_file(folder, file, source=f"fetch_senteval(name={name!r})")
        lines = read_lines(path, cp1252=True)
        if complete:
            check_count(path, len(lines), published, "lines")
        data += map(sentence, lines)
        lengths.append(len(lines))
    return Bunch(
        data=data,
        target=np.repeat(np.arange(2, dtype=np.int64), lengths),
        target_names=[target_name for target_name, _, _ in _TWO_FILES[name]],
        DESCR=description(name.lower()),
    )


def read_trec(folder: PathLike, *, subset: str = "train", fine: bool = False, complete: bool = True) -> Bunch:
    """Read a part of the TREC questions, labelled with what they ask for."""
    check_choice(subset, "subset", _TREC)
    *names, published = _TREC[subset]
    path = find_file(folder, *names, source=f"fetch_trec(subset={subset!r})")
    fine_names = [f"{coarse}:{kind}" for coarse, kinds in _TREC_LABELS.items() for kind in kinds.split()]
    fine_codes = {fine_name: code for code, fine_name in enumerate(fine_names)}
    data, target = [], []
    for number, line in enumerate(read_lines(path, cp1252=True), 1):
        fine_name, _, question = line.partition(" ")
        data.append(sentence(question))
        target.append(label(fine_name, fine_codes, path, number))
    if complete:
        check_count(path, len(data), published, "lines")
    codes = np.array(target, dtype=np.int64)
    if not fine:
        coarse_codes = np.repeat(np.arange(len(_TREC_LABELS)), [len(kinds.split()) for kinds in _TREC_LABELS.values()])
        codes = coarse_codes.astype(np.int64)[codes]
    return Bunch(
        data=data, target=codes, target_names=fine_names if fine else list(_TREC_LABELS), DESCR=description("trec")
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
    files = [f"senteval/{file}" for _, file, _ in _TWO_FILES[name]]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_senteval(folder / "senteval", name=name), return_X_y)


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
    check_choice(subset, "subset", _TREC)
    files = [f"senteval/{_TREC[subset][0]}"]
    folder = fetch_files(
        files, data_home=data_home, download_if_missing=download_if_missing, n_retries=n_retries, delay=delay
    )
    return data_and_target(read_trec(folder / "senteval", subset=subset, fine=fine), return_X_y)
