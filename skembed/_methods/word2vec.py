"""Word2vec (Mikolov et al., 2013): skip-gram and continuous bag of words with negative sampling."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.context import ShardedVectorizer
from .._base.pooled import SAMPLED_WORDS, PooledVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._objectives.word2vec import Word2VecObjective
from .._shards.plan import MergeSchedule
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.constraints import Settings, integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors

# start of the settings
_PAPER: Settings = {"n_components": 300, "window": 5, "negative": 5, "subsample": 1e-5, "min_count": 5}
_PAPER |= {"max_iter": 5, "batch_size": 1, "solver": "sgd", "pooling": "mean", "weighting": None, "unknown": "zero"}
PAPER_SETTINGS = {
    "skip-gram": {**_PAPER, "algorithm": "skipgram", "learning_rate": 0.025},
    "CBOW": {**_PAPER, "algorithm": "cbow", "learning_rate": 0.05},
}
# end of the settings


@parameters_from_fields
class Word2VecVectorizer(PooledVectorizer, ShardedVectorizer):
    r"""Mean or sum of word vectors that predict the words near them.

    Learns by skip-gram or continuous bag of words (CBOW) with negative sampling [1]_. Windows never cross the ends of
    a sentence, so the order of the sentences is not used. Use it as the baseline that sentence models must beat, or as
    the source of the vectors of a :class:`MeanEmbeddingVectorizer`, which can remove their common components.

    The :ref:`User Guide <word2vec>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The papers' baselines use 300.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    algorithm : {"skipgram", "cbow"}, default="skipgram"
        Whether a word predicts each word of its window, or the mean of the window predicts the word.
    window : int, default=5
        Largest distance of two words in a window. The distance is drawn from 1 to `window` for each word.
    negative : int, default=5
        Random words to compare with, drawn by the 0.75th power of their frequency.
    subsample : float, default=1e-3
        Threshold t, above 0: a word of frequency f is kept with probability ``min(1, sqrt(t / f) + t / f)``.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean or the sum of its words at transform.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word at transform: "idf" or "sif", as :ref:`training` says. None means 1.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd", word2vec's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.3
        Size of the steps, above 0. For "sgd" begin with word2vec's 0.025 (skip-gram) or 0.05 (bag of words).
    max_iter : int or "auto", default="auto"
        Passes over the text. "auto" reads 3 million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of them, from 16 to 64 (112 if they are very short).
    min_count : int, default=5
        Words that occur less often are not learned.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
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
        Text to learn from, instead of the `X` given to `fit`.
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
    n_shards : int or None, default=None
        Shards that the `engine` of `fit` can learn at once. They change the result (:ref:`more_text`). None means 1.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words that are learned, and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Source vectors of the words, which make the sentences.
    target_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Target vectors of the words. They are not used after training.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text, and its weight, by `weighting`.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a target in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    MeanEmbeddingVectorizer : Means of these vectors or others, with common components removed.
    Sent2VecVectorizer : Learns words for being averaged over a whole sentence.

    References
    ----------
    .. [1] T. Mikolov, I. Sutskever, K. Chen, G. Corrado and J. Dean, "Distributed Representations of Words and Phrases
       and their Compositionality", NIPS, 2013.

    Examples
    --------
    >>> from skembed import Word2VecVectorizer
    >>> sentences = ["The cat drinks milk.", "The bank lends money."] * 50
    >>> emb = Word2VecVectorizer(n_components=16, random_state=0).fit(sentences)
    >>> emb.similarity("cat", "milk") > emb.similarity("cat", "bank")
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    algorithm: str = "skipgram"
    window: int = 5
    negative: int = 5
    subsample: float = 1e-3
    pooling: str = "mean"
    weighting: str | None = None
    unknown: str = "hash"
    solver: str = "adagrad"
    learning_rate: float = 0.3
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
    min_count: int = 5
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
    n_shards: int | None = None
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0

    _parameter_constraints = {
        **PooledVectorizer._parameter_constraints,
        **ShardedVectorizer._parameter_constraints,
        "freeze_init": ["boolean"],
        "algorithm": [StrOptions({"skipgram", "cbow"})],
        "window": [integers(1)],
        **SAMPLED_WORDS,
    }
    _pace = MergeSchedule(64, most_tokens=125_000, farthest_of_long=4.0)
    target_vectors_ = Fitted[NDArray[np.float32]]()
    _paper_settings = PAPER_SETTINGS

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        shape = len(state.word_counts_), self._width_of_words(state)
        start = self._start_of_words(state, start_uniform(0.5 / shape[1]))
        return [
            LearnedArray("word_vectors_", shape, start, is_source=True),
            LearnedArray("target_vectors_", shape, kept=False),
        ]

    def _make_objective(self, state: FittedState) -> Word2VecObjective:
        return Word2VecObjective(self, state)
