"""The recipes of the documentation for approximate indexes find what an exact search finds."""

import re
from pathlib import Path

import numpy as np
import pytest

from skembed import nearest

PAGE = Path(__file__).resolve().parents[2] / "doc" / "tasks" / "search.rst"


class Identity:
    """Embeds "row 3" as row 3 of a matrix; row 1 has no known word."""

    rows = np.random.default_rng(0).standard_normal((50, 8)).astype(np.float32)
    rows[1] = 0

    def transform(self, sentences):
        return self.rows[[int(sentence.split()[1]) for sentence in sentences]]


@pytest.mark.parametrize("package", ["faiss", "usearch"])
def test_recipes_of_the_search_page(package):
    pytest.importorskip(package)
    block = PAGE.read_text(encoding="utf-8").split(".. code-block:: python\n")[1].split("\nWhen tf-idf")[0]
    start, *recipes = re.split(r"(?=\n    (?:import faiss|from usearch))", block)
    (recipe,) = (text for text in recipes if package in text)
    code = "\n".join(line[4:] for line in (start + recipe).splitlines()).replace("a kitten", "row 7")
    names = {"dense": Identity(), "sentences": [f"row {i}" for i in range(50)], "np": np}
    exec(code, names)
    found = names["known"][names["found"].ravel()[0]] if package == "faiss" else names["keys"][0]
    assert found == nearest(Identity.rows[[7]], Identity.rows, 1)[0][0, 0] == 7
    assert 1 not in names["known"]
