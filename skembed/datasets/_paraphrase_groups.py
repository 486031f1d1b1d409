"""A small collection of paraphrase groups written for this package."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._files import description

__all__ = ["load_paraphrase_groups"]


@overload
def load_paraphrase_groups(*, return_X_y: Literal[False] = False) -> Bunch: ...
@overload
def load_paraphrase_groups(*, return_X_y: Literal[True]) -> tuple[list[str], NDArray[np.int64]]: ...
def load_paraphrase_groups(*, return_X_y: bool = False) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Load groups of English sentences that say exactly the same thing.

    Three to five short sentences make a group, and each entails every other of its group. Many groups are near
    misses of one another: "The staff were friendly." and "The staff were polite." stand in two. How well a linear
    classifier finds the group of a sentence shows how much of the meaning its vector keeps.

    Parameters
    ----------
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    groups : :class:`~sklearn.utils.Bunch`
        data : list of str of length 390
            The sentences, group by group.
        target : ndarray of shape (390,), dtype int64
            The group of each sentence, as an index into `target_names`.
        target_names : list of str of length 99
            Short names of the groups, in the order of the data.
        topics : list of str of length 390
            The topic of each sentence: ``"hotel"``, ``"travel"``, ...
        DESCR : str
            How the sentences were written and how they are meant to be used.

    Notes
    -----
    The guidelines are those of the Opinions subcorpus in [1]_: entailment in both directions, additional information
    makes another group, tense and discourse markers are ignored, intensity is coarse. The order of the data is no
    reading order to learn context from.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning",
       Proceedings of the 20th Australasian Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed.datasets import load_paraphrase_groups
    >>> groups = load_paraphrase_groups()
    >>> len(groups.data), len(groups.target_names)
    (390, 99)
    >>> groups.data[1], groups.target_names[groups.target[1]], groups.topics[1]
    ('The people who work there are friendly.', 'staff friendly', 'hotel')
    """
    text = (resources.files("skembed.datasets") / "data" / "paraphrase_groups.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    data = [row["sentence"] for row in rows]
    target_names = list(dict.fromkeys(row["group"] for row in rows))
    codes = {name: code for code, name in enumerate(target_names)}
    target = np.array([codes[row["group"]] for row in rows], dtype=np.int64)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        target_names=target_names,
        topics=[row["topic"] for row in rows],
        DESCR=description("paraphrase_groups"),
    )
