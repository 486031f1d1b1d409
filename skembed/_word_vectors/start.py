"""Word vectors to start learning from, of a fitted model or given: the parameter `init`."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from .._base.coverage import check_given, known_fraction
from .._base.ngrams import NgramVectorizer
from .._base.pooled import PooledVectorizer
from .._base.trained import TrainedVectorizer
from .._base.vector_length import LENGTH, length_without_source, warn_of_another_length
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import hash_vectors
from .._text.tokenizer import Tokenizer
from .._training.learned_arrays import Start, moving
from .._validation.messages import warn_at_user
from .join import counts_of
from .read import is_table, read_parameter
from .sources import is_unfitted


class InitVectors(NamedTuple):
    """Words and vectors to start from."""

    words: list[str]
    vectors: np.ndarray  # (n_words, n_components) float32
    length_of_unknown: float  # of a hashed vector
    ngrams: np.ndarray | None = None  # (n_buckets, n_components) float32, the rows that n-grams share, if it has such
    ngram_range: tuple[int, ...] = (1, 1)
    model: type | None = None  # the class of a fitted model
    network: Any = None  # what a model with a network has learned beside its words

    def is_of(self, cls: type) -> bool:
        """Whether the vectors were learned by this class, whose rate their lengths serve already."""
        return self.model is not None and issubclass(cls, self.model)


class InitMixin(TrainedVectorizer):
    """Base of the estimators with the parameter `init`.

    The vocabulary has the words of `init` first, in its order, so that a word keeps its row; then the words of the text
    that `init` lacks, the most frequent first. A new word starts as an unknown word counts with ``unknown="hash"``: at
    a direction that depends on its text alone, with the length that such a word has in `init`.
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": LENGTH,
        "init": "no_validation",  # checked when it is read
    }
    n_components: Any
    init: Any
    freeze_init: bool = False
    _option_of_length = "n_components"  # of the word vectors
    # Length to which vectors that another method has learned are scaled; None leaves them as they are.
    _median_length_at_start: float | None = None

    def __sklearn_clone__(self) -> Any:
        """Copy the parameters but share `init`: a clone of a fitted estimator would have nothing to start from."""
        bare = copy(self)
        bare.init = None
        clone = super(InitMixin, bare).__sklearn_clone__()
        clone.init = getattr(self, "init", None)  # which a subclass may do without
        return clone

    def _option(self, name: str, fitted: dict[str, Any] | None = None) -> Any:
        """As of other estimators; a length of "auto" is that of the word vectors of a fit."""
        value = super()._option(name, fitted)
        if name != self._option_of_length or not isinstance(value, str):
            return value
        return self._width_of_words(dict(vars(self)) if fitted is None else fitted)

    def _tokenizer_of_options(self, automatic: Any = "word") -> Tokenizer:
        """How words are made: as in `init`, unless an option differs from its default."""
        mine, theirs = super()._tokenizer_of_options(automatic), tokenizer_of(self.init)
        if theirs is None or mine == theirs:
            return mine
        if mine != Tokenizer():
            raise ValueError(
                f"init was made with {theirs.difference(mine)}, not with {mine.difference(theirs)}. Leave these "
                "options at their defaults to use those of init."
            )
        return theirs

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        theirs = tokenizer_of(self.init)
        if theirs is not None and corpus.tokenizer != theirs:
            raise ValueError(
                f"{name} was made with {corpus.tokenizer.difference(theirs)}, init with "
                f"{theirs.difference(corpus.tokenizer)}. Build {name} with the same options."
            )
        super()._check_agreement(corpus, name)

    def _learn_vocabulary(self, corpus: SentenceCorpus, fitted: dict[str, Any] | None = None) -> dict[str, Any]:
        fitted = super()._learn_vocabulary(corpus, fitted)
        if "freeze_init" in vars(self):  # some of these methods have other options
            fitted["_n_frozen"] = 0
        if self.init is None:
            return fitted
        start = read_start(self.init)
        check_given(corpus, start.words, "init")
        warn_of_another_length(self, self._option_of_length, start.vectors.shape[1], "init")
        # What stands for a piece of text that the tokenizer of another program does not know is no word to learn.
        known = {*start.words, getattr(corpus.tokenizer.analyzer, "unknown", None)}
        words = start.words + [word for word in fitted["vocabulary_"] if word not in known]
        return (
            fitted
            | {
                "vocabulary_": {word: row for row, word in enumerate(words)},
                "word_counts_": counts_of(words, corpus),
                "coverage_": known_fraction(corpus, words),
                "n_features_out_": start.vectors.shape[1],
                "_init": start,
                "_bytes_to_start": int(start.vectors.nbytes),
            }
            | ({"_n_frozen": len(start.words)} if self.freeze_init else {})
        )

    def _start(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        if self.freeze_init and self.init is None:
            raise ValueError("freeze_init=True keeps the vectors of init, but init is None.")
        fitted = super()._start(corpus, *others)
        self._check_that_some_move(fitted)
        return {name: value for name, value in fitted.items() if name not in ("_init", "_bytes_to_start")}

    def _check_that_some_move(self, fitted: dict[str, Any]) -> None:
        """Warn where all that could be learned is frozen."""
        arrays, n_frozen = moving(self._learned_arrays(fitted)), fitted.get("_n_frozen", 0)
        if n_frozen and all(array.update == "rows" and array.shape[0] == n_frozen for array in arrays):
            warn_at_user("Nothing is learned: freeze_init=True keeps the words of init, and the text has no others.")

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: tuple[np.ndarray, ...]) -> dict[str, Any]:
        width, learned = _width_of(self.init), self._width_of_words(dict(vars(self)))
        if width not in (None, learned):
            raise ValueError(
                f"init has vectors of length {width}, but this {type(self).__name__} has learned vectors of length "
                f"{learned}. Leave init as it was to learn on, or fit a new estimator."
            )
        if self.freeze_init != bool(getattr(self, "_n_frozen", 0)):
            raise ValueError(
                f"freeze_init={self.freeze_init} differs from {not self.freeze_init}, with which {type(self).__name__} "
                "was fitted. Fit a new estimator, or set warm_start=False."
            )
        return super()._keep_vocabulary(corpus, annotations)

    def _width_of_words(self, fitted: dict[str, Any]) -> int:
        """Length of the word vectors; before there are any, that of a start at random."""
        if "n_features_out_" in fitted:
            return int(fitted["n_features_out_"])
        return length_without_source(getattr(self, self._option_of_length))

    def _start_of_words(self, fitted: dict[str, Any], at_random: Start) -> Start:
        """Start of an array that has the words in its first rows: from `init`, or at random without it."""
        start: InitVectors | None = fitted.get("_init")
        if start is None:
            return at_random

        def fill(array: np.ndarray, seed: int) -> None:
            n_given, words = len(start.words), list(fitted["vocabulary_"])
            scale = np.float32(1)
            if self._median_length_at_start is not None and not start.is_of(type(self)):
                scale = np.float32(self._median_length_at_start / median_length(start.vectors))
            np.multiply(start.vectors, scale, out=array[:n_given])
            if len(words) > n_given:
                new = hash_vectors(words[n_given:], start.vectors.shape[1])
                np.multiply(new, scale * np.float32(start.length_of_unknown), out=array[n_given : len(words)])
            rows = array[len(words) :]
            if (
                start.ngrams is not None
                and start.ngrams.shape == rows.shape
                and start.ngram_range == tuple(self.ngram_range)
            ):
                np.multiply(start.ngrams, scale, out=rows)  # words keep their rows, so n-grams of them do too

        return fill


