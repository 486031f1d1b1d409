"""Names that `MeanEmbeddingVectorizer` had before word2vec and joining became estimators: same bits, and a warning."""

import copy
import pickle
import re
import warnings

import pytest
from estimators import GIVEN, GROUPS, TEXT, bits
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, MetaEmbeddingVectorizer, Word2VecVectorizer

pytestmark = pytest.mark.filterwarnings(
    "ignore:Only .* of the words of the text have a vector", "ignore:n_components=6 is not used"
)
SMALL = {"n_components": 6, "min_count": 1, "random_state": 0}


def models():
    return [CBOSVectorizer(6, min_count=1, max_iter=1), GIVEN]


def learner(**options):
    return Word2VecVectorizer(6, min_count=1, **options)


def rows(estimator):
    return bits(estimator.fit(TEXT, groups=GROUPS).transform([*TEXT, "quagga in 1914"]))


# Old parameters, the ones that replace them, and what the warning says.
CASES = [
    (
        {"window": 2, "algorithm": "cbow"},
        {"word_vectors": learner(algorithm="cbow", window=2)},
        "algorithm, window .*Write "
        "word_vectors=Word2VecVectorizer(algorithm='cbow', min_count=1, n_components=6, window=2).",
    ),
    (
        {"max_iter": 2, "negative": 3, "max_features": 9},
        {"word_vectors": learner(max_iter=2, negative=3, max_features=9)},
        "negative, max_iter .*max_features=9",
    ),
    ({"warm_start": False}, {}, "warm_start .*Write word_vectors=Word2VecVectorizer("),
    ({"window": 2, "word_vectors": GIVEN}, {"word_vectors": GIVEN}, "window .*Write nothing: it applies only where"),
    ({"numbers": "hash"}, {"hash_numbers": True}, "numbers .*Write hash_numbers=True."),
    ({"numbers": "word"}, {}, "numbers .*Write hash_numbers=False."),
    ({"subwords": 0.4}, {"spelling_weight": 0.4}, "subwords .*Write spelling_weight=0.4."),
    (
        {"whiten": True, "word_vectors": models()},
        {"word_vectors": MetaEmbeddingVectorizer(models(), 6, whiten=True)},
        "whiten .*Write word_vectors=MetaEmbeddingVectorizer([...], n_components=6, whiten=True).",
    ),
    ({"whiten": True, "word_vectors": GIVEN}, {"word_vectors": GIVEN}, "whiten .*Write nothing: it applies only"),
]


def fit_and_see(estimator, message):
    """The rows, and that fit warned of this once, at the line of the user."""
    with pytest.warns(FutureWarning) as caught:
        found = rows(estimator)
    caught = [one for one in caught if one.category is FutureWarning]
    pattern = ".*".join(map(re.escape, message.split(".*")))
    assert len(caught) == 1 and re.search(f"^The parameter {pattern}", str(caught[0].message)), caught[0].message
    assert caught[0].filename == __file__
    return found


@pytest.mark.parametrize(
    ("old", "new", "message"), CASES, ids=lambda value: "" if isinstance(value, str) else str(list(value))
)
def test_old_parameters_mean_the_new_ones(old, new, message):
    found = fit_and_see(MeanEmbeddingVectorizer(**SMALL, **old), message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        assert found == rows(MeanEmbeddingVectorizer(**SMALL, **new))


@pytest.mark.parametrize(("old", "new", "message"), CASES[:1] + CASES[4:7:2])
def test_old_parameters_are_parameters(old, new, message):
    expected = rows(MeanEmbeddingVectorizer(**SMALL, **new))
    estimator = MeanEmbeddingVectorizer(**SMALL, **old)
    assert old.items() <= estimator.get_params().items()
    assert not old.keys() & MeanEmbeddingVectorizer(**SMALL).get_params().keys()
    for other in (clone, copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))):
        assert fit_and_see(other(estimator), message) == expected
    changed = MeanEmbeddingVectorizer(**SMALL)
    assert changed.set_params(**old) is changed and fit_and_see(changed, message) == expected
    for name, value in old.items():
        assert f"{name}={value!r}" in repr(estimator) and name in estimator._repr_html_()


