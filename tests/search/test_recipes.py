"""The recipe of the documentation for another program finds what an exact search finds."""

from pathlib import Path

import numpy as np
import pytest

from skembed.search import nearest

PAGE = Path(__file__).resolve().parents[2] / "doc" / "tasks" / "search.rst"


class Identity:
    """Embeds "row 3" as row 3 of a matrix; row 1 has no known word."""

    rows = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    rows[1] = 0

    def transform(self, sentences):
        return self.rows[[int(sentence.split()[1]) for sentence in sentences]]


def test_recipe_with_faiss():
    pytest.importorskip("faiss")
    block = PAGE.read_text(encoding="utf-8").split(".. code-block:: python\n")[2].split("\nWhen tf-idf")[0]
    code = "\n".join(line[4:] for line in block.splitlines()).replace("a kitten", "row 7")
    names = {"dense": Identity(), "sentences": [f"row {i}" for i in range(50)], "np": np}
    exec(code, names)
    assert names["known"][names["found"].ravel()[0]] == nearest(Identity.rows[[7]], Identity.rows, 1)[0][0, 0] == 7
    assert 1 not in names["known"]
