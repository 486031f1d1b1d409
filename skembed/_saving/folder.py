"""A fitted estimator as a folder: its arrays as safetensors, everything else as JSON."""

from __future__ import annotations

import hashlib
import json
import platform
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._base.text import TextVectorizer, tokenizer_options
from .._corpus.storage import FolderKind, new_folder, sync_folder
from .._text.batches import decode_words, encode_words
from .._text.tokenizer import Tokenizer
from .._validation.messages import brief
from .._validation.paths import PathLike, describe_unreadable, user_path
from .checks import check_model, training_only
from .schema import CLASSES
from .values import ArrayStore, from_json, to_json

_HEADER, _ARRAYS = "model.json", "arrays.safetensors"
_MODEL_FOLDER = FolderKind("model", _HEADER, frozenset([_HEADER, _ARRAYS]))
_FORMAT, _VERSION = "skembed model", 1
_LARGEST_HEADER = 1 << 26  # bytes
_WORDS, _OFFSETS = "vocabulary_.text", "vocabulary_.offsets"
# What only a new fit reads, and what is saved instead.
_NOT_NEEDED: dict[str, Any] = {
    "init": None,
    "corpus": None,
    "embedding": None,
    "expand_with": None,
    "word_vectors": [],
}
_OF_SCIKIT_LEARN = ("_sklearn_output_config", "_metadata_request")  # settings of a pipeline, not of the model
_ENTRIES = {
    "format": str,
    "version": int,
    "class": str,
    "inference_only": bool,
    "parameters": dict,
    "tokenizer": dict,
    "attributes": dict,
    "written_by": dict,
    "arrays": dict,
    "digest": str,
}
_DTYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}


def save(estimator: Any, path: PathLike, *, inference_only: bool = False) -> None:
    """Save a fitted estimator as a folder that holds no code.

    The folder has two files: ``arrays.safetensors`` and ``model.json``. It is written beside `path` first and renamed
    when it is complete. A model that is saved at `path` already is replaced.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this package, other than :class:`MeanEmbeddingVectorizer`. The parameters `init`,
        `corpus` and `embedding` are saved as None, and `word_vectors` as an empty list: only a new fit reads them. The
        options of the tokenizer are then those of the fit. `expand_with` is saved as None too: set it again before
        learning on.
    path : str or path-like
        Name of the folder.
    inference_only : bool, default=False
        Leave out the arrays that only training needs: the folder is smaller, and the loaded model transforms as this
        one does, but `partial_fit` and `warm_start` raise an error.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is of another class, or has a parameter that a folder cannot hold: a callable, or a RandomState.
    ValueError
        If its parameters or fitted attributes contradict each other.
    FileExistsError
        If `path` exists and is not a saved model.
    OSError
        If the folder cannot be written, for example because the disk is full; then what was at `path` is still there.

    See Also
    --------
    load : Open the folder.

    Examples
    --------
    >>> import tempfile, skembed
    >>> emb = skembed.CBOSVectorizer(n_components=20, random_state=0).fit(["A cat sleeps.", "It dreams."] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skembed.save(emb, f"{folder}/model")
    ...     back = skembed.load(f"{folder}/model")
    >>> bool((back.transform(["a cat"]) == emb.transform(["a cat"])).all())
    True
    """
    if CLASSES.get(type(estimator).__name__) is not type(estimator):
        raise TypeError(
            f"A folder holds one of {', '.join(CLASSES)}, not {brief(estimator)}. Save others with joblib or skops."
        )
    check_is_fitted(estimator)
    model, store = _without_training(copy(estimator), inference_only), ArrayStore()
    _drop_what_a_fit_reads(model)
    try:
        check_model(model, inference_only=inference_only)
    except ValueError as error:
        raise ValueError(f"This {type(model).__name__} cannot be saved: {error}") from None
    words = model.vocabulary_
    if list(words.values()) != list(range(len(words))):
        raise ValueError("vocabulary_ must number its words from 0 in their order. Fit the estimator again.")
    params = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in {*params, "vocabulary_", "_tokenizer"}}
    header: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "class": type(model).__name__,
        "inference_only": bool(inference_only),
        "parameters": {name: _parameter_to_json(name, value, store) for name, value in params.items()},
        "tokenizer": {
            name: _parameter_to_json(name, value, store) for name, value in tokenizer_options(model._tokenizer).items()
        },
        "attributes": {name: to_json(value, name, store) for name, value in fitted.items()},
        "written_by": {"skembed": __version__, "numpy": np.__version__, "python": platform.python_version()},
    }
    arrays = store.arrays | dict(zip((_WORDS, _OFFSETS), encode_words(list(words))))
    with new_folder(path, _MODEL_FOLDER) as folder:
        _write(folder, header, arrays)
        sync_folder(folder)


