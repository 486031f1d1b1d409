"""The script that draws the figures of the papers runs on a tiny text, and measures no point twice."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from estimators import GROUPS, TEXT
from sklearn.utils import Bunch

from skembed import SentenceCorpus

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")
SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "quality"


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setattr(sys, "argv", ["paper_figures.py"])
    import paper_figures

    # Two points, eight dimensions, and words that occur once: the text is tiny.
    small = {"n_components": 8, "max_iter": 1, "min_count": 1}
    for name, curve in paper_figures.CURVES.items():
        lines = {label: line._replace(changes=small | line.changes) for label, line in curve.lines.items()}
        monkeypatch.setitem(paper_figures.CURVES, name, curve._replace(values=curve.values[:2], lines=lines))
    return paper_figures


@pytest.fixture
def bench(figures, tmp_path):
    bench = figures.Bench.__new__(figures.Bench)
    corpus = SentenceCorpus.from_sentences(TEXT, groups=GROUPS)
    bench.texts = {"all": corpus, "stems": corpus, "tenth": corpus[: len(TEXT) // 2]}
    pairs = [(TEXT[i], TEXT[i + 1]) for i in range(30)]
    bench.years = {2014: Bunch(data=pairs, target=np.arange(30.0), subset=np.array(["deft-news"] * 30))}
    bench.path, bench.points, bench.jobs = tmp_path / "points.json", {}, 1
    return bench


@pytest.mark.parametrize("name", ["cbos_negatives", "siamese_passes"])
def test_curve_is_measured_once_and_drawn(name, figures, bench, tmp_path, monkeypatch):
    from reporting import read_table

    options = SimpleNamespace(out=tmp_path / "out")
    figures.report_curve(bench, options, name)
    assert {path.suffix for path in options.out.glob(f"{name}.*")} == {".inc", ".png"}
    _, *rows = read_table(options.out / f"{name}.inc")
    assert [float(row[0]) for row in rows] == figures.CURVES[name].values
    # A second run finds every point in the file.
    points = bench.path.read_text()
    bench.points = json.loads(points)
    monkeypatch.setattr(bench, "make", None)
    figures.report_curve(bench, options, name)
    assert bench.path.read_text() == points
    assert read_table(options.out / f"{name}.inc")[1:] == rows


def test_published_means_are_those_of_the_tables(figures):
    # Table 1 of each paper without the licensed set, added by hand.
    assert figures.published_mean("Yuan and Zhang 2017", "CBOS") == pytest.approx(59.41, abs=0.01)
    assert figures.published_mean("Kenter et al. 2016", "Siamese CBOW") == pytest.approx(52.74, abs=0.01)
