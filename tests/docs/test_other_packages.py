"""The recipes for other packages: the code of doc/tasks/other_packages.rst runs where the package is installed."""

import re
import textwrap
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # other packages warn when they are imported

PAGE = Path(__file__).resolve().parents[2] / "doc" / "tasks" / "other_packages.rst"
BLOCKS = [
    textwrap.dedent(block)
    for block in re.findall(
        r"^\.\. code-block:: python\n\n((?:    .*\n|\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
]


@pytest.fixture(scope="module")
def prepared():
    """The names that the first block of the page defines."""
    names = {}
    exec(BLOCKS[0], names)
    return names


def run(package, prepared):
    """Run the block that imports a package, and return all names."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    names = dict(prepared)
    for block in BLOCKS[1:]:
        if re.search(rf"^(from|import) {package}\b", block, re.MULTILINE):
            exec(block, names)
            return names
    raise AssertionError(f"no block imports {package}")


def test_the_first_block_is_complete(prepared):
    assert list(prepared["model"].predict(["a cat dreams", "it lends"])) == [0, 1]
    assert len(BLOCKS) == 6


def test_lime_names_the_words_of_the_class(prepared):
    weights = run("lime", prepared)["weights"]
    assert weights["milk"] < 0 and weights["cat"] < 0


def test_shap_values_add_up_to_the_prediction(prepared):
    values = run("shap", prepared)["values"]
    total = values.values[0].sum(axis=0) + values.base_values[0]
    np.testing.assert_allclose(total, prepared["model"].predict_proba(["a cat wants milk"])[0], rtol=1e-6)


def test_eli5_explains_the_class(prepared):
    [target] = run("eli5", prepared)["explanation"].targets
    assert {word.feature for word in target.feature_weights.pos + target.feature_weights.neg} >= {"cat", "milk"}


def test_keybert_finds_words_of_the_document(prepared):
    keywords = [word for word, _ in run("keybert", prepared)["keywords"]]
    assert set(keywords) <= {"bank", "opens", "lends", "money"} and len(keywords) == 3


@pytest.mark.slow
def test_bertopic_finds_the_two_topics(prepared):
    prepared = dict(prepared, dense=prepared["SiameseCBOWVectorizer"](50, random_state=0).fit(prepared["corpus"]))
    names = run("bertopic", prepared)
    assert len(names["table"]) == 2
    assert len(names["numbers"]) == len(prepared["text"])
