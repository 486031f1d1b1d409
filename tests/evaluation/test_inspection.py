"""Displays: what they show is what the model holds, and they draw as scikit-learn's do."""

import subprocess
import sys

import numpy as np
import pytest
from estimators import GROUPS, TEXT
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.random_projection import GaussianRandomProjection

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer
from skembed.inspection import EmbeddingMapDisplay, LearningCurveDisplay, SimilarityHeatmapDisplay

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("close_figures")

VECTORS = {"cat": [3.0, 4.0], "dog": [1.0, 0.0], "the": [0.0, 0.5], "unseen": [9.0, 9.0]}
FACTORIES = {
    EmbeddingMapDisplay: lambda emb, **kw: EmbeddingMapDisplay.from_estimator(emb, TEXT, **kw),
    LearningCurveDisplay: lambda emb, **kw: LearningCurveDisplay.from_estimator(emb, **kw),
    SimilarityHeatmapDisplay: lambda emb, **kw: SimilarityHeatmapDisplay.from_estimator(emb, TEXT[0], TEXT[1], **kw),
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


@pytest.mark.parametrize("cls", [cls for cls in FACTORIES if cls is not EmbeddingMapDisplay], **by_name)
def test_an_estimator_without_what_is_shown_is_refused(cls):
    bags = BOWPCA(n_components=None).fit(TEXT)
    with pytest.raises(ValueError, match=rf"{cls.__name__}.from_estimator needs .* BOWPCA has none"):
        FACTORIES[cls](bags)


@pytest.mark.parametrize("thing", [CBOSVectorizer, "model"])
def test_what_is_no_estimator_is_refused(thing):
    with pytest.raises(TypeError, match="needs a fitted estimator, got"):
        LearningCurveDisplay.from_estimator(thing)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from skembed.inspection import *\n"
        "try: LearningCurveDisplay([1.0]).plot()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LearningCurveDisplay.plot requires matplotlib" in done.stdout


class TestLearningCurve:
    def test_curves_are_those_of_the_model(self):
        emb = CBOSVectorizer(8, max_iter=3, min_count=1, early_stopping=True, random_state=0).fit(TEXT, groups=GROUPS)
        display = LearningCurveDisplay.from_estimator(emb)
        training, held_out = display.lines_
        np.testing.assert_array_equal(training.get_ydata(), emb.loss_curve_)
        np.testing.assert_array_equal(held_out.get_ydata(), emb.validation_loss_curve_)
        assert training.get_xdata().tolist() == list(range(1, emb.n_iter_ + 1))
        labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert labels == ["CBOSVectorizer", "CBOSVectorizer, held-out text"]
        assert training.get_color() == held_out.get_color() != ""

    def test_two_models_on_one_pair_of_axes(self, learned):
        first = LearningCurveDisplay.from_estimator(learned, name="first")
        second = LearningCurveDisplay.from_estimator(learned, name="second", ax=first.ax_)
        assert first.lines_[0].get_color() != second.lines_[0].get_color()
        assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["first", "second"]

    def test_given_vectors_have_no_curve(self, given):
        with pytest.raises(ValueError, match="MeanEmbeddingVectorizer has none"):
            LearningCurveDisplay.from_estimator(given)

    def test_curves_of_two_fits_are_refused(self):
        with pytest.raises(ValueError, match="validation_loss has 1 passes and train_loss 2"):
            LearningCurveDisplay([2.0, 1.0], [2.0])


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


class TestEmbeddingMap:
    def test_coordinates_are_the_principal_components(self, learned):
        display = EmbeddingMapDisplay.from_estimator(learned, TEXT)
        np.testing.assert_allclose(display.coordinates, PCA(2).fit_transform(learned.transform(TEXT)))
        assert display.ax_.get_xlabel().startswith("component 1 (")

    def test_another_reducer_is_cloned(self, learned):
        reducer = GaussianRandomProjection(2, random_state=0)
        display = EmbeddingMapDisplay.from_estimator(learned, TEXT[:20], reducer=reducer)
        assert display.ax_.get_ylabel() == "GaussianRandomProjection 2"
        assert not hasattr(reducer, "components_")

    def test_sparse_bags_of_words(self):
        display = EmbeddingMapDisplay.from_estimator(BOWPCA(n_components=None).fit(TEXT), TEXT)
        assert display.coordinates.shape == (len(TEXT), 2)

    def test_each_label_has_its_colour_mark_and_name(self):
        labels = np.arange(56) % 28
        display = EmbeddingMapDisplay(np.c_[np.arange(56), np.arange(56)], labels).plot(target_names=list("x" * 28))
        assert len(display.points_) == 28
        looks = {
            (tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes()) for points in display.points_
        }
        assert len(looks) == 28
        assert display.points_[3].get_offsets().tolist() == [[3, 3], [31, 31]]

    def test_names_of_labels(self):
        display = EmbeddingMapDisplay(np.zeros((2, 2)), [2, 0]).plot(target_names=["zero", "one", "two"])
        assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["zero", "two"]

    def test_real_numbers_become_a_scale(self):
        display = EmbeddingMapDisplay(np.zeros((3, 2)), [0.5, 1.5, 2.5]).plot()
        (points,) = display.points_
        assert points.get_array().tolist() == [0.5, 1.5, 2.5]
        assert len(display.figure_.axes) == 2

    def test_bad_input(self, learned):
        with pytest.raises(ValueError, match=r"shape \(n_sentences, 2\), got \(3, 3\)"):
            EmbeddingMapDisplay(np.zeros((3, 3)))
        with pytest.raises(ValueError, match="sentence 1 are not finite"):
            EmbeddingMapDisplay([[0, 0], [np.nan, 0]])
        with pytest.raises(ValueError, match="must have the same length, got"):
            EmbeddingMapDisplay(np.zeros((3, 2)), [1])
        with pytest.raises(ValueError, match="needs labels that are integers"):
            EmbeddingMapDisplay(np.zeros((1, 2)), ["a"]).plot(target_names=["a"])
        with pytest.raises(ValueError, match="has 1 names, but labels go from 0 to 1"):
            EmbeddingMapDisplay(np.zeros((2, 2)), [0, 1]).plot(target_names=["a"])
        classifier = make_pipeline(learned, KNeighborsClassifier()).fit(TEXT, GROUPS)
        with pytest.raises(ValueError, match="all steps but the last"):
            EmbeddingMapDisplay.from_estimator(classifier, TEXT)
