"""The estimator of the paper on the convolutional sentence encoder: word order, learned from pairs of paraphrases."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.paired_words import PairedSequences, PairedState
from .._base.scikit_learn import parameters_from_fields
from .._base.start import median_length
from .._compiled.arrays import read_only
from .._corpus.pairs import CorpusOrPairs
from .._encoders.convolution import Convolution, Filters, LinearFilters, Shape, embed_bags, embed_windows, start_filters
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import ArrayRecord, LearnedArray, Start, start_zeros
from .._training.pairs import IndexedSentences
from .._training.state import ABSENT, Fitted, FittedState
from .._validation.constraints import integers, satisfies
from .._validation.messages import brief
from .._validation.values import RandomState
from .._word_vectors.bag import SUM, sum_rows
from .._word_vectors.matches import WordVectors

_WIDEST = 100


@dataclass(frozen=True, eq=False, repr=False)
class CSEState(PairedState):
    """What the method has learned."""

    windows: tuple[Any, ...] = ABSENT  # widths of the filters, whether they reach over both ends, whether there is tanh


@parameters_from_fields
class CSEVectorizer(PairedSequences):
    r"""Sentence embeddings that see word order, learned from pairs of sentences that mean the same: CSE.

    Filters of several widths move over the words of a sentence. A filter gives one value for each window, and the sum
    of these is one dimension of the sentence [1]_. It learns as :class:`ParaphraseVectorizer` does, word vectors and
    filters together.

    The :ref:`User Guide <cse>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the word vectors. "auto" is that of `init`, else 100. The paper has 300.
    filter_widths : tuple of int, default=(1, 2, 3)
        Words in a window, for each kind of filter.
    n_filters : int, default=100
        Filters of each width. A sentence has ``n_filters * len(filter_widths)`` numbers.
    activation : {"tanh", "identity"}, default="tanh"
        What becomes of the number of a window before the sum. "identity" is the linear form, the paper's.
    padding : {"wide", "narrow"}, default="wide"
        Whether windows reach over both ends of a sentence, where they see zeros, or lie inside it, as in the paper.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    learn : {"both", "directions", "weights", "vectors"}, default="both"
        What is learned of a word: the direction of its vector ("directions"), a weight ("weights"), "both", or, as in
        the paper, the whole vector ("vectors").
    loss : {"softmax", "hinge"}, default="softmax"
        "softmax" over the sentences of a block, or "hinge", the paper's, against the most similar one, with a `margin`.
    temperature : float, default=0.1
        Divides the cosines before the softmax; from 1e-4 to 1e4.
    margin : float, default=0.4
        Margin of the hinge; the paper's.
    alpha : float, default=0.0
        Strength of the pull to the start, the paper's :math:`\lambda_w`, on the words of a block.
    interpolation : float, default=1.0
        Where the result lies between the start, 0, and what was learned, 1. Less than 1 keeps more of `init`.
    filter_alpha : float, default=0.0
        Strength of the pull of the filters to zero, the paper's :math:`\lambda_c`.
    word_dropout : float, default=0.0
        Fraction of the words of a sentence that are left out at random in training.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero") or gets a random direction ("hash"): :ref:`words`.
    learning_rate : float, default=0.001
        Size of Adam's steps, above 0, relative to the median length of the vectors at the start; it falls to zero.
    max_iter : int or "auto", default="auto"
        Passes over the pairs, or each set of them. "auto" reads 2 million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Pairs in a block, which are negatives of each other. "auto" is 1/64 of them, 16 to 128. The paper has 100.
    min_count : int, default=1
        Words that occur less often are not learned, unless `init` has them.
    max_features : int or None, default=None
        Learn only this many of the most frequent words, and those of `init`.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`, the other strings as :class:`CharacterNgrams`. A callable returns the
        words of an item; the next three options are then not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs snowballstemmer), or a function from a word to its stem.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one. A
        pair that lacks a sentence is always an error.
    corpus : PairCorpus, list of PairCorpus, SentenceCorpus or None, default=None
        Pairs to learn from, instead of `X`. Sentences of one document of a SentenceCorpus are paraphrases.
    early_stopping : bool, default=False
        Hold out some pairs of each set, stop when their loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Fraction of the sentences to hold out, between 0 and 1: whole groups of paraphrases if there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes of a set in a row in which the held-out loss did not fall by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    warm_start : bool, default=False
        Whether `fit` goes on from the vocabulary and the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads that encode text; -1 means all cores. One thread learns. No bit of the result changes.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the pairs and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words that are learned, and those of `init`, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words, before `word_weights_` and the filters.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the pairs, and its weight, learned unless `learn` says otherwise.
    coverage_ : float
        Fraction of the words of the pairs that are in the vocabulary.
    filters_ : ndarray of shape (sum(filter_widths), n_filters, n_components), dtype float32
        Of each width, in the order of `filter_widths`, a matrix for each position in the window.
    intercept_ : ndarray of shape (len(filter_widths), n_filters), dtype float32
        What is added in each window.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, of one set of pairs after the other, and of a held-out one after it (empty
        without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    ParaphraseVectorizer : The mean of the words alone, and faster.

    References
    ----------
    .. [1] Xiaoqi Jiao, Fang Wang and Dan Feng, "Convolutional Neural Network for Universal Sentence Embeddings",
       COLING, 2018.

    Examples
    --------
    >>> from skembed import CSEVectorizer
    >>> pairs = [("cheap flights", "low cost air tickets"), ("rent a car", "car hire")] * 50
    >>> emb = CSEVectorizer(n_components=16, n_filters=16, random_state=0).fit(pairs)
    >>> emb.transform(["cheap flights", "air tickets"]).shape
    (2, 48)
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    filter_widths: Any = (1, 2, 3)
    n_filters: int = 100
    activation: str = "tanh"
    padding: str = "wide"
    init: WordVectors | None = None
    freeze_init: bool = False
    learn: str = "both"
    loss: str = "softmax"
    temperature: float = 0.1
    margin: float = 0.4
    alpha: float = 0.0
    interpolation: float = 1.0
    filter_alpha: float = 0.0
    word_dropout: float = 0.0
    unknown: str = "hash"
    learning_rate: float = 0.001
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
    min_count: int = 1
    max_features: int | None = None
    analyzer: Analyzer = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: StopWords = None
    stemmer: Stemmer = None
    missing: str = "error"
    corpus: CorpusOrPairs | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    tol: float = 1e-4
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0

    _state = CSEState()
    filters_ = Fitted[NDArray[np.float32]]()
    intercept_ = Fitted[NDArray[np.float32]]()
    _network = ("filters_", "intercept_")

    _parameter_constraints = {
        **PairedSequences._parameter_constraints,
        "filter_widths": [tuple, list],
        "n_filters": [integers(1)],
        "activation": [StrOptions({"tanh", "identity"})],
        "padding": [StrOptions({"wide", "narrow"})],
        "filter_alpha": [Interval(Real, 0.0, 1e6, closed="both")],
    }
    _paper_settings = {
        "CSE": {"n_components": 300, "filter_widths": (1, 2, 3), "n_filters": 100, "activation": "identity"}
        | {"padding": "narrow", "learn": "vectors", "loss": "hinge", "margin": 0.6, "alpha": 1e-6}
        | {"filter_alpha": 0.0, "interpolation": 1.0, "word_dropout": 0.1, "unknown": "zero"}
        | {"learning_rate": 0.001, "max_iter": 10, "batch_size": 256, "min_count": 1}
    }
    # end of the settings

    def _check_parameters(self) -> None:
        super()._check_parameters()
        widths = self.filter_widths
        if not len(widths) or not all(satisfies(width, integers(1, _WIDEST)) for width in widths):
            raise ValueError(f"filter_widths must be whole numbers from 1 to {_WIDEST}, got {brief(widths)}.")

    def _start(self, *given: Any) -> FittedState:
        n_features = len(self.filter_widths) * int(self.n_filters)
        state: Any = super()._start(*given)
        return replace(state, n_features_out_=n_features, windows=self._windows_of_options)

    @property
    def _windows_of_options(self) -> tuple[Any, ...]:
        return tuple(map(int, self.filter_widths)), self.padding == "wide", self.activation == "tanh"

    def _width_of_words(self, state: FittedState) -> int:
        vectors = state.arrays.get("_directions", state.arrays.get("word_vectors_"))
        return super()._width_of_words(state) if vectors is None else int(vectors.shape[1])

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        words = super()._learned_arrays(state)
        widths, n_filters, n_components = tuple(map(int, self.filter_widths)), int(self.n_filters), words[0].shape[1]
        shape, options = (sum(widths), n_filters, n_components), ("n_filters", "filter_widths", "activation", "padding")
        of_intercept = len(widths), n_filters
        network = [
            LearnedArray("_filters", shape, self._pass_words_through(state), "dense", options),
            LearnedArray("_intercept", of_intercept, start_zeros, "dense", options),
        ]
        return words + self._arrays_of_network(state, network)

    def _is_of_form(self, given: Any, arrays: list[LearnedArray]) -> bool:
        return super()._is_of_form(given, arrays) and given.windows == self._windows_of_options

    def _pass_words_through(self, state: FittedState) -> Start:
        """A start of the filters, whatever the index of their array."""
        length = median_length(state.start.vectors) if state.start is not None else 1.0
        return lambda array, _: start_filters(array, tuple(map(int, self.filter_widths)), length, state.seed)

    def _make_encoder(self, state: FittedState) -> Filters:
        words, shape = self._encoder_of_words(state), Shape.of(self._windows_of_options)
        encoder = LinearFilters if shape.is_bag else Convolution
        return encoder(words, state.arrays, shape, self.filter_alpha, self.word_dropout)

    def _derived_arrays(self, state: CSEState) -> list[ArrayRecord]:  # type: ignore[override]
        if state.windows != self._windows_of_options:
            raise ValueError(f"_windows is {brief(state.windows)}, expected {brief(self._windows_of_options)}.")
        records = super()._derived_arrays(state)
        n_features = math.prod(records[-1].shape)  # type: ignore[arg-type]
        if state.n_features_out_ != n_features:
            raise ValueError(f"n_features_out_ is {state.n_features_out_}, but the filters have {n_features}.")
        return records

    def _embed_words(  # type: ignore[override]
        self, state: CSEState, sentences: IndexedSentences, vectors: np.ndarray
    ) -> np.ndarray:
        words, ptr, shape = sentences.words, sentences.ptr, Shape.of(state.windows)
        filters, intercept = state.arrays["filters_"], state.arrays["intercept_"]
        if not shape.is_bag:
            return np.asarray(embed_windows(sentences, vectors, filters, intercept, shape))
        sums = np.empty((len(ptr) - 1, vectors.shape[1]), np.float32)
        vectors = read_only(vectors)
        sum_rows(words, np.ones(len(words), np.float32), ptr, vectors, vectors[:0], SUM, sums)
        return np.asarray(embed_bags(sums, ptr, filters, intercept, shape))
