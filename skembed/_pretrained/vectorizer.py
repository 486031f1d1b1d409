"""Any pretrained model as an estimator: `PretrainedVectorizer`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._base.scikit_learn import ReadsText, ShortReprMixin, fit_context
from .._corpus.input import list_of_texts
from .._validation.columns import Labels, Sentences
from .._validation.constraints import Constraints, integers
from .._validation.values import PathLike, user_path
from .identity import PROBES, Identity
from .models import PretrainedModel, caller_of, checked_rows, is_path, name_of
from .stores import Store, key_of, store_of

_MANY = 100  # texts to embed, from which on the model is asked again whether it is still the same
_OF_PROCESS = ("_call", "_is_known")  # attributes: the opened model, and that it was asked for its rows
_PAUSE = 5.0  # seconds between two lines of progress


class PretrainedVectorizer(ShortReprMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ReadsText):
    """Rows of a model that somebody else has trained: any model as a transformer of texts.

    It is what :class:`TextVectorizer` and :class:`SearchIndex` make of their parameter `pretrained`. Pass it there
    instead of the model to set its options. `fit` learns nothing.

    Parameters
    ----------
    model : path, object, callable or mapping
        The model, in one of four forms:

        - the path of a folder of model2vec, of sentence-transformers with a StaticEmbedding or of
          :func:`skembed.save`, of a binary model of fastText or sent2vec, or of a file of word vectors, whose rows are
          means of words;
        - an object with `encode`, such as a SentenceTransformer, or `transform`, such as a fitted pipeline;
        - a function that turns a list of texts into an array with a row for each;
        - a mapping of text to row: rows that were computed before.

        Clones share it. Nothing is downloaded.
    cache : "memory", path or None, default="memory"
        Where rows are kept, so that no text is embedded twice by one model. "memory" is for this process, up to 256 MB,
        without models that are named by a path, which are fast. The path of a folder is for any process. None keeps
        nothing.
    batch_size : int, default=1000
        Number of texts that the model gets at once, at most. The cache keeps their rows after each batch.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing text (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    verbose : int, default=0
        With 1, a long `transform` prints a line every five seconds: texts embedded, texts a second, time left.

    Attributes
    ----------
    n_features_out_ : int
        Number of columns.

    See Also
    --------
    TextVectorizer : Weighs these rows beside tf-idf and what is learned from own text.
    skembed.formats.import_model : Opens a folder as an estimator of this package.

    Notes
    -----
    *A model is known* by its rows of four fixed sentences. `fit` asks for them, and so do the first `transform` of a
    process and each `transform` of 100 new texts or more. There is an error if they have moved by more than a twentieth
    of their length, as in training mode. The cache tells models apart by them too, within a two-hundredth. What they do
    not show, such as another limit on the length of texts, is not noticed: choose another folder, or ``cache=None``.

    *The cache* in a folder is one SQLite file of digests of texts and their rows, without text, for any number of
    processes. Delete it at any time.

    *Saved folders* hold the path or the name of a model, never the model. Where it is no path, pass it to
    :func:`skembed.load` again. Pickles hold the model.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed import PretrainedVectorizer
    >>> def lengths(texts):
    ...     return np.array([[len(text), text.count(" ")] for text in texts])
    >>> PretrainedVectorizer(lengths).fit_transform(["a cat", "a small cat"])
    array([[ 5.,  1.],
           [11.,  2.]], dtype=float32)
    """

    _identity: Identity
    n_features_out_: int

    _parameter_constraints: Constraints = {
        "model": "no_validation",  # `fit` says what it may be
        "cache": [str, os.PathLike, None],
        "batch_size": [integers(1)],
        "missing": [StrOptions({"error", "empty"})],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        model: PretrainedModel,
        *,
        cache: PathLike | None = "memory",
        batch_size: int = 1000,
        missing: str = "error",
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.cache = cache
        self.batch_size = batch_size
        self.missing = missing
        self.verbose = verbose

    @fit_context
    def fit(self, X: Sentences | None = None, y: Labels = None) -> Self:
        """Open the model, and ask it for a few rows.

        Parameters
        ----------
        X : ignored
            Not used, present by convention.
        y : ignored
            Not used, present by convention.

        Returns
        -------
        self : PretrainedVectorizer
            The estimator.

        Raises
        ------
        FileNotFoundError
            If the model is a path and there is nothing.
        TypeError
            If it is none of what `model` may be, or gives no rows of numbers.
        ValueError
            If a folder cannot be read, or the rows of the model are not sound.
        """
        if self.cache is not None and self.cache != "memory":
            user_path(self.cache)  # which refuses a URL before the model is asked
        self._forget()
        self._identity = self._found_identity()
        self.n_features_out_ = self._identity.width
        self._is_known = True
        return self

    def transform(self, X: Sentences) -> NDArray[np.float32]:
        """Return the rows of the model.

        Parameters
        ----------
        X : iterable of str, SentenceCorpus, or table of one column
            Texts.

        Returns
        -------
        X_new : ndarray of shape (n_texts, n_features_out), dtype float32
            The rows, as long as the model makes them.

        Raises
        ------
        TypeError
            If a text is no string, or the model gives no rows of numbers.
        ValueError
            If it gives rows of another length than in `fit`, too few rows or NaN; if it is another model than in
            `fit`; or if precomputed rows lack a text.
        """
        check_is_fitted(self)
        texts = list_of_texts(X, "X", missing=self.missing)
        keys = [key_of(text) for text in texts]
        number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        rows = np.zeros((len(number), self.n_features_out_), np.float32)
        store = store_of(self.cache, self._identity, is_fast=is_path(self.model))
        known = {} if store is None else store.get(list(number))
        for key, row in known.items():
            rows[number[key]] = row
        self._embed_new({key: text for key, text in zip(keys, texts) if key not in known}, number, rows, store)
        return rows if len(rows) == len(texts) else rows[[number[key] for key in keys]]

    def _embed_new(
        self, new: dict[bytes, str], number: dict[bytes, int], rows: np.ndarray, store: Store | None
    ) -> None:
        """Write the rows of texts that are not known, some at a time, to `rows` and to the store."""
        if len(new) >= _MANY or (new and not getattr(self, "_is_known", False)):
            self._check_identity()
        keys = list(new)
        began = shown = time.perf_counter()
        for first in range(0, len(keys), self.batch_size):
            part = keys[first : first + self.batch_size]
            found = self._embed([new[key] for key in part], self.n_features_out_)
            rows[[number[key] for key in part]] = found
            if store is not None:
                store.put(dict(zip(part, found)))
            now = time.perf_counter()
            if self.verbose and now - shown > _PAUSE:
                self._show(first + len(part), len(keys), now - began)
                shown = now

    def _embed(self, texts: list[str], width: int | None) -> np.ndarray:
        call = self.__dict__.get("_call")
        if call is None:
            call = self._call = caller_of(self.model)
        return checked_rows(call(list(texts)), texts, width, name_of(self.model))  # a model may change its list

    def _found_identity(self) -> Identity:
        model, name = self.model, name_of(self.model)
        if isinstance(model, Mapping):
            if not model:
                raise ValueError("The mapping of precomputed rows is empty.")
            return Identity(name, self._embed([next(iter(model))], None).shape[1], None)
        try:
            probes = self._embed(PROBES, None)
        except (KeyError, IndexError) as error:
            error.add_note(
                "A pretrained model is asked for four sentences first, to know it again. If this one only looks up "
                "rows, pass these as a mapping of text to row."
            )
            raise
        return Identity(name, probes.shape[1], probes)

    def _check_identity(self) -> None:
        if self._identity.probes is not None:
            probes = self._embed(PROBES, self.n_features_out_)
            if not self._identity.is_same(probes):
                raise ValueError(
                    f"The pretrained model {name_of(self.model)} gives other rows than at first, when it was "
                    f"{self._identity.name}. If it is another model, fit again. If it has dropout, call model.eval()."
                )
        self._is_known = True

    def _show(self, n_done: int, n_texts: int, seconds: float) -> None:
        speed = n_done / seconds
        left = (n_texts - n_done) / speed
        line = f"{n_done:,} of {n_texts:,} texts, {speed:,.0f} a second, {left:.0f} s left"
        with suppress(OSError, ValueError):  # a closed standard output does not stop the work
            print(f"[{type(self).__name__}] {line}", flush=True)

    @property
    def _n_features_out(self) -> int:  # for scikit-learn's mixin
        return self.n_features_out_

    def _forget(self) -> None:
        """Drop what belongs to this process: the opened model, and that it was asked."""
        for name in _OF_PROCESS:
            self.__dict__.pop(name, None)

    def __getstate__(self) -> dict[str, object]:
        state: dict[str, object] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _OF_PROCESS}

    def __sklearn_clone__(self) -> Self:
        """Share the model."""
        return type(self)(**self.get_params(deep=False))
