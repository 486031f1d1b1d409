"""The sequential denoising autoencoder (Hill, Cho and Korhonen, 2016): a sentence is learned by writing it again."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.dense import Chunk
from .._training.passes import AutoPasses
from .._training.state import Fitted
from .._validation.constraints import Settings
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors
from ._recurrent import Network, RecurrentVectorizer, SentenceIds, Target, list_known

# start of the settings
_PAPER: Settings = {"n_components": 2400, "word_components": 100, "learn_words": True, "negative": 512}
_PAPER |= {"max_gradient_norm": 5.0, "learning_rate": 0.001, "max_iter": 1, "batch_size": 128}
_PAPER |= {"max_sentence_length": None, "min_count": 5}
PAPER_SETTINGS = {
    "SAE": {**_PAPER, "word_drop": 0.0, "word_swap": 0.0},
    "SDAE": {**_PAPER, "word_drop": 0.1, "word_swap": 0.1},
    "SAE + embs.": {**_PAPER, "word_drop": 0.0, "word_swap": 0.0, "learn_words": False},
    "SDAE + embs.": {**_PAPER, "word_drop": 0.1, "word_swap": 0.1, "learn_words": False},
}
# end of the settings


@parameters_from_fields
class SequentialDenoisingAutoencoder(RecurrentVectorizer):
    r"""Sentence embeddings that see word order, learned by writing a damaged sentence again: SDAE and SAE.

    A gated recurrent unit reads the words of a sentence one after the other; its last state is the vector of the
    sentence. From that vector alone a second unit writes the sentence again, word by word [1]_. Before it is read, the
    sentence loses some words and exchanges others. It needs no order of the sentences.

    It is slow: thousands of words a second, where :class:`Sent2VecVectorizer` learns hundreds of thousands, and a text
    of some millions of words, which the others learn well from, is little for it.

    The :ref:`User Guide <sdae>` has the objective, its gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors of sentences: the units of encoder and decoder. The paper has 2400.
    word_components : int or "auto", default="auto"
        Length of the word vectors. "auto" is that of `init`, else 100.
    word_drop : float, default=0.1
        Probability that a word is left out of the sentence that is read. 0 in the paper's SAE.
    word_swap : float, default=0.1
        Probability that the first and second word are exchanged, the third and fourth, and so on. 0 in the paper's SAE.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`). None starts at random.
    learn_words : bool, default=True
        Whether the word vectors are learned. The paper's "+ embs." keeps those of `init` as they are.
    negative : int, default=512
        Words that each next word is compared with, a random sample. With as many as there are, the softmax is exact.
    max_gradient_norm : float or None, default=5.0
        Length above which the gradient of a block is scaled down to it.
    learning_rate : float, default=0.002
        Size of the steps of Adam, above 0. It falls linearly to zero over `max_iter` passes.
    max_iter : int or "auto", default="auto"
        Passes over the text. "auto" reads a million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of them, 16 to 128.
    max_sentence_length : int, "auto" or None, default="auto"
        Longer sentences are split in training; None never splits. "auto" is 32, or None for n-grams of characters.
    min_count : int, default=5
        Words that occur less often are not learned. They are left out of a sentence.
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
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. A block has work for two. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The learned words, and those of `init`, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, word_components), dtype float32
        Vectors of the words.
    encoder_weights_ : ndarray of shape (3, n_components, word_components + n_components + 1), dtype float32
        Weights of the reading unit: of reset gate, update gate and candidate, each for a word, the state before and an
        intercept.
    decoder_weights_ : ndarray of shape (1, 3, n_components, word_components + 2 * n_components + 1), dtype float32
        Weights of the writing unit, with those of the sentence's vector before the intercept. Not used after training.
    target_vectors_ : ndarray of shape (n_words, n_components + 1), dtype float32
        What the states of the decoder are compared with, and an intercept. They are not used after training.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a word in each pass, and of a held-out one after it, its negative log-probability among all words
        (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    Sent2VecVectorizer : Predicts words of the sentence from its other words, in any order, and much faster.
    CSEVectorizer : Sees word order too, and learns from pairs.

    References
    ----------
    .. [1] F. Hill, K. Cho and A. Korhonen, "Learning Distributed Representations of Sentences from Unlabelled Data",
       NAACL, 2016.

    Examples
    --------
    >>> from skembed.research import SequentialDenoisingAutoencoder
    >>> sentences = ["The dog bites the man.", "The man bites the dog.", "Stocks fell."] * 50
    >>> emb = SequentialDenoisingAutoencoder(16, random_state=0).fit(sentences)
    >>> dog, man = emb.transform(["The dog bites the man.", "The man bites the dog."])
    >>> bool(abs(dog - man).max() > 0.01)
    True
    """

    n_components: int = 100
    _: KW_ONLY
    word_components: int | str = "auto"
    word_drop: float = 0.1
    word_swap: float = 0.1
    init: WordVectors | None = None
    learn_words: bool = True
    negative: int = 512
    max_gradient_norm: float | None = 5.0
    learning_rate: float = 0.002
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
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: int = 0

    _parameter_constraints = {
        **RecurrentVectorizer._parameter_constraints,
        "word_drop": [Interval(Real, 0.0, 1.0, closed="left")],
        "word_swap": [Interval(Real, 0.0, 1.0, closed="both")],
    }
    encoder_weights_ = Fitted[NDArray[np.float32]]()
    decoder_weights_ = Fitted[NDArray[np.float32]]()
    target_vectors_ = Fitted[NDArray[np.float32]]()
    _auto_passes = AutoPasses(1_000_000)  # a word takes several times as long as in a bag of words
    _paper_settings = PAPER_SETTINGS

    def _networks(self) -> list[tuple[Network, list[int]]]:
        return [(Network((("encoder_weights_", False),)), [int(self.n_components)])]

    def _make_examples(self) -> Any:
        def examples(chunk: Chunk, learn: bool) -> tuple[SentenceIds, list[Target]]:
            words, which = list_known(chunk.text, chunk.sentences)
            source = corrupted(words, self.word_drop, self.word_swap, chunk.draws) if learn else words
            return source, [Target(words, np.arange(len(which)))]

        return examples


def corrupted(words: SentenceIds, drop: float, swap: float, random: np.random.Generator) -> SentenceIds:
    """Sentences with words left out and with words exchanged.

    A word is left out with probability ``drop``; a sentence that would lose all its words keeps all. Of those that
    are left, the first and second word are exchanged with probability ``swap``, the third and fourth, and so on.
    """
    ids, ptr = words
    kept = random.random(len(ids)) >= drop
    kept |= np.repeat(np.add.reduceat(kept, ptr[:-1], dtype=np.int64) == 0, np.diff(ptr))
    ids, ptr = ids[kept], np.append(0, np.cumsum(kept))[ptr]
    position = np.arange(len(ids)) - np.repeat(ptr[:-1], np.diff(ptr))
    last = np.repeat(np.diff(ptr), np.diff(ptr)) - 1
    first = np.flatnonzero((position % 2 == 0) & (position < last))
    first = first[random.random(len(first)) < swap]
    ids[first], ids[first + 1] = ids[first + 1], ids[first]
    return SentenceIds(ids, ptr)
