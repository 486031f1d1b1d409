"""What all estimators share: text options, the corpus to learn from, `transform`, pickles, names and tags."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams, counts_characters
from .._text.known_words import EncodedSentences
from .._text.sources import iter_sentences
from .._text.tokenizer import Analyzer, Stemmer, StopWords, Tokenizer
from .._training.learned_arrays import ArrayRecord
from .._training.state import Fitted, FittedState
from .._validation.columns import Labels, Sentences, length_of
from .._validation.constraints import INT64_MAX, Constraints, Settings, check_values, integers
from .embedding import coverage_of, embed, similarity
from .reading import check_agreement, corpus_to_learn_from, learn_vocabulary
from .scikit_learn import CORPUS, WORDS, as_fitted, short

if TYPE_CHECKING:
    from .._corpus.pairs import CorpusOrPairs


_READ_AT_TRANSFORM = {"pooling", "unknown", "binary", "norm"}
# The vectors that sentences are made of: the first of these that a method has.
_VECTORS = "_processed_vectors", "_interpolated_vectors", "_source_vectors", "word_vectors_"
_VERSION = "_skembed_version"  # in a pickle


def tokenizer_options(source: object) -> dict[str, Any]:
    """The options of a tokenizer, or of an estimator, that say how text becomes words."""
    options = {name: getattr(source, name) for name in Tokenizer.__dataclass_fields__}
    lengths, analyzer = tuple(getattr(source, "ngram_range", (1, 1))), options["analyzer"]
    if lengths != (1, 1) and counts_characters(analyzer):
        options["analyzer"] = CharacterNgrams(analyzer, lengths, bool(options["lowercase"]))
    return options


class TextEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all estimators: from text, or a corpus, to word ids and to a row for each sentence.

    What a fit has learned is one value, `_state`. A method reads it in its first line, so that it sees one model while
    another thread fits the estimator; a fit replaces it in one assignment. A subclass adds `_vectors_of`.
    """

    _parameter_constraints: Constraints = {
        "min_count": [integers(1, INT64_MAX)],
        "max_features": [integers(1, INT64_MAX), None],
        "analyzer": [StrOptions({"word", "char", "char_wb", "word+char_wb"}), callable],
        "token_pattern": [str, None],
        "lowercase": ["boolean"],
        "stop_words": [None, StrOptions({"english"}), WORDS],
        "stemmer": [callable, str, None],
        "missing": [StrOptions({"error", "empty"})],
        "corpus": [None, CORPUS],
    }

    # Defaults of the options that a method does not offer.
    analyzer: Analyzer = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: StopWords = None
    stemmer: Stemmer = None
    missing: str = "error"
    min_count: Any = 1
    max_features: int | None = None
    corpus: CorpusOrPairs | None = None
    n_jobs: int | None = None
    _state = FittedState()  # in the class: that of an estimator that is not fitted
    # Fields that a fitted state has; subclasses name more.
    _needed: tuple[str, ...] = ("vocabulary_", "tokenizer", "word_counts_", "coverage_", "n_features_out_")
    vocabulary_ = Fitted[dict[str, int]]()
    word_counts_ = Fitted[NDArray[np.int64]]()
    coverage_ = Fitted[float]()
    n_features_out_ = Fitted[int]()
    _needs_order = False
    _source_option = ""  # the parameter for another estimator to learn with
    _joins_words_beside_characters = False  # to word n-grams
    _learns_from = "text"  # or "pairs" or "targets", which text alone does not hold
    _paper_settings: dict[str, Settings] = {}  # parameters by the name of a paper's method

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters; scikit-learn would look at the signature again in each call of `get_params`."""
        names: list[str] = super()._get_param_names()
        return names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        if self._learns_from == "targets":
            tags.target_tags.required = True
            tags.target_tags.single_output, tags.target_tags.multi_output = False, True
        return tags

    def _validate_params(self) -> None:
        """Leave it to `fit_context`, which checks in every call."""

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    @property
    def _needs_order_for(self) -> str | None:
        """Name of the estimator that learns from neighbouring sentences, or None."""
        return type(self).__name__ if self._needs_order else None

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    def _fitted_state(self) -> FittedState:
        """What was learned; raises a NotFittedError before the first fit."""
        state: FittedState | None = vars(self).get("_state")
        if state is None:
            check_is_fitted(self)
            raise AssertionError("an estimator without a state is not fitted")
        return state

    def _publish(self, state: FittedState, *, for_training: bool = False) -> Self:
        """Check a state and hold it from now on: the one assignment by which a fit takes effect."""
        self._check_state(state, for_training=for_training)
        state, before = state.frozen(), self._state
        same_words = before.vocabulary_ is state.vocabulary_ and before.tokenizer is state.tokenizer
        if same_words and "known_tokens" in vars(before):
            object.__setattr__(state, "known_tokens", before.known_tokens)
        self._state = state
        return self

    def _check_state(self, state: FittedState, *, for_training: bool = False) -> None:
        needed = {name for base in type(self).__mro__ for name in vars(base).get("_needed", ())}
        state.check(needed, self._records, for_training=for_training)

    def _records(self, state: FittedState) -> list[ArrayRecord]:
        """A record of each array of a fitted state."""
        if state.layout is None:
            return list(self._derived_arrays(state))
        fitted = self if state.records else as_fitted(self, state)  # in a fit, or of a model that was read
        arrays = state.records or fitted._learned_arrays(state)
        learned = [record for array in arrays for record in array.records(fitted.solver)]
        return learned + list(fitted._derived_arrays(state))

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        """Records of the arrays beside the learned ones; a ValueError if values contradict each other."""
        return []

    def _get_fitted_attr_html(self, *args: Any, **options: Any) -> Any:
        """Show large fitted attributes by type and size; scikit-learn would sort the whole vocabulary."""
        attributes = super()._get_fitted_attr_html(*args, **options)
        for attribute in attributes.values():
            attribute["value"] = short(attribute["value"])
        return attributes

    def __copy__(self) -> Self:
        copied = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __getstate__(self) -> dict[str, object]:
        values: dict[str, Any] = dict(super().__getstate__())
        if "_state" in values:
            values["_state"] = self._stored(values["_state"])
        return values | {_VERSION: __version__}

    def __setstate__(self, stored: dict[str, Any]) -> None:
        values = dict(stored)
        version = values.pop(_VERSION, "pre-0.1")
        if version != __version__:
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"{__version__} of skembed",
                    original_sklearn_version=f"{version} of skembed",
                ),
                stacklevel=2,
            )
        state = values.pop("_state", None)
        super().__setstate__(values)
        if state is not None:
            self._publish(self._restored(state))

    def _stored(self, state: FittedState) -> FittedState:
        """What a pickle keeps of the state: all that :meth:`_restored` does not make again."""
        return state

    def _restored(self, state: FittedState) -> FittedState:
        """The state again from what a pickle has kept."""
        return state

    if TYPE_CHECKING:

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def get_feature_names_out(self, input_features: Labels = None) -> NDArray[np.object_]: ...

    def fit_transform(self, X: Sentences, y: Labels = None, **fit_params: Any) -> NDArray[np.float32]:
        """Learn from `X`, then embed it.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences in reading order.
        y : array-like or None, default=None
            As in `fit`.
        **fit_params : dict
            `groups` and others, as in `fit`.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out)
            The same as `fit(X, y).transform(X)`.

        Notes
        -----
        Where it learns from `y`, these rows fit their `y` better than the rows of other sentences do, even if `y` is
        random: see :ref:`calibrate`.
        """
        if length_of(X) is None:  # an iterator can be read only once
            X = list(iter_sentences(X))
        rows: NDArray[np.float32] = self.fit(X, y, **fit_params).transform(X)
        return rows

    def transform(self, X: Sentences) -> NDArray[np.float32]:
        """Embed sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. The row of a sentence depends on that sentence and the model alone.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_features_out), dtype float32
            A sentence without a word is a row of zeros; also one of unknown words alone, unless the estimator has
            ``unknown="hash"``.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        TypeError
            If an item is not a string; names the row.
        ValueError
            If `X` is one string or a table.

        Warns
        -----
        UserWarning
            If far fewer words are known than in the text of `fit`, or more than half of the sentences, of at least 5,
            have no known word.
        """
        return self._embed(self._fitted_state(), X, "X")

    def coverage(self, X: Sentences) -> NDArray[np.float64]:
        """Fraction of the words of each sentence that are in the vocabulary.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        fractions : ndarray of shape (n_sentences,), dtype float64
            Between 0 and 1; 0 for a sentence without words. `coverage_` is that of the whole text of `fit`.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As in `transform`.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> emb = MeanEmbeddingVectorizer(word_vectors={"a": [1.0], "cat": [2.0]}).fit(
        ...     ["A cat.", "A dog."]
        ... )
        >>> emb.coverage_
        0.75
        >>> emb.coverage(["A cat and a dog.", "zebra", ""])
        array([0.6, 0. , 0. ])
        """
        return coverage_of(self, self._fitted_state(), X)

    @overload
    def similarity(self, a: str, b: str) -> float: ...
    @overload
    def similarity(self, a: Any, b: Any) -> NDArray[np.float64]: ...
    def similarity(self, a: Sentences, b: Sentences) -> float | NDArray[np.float64]:
        """Cosine of two sentences, or of each sentence of `a` with the sentence of `b` at the same position.

        Parameters
        ----------
        a, b : str, or iterables of str of the same length
            Sentences.

        Returns
        -------
        cosine : float, or ndarray of shape (n_pairs,)
            0 where a sentence has no known word.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            As in `transform`. A ValueError also if the lengths differ, or only one of them is a single sentence.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero").fit(
        ...     ["a cat", "a dog"]
        ... )
        >>> round(emb.similarity("a cat", "the dog"), 3)
        0.8
        """
        return similarity(self, self._fitted_state(), a, b)

    def _embed(self, state: FittedState, X: Sentences, name: str) -> np.ndarray:
        """The rows of sentences; errors call the sentences `name`."""
        self._check_transform_parameters()
        return embed(self, state, X, name)

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        """The rows of some sentences, written to `out` if that is given; zero where a sentence has no known word."""
        raise TypeError(f"{type(self).__name__} does not say how a sentence becomes a vector.")

    def _summed_vectors(self, state: FittedState) -> np.ndarray:
        """The vectors of the words, and after them those of word n-grams, as sentences are made of them."""
        return next(state.arrays[name] for name in _VECTORS if name in state.arrays)

    def _check_parameters(self) -> None:
        """Raise an error for parameters that are valid by themselves, but not together."""

    def _check_transform_parameters(self) -> None:
        """Check those that each `transform` reads, because they may have been set after the fit."""
        names = (name for name in self._get_param_names() if name in _READ_AT_TRANSFORM)
        values = {name: getattr(self, name) for name in names}
        check_values(self._parameter_constraints, values, type(self).__name__)

    def _tokenizer_of_options(self, automatic: Analyzer = "word") -> Tokenizer:
        """The tokenizer of the parameters, where ``analyzer="auto"`` stands for `automatic`."""
        options = tokenizer_options(self)
        if isinstance(self.analyzer, str) and self.analyzer == "auto":
            options["analyzer"] = automatic
        return Tokenizer(**options)

    def _corpus_to_learn_from(self, X: Sentences, groups: Labels, y: Labels = None) -> SentenceCorpus:
        """`corpus` if it is given, else `X` if it is a corpus, else `X` encoded."""
        return corpus_to_learn_from(self, X, groups, y)

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        """Check that the corpus was made with each option that is not at its default."""
        check_agreement(self, corpus, name)

    def _option(self, name: str, state: FittedState | None = None) -> Any:
        """Value of a parameter; what "auto" means may depend on what was learned, by default so far."""
        return getattr(self, name)

    def _learn_vocabulary(self, corpus: SentenceCorpus, state: FittedState) -> FittedState:
        """The state with the words to learn, and what follows from the text alone."""
        return learn_vocabulary(self, corpus, state)

    def _text_statistics(
        self, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
    ) -> FittedState:
        """The state with what follows from text and words; `earlier` has this of earlier texts, for the same words."""
        return state

    def _appends_words(self, state: FittedState) -> bool:
        """Whether new words of a later text may come after those that were learned."""
        return True

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        """The state with all that follows from what was learned."""
        return state