def load(path: PathLike, *, mmap: bool = False) -> Any:
    """Load an estimator that :func:`save` wrote.

    No code of the folder runs. Class, parameters, types and sizes of all arrays and the digest of both files are
    checked first. A regular expression for words, `token_pattern`, is a part of the model, and one can be made so that
    it takes very long: look at it in ``model.json`` if you do not trust who made the folder.

    Parameters
    ----------
    path : str or path-like
        Name of the folder.
    mmap : bool, default=False
        Whether to map the arrays into memory instead of reading them, so that several processes share them. They are
        read-only then, and the files must stay as they are while the model is in use.

    Returns
    -------
    estimator : estimator
        The fitted estimator. It gives the same bits as the saved one.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If it is no saved model, is damaged or was written in a newer format; names the file.

    See Also
    --------
    save : Write the folder.

    Examples
    --------
    >>> import tempfile, skembed
    >>> emb = skembed.CBOSVectorizer(n_components=20, random_state=0).fit(["A cat sleeps.", "It dreams."] * 50)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     skembed.save(emb, f"{folder}/model", inference_only=True)
    ...     skembed.load(f"{folder}/model").transform(["a cat"]).shape
    (1, 20)
    """
    folder = user_path(path)
    if not folder.exists():
        raise FileNotFoundError(f"There is no saved model at {folder}.")
    header = _read_header(folder / _HEADER)
    arrays = _read_arrays(folder / _ARRAYS, header["arrays"], mmap=mmap)
    try:
        return _model_of(header, arrays)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / _HEADER} is damaged or was not written by skembed: {error}") from None


def _without_training(model: Any, inference_only: bool) -> Any:
    """A copy of a model as it is saved; `model` is one already."""
    for name in _OF_SCIKIT_LEARN:
        vars(model).pop(name, None)
    if inference_only:
        for name in training_only(model):
            vars(model).pop(name, None)
        if getattr(model, "_pca", None) is not None:
            model._pca = clone(model._pca)
    return model


def _drop_what_a_fit_reads(model: TextVectorizer) -> None:
    params = model.get_params(deep=False)
    dropped = [name for name in _NOT_NEEDED if params.get(name) is not None]
    for name in dropped:
        setattr(model, name, copy(_NOT_NEEDED[name]))
    if dropped:  # more text must be split as that was
        for name, value in tokenizer_options(model._tokenizer).items():
            if name in params:
                setattr(model, name, value)


def _parameter_to_json(name: str, value: Any, store: ArrayStore) -> Any:
    if name == "random_state" and isinstance(value, np.random.RandomState):
        raise TypeError(
            "random_state is a RandomState, which a folder cannot hold. Set it to None or an int: a fitted model does "
            "not need it."
        )
    if callable(value):
        raise TypeError(
            f"{name}={brief(value)} is code, which a folder does not hold. Use an option that is a string, such as "
            'token_pattern or stemmer="english", or save the model with joblib.'
        )
    if name == "stop_words" and value is not None and not isinstance(value, str):
        value = tuple(value)  # an array, a set or a Series of words
    held, before = to_json(value, name, store), len(store.arrays)
    if len(store.arrays) > before:
        raise TypeError(f"{name} is an array.")
    return held


