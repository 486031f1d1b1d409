"""What all estimators share: text options, the corpus to learn from, `transform`, names and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._compiled.threads import Threads, check_n_jobs, count_threads
from .._corpus.corpus import SentenceCorpus
from .._text.batches import Batch
from .._text.known_words import EncodedSentences, KnownTokens
from .._text.sources import BATCH_LENGTH, iter_batches, iter_sentences, iter_slices
from .._text.tokenizer import Tokenizer, same_option
from .._validation.containers import length_of
from .._validation.limits import INT64_MAX, integers
from .._validation.messages import brief, warn_at_user
from .coverage import CoverageMixin
from .parameters import CORPUS, WORDS, validate_parameters
from .saving import PickleMixin
from .scikit_learn import Transformer, hide_class_names
from .sharing import SharedMixin, locked, side_state
from .showing import ShortAttributesMixin
from .state import CheckedStateMixin, check_rows, check_types

# With fewer batches, one thread is done before a second one has repaid the time that it takes to start.
LEAST_FOR_THREADS = 3
_READ_AT_TRANSFORM = {"pooling", "unknown", "binary", "norm"}
_TOKENIZER_OPTIONS = ("analyzer", "token_pattern", "lowercase", "stop_words", "stemmer")


class TextEstimator(ShortAttributesMixin, PickleMixin, SharedMixin, CoverageMixin, CheckedStateMixin, Transformer):
    """Base of all estimators: from text, or a corpus, to word ids."""

    _parameter_constraints: dict[str, Any] = {
        "min_count": [integers(1, INT64_MAX)],
        "max_features": [integers(1, INT64_MAX), None],
        "analyzer": [StrOptions({"word", "char", "char_wb", "word+char_wb"}), callable],
        "token_pattern": [str, None],
        "lowercase": ["boolean"],
        "stop_words": [StrOptions({"english"}), WORDS, None],
        "stemmer": [callable, str, None],
        "missing": [StrOptions({"error", "empty"})],
        "corpus": [CORPUS, None],
    }

    _own_constraints: dict[str, Any]  # without those of the bases
    _read_at_transform: list[str]  # parameters

    # Defaults of the options that a method does not offer.
    analyzer: Any = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: Any = None
    stemmer: Any = None
    missing: str = "error"
    min_count: Any = 1
    max_features: int | None = None
    corpus: SentenceCorpus | None = None
    n_jobs: int | None = None
    vocabulary_: dict[str, int]
    word_counts_: NDArray[np.int64]
    n_features_out_: int
    _needs_order = False
    _source_option = ""  # the parameter for another estimator to learn with
    _learns_from = "text"  # or "pairs" or "targets", which text alone does not hold
    _paper_settings: dict[str, dict[str, Any]] = {}  # parameters by the name of a paper's method

    def __init_subclass__(cls, **options: Any) -> None:
        """Add the constraints of the bases; an estimator has only those of the parameters that it offers."""
        super().__init_subclass__(**options)
        cls._own_constraints = vars(cls).get("_parameter_constraints", {})
        constraints: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            constraints |= vars(base).get("_own_constraints", vars(base).get("_parameter_constraints", {}))
        offered = cls._get_param_names() if "__init__" in vars(cls) else list(constraints)
        cls._parameter_constraints = {name: constraints[name] for name in offered if name in constraints}
        cls._read_at_transform = [name for name in cls._parameter_constraints if name in _READ_AT_TRANSFORM]
        if "__init__" in vars(cls):
            hide_class_names(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _validate_params(self) -> None:
        validate_parameters(self)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    @property
    def _needs_order_for(self) -> str | None:
        """Name of the estimator that learns from neighbouring sentences, or None."""
        return type(self).__name__ if self._needs_order else None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vocabulary_")

    def _check_is_fitted(self) -> None:
        """Raise a NotFittedError before the first fit; scikit-learn's function takes a tenth of a short `transform`."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)

    @locked
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float32] | Any:
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
        random. So test on other sentences, put the estimator and the classifier into one pipeline, and a calibrator of
        probabilities around the pipeline, not inside: see :ref:`calibrate`.
        """
        if length_of(X) is None:  # an iterator can be read only once
            X = list(iter_sentences(X))
        return self.fit(X, y, **fit_params).transform(X)

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters.

        This includes calls for which scikit-learn skips the validation (``skip_parameter_validation``, a second
        `partial_fit`), because compiled kernels do not check their arguments. It takes a fraction of a millisecond.
        """
        self._validate_params()

    def _check_transform_parameters(self) -> None:
        """Check the parameters that `transform` reads: by default none."""

    def _tokenizer_of_options(self, automatic: Any = "word") -> Tokenizer:
        """The tokenizer of the parameters, where ``analyzer="auto"`` stands for `automatic`."""
        options = tokenizer_options(self)
        if isinstance(self.analyzer, str) and self.analyzer == "auto":
            options["analyzer"] = automatic
        return Tokenizer(**options)

    def _automatic_analyzer(self, classes: np.ndarray | None, keep: bool) -> Any:
        """What ``analyzer="auto"`` stands for."""
        return "word"

    def _corpus_to_learn_from(self, X: Any, groups: Any, y: Any = None, automatic: Any = "word") -> SentenceCorpus:
        """`corpus` if it is given, else `X` if it is a corpus, else `X` encoded."""
        self._check_parameters()
        if not isinstance(X, SentenceCorpus):
            iter_sentences(X)  # checked here, so that errors call it X
        if self.corpus is not None:
            self._check_agreement(self.corpus, "corpus")
            return self.corpus
        if isinstance(X, SentenceCorpus):
            if groups is not None:
                raise ValueError("groups must be None when X is a SentenceCorpus, which knows its documents.")
            self._check_agreement(X, "X")
            return X
        if y is not None and groups is None and self._needs_order_for:
            name = type(self).__name__
            source, instead = self._needs_order_for, "Sent2VecVectorizer"
            if source != name:
                source, instead = f"{source}, which {name} uses,", f"{self._source_option}=Sent2VecVectorizer(...)"
            warn_at_user(
                f"{source} learns from neighbouring sentences, but sentences with labels y are seldom in reading "
                "order. If X is in reading order, pass groups. Otherwise pass text in reading order, without labels, "
                f"as corpus=SentenceCorpus.from_sentences(...); or use {instead}, which needs no order."
            )
        return self._encoded_with(self._tokenizer_of_options(automatic), X, groups)

    def _encoded_with(self, tokenizer: Tokenizer, X: Any, groups: Any = None) -> SentenceCorpus:
        """Sentences that are not encoded yet, as a corpus."""
        options = tokenizer_options(tokenizer)
        return SentenceCorpus.from_sentences(X, groups, missing=self.missing, n_jobs=self.n_jobs, **options)

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        """Check that the corpus was made with each option that is not at its default."""
        mine, theirs = self._tokenizer_of_options(), corpus.tokenizer
        defaults = {option: self._default_of(option) for option in _TOKENIZER_OPTIONS}
        default = Tokenizer(**defaults | ({"analyzer": "word"} if defaults["analyzer"] == "auto" else {}))
        for option in _TOKENIZER_OPTIONS:
            value = getattr(mine, option)
            if value != getattr(default, option) and not same_option(value, getattr(theirs, option)):
                raise ValueError(
                    f"{option}={brief(value)} contradicts {name}, which was made with {option}="
                    f"{brief(getattr(theirs, option))}. Leave {option} at its default to use that of the corpus, "
                    "or build the corpus again."
                )
        if self.min_count != self._default_of("min_count") and self.min_count < corpus.min_count:
            raise ValueError(
                f"min_count={self.min_count} contradicts {name}, which left out words that occur fewer than "
                f"{corpus.min_count} times."
            )

    @classmethod
    def _default_of(cls, option: str) -> Any:
        """Default of a parameter in the nearest class that has it, or the value of all estimators without it."""
        inits = (vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base))
        found = (signature(init).parameters.get(option) for init in inits)
        return next((parameter.default for parameter in found if parameter is not None), getattr(cls, option, None))

    def _option(self, name: str, fitted: dict[str, Any] | None = None) -> Any:
        """Value of a parameter; what "auto" means may depend on the fitted attributes, by default the current ones."""
        return getattr(self, name)

    def _learn_vocabulary(self, corpus: SentenceCorpus, fitted: dict[str, Any] | None = None) -> dict[str, Any]:
        """The words to learn, and the fitted attributes that follow from the text alone."""
        if corpus.n_sentences == 0:
            raise ValueError("The corpus has no sentence. Pass at least one.")
        vocabulary = corpus.vocabulary.prune(self._option("min_count", fitted), self.max_features)
        return {
            "vocabulary_": dict(vocabulary.index),
            "word_counts_": np.array(vocabulary.counts),
            "coverage_": float(vocabulary.counts.sum() / corpus.n_tokens),
            "_tokenizer": corpus.tokenizer,
        }

    def _text_statistics(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], earlier: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Fitted attributes that follow from the text and the vocabulary, before anything is learned.

        `earlier` has those of a text that was learned before, for the same words.
        """
        return {}

    def _finish_fit(self, fitted: dict[str, Any], corpus: SentenceCorpus) -> dict[str, Any]:
        """All fitted attributes, with those that follow from what was learned."""
        return fitted

    def _in_order(self, function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
        """Map a function over batches of text, with threads if there are enough batches."""
        first = list(islice(batches, LEAST_FOR_THREADS))
        if len(first) < LEAST_FOR_THREADS:
            check_n_jobs(self.n_jobs)
            return map(function, first)
        return Threads(count_threads(self.n_jobs)).in_order(function, chain(first, batches))

    def _encoded_corpus(self, corpus: SentenceCorpus, name: str = "X") -> EncodedSentences:
        self._check_corpus(corpus, name)
        self._check_state()
        words = corpus.vocabulary.words
        return EncodedSentences(corpus.tokens, corpus.sent_ptr, self._rows_of(words), words)

    def _batches(self, X: Any, name: str) -> Iterator[tuple[EncodedSentences | Batch, int]]:
        """Batches of sentences, encoded or not, each with the row of its first sentence."""
        check_types(vars(self))
        if isinstance(X, SentenceCorpus):
            encoded = self._encoded_corpus(X, name)
            for chunk in iter_slices(X.sent_ptr, BATCH_LENGTH // 8):  # of words
                ptr = X.sent_ptr[chunk.start : chunk.stop + 1]
                yield encoded._replace(ids=X.tokens[ptr[0] : ptr[-1]], ptr=ptr - ptr[0]), chunk.start
            return
        n_rows = 0
        for batch in iter_batches(X, self._tokenizer, name=name, missing=self.missing):
            # A callable of the user is called in the user's thread.
            in_threads = self._tokenizer.is_compiled or self._tokenizer.characters is not None
            yield batch if in_threads else self._encode_batch(batch, n_rows), n_rows
            n_rows += len(batch)

    def _encode_batch(self, batch: EncodedSentences | Batch, first_row: int) -> EncodedSentences:
        return batch if isinstance(batch, EncodedSentences) else self._known_tokens().encode(batch, first_row)

    def _known_tokens(self) -> KnownTokens:
        """Return the cached word tables, or build them. They are never pickled.

        Not a property: `dir`, and so the HTML display, would build them.
        """
        self._check_state()
        state, of_this = side_state(self), (self.vocabulary_, self._tokenizer)
        found = state.known_tokens
        if found is None or not found.fits(*of_this):
            with state.making:
                found = state.known_tokens
                if found is None or not found.fits(*of_this):
                    check_rows(self.vocabulary_.values(), len(self.vocabulary_), len(self.vocabulary_))
                    found = state.known_tokens = KnownTokens(*of_this)
        return found

    def _check_corpus(self, X: SentenceCorpus, name: str) -> None:
        if X.tokenizer != self._tokenizer:
            raise ValueError(
                f"{name} was made with {X.tokenizer.difference(self._tokenizer)}, but {type(self).__name__} was fitted "
                f"with {self._tokenizer.difference(X.tokenizer)}. Build the corpus with the same options."
            )

    def _rows_of(self, words: Sequence[str]) -> np.ndarray:
        return check_rows((self.vocabulary_.get(word, -1) for word in words), len(words), len(self.vocabulary_))


def tokenizer_options(source: Any) -> dict[str, Any]:
    """The options of a tokenizer, or of an estimator, that say how text becomes words."""
    return {name: getattr(source, name) for name in _TOKENIZER_OPTIONS}
