"""The student of a large model: words and their spelling learned to a teacher's vectors in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from .._base.scikit_learn import fit_context, parameters_from_fields
from .._base.spelled_words import LEAST_FOR_WARNING, SpelledWords, features_of, unit, with_given
from .._corpus.corpus import SentenceCorpus
from .._text.tokenizer import Analyzer, Stemmer, StopWords
from .._training.encoded_text import Annotations
from .._training.learned_arrays import ArrayRecord
from .._training.ridge import slices_of
from .._training.state import Fitted
from .._validation.columns import Labels, Rows, Sentences
from .._validation.constraints import integers
from .._validation.messages import warn_at_user
from .._validation.targets import checked_targets
from .._validation.values import RandomState
from .._word_vectors.matches import WordVectors


@parameters_from_fields
class StudentVectorizer(SpelledWords):
    """Sentence embeddings learned from a large model's, the teacher's, without the model afterwards.

    A sentence is the sum of the vectors of its words, scaled to length one. A word has a part of its own, parts of its
    character n-grams, which words that were not learned have too, and a part of its given vector, if there are
    `word_vectors`. All parts are found at once by ridge regression from the sentences to the teacher's vectors.

    Read more in the :ref:`User Guide <student>`.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of the vectors. "auto" is that of the teacher's; a smaller number takes their strongest directions.
    word_vectors : fitted estimator, dict, (words, array), DataFrame, KeyedVectors, path or None, default=None
        Vectors of words to start from, such as those of a static model: a fitted estimator, which embeds the words of
        the text, or ``(words, model.encode(words))``. Words that the text lacks get a vector too. Clones share them.
    alpha : float or "auto", default="auto"
        Penalty of the regression. "auto" compares powers of two by predictions for at most 1,500 left-out sentences.
    unknown : {"ngrams", "zero"}, default="ngrams"
        A word that was not learned is the sum of its n-grams, or left out ("zero").
    min_count : int, default=1
        Words that occur less often have n-grams only.
    max_features : int or None, default=None
        Learn only this many of the most frequent words.
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
        Text to learn from, instead of the `X` given to `fit`; `y` then holds the vectors of its sentences.
    n_jobs : int or None, default=None
        Number of threads; -1 means all cores. It does not change one bit of the result.
    random_state : int, RandomState instance or None, default=None
        Draws the sentences on which "auto" compares, and what the diagonal of a matrix is estimated with.

    Attributes
    ----------
    vocabulary_ : dict
        The learned words, then those of `word_vectors` alone, with their row numbers.
    word_vectors_ : ndarray of shape (n_words, n_components), dtype float32
        Vectors of the words, with all parts.
    ngram_vectors_ : ndarray of shape (n_buckets, n_components), dtype float32
        The rows that the n-grams of two to five characters share, kept in 8 bits.
    target_mean_ : ndarray of shape (n_targets,), dtype float32
        Mean of the teacher's vectors of length one, which is subtracted before anything is learned.
    components_ : ndarray of shape (n_components, n_targets), dtype float32
        The directions of the teacher's vectors that are kept; see :meth:`transform_targets`.
    alpha_ : float
        The penalty.
    score_ : float
        Part of the teacher's variance that predictions for at most 1,500 left-out sentences explain; 1 is best.
    word_counts_, word_weights_ : ndarrays of shape (n_words,), dtype int64 and float32
        How often each word occurs in the text (0 if only `word_vectors` has it), and ones: weights are in the vectors.
    coverage_ : float
        Fraction of the words of that text that are in the vocabulary.
    n_features_out_ : int
        Number of columns of the output.

    See Also
    --------
    TargetVectorizer : Learns from targets by gradient descent, with losses that compare sentences.
    TextVectorizer : Takes a teacher, and puts its student beside tf-idf.
    skembed.formats.export_model : Writes it, with ``unknown="zero"``, for model2vec and sentence-transformers.

    Notes
    -----
    A student knows the sentences that it has learned from better than others. Where a classifier learns from the same
    sentences, take the rows of `fit_left_out`: predictions as if each sentence had been left out, in closed form
    (beyond 1,500 sentences their diagonal is estimated by 128 random vectors). Learn from own sentences, like those
    that will be embedded; `score_` says whether more would help.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed import StudentVectorizer
    >>> sentences = ["The cat purrs.", "A kitten purrs.", "Shares fell.", "The stock fell."]
    >>> vectors = np.array([[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.9]])  # by any model
    >>> emb = StudentVectorizer(random_state=0).fit(sentences, vectors)
    >>> emb.similarity("kittens", "cat") > 0 > emb.similarity("kittens", "stocks")
    True
    """

    n_components: int | str = "auto"
    _: KW_ONLY
    word_vectors: WordVectors | Sequence[WordVectors] | None = None
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

    target_mean_ = Fitted[NDArray[np.float32]]()
    components_ = Fitted[NDArray[np.float32]]()
    alpha_ = Fitted[float]()
    score_ = Fitted[float]()

    _learns_from = "targets"
    _parameter_constraints = {
        **SpelledWords._parameter_constraints,
        "n_components": [integers(1), StrOptions({"auto"})],
    }

    @fit_context
    def fit(self, X: Sentences, y: Labels = None, *, groups: Labels = None) -> Self:
        """Learn from sentences and the teacher's vectors of them.

        Parameters
        ----------
        X : iterable of str, or SentenceCorpus
            Sentences. If the parameter `corpus` is given, `fit` learns from that, not from `X`.
        y : array-like of shape (n_sentences, n_targets)
            The teacher's vector of each sentence. Only its direction counts.
        groups : array-like of shape (n_sentences,), default=None
            Document of each sentence. Changes nothing here: sentences are learned one by one.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        TypeError, ValueError
            If a sentence is not a string, or `y` does not hold numbers, lacks a vector for some sentence, or has NaN,
            infinity or a row of zeros; names the row. If `n_components` is larger than the vectors.

        Warns
        -----
        UserWarning
            If predictions for sentences left out are no better than the mean of the teacher's vectors.
        """
        self._learn(self._corpus_to_learn_from(X, groups), y)
        return self

    @fit_context
    def fit_left_out(self, X: Sentences, y: Labels, *, groups: Labels = None) -> NDArray[np.float32]:
        """Learn from sentences and the teacher's vectors of them, and embed these as if each had been left out.

        The rows of `transform` fit these sentences better than new ones. A classifier that learns from them expects too
        much of new ones; let it learn from the rows of this method.

        Parameters
        ----------
        X, y, groups : iterable of str; array-like of shape (n_sentences, n_targets); array-like, default=None
            As in `fit`.

        Returns
        -------
        rows : ndarray of shape (n_sentences, n_features_out), dtype float32
            Rows of length one, of the sentences of `X`, or of those of the parameter `corpus` if that is given.
        """
        left_out = self._learn(self._corpus_to_learn_from(X, groups), y, leave_out=True)
        assert left_out is not None
        return left_out

    def transform_targets(self, Y: Rows) -> NDArray[np.float32]:
        """Turn the teacher's vectors into the space of the student's.

        So a question embedded by the teacher can be compared with documents embedded by the student.

        Parameters
        ----------
        Y : array-like of shape (n_sentences, n_targets)
            Vectors by the teacher.

        Returns
        -------
        rows : ndarray of shape (n_sentences, n_features_out), dtype float32
            Rows of length one.

        Raises
        ------
        ValueError
            If the vectors have another length than in `fit`.
        """
        state = self._fitted_state()
        mean, components = state.arrays["target_mean_"], state.arrays["components_"]
        targets = checked_targets(Y, None, type(self).__name__, "", "Y")
        if targets.shape[1] != len(mean):
            raise ValueError(
                f"Y has vectors of length {targets.shape[1]}, but {type(self).__name__} has learned from vectors of "
                f"length {len(mean)}. Use the same teacher."
            )
        if not len(targets):
            return np.zeros((0, len(components)), np.float32)
        return unit((unit(targets) - mean) @ components.T)

    def _sentence_targets(self, corpus: SentenceCorpus, y: Labels) -> Annotations:
        name = "X" if self.corpus is None else "corpus"
        targets = checked_targets(y, corpus.n_sentences, type(self).__name__, name)
        if self.n_components != "auto" and self.n_components > targets.shape[1]:
            raise ValueError(
                f"n_components={self.n_components}, but y has vectors of length {targets.shape[1]}. Use at most that."
            )
        return (targets,)

    def _learn(self, corpus: SentenceCorpus, y: Labels, *, leave_out: bool = False) -> NDArray[np.float32] | None:
        """Set the fitted attributes; return the rows of the sentences as if each had been left out, if wanted."""
        random_state = check_random_state(self.random_state)
        learned = self._learn_vocabulary(corpus, self._state).vocabulary_  # an error where there is no sentence
        (targets,) = self._sentence_targets(corpus, y)
        targets = unit(targets)
        mean = targets.mean(axis=0, dtype=np.float64).astype(np.float32)
        targets -= mean
        components = _directions(targets, self.n_components)
        sentences, features = features_of(corpus, learned, *with_given(corpus, self.word_vectors))
        found = self._regress(sentences, features, targets @ components.T, random_state, leave_out=leave_out)
        _, left_out, alpha, score = found.solution
        arrays = {**found.coded(), "target_mean_": mean, "components_": components}
        state = replace(self._taken(corpus, found.words, found.vectors).with_arrays(arrays), alpha_=alpha, score_=score)
        if score <= 0 and (len(corpus) >= LEAST_FOR_WARNING or not found.vectors.any()):
            warn_at_user(
                f"{type(self).__name__} has learned nothing: for a sentence that is left out, the mean of the vectors "
                "is as good a prediction. Are the rows of y in the order of the sentences? Else pass more sentences."
            )
        self._publish(state)
        if left_out is None:
            return None
        left_out[np.diff(sentences.indptr) == 0] = 0  # without words
        return unit(left_out)

    def _derived_arrays(self, state: Any) -> list[ArrayRecord]:
        n_targets = len(state.arrays["target_mean_"])
        return [
            *super()._derived_arrays(state),
            ArrayRecord("target_mean_", (n_targets,)),
            ArrayRecord("components_", (state.n_features_out_, n_targets)),
        ]


def _directions(targets: np.ndarray, n_components: int | str) -> np.ndarray:
    """The strongest directions of centred targets, or all dimensions as they are."""
    n_targets = targets.shape[1]
    if n_components in ("auto", n_targets):
        return np.eye(n_targets, dtype=np.float32)
    covariance = sum(targets[rows].T.astype(np.float64) @ targets[rows] for rows in slices_of(len(targets)))
    vectors = np.linalg.eigh(covariance)[1][:, ::-1][:, :n_components].T
    signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
    return np.ascontiguousarray(vectors * signs[:, None], np.float32)
