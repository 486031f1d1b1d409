"""Base of the estimators with the parameter `word_vectors`: shared by clones, pickled once."""

from __future__ import annotations

import warnings
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from .._base.coverage import known_fraction
from .._base.pooled import PooledVectorizer
from .._base.showing import ShortReprMixin
from .._corpus.corpus import SentenceCorpus
from .._validation.limits import integers
from .join import counts_of
from .read import is_table, read_source
from .sources import cloned, is_list, needs_order_for

_SHARED = "_shares_its_vectors"  # pickle key if only the parameter has the vectors; True if it is the same array


class GivenVectors(ShortReprMixin, PooledVectorizer):
    """Base of the estimators with the parameter `word_vectors`."""

    _parameter_constraints: dict[str, Any] = {
        "word_vectors": "no_validation",  # checked when they are read
        "n_components": [integers(1)],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    word_vectors: Any
    n_components: Any
    n_jobs: int | None
    random_state: Any

    _source_option = "word_vectors"

    @property
    def _needs_order_for(self) -> str | None:
        return needs_order_for(self.word_vectors)

    def _take(self, corpus: SentenceCorpus, words: list[str], vectors: np.ndarray) -> None:
        """Set the fitted attributes that follow from word vectors and a text."""
        vocabulary = {word: row for row, word in enumerate(words)}
        fitted = self._word_weights(corpus, {"vocabulary_": vocabulary}) | {
            "vocabulary_": vocabulary,
            "word_counts_": counts_of(words, corpus),
            "coverage_": known_fraction(corpus, words),
            "word_vectors_": vectors,
            "n_features_out_": vectors.shape[1],
            "_tokenizer": corpus.tokenizer,
            "_unknown_length": self._length_of_unknown(vectors),
            "_n_tokens": corpus.n_tokens,
        }
        self.__dict__.update(fitted)

    def _commit_from(self, model: Any) -> Any:
        """Take over what a copy has learned: the estimator changes only if all succeeds."""
        params = model.get_params(deep=False)
        self._commit({name: value for name, value in vars(model).items() if name not in params})
        return self

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters but share the given vectors, which `clone` would otherwise copy for every fold."""
        bare = copy(self)
        bare.word_vectors = None
        clone = super(GivenVectors, bare).__sklearn_clone__()
        clone.word_vectors = cloned(getattr(self, "word_vectors", None))
        return clone

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the vectors if they can be read from the parameter again."""
        state = dict(super().__getstate__())
        if "word_vectors_" in state and _holds(state.get("word_vectors"), state["word_vectors_"]):
            state[_SHARED] = not state.pop("word_vectors_").flags.writeable
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if _SHARED in state:
            source = state["word_vectors"]
            if state.pop(_SHARED) and is_table(source):
                source[1].flags.writeable = False  # a pickle does not keep this flag
            state["word_vectors_"] = _read_quietly(source)
        super().__setstate__(state)


def _holds(source: Any, vectors: np.ndarray) -> bool:
    """Whether a parameter, not a path or a list, has exactly these vectors."""
    if source is None or isinstance(source, str) or hasattr(source, "__fspath__") or is_list(source):
        return False
    try:
        found = _read_quietly(source)
    except (TypeError, ValueError, AttributeError):  # changed after the fit, or never a valid source
        return False
    return found is vectors or (found.shape == vectors.shape and found.tobytes() == vectors.tobytes())


def _read_quietly(source: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit has warned
        return read_source(source)[1]
