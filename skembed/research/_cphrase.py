"""C-PHRASE (Pham and others, 2015): the constituents of a sentence predict the words around them."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from .._base.pooled import SAMPLED_WORDS, PooledVectorizer
from .._base.scikit_learn import parameters_from_fields
from .._base.trained import TrainedVectorizer
from .._corpus.corpus import SentenceCorpus
from .._objectives.cphrase import CPhraseObjective
from .._text.known_words import EncodedSentences
from .._text.sources import offsets
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.encoded_text import Annotations
from .._training.learned_arrays import LearnedArray, Start, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.columns import Labels, Sentences
from .._validation.constraints import integers
from .._validation.values import RandomState
from ._parses import ParsesMixin, brackets_of, check_parses


def _start_of_words(limit: float, without: list[int]) -> Start:
    def fill(array: np.ndarray, seed: int) -> None:
        start_uniform(limit)(array, seed)
        array[without] = 0

    return fill


@parameters_from_fields
class CPhraseVectorizer(ParsesMixin, PooledVectorizer, TrainedVectorizer):
    r"""Sum of word vectors, learned so that the constituents of a parse predict the words around them: C-PHRASE.

    A constituent, from a single word up, is the mean of the vectors of its words. It predicts the words before and
    behind it, the more of them the higher it stands in the tree [1]_. With single words alone that is skip-gram. The
    trees are those of a parser, which are given as brackets, or balanced ones.

    The :ref:`User Guide <cphrase>` has the objective, its gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int, default=100
        Length of the vectors. The paper has 300.
    trees : {"balanced", "bracketed"}, default="balanced"
        "balanced" needs no parser: pairs of neighbouring words are constituents, then pairs of these, and so on.
        "bracketed" reads them from the text, ``(S (NP dogs) (VP bark))``, where what follows an opening bracket is an
        unused label; `transform` also takes plain text. For trees of nltk or nested lists pass `words_of_tree` as
        `analyzer`.
    window : int, default=5
        Words before and behind a word that it predicts.
    window_growth : int, default=2
        How many more words a constituent predicts on each side for each level of the tree below it.
    negative : int, default=5
        Random words to compare with, drawn by the 0.75th power of their frequency.
    subsample : float, default=1e-3
        Threshold t, above 0: a word of frequency f is kept with probability ``min(1, sqrt(t / f) + t / f)``.
    pooling : {"mean", "sum"}, default="sum"
        Whether a sentence is the sum (the paper) or the mean of its words at transform.
    unknown : {"zero", "hash"}, default="hash"
        A word that was not learned is left out ("zero", the paper's) or gets a random direction ("hash"): :ref:`words`.
    solver : {"adagrad", "sgd"}, default="adagrad"
        "adagrad" adapts the steps to each word; "sgd", the paper's, takes plain steps at a rate that falls to zero.
    learning_rate : float, default=0.3
        Size of the steps, above 0. For "sgd" begin with 0.025.
    max_iter : int or "auto", default="auto"
        Passes over the text. "auto" reads 3 million words in all, in 5 to 20 passes.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of them, from 16 to 64 (112 if they are very short).
    min_count : int, default=5
        Words that occur less often are not learned.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`, the other strings as :class:`CharacterNgrams`. A callable returns the
        words of an item; the next three options are then not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script (:ref:`words`). Not used with brackets.
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
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words that are learned, and their row numbers. Brackets count as words, with a row of zeros.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Source vectors of the words, which make the sentences.
    target_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Target vectors of the words. They are not used after training.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text, and 1 for each word.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean loss of a target in each pass, and of a held-out one after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    Word2VecVectorizer : Predicts from single words, in windows.
    RecursiveAutoencoderVectorizer : The other method that takes parses.

    References
    ----------
    .. [1] N. T. Pham, G. Kruszewski, A. Lazaridou and M. Baroni, "Jointly Optimizing Word Representations for Lexical
       and Sentential Tasks with the C-PHRASE Model", ACL, 2015.

    Examples
    --------
    >>> from skembed.research import CPhraseVectorizer
    >>> parses = [
    ...     "(S (NP the old dog) (VP barked (PP at (NP the cat))))",
    ...     "(S (NP the bank) (VP lent (NP the money)))",
    ... ] * 50
    >>> emb = CPhraseVectorizer(16, trees="bracketed", random_state=0).fit(parses)
    >>> emb.similarity("dog", "barked") > emb.similarity("dog", "money")
    True
    """

    n_components: int = 100
    _: KW_ONLY
    trees: str = "balanced"
    window: int = 5
    window_growth: int = 2
    negative: int = 5
    subsample: float = 1e-3
    pooling: str = "sum"
    unknown: str = "hash"
    solver: str = "adagrad"
    learning_rate: float = 0.3
    max_iter: int | str = "auto"
    batch_size: int | str = "auto"
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
        **PooledVectorizer._parameter_constraints,
        **TrainedVectorizer._parameter_constraints,
        "solver": [StrOptions({"adagrad", "sgd"})],
        "trees": [StrOptions({"balanced", "bracketed"})],
        "window": [integers(1)],
        "window_growth": [integers(0)],
        **SAMPLED_WORDS,
    }
    _parameter_constraints.pop("init")
    _parameter_constraints.pop("weighting")
    target_vectors_ = Fitted[NDArray[np.float32]]()
    _paper_settings = {
        "C-PHRASE": {"n_components": 300, "trees": "bracketed", "window": 5, "window_growth": 2, "negative": 5}
        | {"subsample": 1e-5, "pooling": "sum", "unknown": "zero", "solver": "sgd", "learning_rate": 0.025}
        | {"max_iter": 5, "batch_size": 1, "min_count": 5}
    }
    # end of the settings

    def _brackets(self, state: FittedState) -> tuple[int, int] | None:
        return brackets_of(state.vocabulary_) if self.trees == "bracketed" else None

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        shape = (len(state.word_counts_), state.n_features_out_)
        brackets = self._brackets(state) or ()
        if min(brackets, default=0) < 0:
            raise ValueError(
                "A bracket is not among the words that are learned: min_count, max_features or stop_words took it "
                'away, or the text has none. trees="balanced" needs no brackets.'
            )
        start = _start_of_words(0.5 / shape[1], list(brackets))
        options = ("n_components", "trees")
        return [
            LearnedArray("word_vectors_", shape, start, options=options, is_source=True),
            LearnedArray("target_vectors_", shape, options=options, kept=False),
        ]

    def _make_objective(self, state: FittedState) -> CPhraseObjective:
        return CPhraseObjective(self, state, self._brackets(state))

    def _training_data(
        self, X: Sentences, y: Labels, groups: Labels, keep: bool = False
    ) -> tuple[SentenceCorpus, Annotations, np.ndarray | None]:
        evidence = super()._training_data(X, y, groups, keep)
        if self.trees == "bracketed":
            check_parses(evidence[0])
        return evidence

    def _counted(self, state: FittedState, sentences: EncodedSentences) -> EncodedSentences:
        """Brackets do not count."""
        brackets = self._brackets(state)
        if brackets is None:
            return sentences
        is_word = ~np.isin(sentences.rows.take(sentences.ids), brackets)
        return sentences._replace(ids=sentences.ids[is_word], ptr=offsets(is_word)[sentences.ptr])
