"""The relatedness head of Tai et al. (2015) over an encoder of sentences that learns with it."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from itertools import chain
from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._base.paired import PairedVectorizer
from .._base.scikit_learn import CallbackSupportMixin, fit_context, validate_parameters
from .._base.start import is_unfitted
from .._base.trained import TrainedVectorizer
from .._corpus.input import as_pairs
from .._corpus.pairs import PairCorpus, check_not_empty
from .._methods.paraphrase import ParaphraseVectorizer
from .._objectives.paraphrase import UnitVectors
from .._training.encoded_text import encode_text
from .._training.passes import PassTasks
from .._validation.columns import Sentences, as_scores, check_same_length
from .._validation.constraints import Constraints, PredicateConstraint
from .._validation.values import RandomState
from ._pairs import pair_features
from ._relatedness import RelatednessRegressor, sparse_targets
from ._relatedness_training import RelatednessTrainer, hold_out_pairs, learn_scores

__all__ = ["FineTunedRelatednessRegressor"]

_ENCODER = PredicateConstraint(
    lambda value: isinstance(value, PairedVectorizer),
    "a fitted or new ParaphraseVectorizer, CSEVectorizer, GRANVectorizer",
)
_OF_STOPPING = ("early_stopping", "validation_fraction", "n_iter_no_change", "tol")


class FineTunedRelatednessRegressor(CallbackSupportMixin, RelatednessRegressor):
    r"""Predict scores of pairs of sentences with an encoder that learns from the scores too.

    The head is that of :class:`RelatednessRegressor`, over vectors of length one. Its gradient moves the head and all
    that the encoder learns ([1]_, section 4.2). The `init` of the encoder may be a model that learned from other pairs,
    the "universal" setting of [1]_; without one, or with word vectors alone, it is the "random" one.

    Parameters
    ----------
    encoder : ParaphraseVectorizer, CSEVectorizer or GRANVectorizer, default=None
        The encoder, of which `fit` trains a copy. Its `learn`, `alpha` (the pull to the start) and `filter_alpha` hold
        here too; no word is dropped. None is for ``ParaphraseVectorizer()``. A fitted one serves as `init` of the copy.
    grades : int or array-like of shape (n_grades,), default=5
        As in :class:`RelatednessRegressor`.
    n_hidden : int, default=300
        Number of logistic units.
    dropout : float, default=0.6
        Fraction of the features that are left out of a step, drawn for each pair; 0 <= dropout < 1.
    learning_rate : float, default=2e-3
        Rate of Adam for the head. It falls to zero over the passes.
    encoder_learning_rate : float, default=2.5e-4
        The same for the encoder, where 1 is as long as a word vector. With 0 the encoder stays as it starts.
    alpha : float, default=0.0
        Strength of the penalty on the head, the papers' lambda.
    max_iter : int, default=14
        Passes over the pairs.
    batch_size : int, default=32
        Pairs of a step.
    early_stopping : bool, default=False
        Hold out some pairs, stop when their loss no longer falls, and keep the best weights.
    validation_fraction : float, default=0.1
        Fraction of the pairs to hold out, between 0 and 1. Pairs of the same two texts stay together, if there are
        20 others or more.
    n_iter_no_change : int, default=3
        Stop after this many passes in a row in which the held-out loss did not fall by more than `tol`.
    tol : float, default=1e-4
        Smallest fall of the held-out loss that counts.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights, the order of the pairs and what is dropped; and of the encoder, if its own is None.
    verbose : int, default=0
        1 prints a line for each pass, 2 prints more.

    Attributes
    ----------
    encoder_ : ParaphraseVectorizer, CSEVectorizer or GRANVectorizer
        The encoder after training. Its `transform` gives the vectors of sentences.
    grades_, coefs_, intercepts_, scale_
        As in :class:`RelatednessRegressor`. The scale is that of the features before training.
    loss_curve_, validation_loss_curve_ : list of float
        Mean divergence of a pair in each pass, and of a held-out one after it (empty without `early_stopping`).
    loss_ : float
        The last of `loss_curve_`.
    n_iter_ : int
        Passes made.

    See Also
    --------
    RelatednessRegressor : The head alone, on features of any vectors, by L-BFGS.
    sick_relatedness : The protocol of the papers on SICK, with the head alone.

    Notes
    -----
    Training has one thread. The papers train with a constant rate and drop nothing.

    References
    ----------
    .. [1] Xiaoqi Jiao, Fang Wang and Dan Feng, "Convolutional Neural Network for Universal Sentence Embeddings",
       COLING, 2018.

    Examples
    --------
    >>> from skembed import ParaphraseVectorizer
    >>> from skembed.evaluation import FineTunedRelatednessRegressor
    >>> colours = "red green blue pink grey black white brown".split()
    >>> pairs = [(f"a {a} cat", f"the {b} cat") for a in colours for b in colours]
    >>> scores = [5.0 if a.split()[1] == b.split()[1] else 1.0 for a, b in pairs]
    >>> model = FineTunedRelatednessRegressor(
    ...     ParaphraseVectorizer(16), dropout=0.2, max_iter=100, random_state=0
    ... )
    >>> bool(model.fit(pairs, scores).score(pairs, scores) > 0.8)
    True
    """

    encoder_: PairedVectorizer
    loss_curve_: list[float]
    validation_loss_curve_: list[float]

    _parameter_constraints: Constraints = {
        "encoder": [_ENCODER, None],
        "grades": RelatednessRegressor._parameter_constraints["grades"],
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "encoder_learning_rate": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        **{name: TrainedVectorizer._parameter_constraints[name] for name in _OF_STOPPING},
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        encoder: PairedVectorizer | None = None,
        *,
        grades: int | ArrayLike = 5,
        n_hidden: int = 300,
        dropout: float = 0.6,
        learning_rate: float = 2e-3,
        encoder_learning_rate: float = 2.5e-4,
        alpha: float = 0.0,
        max_iter: int = 14,
        batch_size: int = 32,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        tol: float = 1e-4,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.encoder = encoder
        self.grades = grades
        self.n_hidden = n_hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.encoder_learning_rate = encoder_learning_rate
        self.alpha = alpha
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_clone__(self) -> Self:
        """Let the copy of a fitted encoder start from it."""
        bare = copy(self)
        if isinstance(self.encoder, PairedVectorizer):
            bare.encoder = _starting(self.encoder)
        return super(FineTunedRelatednessRegressor, bare).__sklearn_clone__()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @fit_context
    def fit(self, X: Sentences, y: ArrayLike) -> Self:
        """Learn from scored pairs.

        Parameters
        ----------
        X : pairs, or PairCorpus
            Pairs of sentences: an iterable of tuples, an array of shape (n_pairs, 2) or a table of two columns.
        y : array-like of shape (n_pairs,)
            Scores.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        TypeError
            If a sentence is not a string; names the row.
        ValueError
            If `X` and `y` differ in length, a sentence has no word, a score is not finite or outside the grades, or
            the weights diverge; then the estimator is as it was before.
        """
        random = check_random_state(self.random_state)
        encoder = self._fresh_encoder(random)
        pairs, y = _encoded(encoder, X), as_scores(y, "y")
        check_same_length({"X": pairs, "y": y})
        grades = self._find_grades(y)
        learned = replace(encoder._start(pairs.sentences, (), None), from_labels=False)
        held = np.zeros(len(pairs), bool)
        if self.early_stopping:
            held = hold_out_pairs(pairs, self.validation_fraction, learned.seed)
        text, targets = encode_text(encoder, pairs.sentences, learned), sparse_targets(y, grades)
        trainer = RelatednessTrainer(self, encoder._make_encoder(learned), text, targets, held, random)
        tasks = PassTasks(self, X, int(self.max_iter))
        final = learn_scores(self, trainer, (encoder, learned, pairs.sentences), text, grades, tasks)
        self.__dict__.update(final)
        tasks.end(lambda: final)
        return self

    def predict_grades(self, X: Sentences) -> NDArray[np.float64]:
        """Give the distribution over the grades.

        Parameters
        ----------
        X : pairs, or PairCorpus
            Pairs of sentences.

        Returns
        -------
        p : ndarray of shape (n_pairs, n_grades)
            Rows that sum up to one.
        """
        check_is_fitted(self)
        sentences = X.sentences if isinstance(X, PairCorpus) else list(chain.from_iterable(as_pairs(X, "X")))
        unit = UnitVectors(np.asarray(self.encoder_.transform(sentences))).unit
        return self._grades_of(pair_features(unit[::2], unit[1::2]))

    def predict(self, X: Sentences) -> NDArray[np.float64]:
        """Predict scores.

        Parameters
        ----------
        X : pairs, or PairCorpus
            Pairs of sentences.

        Returns
        -------
        y : ndarray of shape (n_pairs,)
            Scores between the smallest and the largest grade.
        """
        return super().predict(X)

    def _fresh_encoder(self, random: np.random.RandomState) -> PairedVectorizer:
        encoder: PairedVectorizer = ParaphraseVectorizer() if self.encoder is None else _starting(self.encoder)
        if encoder.random_state is None:  # not that of its init, which clones share
            encoder.set_params(random_state=random.randint(2**31 - 1))
        validate_parameters(encoder)
        return encoder.set_params(word_dropout=0.0, interpolation=1.0)


def _starting(encoder: PairedVectorizer) -> PairedVectorizer:
    """An unfitted copy of an encoder, which starts from it if it is fitted."""
    copied: PairedVectorizer = clone(encoder)
    return copied if is_unfitted(encoder) else copied.set_params(init=encoder)


def _encoded(encoder: PairedVectorizer, X: Sentences) -> PairCorpus:
    pairs: PairCorpus = X if isinstance(X, PairCorpus) else encoder._encoded_pairs(as_pairs(X, "X"))
    check_not_empty(pairs, "X")
    encoder._check_agreement(pairs.sentences, "X")
    return pairs
