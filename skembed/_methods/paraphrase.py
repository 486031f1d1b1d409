"""The estimator of the paper on Paragram-Phrase: learns from pairs of paraphrases."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

import numpy as np

from .._base.paired_words import PairedWords
from .._base.pooled import PooledVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._corpus.pairs import CorpusOrPairs
from .._encoders.word_sums import WordSums
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.state import FittedState
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors


@parameters_from_fields
class ParaphraseVectorizer(PooledVectorizer, PairedWords):
    r"""Sentence embeddings learned from pairs of sentences that mean the same: Paragram-Phrase (PP).

    A sentence is the mean of its words' vectors. The vectors are learned so that the two sentences of a pair have a
    larger cosine with each other than with the sentences of other pairs [1]_. Use it where you have paraphrases: a
    lexicon of synonyms, captions of one image, questions with the same answer. Start it from a model that has learned
    from text, with `init`; pairs alone are seldom enough.

    The :ref:`User Guide <paraphrase>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The papers use 300.
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
    word_dropout : float, default=0.0
        Fraction of the words of a sentence that are left out at random in training.
    pooling : {"mean", "sum"}, default="mean"
        Mean (the paper) or sum of the words of a sentence at transform. Cosines are the same.
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
        The words of `init` in its order, then those that are learned beside them, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words, before `word_weights_`.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the pairs, and its weight, learned unless `learn` says otherwise.
    coverage_ : float
        Fraction of the words of the pairs that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, of one set of pairs after the other, and of a held-out one after it (empty
        without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    PairCorpus : Pairs, encoded once.
    SiameseCBOWVectorizer : Takes the neighbours of a sentence for its paraphrases.

    References
    ----------
    .. [1] John Wieting, Mohit Bansal, Kevin Gimpel and Karen Livescu, "Towards Universal Paraphrastic Sentence
       Embeddings", ICLR, 2016.

    Examples
    --------
    >>> from skembed import ParaphraseVectorizer
    >>> pairs = [("cheap flights", "low cost air tickets"), ("rent a car", "car hire")] * 50
    >>> emb = ParaphraseVectorizer(n_components=16, random_state=0).fit(pairs)
    >>> emb.similarity("cheap flights", "air tickets") > emb.similarity(
    ...     "cheap flights", "car hire"
    ... )
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    init: WordVectors | None = None
    freeze_init: bool = False
    learn: str = "both"
    loss: str = "softmax"
    temperature: float = 0.1
    margin: float = 0.4
    alpha: float = 0.0
    interpolation: float = 1.0
    word_dropout: float = 0.0
    pooling: str = "mean"
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

    _parameter_constraints = {**PooledVectorizer._parameter_constraints, **PairedWords._parameter_constraints}
    _parameter_constraints.pop("weighting")
    _paper_settings = {
        "PP": {"n_components": 300, "learn": "vectors", "loss": "hinge", "margin": 0.4, "alpha": 1e-6}
        | {"interpolation": 1.0, "word_dropout": 0.0, "pooling": "mean"}
        | {"unknown": "zero", "learning_rate": 0.005, "max_iter": 10, "batch_size": 100, "min_count": 1}
    }
    # end of the settings

    def _make_encoder(self, state: FittedState) -> WordSums:
        return self._encoder_of_words(state, self.word_dropout)

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        learned = self._with_learned_words(state)
        length, found = learned.length_of_new_words, super()._finish_fit(learned, corpus)
        return found if length is None else replace(found, unknown_length=np.float32(length))
