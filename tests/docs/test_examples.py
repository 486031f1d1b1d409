"""The quick examples of the gallery run. The documentation runs them all."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_quick_one_runs(tmp_path):
    pytest.importorskip("matplotlib")
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-W",
        "error::DeprecationWarning:__main__",
        ROOT / "examples" / "compare" / "plot_explain_similarity.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    total, cosine = re.search(r"sum of all pairs: (\S+), cosine: (\S+)", done.stdout).groups()
    assert total == cosine
