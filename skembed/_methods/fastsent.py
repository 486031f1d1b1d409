"""FastSent (Hill, Cho and Korhonen, 2016): a sentence predicts the words of the sentences around it."""

from dataclasses import KW_ONLY

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.context import ShardedVectorizer
from .._base.pooled import SAMPLED_WORDS, PooledVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._objectives.fastsent import FastSentObjective
from .._shards.plan import MergeSchedule
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.constraints import INT64_MAX, Settings, integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors

# start of the settings
_PAPER: Settings = {"n_components": 100, "window": 1, "negative": 10, "subsample": 1.0, "pooling": "sum"}
_PAPER |= {"weighting": None, "unknown": "zero", "solver": "sgd", "learning_rate": 0.1, "max_iter": 1}
_PAPER |= {"batch_size": 1, "max_sentence_length": None, "min_count": 10}
PAPER_SETTINGS = {"FastSent": {**_PAPER, "autoencode": False}, "FastSent+AE": {**_PAPER, "autoencode": True}}
# end of the settings


@parameters_from_fields
class FastSentVectorizer(PooledVectorizer, ShardedVectorizer):
    r"""Sentence embeddings learned by predicting the words of the neighbouring sentences: FastSent.

    A sentence is the sum of the source vectors of its words. They are learned so that this sum predicts the target
    vectors of the words of the sentences beside it, and with `autoencode` of its own words too (FastSent+AE) [1]_. Use
    it where you have text in reading order: books, articles, manuals, dialogues.

    The :ref:`User Guide <fastsent>` has the objective, its gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The published program makes 100.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    window : int, default=1
        Sentences on each side whose words are predicted. The paper uses 1. It never leaves a document.
    autoencode : bool, default=False
        Whether a sentence predicts its own words too: FastSent+AE in the paper.
    negative : int, default=10
        Random words to compare with, drawn by the root of their frequency; the paper has a hierarchical softmax.
    subsample : float, default=1e-4
        Threshold t, above 0: a word of frequency f is predicted with probability ``min(1, sqrt(t / f) + t / f)``.
    pooling : {"mean", "sum"}, default="sum"
        Whether a sentence is the sum (the paper) or the mean of its words.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in the sum: "idf" or "sif", as :ref:`training` says. None, as in the paper, means 1.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd", the paper's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.15
        Size of the steps, above 0. For "sgd" begin near 0.1.
    max_iter : int or "auto", default="auto"
        Passes over the text. The published program makes 1. "auto" reads 3 million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block; the published program has 1. "auto" is 1/64 of them, from 16 to 64 (112 if very short).
    max_sentence_length : int, "auto" or None, default="auto"
        Longer sentences are split in training; None never splits. "auto" is 16, or None for n-grams of characters.
    min_count : int, default=5
        Words that occur less often are not learned. The published program uses 10.
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
        Text to learn from, instead of the `X` given to `fit`, as in cross-validation, which breaks the order.
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
        Seed of the start values, the order of the text and the negatives.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The learned words and their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Source vectors of the words, which make the sentences.
    target_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Target vectors of the words. They are not used after training.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text, and its weight, by `weighting`.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    CBOSVectorizer : Predicts the sentence between its neighbours, not their words.
    Sent2VecVectorizer : Predicts the words of the sentence itself, and needs no order of the sentences.

    References
    ----------
    .. [1] F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data",
       NAACL, 2016.

    Examples
    --------
    >>> from skembed import FastSentVectorizer
    >>> pets, shares = ["The cat sleeps.", "The cat drinks."], ["Stocks fell.", "Shares fell."]
    >>> sentences, documents = (pets + shares) * 50, [i // 2 for i in range(200)]
    >>> emb = FastSentVectorizer(16, min_count=1, max_iter=10, random_state=0)
    >>> emb = emb.fit(sentences, groups=documents)
    >>> emb.similarity("cat sleeps", "cat drinks") > emb.similarity("cat sleeps", "shares")
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    window: int = 1
    autoencode: bool = False
    negative: int = 10
    subsample: float = 1e-4
    pooling: str = "sum"
    weighting: str | None = None
    unknown: str = "hash"
    solver: str = "adagrad"
    learning_rate: float = 0.15
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
        "freeze_init": ["boolean"],
        "window": [integers(1)],
        "autoencode": ["boolean"],
        **SAMPLED_WORDS,
        "max_sentence_length": [integers(2, INT64_MAX), StrOptions({"auto"}), None],
    }
    _needs_order = True
    _pace = MergeSchedule(128, most_tokens=250_000)
    target_vectors_ = Fitted[NDArray[np.float32]]()
    _paper_settings = PAPER_SETTINGS

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        shape = len(state.word_counts_), self._width_of_words(state)
        start = self._start_of_words(state, start_uniform(0.5 / shape[1]))
        return [
            LearnedArray("word_vectors_", shape, start, is_source=True),
            LearnedArray("target_vectors_", shape, kept=False),
        ]

    def _make_objective(self, state: FittedState) -> FastSentObjective:
        return FastSentObjective(self, state)
