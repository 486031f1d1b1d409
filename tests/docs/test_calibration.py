"""What the benchmark of calibration computes: its figures on made-up models, and what random labels do to rows."""

from pathlib import Path

import numpy as np
import pytest

from skembed import CBOSVectorizer

RNG = np.random.default_rng(0)
SENTENCES = [" ".join(f"w{i}" for i in RNG.integers(0, 300, 8)) for _ in range(120)]
LABELS = RNG.permutation(np.arange(120) % 2)  # nothing in the sentences tells them


@pytest.fixture
def calibration(monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks" / "quality")
    import calibration

    return calibration


def test_figures_of_known_probabilities(calibration):
    class Model:
        classes_ = np.array(["a", "b"])

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.array([[0.75, 0.25], [0.25, 0.75], [0.05, 0.95], [1.0, 0.0]], np.float32)

    figures = calibration.figures_of(Model(), None, None, None, np.array(["a", "a", "b", "a"]))
    # Of the two at 0.75 one is right, 0.25 less than they say; those at 0.95 and 1 say 0.05 too little between them.
    expected = [75, 86.25, 100 * (2 * 0.25 + 0.05) / 4, -np.log([0.75, 0.25, 0.95, 1]).mean()]
    np.testing.assert_allclose(figures, expected, rtol=1e-5)


def test_the_worst_set_is_that_whose_accuracy_falls_most(calibration, monkeypatch):
    monkeypatch.setattr(calibration, "LABELS", (10,))
    accuracies = {("A", calibration.NOW): 60, ("B", calibration.NOW): 70, ("A", "other"): 62, ("B", "other"): 67}
    nothing = [50.0, 5.0, 1.0, np.nan]
    rows = {(name, "10", "0", "CBOS", m): [float(v), *nothing] for (name, m), v in accuracies.items()}
    table = calibration.table_of("Title", rows, ("A", "B"), [calibration.NOW, "other"])
    assert [line.strip() for line in table.splitlines()[-2:]] == [
        "10,as it is,65.0,,50.0,5.0,1.00",
        "10,other,64.5,B -3.0,50.0,5.0,1.00",
    ]


@pytest.mark.filterwarnings("ignore:Only")
def test_rows_know_random_labels_but_cross_fitted_ones_do_not(calibration):
    plain = calibration.classified(CBOSVectorizer(20, random_state=0))
    crossed = calibration.cures(CBOSVectorizer, 0)["cross-fitted"]
    assert calibration.above_chance(plain, SENTENCES, LABELS, 0) > 35
    assert calibration.above_chance(crossed, SENTENCES, LABELS, 0) < 20


def test_around_the_pipeline_a_calibrator_is_less_sure_of_random_labels_than_inside(calibration):
    other = [" ".join(f"w{i}" for i in RNG.integers(0, 300, 8)) for _ in range(200)]
    models = calibration.calibrators(CBOSVectorizer, 0)
    inside, around = (
        models[f"{where}, sigmoid, ensemble=False"].fit(SENTENCES, LABELS).predict_proba(other).max(axis=1).mean()
        for where in ("inside", "around")
    )
    assert inside > 0.75
    assert around < 0.65
