"""A fitted estimator as a folder: its arrays as safetensors, everything else as JSON."""

from __future__ import annotations

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._corpus.folders import FolderKind, new_folder, read_whole
from .._validation.json_text import parse_json
from .._validation.messages import brief
from .._validation.paths import PathLike, describe_unreadable, user_path
from .card import card_of
from .header import ENTRIES, describe_model, model_of
from .packing import DTYPES, packed, unpacked
from .schema import CLASSES

_HEADER, _ARRAYS, _CARD = "model.json", "arrays.safetensors", "README.md"
_MODEL_FOLDER = FolderKind("model", _HEADER, frozenset([_HEADER, _ARRAYS, _CARD]))
_FORMAT, _VERSION = "skembed model", 1
_LARGEST_HEADER = 1 << 26  # bytes
_ENTRIES = ENTRIES | {
    "format": str,
    "version": int,
    "written_by": dict,
    "arrays": dict,
    "digest": str,
}
_DTYPES_IN_FILE = {"F16": "<f2", "I8": "i1", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "u1"}


def save(estimator: Any, path: PathLike, *, inference_only: bool = False, dtype: str = "float32") -> dict[str, int]:
    """Save a fitted estimator as a folder that holds no code.

    The folder has the files ``arrays.safetensors`` and ``model.json``, and a card for people, ``README.md``. It is
    written beside `path` and takes its place in one step when it is complete. A model that is saved there already is
    replaced: whoever reads finds the old one or the new one, also if the computer stops meanwhile.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this package. The parameters `init`, `corpus` and `embedding` are saved as None, and
        given `word_vectors` as an empty list: only a new fit reads them. The options of the tokenizer are then those
        of the fit. `expand_with` is saved as None too: set it again before learning on.
    path : str or path-like
        Name of the folder.
    inference_only : bool, default=False
        Leave out the arrays that only training needs: the folder is smaller, and the loaded model transforms as this
        one does, but `partial_fit` and `warm_start` raise an error.
    dtype : {"float32", "float16", "int8"}, default="float32"
        How the vectors of words are stored: as they are, or rounded to 16 or 8 bits, in a half or a quarter of the
        bytes. "int8" has a scale for each word. They are float32 again when they are loaded. Rounded vectors are not
        those that training would go on from, so this needs ``inference_only=True``.

    Returns
    -------
    sizes : dict of str to int
        Bytes: "written", of the folder, and "left_out", of the arrays that ``inference_only=True`` has dropped.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is of another class, or has a parameter that a folder cannot hold: a callable, or a RandomState.
    ValueError
        If its parameters or fitted attributes contradict each other, or a number is not finite, or too large for
        `dtype`.
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
    ...     sizes = skembed.save(emb, f"{folder}/model")
    ...     back = skembed.load(f"{folder}/model")
    >>> bool((back.transform(["a cat"]) == emb.transform(["a cat"])).all())
    True
    """
    if CLASSES.get(type(estimator).__name__) is not type(estimator):
        raise TypeError(
            f"A folder holds one of {', '.join(CLASSES)}, not {brief(estimator)}. Save others with joblib or skops."
        )
    check_is_fitted(estimator)
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {brief(dtype)}.")
    if dtype != "float32" and not inference_only:
        raise ValueError(
            f"dtype={dtype!r} stores rounded vectors, from which training does not go on. Set inference_only=True."
        )
    model = describe_model(estimator, inference_only=inference_only)
    arrays = packed(model.arrays, dtype, model.axes)
    header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, **model.entries}
    header["written_by"] = {"skembed": __version__, "numpy": np.__version__, "python": platform.python_version()}
    with new_folder(path, _MODEL_FOLDER) as folder:
        _write(folder, header, arrays)
        card = card_of(estimator, inference_only=inference_only, dtype=dtype, left_out=model.left_out)
        (folder / _CARD).write_text(card, encoding="utf-8", errors="replace")
        written = sum(file.stat().st_size for file in folder.iterdir())
    return {"written": written, "left_out": model.left_out}


def load(path: PathLike, *, mmap: bool = False, token_pattern: str | None = None) -> Any:
    """Load an estimator that :func:`save` wrote.

    No code of the folder runs. Class, parameters, types and sizes of all arrays and the digest of both files are
    checked first.

    Parameters
    ----------
    path : str or path-like
        Name of the folder.
    mmap : bool, default=False
        Whether to map the arrays into memory instead of reading them, so that several processes share them. They are
        read-only then, and the files must stay as they are while the model is in use. Rounded arrays, and those with
        rows of zeros, which are not stored, are read all the same.
    token_pattern : str or None, default=None
        The pattern of words that the model was fitted with, if it is a special one. A regular expression can be made so
        that it takes very long, so one from a folder is not used unless you give it too. The error without it shows it.

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
    ...     sizes = skembed.save(emb, f"{folder}/model", inference_only=True)
    ...     skembed.load(f"{folder}/model").transform(["a cat"]).shape
    (1, 20)
    """
    return read_whole(user_path(path), lambda folder: _load(folder, mmap=mmap, token_pattern=token_pattern))


def _load(folder: Path, *, mmap: bool, token_pattern: str | None) -> Any:
    if not folder.exists():
        raise FileNotFoundError(f"There is no saved model at {folder}.")
    header = _read_header(folder / _HEADER)
    arrays = _read_arrays(folder / _ARRAYS, header["arrays"], mmap=mmap)
    try:
        return model_of(header, arrays, token_pattern)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / _HEADER} is damaged or was not written by skembed: {error}") from None


def _write(folder: Path, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    from safetensors.numpy import save_file

    file = folder / _ARRAYS
    save_file(arrays, file)
    header["arrays"] = {"bytes": file.stat().st_size, "sha256": _sha256(file)}
    header["digest"] = _digest_of(header)
    (folder / _HEADER).write_text(json.dumps(header, indent=1, allow_nan=False), encoding="ascii")


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
        header = parse_json(file.read_text(encoding="ascii"))
    except ValueError as error:
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
                return unpacked({name: opened.get_tensor(name) for name in names})
        return unpacked({name: _mapped(file, *entry) for name, entry in _entries_of(file).items()})
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{file} is damaged or was not written by skembed: {error}") from None


def _entries_of(file: Path) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Type, shape and offset of each array of a file that safetensors has checked."""
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = json.loads(opened.read(length))
    header.pop("__metadata__", None)
    return {
        name: (_DTYPES_IN_FILE[entry["dtype"]], tuple(entry["shape"]), 8 + length + entry["data_offsets"][0])
        for name, entry in header.items()
    }


def _mapped(file: Path, dtype: str, shape: tuple[int, ...], offset: int) -> np.ndarray:
    if offset % np.dtype(dtype).itemsize:
        raise ValueError("an array is not aligned.")
    if 0 in shape:  # which cannot be mapped
        return np.zeros(shape, dtype)
    return np.asarray(np.memmap(file, dtype, "r", offset, shape))
