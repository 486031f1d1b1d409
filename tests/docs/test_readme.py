"""The code of the README runs and prints what its output blocks show, up to the figures."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

import skembed.datasets

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def small_docstrings(monkeypatch):
    words = ["red", "green", "blue", "one", "two", "three"]
    rng = np.random.default_rng(0)
    target = np.arange(1500) // 5 % 2
    data = [" ".join(rng.choice(words[3 * label : 3 * label + 3], 4)) for label in target]
    docs = Bunch(data=data, target=target, groups=np.arange(1500) // 5)
    monkeypatch.setattr(skembed.datasets, "load_docstrings", lambda packages: docs)


def test_the_code_runs_and_prints_the_lines_that_are_shown(small_docstrings, capsys):
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.findall(r"```\n\n```\n(.*?)```", README, re.DOTALL)
    assert len(code) == len(shown) == 2
    names, printed = {}, []
    for block in code:
        exec(block, names)
        printed.append(capsys.readouterr().out)
    assert re.sub(r"\d\.\d{3}", "#", printed[0]) == re.sub(r"\d\.\d{3}", "#", shown[0])
    assert printed[1].count("\n") == shown[1].count("\n") == 3  # the three best sentences


def test_paths_in_the_readme_exist():
    root = Path(__file__).resolve().parents[2]
    paths = re.findall(r"\]\(([^)]+)\)", README) + re.findall(r"`((?:doc|examples)/[\w/.]*)`", README)
    assert len(paths) >= 5
    assert [path for path in paths if not (root / path).exists()] == []
