"""Skip-thought vectors (Kiros et al., 2015): from its vector, a sentence's neighbours are written word by word."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.dense import ONE_BLAS_THREAD, Chunk
from .._training.passes import AutoPasses
from .._training.state import ABSENT, Fitted, FittedState
from .._validation.constraints import Settings
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors, counts_of, known_fraction
from .._word_vectors.read import read_parameter
from ._recurrent import Network, RecurrentVectorizer, SentenceIds, Target, list_known

# start of the settings
_PAPER: Settings = {"word_components": 620, "learn_words": True, "negative": 1_000_000, "max_gradient_norm": 10.0}
_PAPER |= {"learning_rate": 0.001, "max_iter": 1, "batch_size": 128, "max_sentence_length": 30, "min_count": 1}
_PAPER |= {"max_features": 20_000}
PAPER_SETTINGS = {
    "uni-skip": {**_PAPER, "n_components": 2400, "direction": "uni"},
    "bi-skip": {**_PAPER, "n_components": 2400, "direction": "bi"},
    "combine-skip": {**_PAPER, "n_components": 4800, "direction": "combine"},
}
# end of the settings

_ONE_WAY = Network((("encoder_weights_", False),))
_BOTH_WAYS = Network(
    (("forward_weights_", False), ("backward_weights_", True)), "bi_decoder_weights_", "bi_target_vectors_"
)


@dataclass(frozen=True, eq=False, repr=False)
class SkipThoughtState(FittedState):
    """What the method has learned."""

    n_learned: int = ABSENT  # words; those of `expand_with` come after them

    def check_values(self) -> None:
        """Check that there are as many words as were learned."""
        if self.n_learned > len(self.vocabulary_):
            raise ValueError(f"_n_learned is {self.n_learned}, but there are {len(self.vocabulary_)} words.")


@parameters_from_fields
class SkipThoughtVectorizer(RecurrentVectorizer):
    r"""Sentence embeddings that see word order, learned by writing the neighbouring sentences: skip-thought.

    A gated recurrent unit reads the words of a sentence one after the other; its last state is the vector of the
    sentence. From that vector alone two other units write the sentence before and the sentence after it, word by
    word [1]_. The text must be in reading order.

    It is slow: thousands of words a second, where :class:`FastSentVectorizer` learns millions, and a text of some
    millions of words, which the others learn well from, is little for it.

    The :ref:`User Guide <skip_thought>` has objective, gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors of sentences, and units of a decoder. The paper has 2400, and 4800 for "combine".
    direction : {"uni", "bi", "combine"}, default="uni"
        "uni" reads the words in their order. "bi" has two units of half the length, one of which reads the sentence
        from its end; a vector is both last states. "combine" is one half of "uni" and one of "bi", each with decoders
        of its own.
    word_components : int or "auto", default="auto"
        Length of the word vectors. "auto" is that of `init`, else 100. The paper has 620.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors, to start from (:ref:`init`). None starts at random.
    learn_words : bool, default=True
        Whether the word vectors are learned, or stay as they start.
    expand_with : dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Vectors of more words than the text has, which each fit maps to the learned ones by least squares, so that
        `transform` knows all these words. Then `partial_fit` appends no words.
    negative : int, default=512
        Words that each next word is compared with, a random sample. With as many as there are, the softmax is exact.
    max_gradient_norm : float or None, default=5.0
        Length above which the gradient of a block is scaled down to it: of a word's loss, in the paper of a sentence's.
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
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. A block has work for two. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The learned words, and those of `init` and `expand_with`, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, word_components), dtype float32
        Vectors of the words.
    encoder_weights_ : ndarray of shape (3, n_units, word_components + n_units + 1), dtype float32
        Weights of the reading unit: of reset gate, update gate and candidate, each for a word, the state before and an
        intercept.
    forward_weights_, backward_weights_ : ndarrays of the same form
        Those of the two units of "bi" and "combine".
    decoder_weights_, bi_decoder_weights_ : ndarrays of shape (2, 3, n_units, n_columns), dtype float32
        Weights of the writing units, with those of the sentence's vector before the intercept. Not used after training.
    target_vectors_, bi_target_vectors_ : ndarrays of shape (n_learned_words, n_units + 1), dtype float32
        What the states of the decoders are compared with, and an intercept. They are not used after training.
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
    FastSentVectorizer : Predicts the words of the neighbours in any order, and much faster.
    SequentialDenoisingAutoencoder : Writes the sentence itself, and needs no order of the sentences.

    References
    ----------
    .. [1] R. Kiros, Y. Zhu, R. Salakhutdinov, R. S. Zemel, A. Torralba, R. Urtasun and S. Fidler, "Skip-Thought
       Vectors", NIPS, 2015.

    Examples
    --------
    >>> from skembed.research import SkipThoughtVectorizer
    >>> sentences = ["The cat sleeps.", "The cat drinks.", "Stocks fell.", "Shares fell."] * 50
    >>> emb = SkipThoughtVectorizer(16, word_components=16, random_state=0).fit(sentences)
    >>> emb.transform(["The cat drinks."]).shape
    (1, 16)
    """

    n_components: int = 100
    _: KW_ONLY
    direction: str = "uni"
    word_components: int | str = "auto"
    init: WordVectors | None = None
    learn_words: bool = True
    expand_with: WordVectors | None = None
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
        "direction": [StrOptions({"uni", "bi", "combine"})],
        "expand_with": "no_validation",  # checked when it is read
    }
    _needs_order = True
    _n_decoders = 2
    _state = SkipThoughtState()
    _options_of_shape = "n_components", "word_components", "learn_words", "direction"
    encoder_weights_ = Fitted[NDArray[np.float32]]()
    forward_weights_ = Fitted[NDArray[np.float32]]()
    backward_weights_ = Fitted[NDArray[np.float32]]()
    _auto_passes = AutoPasses(1_000_000)  # a word takes several times as long as in a bag of words
    _paper_settings = PAPER_SETTINGS
    decoder_weights_ = Fitted[NDArray[np.float32]]()
    target_vectors_ = Fitted[NDArray[np.float32]]()
    bi_decoder_weights_ = Fitted[NDArray[np.float32]]()
    bi_target_vectors_ = Fitted[NDArray[np.float32]]()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        smallest = {"uni": 1, "bi": 2, "combine": 3}[self.direction]
        if self.n_components < smallest:
            raise ValueError(f"direction={self.direction!r} needs at least {smallest} components.")

    def _networks(self) -> list[tuple[Network, list[int]]]:
        n = int(self.n_components)
        n_one_way = {"uni": n, "bi": 0, "combine": n // 2}[self.direction]
        n_both = n - n_one_way
        found = [(_ONE_WAY, [n_one_way]), (_BOTH_WAYS, [n_both - n_both // 2, n_both // 2])]
        return [(network, units) for network, units in found if sum(units)]

    def _make_examples(self) -> Any:
        return neighbouring

    def _learn_vocabulary(self, corpus: SentenceCorpus, state: FittedState) -> FittedState:
        learned: Any = super()._learn_vocabulary(corpus, state)
        n_learned = len(learned.vocabulary_)
        if self.expand_with is not None:
            words = {word: row for row, word in enumerate(dict.fromkeys([*learned.vocabulary_, *self._given()[0]]))}
            learned = replace(
                learned,
                vocabulary_=words,
                waiting={word: count for word, count in learned.waiting.items() if word not in words},
                word_counts_=counts_of(words, corpus),
                coverage_=known_fraction(corpus, words),
            )
        return replace(learned, n_learned=n_learned)

    def _text_statistics(self, corpus: SentenceCorpus, state: Any, earlier: FittedState | None = None) -> FittedState:
        return state if earlier is None else replace(state, n_learned=len(state.word_counts_))

    def _appends_words(self, state: Any) -> bool:
        # Words of `expand_with` come after the learned ones.
        return self.expand_with is None and state.n_learned == len(state.vocabulary_)

    def _given(self) -> tuple[list[str], np.ndarray]:
        """The words and vectors of `expand_with`."""
        return read_parameter(self.expand_with, "expand_with")[:2]

    def _counts_of_learned(self, state: SkipThoughtState) -> np.ndarray:  # type: ignore[override]
        return np.asarray(state.word_counts_[: state.n_learned])

    def _weights_in_training(self, state: SkipThoughtState) -> np.ndarray:  # type: ignore[override]
        return np.ones(state.n_learned, np.float32)  # the others are unknown in training

    def _finish_fit(self, state: SkipThoughtState, corpus: SentenceCorpus) -> FittedState:  # type: ignore[override]
        if self.expand_with is not None:
            self._expand(state)
        return state

    def _expand(self, state: SkipThoughtState) -> None:
        """Map the given vectors of words that were not learned to the learned ones, by least squares."""
        words, given = self._given()
        rows = np.array([state.vocabulary_.get(word, -1) for word in words])
        learned, n_learned = state.arrays["word_vectors_"], state.n_learned
        shared, new = (rows >= 0) & (rows < n_learned), rows >= n_learned
        if not shared.any():
            raise ValueError("expand_with has none of the learned words, so its vectors cannot be mapped to theirs.")
        with ONE_BLAS_THREAD:
            to_learned = np.linalg.lstsq(given[shared].astype(np.float64), learned[rows[shared]], rcond=None)[0]
            learned[rows[new]] = given[new] @ to_learned.astype(np.float32)


def neighbouring(chunk: Chunk, learn: bool) -> tuple[SentenceIds, list[Target]]:
    """The sentences of a chunk, and of each the sentence before and the sentence after it in its document."""
    text = chunk.text
    source, has_words = list_known(text, chunk.sentences)
    sentences, targets = chunk.sentences[has_words], []
    for distance in (-1, 1):
        others = np.clip(sentences + distance, 0, len(text.document) - 1)
        beside = np.flatnonzero((others != sentences) & (text.document[others] == text.document[sentences]))
        words, which = list_known(text, others[beside])
        targets.append(Target(words, beside[which]))
    return source, targets
