"""Bags of words, plain or reduced by principal component analysis (White et al., 2015, section 3.2.4)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from .._base.embedding import CoverageCounter, encode_batch, encoded_batches, encoded_corpus
from .._base.scikit_learn import check_step, fit_context, parameters_from_fields, sparse_rows
from .._base.text import TextEstimator
from .._corpus.corpus import SentenceCorpus
from .._text.known_words import EncodedSentences
from .._text.sources import advising, offsets
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.learned_arrays import ArrayRecord
from .._training.state import Fitted, FittedState
from .._validation.columns import Labels, Sentences
from .._validation.constraints import integers
from .._validation.values import RandomState

# Up to this size of the table the decomposition is exact. With fewer directions than components, as in a small text,
# the iterative one adds arbitrary vectors, which the seed does not fix.
_EXACT_SIZE = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class BagState(FittedState):
    """What bags of words have learned."""

    tfidf: TfidfTransformer | None = None

    @property
    def is_reduced(self) -> bool:
        """Whether rows are projected on components."""
        return "components_" in self.arrays

    def check_values(self) -> None:
        """Check the type and the size of the step of scikit-learn."""
        n_words = len(self.vocabulary_)
        if self.tfidf is not None:
            check_step("_tfidf", self.tfidf, (TfidfTransformer,), n_words)
        if not self.is_reduced and self.n_features_out_ != n_words:
            raise ValueError(f"n_features_out_ is {self.n_features_out_}, but there are {n_words} words.")


@parameters_from_fields
class BOWPCA(TextEstimator):
    r"""Bags of words, plain or reduced by principal component analysis.

    Counts the words of a sentence and projects the counts on their principal components [1]_. Use it as the baseline
    that shows what word choice alone can do: it needs no other text and no order. With ``n_components=None`` it is the
    plain bag of words, as a sparse matrix.

    The :ref:`User Guide <bow_pca>` has the gradients, the differences from the paper, and its setting.

    Parameters
    ----------
    n_components : int or None, default=300
        Number of principal components, fewer than sentences and fewer than words; the paper has 300. None keeps the
        counts as they are.
    weighting : {"idf"} or None, default=None
        "idf" turns counts into tf-idf with rows of length one, as
        :class:`~sklearn.feature_extraction.text.TfidfTransformer` does. None, as in the paper, keeps counts.
    min_count : int, default=1
        Leave out words that occur less often. The paper keeps all.
    max_features : int or None, default=None
        Keep only this many of the most frequent words.
    analyzer : {"word", "char", "char_wb", "word+char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`, the other strings as :class:`CharacterNgrams`. A callable returns the
        words of an item; the next three options are then not used.
    token_pattern : str or None, default=None
        Regular expression of a word; None finds the words of any script, see :ref:`words`. The paper
        counts punctuation too: ``r"(?u)\w+|[^\w\s]"``.
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
    random_state : int, RandomState instance or None, default=None
        Seed of the solver of the principal components, where it uses random numbers.

    Attributes
    ----------
    vocabulary_ : dict
        The words and their column numbers in the bag of words.
    word_counts_ : ndarray of shape (n_words,), dtype int64
        How often each word occurs in the text.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    components_ : ndarray of shape (n_components, n_words), dtype float32
        Principal components of the bags of words. Missing with ``n_components=None``.
    mean_ : ndarray of shape (n_words,), dtype float32
        Mean of the bags of words. Missing with ``n_components=None``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Fraction of the variance that each component explains. Missing with ``n_components=None``.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    MeanEmbeddingVectorizer : The other simple baseline.
    sklearn.decomposition.TruncatedSVD : The same without centring.

    References
    ----------
    .. [1] L. White, R. Togneri, W. Liu and M. Bennamoun, "How Well Sentence Embeddings Capture Meaning", Australasian
       Document Computing Symposium, 2015.

    Examples
    --------
    >>> from skembed import BOWPCA
    >>> sentences = ["A cat drinks milk.", "The cat sleeps.", "A bank lends money."]
    >>> BOWPCA(n_components=2, random_state=0).fit_transform(sentences).shape
    (3, 2)
    >>> bags = BOWPCA(n_components=None).fit(sentences)
    >>> int(bags.transform(["a cat and a cat"]).toarray()[0, bags.vocabulary_["cat"]])
    2
    """

    n_components: int | None = 300
    _: KW_ONLY
    weighting: str | None = None
    min_count: int = 1
    max_features: int | None = None
    analyzer: Analyzer = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: StopWords = None
    stemmer: Stemmer = None
    missing: str = "error"
    corpus: SentenceCorpus | None = None
    random_state: RandomState = None

    _state = BagState()
    components_ = Fitted[NDArray[np.float32]]()
    mean_ = Fitted[NDArray[np.float32]]()
    explained_variance_ratio_ = Fitted[NDArray[np.float64]]()

    _parameter_constraints = {
        **TextEstimator._parameter_constraints,
        "n_components": [integers(1), None],
        "weighting": [StrOptions({"idf"}), None],
        "random_state": ["random_state"],
    }
    _paper_settings = {
        "PCA BOW": {"n_components": 300, "weighting": None, "min_count": 1, "token_pattern": r"(?u)\w+|[^\w\s]"},
        "BOW": {"n_components": None, "weighting": None, "min_count": 1, "token_pattern": r"(?u)\w+|[^\w\s]"},
    }
    # end of the settings

    @fit_context
    def fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None) -> Self:
        """Learn the vocabulary, the idf weights and the principal components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : ignored
            Not used, present by convention.
        groups : ignored
            As `y`.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If `n_components` is not smaller than both the number of sentences and the number of words.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        state: Any = self._learn_vocabulary(corpus, type(self)._state)
        n_words = len(state.vocabulary_)
        limit = min(corpus.n_sentences, n_words)
        if self.n_components is not None and self.n_components >= limit:
            raise ValueError(
                f"n_components={self.n_components} must be smaller than the number of sentences "
                f"({corpus.n_sentences}) and the number of words ({n_words}). Use fewer, or n_components=None for the "
                "plain bag of words."
            )
        state = replace(state, n_features_out_=n_words)
        sentences = encoded_corpus(self, state, corpus)
        if self.weighting == "idf":
            state = replace(state, tfidf=TfidfTransformer().fit(_counts(state, sentences)))
        if self.n_components is not None:
            pca = PCA(self.n_components, random_state=check_random_state(self.random_state))
            table = _weighted_counts(state, sentences)
            are_equal = _rows_are_equal(table)  # ARPACK cannot start without variance
            if are_equal:
                table = table[: self.n_components + 1]  # enough rows for PCA(n_components)
            with np.errstate(invalid="ignore"):  # 0 / 0 without variance
                if are_equal or table.shape[0] * table.shape[1] <= _EXACT_SIZE:
                    pca.set_params(svd_solver="full").fit(table.toarray())
                else:
                    pca.fit(table)
            arrays = {
                "components_": np.ascontiguousarray(pca.components_, np.float32),
                "mean_": np.asarray(pca.mean_, np.float32),
                # Equal rows have no variance: scikit-learn divides 0 by 0, and the ratio is set to 0.
                "explained_variance_ratio_": np.nan_to_num(pca.explained_variance_ratio_),
            }
            state = replace(state.with_arrays(arrays), n_features_out_=self.n_components)
        return self._publish(state)

    def _derived_arrays(self, state: Any) -> list[ArrayRecord]:
        n_words, width = len(state.vocabulary_), state.n_features_out_
        components = ArrayRecord("components_", (width, n_words), axis_of_words=1)
        others = [ArrayRecord("mean_", (n_words,)), ArrayRecord("explained_variance_ratio_", (width,), None)]
        return [components, *others] if state.is_reduced else []

    if TYPE_CHECKING:

        def fit_transform(self, X: Sentences, y: Labels = None, **fit_params: Any) -> NDArray[np.float32] | Any: ...

    def transform(self, X: Sentences) -> NDArray[np.float32] | Any:
        """Count words and project on the principal components.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences.

        Returns
        -------
        X_new : ndarray of shape (n_sentences, n_components), dtype float32
            With `n_components=None` a csr_matrix of shape (n_sentences, n_words), or a csr_array under
            ``sklearn.set_config(sparse_interface="sparray")``. A sentence without a known word is a row of zeros.

        Warns
        -----
        UserWarning
            If the fraction of known words is far lower than in the text of `fit`, or more than half of the sentences
            have no known word. Not for fewer than 5 sentences or 30 words.
        """
        return self._embed(self._fitted_state(), X, "X")

    def _embed(self, state: Any, X: Sentences, name: str) -> Any:
        tables, counter = [], CoverageCounter()
        with advising(X):
            for batch in encoded_batches(self, state, X, name):
                sentences = encode_batch(state, *batch)
                counter.add(sentences)
                tables.append(_weighted_counts(state, sentences))
        counter.warn(self, state)
        table = vstack(tables, format="csr") if tables else csr_array((0, len(state.vocabulary_)), dtype=np.float32)
        if not state.is_reduced:
            return sparse_rows(table)
        components, mean = state.arrays["components_"], state.arrays["mean_"]
        # Row by row through scipy, where a matrix product of BLAS may round a row differently in another batch.
        rows = np.asarray(table @ components.T.copy()) - (components * mean).sum(axis=1)
        rows[np.diff(table.indptr) == 0] = 0.0  # without a known word, the row is that of the mean sentence
        return rows

    def get_feature_names_out(self, input_features: Labels = None) -> NDArray[np.object_]:
        """Names of the output columns: the words of a plain bag of words, else numbered.

        Parameters
        ----------
        input_features : ignored
            Not used, present by convention.

        Returns
        -------
        names : ndarray of str
            One name a column.
        """
        state: Any = self._fitted_state()
        if not state.is_reduced:
            return np.array(list(state.vocabulary_), dtype=object)
        return super().get_feature_names_out(input_features)


def _counts(state: BagState, sentences: EncodedSentences) -> csr_array:
    columns = sentences.rows[sentences.ids]
    known = columns >= 0
    ptr = offsets(known)[sentences.ptr]
    shape = (len(ptr) - 1, len(state.vocabulary_))
    # Many estimators of scikit-learn refuse 64-bit indices.
    dtype = np.int32 if max(ptr[-1], shape[1]) <= np.iinfo(np.int32).max else np.int64
    indices, indptr = columns[known].astype(dtype), ptr.astype(dtype)
    counts = csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=shape)
    counts.sum_duplicates()
    return counts


def _weighted_counts(state: BagState, sentences: EncodedSentences) -> csr_array:
    counts = _counts(state, sentences)
    return counts if state.tfidf is None or not counts.shape[0] else csr_array(state.tfidf.transform(counts))


def _rows_are_equal(table: csr_array) -> bool:
    lengths = np.diff(table.indptr)
    if (lengths != lengths[0]).any():
        return False
    arrays = (array.reshape(len(lengths), -1) for array in (table.indices, table.data))
    return all((rows == rows[0]).all() for rows in arrays)
