"""The relatedness head of Tai et al. (2015) over an encoder of sentences that learns with it."""

from __future__ import annotations

from itertools import chain
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._base.paired import PairedVectorizer
from .._base.scikit_learn import fit_context
from .._corpus.input import as_pairs
from .._corpus.pairs import PairCorpus
from .._methods.paraphrase import ParaphraseVectorizer
from .._objectives.paraphrase import UnitVectors
from .._training.dense import ONE_BLAS_THREAD, adam_step
from .._training.encoded_text import EncodedText
from .._training.learned_arrays import moving
from .._training.pairs import PairEncoder
from .._training.stopping import is_sound, largest_of
from .._validation.columns import as_scores, check_same_length
from .._validation.constraints import Described
from .._word_vectors.sources import is_unfitted
from ._pairs import pair_features
from ._relatedness import (
    RelatednessRegressor,
    backward,
    root_mean_square,
    shapes_of_layers,
    sparse_targets,
    start_layers,
)

__all__ = ["FineTunedRelatednessRegressor"]

_ENCODER = Described(
    lambda value: isinstance(value, PairedVectorizer), "a ParaphraseVectorizer or CSEVectorizer, fitted or not"
)


class FineTunedRelatednessRegressor(RelatednessRegressor):
    r"""Predict scores of pairs of sentences with an encoder that learns from the scores too.

    The head is that of :class:`RelatednessRegressor`. It sees the products and the absolute differences of the two
    sentence vectors, each of length one. Its gradient moves the head and, through the vectors, all that the encoder
    learns ([1]_, section 4.2). The encoder starts from its `init`: a model that learned from other pairs is the
    "universal" setting of [1]_, none, or word vectors alone, the "random" one.

    Parameters
    ----------
    encoder : ParaphraseVectorizer or CSEVectorizer, default=None
        The encoder. It is not changed: `fit` trains a copy. Its `learn`, `alpha` (the pull to the start) and
        `filter_alpha` hold here too; no word is dropped. None is for ``ParaphraseVectorizer()``. One that is fitted
        serves as `init` of the copy; where scikit-learn clones it, as cross-validation does, it forgets, so give
        ``ParaphraseVectorizer(init=fitted)`` there.
    grades : int or array-like of shape (n_grades,), default=5
        As in :class:`RelatednessRegressor`.
    n_hidden : int, default=300
        Number of logistic units.
    dropout : float, default=0.6
        Share of the features that are left out of a step, drawn for each pair; 0 <= dropout < 1.
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
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights, the order of the pairs and what is dropped; and of the encoder, if its own is None.

    Attributes
    ----------
    encoder_ : ParaphraseVectorizer or CSEVectorizer
        The encoder after training. Its `transform` gives the vectors of sentences.
    grades_, coefs_, intercepts_, scale_
        As in :class:`RelatednessRegressor`. The scale is that of the features before training.
    loss_curve_ : list of float
        Mean divergence of a pair in each pass.
    loss_ : float
        The last of them.
    n_iter_ : int
        Passes made.

    See Also
    --------
    RelatednessRegressor : The head alone, on features of any vectors, by L-BFGS.
    sick_relatedness : The protocol of the papers on SICK, with the head alone.

    Notes
    -----
    Training has one thread, so the result depends on `random_state` alone. The papers train with a constant rate and
    drop nothing.

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

    encoder_: Any
    loss_curve_: list[float]

    _parameter_constraints: dict[str, list[Any]] = {
        "encoder": [_ENCODER, None],
        "grades": RelatednessRegressor._parameter_constraints["grades"],
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "encoder_learning_rate": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        encoder: Any = None,
        *,
        grades: Any = 5,
        n_hidden: int = 300,
        dropout: float = 0.6,
        learning_rate: float = 2e-3,
        encoder_learning_rate: float = 2.5e-4,
        alpha: float = 0.0,
        max_iter: int = 14,
        batch_size: int = 32,
        random_state: Any = None,
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
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @fit_context
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from scored pairs.

        Parameters
        ----------
        X : pairs, or PairCorpus
            Pairs of sentences: an iterable of tuples, an array of shape (n_pairs, 2), a table of two columns, or a
            :class:`~skembed.PairCorpus`.
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
        pairs = X if isinstance(X, PairCorpus) else encoder._encoded_pairs(as_pairs(X, "X"))
        encoder._check_agreement(pairs.sentences, "X")
        y = as_scores(y, "y")
        check_same_length({"X": pairs, "y": y})
        grades = self._find_grades(y)
        fitted = encoder._start(pairs.sentences, (), None) | {"_from_labels": False}
        text = encoder._encode_text(pairs.sentences, fitted)
        with ONE_BLAS_THREAD, np.errstate(all="ignore"):  # checked after each pass
            training = _Training(self, encoder._make_encoder(fitted), text, sparse_targets(y, grades), random)
            weights = [fitted[array.name] for array in moving(encoder._learned_arrays(fitted))]
            losses: list[float] = []
            for epoch in range(self.max_iter):
                losses.append(training.run_epoch(epoch))
                self._check_finite(losses[-1], [*training.layers, *weights])
        encoder._commit(encoder._finish_fit(fitted, pairs.sentences))
        first, first_bias, second, second_bias = (layer.astype(np.float64) for layer in training.layers)
        self.encoder_, self.grades_, self.scale_ = encoder, grades, training.scale
        self.coefs_, self.intercepts_ = [first, second], [first_bias, second_bias]
        self.loss_curve_, self.loss_, self.n_iter_ = losses, losses[-1], self.max_iter
        return self

    def predict_grades(self, X: Any) -> NDArray[np.float64]:
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

    def predict(self, X: Any) -> NDArray[np.float64]:
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

    def _check_finite(self, loss: float, weights: list[np.ndarray]) -> None:
        if not is_sound(loss, largest_of(weights)):
            raise ValueError(
                f"{type(self).__name__} diverged with learning_rate={self.learning_rate}, encoder_learning_rate="
                f"{self.encoder_learning_rate}. Use smaller rates. Nothing of this fit was kept."
            )

    def _fresh_encoder(self, random: np.random.RandomState) -> Any:
        encoder: Any = ParaphraseVectorizer() if self.encoder is None else clone(self.encoder)
        if self.encoder is not None and not is_unfitted(self.encoder):
            encoder.set_params(init=self.encoder)
        if encoder.random_state is None:  # not that of its init, which clones share
            encoder.set_params(random_state=random.randint(2**31 - 1))
        return encoder.set_params(word_dropout=0.0, interpolation=1.0)


class _Training:
    """Head and encoder during training."""

    def __init__(
        self,
        options: FineTunedRelatednessRegressor,
        encoder: PairEncoder,
        text: EncodedText,
        targets: np.ndarray,
        random: np.random.RandomState,
    ) -> None:
        self.options, self.encoder, self.text, self.random = options, encoder, text, random
        self.targets = targets.astype(np.float32)
        n_pairs, n_grades = targets.shape
        of_all = [self._embed(np.arange(n_pairs)[rows], learn=False).features for rows in gen_batches(n_pairs, 1024)]
        self.scale = root_mean_square(np.concatenate(of_all))
        shapes = shapes_of_layers(len(self.scale), int(options.n_hidden), n_grades)
        self.layers = [layer.astype(np.float32) for layer in start_layers(shapes, random)]
        self.moments = [np.zeros((2, *layer.shape), np.float32) for layer in self.layers]
        self.n_steps = 0

    def run_epoch(self, epoch: int) -> float:
        """One pass over the pairs in random order; returns the mean loss of a pair."""
        n_pairs, total = len(self.targets), 0.0
        order = self.random.permutation(n_pairs)
        for rows in gen_batches(n_pairs, int(self.options.batch_size)):
            share_left = 1 - (epoch + rows.start / n_pairs) / self.options.max_iter
            total += self._step(order[rows], share_left) * (rows.stop - rows.start)
        return total / n_pairs

    def _step(self, rows: np.ndarray, share_left: float) -> float:
        pairs, options = self._embed(rows, learn=True), self.options
        kept = self.random.random_sample(pairs.features.shape) >= options.dropout
        factor = (kept / (self.scale * (1 - options.dropout))).astype(np.float32)
        loss, gradients, d_hidden = backward(pairs.features * factor, self.targets[rows], self.layers)
        of_vectors = pairs.backward((d_hidden @ self.layers[0].T) * factor)
        self.n_steps += 1
        for layer, moments, gradient in zip(self.layers, self.moments, gradients):
            gradient = gradient + np.float32(options.alpha) * layer
            layer -= adam_step(moments, ..., gradient, options.learning_rate * share_left, self.n_steps)
        if options.encoder_learning_rate:
            self.encoder.step(of_vectors, options.encoder_learning_rate * share_left)
        return loss

    def _embed(self, rows: np.ndarray, learn: bool) -> _Pairs:
        sentences = np.concatenate([2 * rows, 2 * rows + 1])
        return _Pairs(self.encoder.encode(self.text, sentences, 0, learn))


class _Pairs:
    """The features of a batch of pairs, and the way back for the gradient."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = UnitVectors(vectors)
        self.first, self.second = np.split(self.vectors.unit, 2)
        self.features = pair_features(self.first, self.second)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """From the gradient of the features to that of the vectors."""
        of_products, of_differences = np.split(gradient, 2, axis=1)
        of_differences = of_differences * np.sign(self.first - self.second)
        of_first, of_second = of_products * self.second + of_differences, of_products * self.first - of_differences
        return self.vectors.of_vectors(np.concatenate([of_first, of_second]))
