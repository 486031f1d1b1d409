"""The estimator of the paper on Siamese CBOW."""

from dataclasses import KW_ONLY
from numbers import Real

from sklearn.utils._param_validation import Interval, StrOptions

from .._base.context import ContextVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._objectives.siamese_cbow import SiameseCBOWObjective
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray
from .._training.state import FittedState
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors


@parameters_from_fields
class SiameseCBOWVectorizer(ContextVectorizer):
    r"""Sentence embeddings learned by telling neighbours from random sentences by cosine: Siamese CBOW.

    A sentence is the mean of its words' vectors. The vectors are learned so that its cosine with the sentence before
    and after it is larger than with random ones [1]_. Use it where you have text in reading order and compare sentences
    by cosine. `temperature` matters more than any other parameter.

    The :ref:`User Guide <siamese_cbow>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The paper uses 300.
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
        Sentences on each side that count as neighbours; the paper takes 1. They are of the same document.
    ngram_range : tuple of (int, int), default=(1, 1)
        (1, n) learns word n-grams of up to n words beside the words: (1, 2) adds pairs of neighbours. With the
        analyzers "char" and "char_wb" it counts characters, and (1, 1) means (1, 4).
    n_buckets : int, default=500_000
        Rows that the n-grams share, by hashing. Not used for words alone.
    negative : int, default=10
        Random sentences, not neighbours, to compare with. The paper uses 2.
    temperature : float or "auto", default="auto"
        Divides the cosines before the softmax; the paper has 1. "auto" is 0.1, or 0.3 for a model learned from labels.
    word_dropout : float, default=0.0
        Probability that a word is left out of its sentence in a pass, at least 0 and below 1.
    pooling : {"mean", "sum"}, default="mean"
        Mean (the paper) or sum of the words of a sentence. Cosines are the same, so only the rows' length changes.
    weighting : {"auto", "idf", "sif"} or None, default="auto"
        Weight of a word in the mean: "idf" or "sif", as :ref:`training` says. None, as in the paper, means 1. "auto" is
        "idf" for n-grams of characters from labels, else None.
    unknown : {"auto", "zero", "hash"}, default="auto"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
        "auto" is "hash", or "zero" for a model learned from labels.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd", the paper's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.1
        Size of the steps, above 0. The paper uses 0.0001 for "sgd".
    max_iter : int or "auto", default="auto"
        Passes over the text; the paper makes 1. "auto" reads 3 million words in all, in 5 to 20 passes; from labels 5.
    batch_size : int or "auto", default="auto"
        Sentences in a block; the paper has 100. "auto" is 1/64 of them, 16 to 512.
    max_sentence_length : int, "auto" or None, default="auto"
        Longer sentences are split in training; None never splits. "auto" is 32, or None for n-grams of characters.
    min_count : int or "auto", default="auto"
        Words that occur less often are not learned. The paper uses 5. "auto" is 5, or 1 when learning from labels.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
    analyzer : {"auto", "word", "char", "char_wb", "word+char_wb"} or callable, default="auto"
        As in :class:`CBOSVectorizer`. A callable returns the words; the next three are not used.
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
    CBOSVectorizer : Compares with the mean of all neighbours at once, by dot product.

    Notes
    -----
    Labels and order are as in :class:`CBOSVectorizer`. With classes `y` the neighbours of a sentence are sentences of
    its class. For cross-validation, pass text in reading order as `corpus`.

    References
    ----------
    .. [1] T. Kenter, A. Borisov and M. de Rijke, "Siamese CBOW: Optimizing Word Embeddings for Sentence
       Representations", ACL, 2016.

    Examples
    --------
    >>> from skembed import SiameseCBOWVectorizer
    >>> pets, shares = ["The cat sleeps.", "The cat drinks."], ["Stocks fell.", "Shares fell."]
    >>> sentences, documents = (pets + shares) * 50, [i // 2 for i in range(200)]
    >>> emb = SiameseCBOWVectorizer(16, min_count=1, max_iter=10, random_state=0)
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
    temperature: float | str = "auto"
    word_dropout: float = 0.0
    pooling: str = "mean"
    weighting: str | None = "auto"
    unknown: str = "auto"
    solver: str = "adagrad"
    learning_rate: float = 0.1
    max_iter: int | str = "auto"
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
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both"), StrOptions({"auto"})],
    }
    _automatic = ContextVectorizer._automatic | {"temperature": (0.1, 0.3)}
    _words_of_sentence = 32
    _median_length_at_start = 1.0  # which `learning_rate` is tuned for
    _paper_settings = {
        "Siamese CBOW": {"n_components": 300, "window": 1, "negative": 2, "temperature": 1.0, "pooling": "mean"}
        | {"weighting": None, "unknown": "zero", "solver": "sgd", "learning_rate": 0.0001, "max_iter": 1}
        | {"batch_size": 100, "max_sentence_length": None, "min_count": 5}
    }
    # end of the settings

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        # With the standard deviation of the paper's normal numbers.
        return self._arrays_from(state, 0.01 * 3**0.5)

    def _make_objective(self, state: FittedState) -> SiameseCBOWObjective:
        return SiameseCBOWObjective(self, state)
