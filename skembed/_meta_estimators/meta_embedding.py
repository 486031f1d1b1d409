"""The word vectors of several models joined (meta-embeddings)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from .._base.scikit_learn import fit_context
from .._base.sources import GivenVectors, fitted_clones, is_list
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._validation.columns import Labels, Sentences
from .._validation.constraints import Constraints, PredicateConstraint
from .._validation.values import RandomState
from .._word_vectors.join import join_word_vectors
from .._word_vectors.matches import WordVectors


class MetaEmbeddingVectorizer(GivenVectors):
    r"""Mean or sum of word vectors that several models learned, joined and in fewer dimensions.

    The vectors of each word, side by side, make a meta-embedding [1]_. If it is longer than `n_components`, it is
    projected on the strongest directions in the text, without the very first ones [2]_. Use the estimator by itself, or
    as the `word_vectors` of a :class:`MeanEmbeddingVectorizer`.

    Read more in the :ref:`User Guide <meta_embedding>`.

    Parameters
    ----------
    word_vectors : list
        Models to join. Each may be an estimator of this package, or vectors in any other form that
        :class:`MeanEmbeddingVectorizer` accepts. `fit` fits clones of the unfitted estimators. Use a
        :class:`~sklearn.frozen.FrozenEstimator` to keep a fit, which :func:`~sklearn.base.clone` would drop.
    n_components : int, default=100
        Largest length of the joined vectors.
    whiten : bool, default=False
        False gives all words the same length. True keeps how much a word matters in each of the models, and makes all
        directions equally strong.
    pooling : {"mean", "sum"}, default="mean"
        Whether a sentence is the mean or the sum of its words at transform.
    weighting : {"idf", "sif"} or None, default=None
        Weight of a word in that sum at transform, as of :class:`MeanEmbeddingVectorizer`. With ``whiten=True`` the
        weights of the models are in the vectors already.
    unknown : {"zero", "hash"}, default="hash"
        What becomes of a word without a vector. "zero" leaves it out. "hash" gives it a random direction that depends
        on its text alone.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`. "char" and "char_wb" take n-grams of one to four characters as words, of
        the whole text or within words; "word+char_wb" takes words, and within them n-grams of three and four;
        :class:`CharacterNgrams` takes other lengths. A callable gets an item of `X` and returns its words;
        the next three options are then not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer), or a function from a word to its stem.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    corpus : SentenceCorpus or None, default=None
        Text to learn from, instead of the `X` given to `fit`.
    n_jobs : int or None, default=None
        Number of threads, also of the models whose own is None; -1 means all cores. It does not change one bit of the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the models whose own is None; each gets a different one.

    Attributes
    ----------
    vocabulary_ : dict
        The words of all models, and the indices of their rows.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        Joined vectors of the words.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word, by `weighting`.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    MeanEmbeddingVectorizer : Adds the removal of common components, numbers and spelling.
    sklearn.pipeline.FeatureUnion : Puts the sentence vectors of several models side by side.

    References
    ----------
    .. [1] Wenpeng Yin and Hinrich Schütze, "Learning Word Meta-Embeddings", ACL, 2016.
    .. [2] Jiaqi Mu and Pramod Viswanath, "All-but-the-Top: Simple and Effective Postprocessing for Word
       Representations", ICLR, 2018.

    Examples
    --------
    >>> from skembed import CBOSVectorizer, MetaEmbeddingVectorizer, Sent2VecVectorizer
    >>> sentences = ["The cat drinks milk.", "The bank lends money."] * 50
    >>> models = [CBOSVectorizer(), Sent2VecVectorizer()]
    >>> emb = MetaEmbeddingVectorizer(models, n_components=20, whiten=True)
    >>> emb.fit_transform(sentences).shape
    (100, 20)
    """

    _parameter_constraints: Constraints = {
        **GivenVectors._parameter_constraints,
        "word_vectors": [PredicateConstraint(is_list, "a list of sources of word vectors")],
        "whiten": ["boolean"],
    }
    _parameter_constraints.pop("min_count")
    _parameter_constraints.pop("max_features")

    def __init__(
        self,
        word_vectors: Sequence[WordVectors],
        n_components: int = 100,
        *,
        whiten: bool = False,
        pooling: str = "mean",
        weighting: str | None = None,
        unknown: str = "hash",
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
        self.word_vectors = word_vectors
        self.n_components = n_components
        self.whiten = whiten
        self.pooling = pooling
        self.weighting = weighting
        self.unknown = unknown
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
    def fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None) -> Self:
        """Fit the models that are not fitted, then join the vectors of all.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences, in reading order if a model needs it. If the parameter `corpus` is given, `fit` learns from that,
            not from `X`.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If word vectors cannot be read from a model.
        ValueError
            If the list is empty, if no word of the text has a vector in one of the models, or a vector is invalid.
        MemoryError
            If there is less memory than the models or the joined vectors need.

        Warns
        -----
        UserWarning
            If fewer than a third of the words of the text have a vector; says the likely reason. If `y` is given
            without `groups` or a corpus, and an unfitted model needs reading order.
        """
        corpus = self._corpus_to_learn_from(X, groups, y)
        models = fitted_clones(self.word_vectors, corpus, self.random_state, self.n_jobs)
        words, vectors = join_word_vectors(models, corpus, self.n_components, whiten=self.whiten)
        return self._publish(self._taken(corpus, words, vectors))
