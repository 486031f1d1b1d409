"""The estimator of the paper on gated recurrent averaging networks: learned from pairs of paraphrases."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from .._base.paired_words import PairedSequences
from .._base.scikit_learn import parameters_from_fields
from .._base.start import median_length
from .._corpus.pairs import CorpusOrPairs
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray, Start, start_zeros
from .._training.pairs import IndexedSentences
from .._training.state import Fitted, FittedState
from .._validation.constraints import integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors
from ._gated_averages import GatedAverages, embed_gated
from ._gru import start_gru


@parameters_from_fields
class GRANVectorizer(PairedSequences):
    r"""Sentence embeddings learned from pairs of sentences that mean the same, with gates: GRAN.

    A gated recurrent averaging network [1]_. A sentence is the mean of its words' vectors, after each number of a
    vector is multiplied by a gate between 0 and 1. The gates come from a recurrent unit that reads the words in order,
    so a word may count much in one sentence and little in another. It learns as :class:`ParaphraseVectorizer` does:
    word vectors, recurrent unit and gates together, from the first 1,000 words of a sentence.

    The :ref:`User Guide <gran>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The paper has 300.
    n_units : int, default=100
        Numbers of a state of the recurrent unit. The paper has 300.
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
    gate_alpha : float, default=0.0
        Strength of the pull of recurrent unit and gates to zero, the paper's :math:`\lambda_c`.
    word_dropout : float, default=0.0
        Fraction of the words of a sentence that are left out at random in training.
    shuffled : float, default=0.0
        Fraction of the sentences whose words are put in random order in training, the paper's scrambling rate.
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
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words, before `word_weights_` and the gates.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the pairs, and its weight, learned unless `learn` says otherwise.
    coverage_ : float
        Fraction of the words of the pairs that are in the vocabulary.
    unit_weights_ : ndarray of shape (3, n_units, n_features_out + n_units + 1), dtype float32
        Weights of the unit: of reset gate, update gate and candidate, each for a word, the state before, an intercept.
    gate_weights_ : ndarray of shape (n_features_out, n_features_out + n_units + 1), dtype float32
        Weights of the gates, with the same columns.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a sentence in each pass, of one set of pairs after the other, and of a held-out one after it (empty
        without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    ParaphraseVectorizer : The mean of the words alone, and much faster.
    CSEVectorizer : Sees the order of neighbouring words, and is faster.

    References
    ----------
    .. [1] John Wieting and Kevin Gimpel, "Revisiting Recurrent Networks for Paraphrastic Sentence Embeddings", ACL,
       2017.

    Examples
    --------
    >>> from skembed.research import GRANVectorizer
    >>> pairs = [("cheap flights", "low cost air tickets"), ("rent a car", "car hire")] * 50
    >>> emb = GRANVectorizer(n_components=16, n_units=16, random_state=0).fit(pairs)
    >>> emb.transform(["cheap flights", "air tickets"]).shape
    (2, 16)
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    n_units: int = 100
    init: WordVectors | None = None
    freeze_init: bool = False
    learn: str = "both"
    loss: str = "softmax"
    temperature: float = 0.1
    margin: float = 0.4
    alpha: float = 0.0
    interpolation: float = 1.0
    gate_alpha: float = 0.0
    word_dropout: float = 0.0
    shuffled: float = 0.0
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

    unit_weights_ = Fitted[NDArray[np.float32]]()
    gate_weights_ = Fitted[NDArray[np.float32]]()
    _network = ("unit_weights_", "gate_weights_")

    _parameter_constraints = {
        **PairedSequences._parameter_constraints,
        "n_units": [integers(1)],
        "gate_alpha": [Interval(Real, 0.0, 1e6, closed="both")],
        "shuffled": [Interval(Real, 0.0, 1.0, closed="both")],
    }
    _paper_settings = {
        "GRAN": {"n_components": 300, "n_units": 300, "learn": "vectors", "loss": "hinge", "margin": 0.4}
        | {"alpha": 0.0, "gate_alpha": 0.0, "interpolation": 1.0, "word_dropout": 0.0, "shuffled": 0.5}
        | {"unknown": "zero", "learning_rate": 0.001, "max_iter": 10, "batch_size": 100, "min_count": 1}
    }
    # end of the settings

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        words = super()._learned_arrays(state)
        d, n_units = words[0].shape[1], int(self.n_units)
        of_unit, of_gates = (3, n_units, d + n_units + 1), (d, d + n_units + 1)
        options = ("n_components", "n_units")
        network = [
            LearnedArray("_unit_weights", of_unit, self._start_of_unit(state, d), "dense", options),
            LearnedArray("_gate_weights", of_gates, start_zeros, "dense", options),
        ]
        return words + self._arrays_of_network(state, network)

    def _start_of_unit(self, state: FittedState, n_inputs: int) -> Start:
        """A start of the unit, whatever the index of its array."""
        length = median_length(state.start.vectors) if state.start is not None else 1.0
        return lambda array, _: start_gru(array, n_inputs, length, [state.seed])

    def _make_encoder(self, state: FittedState) -> GatedAverages:
        words = self._encoder_of_words(state)
        return GatedAverages(
            words, state.arrays, alpha=self.gate_alpha, dropout=self.word_dropout, shuffled=float(self.shuffled)
        )

    def _embed_words(self, state: FittedState, sentences: IndexedSentences, vectors: np.ndarray) -> np.ndarray:
        return embed_gated(sentences, vectors, state.arrays["unit_weights_"], state.arrays["gate_weights_"])