@pytest.mark.filterwarnings("ignore:The parameter window:FutureWarning")
def test_grids_of_old_names():
    pipeline = make_pipeline(MeanEmbeddingVectorizer(**SMALL), "passthrough")
    grid = {"meanembeddingvectorizer__subwords": [0.0, 0.4], "meanembeddingvectorizer__window": [2]}
    search = GridSearchCV(pipeline, grid, scoring=lambda *_: 0.0, cv=2, error_score="raise")
    with pytest.warns(FutureWarning, match="parameter subwords"):
        search.fit(TEXT)
    assert search.cv_results_["params"] == list(ParameterGrid(grid))


def test_what_was_never_a_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'windows'"):
        MeanEmbeddingVectorizer(windows=2)
    with pytest.raises(ValueError, match="Invalid parameter 'windows'"):
        MeanEmbeddingVectorizer().set_params(windows=2)
    with pytest.raises(AttributeError, match="no attribute 'loss'"):
        _ = MeanEmbeddingVectorizer(**SMALL).fit(TEXT).loss


@pytest.mark.parametrize(
    "old", [{"window": 0}, {"numbers": "x"}, {"subwords": 2.0}, {"whiten": 3, "word_vectors": [{}]}]
)
def test_wrong_values(old):
    name = {"subwords": "spelling_weight"}.get(next(iter(old)), next(iter(old)))
    estimator = MeanEmbeddingVectorizer(**SMALL, **old)
    with warnings.catch_warnings(), pytest.raises(ValueError, match=f"'{name}' parameter of"):
        warnings.simplefilter("ignore", FutureWarning)
        estimator.fit(TEXT)
    assert not hasattr(estimator, "vocabulary_")


# -- learning on -------------------------------------------------------------------------------------------------------

LEARNING_ON = "learning by {} .*Write Word2VecVectorizer.*{}.X.*, then MeanEmbeddingVectorizer.word_vectors="


def test_partial_fit_learns():
    half = len(TEXT) // 2
    by_itself = learner(random_state=0).partial_fit(TEXT[:half])
    mean = MeanEmbeddingVectorizer(**SMALL, n_removed_components=1)
    with pytest.warns(FutureWarning, match=LEARNING_ON.format("partial_fit", "partial_fit")):
        mean.partial_fit(TEXT[:half])
    components = mean.components_
    assert bits(mean.word_vectors_) == bits(by_itself.word_vectors_)
    with pytest.warns(FutureWarning, match=LEARNING_ON.format("partial_fit", "partial_fit")):
        mean.partial_fit(TEXT[half:])
    by_itself.partial_fit(TEXT[half:], new_words="ignore")
    assert bits(mean.word_vectors_) == bits(by_itself.word_vectors_)
    assert bits(mean.components_) != bits(components)
    assert mean.vocabulary_ == by_itself.vocabulary_ and mean.word2vec_.n_iter_ == 2


def test_advice_to_learn_on_has_the_options_of_the_text():
    mean = MeanEmbeddingVectorizer(**SMALL, stop_words=["the"], lowercase=False)
    for text in (TEXT[:45], TEXT[45:]):
        with pytest.warns(FutureWarning, match=LEARNING_ON.format("partial_fit", "partial_fit")) as caught:
            mean.partial_fit(text)
        advised = learner_and_call(caught)[0]
        assert advised.get_params() == learner(stop_words=["the"], lowercase=False, random_state=0).get_params()
    assert advised.partial_fit(TEXT[:45]).vocabulary_ == mean.vocabulary_


def learner_and_call(caught):
    """The estimator that the advice names, and what is to be called."""
    found = re.search(r"Write (Word2VecVectorizer\(.*\))(\.(?:partial_)?fit\(.*\)), then", str(caught[0].message))
    return eval(found[1], {"Word2VecVectorizer": Word2VecVectorizer}), found[2]


