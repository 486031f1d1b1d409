"""The parameter `init`: what it accepts, and how words and their vectors start from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._compiled.arrays import row_norms
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Tokenizer
from .._training.estimators import Learner
from .._training.learned_arrays import Start
from .._training.state import FittedState
from .._word_vectors.bag import hash_vectors
from .._word_vectors.matches import WordVectors, check_given, counts_of, known_fraction
from .pooled import PooledVectorizer
from .scikit_learn import warn_of_another_length
from .text import TextEstimator


class InitVectors(NamedTuple):
    """Words and vectors to start from."""

    words: list[str]
    vectors: np.ndarray  # (n_words, n_components) float32
    length_of_unknown: float  # of a hashed vector
    ngrams: np.ndarray | None = None  # (n_buckets, n_components) float32, the rows that n-grams share, if it has such
    ngram_range: tuple[int, ...] = (1, 1)
    model: type | None = None  # the class of a fitted model
    network: FittedState | None = None  # of a model that has learned a network beside its words

    def is_of(self, cls: type) -> bool:
        """Whether the vectors were learned by this class, whose rate their lengths serve already."""
        return self.model is not None and issubclass(cls, self.model)


def tokenizer_with_init(init: WordVectors | None, mine: Tokenizer) -> Tokenizer:
    """How words are made: as in `init`, unless an option differs from its default."""
    theirs = tokenizer_of(init)
    if theirs is None or mine == theirs:
        return mine
    if mine != Tokenizer():
        raise ValueError(
            f"init was made with {theirs.difference(mine)}, not with {mine.difference(theirs)}. Leave these "
            "options at their defaults to use those of init."
        )
    return theirs


def check_agrees_with_init(init: WordVectors | None, corpus: SentenceCorpus, name: str) -> None:
    """Raise a ValueError if a corpus was made with another tokenizer than the model to start from."""
    theirs = tokenizer_of(init)
    if theirs is not None and corpus.tokenizer != theirs:
        raise ValueError(
            f"{name} was made with {corpus.tokenizer.difference(theirs)}, init with "
            f"{theirs.difference(corpus.tokenizer)}. Build {name} with the same options."
        )


def vocabulary_with_init(estimator: Learner, corpus: SentenceCorpus, state: FittedState) -> FittedState:
    """The state with the words of `init` before those of the text that it lacks."""
    start = read_start(estimator.init)
    start = start._replace(words=corpus.tokenizer.forms_of(start.words))
    check_given(corpus, start.words, "init")
    warn_of_another_length(estimator, estimator._option_of_length, start.vectors.shape[1], "init")
    # What stands for a piece of text that the tokenizer of another program does not know is no word to learn.
    known = {*start.words, getattr(corpus.tokenizer.analyzer, "unknown", None)}
    words = start.words + [word for word in state.vocabulary_ if word not in known]
    return replace(
        state,
        vocabulary_={word: row for row, word in enumerate(words)},
        word_counts_=counts_of(words, corpus),
        coverage_=known_fraction(corpus, words),
        n_features_out_=start.vectors.shape[1],
        start=start,
        n_frozen=len(start.words) if estimator.freeze_init else 0,
    )


def check_same_start(estimator: Learner, state: FittedState) -> None:
    """Raise a ValueError if a fit would go on from another `init` than the one that it began with."""
    name, width, learned = type(estimator).__name__, _width_of(estimator.init), estimator._width_of_words(state)
    if width not in (None, learned):
        raise ValueError(
            f"init has vectors of length {width}, but this {name} has learned vectors of length {learned}. Leave init "
            "as it was to learn on, or fit a new estimator."
        )
    if bool(estimator.freeze_init) != bool(state.n_frozen):
        raise ValueError(
            f"freeze_init={estimator.freeze_init} differs from {not estimator.freeze_init}, with which {name} was "
            "fitted. Fit a new estimator, or set warm_start=False."
        )


def start_of_words(estimator: Learner, state: FittedState) -> Start:
    """Start of an array that has the words in its first rows, from `init`."""
    start: InitVectors = state.start

    def fill(array: np.ndarray, seed: int) -> None:
        n_given, words = len(start.words), list(state.vocabulary_)
        scale, wanted = np.float32(1), estimator._median_length_at_start
        if wanted is not None and not start.is_of(type(estimator)):
            scale = np.float32(wanted / median_length(start.vectors))
        np.multiply(start.vectors, scale, out=array[:n_given])
        if len(words) > n_given:
            new = hash_vectors(words[n_given:], start.vectors.shape[1])
            np.multiply(new, scale * np.float32(start.length_of_unknown), out=array[n_given : len(words)])
        rows = array[len(words) :]
        if (
            start.ngrams is not None
            and start.ngrams.shape == rows.shape
            and start.ngram_range == tuple(estimator.ngram_range)
        ):
            np.multiply(start.ngrams, scale, out=rows)  # words keep their rows, so n-grams of them do too

    return fill


def is_unfitted(source: object) -> bool:
    """Whether this is an estimator that has yet to learn."""
    if not hasattr(source, "fit") or isinstance(source, type):
        return False
    try:
        check_is_fitted(source)
    except NotFittedError:
        return True
    return False


def tokenizer_of(init: WordVectors | None) -> Tokenizer | None:
    """How the words of a model were made, where it is a fitted one of this package."""
    model = _unfrozen(init)
    return model._state.tokenizer if _has_words(model) else None


def read_start(init: WordVectors | None) -> InitVectors:
    """Read the vectors of a model as it sums them, word weights included, or given vectors; an error names `init`."""
    if is_unfitted(init):
        raise NotFittedError(
            f"init is a {type(init).__name__} that is not fitted. Fit it first. Where scikit-learn clones it, as a "
            "grid of parameters does, wrap it in FrozenEstimator, of sklearn.frozen, so that it does not forget."
        )
    model = _unfrozen(init)
    start = _sums_of(model) if _has_words(model) else _given(model)
    if not start.vectors.any():
        raise ValueError("init: all vectors are zero, so there is nothing to start from.")
    return start


def _sums_of(model: Any) -> InitVectors:
    state = model._fitted_state()
    n_words = len(state.vocabulary_)
    rows = model._summed_vectors(state)
    vectors = rows[:n_words]
    if state.word_weights_ is not None:
        vectors = vectors * state.word_weights_[:n_words, None]
        length = float(state.unknown_length * (1.0 if state.unknown_weight is None else state.unknown_weight))
    else:  # it leaves unknown words out
        length = median_length(vectors)
    start = InitVectors(list(state.vocabulary_), np.ascontiguousarray(vectors, np.float32), length, model=type(model))
    if hasattr(model, "_network"):
        start = start._replace(network=state)
    if "_source_vectors" in state.arrays and len(rows) > n_words:
        return start._replace(ngrams=rows[n_words:], ngram_range=tuple(model.ngram_range))
    return start


def _given(source: WordVectors) -> InitVectors:
    from .._word_vectors.read import read_parameter  # most fits begin at random

    words, vectors, _ = read_parameter(source, "init", " init=None starts at random.")
    return InitVectors(words, vectors, median_length(vectors))


def median_length(vectors: np.ndarray) -> float:
    """Median length of the rows that are not zero; 0 where all are."""
    lengths = row_norms(vectors)
    return float(np.median(lengths[lengths > 0])) if lengths.any() else 0.0


def _width_of(init: WordVectors | None) -> int | None:
    """Length of the vectors, where it can be told without reading all of them."""
    model = _unfrozen(init)
    if _has_words(model):
        return int(model._summed_vectors(model._state).shape[1]) if model.__sklearn_is_fitted__() else None
    if isinstance(model, Mapping):
        return len(next(iter(model.values()), ()))
    from .._word_vectors.read import is_table

    table = model[1] if is_table(model) else model
    return table.shape[1] if getattr(table, "ndim", None) == 2 else None


def _has_words(model: object) -> bool:
    """Whether it is an estimator of this package that makes a sentence of word vectors."""
    of_words = isinstance(model, TextEstimator) and "init" in model.get_params(deep=False)
    return of_words or isinstance(model, PooledVectorizer)


def _unfrozen(init: WordVectors | None) -> Any:
    return init.estimator if isinstance(init, FrozenEstimator) else init