def tokenizer_of(init: Any) -> Tokenizer | None:
    """How the words of a model were made, where it is a fitted one of this package."""
    model = _unfrozen(init)
    return getattr(model, "_tokenizer", None) if _has_words(model) else None


def read_start(init: Any) -> InitVectors:
    """Read the vectors of a model as it sums them, word weights included, or given vectors.

    Raises
    ------
    NotFittedError
        If it is a model that has not learned.
    TypeError, ValueError, FileNotFoundError
        If it is nothing that has word vectors, or something is wrong with them; names `init`.
    """
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
    model = copy(model)  # a snapshot: another thread may fit it
    n_words = len(model.vocabulary_)
    vectors = model._summed_vectors[:n_words]
    if hasattr(model, "word_weights_"):
        vectors = vectors * model.word_weights_[:n_words, None]
        length = float(model._unknown_length * getattr(model, "_unknown_weight", 1.0))
    else:  # it leaves unknown words out
        length = median_length(vectors)
    start = InitVectors(list(model.vocabulary_), np.ascontiguousarray(vectors, np.float32), length, model=type(model))
    start = start._replace(network=getattr(model, "_learned_network", None))
    if isinstance(model, NgramVectorizer) and len(model.ngram_vectors_):
        return start._replace(ngrams=model.ngram_vectors_, ngram_range=tuple(model.ngram_range))
    return start


def _given(source: Any) -> InitVectors:
    words, vectors, _ = read_parameter(source, "init", " init=None starts at random.")
    return InitVectors(words, vectors, median_length(vectors))


def median_length(vectors: np.ndarray) -> float:
    """Median length of the rows that are not zero; 0 where all are."""
    return median_above_zero(row_norms(vectors))


def median_above_zero(lengths: np.ndarray) -> float:
    """Median of the lengths that are not zero; 0 where all are."""
    return float(np.median(lengths[lengths > 0])) if lengths.any() else 0.0


def _width_of(init: Any) -> int | None:
    """Length of the vectors, where it can be told without reading all of them."""
    model = _unfrozen(init)
    if _has_words(model):
        return int(model._summed_vectors.shape[1]) if hasattr(model, "vocabulary_") else None
    if isinstance(model, Mapping):
        return len(next(iter(model.values()), ()))
    table = model[1] if is_table(model) else model
    return table.shape[1] if getattr(table, "ndim", None) == 2 else None


def _has_words(model: Any) -> bool:
    """Whether it is an estimator of this package that makes a sentence of word vectors."""
    return isinstance(model, (PooledVectorizer, InitMixin))


def _unfrozen(init: Any) -> Any:
    return init.estimator if isinstance(init, FrozenEstimator) else init
