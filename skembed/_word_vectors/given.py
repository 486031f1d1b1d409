"""Word vectors given by the user: read at fit, shared by clones, pickled once."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from .._base.coverage import check_given, check_kept, known_share
from .._corpus.corpus import SentenceCorpus
from .._training.learned_arrays import accumulator_of
from .common_components import CommonComponents
from .join import counts_of, join_word_vectors, learn_sources
from .read import is_table, read_source

_SHARED = "_shares_its_vectors"  # pickle key if only the parameter has the vectors; True if it is the same array


class GivenVectors(CommonComponents):
    """Base of an estimator with the parameter `word_vectors`."""

    word_vectors: Any
    n_components: int
    whiten: bool
    n_jobs: int | None
    random_state: Any

    def _take_given(self, corpus: SentenceCorpus, *, fresh: bool) -> None:
        """Read the given vectors and find common components; the estimator changes only on success."""
        model = copy(self)
        if fresh:
            model._take_word_vectors(corpus)
        else:
            check_kept(self, corpus)
        model._remove_components(corpus, fresh=fresh)
        self.__dict__ = model.__dict__

    def _take_word_vectors(self, corpus: SentenceCorpus) -> None:
        if _are_several(self.word_vectors):
            sources = learn_sources(self.word_vectors, corpus, self.random_state, self.n_jobs)
            words, vectors, _ = join_word_vectors(sources, corpus, self.n_components, whiten=self.whiten)
        else:
            words, vectors, _ = read_source(self.word_vectors)
            check_given(corpus, words)
        vocabulary = {word: row for row, word in enumerate(words)}
        fitted = self._word_weights(corpus, vocabulary) | {
            "vocabulary_": vocabulary,
            "word_counts_": counts_of(words, corpus),
            "coverage_": known_share(corpus, words),
            "word_vectors_": vectors,
            "n_features_out_": vectors.shape[1],
            "n_iter_": 0,
            "loss_curve_": [],
            "validation_loss_curve_": [],
            "_tokenizer": corpus.tokenizer,
            "_unknown_length": self._length_of_unknown(vectors),
            "_n_tokens": corpus.n_tokens,
        }
        for name in ("_layout", "target_vectors_", *map(accumulator_of, ("word_vectors_", "target_vectors_"))):
            self.__dict__.pop(name, None)  # of learned vectors: no warm start may use them
        for name, value in fitted.items():
            setattr(self, name, value)

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters but share the given vectors, which `clone` would otherwise copy for every fold."""
        if getattr(self, "word_vectors", None) is None:
            return super().__sklearn_clone__()
        bare = copy(self)
        bare.word_vectors = None
        cloned = super(GivenVectors, bare).__sklearn_clone__()
        cloned.word_vectors = _cloned(self.word_vectors)
        return cloned

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


def _are_several(source: Any) -> bool:
    return isinstance(source, (list, tuple)) and not is_table(source)


def _cloned(source: Any) -> Any:
    """Return a source for a clone: estimators are cloned, everything else is shared."""
    if _are_several(source):
        return type(source)(map(_cloned, source))
    return clone(source) if hasattr(source, "get_params") and not isinstance(source, type) else source


def _holds(source: Any, vectors: np.ndarray) -> bool:
    """Whether a parameter, not a path or a list, has exactly these vectors."""
    if source is None or isinstance(source, str) or hasattr(source, "__fspath__") or _are_several(source):
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
