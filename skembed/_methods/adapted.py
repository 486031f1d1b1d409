"""Static vectors adapted to own text: what stands around a sentence is what its vector should say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from .._base.scikit_learn import fit_context, parameters_from_fields
from .._base.spelled_words import LEAST_FOR_WARNING, SpelledWords, features_of, unit, with_given
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.state import Fitted
from .._validation.columns import Labels, Sentences
from .._validation.constraints import integers
from .._validation.messages import warn_at_user
from .._validation.targets import check_length, split_labels
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors

_LEAST = 10  # sentences with another one beside them
_ALIKE = 1e-6  # of directions: no more than rounding


@parameters_from_fields
class AdaptedVectorizer(SpelledWords):
    """Vectors of words by another model, adapted to own text in reading order or with labels.

    A static model, such as one of model2vec, knows little of the words of a field and not which ones matter there. This
    adds to each word a vector that is learned from own text: so that a sentence predicts what the model says of the
    sentences around it, or of those of its class. The sum is again one vector a word.

    Read more in the :ref:`User Guide <adapted>`.

    Parameters
    ----------
    word_vectors : fitted estimator, dict, (words, array), DataFrame, KeyedVectors or path
        The model: a fitted estimator, as :func:`~skembed.formats.import_model` returns, or words and vectors as
        :class:`MeanEmbeddingVectorizer` takes. Words that the text lacks are kept, so pass those of new texts too.
        Clones share it.
    window : int, default=3
        How many sentences before and after a sentence, of the same document, are around it.
    alpha : float or "auto", default="auto"
        Penalty of the regression. "auto" compares powers of two by predictions for at most 1,500 left-out sentences.
    unknown : {"ngrams", "zero"}, default="ngrams"
        A word that neither the text nor the model has is the sum of its n-grams of characters, or left out ("zero").
    min_count : int, default=1
        Words that occur less often, and that the model has not, have n-grams only.
    max_features : int or None, default=None
        Learn only this many of the most frequent words, and those of the model.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        "word" splits text by `token_pattern`, the other strings as :class:`CharacterNgrams`. A callable returns the
        words of an item; the next three options are then not used.
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
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Draws the sentences on which "auto" compares.

    Attributes
    ----------
    vocabulary_ : dict
        The words of the text, then those of the model alone, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_features_out), dtype float32
        The model's vectors minus their mean, and what was learned, as strong as these times the root of `score_`.
    ngram_vectors_ : ndarray of shape (n_buckets, n_features_out), dtype float32
        The rows that the n-grams of two to five characters share, kept in 8 bits.
    alpha_ : float
        The penalty.
    score_ : float
        Part of the variance of the sentences around a sentence that predictions explain, for at most 1,500 left-out
        sentences; 1 is best.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text (0 if only the model has it), and ones: weights are in the vectors.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    StudentVectorizer : Learns from the vectors of a model for the same sentences.
    CBOSVectorizer : Goes on from a model by gradient descent, ``init=model``.
    skembed.formats.export_model : Writes it, with ``unknown="zero"``, for model2vec and sentence-transformers.

    Notes
    -----
    The regression is that of :class:`StudentVectorizer`, with the vectors of the model among the features of a word.

    Examples
    --------
    >>> from skembed import AdaptedVectorizer
    >>> model = {"cat": [1.0, 0.1], "pet": [0.9, 0.2], "share": [0.1, 1.0], "fund": [0.2, 0.9]}
    >>> animals = ["A cat.", "Zeugling pet.", "Zeugling!"]
    >>> text = (animals + ["A fund.", "Volks share.", "Fund share."]) * 5
    >>> documents = [0, 0, 0, 1, 1, 1] * 5
    >>> emb = AdaptedVectorizer(model, random_state=0).fit(text, groups=documents)
    >>> emb.similarity("zeugling", "cat") > emb.similarity("zeugling", "fund")
    True
    """

    word_vectors: WordVectors | Sequence[WordVectors]
    _: KW_ONLY
    window: int = 3
    alpha: float | str = "auto"
    unknown: str = "ngrams"
    min_count: int = 1
    max_features: int | None = None
    analyzer: Analyzer = "word"
    token_pattern: str | None = None
    lowercase: bool = True
    stop_words: StopWords = None
    stemmer: Stemmer = None
    missing: str = "error"
    corpus: SentenceCorpus | None = None
    n_jobs: int | None = None
    random_state: RandomState = None

    alpha_ = Fitted[float]()
    score_ = Fitted[float]()

    _parameter_constraints = {**SpelledWords._parameter_constraints, "window": [integers(1)]}
    _parameter_constraints.pop("n_components")

    @fit_context
    def fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None) -> Self:
        """Learn from sentences in reading order, or with labels.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : array-like of shape (n_sentences,), default=None
            Classes; None, NaN or -1 for a sentence without one. Then the other sentences of its class are what stands
            around a sentence. Not used where there are `groups` or a `corpus`: then the order counts.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. None means that all are of one.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError
            If word vectors cannot be read from the model, or a sentence is not a string.
        ValueError
            If no word of the text has a vector, or fewer than ten sentences have another one around them.

        Warns
        -----
        UserWarning
            If few words of the text have a vector, or the sentences around a sentence have nothing to do with it.
        """
        corpus = self._corpus_to_learn_from(X, groups)
        learned = self._learn_vocabulary(corpus, self._state).vocabulary_  # an error where there is no sentence
        words, given = with_given(corpus, self.word_vectors)
        if not given.shape[1]:
            raise TypeError("word_vectors is None. Pass the model to adapt: a fitted estimator, or words and vectors.")
        sentences, features = features_of(corpus, learned, words, given)
        rows = unit(sentences @ given)
        rows -= rows.mean(axis=0)
        if np.abs(rows).max() < _ALIKE:
            raise ValueError(
                "The vectors of word_vectors give all sentences one direction, so nothing can be learned of them. Pass "
                "more text, or vectors of two columns or more, of words that the text has."
            )
        by_class = y is not None and groups is None and corpus is not self.corpus and not isinstance(X, SentenceCorpus)
        around = _of_class(rows, y) if by_class else _in_order(rows, corpus.doc_of(), self.window)
        chosen = np.flatnonzero(around.any(axis=1) & (np.diff(sentences.indptr) > 0))
        if len(chosen) < _LEAST:
            raise ValueError(
                f"{len(chosen)} sentences have another one around them, of the same document or class; at least "
                f"{_LEAST} are needed. Pass more text, in reading order, or the documents as groups."
            )
        targets = unit(around[chosen])
        targets -= targets.mean(axis=0)
        found = self._regress(csr_array(sentences[chosen]), features, targets, check_random_state(self.random_state))
        strength = max(0.0, found.solution.score) ** 0.5  # the correlation of predictions with what is around
        vectors, scale = _joined(found.words, found.vectors, words, given, sentences, strength)
        state = self._taken(corpus, found.words, vectors).with_arrays(found.coded(float(scale)))
        state = replace(state, alpha_=found.solution.alpha, score_=found.solution.score)
        if state.score_ <= 0 and (len(chosen) >= LEAST_FOR_WARNING or not vectors.any()):
            warn_at_user(
                "What stands around a sentence has nothing to do with it, so nothing is learned. Is the text in "
                "reading order? Pass its documents as groups, or classes as y."
            )
        return self._publish(state)


def _in_order(rows: np.ndarray, document: np.ndarray, window: int) -> NDArray[np.float32]:
    """The sum of the rows before and after each row, of its document."""
    around = np.zeros_like(rows)
    for distance in range(1, min(window, len(rows) - 1) + 1):
        together = np.flatnonzero(document[distance:] == document[:-distance])
        around[together] += rows[together + distance]
        around[together + distance] += rows[together]
    return around


def _of_class(rows: np.ndarray, y: Labels) -> NDArray[np.float32]:
    """The sum of the other rows of the class of each row; zeros for one without a class."""
    check_length(y, len(rows), "X")
    labels, has_label = split_labels(y)
    check_length(has_label, len(rows), "X")
    class_of = np.unique(labels, return_inverse=True)[1]
    known = np.flatnonzero(has_label)
    members = csr_array((np.ones(len(known), np.float32), (class_of, known)), (class_of.max(initial=0) + 1, len(rows)))
    around = np.zeros_like(rows)
    around[known] = (members @ rows)[class_of] - rows[known]
    around[known[np.bincount(class_of, minlength=1)[class_of] < 2]] = 0
    return around


def _joined(
    kept: list[str], learned: np.ndarray, words: list[str], given: np.ndarray, sentences: csr_array, strength: float
) -> tuple[np.ndarray, np.float32]:
    """Given vectors minus their mean plus learned ones, scaled to their strength in the sentences; and the scale."""
    row_of = {word: row for row, word in enumerate(words)}
    rows = np.array([row_of[word] for word in kept])
    counts = np.asarray(sentences.sum(axis=0)).ravel() * given.any(axis=1)
    centred = given - (counts / counts.sum()) @ given
    centred[~given.any(axis=1)] = 0
    whole = np.zeros_like(given)
    whole[rows] = learned
    scale = np.float32(strength * _length(sentences @ centred) / (_length(sentences @ whole) or 1))
    return np.ascontiguousarray(centred[rows] + scale * learned, np.float32), scale


def _length(rows: np.ndarray) -> float:
    return float(np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1).mean()))
