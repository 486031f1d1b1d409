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
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.random_projection import GaussianRandomProjection

from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, Sent2VecVectorizer, Word2VecVectorizer
from skembed.inspection import (
    EmbeddingMapDisplay,
    ErrorAgreementDisplay,
    LearningCurveDisplay,
    NormProfileDisplay,
    SimilarityHeatmapDisplay,
)

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.usefixtures("close_figures")

VECTORS = {"cat": [3.0, 4.0], "dog": [1.0, 0.0], "the": [0.0, 0.5], "unseen": [9.0, 9.0]}
FACTORIES = {
    EmbeddingMapDisplay: lambda emb, **kw: EmbeddingMapDisplay.from_estimator(emb, TEXT, **kw),
    LearningCurveDisplay: lambda emb, **kw: LearningCurveDisplay.from_estimator(emb, **kw),
    NormProfileDisplay: lambda emb, **kw: NormProfileDisplay.from_estimator(emb, **kw),
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
    assert cls is NormProfileDisplay or display.ax_ is ax


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
        NormProfileDisplay.from_estimator(thing)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from skembed.inspection import *\n"
        "try: LearningCurveDisplay([1.0]).plot()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LearningCurveDisplay.plot requires matplotlib" in done.stdout


class TestNormProfile:
    def test_numbers(self, given):
        display = NormProfileDisplay.from_estimator(given, a=0.5)
        assert display.words == ["cat", "dog", "the"]  # "unseen" has no frequency
        np.testing.assert_allclose(display.frequencies, [0.2, 0.2, 0.6])
        np.testing.assert_allclose(display.norms, [5.0, 1.0, 0.5])
        x, y = display.weight_.get_data()
        np.testing.assert_allclose(y, 0.5 / (0.5 + x))
        # "cat" and "dog" share a bin of frequencies, "the" has its own
        np.testing.assert_allclose(display.median_.get_xydata(), [[0.2, 3.0], [0.6, 0.5]])
        np.testing.assert_allclose(display.points_.get_offsets(), np.c_[display.frequencies, display.norms])

    @pytest.mark.filterwarnings("ignore:.*found nothing to predict")
    @pytest.mark.parametrize("cls", [Word2VecVectorizer, Sent2VecVectorizer], **by_name)
    def test_frequencies_are_those_of_the_sif_weights(self, cls):
        """Words that are too rare to learn are words of the text all the same."""
        emb = cls(4, max_iter=1, min_count=2, weighting="sif", random_state=0).fit(["a cat a", "the a rare one", "cat"])
        display = NormProfileDisplay.from_estimator(emb)
        assert dict(zip(display.words, display.frequencies)) == {"a": 3 / 8, "cat": 2 / 8}
        np.testing.assert_allclose(emb.word_weights_, 1e-3 / (1e-3 + display.frequencies), rtol=1e-6)
        np.testing.assert_allclose(display.weight_.get_ydata()[[-1, 0]], emb.word_weights_, rtol=1e-6)

    def test_given_vectors_that_lack_words_of_the_text(self):
        vectors = {"the": [1.0, 0.0], "cat": [0.0, 1.0]}
        emb = MeanEmbeddingVectorizer(word_vectors=vectors, weighting="sif").fit(["the cat zzz yyy", "the the zzz xxx"])
        display = NormProfileDisplay.from_estimator(emb)
        assert dict(zip(display.words, display.frequencies)) == {"the": 3 / 8, "cat": 1 / 8}
        np.testing.assert_allclose(emb.word_weights_, 1e-3 / (1e-3 + display.frequencies), rtol=1e-6)

    def test_marked_words_stand_at_their_place(self, given):
        display = NormProfileDisplay.from_estimator(given, mark=["the"])
        (note,) = display.ax_[0].texts
        assert (note.get_text(), note.xy) == ("the", (pytest.approx(0.6), 0.5))

    def test_two_axes(self, given):
        _, axes = plt.subplots(2)
        assert NormProfileDisplay.from_estimator(given, ax=axes).ax_.tolist() == axes.tolist()

    def test_one_word(self):
        display = NormProfileDisplay([1.0], [2.0]).plot()
        assert display.median_.get_xydata().tolist() == [[1.0, 2.0]]

    @pytest.mark.parametrize(
        ("kw", "message"),
        [
            ({"a": 0}, "a must be positive, got 0"),
            ({"mark": "the"}, r"use \['the'\]"),
            ({"mark": ["bird"]}, "'bird' cannot be marked: it is not among the 3 words"),
            ({"ax": [1, 2, 3]}, "one matplotlib Axes or two, got 3"),
        ],
    )
    def test_bad_options(self, given, kw, message):
        with pytest.raises(ValueError, match=message):
            NormProfileDisplay.from_estimator(given, **kw)

    def test_axes_outside_a_grid_cannot_be_divided(self, given):
        with pytest.raises(ValueError, match="Pass two axes"):
            NormProfileDisplay.from_estimator(given, ax=plt.figure().add_axes([0, 0, 1, 1]))

    def test_bad_numbers(self):
        with pytest.raises(ValueError, match="must have the same length, got"):
            NormProfileDisplay([0.5], [1.0, 2.0])
        with pytest.raises(ValueError, match="divide the counts"):
            NormProfileDisplay([5, 3], [1.0, 2.0])
        nothing_occurs = MeanEmbeddingVectorizer(word_vectors=VECTORS).fit(["the cat"])
        nothing_occurs.word_counts_[:] = 0
        with pytest.raises(ValueError, match="no word to show"):
            NormProfileDisplay.from_estimator(nothing_occurs)


class TestErrorAgreement:
    Y = np.array(["a", "b", "c", "c", "a"])
    PREDICTIONS = {
        "one": np.array(["b", "b", "a", "b", "c"]),  # wrong: 0, 2, 3, 4
        "two": np.array(["b", "b", "b", "b", "a"]),  # wrong: 0, 2, 3
        "right": Y,
    }

    def test_paper_004_counts_the_same_wrong_answers_among_those_that_both_got_wrong(self):
        display = ErrorAgreementDisplay.from_predictions(self.Y, self.PREDICTIONS)
        assert display.names == ["one", "two", "right"]
        assert display.n_errors.tolist() == [4, 3, 0]
        assert display.n_compared.tolist() == [[4, 3, 0], [3, 3, 0], [0, 0, 0]]
        assert display.n_shared.tolist() == [[4, 2, 0], [2, 3, 0], [0, 0, 0]]
        assert [text.get_text() for text in display.text_[0]] == ["", "2/3", "0/0"]
        shown = display.im_.get_array()
        assert shown[0, 1] == pytest.approx(2 / 3)
        assert shown.mask.tolist() == [[True, False, True], [False, True, True], [True, True, True]]
        assert display.ax_.get_yticklabels()[0].get_text() == "one\n4 errors"

    def test_from_errors_counts_samples_that_both_and_either_got_wrong(self):
        errors = {name: answers != self.Y for name, answers in self.PREDICTIONS.items()}
        display = ErrorAgreementDisplay.from_errors(errors)
        assert display.n_shared[0].tolist() == [4, 3, 0]
        assert display.n_compared[0].tolist() == [4, 4, 4]
        assert display.n_errors.tolist() == [4, 3, 0]

    def test_names(self):
        rows = list(self.PREDICTIONS.values())
        assert ErrorAgreementDisplay.from_predictions(self.Y, rows).names == ["model 1", "model 2", "model 3"]
        assert ErrorAgreementDisplay.from_predictions(self.Y, rows, ["x", "y", "z"]).names == ["x", "y", "z"]

    def test_from_estimators_predicts(self):
        X = np.array([[0.0], [1.0], [2.0], [3.0]])
        models = {
            "one step": KNeighborsClassifier(1).fit(X, [0, 1, 2, 0]),
            "two steps": make_pipeline(FunctionTransformer(), KNeighborsClassifier(1)).fit(X, [0, 1, 2, 1]),
        }
        display = ErrorAgreementDisplay.from_estimators(models, X, [0, 2, 0, 2])
        assert display.n_errors.tolist() == [3, 3]
        assert display.text_[0, 1].get_text() == "2/3"

    def test_values_and_scale_can_be_left_out(self):
        display = ErrorAgreementDisplay.from_predictions(self.Y, self.PREDICTIONS)
        display.plot(include_values=False, colorbar=False)
        assert display.text_ is None
        assert len(display.figure_.axes) == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([[True, False]],), "at least two models, got 1"),
            (([[1, 0], [0, 1]],), "must hold truth values"),
            (([[True], [False]], ["only one"]), "1 names for 2 models"),
            (({"a": [True], "b": [False]}, ["x", "y"]), "names must be None"),
            (([[True], [False, True]],), "must have the same length, got"),
        ],
    )
    def test_bad_input(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            ErrorAgreementDisplay.from_errors(*arguments)

    def test_shapes_are_checked(self):
        with pytest.raises(ValueError, match=r"n_shared must have shape \(2, 2\)"):
            ErrorAgreementDisplay(np.zeros((3, 3)), np.zeros((2, 2)), n_errors=[0, 0], names=["a", "b"])
        with pytest.raises(ValueError, match="must have the same length, got"):
            ErrorAgreementDisplay.from_predictions([0, 1], [[0, 1], [0, 1, 1]])


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
