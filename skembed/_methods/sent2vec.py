"""The estimator of the paper on Sent2Vec."""

from dataclasses import KW_ONLY
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.context import ShardedVectorizer
from .._base.pooled import NGRAMS, SAMPLED_WORDS, PooledVectorizer, ngram_vectors_of
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._objectives.sent2vec import Sent2VecObjective
from .._shards.plan import MergeSchedule
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.constraints import INT64_MAX, Settings, integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors

# start of the settings
_WORDS: Settings = {"ngram_range": (1, 1), "negative": 10, "alpha": 0.0, "solver": "sgd", "learning_rate": 0.2}
_WORDS |= {"batch_size": 1, "max_sentence_length": None, "pooling": "mean", "weighting": None, "unknown": "zero"}
_BIGRAMS = {**_WORDS, "ngram_range": (1, 2), "n_buckets": 4_000_000}  # the published command's buckets
_BOOKS = {"min_count": 5, "n_components": 700}
_WIKI = {"min_count": 8, "max_iter": 9, "min_target_count": 20}
_TWITTER = {"min_count": 20, "max_iter": 3, "min_target_count": 20, "n_components": 700, "subsample": 1e-6}
PAPER_SETTINGS: dict[str, Settings] = {
    "Sent2Vec, books": {**_WORDS, **_BOOKS, "max_iter": 13, "min_target_count": 8, "subsample": 1e-5},
    "Sent2Vec, books, bigrams": {**_BIGRAMS, **_BOOKS, "max_iter": 12, "min_target_count": 5}
    | {"subsample": 5e-6, "dropout_k": 7},
    "Sent2Vec, Wikipedia": {**_WORDS, **_WIKI, "n_components": 600, "subsample": 1e-5},
    "Sent2Vec, Wikipedia, bigrams": {**_BIGRAMS, **_WIKI, "n_components": 700, "subsample": 5e-6, "dropout_k": 4},
    "Sent2Vec, Twitter": {**_WORDS, **_TWITTER},
    "Sent2Vec, Twitter, bigrams": {**_BIGRAMS, **_TWITTER, "dropout_k": 3},
}
# end of the settings


@parameters_from_fields
class Sent2VecVectorizer(PooledVectorizer, ShardedVectorizer):
    r"""Sentence embeddings learned by predicting each word from the rest of its sentence: Sent2Vec.

    A sentence is the mean of the source vectors of its words and of its word n-grams, if any. They are learned so
    that this mean, without one word, predicts that word's target vector [1]_. Sentences are learned one by one, so
    their order does not matter: use it for reviews, tweets, queries or titles, and where `X` comes shuffled.

    The :ref:`User Guide <sent2vec>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The paper uses 600 and 700.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    ngram_range : tuple of (int, int), default=(1, 1)
        (1, n) learns word n-grams of up to n words beside the words. The paper uses (1, 1) and (1, 2). With the
        analyzers "char" and "char_wb" it counts characters, as in scikit-learn, and (1, 1) means (1, 4).
    n_buckets : int, default=500_000
        Rows that all n-grams share by hashing; not used for words alone.
    dropout_k : int, default=2
        Word n-grams that are dropped at random in each sentence and pass, K in the paper, which uses 3 to 7.
    negative : int, default=10
        Random words that a target is compared with, drawn by the root of their frequency. The paper uses 10.
    subsample : float, default=1e-4
        Threshold t, above 0: a word of frequency f is a target with probability ``min(1, sqrt(t / f) + t / f)``.
    min_target_count : int, default=1
        Words that occur less often are never targets. The paper uses 5 to 20.
    alpha : float, default=0.0
        Strength of the L1 norm, 0 or more. At each update the numbers of a target vector move towards zero by the
        learning rate times alpha; for a source vector this is divided by the number of features in the mean.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean (the paper, eq. 2) or the sum of its parts.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in the mean: "idf" or "sif", as :ref:`training` says. An n-gram has the mean weight of its
        words. None, as in the paper, means 1.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd", the paper's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.5
        Size of the steps, above 0. The paper uses 0.2 for "sgd".
    max_iter : int or "auto", default="auto"
        Passes over the text. The paper makes 3 to 13. "auto" reads 3 million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block; 1 is nearest to the published program. "auto" is 1/64 of them, 16 to 64 (112 if short).
    max_sentence_length : int, "auto" or None, default="auto"
        Longer sentences are split in training; None never splits. "auto" is 32, or None for n-grams of characters.
    min_count : int, default=5
        Words that occur less often are not learned. The paper uses 5 to 20.
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
        The learned words and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Source vectors of the words.
    ngram_vectors_ : ndarray of shape (n_buckets, n_components), dtype float32
        Source vectors of the hashed n-grams; no rows for words alone.
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
    CBOSVectorizer : Learns from neighbouring sentences, where the text has an order.
    Word2VecVectorizer : Learns from windows of a few words.

    References
    ----------
    .. [1] M. Pagliardini, P. Gupta and M. Jaggi, "Unsupervised Learning of Sentence Embeddings using Compositional
       n-Gram Features", NAACL, 2018.

    Examples
    --------
    >>> from skembed import Sent2VecVectorizer
    >>> sentences = ["The cat has milk.", "The kitten has milk.", "The bank has money."] * 50
    >>> emb = Sent2VecVectorizer(16, ngram_range=(1, 2), n_buckets=1000, random_state=0)
    >>> emb = emb.fit(sentences)
    >>> emb.similarity("cat", "kitten") > emb.similarity("cat", "bank")
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    ngram_range: tuple[int, int] = (1, 1)
    n_buckets: int = 500_000
    dropout_k: int = 2
    negative: int = 10
    subsample: float = 1e-4
    min_target_count: int = 1
    alpha: float = 0.0
    pooling: str = "mean"
    weighting: str | None = None
    unknown: str = "hash"
    solver: str = "adagrad"
    learning_rate: float = 0.5
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
    max_sentence_length: int | str | None = "auto"
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
        **NGRAMS,
        "freeze_init": ["boolean"],
        "max_sentence_length": [integers(2, INT64_MAX), StrOptions({"auto"}), None],
        "dropout_k": [integers(0)],
        **SAMPLED_WORDS,
        "min_target_count": [integers(1, INT64_MAX)],
        "alpha": [Interval(Real, 0.0, 1e6, closed="both")],
    }
    ngram_vectors_ = Fitted[NDArray[np.float32]](ngram_vectors_of)
    target_vectors_ = Fitted[NDArray[np.float32]]()
    _words_of_sentence = 32
    _paper_settings = PAPER_SETTINGS
    _pace = MergeSchedule(least_of_shard=250_000)

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        n_words, n_components = len(state.word_counts_), self._width_of_words(state)
        start = self._start_of_words(state, start_uniform(1.0 / n_components, n_words))
        target = LearnedArray("target_vectors_", (n_words, n_components), kept=False)
        return [self._source_array(state, start), target]

    def _make_objective(self, state: FittedState) -> Sent2VecObjective:
        return Sent2VecObjective(self, state)
