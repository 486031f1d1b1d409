"""Word vectors to start learning from: of a fitted model as it sums them, or given."""

from __future__ import annotations

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from .._base.pooled import PooledVectorizer
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._text.tokenizer import Tokenizer
from .read import read_source
from .sources import is_unfitted


class Start(NamedTuple):
    """Words and vectors to start from."""

    words: list[str]
    vectors: np.ndarray  # (n_words, n_components) float32
    length_of_unknown: float  # of a hashed vector


def tokenizer_of(init: Any) -> Tokenizer | None:
    """How the words of a model were made, where it is a fitted one of this package."""
    return getattr(_model_of(init), "_tokenizer", None) if isinstance(_model_of(init), PooledVectorizer) else None


def read_start(init: Any) -> Start:
    """Read the vectors of a model as it sums them, word weights included, or given vectors.

    Raises
    ------
    NotFittedError
        If it is a model that has not learned.
    """
    if is_unfitted(init):
        raise NotFittedError(
            f"init is a {type(init).__name__} that is not fitted. Fit it first. Cross-validation clones estimators, "
            "which makes them forget: give init=FrozenEstimator(model), of sklearn.frozen."
        )
    model = _model_of(init)
    if not isinstance(model, PooledVectorizer):
        words, vectors, _ = read_source(model)
        return Start(words, vectors, float(np.median(row_norms(vectors))))
    model = copy(model)  # a snapshot: another thread may fit it
    n_words = len(model.vocabulary_)
    vectors = model._summed_vectors[:n_words] * model.word_weights_[:n_words, None]
    length = float(model._unknown_length * model._unknown_weight)
    return Start(list(model.vocabulary_), np.ascontiguousarray(vectors, np.float32), length)


def with_new_words(start: Start, corpus: SentenceCorpus, n_kept: int) -> tuple[list[str], np.ndarray]:
    """Words and vectors of a start, and of the first ``n_kept`` words of a corpus that it lacks.

    A new word starts as it counts while it is unknown: a random direction that depends on its text.
    """
    known = set(start.words)
    new = [word for word in corpus.vocabulary.words[:n_kept] if word not in known]
    if not new:
        return start.words, start.vectors
    vectors = hash_vectors(new, start.vectors.shape[1])
    vectors *= np.float32(start.length_of_unknown)
    return start.words + new, np.concatenate([start.vectors, vectors])


def _model_of(init: Any) -> Any:
    return init.estimator if isinstance(init, FrozenEstimator) else init
