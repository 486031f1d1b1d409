"""The unfolding recursive autoencoder (Socher and others, 2011): a tree over the words, folded and unfolded again."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.reading import check_agreement
from .._base.scikit_learn import parameters_from_fields
from .._base.trained import TrainedVectorizer
from .._corpus.corpus import SentenceCorpus
from .._text.known_words import EncodedSentences
from .._text.sources import offsets
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import LearnedArray, Start, start_uniform
from .._training.state import Fitted, FittedState
from .._validation.constraints import INT64_MAX, integers
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors
from ._parses import ParsesMixin, brackets_of
from ._tree import TreeSource, Unfolding, fold_rows, start_pairs

_BATCH = 256  # sentences that are folded together


def _start_of_pairs(is_decoder: bool) -> Start:
    return lambda array, seed: start_pairs(array, [seed, 7], is_decoder=is_decoder)


@parameters_from_fields
class RecursiveAutoencoderVectorizer(ParsesMixin, TrainedVectorizer):
    r"""Sentence embeddings by a recursive autoencoder over binary trees, which unfolds its root: URAE.

    Two neighbours in a tree are joined into a vector of the same length, again and again, up to the root, which is the
    vector of the sentence. What joins them is learned so that the root can be unfolded into the words again. The trees
    are balanced ones, or those of a parser, which are given as brackets [1]_.

    The :ref:`User Guide <urae>` has the objective, its gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of `init`, else 100. The paper has 200.
    trees : {"balanced", "bracketed"}, default="balanced"
        "balanced" joins pairs of neighbouring words, then pairs of these, and so on. "bracketed" reads the tree from
        the text, ``(S (NP dogs) (VP bark))``, where what follows an opening bracket is an unused label; more than two
        children are joined from the left. For trees of nltk or nested lists pass `words_of_tree` as `analyzer`.
    init : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Fitted model, or words and vectors (:ref:`init`). None draws vectors at random.
    learn_words : bool, default=False
        Whether the word vectors are learned too. False keeps them as they are.
    alpha : float, default=0.1
        Strength of the pull of learned words to their start, above 0; without it all words could become equal.
    learning_rate : float, default=0.002
        Size of the steps of Adam, above 0. It falls linearly to zero over `max_iter` passes.
    max_iter : int, default=5
        Passes over the text.
    batch_size : int or "auto", default="auto"
        Sentences in a block. "auto" is 1/64 of them, 16 to 128.
    min_count : int, default=5
        Words that occur less often are not learned. They are left out of a sentence.
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
        Number of threads; -1 means all cores. A block has work for two. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the start values, the order of the text and all draws.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words of the text, and those of `init`, with their row numbers. Brackets count as words.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words.
    encoder_weights_ : ndarray of shape (n_features_out, 2 * n_features_out + 1), dtype float32
        Weights that join two vectors: those of the left and of the right one, and an intercept.
    decoder_weights_ : ndarray of shape (2 * n_features_out, n_features_out + 1), dtype float32
        Weights that unfold a vector, and an intercept. They are not used after training.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    loss_curve_, validation_loss_curve_ : list of float
        Mean of half the squared distance between a word and what the root unfolds to, in each pass, and of held-out
        sentences after it (empty without `early_stopping`).
    n_iter_, n_features_out_ : int
        Number of passes made, and of columns of the output.

    See Also
    --------
    SequentialDenoisingAutoencoder : An autoencoder that reads the words one after the other.

    References
    ----------
    .. [1] R. Socher, E. H. Huang, J. Pennington, A. Y. Ng and C. D. Manning, "Dynamic Pooling and Unfolding Recursive
       Autoencoders for Paraphrase Detection", NIPS, 2011.

    Examples
    --------
    >>> from skembed.research import RecursiveAutoencoderVectorizer
    >>> parses = [
    ...     "(S (NP the dog) (VP bites (NP the man)))",
    ...     "(S (NP the man) (VP bites (NP the dog)))",
    ... ] * 50
    >>> emb = RecursiveAutoencoderVectorizer(16, trees="bracketed", random_state=0)
    >>> emb.fit(parses).transform(parses[:2]).shape
    (2, 16)
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    trees: str = "balanced"
    init: WordVectors | None = None
    learn_words: bool = False
    alpha: float = 0.1
    learning_rate: float = 0.002
    max_iter: int = 5
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
        **TrainedVectorizer._parameter_constraints,
        "max_iter": [integers(1, INT64_MAX)],
        "trees": [StrOptions({"balanced", "bracketed"})],
        "learn_words": ["boolean"],
        "alpha": [Interval(Real, 0.0, 1e12, closed="right")],
    }
    solver = "adam"
    word_vectors_ = Fitted[NDArray[np.float32]]()
    encoder_weights_ = Fitted[NDArray[np.float32]]()
    decoder_weights_ = Fitted[NDArray[np.float32]]()
    _paper_settings = {
        "URAE": {"n_components": 200, "trees": "bracketed", "learn_words": False, "alpha": 0.1}
        | {"learning_rate": 0.002, "max_iter": 5, "batch_size": "auto", "min_count": 1}
    }
    # end of the settings

    def _check_agreement(self, corpus: SentenceCorpus, name: str) -> None:
        if self.trees == "bracketed":  # the words are those of init, but there are brackets too
            check_agreement(self, corpus, name)
        else:
            super()._check_agreement(corpus, name)

    def _learned_arrays(self, state: FittedState) -> list[LearnedArray]:
        n_words, d = len(state.word_counts_), self._width_of_words(state)
        words = self._start_of_words(state, start_uniform((3 / d) ** 0.5, own_seed=state.seed))  # lengths of about one
        options, is_frozen = ("n_components", "trees", "learn_words"), not self.learn_words
        source = LearnedArray("word_vectors_", (n_words, d), words, options=options, frozen=is_frozen, is_source=True)
        arrays = [
            source,
            LearnedArray("encoder_weights_", (d, 2 * d + 1), _start_of_pairs(False), "dense", options),
            LearnedArray("decoder_weights_", (2 * d, d + 1), _start_of_pairs(True), "dense", options),
        ]
        if self.learn_words:
            arrays.append(source._replace(name="_start_vectors", frozen=True, kept=False))
        return arrays

    def _make_objective(self, state: FittedState) -> Unfolding:
        return Unfolding(
            state.arrays, self._trees_of(state.vocabulary_), float(self.alpha) if self.learn_words else None
        )

    def _trees_of(self, vocabulary: dict[str, int]) -> TreeSource:
        return brackets_of(vocabulary) if self.trees == "bracketed" else None

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        rows = sentences.rows[sentences.ids]
        is_known = rows >= 0
        rows, ptr = rows[is_known], offsets(is_known)[sentences.ptr]
        which = np.flatnonzero(np.diff(ptr))
        trees = self._trees_of(state.vocabulary_)
        arrays = tuple(state.arrays[name] for name in ("word_vectors_", "encoder_weights_"))
        embedded = np.zeros((len(ptr) - 1, state.n_features_out_), np.float32) if out is None else out
        embedded[:] = 0
        ptr = np.append(ptr[which], ptr[-1])
        for first in range(0, len(which), _BATCH):
            ends = ptr[first : first + _BATCH + 1]
            folded, _, has_words = fold_rows(rows[ends[0] : ends[-1]], ends - ends[0], trees, *arrays)
            embedded[which[first + has_words]] = folded.states[folded.trees.roots]
        return embedded
