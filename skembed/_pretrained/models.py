"""What a user gives as a model: a path, an object, a function or rows by text; each becomes a function from texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .._validation.messages import brief
from .._validation.values import PathLike, user_path

if TYPE_CHECKING:
    from .._base.text import TextEstimator


ACCEPTED = (
    "the path of a model, an object with encode or transform, a function from a list of texts to rows (a method "
    "such as model.embed is one), or a mapping of text to row"
)
_METHODS = ("encode", "transform")


class _Encodes(Protocol):
    def encode(self, texts: list[str], /) -> object: ...


class _Transforms(Protocol):
    def transform(self, texts: list[str], /) -> object: ...


PretrainedModel: TypeAlias = PathLike | _Encodes | _Transforms | Callable[[list[str]], object] | Mapping[str, ArrayLike]


def is_path(model: object) -> TypeGuard[PathLike]:
    """Whether a model is named by its path."""
    return isinstance(model, (str, os.PathLike))


def name_of(model: PretrainedModel) -> str:
    """What messages and saved folders call a model."""
    if is_path(model):
        return os.fspath(model)
    named = model if hasattr(model, "__qualname__") else type(model)
    return f"{named.__module__}.{named.__qualname__}"


def caller_of(model: PretrainedModel) -> Callable[[list[str]], object]:
    """Return the function that embeds texts; a path is opened."""
    if isinstance(model, type):
        raise TypeError(f"The pretrained model is the class {model.__name__}. Pass an instance of it.")
    if is_path(model):
        return opened(model).transform
    if isinstance(model, Mapping):
        return lambda texts: _looked_up(model, texts)
    if hasattr(model, "to_numpy"):  # the method `transform` of a data frame is another one
        raise TypeError(
            f"A pretrained model must be {ACCEPTED}, got {brief(model)}. Of texts and their rows in a table, pass a "
            "mapping: dict(zip(texts, rows))."
        )
    for method in _METHODS:
        if callable(found := getattr(model, method, None)):
            return found
    if callable(model):
        return model
    raise TypeError(f"A pretrained model must be {ACCEPTED}, got {brief(model)}.")


def opened(path: PathLike) -> TextEstimator:
    """Open a folder or a file as a fitted estimator; a ValueError names what cannot be read."""
    file = user_path(path)
    if not file.exists():
        raise FileNotFoundError(
            f"There is no pretrained model at {file}. Nothing is downloaded: pass the path of a folder or file, or an "
            "object such as SentenceTransformer(name)."
        )
    # By name, because what a folder holds may itself be an estimator that uses this package.
    skembed = import_module(__name__.partition(".")[0])
    if file.is_dir():
        return skembed.load(file) if (file / "model.json").exists() else skembed.formats.import_model(file)
    words, vectors = skembed.formats.read_word_vectors(file)
    is_lower = all(word == word.lower() for word in words)
    mean = skembed.MeanEmbeddingVectorizer(
        vectors.shape[1], word_vectors=(words, vectors), unknown="zero", lowercase=is_lower
    )
    return mean.fit([" ".join(words)])


def _looked_up(rows: Mapping[str, ArrayLike], texts: list[str]) -> np.ndarray:
    missing = [text for text in texts if text not in rows]
    if missing:
        raise ValueError(
            f"The mapping of precomputed rows has none for {len(missing)} of {len(texts)} texts, the first of which is "
            f"{brief(missing[0])}. Add their rows, or pass the model itself."
        )
    found = [np.asarray(rows[text]) for text in texts]
    for text, row in zip(texts, found):
        if row.ndim != 1 or row.dtype.kind not in "fiu" or row.shape != found[0].shape:
            raise ValueError(
                f"The precomputed row of {brief(text)} must be one-dimensional, of numbers, and as long as that of "
                f"{brief(texts[0])}, got {brief(rows[text])}."
            )
    return np.array(found)


def checked_rows(rows: object, texts: list[str], width: int | None, name: str) -> np.ndarray:
    """Return what a model gave for some texts as float32 (n_texts, width), or say what is wrong with it."""
    what = f"The pretrained model {name}"
    if issparse(rows):
        raise TypeError(f"{what} gives sparse rows. Make them dense: put a TruncatedSVD behind it.")
    if isinstance(rows, (list, tuple)):
        rows = [_as_array(row) for row in rows]
    try:
        found = np.asarray(_as_array(rows))
    except ValueError:  # lists of several lengths
        found = np.empty(0, object)
    if found.dtype.kind not in "fiu":
        raise TypeError(f"{what} must turn {len(texts)} texts into rows of numbers, got {brief(rows)} ({found.dtype}).")
    if found.ndim != 2 or len(found) != len(texts) or not found.shape[1]:
        raise ValueError(
            f"{what} has turned {len(texts)} texts into shape {found.shape}, expected ({len(texts)}, n_columns)."
        )
    if width is not None and found.shape[1] != width:
        raise ValueError(f"{what} gives rows of {found.shape[1]} numbers, but has given rows of {width} before.")
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.ascontiguousarray(found, np.float32)
    is_sound = np.isfinite(found).all(axis=1)
    if not is_sound.all():
        text = texts[int(np.flatnonzero(~is_sound)[0])]
        raise ValueError(f"{what} gives NaN, infinity or too large a number for the text {brief(text)}.")
    return found


def _as_array(rows: object) -> object:
    """A tensor of PyTorch on any device as an array; anything else as it is."""
    if hasattr(rows, "detach") and hasattr(rows, "cpu"):
        return rows.detach().cpu().float().numpy()  # NumPy has no bfloat16
    return rows
