"""Tf-idf of words beside vectors that an estimator learned: the more often a text has a word, the more they count."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, hstack, vstack
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._base.coverage import Tally
from .._base.pooled import SIF_A
from .._base.queries import WordVectorInspection
from .._base.scikit_learn import fit_context, sparse_rows
from .._base.sharing import of_one_state, transforming
from .._base.state import Shaped
from .._base.text import TextEstimator
from .._base.vector_length import LENGTH, length_without_source, warn_of_another_length
from .._compiled.buffers import read_only
from .._corpus.corpus import SentenceCorpus
from .._methods.siamese_cbow import SiameseCBOWVectorizer
from .._text.batches import Batch, offsets
from .._text.known_words import EncodedSentences
from .._text.sources import advising
from .._training.checkpoint import Checkpoint
from .._validation.limits import INT64_MAX
from .._word_vectors.join import unit_rows
from .._word_vectors.sources import SUMS_WORDS, fit_with, is_unfitted, learned_vectors, needs_order_for, unwrapped


class HybridVectorizer(WordVectorInspection, TextEstimator):
    r"""Tf-idf of the words of a sentence beside word vectors learned from your own text.

    Use it to compare, search and cluster sentences, with own text of any size. Each word has a column, as in tf-idf,
    and a learned vector in the last `n_components` columns. The more often your own text has the word, the more of its
    length is in the vector: with little text this is tf-idf, with much it knows which words are related. Set `stemmer`:
    on stems it is better by some points.

    Read more in the :ref:`User Guide <hybrid>`.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the learned vectors. "auto" is 300, or the length of the vectors of `embedding`. Beside `embedding`,
        `fit` warns of another number and does not use it.
    embedding : estimator or None, default=None
        What learns the vectors: an estimator of this package that sums word vectors. `fit` fits a clone of one that is
        not fitted, with `random_state` and `n_jobs` from here if its own is None. A fitted one is used as it is, and
        `corpus` must be the text that it learned from; in a :class:`~sklearn.frozen.FrozenEstimator` it keeps its fit
        in a :func:`~sklearn.base.clone`. Only its words are used, not its n-grams, weights and pooling. None means
        ``SiameseCBOWVectorizer(n_components)``.
    half_count : float, default=200
        Count in own text at which half of the squared length of a word is in its learned vector. At a count of ``n``
        the fraction is ``n / (n + half_count)``.
    sif_power : float, default=0.25
        The weight of a word is the geometric mean of its idf in the sentences at hand and in own text, times the SIF
        weight ``a / (a + f)`` to this power, with ``a = 0.001`` and the frequency ``f`` of the word in own text [1]_.
        0 leaves idf alone, 1 is full SIF.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`; "char", "char_wb" and "word+char_wb" mean
        :class:`CharacterNgrams`. A callable gets an item of `X` and returns its words; the next three options are then
        not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`.
    lowercase : bool, default=True
        Whether text is lowered before it is split.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out, as in scikit-learn: a list, set, array or Series.
    stemmer : str, callable or None, default=None
        Language of a Snowball stemmer (needs the library snowballstemmer, ``pip install skembed[stem]``), or a function
        from a word to its stem. PyStemmer, where installed, is faster. With a `corpus` its stemmer is used.
    missing : {"error", "empty"}, default="error"
        Raise an error for a missing sentence (None, NaN, NaT, NA), which names its row, or take it as an empty one.
    corpus : SentenceCorpus or None, default=None
        Own text in reading order, to learn the vectors from. None learns them from `X`.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the embedding, where its own is None.
    verbose : int, default=0
        Passed to the default embedding: 1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    vocabulary_ : dict
        The words and the indices of their columns: those with a learned vector, the others of own text, then the others
        of the sentences at hand.
    learned_vectors_ : ndarray of shape (n_learned, n_components), dtype float32
        Learned vectors of the first `n_learned` words. The squared length of a row is the fraction of the word that is
        learned; the column of the word has the rest, up to 1.
    word_weights_ : ndarray of shape (n_words,), dtype float32
        Weight of each word.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often own text has each word.
    coverage_ : float
        Fraction of the words of own text that are in the vocabulary.
    n_features_out_ : int
        Number of columns of the output, `n_words` + `n_components`.

    See Also
    --------
    SiameseCBOWVectorizer : What learns the vectors.
    BOWPCA : Counts of words and tf-idf, without vectors.
    MetaEmbeddingVectorizer : Joins several learned models.

    Notes
    -----
    *Two texts.* Fit on the sentences that are compared: a word that most of them have does not tell them apart, even if
    it is rare in own text. The vectors come from `corpus`, and each `fit` learns them anew; to fit on other sentences
    without learning again, pass a fitted `embedding` beside the `corpus` that it learned from.

    *Unknown words.* A word of `X` that own text does not have keeps all its length in its column; so does one that the
    embedding leaves out, as the default does with words that occur fewer than five times. A word of own text that `X`
    does not have has the highest idf there. Only a word that neither has is left out of a sentence.

    *Rows* have length one, as those of tf-idf, so that dot products are cosines and Euclidean neighbours are those by
    cosine.

    References
    ----------
    .. [1] Sanjeev Arora, Yingyu Liang and Tengyu Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings",
       ICLR, 2017.

    Examples
    --------
    >>> from skembed import HybridVectorizer, SentenceCorpus
    >>> own = ["Cats sleep.", "Kittens sleep.", "Stocks fell.", "Shares fell."] * 100
    >>> corpus = SentenceCorpus.from_sentences(own, groups=[i // 2 for i in range(400)])
    >>> emb = HybridVectorizer(16, corpus=corpus, random_state=0)
    >>> emb = emb.fit(["Cats purr.", "A kitten!", "Kittens", "Shares rose."])
    >>> emb.similarity("cats", "kittens") > emb.similarity("cats", "shares")
    True
    """

    n_features_out_: int
    learned_vectors_: NDArray[np.float32]
    word_weights_: NDArray[np.float32]
    _own_lengths: NDArray[np.float32]  # of each word, in its column

    _parameter_constraints: dict[str, Any] = {
        "n_components": LENGTH,
        "embedding": [SUMS_WORDS, None],
        "half_count": [Interval(Real, 1e-3, INT64_MAX, closed="both")],
        "sif_power": [Interval(Real, 0.0, 1.0, closed="both")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        embedding: Any = None,
        half_count: float = 200,
        sif_power: float = 0.25,
        analyzer: Any = "word",
        token_pattern: str | None = None,
        lowercase: bool = True,
        stop_words: Any = None,
        stemmer: Any = None,
        missing: str = "error",
        corpus: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.embedding = embedding
        self.half_count = half_count
        self.sif_power = sif_power
        self.analyzer = analyzer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.missing = missing
        self.corpus = corpus
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _source_option = "embedding"

    @property
    def _needs_order_for(self) -> str | None:
        return needs_order_for(self._source())

    def _source(self) -> Any:
        """The estimator that learns or has learned the vectors."""
        mine = self.embedding
        n_components = length_without_source(self.n_components, usual=300)
        return SiameseCBOWVectorizer(n_components, verbose=self.verbose) if mine is None else mine

    @fit_context
    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, checkpoint: Any = None, checkpoint_every: int = 1
    ) -> Self:
        """Learn the vectors from own text, and the weights of the words from own text and the sentences at hand.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            The sentences at hand. Where the parameter `corpus` is None they are own text as well, in reading order if
            the embedding needs it.
        y : ignored
            Not used, present by convention.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence, where the vectors are learned from `X`.
        checkpoint, checkpoint_every : path-like or None, default=None; int, default=1
            For the fit of the embedding, as in :meth:`CBOSVectorizer.fit`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ImportError
            If `stemmer` is a language and the library snowballstemmer is missing.
        ValueError
            If there is no sentence or no word; if `X`, `corpus` and `embedding` do not split text alike; if the
            checkpoint is of another fit; or if `corpus` is None, but `embedding` is fitted or has its own `corpus`.

        Warns
        -----
        UserWarning
            If `y` is given without `groups` or `corpus`, and an unfitted embedding needs reading order. If
            `n_components` is a number that is not the length of the vectors of `embedding`.
        """
        text = self._corpus_to_learn_from(X, groups, y)
        at_hand = self._at_hand(X, text)
        words, vectors = self._learn(text, Checkpoint(checkpoint, checkpoint_every))
        self._commit(self._fitted_attributes(at_hand, text, words, vectors))
        return self

    def _at_hand(self, X: Any, text: SentenceCorpus) -> SentenceCorpus:
        """`X` as a corpus, split as own text is."""
        if self.corpus is None:
            return text
        at_hand = X if isinstance(X, SentenceCorpus) else self._encoded_with(text.tokenizer, X)
        if at_hand.tokenizer != text.tokenizer:
            raise ValueError(
                f"X was made with {at_hand.tokenizer.difference(text.tokenizer)}, but corpus with "
                f"{text.tokenizer.difference(at_hand.tokenizer)}. Build them with the same options."
            )
        return at_hand

    def _learn(self, text: SentenceCorpus, checkpoint: Checkpoint) -> tuple[list[str], np.ndarray]:
        """Words and vectors of the embedding."""
        embedding = self._source()
        if self.corpus is None and not (is_unfitted(embedding) and unwrapped(embedding).corpus is None):
            raise ValueError(
                "embedding has a text of its own, which says how often each word occurs. Pass that text as corpus."
            )
        if is_unfitted(embedding):
            if self.embedding is None and text.vocabulary.prune().counts[0] < embedding._option("min_count", {}):
                return [], np.zeros((0, embedding.n_components), np.float32)  # plain tf-idf
            embedding = fit_with(clone(embedding), text, self.random_state, self.n_jobs, checkpoint)
        else:
            checkpoint.refuse("embedding")
        unwrapped(embedding)._check_corpus(text, "X" if self.corpus is None else "corpus")
        words, vectors = learned_vectors(embedding)
        warn_of_another_length(self, "n_components", vectors.shape[1], "embedding")
        return words, vectors

    def _fitted_attributes(
        self, at_hand: SentenceCorpus, text: SentenceCorpus, words: list[str], vectors: np.ndarray
    ) -> dict[str, Any]:
        names = list(dict.fromkeys([*words, *text.vocabulary.words, *at_hand.vocabulary.words]))
        counts = text.vocabulary.look_up(text.vocabulary.counts, names)
        sif = SIF_A / (SIF_A + counts / max(1, text.n_tokens))
        weights = np.sqrt(_idf(at_hand, names) * _idf(text, names)) * sif**self.sif_power
        units = unit_rows(np.array(vectors, np.float32))
        learned = np.zeros(len(names))
        learned[: len(words)] = (known := counts[: len(words)]) / (known + float(self.half_count)) * units.any(axis=1)
        units *= np.sqrt(learned[: len(words)], dtype=np.float32)[:, None]
        return {
            "vocabulary_": dict(zip(names, range(len(names)))),
            "word_counts_": counts,
            "coverage_": 1.0,
            "word_weights_": weights.astype(np.float32),
            "learned_vectors_": units,
            "n_features_out_": len(names) + units.shape[1],
            "_own_lengths": np.sqrt(1 - learned).astype(np.float32),
            "_tokenizer": text.tokenizer,
        }

    def _shapes_of_state(self, n_words: int) -> dict[str, Shaped]:
        learned = self.learned_vectors_, (None, self.n_features_out_ - n_words)
        weights, lengths = (self.word_weights_, (n_words,)), (self._own_lengths, (n_words,))
        return {"word_weights_": weights, "_own_lengths": lengths, "learned_vectors_": learned}

    @transforming
    def transform(self, X: Any) -> csr_matrix | csr_array:
        """Embed sentences.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences, in any order: the row of a sentence depends on that sentence and the model alone.

        Returns
        -------
        X_new : csr_matrix of shape (n_sentences, n_features_out), dtype float32
            Rows of length one, a column for each word and then `n_components` learned ones. A sentence without a known
            word is a row of zeros. Under ``sklearn.set_config(sparse_interface="sparray")`` a csr_array.

        Warns
        -----
        UserWarning
            If far fewer words are known than of own text, or none in half of 5 sentences or more and 30 words or more.
        """
        check_is_fitted(self)
        return sparse_rows(self._embed(X, "X"))

    def _embed(self, X: Any, name: str) -> csr_array:
        tally = Tally()

        def embed(batch: tuple[EncodedSentences | Batch, int]) -> csr_array:
            sentences = self._encode_batch(*batch)
            tally.add(sentences)
            return self._rows(sentences)

        with advising(X):
            tables = list(self._in_order(embed, self._batches(X, name)))
        tally.warn(self)
        return vstack(tables, format="csr") if tables else csr_array((0, self.n_features_out_), dtype=np.float32)

    def _rows(self, sentences: EncodedSentences) -> csr_array:
        return normalize(self._sums(*self._known_once(sentences)), copy=False)

    def _sums(self, rows: np.ndarray, ptr: np.ndarray) -> csr_array:
        """Weighted sums of words: `rows` of the vocabulary, and `ptr`, the offset of each sum in them."""
        from .._encoders.bag import sum_rows  # numba takes a while to import

        weights, vectors = self.word_weights_[rows], read_only(self.learned_vectors_)
        learned = np.empty((len(ptr) - 1, vectors.shape[1]), np.float32)
        sum_rows(np.where(rows < len(vectors), rows, -1), weights, ptr, vectors, vectors[:0], False, learned)
        # Many estimators of scikit-learn refuse 64-bit indices.
        dtype = np.int32 if max(ptr[-1], self.n_features_out_) <= np.iinfo(np.int32).max else np.int64
        entries = weights * self._own_lengths[rows], rows.astype(dtype), ptr.astype(dtype)
        own = csr_array(entries, shape=(len(learned), len(self.vocabulary_)))
        own.sort_indices()
        return hstack([own, csr_array(learned)], format="csr")

    def _known_once(self, sentences: EncodedSentences) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the known words of each sentence, each once, and the offsets of the sentences."""
        from .._encoders.bag import first_of_each  # numba takes a while to import

        ids, ptr = first_of_each(sentences.ids, sentences.ptr)
        rows = sentences.rows[ids]
        known = rows >= 0
        return rows[known], offsets(known)[ptr]

    def _vector_of_query(self, sentence: EncodedSentences) -> np.ndarray:
        return np.asarray(self._rows(sentence).toarray()[0])

    def _cosines_of_words(self, vector: np.ndarray) -> np.ndarray:
        if not (length := np.linalg.norm(vector)):
            return np.full(len(self.vocabulary_), -np.inf)
        own, learned = np.split(vector / length, [len(self.vocabulary_)])
        cosines = self._own_lengths * own  # words have length one
        cosines[: len(self.learned_vectors_)] += self.learned_vectors_ @ learned
        return np.asarray(cosines)

    def _weighted_vectors(self, sentence: str) -> tuple[list[str], csr_array]:
        rows, _ = self._known_once(self._known_tokens().encode([sentence]))
        names = list(self.vocabulary_)
        return [names[row] for row in rows], self._sums(rows, np.arange(len(rows) + 1)).astype(np.float64)

    @of_one_state
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the output columns: the words, then those of the learned vectors, numbered.

        Parameters
        ----------
        input_features : ignored
            Present by convention.

        Returns
        -------
        names : ndarray of str
            One name a column.
        """
        check_is_fitted(self)
        numbered = (f"{type(self).__name__.lower()}{i}" for i in range(self.learned_vectors_.shape[1]))
        return np.array([*self.vocabulary_, *numbered], dtype=object)


def _idf(corpus: SentenceCorpus, words: list[str]) -> np.ndarray:
    frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), words)
    return np.asarray(np.log((1 + corpus.n_sentences) / (1 + frequencies)) + 1)
