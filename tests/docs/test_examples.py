"""The quick examples of the gallery run. The documentation runs them all."""

import re
import runpy
from pathlib import Path

import pytest
from test_docs import docstrings_read_once

import skembed

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_quick_one_runs(monkeypatch, capsys, close_figures):
    """On the text that it takes where nothing can be downloaded, and on less of it."""
    pytest.importorskip("matplotlib")

    def refused(**options):
        raise OSError("no network")

    monkeypatch.setattr(skembed.datasets, "fetch_opinosis", refused)
    monkeypatch.setattr(skembed.datasets, "load_docstrings", lambda: docstrings_read_once(packages=["numpy"]))
    runpy.run_path(str(ROOT / "examples" / "compare" / "plot_explain_similarity.py"), run_name="__main__")
    total, cosine = re.search(r"sum of all pairs: (\S+), cosine: (\S+)", capsys.readouterr().out).groups()
    assert total == cosine
