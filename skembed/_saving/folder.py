"""A fitted estimator as a folder: its arrays as safetensors, everything else as JSON."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._meta_estimators.text_vectorizer import TextVectorizer
from .._pretrained.models import PretrainedModel
from .._pretrained.saved import MissingModelError
from .._storage.folders import FolderKind, new_folder, open_folder, read_header
from .._text.tokenizer import RefusedPatternError
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from .blocks import blocks_of, describe_blocks
from .card import card_of
from .header import ENTRY_TYPES, class_of, describe_model, model_of, names_of_estimators
from .packing import PACKED_DTYPES, packed, unpacked

_CARD = "README.md"
_KIND = FolderKind("model", "model.json", ENTRY_TYPES, texts=(_CARD,))


def save(
    estimator: BaseEstimator, path: PathLike, *, inference_only: bool = False, dtype: str = "float32"
) -> dict[str, int]:
    """Save a fitted estimator as a folder that holds no code.

    The folder has the file ``model.json``, the arrays that it names as safetensors, and a card for people,
    ``README.md``. A model that is there already is replaced in one step: a reader finds the old or the new one.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this package. What only a new fit reads is left out: `init`, `corpus`, `embedding`,
        `expand_with`, given `word_vectors`; set `expand_with` again before you learn on. Settings of a pipeline, such
        as `set_output`, are left out too. Of the `pretrained` model of a :class:`TextVectorizer` the path or the name
        is saved. A :class:`TextVectorizer` with a transformer in `blocks` cannot be saved.
    path : str or path-like
        Name of the folder.
    inference_only : bool, default=False
        Leave out the arrays that only training needs: the folder is smaller, and the loaded model transforms as this
        one does, but `partial_fit` and `warm_start` raise an error.
    dtype : {"float32", "float16", "int8"}, default="float32"
        How the vectors of words are stored: as they are, or, with ``inference_only=True``, rounded to 16 or 8 bits.
        They are float32 again when they are loaded.

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
        If its parameters or fitted attributes contradict each other, a number is not finite, or too large for `dtype`,
        or `path` is a URL: save to a local folder and copy that.
    OSError
        If `path` is something else than a saved model, or cannot be written; what was there still is.

    See Also
    --------
    load : Open the folder.

    Examples
    --------
    >>> import tempfile, skembed
    >>> emb = skembed.CBOSVectorizer(n_components=20, random_state=0).fit(
    ...     ["A cat sleeps.", "It dreams."] * 50
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sizes = skembed.save(emb, f"{folder}/model")
    ...     back = skembed.load(f"{folder}/model")
    >>> bool((back.transform(["a cat"]) == emb.transform(["a cat"])).all())
    True
    """
    has_blocks = type(estimator) is TextVectorizer
    if not has_blocks and class_of(type(estimator).__name__) is not type(estimator):
        names = ", ".join([TextVectorizer.__name__, *names_of_estimators()])
        advice = "Call its method save" if hasattr(estimator, "save") else "Save it with joblib or skops"
        raise TypeError(
            f"{advice}: {brief(estimator)} is none of what a folder holds, one vectorizer, such as the step of a "
            f"pipeline: {names}."
        )
    check_is_fitted(estimator)
    if dtype not in PACKED_DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(PACKED_DTYPES)}, got {brief(dtype)}.")
    if dtype != "float32" and not inference_only:
        raise ValueError(
            f"dtype={dtype!r} stores rounded vectors, from which training does not go on. Set inference_only=True."
        )
    describe = describe_blocks if has_blocks else describe_model
    model = describe(estimator, inference_only=inference_only)
    arrays = packed(model.arrays, dtype, model.axes)
    card = card_of(estimator, inference_only=inference_only, dtype=dtype, left_out=model.left_out)
    with new_folder(path, _KIND) as new:
        written = new.write(model.entries, arrays, {_CARD: card})
    return {"written": written, "left_out": model.left_out}


def load(
    path: PathLike, *, mmap: bool = False, token_pattern: str | None = None, pretrained: PretrainedModel | None = None
) -> Any:
    """Load an estimator that :func:`save` wrote.

    No code of the folder runs, and all that it holds is checked.

    Parameters
    ----------
    path : str or path-like
        Name of the folder.
    mmap : bool, default=False
        Map the arrays into memory instead of reading them, so that several processes share them. The files must stay as
        they are while the model is in use. Rounded arrays, and those with rows of zeros, are read all the same.
    token_pattern : str or None, default=None
        The pattern of words that the model was fitted with, if it is a special one. A pattern can be made so that it
        takes very long, so one from a folder is not used unless you give it too. The error without it shows it.
    pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
        The pretrained model of a :class:`TextVectorizer`, if it was given as an object, or its path has changed.

    Returns
    -------
    estimator : estimator
        The fitted estimator. It gives the same bits as the saved one.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If it is no saved model, is damaged or was written in a newer format, and names the file; if `path` is a URL; or
        if the pretrained model of a :class:`TextVectorizer` is missing or another one.

    See Also
    --------
    save : Write the folder.

    Examples
    --------
    >>> import tempfile, skembed
    >>> emb = skembed.CBOSVectorizer(n_components=20, random_state=0).fit(
    ...     ["A cat sleeps.", "It dreams."] * 50
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sizes = skembed.save(emb, f"{folder}/model", inference_only=True)
    ...     skembed.load(f"{folder}/model").transform(["a cat"]).shape
    (1, 20)
    """
    return load_with_digest(path, mmap=mmap, token_pattern=token_pattern, pretrained=pretrained)[0]


def load_with_digest(
    path: PathLike, *, mmap: bool, token_pattern: str | None, pretrained: PretrainedModel | None = None
) -> tuple[Any, str]:
    """Return what :func:`load` returns, and the digest of its folder."""
    folder = user_path(path)
    header, stored, _ = open_folder(folder, _KIND, mmap=mmap)
    try:
        arrays = unpacked(stored)
        if header["class"] == TextVectorizer.__name__:
            return blocks_of(header, arrays, pretrained), header["digest"]
        if pretrained is not None:
            raise MissingModelError(f"{folder} is a {header['class']}, which has no pretrained model.")
        return model_of(header, arrays, token_pattern), header["digest"]
    except MissingModelError:
        raise
    except RefusedPatternError as error:
        raise ValueError(f"{folder / _KIND.header} was not loaded. {error}") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{folder / _KIND.header} is damaged or was not written by skembed: {error}") from None


def read_digest(path: PathLike) -> str:
    """Return the digest of a saved model, which says all that it is."""
    return str(read_header(path, _KIND)["digest"])
