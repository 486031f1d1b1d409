r"""Means and sums of word vectors (MOWE and SOWE), given or learned by word2vec.

The vectors may be weighted and freed of their common components as Arora, Liang and Ma (2017) do:

.. math::

    s = \frac{1}{|S|} \sum_{w \in S} \frac{a}{a + f_w} v_w, \qquad s' = s - P s

where :math:`f_w` is the frequency of a word and :math:`P` projects on the strongest common directions of sentences.
"""

from __future__ import annotations

from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.scikit_learn import fit_context
from .._base.trained import TrainedVectorizer
from .._corpus.corpus import SentenceCorpus
from .._objectives.word2vec import Word2VecObjective
from .._training.memory import explaining_memory_error
from .._validation.limits import integers
from .._word_vectors.given import GivenVectors
from .._word_vectors.join import needs_order_for


class MeanEmbeddingVectorizer(GivenVectors, TrainedVectorizer):
    r"""Mean or sum of word vectors, given or learned by word2vec, with optional weights and common part removed.

    Use it with vectors that somebody else learned, as the baseline that sentence models must beat (MOWE and SOWE [1]_),
    and for the weighted mean without its first component (Arora et al. [2]_). Without `word_vectors` it learns them
    from your text by skip-gram or continuous bag of words with negative sampling [3]_.

    Read more in the :ref:`User Guide <mean_embedding>`.

    Parameters
    ----------
    n_components : int, default=100
        Length of learned vectors, and the largest of joined ones. Not used with other `word_vectors`. The papers'
        baselines use 300.
    word_vectors : dict, (words, array), DataFrame, KeyedVectors, path, fitted estimator, list or None, default=None
        Vectors to use: a mapping of word to vector; a tuple of a sequence of str and an array of shape (n_words,
        n_components); a pandas DataFrame with the words as its index; gensim's KeyedVectors, or a gensim model that
        contains them; a fitted estimator of this package; or the path of a file in word2vec text, word2vec binary or
        GloVe format (also .gz, .bz2 and .xz), see :func:`read_word_vectors` for options. A list of these is joined, see
        Notes; `fit` fits the unfitted estimators in it. None means to learn vectors by word2vec.

        :func:`~sklearn.base.clone`, and so cross-validation, clones estimators and shares all other sources: do not
        change them in place. `fit` makes a float32 copy, except of a read-only, C-contiguous float32 array in (words,
        array), as :func:`read_word_vectors` returns it.
    algorithm : {"skipgram", "cbow"}, default="skipgram"
        Whether a word predicts each word of its window, or the mean of the window predicts the word.
    window : int, default=5
        Largest distance of two words in a window. The distance is drawn from 1 to `window` for each word.
    negative : int, default=5
        Random words to compare with, drawn by the 0.75th power of their frequency.
    subsample : float, default=1e-3
        Threshold t, above 0. A word of frequency f is kept with probability ``min(1, sqrt(t / f) + t / f)``.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean (MOWE) or the sum (SOWE) of its words at transform.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in that mean at transform. "idf" is ``log((1 + n) / (1 + df)) + 1`` for a word that ``df`` of
        ``n`` sentences hold, "sif" is ``a / (a + f)`` with ``a = 0.001`` and the word's share ``f`` of the text [2]_.
        Both come from the text given to `fit`, also where the vectors are given.
    binary : bool, default=False
        Whether a word counts once at transform, however often a sentence has it.
    numbers : {"word", "hash"}, default="word"
        What a word with a digit is at transform. "word" treats it as any other. "hash" gives it a random direction, as
        `unknown` does: numbers are used alike, so learned vectors of 1914 and 1945 are close, but they differ.
    subwords : float, default=0.0
        How much a word's spelling counts at transform, from 0 to 1. Its vector, also of an unknown word, is turned
        towards a direction made of its character n-grams, which words of like spelling share. Its length stays.
    whiten : bool, default=False
        How a list of `word_vectors` is joined, see Notes. False gives all words the same length. True keeps how much a
        word matters in each of the models, and makes all directions equally strong.
    n_removed_components : int, default=0
        Strongest common directions of the sentences to remove; fewer than `n_components`. Arora et al. remove 1.
    unknown : {"zero", "hash"}, default="hash"
        What becomes of a word without a vector. "zero", as in the papers, leaves it out. "hash" gives it a random
        direction that depends on its text alone, so that it still matches itself.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" divides the steps of a word by the root of its summed squared gradients, one sum a word. "sgd",
        word2vec's, takes plain steps at a rate that falls linearly to zero over `max_iter` passes.
    learning_rate : float, default=0.3
        Size of the steps, above 0. The two solvers need different values; for "sgd" begin with word2vec's 0.025
        (skip-gram) or 0.05 (bag of words).
    max_iter : int, default=5
        Passes over the text.
    batch_size : int or "auto", default="auto"
        Sentences in a block, all computed from the same weights. "auto" is 1/64 of them, but between 16 and 64 (112 if
        they are very short).
    min_count : int, default=5
        Words that occur less often are not learned. Given vectors are all kept.
    max_features : int or None, default=None
        Learn only this many of the most frequent words. Given vectors are all kept.
    analyzer : "word" or callable, default="word"
        "word" splits text by `token_pattern`. A callable gets an item of `X` and returns its words; the next three
        options are then not used.
    token_pattern : str, default=r"(?u)\\b\\w+\\b"
        Regular expression of a word.
    lowercase : bool, default=True
        Whether text is lowered before it is split. Use False for given vectors of words with capitals.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer), or a function from a word to its stem.
        Given vectors must then be vectors of stems.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, whatever `X` is given to `fit`.
    early_stopping : bool, default=False
        Hold out part of the text, stop when its loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of the sentences to hold out, between 0 and 1. Whole documents where there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row in which the held-out loss did not fall by more than `tol`.
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
        The words that have a vector, and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words, before numbers get others, spelling counts and common components are removed.
    target_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Target vectors of learned words. They are not used after training.
    components_ : ndarray of shape (n_removed_components, n_features_out), dtype float32
        The common directions that are removed.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Share of the words of that text that are in the vocabulary.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word, by `weighting`.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a target in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_ : int
        Number of passes made; 0 for given vectors.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    Sent2VecVectorizer : Learns words for being averaged over a whole sentence.
    BOWPCA : The other simple baseline.

    Notes
    -----
    *Common components* are the strongest directions of the sentences of `fit`, not centred. They are taken out of every
    word vector, which takes them out of every sentence and leaves each row independent of the others.

    *Differences from word2vec.* The gradient of a mean is divided by the number of its words; the program does not do
    this for its bag of words. One set of negatives, from one half of the words, serves a whole sentence, and in
    skip-gram each counts as often as there are words in the window. Blocks are computed from the same weights; then
    each word takes one step for each of its positions, in the order of the block. A row with c > 8 steps in one block
    takes steps of 8/c the size.

    *Joined vectors.* A list gives each word its vectors of length one side by side. If these are more than
    `n_components` numbers, they are projected on the strongest directions of the words, a word that occurs ``n`` times
    with weight ``n * (a / (a + f)) ** 2``, but for the first one in a hundred; then rows get length one again. With
    ``whiten=True`` an estimator's vectors have the lengths and the weights with which it sums them, all sources are
    equally strong in the text, and after the projection, with weight ``n``, so are all directions. What is not fitted
    is copied and learns from the text of `fit`, with `random_state` and `n_jobs` from here if its own is None.
    :func:`~sklearn.base.clone` makes estimators forget: keep them in a :class:`~sklearn.frozen.FrozenEstimator`.

    *The papers' own settings:* MOWE of [1]_ is ``MeanEmbeddingVectorizer(word_vectors=path, lowercase=False,
    pooling="mean", weighting=None, n_removed_components=0, unknown="zero")`` with the Google News vectors at ``path``,
    SOWE the same with ``pooling="sum"``. W and R of [2]_ are ``weighting="sif"`` and ``n_removed_components=1``. The
    word2vec baselines of the sentence models' papers are in :ref:`papers`.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.
    .. [2] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
       ICLR, 2017.
    .. [3] T. Mikolov, I. Sutskever, K. Chen, G. Corrado and J. Dean, "Distributed Representations of Words and Phrases
       and their Compositionality", NIPS, 2013.

    Examples
    --------
    With given vectors:

    >>> from skembed import MeanEmbeddingVectorizer
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    >>> MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero").fit_transform(["A cat!", "Cat and dog.", ""])
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 0. ]], dtype=float32)

    With learned vectors, of skip-gram and of two other models:

    >>> from skembed import CBOSVectorizer, Sent2VecVectorizer
    >>> sentences = ["The cat drinks milk.", "The bank lends money."] * 50
    >>> MeanEmbeddingVectorizer(n_components=16, random_state=0).fit_transform(sentences).shape
    (100, 16)
    >>> both = [CBOSVectorizer(), Sent2VecVectorizer()]
    >>> MeanEmbeddingVectorizer(n_components=20, word_vectors=both, weighting="sif").fit_transform(sentences).shape
    (100, 20)
    """

    _parameter_constraints: dict[str, Any] = {
        **TrainedVectorizer._parameter_constraints,
        "word_vectors": "no_validation",  # checked when they are read
        "algorithm": [StrOptions({"skipgram", "cbow"})],
        "window": [integers(1)],
        "negative": [integers(1)],
        "subsample": [Interval(Real, 1e-12, 1e12, closed="both")],
        "binary": ["boolean"],
        "numbers": [StrOptions({"word", "hash"})],
        "subwords": [Interval(Real, 0.0, 1.0, closed="both")],
        "whiten": ["boolean"],
        "n_removed_components": [integers(0)],
    }
    target_vectors_: NDArray[np.float32]
    _default_batch_size = 64
    _run_length = 1

    def __init__(
        self,
        n_components: int = 100,
        *,
        word_vectors: Any = None,
        algorithm: str = "skipgram",
        window: int = 5,
        negative: int = 5,
        subsample: float = 1e-3,
        pooling: str = "mean",
        weighting: str | None = None,
        binary: bool = False,
        numbers: str = "word",
        subwords: float = 0.0,
        whiten: bool = False,
        n_removed_components: int = 0,
        unknown: str = "hash",
        solver: str = "adagrad",
        learning_rate: float = 0.3,
        max_iter: int = 5,
        batch_size: int | str = "auto",
        min_count: int = 5,
        max_features: int | None = None,
        analyzer: Any = "word",
        token_pattern: str = r"(?u)\b\w+\b",
        lowercase: bool = True,
        stop_words: Any = None,
        stemmer: Any = None,
        corpus: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.word_vectors = word_vectors
        self.algorithm = algorithm
        self.window = window
        self.negative = negative
        self.subsample = subsample
        self.pooling = pooling
        self.weighting = weighting
        self.binary = binary
        self.numbers = numbers
        self.subwords = subwords
        self.whiten = whiten
        self.n_removed_components = n_removed_components
        self.unknown = unknown
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.min_count = min_count
        self.max_features = max_features
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.corpus = corpus
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @fit_context
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Learn word vectors, or take the given ones; then word weights and common components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. Where the parameter `corpus` is given, that is learned from and `X` is not.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. Changes nothing here: a window of words never leaves its sentence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If `word_vectors` has a type that is not supported.
        ValueError
            If no word of the text has a vector, or none in one of the joined models, or a vector is invalid; names
            which.
        MemoryError
            If there is less memory than the fit, `n_removed_components` or joined vectors need.

        Warns
        -----
        UserWarning
            If fewer than a third of the words of the text have a given vector; says the likely reason. If `y` is given
            without `groups` or a corpus, and `fit` fits an estimator in `word_vectors` that needs reading order.
        """
        corpus = self._corpus_to_learn_from(X, groups, y)
        if self.word_vectors is not None:
            self._take_given(corpus, fresh=True)
        else:
            keep = self.warm_start and hasattr(self, "target_vectors_")
            with explaining_memory_error(self, corpus, keep=keep):
                fitted = self._keep_vocabulary(corpus) if keep else self._start(corpus)
                fitted.pop("_moments", None)  # of the previous vectors
                self._train(corpus, fitted, X=X, n_epochs=self.max_iter, partial=False)
        return self

    @fit_context
    def partial_fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Make one pass over some more sentences.

        The first call decides the vocabulary and the word weights. With given `word_vectors`, later calls only
        refine the common components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        UserWarning
            As in `fit`, and if the share of known words of `X` is far lower than in the text of the first call.
        """
        corpus = self._corpus_to_learn_from(X, groups, y)
        first = not hasattr(self, "vocabulary_")
        if self.word_vectors is None:
            with explaining_memory_error(self, corpus, keep=not first):
                fitted = self._start(corpus) if first else self._keep_vocabulary(corpus)
                self._train(corpus, fitted, X=X, n_epochs=1, partial=True)
            return self
        self._take_given(corpus, fresh=first)
        return self

    @property
    def _needs_order_for(self) -> str | None:
        return needs_order_for(self.word_vectors)

    def _weight_shapes(self, n_words: int) -> dict[str, tuple[int, ...]]:
        if self.word_vectors is not None:
            return {}
        return super()._weight_shapes(n_words) | {
            "target_vectors_": (n_words, self.n_components),
            "_target_accumulator": (n_words, 2),
        }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.word_vectors is None and self.n_removed_components >= self.n_components:
            raise ValueError(
                f"n_removed_components={self.n_removed_components} must be smaller than "
                f"n_components={self.n_components}."
            )

    def _make_objective(self, fitted: dict[str, Any]) -> Word2VecObjective:
        return Word2VecObjective(self, fitted)

    def _finish_fit(self, fitted: dict[str, Any], corpus: SentenceCorpus) -> dict[str, Any]:
        fitted = super()._finish_fit(fitted, corpus)
        model = copy(self)
        model.__dict__.update(fitted)
        model._remove_components(corpus, fresh="_moments" not in fitted)
        names = ("components_", "_freed_vectors", "_moments", "_numbers", "_subwords")
        return fitted | {name: getattr(model, name) for name in names}
