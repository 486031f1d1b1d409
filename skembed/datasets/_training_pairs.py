"""Pairs to learn from: words with like translations, and five captions of each image."""

from __future__ import annotations

import gzip
from importlib import resources
from itertools import chain, combinations
from pathlib import Path
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skembed.datasets._download import Download, fetch_files
from skembed.datasets._files import PathLike, data_and_target, description, lines_of, sentence

__all__ = ["fetch_image_captions", "fetch_ppdb_lexicon"]

_LEXICON = "ppdb/ppdb-xl.txt"
_CAPTIONS = [f"image_captions/train.{number}.en.gz" for number in range(1, 6)]


def read_ppdb_lexicon(folder: Path) -> Bunch:
    """Read pairs of words that mean about the same."""
    pairs: dict[tuple[str, str], None] = {}
    for line in lines_of((folder / _LEXICON).read_bytes()):
        head, *paraphrases = line.split() or [""]
        for word in paraphrases:
            if word != head and (word, head) not in pairs:
                pairs[head, word] = None
    return Bunch(data=list(pairs), DESCR=description("ppdb_lexicon"))


def _evaluation_images() -> NDArray[np.int64]:
    """Return the images that share captions with evaluation sets; the description says by which rule."""
    file = resources.files("skembed.datasets") / "data" / "flickr30k_evaluation_images.txt"
    return np.array(file.read_text(encoding="utf-8").split(), dtype=np.int64)


def read_image_captions(folder: Path, *, remove_evaluation: bool) -> Bunch:
    """Read the captions of the images of Flickr30k, five an image."""
    columns = [lines_of(gzip.decompress((folder / file).read_bytes())) for file in _CAPTIONS]
    images = np.arange(len(columns[0]), dtype=np.int64)
    if remove_evaluation:
        images = np.setdiff1d(images, _evaluation_images())
    captions = [[sentence(column[image]) for column in columns] for image in images]
    return Bunch(
        data=list(chain.from_iterable(captions)),
        target=np.repeat(images, len(_CAPTIONS)),
        pairs=[pair for texts in captions for pair in combinations(texts, 2)],
        DESCR=description("image_captions"),
    )


def fetch_ppdb_lexicon(
    *, data_home: PathLike | None = None, download_if_missing: bool = True, n_retries: int = 3, delay: float = 1.0
) -> Bunch:
    """Download and read pairs of words that mean about the same.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Where ``skembed/ppdb`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.

    Returns
    -------
    lexicon : :class:`~sklearn.utils.Bunch`
        data : list of (str, str) of length n_pairs
            The pairs of words: 187,276. A pair that the file has in both directions is listed once, in the direction
            that comes first.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_ppdb_lexicon
    >>> len(fetch_ppdb_lexicon().data)  # doctest: +SKIP
    187276
    """
    folder = fetch_files([_LEXICON], data_home, download_if_missing, n_retries, delay)
    return read_ppdb_lexicon(folder)


@overload
def fetch_image_captions(
    *, remove_evaluation: bool = True, return_X_y: Literal[False] = False, **options: Unpack[Download]
) -> Bunch: ...
@overload
def fetch_image_captions(
    *, remove_evaluation: bool = True, return_X_y: Literal[True], **options: Unpack[Download]
) -> tuple[list[str], NDArray[np.int64]]: ...
def fetch_image_captions(
    *,
    remove_evaluation: bool = True,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
    n_retries: int = 3,
    delay: float = 1.0,
    return_X_y: bool = False,
) -> Bunch | tuple[list[str], NDArray[np.int64]]:
    """Download and read the captions of the images of Flickr30k, five an image.

    Without `remove_evaluation`, 83 % of the sentences of STS 2015 images are in this training data, and 2 to 4 % of
    those of SICK: a model that has learned from all captions cannot be measured on these sets. Files that are there
    already are kept.

    Parameters
    ----------
    remove_evaluation : bool, default=True
        If true, leave out 7,956 of the 29,000 images: those with a caption of five words or more in any STS, SICK or
        STR set, and those with two captions in Flickr8k, from which SICK and STS images were made.
    data_home : str or path-like, default=None
        Where ``skembed/image_captions`` is; None means :func:`sklearn.datasets.get_data_home`.
    download_if_missing : bool, default=True
        If false, raise an OSError instead of downloading what is not there.
    n_retries, delay : int, default=3; float, default=1.0
        Tries after an error of the network or the server, and seconds between two of them.
    return_X_y : bool, default=False
        If true, return ``(data, target)`` instead of a :class:`~sklearn.utils.Bunch`.

    Returns
    -------
    captions : :class:`~sklearn.utils.Bunch`
        data : list of str of length n_captions
            The captions, image by image: 105,220, or 145,000 with the evaluation images.
        target : ndarray of shape (n_captions,), dtype int64
            The image of each caption, as its line in the files, from 0. Captions with the same target are paraphrases.
        pairs : list of (str, str)
            Any two captions of an image, ten pairs an image.
        DESCR : str
            Source, licence and citation.

    Raises
    ------
    OSError
        If a file is missing and not downloaded; says where to put which files by hand.

    Examples
    --------
    >>> from skembed.datasets import fetch_image_captions
    >>> captions = fetch_image_captions()  # doctest: +SKIP
    >>> len(captions.data), len(captions.pairs)  # doctest: +SKIP
    (105220, 210440)
    """
    folder = fetch_files(_CAPTIONS, data_home, download_if_missing, n_retries, delay)
    bunch = read_image_captions(folder, remove_evaluation=remove_evaluation)
    return data_and_target(bunch, return_X_y)
