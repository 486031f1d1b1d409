"""Names that `MeanEmbeddingVectorizer` had before its learning moved to `Word2VecVectorizer`: they work, and warn.

To remove them, remove this file and its uses in `MeanEmbeddingVectorizer`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from sklearn.base import BaseEstimator

from .._base.vector_length import length_without_source
from .._methods.word2vec import Word2VecVectorizer
from .._training.learned_arrays import FOR_INFERENCE
from .._validation.messages import warn_at_user
from .._word_vectors.sources import is_list
from .meta_embedding import MetaEmbeddingVectorizer

_LEARNING = (
    "algorithm",
    "window",
    "negative",
    "subsample",
    "solver",
    "learning_rate",
    "max_iter",
    "batch_size",
    "early_stopping",
    "validation_fraction",
    "n_iter_no_change",
    "tol",
    "warm_start",
    "verbose",
)
_OF_TEXT = ("analyzer", "token_pattern", "lowercase", "stop_words", "stemmer")
_DEPRECATED = (*_LEARNING, "numbers", "subwords", "whiten")
_LEARNED = ("loss_curve_", "validation_loss_curve_", "n_iter_", "target_vectors_")  # attributes of `word2vec_`


_Init = TypeVar("_Init", bound=Callable[..., None])


def accepting_deprecated(init: _Init) -> _Init:
    """Decorate an `__init__` to take the deprecated parameters too; its signature does not show them."""

    @wraps(init)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{name: value for name, value in kwargs.items() if name not in _DEPRECATED})
        self.__dict__.update({name: value for name, value in kwargs.items() if name in _DEPRECATED})

    return cast(_Init, wrapped)


class DeprecatedLearning(BaseEstimator):
    """Adds the deprecated parameters, attributes and methods of `MeanEmbeddingVectorizer`."""

    if TYPE_CHECKING:
        word_vectors: Any
        n_components: Any
        hash_numbers: bool
        spelling_weight: float
        word2vec_: Word2VecVectorizer | None
        _moments: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator; deprecated ones only if they were set.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of estimators that are parameters.

        Returns
        -------
        params : dict
            Names of the parameters and their values.
        """
        return super().get_params(deep) | {name: vars(self)[name] for name in _DEPRECATED if name in vars(self)}

    def set_params(self, **params: Any) -> Self:
        """Set the parameters of this estimator.

        Parameters
        ----------
        **params : dict
            Names of the parameters and their values.

        Returns
        -------
        self : object
            The estimator.
        """
        super().set_params(**{name: value for name, value in params.items() if name not in _DEPRECATED})
        self.__dict__.update({name: value for name, value in params.items() if name in _DEPRECATED})
        return self

    if not TYPE_CHECKING:  # where it would hide misspelt names

        def __getattr__(self, name: str) -> Any:
            learner = vars(self).get("word2vec_")
            if learner is None or name not in _LEARNED:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            _warn(self, f"attribute {name}", f"word2vec_.{name}")
            return getattr(learner, name)

    def _in_current_names(self) -> Any:
        """Return a copy whose parameters have their current names; warn of the others."""
        model = copy(self)
        old = {name: model.__dict__.pop(name) for name in _DEPRECATED if name in vars(model)}
        for old_name, name in (("numbers", "hash_numbers"), ("subwords", "spelling_weight")):
            if old_name in old and getattr(self, name) != type(self)._default_of(name):
                raise ValueError(f"{old_name} is the old name of {name}, which is given too. Pass only {name}.")
        if old.get("numbers", "word") not in ("word", "hash"):
            raise ValueError(f"The 'numbers' parameter of {type(self).__name__} must be 'word' or 'hash'.")
        if "numbers" in old:
            model.hash_numbers = old["numbers"] == "hash"
            _warn(self, "parameter numbers", f"hash_numbers={model.hash_numbers}")
        if "subwords" in old:
            model.spelling_weight = old["subwords"]
            _warn(self, "parameter subwords", f"spelling_weight={model.spelling_weight!r}")
        if "whiten" in old and is_list(model.word_vectors):
            n_components = length_without_source(model.n_components)
            model.word_vectors = MetaEmbeddingVectorizer(model.word_vectors, n_components, whiten=old["whiten"])
            options = f"n_components={n_components}, whiten={old['whiten']}"
            _warn(self, "parameter whiten", f"word_vectors=MetaEmbeddingVectorizer([...], {options})")
        elif "whiten" in old:
            _warn(self, "parameter whiten", "nothing: it applies only to a list of word_vectors")
        learning = {name: old[name] for name in _LEARNING if name in old}
        if learning and model.word_vectors is None:
            model.word_vectors = model._source().set_params(**learning)
            new = f"word_vectors={_in_one_line(model.word_vectors)}"
            if learning.get("warm_start"):  # a fit clones the source, which would lose its fit
                new = _fit_first(self, copy(model.word_vectors).set_params(**_options_of_text(self)))
            _warn(self, f"parameter {', '.join(learning)}", new)
        elif learning:
            _warn(self, f"parameter {', '.join(learning)}", "nothing: it applies only where word_vectors is None")
        return model

    @property
    def _is_warm(self) -> bool:
        warm = self.word_vectors is None and vars(self).get("warm_start", False)
        return warm and vars(self).get("word2vec_") is not None

    def _learn_more(self: Any, X: Any, y: Any, groups: Any, method: str) -> Any:
        """Go on learning by word2vec, in `partial_fit`, or in `fit` with `warm_start`."""
        model = self._in_current_names()
        corpus = model._corpus_to_learn_from(X, groups, y)
        is_first = not hasattr(self, "vocabulary_")
        options = model._source().get_params(deep=False) | _options_of_text(self)
        if is_first:
            learner = Word2VecVectorizer(**options)
        elif "word2vec_" not in vars(self):
            raise ValueError(FOR_INFERENCE)
        elif self.word2vec_ is None:
            raise ValueError(f"This {type(self).__name__} holds vectors that it did not learn. Call fit first.")
        else:
            learner = copy(self.word2vec_).set_params(**options)
        _warn(self, f"learning by {method}", _fit_first(self, learner, method))
        if method == "fit":
            learner.fit(corpus)
        else:
            learner.partial_fit(corpus, new_words="ignore")  # as before it was deprecated
        model.word2vec_, model.word_vectors_ = learner, learner.word_vectors_
        if is_first:
            model._take(corpus, list(learner.vocabulary_), learner.word_vectors_)
        model._unknown_length = model._length_of_unknown(learner.word_vectors_)
        model._process_word_vectors(corpus, None if is_first or method == "fit" else self._moments)
        return self._commit_from(model)

    def estimate_memory(self: Any, X: Any) -> dict[str, int]:
        """Say how much memory learning by word2vec will need. Deprecated: use that of :class:`Word2VecVectorizer`.

        Parameters
        ----------
        X : SentenceCorpus, or iterable of str
            The input of `fit`.

        Returns
        -------
        memory : dict of str to int
            Bytes by purpose, and their sum "total".

        Raises
        ------
        ValueError
            If `word_vectors` are given.
        """
        learner = self._in_current_names()._source()
        if not isinstance(learner, Word2VecVectorizer):
            raise ValueError("With word_vectors nothing is learned; call estimate_memory of the estimators among them.")
        _warn(self, "method estimate_memory", f"{_in_one_line(learner)}.estimate_memory(X)")
        memory: dict[str, int] = learner.estimate_memory(self._corpus_to_learn_from(X, None))
        return memory


def _warn(estimator: Any, old: str, new: str) -> None:
    message = f"The {old} of {type(estimator).__name__} is deprecated and will be removed in version 0.2. Write {new}."
    warn_at_user(message, FutureWarning)


def _options_of_text(estimator: Any) -> dict[str, Any]:
    """What an estimator gives to the one that learns for it."""
    return {name: getattr(estimator, name) for name in (*_OF_TEXT, "random_state", "n_jobs")}


def _fit_first(estimator: Any, learner: Any, method: str = "fit") -> str:
    arguments = "X" if method == "fit" else 'X, new_words="ignore"'
    returned = f"{type(estimator).__name__}(word_vectors=...) with what it returns"
    return f"{_in_one_line(learner)}.{method}({arguments}), then {returned}"


def _in_one_line(estimator: Any) -> str:
    return " ".join(repr(estimator).split())
