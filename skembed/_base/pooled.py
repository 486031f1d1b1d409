"""Base of the estimators whose sentence is a sum of vectors: word weights and `transform`."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions

from .._compiled.arrays import read_only, row_norms
from .._corpus.corpus import SentenceCorpus
from .._text.character_ngrams import CharacterNgrams, counts_characters
from .._text.known_words import EncodedSentences
from .._text.ngrams import add_ngrams
from .._training.learned_arrays import LearnedArray, Start
from .._training.state import Fitted, FittedState
from .._validation.constraints import INT32_MAX, Constraints, integers
from .._validation.messages import brief
from .._word_vectors.bag import MEAN, SUM, UNIT, first_of_each, hash_vectors, sum_rows
from .._word_vectors.matches import SIF_A
from .reading import EVEN, Balance, has_characters
from .scikit_learn import check_layout
from .text import TextEstimator

if TYPE_CHECKING:
    from .queries import Query


# Constraints of the options of methods that learn vectors of word n-grams.
NGRAMS: Constraints = {"ngram_range": [tuple, list], "n_buckets": [integers(1)]}
# Those of methods that compare words with words drawn at random.
SAMPLED_WORDS: Constraints = {"negative": [integers(1)], "subsample": [Interval(Real, 1e-12, 1e12, closed="both")]}


def _word_vectors_of(estimator: PooledVectorizer, state: FittedState) -> NDArray[np.float32]:
    own = state.arrays.get("word_vectors_")
    return own if own is not None else estimator._summed_vectors(state)[: len(state.vocabulary_)]


def ngram_vectors_of(estimator: PooledVectorizer, state: FittedState) -> NDArray[np.float32]:
    """The rows that word n-grams share, which follow those of the words."""
    vectors: NDArray[np.float32] = estimator._summed_vectors(state)[len(state.vocabulary_) :]
    return vectors


class PooledVectorizer(TextEstimator):
    """Base of the estimators whose sentence is a weighted sum or mean of vectors of its words, and of word n-grams."""

    _parameter_constraints: Constraints = {
        **TextEstimator._parameter_constraints,
        "pooling": [StrOptions({"mean", "sum"})],
        "weighting": [StrOptions({"idf", "sif"}), None],
        "unknown": [StrOptions({"zero", "hash"})],
    }

    # Defaults of the options that a method does not offer.
    pooling: str = "sum"
    weighting: str | None = None
    unknown: str = "hash"
    binary: bool = False
    norm: str | None = None
    ngram_range: tuple[int, int] = (1, 1)
    n_buckets: int = 1
    word_vectors_ = Fitted[NDArray[np.float32]](_word_vectors_of)
    word_weights_ = Fitted[NDArray[np.float32]]()
    _needed: tuple[str, ...] = ("word_weights_", "unknown_weight", "unknown_length")

    @overload
    def most_similar(self, words: str, n_words: int = 10) -> list[tuple[str, float]]: ...
    @overload
    def most_similar(
        self, words: None = None, n_words: int = 10, *, positive: Query = None, negative: Query = None
    ) -> list[tuple[str, float]]: ...
    @overload
    def most_similar(self, words: Any, n_words: int = 10) -> list[list[tuple[str, float]]]: ...
    def most_similar(
        self, words: Query = None, n_words: int = 10, *, positive: Query = None, negative: Query = None
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """Find the words whose vectors point in the most similar direction.

        Parameters
        ----------
        words : str, array-like of shape (n_features_out,), or iterable of these, default=None
            A word, a sentence, or a vector such as a row of `transform`; an array of shape (n_vectors, n_features_out),
            dense or sparse, is a collection of vectors.
        n_words : int, default=10
            How many to return for each.
        positive, negative : str, array-like of shape (n_features_out,), or iterable of these, default=None
            Instead of `words`: words, sentences or vectors to add and to subtract. Each is first scaled to length one.

        Returns
        -------
        neighbours : list of (str, float), or list of such lists
            Words and cosines, nearest first; one list per item if `words` is a collection. Words of the query are left
            out. The list of a zero vector is empty.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If a word, or every word of a sentence, is not in the vocabulary, or a vector has the wrong length or is not
            finite. If both or neither of `words` and `positive`/`negative` are given.
        TypeError
            If an item is neither a string nor a vector.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.1], "dog": [0.9, 0.2], "car": [0.0, 1.0]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat and dog", "car"])
        >>> emb.most_similar("cat", n_words=1)[0][0]
        'dog'
        >>> [
        ...     [word for word, cosine in found]
        ...     for found in emb.most_similar(["cat dog", [0.1, 0.9]])
        ... ]
        [['car'], ['car', 'dog', 'cat']]
        >>> [word for word, cosine in emb.most_similar(positive=["car"], negative=["cat"])]
        ['dog']
        """
        from .queries import most_similar  # no fit needs it

        return most_similar(self, self._fitted_state(), words, n_words, positive, negative)

    def explain(self, a: str, b: str) -> Bunch:
        r"""Split the cosine of two sentences into what each pair of words contributes, exactly.

        A sentence is a weighted sum of vectors, so its cosine is a sum over pairs:

        .. math::

            \cos(s_a, s_b) = \sum_{i \in a} \sum_{j \in b} \frac{(\omega_i v_i) \cdot (\omega_j v_j)}{|s_a| |s_b|}

        Parameters
        ----------
        a, b : str
            Two sentences.

        Returns
        -------
        explanation : Bunch
            `similarity` (float), `words_a`, `words_b` (lists of str, what is summed in each sentence; n-grams as
            "new york") and `contributions` (ndarray of shape (len(words_a), len(words_b)), dtype float64), whose sum
            is `similarity`.

        Raises
        ------
        NotFittedError
            If the estimator has not learned yet.
        ValueError
            If `a` or `b` is not a single string.

        Examples
        --------
        >>> from skembed import MeanEmbeddingVectorizer
        >>> vectors = {"cat": [1.0, 0.0], "dog": [0.8, 0.6], "car": [0.0, 1.0]}
        >>> emb = MeanEmbeddingVectorizer(word_vectors=vectors).fit(["cat dog car"])
        >>> found = emb.explain("cat car", "dog")
        >>> found.words_a, found.words_b
        (['cat', 'car'], ['dog'])
        >>> found.contributions.ravel().round(3), round(found.similarity, 3)
        (array([0.566, 0.424]), 0.99)
        """
        from .queries import explain

        return explain(self, self._fitted_state(), a, b)

    def _check_parameters(self) -> None:
        orders = tuple(self.ngram_range)
        if orders == (1, 1):
            return
        if counts_characters(self.analyzer):
            CharacterNgrams(self.analyzer, self.ngram_range)  # or an error
            return
        whole = len(orders) == 2 and all(isinstance(n, Integral) for n in orders)
        if not whole or orders[0] != 1 or not 1 <= orders[1] <= INT32_MAX:
            raise ValueError(
                f"ngram_range must be (1, n) with n >= 1: words are always learned, and n-grams up to length n with "
                f"them. Got {brief(self.ngram_range)}. It counts characters with analyzer='char_wb' or 'char'."
            )

    @property
    def _longest_word_ngram(self) -> int:
        return 1 if counts_characters(self.analyzer) else int(self.ngram_range[1])

    def _longest_learned(self, state: FittedState) -> int:
        """Words in the longest n-gram that was learned, whatever `analyzer` is now; 1 without words."""
        analyzer = None if state.tokenizer is None else state.tokenizer.analyzer
        is_without = isinstance(analyzer, CharacterNgrams) and not analyzer.words
        return 1 if is_without else int(self.ngram_range[1])

    def _treats_unknown(self, state: FittedState) -> str:
        """What becomes of an unknown word; where n-grams of characters stand for it, it needs no direction."""
        value: str = self._option("unknown", state)
        return "zero" if value == "hash" and has_characters(state) else value

    def _text_statistics(
        self, corpus: SentenceCorpus, state: FittedState, earlier: FittedState | None = None
    ) -> FittedState:
        """The state with the weights of the words, and of a word that is not in the vocabulary."""
        vocabulary, weighting = state.vocabulary_, self._option("weighting", state)
        unknown: float = 1.0
        frequencies = None
        if weighting is None:
            weights = np.ones(len(vocabulary))
        elif weighting == "sif":
            counts, n_tokens = corpus.vocabulary.look_up(corpus.vocabulary.counts, vocabulary), corpus.n_tokens
            if earlier:
                counts, n_tokens = counts + earlier.word_counts_, n_tokens + earlier.n_tokens
            weights = SIF_A / (SIF_A + counts / max(1, n_tokens))
        else:
            n_sentences = corpus.n_sentences
            frequencies = corpus.vocabulary.look_up(corpus.sentence_frequencies(), vocabulary)
            if earlier:  # the weights tell in how many sentences a word was
                n_earlier = np.exp(float(earlier.unknown_weight) - 1)
                frequencies = frequencies + np.rint(n_earlier / np.exp(earlier.word_weights_.astype(float) - 1) - 1)
                n_sentences += round(n_earlier - 1)
            weights = np.log((1 + n_sentences) / (1 + frequencies)) + 1
            unknown = np.log(1 + n_sentences) + 1
        balance = EVEN if weighting is None else self._balance(corpus, state, weights, frequencies)
        if balance != EVEN:
            weights = weights * balance.factors(vocabulary)
        return replace(
            state,
            unknown_weight=np.float32(unknown),
            word_weight=balance.words,
            ngram_weight=balance.ngrams,
            word_weights_=weights.astype(np.float32),
        )

    def _weights_in_training(self, state: FittedState) -> np.ndarray:
        return np.asarray(state.word_weights_)

    def _balance(
        self, corpus: SentenceCorpus, state: FittedState, weights: np.ndarray, frequencies: np.ndarray | None
    ) -> Balance:
        """The factors of the weights; `frequencies` are the sentences with each token, where they are known already."""
        return EVEN

    def _source_array(self, state: FittedState, start: Start) -> LearnedArray:
        """The record of words, then n-grams, which start at zero unless `start` says otherwise."""
        n_rows = len(state.word_counts_) + (int(self.n_buckets) if self._longest_learned(state) > 1 else 0)
        options = "n_components", "ngram_range", "n_buckets"
        return LearnedArray("_source_vectors", (n_rows, state.n_features_out_), start, options=options, is_source=True)

    def _finish_fit(self, state: FittedState, corpus: SentenceCorpus) -> FittedState:
        return replace(state, unknown_length=self._length_of_unknown(_word_vectors_of(self, state)))

    def _vectors_of(self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None) -> np.ndarray:
        return self._pool(state, sentences, out, self.norm is not None)

    def _pool(
        self, state: FittedState, sentences: EncodedSentences, out: np.ndarray | None = None, is_unit: bool = False
    ) -> np.ndarray:
        """The rows of some sentences, of length one or as they are, written to `out` if that is given."""
        rows, weights, is_unknown, ptr = self._features(state, sentences)
        vectors = read_only(self._summed_vectors(state))
        others = vectors[:0]
        unknown = is_unknown.nonzero()[0]
        if len(unknown) and self._treats_unknown(state) == "zero":
            rows[unknown] = -1
        elif len(unknown):
            words, positions = sentences.unknown_words(rows[unknown])
            others = read_only(self._unknown_vectors(state, words))
            rows[unknown] = -1 - positions
        if out is None:
            out = np.empty((len(ptr) - 1, vectors.shape[1]), np.float32)
        form = UNIT if is_unit else MEAN if self._option("pooling", state) == "mean" else SUM
        sum_rows(rows, weights, ptr, vectors, others, form, out)
        return out

    def _unknown_vectors(self, state: FittedState, words: list[str]) -> np.ndarray:
        """Vectors of words that were never learned: a direction that depends on the word's text alone."""
        vectors = hash_vectors(words, self._summed_vectors(state).shape[1])
        vectors *= state.unknown_length
        return vectors

    def _features(
        self, state: FittedState, sentences: EncodedSentences
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What is summed: row of a vector (if unknown, position in `words`), weight, unknown or not, ptr."""
        if state.layout and "ngram_range" in state.layout:
            check_layout(self, state, but="n_components")
        sentences = self._counted(state, sentences)
        rows = sentences.rows.take(sentences.ids)
        is_unknown, weights = rows < 0, state.word_weights_.take(rows)
        unknown = is_unknown.nonzero()[0]
        if len(unknown):
            rows[unknown] = sentences.ids[unknown]
            weights[unknown] = state.unknown_weight
        longest = self._longest_learned(state)
        if longest == 1:
            return rows, weights, is_unknown, sentences.ptr
        n_words, is_of_characters = len(state.vocabulary_), state.is_of_characters
        is_skipped = is_unknown | is_of_characters[rows * ~is_unknown] if len(is_of_characters) else is_unknown
        tokens = rows, weights, is_unknown, is_skipped, sentences.ptr
        return add_ngrams(*tokens, longest, n_words, self.n_buckets)

    def _counted(self, state: FittedState, sentences: EncodedSentences) -> EncodedSentences:
        """The words that count: all, or with the option `binary` each word once per sentence."""
        if not self.binary:
            return sentences
        ids, ptr = first_of_each(sentences.ids, sentences.ptr)
        return sentences._replace(ids=ids, ptr=ptr)

    def _length_of_unknown(self, vectors: np.ndarray) -> np.float32:
        """Length of a hashed vector: the median length of a learned row, so that it counts about as much."""
        return np.float32(np.median(row_norms(vectors)))
