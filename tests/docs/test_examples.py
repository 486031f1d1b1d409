"""The gallery's examples: their form, and that the quick ones run. The documentation runs them all."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
MAX_LINES = 190
by_name = {"ids": lambda path: path.stem}


def test_there_is_a_gallery():
    assert len(EXAMPLES) >= 12
    assert all((path.parent / "README.txt").is_file() for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, **by_name)
def test_form(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, underline, blank, *rest = ast.get_docstring(tree).splitlines()
    assert len(title) <= 60
    assert underline == "=" * len(title), "the line under the title is as long as the title"
    assert blank == ""
    assert "?" in "\n".join(rest), "the text under the title asks the question that the example answers"
    assert len(source.splitlines()) <= MAX_LINES
    assert source.count("\n# %%\n") >= 3, "text and code in cells"
    assert "plt.show()" in source, "a figure answers the question"
    # sphinx-gallery shows a cell's text only where it is followed by a heading or a paragraph of comments
    for cell in source.split("\n# %%\n")[1:]:
        assert re.match(r"# \S", cell), f"this cell has no text: {cell[:60]!r}"


@pytest.mark.parametrize("path", EXAMPLES, **by_name)
def test_what_it_says_last_follows_the_last_figure(path):
    """A caption, or one more section, stands behind each figure: it says what to see."""
    *_, last = path.read_text(encoding="utf-8").split("plt.show()")
    assert re.search(r"^# \w.*\w", last, re.MULTILINE), "say below the last figure what it shows"


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
