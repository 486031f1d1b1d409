"""The estimator of the paper on Continuous Bag of Sentences."""

from dataclasses import KW_ONLY

from sklearn.utils._param_validation import StrOptions

from .._base.context import ContextVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._objectives.cbos import CBOSObjective
from .._shards.plan import MergeSchedule
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray
from .._training.state import FittedState
from .._validation.constraints import INT64_MAX, integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors


@parameters_from_fields
class CBOSVectorizer(ContextVectorizer):
    r"""Sentence embeddings learned by finding a sentence from its neighbours: Continuous Bag of Sentences.

    A sentence is the sum of its words' vectors. The vectors are learned so that the mean of the neighbouring sentences
    picks out the sentence between them among random other ones [1]_. Use it where you have text in reading order:
    books, articles, manuals, dialogues. Use it with classes `y` too: then it learns which words tell the classes apart,
    for the classifier behind it. Where sentences stand alone and have no labels use :class:`Sent2VecVectorizer`.

    The :ref:`User Guide <cbos>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The paper uses 100.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`); its words come first. None starts at random.
    freeze_init : bool, default=False
        Whether the words of `init` keep their vectors, so that only others are learned.
    interpolation : float, default=1.0
        Where the result lies between the start, 0, and what was learned, 1. From few labels begin near 0.05, with a
        `learning_rate` of 0.03 (:ref:`few_labels`).
    context : {"auto", "order", "labels"}, default="auto"
        What is learned from: "order", the neighbours in the text, as in the paper, or "labels", other sentences of the
        class. "auto" takes labels where `y` holds classes and neither `groups` nor `corpus` is given; later fits keep
        to the choice of the first.
    window : int, default=1
        Sentences on each side that make the context, k in the paper, which uses 1. It never leaves a document.
    ngram_range : tuple of (int, int), default=(1, 1)
        (1, n) learns word n-grams of up to n words beside the words: (1, 2) adds pairs of neighbours. With the
        analyzers "char" and "char_wb" it counts characters, and (1, 1) means (1, 4).
    n_buckets : int, default=500_000
        Rows that the n-grams share, by hashing. Not used for words alone.
    negative : int, default=10
        Random sentences that the true one is compared with, m in the paper, which uses 2.
    word_dropout : float, default=0.0
        Probability that a word is left out of its sentence in a pass, at least 0 and below 1.
    pooling : {"auto", "sum", "mean"}, default="auto"
        Sum (the paper, eq. 4) or mean of the words. "auto" is "sum", or "mean" for a model learned from labels.
    weighting : {"auto", "idf", "sif"} or None, default="auto"
        Weight of a word in the sum: "idf" or "sif", as :ref:`training` says. None, as in the paper, means 1. "auto" is
        "idf" for n-grams of characters from labels, else None.
    unknown : {"auto", "zero", "hash"}, default="auto"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
        "auto" is "hash", or "zero" for a model learned from labels.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd" takes plain steps at a rate that falls linearly to zero.
    learning_rate : float, default=0.1
        Size of the steps, above 0. For "sgd" begin near 0.01.
    max_iter : int, default=5
        Passes over the text. The paper makes 10.
    batch_size : int or "auto", default="auto"
        Sentences in a block. The paper uses 10. "auto" is 1/64 of the sentences, from 16 to 512.
    max_sentence_length : int, "auto" or None, default="auto"
        Longer sentences are split in training; None never splits. "auto" is 16, or None for n-grams of characters.
    min_count : int or "auto", default="auto"
        Words that occur less often are not learned. The paper uses 5. "auto" is 5, or 1 when learning from labels.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
    analyzer : {"auto", "word", "char", "char_wb", "word+char_wb"} or callable, default="auto"
        "word" splits text by `token_pattern`, the other strings as :class:`CharacterNgrams`. A callable returns the
        words of an item; the next three options are then not used. "auto" is "word+char_wb" from labels where no option
        for words alone is set, otherwise "word".
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs snowballstemmer), or a function from a word to its stem. The paper stems.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, instead of the `X` given to `fit`: see Notes.
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
        Vectors of the words.
    ngram_vectors_ : ndarray of shape (n_buckets, n_components), dtype float32
        Vectors of the hashed word n-grams; empty for words alone.
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
    SiameseCBOWVectorizer : Learns from neighbours too, by cosine.
    Sent2VecVectorizer : Needs no order of the sentences.

    Notes
    -----
    *Labels* (:ref:`labels`). With classes `y`, one for each sentence or an indicator matrix of several, the neighbours
    of a sentence are sentences of its class, in a new random order in each pass. The vectors serve a classifier of
    these classes, and little else. Later fits need `y` too. Nothing is learned from rows without a label: None, NaN,
    zeros alone, or -1 as in :mod:`sklearn.semi_supervised`.

    *Order* (:ref:`trap`). Cross-validation and ``train_test_split`` take sentences out of their order. Keep the ordered
    text in a :class:`SentenceCorpus` and pass it as `corpus`: each fold learns from that, and `X` is only transformed.

    References
    ----------
    .. [1] Y. Yuan and Y. Zhang, "CBOS: Continuous Bag of Sentences for Learning Sentence Embeddings", International
       Conference on Asian Language Processing (IALP), 2017.

    Examples
    --------
    >>> from skembed import CBOSVectorizer
    >>> pets, shares = ["The cat sleeps.", "The cat drinks."], ["Stocks fell.", "Shares fell."]
    >>> sentences, documents = (pets + shares) * 50, [i // 2 for i in range(200)]
    >>> emb = CBOSVectorizer(16, min_count=1, max_iter=10, random_state=0)
    >>> emb = emb.fit(sentences, groups=documents)
    >>> emb.similarity("cat sleeps", "cat drinks") > emb.similarity("cat sleeps", "shares")
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    interpolation: float = 1.0
    context: str = "auto"
    window: int = 1
    ngram_range: tuple[int, int] = (1, 1)
    n_buckets: int = 500_000
    negative: int = 10
    word_dropout: float = 0.0
    pooling: str = "auto"
    weighting: str | None = "auto"
    unknown: str = "auto"
    solver: str = "adagrad"
    learning_rate: float = 0.1
    max_iter: int = 5
    batch_size: int | str = "auto"
    max_sentence_length: int | str | None = "auto"
    min_count: int | str = "auto"
    max_features: int | None = None
    analyzer: Analyzer = "auto"
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
        **ContextVectorizer._parameter_constraints,
        "max_iter": [integers(1, INT64_MAX)],
        "pooling": [StrOptions({"sum", "mean", "auto"})],
    }
    _automatic = ContextVectorizer._automatic | {"pooling": ("sum", "mean")}
    _median_length_at_start = 1.0  # which `learning_rate` is tuned for
    _pace = MergeSchedule(4)
    _paper_settings = {  # the paper does not name the learning rate
        "CBOS": {"n_components": 100, "window": 1, "negative": 2, "pooling": "sum", "weighting": None}
        | {"unknown": "zero", "solver": "sgd", "learning_rate": 0.01, "max_iter": 10, "batch_size": 10}
        | {"max_sentence_length": 119, "min_count": 5, "stemmer": "english"}
    }
    # end of the settings

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        return self._arrays_from(state, 0.5 / state.n_features_out_)

    def _make_objective(self, state: FittedState) -> CBOSObjective:
        return CBOSObjective(self, state)
