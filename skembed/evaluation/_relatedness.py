"""The supervised relatedness head of Tai et al. (2015), as a scikit-learn regressor."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, xlogy
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from .._base.scikit_learn import fit_context, validate_parameters
from .._training.dense import ONE_BLAS_THREAD
from .._validation.columns import Rows
from .._validation.constraints import Constraints
from .._validation.messages import brief
from .._validation.values import RandomState

__all__ = ["RelatednessRegressor"]


class RelatednessRegressor(RegressorMixin, BaseEstimator):
    r"""Predict a score between grades as the mean of a softmax over the grades.

    The head of [1]_ sees the products and the absolute differences of two vectors (:func:`pair_features`), has one
    layer of logistic units, and a softmax over the grades :math:`r = (r_1, \dots, r_K)`:

    .. math::

        h &= \sigma(W^{(h)} x + b^{(h)}) \\
        \hat p &= \mathrm{softmax}(W^{(p)} h + b^{(p)}) \\
        \hat y &= r^T \hat p

    A score y between two grades is a target distribution p over those two, with mean y and no weight elsewhere. The
    loss is the mean divergence of the two distributions, with a penalty on all parameters :math:`\theta`:

    .. math::

        J(\theta) = \frac{1}{m} \sum_k \mathrm{KL}(p^{(k)} \,\|\, \hat p^{(k)}) + \frac{\alpha}{2} \|\theta\|^2

    Parameters
    ----------
    grades : int or array-like of shape (n_grades,), default=5
        The grades, in rising order; an integer means this many from the smallest to the largest target of `fit`.
    n_hidden : int, default=50
        Number of logistic units.
    alpha : float, default=1e-3
        Strength of the penalty, the papers' lambda. Theirs are smaller, on features that are not divided by `scale_`.
    max_iter : int, default=500
        Most iterations of L-BFGS.
    tol : float, default=1e-4
        Stop when no entry of the gradient is larger.
    random_state : int, RandomState instance or None, default=None
        Seed of the first weights.

    Attributes
    ----------
    grades_ : ndarray of shape (n_grades,)
        The grades.
    coefs_ : list of ndarray, of shapes (n_features, n_hidden) and (n_hidden, n_grades)
        Weights of the two layers, on features that are divided by `scale_`.
    intercepts_ : list of ndarray, of shapes (n_hidden,) and (n_grades,)
        Biases of the two layers.
    scale_ : ndarray of shape (n_features,)
        Root mean square of each feature in the training data, 1 where that is zero.
    loss_ : float
        Loss after the last iteration.
    n_iter_ : int
        Iterations made.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where `X` has names that are all strings.

    See Also
    --------
    pair_features : The features of pairs of sentence vectors.

    Notes
    -----
    Two things differ from the papers: features are divided by their root mean square first, and L-BFGS on all data
    replaces AdaGrad or Adam on small batches. The sentence vectors stay as they are; see
    :class:`FineTunedRelatednessRegressor`.

    References
    ----------
    .. [1] K. S. Tai, R. Socher and C. D. Manning, "Improved Semantic Representations From Tree-Structured Long
       Short-Term Memory Networks", ACL 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from skembed.evaluation import RelatednessRegressor, pair_features
    >>> generator = np.random.default_rng(0)
    >>> A, noise = generator.normal(size=(200, 5)), generator.normal(size=(200, 5))
    >>> nearness = generator.uniform(size=200)
    >>> B = nearness[:, None] * A + (1 - nearness[:, None]) * noise
    >>> head = RelatednessRegressor(n_hidden=8, random_state=0).fit(
    ...     pair_features(A, B), 1 + 4 * nearness
    ... )
    >>> bool(head.score(pair_features(A, B), 1 + 4 * nearness) > 0.8)
    True
    """

    grades_: NDArray[np.float64]
    coefs_: list[NDArray[np.float64]]
    intercepts_: list[NDArray[np.float64]]
    scale_: NDArray[np.float64]
    loss_: float
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    _parameter_constraints: Constraints = {
        "grades": [Interval(Integral, 2, None, closed="left"), "array-like"],
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        grades: int | ArrayLike = 5,
        n_hidden: int = 50,
        alpha: float = 1e-3,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.grades = grades
        self.n_hidden = n_hidden
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _validate_params(self) -> None:
        validate_parameters(self)

    @fit_context
    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Learn the two layers.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features)
            Features, for instance of :func:`pair_features`.
        y : array-like of shape (n_pairs,)
            Scores.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If the grades do not rise, or a score is outside of them.
        """
        features, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        scores = np.asarray(y, np.float64)
        self.grades_ = self._find_grades(scores)
        self.scale_ = root_mean_square([features])
        features = features / self.scale_
        targets = sparse_targets(scores, self.grades_)
        shapes = shapes_of_layers(features.shape[1], self.n_hidden, len(self.grades_))
        start = np.concatenate([layer.ravel() for layer in start_layers(shapes, check_random_state(self.random_state))])
        with ONE_BLAS_THREAD:
            found = minimize(
                divergence,
                start,
                args=(features, targets, shapes, float(self.alpha)),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 64 * np.finfo(float).eps},
            )
        self.n_iter_ = int(found.nit)
        if not found.success:
            warnings.warn(
                f"L-BFGS stopped after {self.n_iter_} iterations before the gradient was below tol={self.tol}: raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.loss_ = float(found.fun)
        first, first_bias, second, second_bias = unpack(found.x, shapes)
        self.coefs_, self.intercepts_ = [first, second], [first_bias, second_bias]
        return self

    def _find_grades(self, y: np.ndarray) -> np.ndarray:
        if isinstance(self.grades, Integral):
            return np.unique(np.linspace(y.min(), y.max(), int(self.grades)))  # one grade where all scores are equal
        grades = np.asarray(self.grades, dtype=np.float64)
        if grades.ndim != 1 or len(grades) < 2 or not np.all(np.diff(grades) > 0):
            raise ValueError(f"grades must be two or more rising numbers, got {brief(self.grades)}.")
        outside = np.flatnonzero((y < grades[0]) | (y > grades[-1]))
        if len(outside):
            row = outside[0]
            raise ValueError(f"y has {y[row]} in row {row}, outside the grades {grades[0]} to {grades[-1]}.")
        return grades

    def predict_grades(self, X: Rows) -> NDArray[np.float64]:
        """Give the distribution over the grades.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features)
            Features.

        Returns
        -------
        p : ndarray of shape (n_pairs, n_grades)
            Rows that sum up to one.
        """
        check_is_fitted(self)
        return self._grades_of(validate_data(self, X, dtype=np.float64, reset=False))

    def _grades_of(self, features: np.ndarray) -> NDArray[np.float64]:
        layers = self.coefs_[0], self.intercepts_[0], self.coefs_[1], self.intercepts_[1]
        with ONE_BLAS_THREAD:  # whose number changes the rounding
            return np.exp(run_layers(features / self.scale_, layers)[1])

    def predict(self, X: Rows) -> NDArray[np.float64]:
        """Predict scores.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_pairs,)
            Scores between the smallest and the largest grade.
        """
        return self.predict_grades(X) @ self.grades_


def sparse_targets(y: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Distributions over the grades with mean y and weight on the two nearest, (n_pairs, n_grades)."""
    return np.column_stack([np.interp(y, grades, weights) for weights in np.eye(len(grades))])


def root_mean_square(chunks: Iterable[np.ndarray]) -> NDArray[np.float64]:
    """Root mean square of each column of a matrix, given in chunks of rows; 1 where it is zero."""
    total: float | np.ndarray = 0.0
    n_rows = 0
    for rows in chunks:
        squares = np.square(rows, dtype=np.float64)
        squares[0] += total
        total, n_rows = squares.sum(axis=0), n_rows + len(rows)
    scale = np.sqrt(total / n_rows)
    return np.where(scale == 0, 1.0, scale)


def shapes_of_layers(n_features: int, n_hidden: int, n_grades: int) -> list[tuple[int, ...]]:
    """Shapes of weights and biases of the hidden layer, then of the grades."""
    return [(n_features, n_hidden), (n_hidden,), (n_hidden, n_grades), (n_grades,)]


def start_layers(shapes: list[tuple[int, ...]], random: np.random.RandomState) -> list[np.ndarray]:
    """Biases start at zero, weights so that a layer's sums have about unit size."""
    return [
        np.zeros(shape) if len(shape) == 1 else random.normal(scale=shape[0] ** -0.5, size=shape) for shape in shapes
    ]


def unpack(theta: np.ndarray, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Weights and biases of the two layers, views into one vector."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [values.reshape(shape) for values, shape in zip(np.split(theta, ends[:-1]), shapes)]


def divergence(
    theta: np.ndarray, X: np.ndarray, targets: np.ndarray, shapes: list[tuple[int, ...]], alpha: float
) -> tuple[float, np.ndarray]:
    """Loss J and its gradient."""
    layers = unpack(theta, shapes)
    loss, gradient, _ = backward(X, targets, layers)
    penalty = alpha / 2 * (theta @ theta)
    return float(loss + penalty), np.concatenate([array.ravel() for array in gradient]) + alpha * theta


def run_layers(X: np.ndarray, layers: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Hidden units, and the logarithms of the distributions over the grades."""
    first, first_bias, second, second_bias = layers
    hidden = expit(X @ first + first_bias)
    return hidden, log_softmax(hidden @ second + second_bias, axis=1)


def sum_of_divergences(targets: np.ndarray, log_p: np.ndarray) -> float:
    """The sum over the pairs of the divergences of their targets from distributions, given by their logarithms."""
    return float(xlogy(targets, targets).sum() - (targets * log_p).sum())


def backward(
    X: np.ndarray, targets: np.ndarray, layers: Sequence[np.ndarray]
) -> tuple[float, list[np.ndarray], np.ndarray]:
    """Mean divergence, its derivatives by weights and biases, and by the sums that the hidden units see."""
    hidden, log_p = run_layers(X, layers)
    loss = sum_of_divergences(targets, log_p) / len(X)
    d_scores = (np.exp(log_p) - targets) / np.float32(len(X))
    d_hidden = (d_scores @ layers[2].T) * hidden * (1 - hidden)
    return loss, [X.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)], d_hidden
