"""Sentences with a label, in the files that evaluations of sentence vectors pass around."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from skembed.datasets._files import (
    PathLike,
    check_choice,
    check_count,
    description,
    find_file,
    label,
    read_lines,
    sentence,
)

__all__ = ["read_senteval", "read_trec"]

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
    """Read one of four sets of sentences with two labels.

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
    folder : str or path-like
        The folder with the two files of the set: ``rt-polarity.neg`` and ``.pos``, ``custrev.neg`` and ``.pos``,
        ``subj.objective`` and ``.subjective``, or ``mpqa.neg`` and ``.pos``, in Windows-1252 as published or in UTF-8.

    name : {"MR", "CR", "SUBJ", "MPQA"}, default="MR"
        The set.

    complete : bool, default=True
        If true, the files must have the published numbers of lines. If false, parts are read too.

    Returns
    -------
    senteval : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

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
    FileNotFoundError
        If a file is missing.

    ValueError
        If a file is not what was published; the message names the file, the line and the reason.

    See Also
    --------
    fetch_senteval : Download these files and read them.
    """
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
    """Read a part of the TREC questions, labelled with what they ask for.

    Parameters
    ----------
    folder : str or path-like
        The folder with ``TREC.train`` and ``TREC.test``, or with ``train_5500.label`` and ``TREC_10.label`` as first
        published. A line is ``LABEL:fine question``, in Latin-1 or UTF-8.

    subset : {"train", "test"}, default="train"
        The part: 5,452 or 500 questions.

    fine : bool, default=False
        If true, the 50 fine labels such as ``"HUM:title"`` are the target, otherwise the 6 coarse ones.

    complete : bool, default=True
        If true, the file must have the published number of lines. If false, parts are read too.

    Returns
    -------
    trec : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with these attributes:

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
    FileNotFoundError
        If the file is missing.

    ValueError
        If the file is not what was published; the message names the file, the line and the reason.

    See Also
    --------
    fetch_trec : Download the file and read it.
    """
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
        data=data,
        target=codes,
        target_names=fine_names if fine else list(_TREC_LABELS),
        DESCR=description("trec"),
    )
