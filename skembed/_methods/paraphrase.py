"""The estimator of the paper on Paragram-Phrase: learns from pairs of paraphrases."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.paired import EVIDENCE, PairedVectorizer
from .._compiled.norms import row_norms
from .._corpus.corpus import SentenceCorpus
from .._encoders.bag import first_of_each
from .._encoders.word_sums import Moves, WordSums
from .._objectives.paraphrase import HingeLoss, SoftmaxLoss
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import LearnedArray, start_uniform
from .._training.pairs import Loss
from .._validation.limits import integers
from .._word_vectors.start import StartsFromInit

_MOVES = {
    "both": Moves(directions=True, scales=True, keeps_length=True),
    "directions": Moves(directions=True, scales=False, keeps_length=True),
    "weights": Moves(directions=False, scales=True, keeps_length=True),
    "vectors": Moves(directions=True, scales=False, keeps_length=False),
}


class ParaphraseVectorizer(StartsFromInit, PairedVectorizer):
    r"""Sentence embeddings learned from pairs of sentences that mean the same: Paragram-Phrase (PP) [1]_.

    A sentence is the mean of its words' vectors. The vectors are learned so that the two sentences of a pair have a
    larger cosine with each other than with the sentences of other pairs. Use it where you have paraphrases: a lexicon
    of synonyms, captions of one image, questions with the same answer. Start it from a model that has learned from
    text, with `init`; pairs alone are seldom enough.

    Read more in the :ref:`User Guide <paraphrase>`.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors, where they start at random; `init` has its own. The papers use 300.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Vectors to start from: a fitted estimator of this package, as it sums its words, with its word weights and its
        tokenizer; or given vectors, as `word_vectors` of :class:`MeanEmbeddingVectorizer` takes them, but no list. Its
        words are kept, whether the text has them or not, and come first in `vocabulary_`, in the same order. Other
        words start at a direction that depends on their text alone. Clones share `init`. In a grid of parameters put a
        model into a :class:`~sklearn.frozen.FrozenEstimator`, or it is cloned and forgets. None starts at random.
    learn : {"both", "directions", "weights", "vectors"}, default="both"
        What moves. "directions": the directions of the word vectors, each of which keeps its first length. "weights":
        one weight a word, by which its vector counts in a sentence. "both": these two. "vectors", as in the paper,
        moves a vector freely.
    loss : {"softmax", "hinge"}, default="softmax"
        "softmax": over the sentences of a block, one of which is the other of the pair. "hinge", the paper's: the
        cosine of a pair should exceed that with the most similar other sentence by `margin`.
    temperature : float, default=0.1
        Divides the cosines before the softmax; from 1e-4 to 1e4.
    margin : float, default=0.4
        Margin of the hinge; the paper's.
    alpha : float, default=0.0
        Strength of the pull to the start, the paper's :math:`\lambda_w`, on the words of a block.
    interpolation : float, default=1.0
        How far the result lies on the way from the start to what was learned, from 0 to 1. Less than 1 keeps more of
        what `init` knew.
    word_dropout : float, default=0.0
        Share of the words of a sentence that are left out at random in training.
    pooling : {"mean", "sum"}, default="mean"
        Mean (the paper) or sum of the words of a sentence at transform. Cosines are the same.
    binary : bool, default=False
        Whether a word counts once, however often a sentence has it, in training and transform alike.
    unknown : {"zero", "hash"}, default="hash"
        What becomes of a word that was not learned. "zero" leaves it out. "hash" gives it a random direction that
        depends on its text alone, so that it still matches itself.
    learning_rate : float, default=0.001
        Size of the steps of Adam, above 0, relative to the median length of the vectors at the start. It falls
        linearly to zero over `max_iter` passes.
    max_iter : int, default=5
        Passes over the pairs; over each set of them, where there are several.
    batch_size : int or "auto", default="auto"
        Pairs in a block, which are negatives of each other. "auto" is 1/64 of them, 16 to 128. The paper has 100.
    min_count : int, default=1
        Words that occur less often are not learned, unless `init` has them.
    max_features : int or None, default=None
        Learn only this many of the most frequent words, and those of `init`.
    analyzer : "word" or callable, default="word"
        "word" splits text by `token_pattern`. A callable gets an item of `X` and returns its words; the next three
        options are then not used.
    token_pattern : str, default=r"(?u)\\b\\w+\\b"
        Regular expression of a word.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer), or a function from a word to its stem.
    corpus : PairCorpus, list of PairCorpus, SentenceCorpus or None, default=None
        Pairs to learn from, whatever `X` is given to `fit`: so a pipeline may get the sentences and labels of its
        next step. Sentences of one document of a SentenceCorpus are paraphrases.
    early_stopping : bool, default=False
        Hold out some pairs, stop when their loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of the sentences to hold out, between 0 and 1: whole groups of paraphrases where there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row in which the held-out loss did not fall by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    warm_start : bool, default=False
        Whether `fit` goes on from the vocabulary and the weights of the last fit.
    n_jobs : int or None, default=None
        Number of threads that encode text; -1 means all cores. One thread learns. It does not change one bit of the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the pairs and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words of `init` in its order, then those that are learned beside them, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words, before `word_weights_`.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the pairs.
    coverage_ : float
        Share of the words of the pairs that are in the vocabulary.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word, learned unless `learn` says otherwise; 1 at the start.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_ : int
        Number of passes made.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    PairCorpus : Pairs, encoded once.
    SiameseCBOWVectorizer : Takes the neighbours of a sentence for its paraphrases.

    Notes
    -----
    *Negatives* of a sentence are those of the other pairs of its block, but never of pairs that hang together with its
    own: by a text that both have, or through other pairs.

    *Differences from the paper.* Its loss is `"hinge"`, with free vectors. It moves the whole vocabulary in every
    block, and here only the words of the block move. Its rate is constant and absolute.

    *The paper's own setting,* with the Paragram vectors as `init`, is ``ParaphraseVectorizer(300, learn="vectors",
    loss="hinge", margin=0.4, alpha=1e-6, interpolation=1.0, word_dropout=0.0, pooling="mean", binary=False,
    unknown="zero", learning_rate=0.005, max_iter=10, batch_size=100, min_count=1)``.

    References
    ----------
    .. [1] John Wieting, Mohit Bansal, Kevin Gimpel and Karen Livescu, "Towards Universal Paraphrastic Sentence
       Embeddings", ICLR, 2016.

    Examples
    --------
    >>> from skembed import ParaphraseVectorizer
    >>> pairs = [("cheap flights", "low cost air tickets"), ("rent a car", "car hire")] * 50
    >>> emb = ParaphraseVectorizer(n_components=16, random_state=0).fit(pairs)
    >>> emb.similarity("cheap flights", "air tickets") > emb.similarity("cheap flights", "car hire")
    True

    Sentences with equal labels are paraphrases too:

    >>> sentences, topics = ["cheap flights", "air tickets", "rent a car", "car hire"] * 9, [0, 0, 1, 1] * 9
    >>> ParaphraseVectorizer(n_components=16, random_state=0).fit_transform(sentences, topics).shape
    (36, 16)
    """

    _parameter_constraints: dict[str, Any] = {
        "learn": [StrOptions(set(_MOVES))],
        "loss": [StrOptions({"softmax", "hinge"})],
        "temperature": [Interval(Real, 1e-4, 1e4, closed="both")],
        "margin": [Interval(Real, 0.0, 2.0, closed="right")],
        "alpha": [Interval(Real, 0.0, 1e6, closed="both")],
        "interpolation": [Interval(Real, 0.0, 1.0, closed="both")],
        "word_dropout": [Interval(Real, 0.0, 1.0, closed="left")],
        "binary": ["boolean"],
        "batch_size": [integers(2), StrOptions({"auto"})],
        "corpus": [EVIDENCE, None],
    }
    _paper_settings = {
        "PP": {
            "n_components": 300,
            "learn": "vectors",
            "loss": "hinge",
            "margin": 0.4,
            "alpha": 1e-6,
            "interpolation": 1.0,
            "word_dropout": 0.0,
            "pooling": "mean",
            "binary": False,
            "unknown": "zero",
            "learning_rate": 0.005,
            "max_iter": 10,
            "batch_size": 100,
            "min_count": 1,
        }
    }
    # end of the settings

    def __init__(
        self,
        n_components: int = 100,
        *,
        init: Any = None,
        learn: str = "both",
        loss: str = "softmax",
        temperature: float = 0.1,
        margin: float = 0.4,
        alpha: float = 0.0,
        interpolation: float = 1.0,
        word_dropout: float = 0.0,
        pooling: str = "mean",
        binary: bool = False,
        unknown: str = "hash",
        learning_rate: float = 0.001,
        max_iter: int = 5,
        batch_size: int | str = "auto",
        min_count: int = 1,
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
        self.init = init
        self.learn = learn
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.alpha = alpha
        self.interpolation = interpolation
        self.word_dropout = word_dropout
        self.pooling = pooling
        self.binary = binary
        self.unknown = unknown
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

    def _learn_vocabulary(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        fitted = super()._learn_vocabulary(corpus, *others)
        length = fitted["_init"].length_of_unknown if "_init" in fitted else None
        return fitted | {"_length_of_new_words": length}

    def _start(self, corpus: SentenceCorpus, *others: Any) -> dict[str, Any]:
        return super()._start(corpus, *others) | {"_n_steps": 0}

    def _learned_arrays(self, fitted: dict[str, Any]) -> list[LearnedArray]:
        shape = len(fitted["word_counts_"]), fitted["n_features_out_"]
        uniform = start_uniform((3 / shape[1]) ** 0.5)  # lengths of about one
        # The seed of the fit, whatever the index of the array: two arrays start alike.
        start = self._start_of_words(fitted, lambda array, _: uniform(array, fitted["_seed"]))
        moves, options = _MOVES[self.learn], ("n_components", "learn")
        return [
            LearnedArray("_directions", shape, start, options=options, frozen=not moves.directions),
            LearnedArray(
                "_scales", shape[:1], lambda array, seed: array.fill(1), options=options, frozen=not moves.scales
            ),
            LearnedArray("_start_vectors", shape, start, options=(), frozen=True),
        ]

    def _copied_at_the_end(self, arrays: list[LearnedArray]) -> list[LearnedArray]:
        return arrays[:2] if self.interpolation < 1 else []

    def _make_encoder(self, fitted: dict[str, Any]) -> WordSums:
        return WordSums(fitted, _MOVES[self.learn], self.alpha, self.word_dropout)

    def _make_loss(self) -> Loss:
        return HingeLoss(self.margin) if self.loss == "hinge" else SoftmaxLoss(self.temperature)

    def _encode_text(
        self, corpus: SentenceCorpus, fitted: dict[str, Any], annotations: tuple[np.ndarray, ...] = ()
    ) -> EncodedText:
        text = super()._encode_text(corpus, fitted, annotations)
        if not self.binary:
            return text
        tokens, sent_ptr = first_of_each(text.tokens, text.sent_ptr)
        return text._replace(tokens=tokens, sent_ptr=sent_ptr)

    def _finish_fit(self, fitted: dict[str, Any], corpus: SentenceCorpus) -> dict[str, Any]:
        vectors, weights = fitted["_directions"], fitted["_scales"]
        if self.interpolation < 1:
            start, share = fitted["_start_vectors"], np.float32(self.interpolation)
            vectors, weights = vectors - start, 1 + share * (weights - 1)
            vectors *= share
            vectors += start
            if _MOVES[self.learn].keeps_length:
                vectors *= (row_norms(start) / np.maximum(row_norms(vectors), np.finfo(np.float32).tiny))[:, None]
        fitted = super()._finish_fit(fitted | {"word_vectors_": vectors, "word_weights_": weights}, corpus)
        length = fitted["_length_of_new_words"]
        return fitted if length is None else fitted | {"_unknown_length": np.float32(length)}
