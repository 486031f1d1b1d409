"""The solvers of the logistic regression behind the classification tasks: which one, and that they agree."""

from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

from skembed.evaluation import _classification, nested_classification, split_classification


@pytest.mark.parametrize(
    ("n_columns", "n_labels", "solver"),
    [
        (1000, 2, "newton-cholesky"),
        (1001, 2, "liblinear"),
        (100, 3, "newton-cholesky"),
        (13, 20, "newton-cholesky"),
        (100, 6, "lbfgs"),
        (20, 50, "lbfgs"),
    ],
)
def test_the_solver_goes_by_the_shape(monkeypatch, n_columns, n_labels, solver):
    solvers = []

    class Logistic(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            solvers.append(self.solver)
            return super().fit(X[:, :2], y)

        def predict(self, X):
            return super().predict(X[:, :2])

    monkeypatch.setattr(_classification, "LogisticRegression", Logistic)
    monkeypatch.setattr(_classification, "C_GRID", (1.0,))
    y = np.arange(6 * n_labels) % n_labels
    rows = np.random.default_rng(0).normal(size=(len(y), n_columns))
    for table, expected in ((rows, solver), (csr_array(rows), "liblinear" if n_labels == 2 else "newton-cg")):
        solvers.clear()
        model = Mock(spec=["transform"], transform=Mock(return_value=table))
        split_classification(model, (["a"] * len(y), y), (["a"] * len(y), y), inner_cv=2)
        assert set(solvers) == {expected}


@pytest.mark.filterwarnings("error")
def test_columns_of_unequal_scale_converge():
    """L-BFGS stops at its limit of iterations here, with a warning for most folds and a lower score."""
    X, y = load_wine(return_X_y=True)
    model = SimpleNamespace(transform=lambda rows: X[[int(row) for row in rows]])
    sentences = [str(row) for row in range(len(y))]
    result = nested_classification(model, sentences, y, cv=3, inner_cv=3)
    assert result.accuracy > 0.93


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_solvers_of_more_labels_agree_with_lbfgs(monkeypatch, form):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 3, 90)
    rows = generator.normal(size=(90, 6)) + 1.5 * (y[:, None] == np.arange(6))
    model = SimpleNamespace(transform=lambda X: form(rows[[int(i) for i in X]]))
    sentences = [str(row) for row in range(90)]
    found = nested_classification(model, sentences, y, cv=3, inner_cv=3)
    monkeypatch.setattr(_classification, "_choose_solver", lambda *shape: "lbfgs")
    expected = nested_classification(model, sentences, y, cv=3, inner_cv=3)
    assert np.mean(found.predictions != expected.predictions) < 0.05
    assert found.accuracy == pytest.approx(expected.accuracy, abs=0.03)
