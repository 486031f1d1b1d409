"""Paragraph vectors (Le and Mikolov, 2014): each sentence has a vector that predicts its words."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.context import ShardedVectorizer
from .._base.pooled import SAMPLED_WORDS
from .._base.scikit_learn import parameters_from_fields
from .._corpus.corpus import SentenceCorpus
from .._encoders.paragraph_vectors import ParagraphEncoder, check_noise, clear_unknown, noise_sample
from .._objectives.paragraph_vectors import ParagraphObjective
from .._shards.plan import MergeSchedule
from .._text.known_words import EncodedSentences
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.encoded_text import EncodedText, keep_probability
from .._training.learned_arrays import ArrayRecord, LearnedArray, start_uniform
from .._training.passes import AutoPasses
from .._training.state import Fitted, FittedState
from .._validation.constraints import Settings, integers
from .._validation.values import RandomState

# What `transform` reads, so that they stay as in the fit; PV-DM reads two more.
_OPTIONS = ("n_components", "algorithm", "negative", "subsample")


# start of the settings
_PAPER: Settings = {"n_components": 300, "combine": "concatenate", "window": 8, "negative": 5, "subsample": 1e-3}
_PAPER |= {"solver": "sgd", "learning_rate": 0.025, "max_iter": 10, "batch_size": 1, "min_count": 5}
PAPER_SETTINGS = {"PV-DM": {**_PAPER, "algorithm": "dm"}, "PV-DBOW": {**_PAPER, "algorithm": "dbow"}}
# end of the settings


@parameters_from_fields
class ParagraphVectorizer(ShardedVectorizer):
    r"""Sentence embeddings that are learned, each for its sentence, by predicting its words: paragraph vectors.

    A sentence has a vector of its own. In PV-DBOW ("dbow") it predicts the words of the sentence, in PV-DM ("dm") it
    predicts each of them together with the words around it [1]_. `transform` finds the vector of any sentence with the
    words frozen: it depends on the sentence and the model alone. Use it as the baseline of many papers, or for texts of
    more than a sentence, whose vector need not be the sum of its words. The order of the sentences is not used.

    The :ref:`User Guide <paragraph>` has the objective, its gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors.
    algorithm : {"dbow", "dm"}, default="dbow"
        Whether the vector of a sentence predicts its words alone, or joined with the words around each.
    combine : {"concatenate", "mean", "sum"}, default="mean"
        How "dm" joins the vectors of sentence and words: side by side, so that their order matters and a target vector
        has ``(1 + 2 * window) * n_components`` numbers, or as their mean or sum.
    window : int, default=5
        Words on each side of a word that help "dm" to predict it. It never leaves the sentence.
    negative : int, default=5
        Random words to compare with, drawn by the 0.75th power of their frequency.
    subsample : float, default=1e-3
        Threshold t, above 0: a word of frequency f is kept with probability ``min(1, sqrt(t / f) + t / f)``, which in
        `transform` is the weight of its loss.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each row; "sgd", the paper's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.1
        Size of the steps, above 0. For "sgd" begin with 0.05.
    max_iter : int or "auto", default="auto"
        Passes over the text. "auto" reads 6 million words in all, in 10 to 50 passes: a sentence has one step a pass.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of them, from 16 to 64 (112 if they are very short).
    store_training_vectors : bool, default=False
        Whether to keep the vectors of the training sentences as `training_vectors_`, ``4 * n_components`` bytes each.
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
        Hold out part of the text, stop when its loss no longer falls, and keep the best weights: the loss of every
        second word of a sentence, which a vector that `transform` would find from the other words predicts.
    validation_fraction : float, default=0.1
        Fraction of the sentences to hold out, between 0 and 1. Whole documents if there are 20 or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row without a fall of the held-out loss by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    warm_start : bool, default=False
        Whether `fit` goes on from the words of the last fit; sentences start at the vectors that `transform` finds.
    n_shards : int or None, default=None
        Shards that the `engine` of `fit` can learn at once. They change the result (:ref:`more_text`). None means 1.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and the draws of training.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words that are learned, and their row numbers.
    target_vectors_ : ndarray of shape (n_words, n_joined), dtype float32
        Target vectors of the words. ``n_joined`` is `n_components`, or more if `combine` is "concatenate".
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words as context, of "dm" only.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of the loss of each word in `transform`, by `subsample`.
    training_vectors_ : ndarray of shape (n_sentences, n_components), dtype float32, or None
        Vectors of the training sentences in their order, without held-out ones; None unless `store_training_vectors`.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a predicted word in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    Sent2VecVectorizer : Predicts a word from the mean of the others.
    FastSentVectorizer : Predicts the words of the neighbouring sentences from the sum of the sentence's own.

    References
    ----------
    .. [1] Quoc Le and Tomas Mikolov, "Distributed Representations of Sentences and Documents", ICML, 2014.

    Examples
    --------
    >>> from skembed import ParagraphVectorizer
    >>> sentences = ["The cat drinks milk.", "The cat sleeps.", "The bank lends money."] * 50
    >>> emb = ParagraphVectorizer(n_components=16, random_state=0).fit(sentences)
    >>> emb.similarity("cat drinks milk", "cat sleeps") > emb.similarity("cat sleeps", "bank")
    True
    """

    n_components: int = 100
    _: KW_ONLY
    algorithm: str = "dbow"
    combine: str = "mean"
    window: int = 5
    negative: int = 5
    subsample: float = 1e-3
    solver: str = "adagrad"
    learning_rate: float = 0.1
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
    store_training_vectors: bool = False
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
        **ShardedVectorizer._parameter_constraints,
        "algorithm": [StrOptions({"dbow", "dm"})],
        "combine": [StrOptions({"concatenate", "mean", "sum"})],
        "window": [integers(1)],
        **SAMPLED_WORDS,
        "store_training_vectors": ["boolean"],
    }
    _parameter_constraints.pop("init")
    _paper_settings = PAPER_SETTINGS
    word_weights_ = Fitted[NDArray[np.float32]]()
    _auto_passes = AutoPasses(6_000_000, least=10, most=50)
    _pace = MergeSchedule(64, most_tokens=125_000, least_of_shard=250_000)
    word_vectors_ = Fitted[NDArray[np.float32]]()
    target_vectors_ = Fitted[NDArray[np.float32]]()
    training_vectors_ = Fitted[NDArray[np.float32] | None](or_none=True)

    def _text_statistics(
        self, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
    ) -> FittedState:
        n_tokens = corpus.n_tokens + (earlier.n_tokens if earlier else 0)
        weights = keep_probability(state.word_counts_, n_tokens, self.subsample)
        return replace(state.with_arrays({"_noise": noise_sample(state.word_counts_)}), word_weights_=weights)

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        n_words, n_components = len(state.word_counts_), int(self.n_components)
        is_bag, is_joined = self.algorithm == "dbow", self.combine == "concatenate"
        n_inputs = 1 + 2 * int(self.window) if is_joined and not is_bag else 1
        options = _OPTIONS if is_bag else (*_OPTIONS, "combine", "window")
        target = LearnedArray("target_vectors_", (n_words, n_inputs * n_components), options=options)
        start = start_uniform(0.5 / n_components)
        words = LearnedArray("word_vectors_", (n_words, n_components), start, options=options, is_source=True)
        return [target] if is_bag else [words, target]

    def _arrays_of_text(self, state: FittedState, text: EncodedText) -> list[LearnedArray]:
        """The vectors of the sentences: at random in a new model, otherwise as `transform` would find them."""

        def fill(array: np.ndarray, seed: int) -> None:
            if state.n_iter_ > 0:
                ParagraphEncoder(state, state.layout).write_vectors_of(text, array)
            else:
                start_uniform(0.5 / len(array[0]))(array, seed)
                clear_unknown(text, array)  # which no step will change

        return [LearnedArray("training_vectors_", (len(text.document), int(self.n_components)), fill)]

    def _make_objective(self, state: FittedState) -> ParagraphObjective:
        def losses_of(text: EncodedText, sentences: np.ndarray) -> np.ndarray:
            return ParagraphEncoder(state, state.layout).losses_of(text, sentences)

        return ParagraphObjective(self, state, losses_of)

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        of_fit = {"_training_vectors_accumulator"} | (set() if self.store_training_vectors else {"training_vectors_"})
        return replace(state, arrays={name: array for name, array in state.arrays.items() if name not in of_fit})

    def _derived_arrays(self, state: FittedState) -> list[ArrayRecord]:
        if state.n_features_out_ != self.n_components:
            raise ValueError(f"n_features_out_ is {state.n_features_out_}, but the fit gives {self.n_components}.")
        check_noise(state.arrays["_noise"], len(state.vocabulary_))
        records = [ArrayRecord("_noise", (None,), "int64"), ArrayRecord("training_vectors_", (None, self.n_components))]
        return [record for record in records if record.name in state.arrays]

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        if out is None:
            out = np.empty((len(sentences.ptr) - 1, state.n_features_out_), np.float32)
        return ParagraphEncoder(state, state.layout).vectors(sentences.rows[sentences.ids], sentences.ptr, out)
