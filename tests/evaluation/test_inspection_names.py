"""What a user calls things is drawn as text, whatever characters it has, and none of it is lost."""

import re
import warnings

import numpy as np
import pytest

from skembed import MeanEmbeddingVectorizer
from skembed.inspection import EmbeddingMapDisplay, LearningCurveDisplay, SimilarityHeatmapDisplay

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
# One of each kind, where each is drawn in a figure of its own.
ODD = ["$x$", r"$\frac$", "a $", "_first", "", "two\r\nmore", "half \ud83d"]


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


def legend_of(display):
    return np.ravel(display.ax_)[0].get_legend().get_texts()


@pytest.mark.parametrize("name", ODD)
def test_a_map_of_two_labels(name):
    display = EmbeddingMapDisplay(np.eye(2), ["other", name], axis_names=[name, name]).plot()
    check(display, legend_of(display), [NAMES[text] if text == name else text for text in sorted([name, "other"])])
    check(display, [display.ax_.xaxis.label, display.ax_.yaxis.label], [NAMES[name]] * 2)


def test_a_map_of_all_labels():
    display = EmbeddingMapDisplay(np.random.default_rng(0).normal(size=(N, 2)), GIVEN).plot()
    check(display, legend_of(display), [NAMES[name] for name in sorted(NAMES)])
    display.plot(ax=plt.figure(figsize=(9, 9)).subplots())
    numbered = EmbeddingMapDisplay(np.random.default_rng(0).normal(size=(N, 2)), range(N)).plot(target_names=GIVEN)
    check(numbered, legend_of(numbered), SHOWN)


@pytest.mark.parametrize("name", ODD)
def test_curves(name):
    display = LearningCurveDisplay([2.0, 1.0], [2.0, 1.5], name=name).plot()
    shown = NAMES[name] or "loss"
    check(display, legend_of(display), [shown, f"{shown}, held-out text"])
    other = LearningCurveDisplay([1.0], name="other").plot(ax=display.ax_)
    check(other, legend_of(other), [shown, f"{shown}, held-out text", "other"])


def test_mathematics_of_a_curve_of_the_user_stays():
    ax = plt.figure().subplots()
    ax.plot([1, 2], label=r"$\alpha$")
    display = LearningCurveDisplay([2.0, 1.0], name="$x$").plot(ax=ax)
    ours, theirs = legend_of(display)[1], legend_of(display)[0]
    assert (theirs.get_text(), theirs.get_parse_math()) == (r"$\alpha$", True)
    assert (ours.get_text(), ours.get_parse_math()) == ("$x$", False)


@pytest.mark.parametrize("name", ODD)
def test_a_legend_that_the_user_draws_again_shows_the_name(name):
    display = LearningCurveDisplay([2.0, 1.0], name=name).plot()
    (text,) = display.ax_.legend().get_texts()
    display.figure_.canvas.draw()
    shown, is_math = text._preprocess_math(text.get_text())
    assert (shown.lstrip("\u200b"), is_math) == (NAMES[name] or "loss", False)


def test_words_of_a_similarity():
    display = SimilarityHeatmapDisplay(np.ones((N, N)), GIVEN, GIVEN).plot(include_values=False)
    check(display, display.ax_.get_yticklabels(), SHOWN)
    check(display, display.ax_.get_xticklabels(), SHOWN)
    emb = MeanEmbeddingVectorizer(word_vectors={"$x$": [1.0], "_y": [2.0]}, analyzer=str.split).fit(["$x$ _y"])
    display = SimilarityHeatmapDisplay.from_estimator(emb, "$x$ _y", "$x$")
    check(display, display.ax_.get_yticklabels(), ["$x$", "_y"])


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["b", None, "a"], ["a", "b", "no label"]),
        (["b", float("nan"), None], ["b", "no label"]),
        ([2, None, 10], ["2", "10", "no label"]),
        ([None, None, None], ["no label"]),
        (["x", 2, None], ["2", "x", "no label"]),
        ([True, False, None], ["False", "True", "no label"]),
        ([np.datetime64("2020-01-02"), "x", 1.5], ["1.5", "2020-01-02", "x"]),
        ([frozenset("a"), "x", 1], ["1", "frozenset({'a'})", "x"]),
    ],
)
def test_labels_of_several_kinds_and_missing_ones(labels, shown):
    display = EmbeddingMapDisplay([[0, 0], [1, 1], [2, 0]], labels).plot()
    assert [text.get_text() for text in legend_of(display)] == shown
    assert sum(len(points.get_offsets()) for points in display.points_) == 3
    display.figure_.canvas.draw()


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_real_numbers_of_which_one_is_missing(missing):
    display = EmbeddingMapDisplay([[0, 0], [1, 1], [2, 0]], [0.5, missing, 1.5]).plot()
    display.figure_.canvas.draw()
    colors = display.points_[0].get_facecolors()
    assert len(np.unique(colors, axis=0)) == 3
    assert colors[1, 0] == colors[1, 1] == colors[1, 2] > 0.5  # grey, and there


def test_integers_of_which_one_is_missing_have_names():
    display = EmbeddingMapDisplay(np.eye(2), [1, None]).plot(target_names=["zero", "one"])
    assert [text.get_text() for text in legend_of(display)] == ["one", "no label"]


def test_a_missing_glyph_is_reported_by_matplotlib():
    """A font that has it can be chosen; a picture with holes in its names should not pass for a good one."""
    display = LearningCurveDisplay([2.0, 1.0], name="日本").plot()
    with pytest.warns(UserWarning, match="Glyph .* missing from"):
        display.figure_.canvas.draw()


def test_equal_sentences_have_a_map():
    emb = MeanEmbeddingVectorizer(word_vectors={"cat": [1.0, 2.0], "dog": [2.0, 1.0]}).fit(["cat dog"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = EmbeddingMapDisplay.from_estimator(emb, ["cat"] * 4)
    assert re.fullmatch(r"component 1 \(0% of the variance\)", display.ax_.get_xlabel())
    with pytest.raises(ValueError, match="A map needs two sentences or more, got 1"):
        EmbeddingMapDisplay.from_estimator(emb, ["cat"])
