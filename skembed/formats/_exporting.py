"""Write models as folders that other programs open: `export_model`."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .._base.pooled import PooledVectorizer
from .._storage.array_files import replacing
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from . import _binary_models as binary_models
from . import _static_folders as static_folders

_LARGEST_DIFFERENCE = 1e-6  # of a cosine from 1
_N_TESTED = 1000  # words
_MADE_UP = ["zzqqxx", "a", "\u00e4pfelchen!", "\u5317\u4eac\u5e02", "the-house", "\u0939\u093f\u0928"]


class Report(TypedDict):
    """What was written: words, words that were left out, and how near the rows are to those of the estimator."""

    words: int
    left_out: int
    smallest_cosine: float


def export_model(estimator: PooledVectorizer, path: PathLike) -> Report:
    """Write a model for model2vec and sentence-transformers, or for fastText; `import_model` opens it too.

    Their rows have length one and the direction of the rows of this estimator, whose weights are in the vectors. The
    folder is read again and compared with the estimator before it takes its place at `path`.

    A path that ends in ".bin" is that of a binary model of fastText, for n-grams of characters that share rows:
    ``analyzer=CharacterNgrams("char_wb", (3, 6), n_buckets=200_000)``. There each text without spaces has the direction
    that it has here, unless it has a word that was not learned beside its n-grams. fastText does not lower text.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator whose sentence is a weighted sum or mean of word vectors, with ``unknown="zero"``.
    path : str or path-like
        Name of the folder, or of a file that ends in ".bin". A model that was exported there before is replaced.

    Returns
    -------
    report : dict
        "words", how many were written; "left_out", how many never come out of the tokenizer; "smallest_cosine" of a row
        of the folder with that of the estimator.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If its sentences are not sums of word vectors.
    ValueError
        If the folder cannot express the model, such as word n-grams, ``binary=True``, vectors of unknown words, a
        stemmer, another `analyzer` than "word" or an unusual `token_pattern`.
    FileExistsError
        If `path` exists and is not an exported model.

    Warns
    -----
    UserWarning
        If the model has letters of scripts without spaces between words: they are left out, as the other programs make
        no pairs of them.

    See Also
    --------
    import_model : Open the folder, or a model of another program.
    write_word_vectors : Word vectors alone, as many other programs read them.
    skembed.save : A folder for this package, of any model and with all of it.

    Notes
    -----
    model2vec opens the folder by ``StaticModel.from_pretrained(path)``, sentence-transformers by
    ``SentenceTransformer(path)``. In capitals, a Greek word that ends in a sigma is another word for these programs:
    lower such text with ``str.lower`` before.

    Examples
    --------
    >>> import tempfile, skembed
    >>> text = ["A cat sleeps.", "It dreams."] * 50
    >>> emb = skembed.CBOSVectorizer(20, unknown="zero", random_state=0).fit(text)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = skembed.formats.export_model(emb, f"{folder}/model")
    ...     back = skembed.formats.import_model(f"{folder}/model")
    >>> report["words"], report["smallest_cosine"] > 1 - 1e-6
    (5, True)
    """
    check_is_fitted(estimator)
    if user_path(path).name.endswith(".bin"):
        return _export_to_fasttext(estimator, path)
    with _new_folder(path, static_folders.FILES) as folder:
        n_words, n_left_out, sentences = static_folders.write(estimator, folder)
        smallest = _smallest_cosine(estimator, static_folders.read(folder), sentences)
    return {"words": n_words, "left_out": n_left_out, "smallest_cosine": smallest}


def _export_to_fasttext(estimator: PooledVectorizer, path: PathLike) -> Report:
    _replaceable(path, lambda file: file.is_file() and binary_models.recognises(file))
    with replacing(path) as file:
        words, n_left_out = binary_models.write(estimator, file)
        file.flush()
        tested = words[:: 1 + len(words) // _N_TESTED] if words else _MADE_UP
        smallest = _smallest_cosine(estimator, binary_models.read(Path(file.name)), tested)
    return {"words": len(words), "left_out": n_left_out, "smallest_cosine": smallest}


def _replaceable(path: PathLike, is_exported: Callable[[Path], bool]) -> Path:
    """Path to write to, in a folder that exists, where nothing is but a model that was exported before."""
    target = Path(os.path.realpath(user_path(path)))
    if target.exists() and not is_exported(target):
        raise FileExistsError(
            f"{target} exists and is not an exported model (or holds other files too). Choose another name."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


@contextmanager
def _new_folder(path: PathLike, files: frozenset[str]) -> Iterator[Path]:
    """Give a folder to write to, which takes its place at `path`, or that of such a model, if all goes well."""
    target = _replaceable(path, lambda folder: folder.is_dir() and {entry.name for entry in folder.iterdir()} <= files)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as beside:
        new, old = Path(beside, "new"), Path(beside, "old")
        new.mkdir()
        yield new
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise


def _smallest_cosine(estimator: PooledVectorizer, exported: PooledVectorizer, sentences: list[str]) -> float:
    """Compare rows of the folder with those of the estimator; a ValueError if they differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown words
        own, theirs = normalize(estimator.transform(sentences)), normalize(exported.transform(sentences))
    cosines = np.einsum("ij,ij->i", own, theirs, dtype=np.float64)
    lengths = np.linalg.norm(own.astype(np.float64), axis=1)
    wrong = np.flatnonzero(
        ~(np.abs(cosines - lengths) <= _LARGEST_DIFFERENCE) | (theirs.any(axis=1) != own.any(axis=1))
    )
    if len(wrong):
        raise ValueError(
            f"The model was not written: its vector of {brief(sentences[wrong[0]])} would have the cosine "
            f"{cosines[wrong[0]]:.7f} with that of {type(estimator).__name__}. Please report this."
        )
    return float(cosines[lengths > 0].min(initial=1.0))
