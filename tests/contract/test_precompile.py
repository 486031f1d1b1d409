"""Compiling before anybody waits: `python -m skembed.precompile`."""

import pytest
from estimators import NAMES
from test_compiled_code import counted
from test_processes import run

from skembed import precompile as precompiling
from skembed.precompile import PARTS, main, precompile

# Their kernels are those of the others.
WITHOUT_PARTS = {"BOWPCA", "MeanEmbeddingVectorizer", "MetaEmbeddingVectorizer"}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_runs(part, capsys):
    precompile([part], verbose=True)
    assert capsys.readouterr().out.startswith(f"1/1 {part}: ")


def test_every_estimator_has_a_part():
    assert {name.split("-")[0] for name in NAMES} - set(PARTS) <= WITHOUT_PARTS


USE = """
import numpy
from skembed.search import nearest
rows = numpy.eye(4, 3, dtype=numpy.float32)
nearest(rows, rows, k=1)
"""


def test_later_processes_compile_nothing(tmp_path):
    folder = {"SKEMBED_CACHE_DIR": str(tmp_path)}
    *parts, kept = run("from skembed.precompile import main; main(['nearest'])", **folder).splitlines()
    assert [line.split(":")[0] for line in parts] == ["1/1 nearest"]
    assert kept.startswith("Compiled code: ") and str(tmp_path) in kept
    assert counted(USE, **folder) == ([], 0)


def test_nowhere_to_keep_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(precompiling, "cache_folder", lambda: tmp_path / "missing")
    assert main(["nearest"]) == 1
    assert "Set SKEMBED_CACHE_DIR" in capsys.readouterr().out


def test_no_such_part(capsys):
    with pytest.raises(ValueError, match="No such part: cat. There are SentenceCorpus"):
        precompile(["cat"])
    with pytest.raises(SystemExit):
        main(["cat"])
    assert "No such part" in capsys.readouterr().err
