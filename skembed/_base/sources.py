"""The parameter `word_vectors`: what it accepts, and bases of the estimators that take it and change the vectors."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from .._corpus.corpus import SentenceCorpus
from .._corpus.input import takes_corpus
from .._text.sources import encode_words
from .._training.checkpoint import Checkpoint
from .._training.learned_arrays import ArrayRecord
from .._training.state import ABSENT, Fitted, FittedState
from .._validation.constraints import Constraints, integers
from .._validation.messages import brief
from .._validation.values import RandomState
from .._word_vectors import character_ngrams
from .._word_vectors.fasttext import LONGEST_NGRAM, is_binary_model, open_binary_model
from .._word_vectors.matches import WordVectors, counts_of, known_fraction
from .._word_vectors.processing import add_spelling, hash_numbers, remove_components
from .._word_vectors.read import is_table, learns_none, read_source
from .pooled import PooledVectorizer
from .scikit_learn import ShortReprMixin
from .start import is_unfitted
from .trained import TrainedVectorizer


def is_list(source: object) -> bool:
    """Whether these are several sources."""
    return isinstance(source, (list, tuple)) and not is_table(source)


def fit_with(
    estimator: BaseEstimator,
    corpus: SentenceCorpus,
    random_state: RandomState,
    n_jobs: int | None,
    kept: Checkpoint | None = None,
) -> BaseEstimator:
    """Fit an estimator to a text; where its seed or number of threads is None, it takes these."""
    if not takes_corpus(estimator):  # not of this package
        raise TypeError(learns_none(estimator))
    if getattr(estimator, "context", None) == "labels":
        raise ValueError(
            f"{type(estimator).__name__}(context='labels') needs labels, but an unfitted model learns from the text "
            "alone here. Fit it first, and pass it fitted."
        )
    defaults = {"random_state": random_state, "n_jobs": n_jobs}
    params = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in defaults.items() if k in params and params[k] is None})
    if kept is None or kept.path is None:
        estimator.fit(corpus, None)  # an unfitted FrozenEstimator needs y to say that it is not fitted
    elif isinstance(estimator, TrainedVectorizer):
        estimator.fit(corpus, None, checkpoint=kept.path, checkpoint_every=kept.every)
    else:
        raise ValueError(f"checkpoint: the fit of {type(estimator).__name__} has none. Fit it first, without one.")
    return estimator


def unwrapped(estimator: BaseEstimator) -> BaseEstimator:
    """Return the estimator in a :class:`~sklearn.frozen.FrozenEstimator`, or the estimator itself."""
    return getattr(estimator, "estimator", estimator)


def learned_vectors(estimator: BaseEstimator) -> tuple[list[str], np.ndarray]:
    """Words and vectors of an estimator that no other code uses: a copy only if it also has rows of n-grams."""
    if isinstance(estimator, PooledVectorizer):
        state = estimator._fitted_state()
        if len(vectors := estimator._summed_vectors(state)) == len(state.vocabulary_):
            return list(state.vocabulary_), vectors
    return read_source(estimator)[:2]


def fitted_clones(
    sources: Sequence[WordVectors], corpus: SentenceCorpus, random_state: RandomState, n_jobs: int | None
) -> list[WordVectors]:
    """Replace each unfitted estimator of a list by a fitted clone, each with a different seed."""
    random = check_random_state(random_state)
    # Fitted sources get a seed too, so that they do not change the seeds of the others.
    seeds = [int(random.randint(2**31 - 1)) for _ in sources]
    return [
        fit_with(clone(source), corpus, seed, n_jobs) if is_unfitted(source) else source
        for source, seed in zip(sources, seeds)
    ]


def cloned(source: Any) -> Any:
    """Return a source for a clone: estimators are cloned, all other sources are shared."""
    if is_list(source):
        return type(source)(map(cloned, source))
    return clone(source) if hasattr(source, "get_params") and not isinstance(source, type) else source


def needs_order_for(source: Any) -> str | None:
    """Name of the first estimator that `fit` would train on neighbouring sentences, or None."""
    sources = source if is_list(source) else [source]
    unfitted = (one for one in sources if is_unfitted(one) and getattr(one, "corpus", None) is None)
    return next(filter(None, (getattr(one, "_needs_order_for", None) for one in unfitted)), None)


class GivenVectors(ShortReprMixin, PooledVectorizer):
    """Base of the estimators with the parameter `word_vectors`."""

    _parameter_constraints: Constraints = {
        **PooledVectorizer._parameter_constraints,
        "word_vectors": "no_validation",  # checked when they are read
        "n_components": [integers(1)],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    word_vectors: Any
    n_components: Any
    n_jobs: int | None
    random_state: RandomState

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

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        shape = len(state.vocabulary_), state.n_features_out_
        return [ArrayRecord("word_vectors_", shape, axis_of_words=0)]

    def __sklearn_clone__(self) -> Self:
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


def _holds(source: WordVectors | Sequence[WordVectors] | None, vectors: np.ndarray) -> bool:
    """Whether a parameter, not a path or a list, has exactly these vectors."""
    if source is None or isinstance(source, str) or hasattr(source, "__fspath__") or is_list(source):
        return False
    try:
        found = _read_quietly(source)
    except (TypeError, ValueError, AttributeError):  # changed after the fit, or never a valid source
        return False
    return found.shape == vectors.shape and found.dtype == vectors.dtype and np.array_equal(found, vectors)


def _read_quietly(source: WordVectors) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fit has warned
        return read_source(source)[1]


@dataclass(frozen=True, eq=False, repr=False)
class ProcessedState(FittedState):
    """Given vectors, and what is done to them before sentences sum them."""

    ngram_lengths: tuple[int, int] = ABSENT
    hash_numbers: bool = ABSENT
    spelling_weight: float = ABSENT
    word2vec_: TrainedVectorizer | None = ABSENT  # the estimator that learned the vectors, if none were given

    def for_inference(self, records: Iterable[ArrayRecord]) -> ProcessedState:
        return replace(super().for_inference(records), word2vec_=ABSENT)

    def check_values(self) -> None:
        """Check the lengths of n-grams, the weight of the spelling, and the model that learned the vectors."""
        lengths, share, learner = self.ngram_lengths, self.spelling_weight or 0.0, self.word2vec_
        if len(lengths) != 2 or not all(type(n) is int and 0 <= n <= LONGEST_NGRAM for n in lengths):
            raise ValueError(f"_ngram_lengths is {brief(lengths)}.")
        if not 0 <= share <= 1:
            raise ValueError(f"_spelling_weight is {share}, which is not from 0 to 1.")
        if learner is None:
            return
        if learner.n_features_out_ != self.n_features_out_ or learner.vocabulary_ != self.vocabulary_:
            raise ValueError("word2vec_ has other words or columns than the model that holds it.")


class ProcessedVectors(GivenVectors):
    """Numbers hashed, spelling added, common components removed; unknown words made of character n-grams."""

    _state = ProcessedState()
    _needed: tuple[str, ...] = ("ngram_lengths",)
    components_ = Fitted[NDArray[np.float32]]()
    ngram_vectors_ = Fitted[NDArray[np.float32]]()

    def _taken(self, corpus: SentenceCorpus, words: list[str], vectors: np.ndarray) -> ProcessedState:
        state: ProcessedState = replace(super()._taken(corpus, words, vectors), ngram_lengths=(1, 0))
        return state.with_arrays({"ngram_vectors_": np.zeros((0, state.n_features_out_), np.float32)})

    def _with_ngrams(self, state: ProcessedState, source: WordVectors | Sequence[WordVectors]) -> ProcessedState:
        """The state with the n-grams of a model of fastText, if unknown words need them."""
        if self.unknown != "ngrams":
            return state
        model = None
        if isinstance(source, (str, os.PathLike)) and is_binary_model(source):
            model = open_binary_model(source)
        if model is None or model.is_sent2vec or model.lengths[1] == 0:
            raise ValueError(
                "unknown='ngrams' needs the path of a binary model of fastText (.bin) with character n-grams as "
                "word_vectors. Other vectors have none: use unknown='hash' or 'zero'."
            )
        return replace(state.with_arrays({"ngram_vectors_": model.read_ngrams()}), ngram_lengths=model.lengths)

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        width = state.n_features_out_
        made = ArrayRecord("_processed_vectors", (len(state.vocabulary_), width), axis_of_words=0)
        return [
            *super()._derived_arrays(state),
            ArrayRecord("components_", (None, width)),
            ArrayRecord("ngram_vectors_", (None, width), axis_of_words=0),
            *([made] if made.name in state.arrays else []),
        ]

    def _processed(self, state: ProcessedState) -> ProcessedState:
        """The state with `word_vectors_` after all steps; these vectors themselves if no step changes them."""
        vectors = state.arrays["word_vectors_"]
        if state.hash_numbers or state.spelling_weight or len(state.arrays["components_"]):
            words, vectors = list(state.vocabulary_), vectors.copy()
            if state.hash_numbers:
                hash_numbers(vectors, words, state.unknown_length)
            vectors = _spelled_without_components(state, vectors, words)
        return state.with_arrays({"_processed_vectors": vectors})

    def _unknown_vectors(self, state: Any, words: list[str]) -> np.ndarray:
        if self.unknown == "ngrams":
            vectors = _vectors_from_ngrams(state, words)
            if state.hash_numbers:
                hash_numbers(vectors, words, state.unknown_length)
        else:
            vectors = super()._unknown_vectors(state, words)
        return _spelled_without_components(state, vectors, words)

    def _stored(self, state: Any) -> FittedState:
        """Leave out vectors that can be made again, with the same bits."""
        learner, dropped = state.word2vec_, ["_processed_vectors"]
        if learner is not None and state.arrays.get("word_vectors_") is learner.word_vectors_:
            dropped.append("word_vectors_")
        return super()._stored(state).without(*dropped)

    def _restored(self, state: Any) -> FittedState:
        if state.word2vec_ is not None and "word_vectors_" not in state.arrays:
            state = state.with_arrays({"word_vectors_": state.word2vec_.word_vectors_})
        restored: Any = super()._restored(state)
        self._check_state(restored)
        return self._processed(restored)


def _spelled_without_components(state: ProcessedState, vectors: np.ndarray, words: list[str]) -> np.ndarray:
    """Do the steps that unknown words go through too, in place."""
    if state.spelling_weight:
        add_spelling(vectors, words, state.spelling_weight)
    return remove_components(vectors, state.arrays["components_"])


def _vectors_from_ngrams(state: ProcessedState, words: list[str]) -> np.ndarray:
    ngram_vectors = state.arrays["ngram_vectors_"]
    if not len(ngram_vectors):
        raise ValueError("unknown='ngrams' was set after the fit, which read no n-grams. Fit the estimator again.")
    text, ptr = encode_words(words)
    vectors = np.empty((len(words), state.n_features_out_), np.float32)
    character_ngrams.average(text, ptr, state.ngram_lengths, ngram_vectors, vectors, has_own_row=False)
    return vectors
