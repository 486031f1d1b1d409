"""Means and sums of word vectors (MOWE and SOWE), given or learned."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from .._base.embedding import encoded_corpus
from .._base.scikit_learn import LENGTH, fit_context, warn_of_another_length
from .._base.sources import GivenVectors, ProcessedState, ProcessedVectors, fit_with, is_list, learned_vectors
from .._base.start import is_unfitted
from .._base.trained import length_without_source
from .._corpus.corpus import SentenceCorpus
from .._methods.word2vec import Word2VecVectorizer
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.checkpoint import Checkpoint
from .._training.state import Fitted
from .._validation.columns import Labels, Sentences
from .._validation.constraints import Constraints, integers
from .._validation.values import PathLike, RandomState
from .._word_vectors.matches import WordVectors, check_given
from .._word_vectors.processing import remove_components, second_moments, strongest_directions
from .._word_vectors.read import read_source
from .meta_embedding import MetaEmbeddingVectorizer


class MeanEmbeddingVectorizer(ProcessedVectors):
    r"""Mean or sum of word vectors, given or learned, with optional weights and common components removed.

    Use it with vectors that somebody else learned, as the baseline that sentence models must beat (MOWE and SOWE [1]_),
    and for the weighted mean without its first component (Arora et al. [2]_). Without `word_vectors` it learns them
    from your text by a :class:`Word2VecVectorizer`.

    Read more in the :ref:`User Guide <mean_embedding>`.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of learned vectors, and the largest of joined ones. "auto" is 100, or the length of other `word_vectors`,
        beside which `fit` warns of another number and does not use it. The papers' baselines use 300.
    word_vectors : dict, (words, array), DataFrame, KeyedVectors, path, estimator, list or None, default=None
        Vectors to use: a mapping of word to vector; a tuple of words and an array of shape (n_words, n_components); a
        DataFrame with the words as its index; gensim's KeyedVectors, or a model with them; an estimator of this
        package, of which `fit` fits a clone if it is not fitted; or the path of a file that
        :func:`~skembed.formats.read_word_vectors` reads, or of a binary model of fastText. A list of these is joined by
        a :class:`MetaEmbeddingVectorizer`. None means ``Word2VecVectorizer(n_components, min_count=min_count,
        max_features=max_features)``. Clones share given vectors. The :ref:`User Guide <mean_embedding>` says more.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean (MOWE) or the sum (SOWE) of its words at transform.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in that mean at transform, from the text given to `fit`. "idf" is
        ``log((1 + n) / (1 + df)) + 1`` for a word that ``df`` of ``n`` sentences hold, "sif" is ``a / (a + f)`` with
        ``a = 0.001`` and the frequency ``f`` of the word [2]_.
    binary : bool, default=False
        Whether a repeated word counts only once in a sentence at transform.
    hash_numbers : bool, default=False
        Whether a word with a digit has a random direction at transform: learned vectors of 1914 and 1945 are close.
    spelling_weight : float, default=0.0
        How much the spelling of a word counts at transform, from 0 to 1: its vector, also of an unknown word, is turned
        towards a direction made of its character n-grams.
    n_removed_components : int, default=0
        Strongest common directions of the sentences to remove; fewer than `n_components`. Arora et al. remove 1.
    unknown : {"zero", "hash", "ngrams"}, default="hash"
        What becomes of a word without a vector. "zero", as in the papers, leaves it out. "hash" gives it a random
        direction that depends on its text alone. "ngrams" gives it the mean of the vectors of its character n-grams, as
        fastText does; `word_vectors` is then the path of its binary model.
    norm : {"l2"} or None, default=None
        "l2" divides each row by its length at transform, as model2vec does, so that dot products are cosines.
    min_count : int, default=5
        Words that occur less often are not learned without `word_vectors`. Given vectors are all kept.
    max_features : int or None, default=None
        Learn only this many of the most frequent words without `word_vectors`. Given vectors are all kept.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`. "char" and "char_wb" take n-grams of one to four characters as words, of
        the whole text or within words; "word+char_wb" takes words, and within them n-grams of three and four;
        :class:`CharacterNgrams` takes other lengths. A callable gets an item of `X` and returns its words;
        the next three options are then not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`.
    lowercase : bool, default=True
        Whether text is lowered before it is split. Use False for given vectors of words with capitals.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer), or a function from a word to its stem.
        Given vectors must then be vectors of stems.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, instead of the `X` given to `fit`.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the estimators that `fit` fits, where their own is None.

    Attributes
    ----------
    vocabulary_ : dict
        The words that have a vector, and the indices of their rows.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Vectors of the words, before numbers are hashed, spelling is added and common components are removed.
    components_ : ndarray of shape (n_removed_components, n_features_out), dtype float32
        The common directions that are removed.
    ngram_vectors_ : ndarray of shape (n_buckets, n_features_out), dtype float32
        Vectors that character n-grams share, for ``unknown="ngrams"``; otherwise no rows.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word, by `weighting`.
    word2vec_ : Word2VecVectorizer or None
        The estimator that learned the vectors in `fit`, with its losses; None where another one did, or none.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    Word2VecVectorizer : Learns the vectors that are the default.
    MetaEmbeddingVectorizer : Joins the vectors of several models.
    BOWPCA : The other simple baseline.

    Notes
    -----
    Common components are the strongest directions of the sentences of `fit`, not centred; they are removed from every
    word vector, and so from every sentence.

    *The papers' own settings:* MOWE of [1]_ is ``MeanEmbeddingVectorizer(word_vectors=path, lowercase=False,
    pooling="mean", weighting=None, n_removed_components=0, unknown="zero")`` with the Google News vectors at ``path``,
    SOWE the same with ``pooling="sum"``. W and R of [2]_ are ``weighting="sif"`` and ``n_removed_components=1``.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.
    .. [2] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
       ICLR, 2017.

    Examples
    --------
    With given vectors:

    >>> from skembed import MeanEmbeddingVectorizer
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors, unknown="zero")
    >>> emb.fit_transform(["A cat!", "Cat and dog.", ""])
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 0. ]], dtype=float32)

    With learned vectors, of skip-gram and of another model:

    >>> from skembed import CBOSVectorizer
    >>> sentences = ["The cat drinks milk.", "The bank lends money."] * 50
    >>> emb = MeanEmbeddingVectorizer(n_components=16, random_state=0)
    >>> emb.fit_transform(sentences).shape
    (100, 16)
    >>> emb = MeanEmbeddingVectorizer(word_vectors=CBOSVectorizer(20), weighting="sif")
    >>> emb.fit_transform(sentences).shape
    (100, 20)
    """

    _parameter_constraints: Constraints = {
        **ProcessedVectors._parameter_constraints,
        "norm": [StrOptions({"l2"}), None],
        "n_components": LENGTH,
        "binary": ["boolean"],
        "hash_numbers": ["boolean"],
        "spelling_weight": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_removed_components": [integers(0)],
        "unknown": [StrOptions({"zero", "hash", "ngrams"})],
    }
    n_components: Any
    word2vec_ = Fitted[Word2VecVectorizer | None](or_none=True)

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        word_vectors: WordVectors | None = None,
        pooling: str = "mean",
        weighting: str | None = None,
        binary: bool = False,
        hash_numbers: bool = False,
        spelling_weight: float = 0.0,
        n_removed_components: int = 0,
        unknown: str = "hash",
        norm: str | None = None,
        min_count: int = 5,
        max_features: int | None = None,
        analyzer: Analyzer = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: StopWords = None,
        stemmer: Stemmer = None,
        missing: str = "error",
        corpus: SentenceCorpus | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.word_vectors = word_vectors
        self.pooling = pooling
        self.weighting = weighting
        self.binary = binary
        self.hash_numbers = hash_numbers
        self.spelling_weight = spelling_weight
        self.n_removed_components = n_removed_components
        self.unknown = unknown
        self.norm = norm
        self.min_count = min_count
        self.max_features = max_features
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.missing = missing
        self.corpus = corpus
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fit_context
    def fit(
        self,
        X: Sentences,
        y: Labels = None,
        *,
        groups: Labels = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: int = 1,
    ) -> Self:
        """Take the word vectors, or learn them; then find word weights and common components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence, for estimators in `word_vectors` that learn from neighbouring sentences.
        checkpoint : str, path-like or None, default=None
            Folder for the state of the fit of word vectors; one that was killed goes on from it, to the same bits. Not
            for several models that are joined.
        checkpoint_every : int, default=1
            After how many of its passes it is written, beside after the last one.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If `word_vectors` has a type that is not supported.
        ValueError
            If no word of the text has a vector, or none in one of the joined models, or a vector is invalid; names
            which. If `checkpoint` is of another fit, or `word_vectors` are given.
        MemoryError
            If there is less memory than an estimator in `word_vectors`, `n_removed_components` or joined vectors need.

        Warns
        -----
        UserWarning
            If fewer than a third of the words of the text have a given vector; says the likely reason. If `y` is given
            without `groups` or a corpus, and an unfitted estimator in `word_vectors` needs reading order.
        """
        corpus = self._corpus_to_learn_from(X, groups, y)
        state = self._with_word_vectors(corpus, Checkpoint(checkpoint, checkpoint_every))
        return self._publish(self._with_processed_vectors(corpus, state))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        n_components = length_without_source(self.n_components)
        if self.word_vectors is None and self.n_removed_components >= n_components:
            raise ValueError(
                f"n_removed_components={self.n_removed_components} must be smaller than n_components={n_components}."
            )

    def _source(self) -> Any:
        """Where the word vectors come from: what is given, several models joined, or word2vec."""
        if self.word_vectors is None:
            return Word2VecVectorizer(self.n_components, min_count=self.min_count, max_features=self.max_features)
        if is_list(self.word_vectors):
            return MetaEmbeddingVectorizer(self.word_vectors, length_without_source(self.n_components))
        return self.word_vectors

    def _with_word_vectors(self, corpus: SentenceCorpus, checkpoint: Checkpoint) -> ProcessedState:
        source = self._source()
        if is_unfitted(source):
            # A clone would lose the fits of the models that it joins.
            source = copy(source) if isinstance(source, GivenVectors) else clone(source)
            fit_with(source, corpus, self.random_state, self.n_jobs, checkpoint)
            words, vectors = learned_vectors(source)
        else:
            checkpoint.refuse("word_vectors")
            words, vectors, _ = read_source(source)
            words = corpus.tokenizer.forms_of(words)
            check_given(corpus, words)
        if self.word_vectors is not None and not is_list(self.word_vectors):
            warn_of_another_length(self, "n_components", vectors.shape[1], "word_vectors")
        state = self._with_ngrams(self._taken(corpus, words, vectors), source)
        is_own = isinstance(source, Word2VecVectorizer) and source is not self.word_vectors
        return replace(state, word2vec_=source if is_own else None)

    def _with_processed_vectors(self, corpus: SentenceCorpus, state: ProcessedState) -> ProcessedState:
        """The state with the vectors that sentences sum: numbers hashed, spelling added, common components removed."""
        n_removed, width = self.n_removed_components, state.n_features_out_
        if n_removed >= width:
            raise ValueError(
                f"n_removed_components={n_removed} would leave nothing of vectors with {width} components."
            )
        state = replace(state, hash_numbers=bool(self.hash_numbers), spelling_weight=float(self.spelling_weight))
        state = self._processed(state.with_arrays({"components_": np.zeros((0, width), np.float32)}))
        if not n_removed:
            return state
        embed: Any = lambda some: self._pool(state, encoded_corpus(self, state, some))  # noqa: E731
        components = self._components_of(second_moments(corpus, embed, width))
        processed = state.arrays["_processed_vectors"]
        if processed is state.arrays["word_vectors_"]:
            processed = processed.copy()
        processed = remove_components(processed, components)
        return state.with_arrays({"components_": components, "_processed_vectors": processed})

    def _components_of(self, moments: np.ndarray) -> np.ndarray:
        """The directions that are removed, from the second moments of the sentences."""
        return strongest_directions(moments, self.n_removed_components)
