"""What a user calls things is drawn as text, whatever characters it has, and none of it is lost."""

import warnings

import numpy as np
import pytest

from skembed import MeanEmbeddingVectorizer
from skembed.inspection import SimilarityHeatmapDisplay

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("close_figures")

# A name, and what is shown of it.
NAMES = {
    "$x$": "$x$",
    r"$\frac$": r"$\frac$",
    "from $5 to $9": "from $5 to $9",
    r"\$5": r"\$5",
    "a $": "a $",
    "_first": "_first",
    "__": "__",
    "": "",
    " ": " ",
    r"%&#{}^~_\alpha": r"%&#{}^~_\alpha",
    "two\nlines": "two\nlines",
    "two\r\nmore": "two\nmore",
    "a\ttab": "a tab",
    "nul\x00, bell\x07": "nul\ufffd, bell\ufffd",
    "half \ud83d": "half \ufffd",
    "x" * 1000: "x" * 39 + "…",
    "שלום": "שלום",
    "naïve Ünïcode": "naïve Ünïcode",
}
GIVEN, SHOWN = list(NAMES), list(NAMES.values())
N = len(NAMES)


def check(display, texts, expected):
    """The texts say what is expected, none is mathematics or TeX, and they can be drawn without a warning."""
    texts = list(texts)
    assert [text.get_text() for text in texts] == expected
    assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display.figure_.canvas.draw()
    assert [text.get_text() for text in texts] == expected
    assert not any(text.get_parse_math() for text in texts)


def test_words_of_a_similarity():
    display = SimilarityHeatmapDisplay(np.ones((N, N)), GIVEN, GIVEN).plot(include_values=False)
    check(display, display.ax_.get_yticklabels(), SHOWN)
    check(display, display.ax_.get_xticklabels(), SHOWN)
    emb = MeanEmbeddingVectorizer(word_vectors={"$x$": [1.0], "_y": [2.0]}, analyzer=str.split).fit(["$x$ _y"])
    display = SimilarityHeatmapDisplay.from_estimator(emb, "$x$ _y", "$x$")
    check(display, display.ax_.get_yticklabels(), ["$x$", "_y"])


def test_a_missing_glyph_is_reported_by_matplotlib():
    """A font that has it can be chosen; a picture with holes in its names should not pass for a good one."""
    display = SimilarityHeatmapDisplay([[1.0]], ["日本"], ["a"]).plot()
    with pytest.warns(UserWarning, match="Glyph .* missing from"):
        display.figure_.canvas.draw()
