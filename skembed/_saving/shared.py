"""A saved model in the processes of a cluster: known by path and digest, loaded once in each process."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from .._base.text import TextEstimator
from .._validation.columns import Sentences
from .._validation.messages import brief
from .._validation.values import PathLike, user_path
from .folder import load_with_digest, read_digest, save

_MOST_LOADED = 4  # models that a process keeps


class SavedModel(NamedTuple):
    """A folder that :func:`save` wrote, as it was when it was first seen: small to pickle."""

    path: str
    digest: str
    token_pattern: str | None

    @classmethod
    def of(
        cls, model: BaseEstimator | PathLike, folder: PathLike | None = None, token_pattern: str | None = None
    ) -> SavedModel:
        """Return the model at a path, or save an estimator to a folder: None means one that goes with this process."""
        if isinstance(model, (str, os.PathLike)):
            path = user_path(model)
        elif not isinstance(model, TextEstimator):
            raise TypeError(
                f"model must be an estimator of skembed, or the path of a folder that skembed.save wrote, got "
                f"{brief(model)}."
            )
        else:
            if folder is None:
                folder = tempfile.mkdtemp(prefix="skembed-model-")
                atexit.register(shutil.rmtree, folder, ignore_errors=True)
            save(model, folder, inference_only=True)
            path, token_pattern = user_path(folder), model._state.tokenizer.token_pattern
        return cls(os.path.abspath(path), read_digest(path), token_pattern)

    def load(self) -> Any:
        """Return the estimator, memory-mapped, with one thread; a process loads it once."""
        with _LOADING:
            if self not in _LOADED:
                model = self._load()
                while len(_LOADED) >= _MOST_LOADED:
                    del _LOADED[next(iter(_LOADED))]
                _LOADED[self] = model
            return _LOADED[self]

    def check_dense(self) -> None:
        """Raise a ValueError if the rows of the model are sparse."""
        model = self.load()
        if issparse(model.transform([])):
            raise ValueError(f"{brief(model)} has sparse rows, which do not fit into a column or table of vectors.")

    def vectors(self, sentences: Sentences) -> np.ndarray:
        """Return the dense rows of sentences, whatever `transform_output` scikit-learn is set to."""
        return np.asarray(self.load().transform(sentences))

    def _load(self) -> Any:
        try:
            model, digest = load_with_digest(self.path, mmap=True, token_pattern=self.token_pattern)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"A process finds no model at {self.path}. Save it to a folder that this process and all workers see "
                "under one name, and pass that path."
            ) from None
        if digest != self.digest:
            raise ValueError(f"Another model was saved to {self.path} meanwhile. Its vectors do not fit: begin again.")
        model.n_jobs = 1  # the processes share the cores already
        return model


_LOADED: dict[SavedModel, Any] = {}
_LOADING = Lock()