def _write(folder: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    from safetensors.numpy import save_file

    file = folder / _ARRAYS
    save_file({name: _in_rows(array) for name, array in arrays.items()}, file)
    header["arrays"] = {"bytes": file.stat().st_size, "sha256": _sha256(file)}
    header["digest"] = _digest_of(header)
    (folder / _HEADER).write_text(json.dumps(header, indent=1, allow_nan=False), encoding="ascii")


def _in_rows(array: np.ndarray) -> np.ndarray:
    """The array, or its transpose, row after row, which is all that safetensors can write."""
    return np.ascontiguousarray(array if array.flags.c_contiguous or not array.flags.f_contiguous else array.T)


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _digest_of(header: dict[str, Any]) -> str:
    rest = {name: value for name, value in header.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def _read_header(file: Path) -> dict[str, Any]:
    _check_readable(file)
    if file.stat().st_size > _LARGEST_HEADER:
        raise ValueError(f"{file} is larger than the header of any model. It was not written by skembed.")
    try:
        header = json.loads(file.read_text(encoding="ascii"), object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{file} is not the header of a skembed model.")
    version = header.get("version")
    if type(version) is not int or version != _VERSION:
        raise ValueError(
            f"{file} has the format version {brief(version)}; this skembed reads version {_VERSION}. Load it with the "
            "skembed that wrote it, or a newer one."
        )
    if set(header) != set(_ENTRIES) or any(type(header[name]) is not kind for name, kind in _ENTRIES.items()):
        raise ValueError(f"{file} is damaged: entries are missing or wrong.")
    if _digest_of(header) != header["digest"]:
        raise ValueError(f"{file} is damaged: it does not fit its digest. Copy or save the model again.")
    return header


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it.")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON.")


def _check_readable(file: Path) -> None:
    try:
        kind = describe_unreadable(file)
        with file.open("rb") if not kind else file.parent.open() as opened:
            opened.read(1)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{file.parent} is not a saved model: it has no file {file.name}.") from None
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error}") from None


def _read_arrays(file: Path, described: dict[str, Any], *, mmap: bool) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    _check_readable(file)
    if described != {"bytes": file.stat().st_size, "sha256": _sha256(file)}:
        raise ValueError(f"{file} is damaged: it does not fit its digest in {_HEADER}. Copy or save the model again.")
    try:
        with safe_open(file, framework="numpy") as opened:  # checks the offsets and sizes of all arrays
            names = list(opened.keys())
            if not mmap:
                return {name: opened.get_tensor(name) for name in names}
        return {name: _mapped(file, *entry) for name, entry in _entries_of(file).items()}
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None


def _entries_of(file: Path) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Type, shape and offset of each array of a file that safetensors has checked."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    return {
        name: (_DTYPES[entry["dtype"]], tuple(entry["shape"]), 8 + length + entry["data_offsets"][0])
        for name, entry in header.items()
    }


def _mapped(file: Path, dtype: str, shape: tuple[int, ...], offset: int) -> np.ndarray:
    if offset % np.dtype(dtype).itemsize:
        raise ValueError("an array is not aligned.")
    if 0 in shape:  # which cannot be mapped
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, "r", offset, shape))


def _model_of(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    cls = CLASSES.get(header["class"])
    if cls is None:
        raise ValueError(f"{brief(header['class'])} is no class that this skembed can load.")
    params = {name: from_json(value, {}) for name, value in header["parameters"].items()}
    if unknown := set(params) - set(cls._get_param_names()):
        raise ValueError(f"{cls.__name__} has no parameter {brief(min(unknown))}.")
    model: Any = cls(**params)
    fitted = {name: from_json(value, arrays) for name, value in header["attributes"].items()}
    tokenizer = Tokenizer.from_options({name: from_json(value, {}) for name, value in header["tokenizer"].items()})
    if clash := {"vocabulary_", "_tokenizer", *params} & set(fitted):
        raise ValueError(f"{brief(min(clash))} is no fitted attribute.")
    vars(model).update(fitted, vocabulary_=_words_of(arrays), _tokenizer=tokenizer)
    check_model(model, inference_only=header["inference_only"])
    return model


def _words_of(arrays: dict[str, np.ndarray]) -> dict[str, int]:
    text, ptr = arrays.get(_WORDS), arrays.get(_OFFSETS)
    if (
        text is None
        or ptr is None
        or text.dtype != np.uint8
        or ptr.dtype != np.int64
        or text.ndim != 1
        or ptr.ndim != 1
    ):
        raise ValueError("the words are missing or have the wrong type.")
    if not len(ptr) or ptr[0] != 0 or ptr[-1] != len(text) or (ptr[1:] < ptr[:-1]).any():
        raise ValueError(f"the offsets of the words must rise from 0 to {len(text)}.")
    words = decode_words(text, ptr)
    vocabulary = {word: row for row, word in enumerate(words)}
    if len(vocabulary) < len(words):
        raise ValueError("a word stands twice in the vocabulary.")
    return vocabulary
