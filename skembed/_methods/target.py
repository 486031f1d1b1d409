"""The estimator that learns from a vector for each sentence: a teacher's, a defined word's, an image's."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.pooled import PooledVectorizer
from .._base.scikit_learn import fit_context, parameters_from_fields
from .._base.trained import TrainedVectorizer
from .._compiled.products import product_by_row
from .._corpus.corpus import SentenceCorpus
from .._objectives.target import LOSSES, Options, TargetObjective, directions_of
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.checkpoint import Checkpoint
from .._training.encoded_text import Annotations
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.passes import AutoPasses
from .._training.state import Fitted, FittedState
from .._validation.columns import Labels, Sentences
from .._validation.messages import brief
from .._validation.targets import checked_targets
from .._validation.values import PathLike, RandomState
from .._word_vectors.matches import WordVectors


@parameters_from_fields
class TargetVectorizer(PooledVectorizer, TrainedVectorizer):
    r"""Sentence embeddings learned from a vector that each sentence should have.

    A sentence is the mean of its words' vectors. They are learned so that a linear map takes the sentence to the
    direction of its target, and so that sentences are as similar as their targets are. The targets are an array, from
    any source:

    - the embeddings of your sentences by a large model, the teacher: the student needs no such model, and embeds about
      half a million sentences a second;
    - for definitions, the vectors of the defined words: DictRep [1]_; for captions, image features: CaptionRep [2]_.

    The :ref:`User Guide <target>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is 100, or that of the vectors of `init`, beside which `fit` warns of another.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    loss : str or tuple of str, default=("cosine", "similarity")
        What is minimised, one or the sum of several. "cosine" is 1 - the cosine of a mapped sentence and its target.
        "similarity" is the squared difference between the cosines of sentences and those of their targets. "softmax"
        and "hinge" tell the target of a sentence from the others of its chunk of 128 sentences.
    temperature : float, default=0.05
        Divides the cosines in "softmax".
    margin : float, default=0.1
        "hinge" has no loss where the cosine with the sentence's target exceeds that with another by this margin.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean or the sum of its words. Changes lengths only; all losses compare directions.
    weighting : {"idf", "sif"} or None, default="sif"
        Weight of a word in the sentence: "idf" or "sif", as :ref:`training` says. None means 1.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero") or gets a random direction ("hash"): :ref:`words`.
    solver : {"adam", "adagrad", "sgd"}, default="adam"
        "adam" and "adagrad" adapt the steps to each number. The rate of "adam" and "sgd" falls linearly to zero.
    learning_rate : float, default=0.002
        Size of the steps, above 0.
    max_iter : int or "auto", default="auto"
        Passes over the text. "auto" reads 20 million words in all, in 8 to 50 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of the sentences, from 16 to 256.
    min_count : int, default=2
        Words that occur less often are not learned, except those of `init`.
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
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, instead of the `X` given to `fit`; `y` then holds the targets of its sentences.
    early_stopping : bool, default=False
        Hold out part of the text, stop when its loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Fraction of the sentences to hold out, between 0 and 1. Whole documents if there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row without a fall of the held-out loss by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    warm_start : bool, default=False
        Whether `fit` goes on from the vocabulary and the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words of `init` in its order, then those that are learned beside them, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words.
    coef_ : ndarray of shape (n_targets, n_components), dtype float32
        Matrix of the linear map, for :meth:`predict`. With "similarity" alone it stays random.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text (0 if only `init` has it), and its weight, by `weighting`.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    Sent2VecVectorizer : Learns from sentences alone; a start for `init`.
    MeanEmbeddingVectorizer : Means of given word vectors, without learning.

    Notes
    -----
    *Targets.* Only their directions count. Where a teacher's vectors have a large mean, subtract it. A memory-mapped
    array is read a chunk at a time; half precision is enough. The `y` of a pipeline holds labels, so learn from the
    teacher first and put ``FrozenEstimator(student)`` into the pipeline.

    References
    ----------
    .. [1] F. Hill, K. Cho, A. Korhonen and Y. Bengio, "Learning to Understand Phrases by Embedding the Dictionary",
       Transactions of the Association for Computational Linguistics, 2016.
    .. [2] F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data",
       NAACL-HLT, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed import TargetVectorizer
    >>> words = ["cat", "river", "bread", "engine"]
    >>> vectors = np.random.default_rng(0).normal(size=(4, 8))
    >>> definitions = ["an animal that purrs", "water that flows", "baked flour", "a machine"]
    >>> emb = TargetVectorizer(16, loss="cosine", min_count=1, max_iter=50, random_state=0)
    >>> emb = emb.fit(definitions * 20, np.tile(vectors, (20, 1)))
    >>> words[np.argmax(emb.predict(["an animal that purrs"]) @ vectors.T)]
    'cat'
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    loss: Any = ("cosine", "similarity")
    temperature: float = 0.05
    margin: float = 0.1
    pooling: str = "mean"
    weighting: str | None = "sif"
    unknown: str = "hash"
    solver: str = "adam"
    learning_rate: float = 0.002
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
    min_count: int = 2
    max_features: int | None = None
    analyzer: Analyzer = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: StopWords = None
    stemmer: Stemmer = None
    missing: str = "error"
    corpus: SentenceCorpus | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 3
    tol: float = 1e-4
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0

    coef_ = Fitted[NDArray[np.float32]]()
    _learns_from = "targets"
    _auto_passes = AutoPasses(20_000_000, least=8, most=50)
    _parameter_constraints = {
        **PooledVectorizer._parameter_constraints,
        **TrainedVectorizer._parameter_constraints,
        "freeze_init": ["boolean"],
        "loss": [StrOptions(set(LOSSES)), tuple, list],
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both")],
        "margin": [Interval(Real, 0.0, 2.0, closed="both")],
        "solver": [StrOptions({"adam", "adagrad", "sgd"})],
    }
    _median_length_at_start = 1.0  # which `learning_rate` is tuned for
    _paper_settings = {
        name: {"n_components": 256, "loss": loss, "margin": 0.1, "pooling": "sum", "weighting": None}
        | {"unknown": "zero", "solver": "adam", "learning_rate": 0.001, "max_iter": 3, "batch_size": 16}
        | {"min_count": 1}
        for name, loss in {"DictRep": "cosine", "DictRep, ranking": "hinge"}.items()
    }
    # end of the settings

    @fit_context
    def fit(
        self,
        X: Sentences,
        y: Labels = None,
        *,
        groups: Labels = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
    ) -> Self:
        """Learn from sentences and their targets.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : array-like of shape (n_sentences, n_targets)
            A vector for each sentence.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. `early_stopping` holds out whole documents.
        checkpoint, checkpoint_every : path-like or None, default=None; int, default=1
            As in :meth:`CBOSVectorizer.fit`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError, ValueError, MemoryError
            If a sentence is not a string, or `y` does not hold numbers, lacks a vector for some sentence, or has NaN,
            infinity or a row of zeros; names the row. Also as :meth:`CBOSVectorizer.fit`, as are the warnings.
        """
        return self._fit(X, y, groups, Checkpoint(checkpoint, checkpoint_every))

    @fit_context
    def partial_fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None, new_words: str = "append") -> Self:
        """Make one pass over some more sentences and their targets.

        The first call learns the vocabulary, the word counts and the word weights. The learning rate does not fall.

        Parameters
        ----------
        X, y, groups : iterable of str; array-like of shape (n_sentences, n_targets); array-like, default=None
            As in `fit`.
        new_words : {"append", "ignore"}, default="append"
            As in :meth:`CBOSVectorizer.partial_fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, y, groups, partial=True, new_words=new_words)

    def predict(self, X: Sentences) -> NDArray[np.float32]:
        """Map each sentence to the space of the targets.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        y : ndarray of shape (n_sentences, n_targets), dtype float32
            Rows of length one; zeros for a sentence that has no vector. Compare them with targets by their cosine.
        """
        state = self._fitted_state()
        coef = state.arrays["coef_"]
        return directions_of(product_by_row(self._embed(state, X, "X"), coef)[:, : len(coef)])[0]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._losses or not all(isinstance(name, str) and name in LOSSES for name in self._losses):
            raise ValueError(f"loss must be one or several of {', '.join(LOSSES)}, got {brief(self.loss)}.")

    @property
    def _losses(self) -> tuple[Any, ...]:
        return (self.loss,) if isinstance(self.loss, str) else tuple(self.loss)

    def _sentence_targets(self, corpus: SentenceCorpus, y: Labels) -> Annotations:
        text = "the text" if self.corpus is None else "the parameter corpus, to whose sentences y belongs,"
        return (checked_targets(y, corpus.n_sentences, type(self).__name__, text),)

    def _settings(self, state: FittedState, annotations: Annotations, classes: Any) -> FittedState:
        return replace(state, n_targets=annotations[0].shape[1])

    def _keep_vocabulary(self, corpus: SentenceCorpus, annotations: Annotations) -> FittedState:
        state = super()._keep_vocabulary(corpus, annotations)
        if (now := annotations[0].shape[1]) != state.n_targets:
            raise ValueError(
                f"y has vectors of length {now}, but {type(self).__name__} was fitted to vectors of length "
                f"{state.n_targets}. Fit a new estimator, or set warm_start=False and call fit."
            )
        return state

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        width, words, options = state.n_features_out_, len(state.word_counts_), ("n_components", "solver")
        start = self._start_of_words(state, start_uniform(np.sqrt(3 / width)))  # lengths of about one
        coef = LearnedArray("coef_", (state.n_targets, width), start_uniform(width**-0.5), "dense", options)
        return [LearnedArray("word_vectors_", (words, width), start, options=options, is_source=True), coef]

    def _make_objective(self, state: FittedState) -> TargetObjective:
        return TargetObjective(state.arrays, Options(self._losses, self.temperature, self.margin))