@pytest.mark.parametrize(("method", "options"), [("partial_fit", {}), ("fit", {"warm_start": True})])
@pytest.mark.filterwarnings("ignore:.*parameter warm_start:FutureWarning")
def test_the_advised_calls_have_the_same_result(method, options):
    """Also where a later text has new words, which the old name ignored."""
    first, later = TEXT[:45], [*TEXT[45:], *["A quagga in the rain."] * 5]
    mean = MeanEmbeddingVectorizer(**SMALL, **options)
    advised = None
    for text in (first, later):
        with pytest.warns(FutureWarning) as caught:
            getattr(mean, method)(text)
        named, call = learner_and_call(caught)
        advised = advised or named
        eval("advised" + call, {"advised": advised, "X": text})
    assert "quagga" not in mean.vocabulary_
    assert mean.vocabulary_ == advised.vocabulary_ and bits(mean.word_vectors_) == bits(advised.word_vectors_)
    again = MeanEmbeddingVectorizer(word_vectors=advised).fit(first)
    assert bits(again.transform(TEXT)) == bits(mean.transform(TEXT))


def test_warning_of_nothing_to_predict_names_the_line_of_the_user():
    with pytest.warns(UserWarning, match="found nothing to predict") as caught:
        MeanEmbeddingVectorizer(**SMALL).fit(["one"])
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.filterwarnings("ignore:.*parameter warm_start:FutureWarning")
def test_warm_start_goes_on():
    mean = MeanEmbeddingVectorizer(**SMALL, warm_start=True, weighting="sif").fit(TEXT)
    weights = bits(mean.word_weights_)
    with pytest.warns(FutureWarning, match=LEARNING_ON.format("fit", "fit")):
        mean.fit(TEXT[30:])
    by_itself = learner(random_state=0, warm_start=True).fit(TEXT).fit(TEXT[30:])
    assert bits(mean.word_vectors_) == bits(by_itself.word_vectors_)
    assert bits(mean.word_weights_) == weights
    failed = copy.copy(mean)
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match="n_components=5 differs"):
        failed.set_params(n_components=5).fit(TEXT)
    assert bits(failed.word_vectors_) == bits(mean.word_vectors_)


@pytest.mark.filterwarnings("ignore:.*is deprecated:FutureWarning")
def test_given_vectors_cannot_be_trained_on():
    mean = MeanEmbeddingVectorizer(**SMALL, word_vectors=GIVEN).fit(TEXT).set_params(word_vectors=None)
    before = bits(mean)
    with pytest.raises(ValueError, match="did not learn"):
        mean.partial_fit(TEXT)
    assert bits(mean) == before
    assert rows(mean.set_params(warm_start=True)) == rows(MeanEmbeddingVectorizer(**SMALL))


def test_advice_for_warm_start_learns_on():
    """A source with warm_start would be cloned, and forget."""
    with pytest.warns(FutureWarning, match=r"parameter warm_start .*warm_start=True\)\.fit\(X\), then MeanEmb"):
        MeanEmbeddingVectorizer(**SMALL, warm_start=True).fit(TEXT)


@pytest.mark.parametrize(
    "options", [{"subwords": 0.4, "spelling_weight": 0.5}, {"numbers": "word", "hash_numbers": True}]
)
def test_old_and_new_name_together(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is the old name of .*Pass only"):
        MeanEmbeddingVectorizer(word_vectors=GIVEN, **options).fit(TEXT)


# -- what the learner has ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["loss_curve_", "validation_loss_curve_", "n_iter_", "target_vectors_"])
def test_attributes_of_the_learner(name):
    mean = MeanEmbeddingVectorizer(**SMALL).fit(TEXT)
    for model in (mean, pickle.loads(pickle.dumps(mean))):
        with pytest.warns(FutureWarning, match=rf"attribute {name} .*Write word2vec_\.{name}\."):
            assert bits(getattr(model, name)) == bits(getattr(mean.word2vec_, name))
    given = MeanEmbeddingVectorizer(word_vectors=GIVEN)
    assert not hasattr(given, name) and not hasattr(given.fit(TEXT), name)


def test_estimate_of_the_memory():
    with pytest.warns(FutureWarning, match=r"Write Word2VecVectorizer\(min_count=1, n_components=6\).estimate_memory"):
        assert MeanEmbeddingVectorizer(**SMALL).estimate_memory(TEXT) == learner().estimate_memory(TEXT)
    with pytest.raises(ValueError, match="nothing is learned"):
        MeanEmbeddingVectorizer(word_vectors=GIVEN).estimate_memory(TEXT)
