"""The relatedness head: its targets and gradient by hand, scikit-learn's own checks, and what it learns."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.utils import Bunch
from sklearn.utils.estimator_checks import parametrize_with_checks

from skembed import MeanEmbeddingVectorizer
from skembed.evaluation import RelatednessRegressor, pair_features, sick_relatedness
from skembed.evaluation._relatedness import divergence, sparse_targets
from skembed.metrics import pearson_score

GRADES = np.arange(1.0, 6.0)


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::sklearn.exceptions.SkipTestWarning"
)
@parametrize_with_checks([RelatednessRegressor(max_iter=200)])
def test_is_a_scikit_learn_regressor(estimator, check):
    check(estimator)


def test_sparse_targets_by_hand():
    """Eq. 5 of the paper: 3.6 is 0.4 of grade 3 and 0.6 of grade 4."""
    targets = sparse_targets(np.array([3.6, 1.0, 5.0, 2.0]), GRADES)
    expected = [[0, 0, 0.4, 0.6, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 1, 0, 0, 0]]
    np.testing.assert_allclose(targets, expected, atol=1e-12)
    y = np.random.default_rng(0).uniform(1, 5, 100)
    targets = sparse_targets(y, GRADES)
    np.testing.assert_allclose(targets @ GRADES, y)
    np.testing.assert_allclose(targets.sum(axis=1), 1)
    assert np.all((targets > 0).sum(axis=1) <= 2)


def test_gradient_of_the_loss():
    generator = np.random.default_rng(0)
    X, targets = generator.normal(size=(7, 4)), sparse_targets(generator.uniform(1, 5, 7), GRADES)
    shapes = [(4, 3), (3,), (3, 5), (5,)]
    theta = generator.normal(size=4 * 3 + 3 + 3 * 5 + 5)

    def loss(theta):
        return divergence(theta, X, targets, shapes, 0.1)[0]

    def gradient(theta):
        return divergence(theta, X, targets, shapes, 0.1)[1]

    assert check_grad(loss, gradient, theta) < 1e-6 * np.linalg.norm(gradient(theta)) * len(theta)


def test_loss_by_hand():
    """With all parameters zero p is uniform, so KL is log 5 minus the entropy of the target."""
    targets = sparse_targets(np.array([3.0, 1.5]), GRADES)
    loss, _ = divergence(np.zeros(2 + 1 + 5 + 5), np.ones((2, 2)), targets, [(2, 1), (1,), (1, 5), (5,)], 0.1)
    assert loss == pytest.approx(np.log(5) - np.log(2) / 2)


@pytest.fixture(scope="module")
def pairs():
    """Vectors whose relatedness is the cosine, bent: no line through the features finds it."""
    generator = np.random.default_rng(0)
    A, noise, alike = generator.normal(size=(600, 6)), generator.normal(size=(600, 6)), generator.uniform(size=(600, 1))
    B = alike * A + (1 - alike) * noise
    return pair_features(A, B), 1 + 4 * alike.ravel() ** 2


def test_learns_more_than_a_line(pairs):
    X, y = pairs
    head = RelatednessRegressor(n_hidden=20, alpha=1e-3, random_state=0).fit(X[:400], y[:400])
    ours = pearson_score(y[400:], head.predict(X[400:]))
    assert ours > 0.8
    assert ours > pearson_score(y[400:], Ridge().fit(X[:400], y[:400]).predict(X[400:]))
    p = head.predict_grades(X[400:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(head.predict(X[400:]), p @ head.grades_)


def test_repeats_with_a_seed_and_ignores_the_unit_of_features(pairs):
    X, y = pairs
    first, again, other = (
        RelatednessRegressor(n_hidden=5, alpha=0.1, random_state=seed).fit(X, y).predict(X) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    units = RelatednessRegressor(n_hidden=5, alpha=0.1, random_state=0).fit(X * 2.0**-20, y).predict(X * 2.0**-20)
    np.testing.assert_allclose(units, first, rtol=1e-6)


def test_a_penalty_pulls_to_the_mean_grade(pairs):
    X, y = pairs
    spread = [np.ptp(RelatednessRegressor(alpha=alpha, random_state=0).fit(X, y).predict(X)) for alpha in (1e-3, 10.0)]
    assert spread[1] < 0.01 * spread[0]


def test_grades(pairs):
    X, y = pairs
    scores = np.r_[0.0, 5.0, y[2:]]
    head = RelatednessRegressor(grades=6, n_hidden=2, alpha=0.1).fit(X, scores)
    np.testing.assert_allclose(head.grades_, range(6))
    np.testing.assert_allclose(RelatednessRegressor(n_hidden=2).fit(X, np.full(600, 3.0)).predict(X), 3.0)
    with pytest.raises(ValueError, match=r"y has 5.0 in row 1, outside the grades 0.0 to 4.0"):
        RelatednessRegressor(grades=[0, 2, 4]).fit(X, scores)
    for grades in ([1, 1, 2], [3], [[1, 2]]):
        with pytest.raises(ValueError, match="rising"):
            RelatednessRegressor(grades=grades).fit(X, y)


def test_says_when_it_stops_early(pairs):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        head = RelatednessRegressor(max_iter=1, random_state=0).fit(*pairs)
    assert head.n_iter_ == 1


def test_sick_protocol_chooses_the_penalty_on_trial():
    words = "red green blue pink grey black white brown".split()
    vectors = dict(zip(words, np.eye(8)))
    model = MeanEmbeddingVectorizer(word_vectors=vectors).fit(words)
    generator = np.random.default_rng(0)
    drawn = [tuple(" ".join(generator.choice(words, 3)) for _ in range(2)) for _ in range(500)]
    target = [1 + 4 * len(set(a.split()) & set(b.split())) / len(set(a.split()) | set(b.split())) for a, b in drawn]
    train, trial, test = (Bunch(data=drawn[i::3], target=np.array(target[i::3])) for i in range(3))
    row = sick_relatedness(model, train, trial, test, alphas=[100.0, 1e-3])
    assert row["alpha"] == 1e-3 and row["pearson"] > 0.8 and row["mse"] < 0.5 and row["n_pairs"] == len(test.data)
    assert sick_relatedness(model, train, trial, test, alphas=[100.0])["pearson"] < row["pearson"]
    with pytest.raises(ValueError, match="alphas is empty"):
        sick_relatedness(model, train, trial, test, alphas=[])
