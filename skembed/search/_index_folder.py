"""An index as a folder: written, and opened, which checks it before a kernel uses one of its arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np

from .._compiled.arrays import read_only_view
from .._compiled.rows import padded
from .._pretrained.models import PretrainedModel
from .._pretrained.saved import MissingModelError, reopened, saved_identity, saved_parameter
from .._saving.values import ArrayStore, from_json, to_json
from .._storage.folders import FolderKind, new_folder, open_folder
from .._text.sources import decode_words
from .._text.tokenizer import Tokenizer
from .._validation.constraints import INT32_MAX
from .._validation.messages import brief
from .._validation.values import JSON, PathLike, plain
from ._bm25 import Postings, Scoring
from ._index_inspection import Fitted
from ._index_state import IndexState
from ._learned_vectors import DocumentVectors, Moments
from ._terms import Lexicon, TermReader

_ENTRIES: dict[str, type] = dict.fromkeys(("parameters", "tokenizer", "scoring", "pretrained"), dict)
_KIND = FolderKind("search index", "index.json", _ENTRIES | {"n_fitted": int})
_CHUNK = 1 << 14  # rows of vectors that are checked at a time

_DTYPES = {
    "terms": ("uint8", 1),
    "terms_ptr": ("int64", 1),
    "terms_order": ("int32", 1),
    "tokens": ("int32", 1),
    "token_ptr": ("int64", 1),
    "is_alive": ("uint8", 1),
    "posting_ptr": ("int64", 1),
    "posting_docs": ("int32", 1),
    "posting_weights": ("float32", 1),
    "rows_of_terms": ("int32", 1),
    "word_vectors": ("float32", 2),
    "document_vectors": ("float32", 2),
    "vector_total": ("float64", 1),
    "vector_products": ("float64", 2),
    "field_weights": ("float64", 1),
}
_PROBES = "pretrained_probes"  # only of an index with a pretrained model
_TEXT = {"text": ("uint8", 1), "text_ptr": ("int64", 1)}  # only where the text is kept


class IndexSaving:
    """Adds to an index how it is saved and loaded."""

    _fitted: Fitted

    def save(self: Any, path: PathLike) -> dict[str, int]:
        """Save the index as a folder that holds no code.

        An index that is saved there is replaced in one step: whoever reads finds the old one or the new one, also if
        the computer stops meanwhile.

        Parameters
        ----------
        path : str or path-like
            Name of the folder.

        Returns
        -------
        sizes : dict of str to int
            Bytes: "written".

        Raises
        ------
        TypeError
            If a parameter is code, such as a callable `stemmer`. Pickle such an index.
        FileExistsError
            If `path` exists and is no saved index.
        OSError
            If the folder cannot be written; then what was at `path` is still there.
        ValueError
            If `path` is a URL.
        """
        state, reader, model = self._checked()
        parameters = self.get_params(deep=False)
        parameters["pretrained"] = saved_parameter(parameters["pretrained"])
        of_model, probes = ({}, None) if model is None else saved_identity(model)
        entries = {
            "parameters": {name: _as_json(name, value) for name, value in parameters.items()},
            "tokenizer": {name: _as_json(name, value) for name, value in reader.options.items()},
            "scoring": {"k1": float(state.scoring.k1), "b": float(state.scoring.b)},
            "n_fitted": state.n_fitted,
            "pretrained": of_model,
        }
        with new_folder(path, _KIND) as new:
            return {"written": new.write(entries, _arrays_of(state) | ({} if probes is None else {_PROBES: probes}))}

    @classmethod
    def load(cls, path: PathLike, *, mmap: bool = False, pretrained: PretrainedModel | None = None) -> Self:
        """Load an index that `save` wrote. No code of the folder runs, and all of it is checked first.

        Parameters
        ----------
        path : str or path-like
            Name of the folder.
        mmap : bool, default=False
            Whether to map the arrays into memory, so that several processes share them. Do not change the folder while
            the index is in use; `save` under the same name does no harm.
        pretrained : path, object, callable, mapping, PretrainedVectorizer or None, default=None
            The pretrained model of the index, if it was given as an object, or its path has changed.

        Returns
        -------
        index : SearchIndex
            The index. It gives the same bits as the saved one.

        Raises
        ------
        FileNotFoundError
            If there is nothing at `path`.
        ValueError
            If it is no saved index, is damaged or was written in a newer format; `path` is a URL; or the pretrained
            model is missing or another one.
        """
        header, arrays, _ = open_folder(path, _KIND, mmap=mmap)
        probes, of_model = arrays.pop(_PROBES, None), header["pretrained"]
        try:
            parameters, options, scoring = (
                {name: from_json(value, {}) for name, value in header[entry].items()}
                for entry in ("parameters", "tokenizer", "scoring")
            )
            if set(options) != {"stemmer", "stop_words"} or set(scoring) != {"k1", "b"}:
                raise ValueError("settings are missing.")
            if (probes is None) != (not of_model):
                raise ValueError("the pretrained model and its rows must be there together.")
            state = _state_of(arrays, scoring, header["n_fitted"])
            index: Any = cls(**parameters)
            index._validate_params()
            reader = TermReader(**options)
            model = None if probes is None else reopened(pretrained, index.pretrained, of_model, np.array(probes))
        except MissingModelError:
            raise
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged or was not written by skembed: {error}") from None
        if probes is None and pretrained is not None:
            raise ValueError(f"The index at {path} was fitted without a pretrained model. Fit it with one.")
        index.pretrained = index.pretrained if pretrained is None else pretrained
        index._fitted = Fitted(state, reader, model)
        return index


def _as_json(name: str, value: Any) -> JSON:
    if name == "stop_words" and not isinstance(value, (str, list, tuple, set, frozenset)):
        value = Tokenizer(stop_words=value).stop_words
    if name == "random_state" and isinstance(value, np.random.RandomState):
        raise TypeError("random_state is a RandomState, which a folder cannot hold. Set it to None or an int.")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return to_json(plain(value), name, ArrayStore())


def _arrays_of(state: IndexState) -> dict[str, np.ndarray]:
    lexicon, postings, documents = state.lexicon, state.postings, state.documents
    arrays = (
        *(lexicon.text, lexicon.ptr, lexicon.order, state.tokens, state.token_ptr, state.is_alive.view(np.uint8)),
        *(postings.ptr, postings.docs, postings.weights, state.rows_of_terms, state.word_vectors, documents.vectors),
        *(*documents.moments, state.scoring.field_weights),
    )
    return dict(zip(_DTYPES, arrays, strict=True)) | dict(zip(_TEXT, state.text or ()))


def _state_of(arrays: dict[str, np.ndarray], scoring: dict[str, float], n_fitted: int) -> IndexState:
    """Return the state that arrays hold; a ValueError says what is wrong."""
    wanted = _DTYPES | (_TEXT if set(_TEXT) & set(arrays) else {})
    if set(arrays) != set(wanted):
        raise ValueError(f"it has the arrays {brief(sorted(arrays))}.")
    for name, (dtype, n_axes) in wanted.items():
        if arrays[name].dtype != dtype or arrays[name].ndim != n_axes:
            raise ValueError(f"{name} is {brief(arrays[name])} of {arrays[name].dtype}.")
    found = {name: read_only_view(array) for name, array in arrays.items()}
    _check_settings(found, scoring)
    _check_documents(found, n_fitted)
    _check_vectors(found)
    text = (found["text"], found["text_ptr"]) if "text" in found else None
    n_alive = int(np.count_nonzero(found["is_alive"]))
    moments = Moments(found["vector_total"], found["vector_products"])
    return IndexState(
        Scoring(scoring["k1"], scoring["b"], found["field_weights"]),
        Lexicon(found["terms"], found["terms_ptr"], found["terms_order"]),
        found["tokens"],
        found["token_ptr"],
        found["is_alive"].view(bool),
        Postings(found["posting_ptr"], found["posting_docs"], found["posting_weights"]),
        found["rows_of_terms"],
        found["word_vectors"],
        DocumentVectors.of(found["document_vectors"], moments, n_alive, found["word_vectors"].shape[1]),
        n_alive,
        n_fitted,
        text,
    )


def _check_settings(arrays: dict[str, np.ndarray], scoring: dict[str, float]) -> None:
    if not all(type(value) is float and 0 <= value < np.inf for value in scoring.values()) or scoring["b"] > 1:
        raise ValueError(f"k1 and b are {brief(scoring)}.")
    weights = arrays["field_weights"]
    if not len(weights) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("field_weights must be numbers of at least 0.")


def _check_documents(arrays: dict[str, np.ndarray], n_fitted: int) -> None:
    n_rows, n_terms = len(arrays["is_alive"]), len(arrays["terms_order"])
    n_texts = n_rows * len(arrays["field_weights"])
    if not 0 <= n_fitted <= n_rows <= INT32_MAX:
        raise ValueError(f"{n_fitted} of {n_rows} documents are of the fit.")
    ranges = {"terms_order": (0, n_terms), "is_alive": (0, 2), "tokens": (0, n_terms), "posting_docs": (0, n_rows)}
    ranges["rows_of_terms"] = -1, len(arrays["word_vectors"])
    for name, (least, end) in ranges.items():
        values = arrays[name]
        if len(values) and not (least <= values.min() and values.max() < end):
            raise ValueError(f"{name} must be from {least} to {end - 1}.")
    parts = {"terms": n_terms, "tokens": n_texts, "posting_docs": n_terms, "text": n_texts}
    for (name, n), name_of_ptr in zip(parts.items(), ("terms_ptr", "token_ptr", "posting_ptr", "text_ptr")):
        if name in arrays:
            ptr, last = arrays[name_of_ptr], len(arrays[name])
            if len(ptr) != n + 1 or ptr[0] != 0 or ptr[-1] != last or (ptr[1:] < ptr[:-1]).any():
                raise ValueError(f"{name_of_ptr} must rise from 0 to {last} in {n + 1} numbers.")
    terms = decode_words(arrays["terms"], arrays["terms_ptr"])
    if not all(before < after for before, after in pairwise(terms[row] for row in arrays["terms_order"].tolist())):
        raise ValueError("terms_order does not sort the terms.")
    weights = arrays["posting_weights"]
    if len(weights) != len(arrays["posting_docs"]) or not (0 <= weights.min(initial=0) <= weights.max(initial=0) <= 1):
        raise ValueError("posting_weights must be numbers from 0 to 1, one for each of posting_docs.")
    if "text" in arrays:
        arrays["text"].tobytes().decode("utf-8", "surrogatepass")


def _check_vectors(arrays: dict[str, np.ndarray]) -> None:
    words, documents = arrays["word_vectors"], arrays["document_vectors"]
    n_learned, width = words.shape[1], documents.shape[1]
    total, products = arrays["vector_total"], arrays["vector_products"]
    sizes = (documents.shape, total.shape, products.shape, arrays["rows_of_terms"].shape)
    expected = ((len(arrays["is_alive"]), width), (width,), (width, width), (len(arrays["terms_order"]),))
    if n_learned != padded(n_learned) or width != padded(width) or width < n_learned or sizes != expected:
        raise ValueError(f"the vectors have the sizes {sizes}, expected {expected}.")
    for name in ("word_vectors", "vector_total", "vector_products"):
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"{name} has a number that is not finite.")
    for first in range(0, len(documents), _CHUNK):
        for part in np.split(documents[first : first + _CHUNK], [n_learned], axis=1):
            if not (np.einsum("ij,ij->i", part, part) < 1.0001).all():
                raise ValueError("document_vectors must have the length one or zero.")
