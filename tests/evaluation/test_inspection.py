"""The display: what it shows is what the model holds, and it draws as scikit-learn's do."""

import subprocess
import sys

import numpy as np
import pytest
from estimators import TEXT
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer
from skembed.inspection import SimilarityHeatmapDisplay

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("close_figures")

VECTORS = {"cat": [3.0, 4.0], "dog": [1.0, 0.0], "the": [0.0, 0.5], "unseen": [9.0, 9.0]}
FACTORIES = {
    SimilarityHeatmapDisplay: lambda emb, **kw: SimilarityHeatmapDisplay.from_estimator(emb, TEXT[0], TEXT[1], **kw)
}
by_name = {"ids": lambda cls: cls.__name__}


@pytest.fixture(scope="module")
def learned():
    return Sent2VecVectorizer(8, max_iter=2, min_count=1, random_state=0).fit(TEXT)


@pytest.fixture
def given():
    return MeanEmbeddingVectorizer(word_vectors=VECTORS, unknown="zero").fit(["the cat", "the dog", "the"])


def drawn(display):
    """All pixels of the figure."""
    display.figure_.canvas.draw()
    return np.asarray(display.figure_.canvas.buffer_rgba()).copy()


@pytest.mark.parametrize("cls", FACTORIES, **by_name)
@pytest.mark.parametrize("wrap", [lambda emb: emb, FrozenEstimator, lambda emb: make_pipeline(emb, Normalizer())])
def test_from_estimator_draws_itself(cls, wrap, learned):
    display = FACTORIES[cls](wrap(learned))
    assert isinstance(display, cls)
    for axis in np.ravel(display.ax_):
        assert axis.figure is display.figure_
        assert axis.get_xlabel() and axis.get_ylabel()
    assert np.ptp(drawn(display)) > 0


@pytest.mark.parametrize("cls", FACTORIES, **by_name)
def test_plot_again_gives_the_same_picture_and_itself(cls, learned):
    display = FACTORIES[cls](learned)
    first = drawn(display)
    old_figure = display.figure_
    assert display.plot() is display
    assert display.figure_ is not old_figure
    np.testing.assert_array_equal(drawn(display), first)


@pytest.mark.parametrize("cls", FACTORIES, **by_name)
def test_given_axes_are_used(cls, learned):
    figure, ax = plt.subplots()
    display = FACTORIES[cls](learned, ax=ax)
    assert display.figure_ is figure
    assert display.ax_ is ax


@pytest.mark.parametrize("cls", FACTORIES, **by_name)
def test_an_unfitted_estimator_is_refused(cls):
    with pytest.raises(NotFittedError, match="not fitted"):
        FACTORIES[cls](CBOSVectorizer())


@pytest.mark.parametrize("cls", FACTORIES, **by_name)
def test_an_estimator_without_what_is_shown_is_refused(cls):
    bags = BOWPCA(n_components=None).fit(TEXT)
    with pytest.raises(ValueError, match=rf"{cls.__name__}.from_estimator needs .* BOWPCA has none"):
        FACTORIES[cls](bags)


@pytest.mark.parametrize("thing", [CBOSVectorizer, "model"])
def test_what_is_no_estimator_is_refused(thing):
    with pytest.raises(TypeError, match="needs a fitted estimator, got"):
        SimilarityHeatmapDisplay.from_estimator(thing, "a", "b")


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from skembed.inspection import *\n"
        "try: SimilarityHeatmapDisplay([[1.0]], ['a'], ['b']).plot()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "SimilarityHeatmapDisplay.plot requires matplotlib" in done.stdout


class TestSimilarityHeatmap:
    def test_cells_are_the_explanation(self, given):
        display = SimilarityHeatmapDisplay.from_estimator(given, "the cat", "dog, dog!")
        explanation = given.explain("the cat", "dog, dog!")
        assert display.similarity == pytest.approx(given.similarity("the cat", "dog, dog!"))
        np.testing.assert_array_equal(display.im_.get_array(), explanation.contributions)
        assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["the", "cat"]
        assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["dog", "dog"]
        assert display.text_[1, 0].get_text() == f"{explanation.contributions[1, 0]:.2f}"

    def test_zero_has_the_middle_colour(self):
        display = SimilarityHeatmapDisplay([[0.5, -0.1]], ["a"], ["b", "c"]).plot()
        assert display.im_.get_clim() == (-0.5, 0.5)
        assert SimilarityHeatmapDisplay([[0.0]], ["a"], ["b"]).plot().im_.get_clim() == (-1.0, 1.0)

    def test_text_can_be_read_on_its_colour(self):
        display = SimilarityHeatmapDisplay([[0.5, 0.0]], ["a"], ["b", "c"]).plot()
        assert [text.get_color() for text in display.text_[0]] == ["white", "black"]

    def test_no_minus_zero(self):
        assert SimilarityHeatmapDisplay([[-0.001]], ["a"], ["b"]).plot().text_[0, 0].get_text() == "0.00"

    @pytest.mark.parametrize(
        ("values_format", "expected"),
        [
            ("+.2f", ["+0.50", "+0.00", "-0.10"]),
            (" .1f", [" 0.5", " 0.0", "-0.1"]),
            (".0%", ["50%", "0%", "-10%"]),
            ("=+6.2f", ["+ 0.50", "+ 0.00", "- 0.10"]),
            (".1e", ["5.0e-01", "-1.0e-03", "-1.0e-01"]),
        ],
    )
    def test_any_format_of_numbers(self, values_format, expected):
        display = SimilarityHeatmapDisplay([[0.5, -0.001, -0.1, -0.0]], ["a"], ["b", "c", "d", "e"])
        display.plot(values_format=values_format)
        texts = [text.get_text() for text in display.text_[0]]
        assert texts == [*expected, format(0.0, values_format)]

    def test_a_sentence_without_words_is_refused(self, given):
        with pytest.raises(ValueError, match="The second sentence has no word that the model knows"):
            SimilarityHeatmapDisplay.from_estimator(given, "cat", "zebra")

    def test_shape_is_checked(self):
        with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
            SimilarityHeatmapDisplay([[0.0]], ["a"], ["b", "c"])
