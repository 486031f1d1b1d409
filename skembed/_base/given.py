"""Base of the estimators with the parameter `word_vectors`: shared by clones, pickled once."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from .._corpus.corpus import SentenceCorpus
from .._training.learned_arrays import ArrayRecord
from .._training.state import FittedState
from .._validation.values import integers
from .._word_vectors.matches import counts_of, known_fraction
from .._word_vectors.read import is_table, read_source
from .pooled import PooledVectorizer
from .showing import ShortReprMixin
from .sources import cloned, is_list, needs_order_for


class GivenVectors(ShortReprMixin, PooledVectorizer):
    """Base of the estimators with the parameter `word_vectors`."""

    _parameter_constraints: dict[str, Any] = {
        **PooledVectorizer._parameter_constraints,
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

    def _taken(self, corpus: SentenceCorpus, words: list[str], vectors: np.ndarray) -> Any:
        """The state of an estimator with these vectors of words, and what follows from a text."""
        state = replace(
            type(self)._state,
            vocabulary_={word: row for row, word in enumerate(words)},
            word_counts_=counts_of(words, corpus),
            coverage_=known_fraction(corpus, words),
            n_features_out_=vectors.shape[1],
            tokenizer=corpus.tokenizer,
            unknown_length=self._length_of_unknown(vectors),
            n_tokens=corpus.n_tokens,
            arrays={"word_vectors_": vectors},
        )
        return self._text_statistics(corpus, state)

    def _derived_arrays(self, state: Any) -> list[ArrayRecord]:
        shape = len(state.vocabulary_), state.n_features_out_
        return [ArrayRecord("word_vectors_", shape, axis_of_words=0)]

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters but share the given vectors, which `clone` would otherwise copy for every fold."""
        bare = copy(self)
        bare.word_vectors = None
        clone = super(GivenVectors, bare).__sklearn_clone__()
        clone.word_vectors = cloned(getattr(self, "word_vectors", None))
        return clone

    def _stored(self, state: Any) -> FittedState:
        """Leave out the vectors if they can be read from the parameter again."""
        state = super()._stored(state)
        vectors = state.arrays.get("word_vectors_")
        return state.without("word_vectors_") if vectors is not None and _holds(self.word_vectors, vectors) else state

    def _restored(self, state: Any) -> FittedState:
        if "word_vectors_" not in state.arrays:
            source = self.word_vectors
            if is_table(source) and isinstance(source[1], np.ndarray):
                source[1].flags.writeable = False  # so that it is not copied; a pickle does not keep this flag
            state = state.with_arrays({"word_vectors_": _read_quietly(source)})
        return super()._restored(state)


def _holds(source: Any, vectors: np.ndarray) -> bool:
    """Whether a parameter, not a path or a list, has exactly these vectors."""
    if source is None or isinstance(source, str) or hasattr(source, "__fspath__") or is_list(source):
        return False
    try:
        found = _read_quietly(source)
    except (TypeError, ValueError, AttributeError):  # changed after the fit, or never a valid source
        return False
    return _is_same(found, vectors) or (found.shape == vectors.shape and found.tobytes() == vectors.tobytes())


def _is_same(array: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are the same memory."""
    one, two = (each.__array_interface__ for each in (array, other))
    return one["data"][0] == two["data"][0] and all(one[key] == two[key] for key in ("shape", "strides", "typestr"))


def _read_quietly(source: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit has warned
        return read_source(source)[1]
