"""Classification tasks: what is learned where, accuracy and F1 by hand, agreement in errors, the adapter for mteb."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import Bunch
from threadpoolctl import threadpool_info, threadpool_limits

from skembed import BOWPCA, CBOSVectorizer
from skembed.datasets import load_docstrings, load_paraphrase_groups
from skembed.evaluation import (
    MTEBEncoder,
    _classification,  # noqa: I001
    error_agreement,
    nested_classification,
    pair_classification,
    semantic_classification,
    split_classification,
)

COLOURS, ANIMALS = "red green blue pink grey".split(), "cat dog cow pig hen".split()


def sentences(n, seed):
    """Sentences of two kinds, told apart by their words; each has a number that no other has."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    data = [f"{generator.choice((COLOURS, ANIMALS)[label])} the w{seed}w{i}" for i, label in enumerate(y)]
    return Bunch(data=data, target=y)


class Recorder(TransformerMixin, BaseEstimator):
    """Remembers what clones of it learned from and embedded."""

    log: list = []  # shared by all clones on purpose

    def fit(self, X, y=None):
        self.vectorizer_ = CountVectorizer().fit(X)
        self.log.append(("fit", frozenset(X)))
        return self

    def transform(self, X):
        self.log.append(("transform", frozenset(X)))
        return self.vectorizer_.transform(X)


@pytest.fixture
def recorder():
    Recorder.log.clear()
    return Recorder()


def folds_of(log):
    """Yield (learned from, embedded for the test) of each fold."""
    for i, (action, seen) in enumerate(log):
        if action == "fit":
            later = [s for a, s in log[i + 1 :] if a == "transform"]
            yield seen, next(s for s in later if not s & seen)


@pytest.mark.parametrize("classify", [semantic_classification, lambda m, X, y: nested_classification(m, X, y, cv=3)])
def test_a_fold_learns_from_its_training_sentences_alone(recorder, classify):
    data = sentences(60, 0)
    classify(recorder, data.data, data.target)
    folds = list(folds_of(recorder.log))
    assert len(folds) == 3
    for learned, tested in folds:
        assert learned | tested == set(data.data)
    assert set().union(*(tested for _, tested in folds)) == set(data.data)
    assert not hasattr(recorder, "vectorizer_")  # a clone learned, not the user's estimator


def test_a_split_learns_from_its_training_part_alone(recorder):
    train, test = sentences(40, 0), sentences(20, 1)
    split_classification(recorder, train, test, inner_cv=2)
    pairs = [Bunch(data=list(zip(s.data[::2], s.data[1::2])), target=s.target[::2]) for s in (train, test)]
    pair_classification(recorder, *pairs, inner_cv=2)
    learned = [seen for action, seen in recorder.log if action == "fit"]
    assert learned == [set(train.data), set(train.data)]


def test_a_fitted_model_is_used_as_it_is(recorder):
    data = sentences(60, 0)
    recorder.fit(["cat dog cow pig hen"])
    result = semantic_classification(recorder, data.data, data.target)
    assert [action for action, _ in recorder.log] == ["fit", "transform"]
    assert result.accuracy == 1.0


def test_anything_with_transform_is_a_model():
    """A class of the user's, with a fit of its own kind, is taken as it is."""
    vectorizer = CountVectorizer().fit([*COLOURS, *ANIMALS])
    model = SimpleNamespace(fit=None, transform=vectorizer.transform)
    data = sentences(90, 0)
    assert semantic_classification(model, data.data, data.target).accuracy == 1


def test_semantic_classification_is_cross_validation():
    X, y = load_paraphrase_groups(return_X_y=True)
    bag = BOWPCA(n_components=None)
    classifier = LinearSVC(class_weight="balanced", random_state=0)
    folds = StratifiedKFold(3)
    result = semantic_classification(bag, X, y)
    np.testing.assert_allclose(result.fold_accuracies, cross_val_score(make_pipeline(bag, classifier), X, y, cv=folds))
    assert result.accuracy == pytest.approx(result.fold_accuracies.mean())
    np.testing.assert_array_equal(result.errors, result.predictions != y)
    assert result.errors.mean() == pytest.approx(1 - result.accuracy)  # folds of one size
    shuffled = StratifiedKFold(3, shuffle=True, random_state=0)
    other = semantic_classification(bag, X, y, classifier=DummyClassifier(), cv=shuffled)
    assert other.accuracy < 0.05 < result.accuracy


@pytest.mark.parametrize("n_labels", [50, 70])
@pytest.mark.parametrize("model", [BOWPCA(n_components=None), CountVectorizer()], ids=["unfitted", "fitted"])
@pytest.mark.parametrize("classify", [semantic_classification, nested_classification])
def test_labels_are_as_many_as_sentences(classify, model, n_labels):
    if isinstance(model, CountVectorizer):
        model.fit([*COLOURS, *ANIMALS])
    with pytest.raises(ValueError, match=rf"X and y must have the same length, got 60 and {n_labels}"):
        classify(model, sentences(60, 0).data, np.arange(n_labels) % 2)


@pytest.mark.parametrize("wrong", ["train", "test"])
@pytest.mark.parametrize("classify", [split_classification, pair_classification])
def test_labels_of_a_split_are_as_many_as_its_rows(classify, wrong):
    data = sentences(24, 0)
    if classify is pair_classification:
        data.data = [(s, s) for s in data.data]
    parts = {"train": data, "test": data} | {wrong: Bunch(data=data.data, target=data.target[:-3])}
    with pytest.raises(ValueError, match=r"data and target of \w+ must have the same length, got 24 and 21"):
        classify(BOWPCA(n_components=None), **parts, inner_cv=2)


@pytest.mark.parametrize("cv", [np.int64(3), list(StratifiedKFold(3).split(np.zeros(60), sentences(60, 0).target))])
def test_folds_in_every_form(cv):
    data = sentences(60, 0)
    model = BOWPCA(n_components=None)
    expected = semantic_classification(model, data.data, data.target, cv=3)
    result = semantic_classification(model, data.data, data.target, cv=cv)
    np.testing.assert_array_equal(result.fold_accuracies, expected.fold_accuracies)
    np.testing.assert_array_equal(result.predictions, expected.predictions)


def test_no_number_of_folds_is_that_of_scikit_learn():
    data = sentences(60, 0)
    result = semantic_classification(BOWPCA(n_components=None), data.data, data.target, cv=None)
    assert len(result.fold_accuracies) == 5


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (StratifiedShuffleSplit(1, test_size=0.25, random_state=0), "Of 60 sentences 45 are in none and 0 in more"),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=2), "0 are in none and 60 in more than one"),
        ([], "60 are in none"),
    ],
)
def test_each_sentence_is_in_one_test_fold(cv, message):
    data = sentences(60, 0)
    with pytest.raises(ValueError, match=message):
        semantic_classification(BOWPCA(n_components=None), data.data, data.target, cv=cv)


def test_sentences_from_any_iterable(monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(_classification, "C_GRID", (1.0,))
    data = sentences(60, 0)
    series = pandas.Series(data.data, index=np.arange(60)[::-1] + 7)
    labels = pandas.Series(data.target, index=series.index)
    for classify in (semantic_classification, nested_classification):
        for model in (BOWPCA(n_components=None), BOWPCA(n_components=None).fit(data.data)):
            expected = classify(model, data.data, data.target, cv=3)
            for X in (series, (s for s in data.data)):
                np.testing.assert_array_equal(classify(model, X, labels, cv=3).predictions, expected.predictions)
    nothing = CountVectorizer().fit(["red"])
    nothing.transform = lambda X: np.full((len(X), 1), np.nan)
    with pytest.raises(ValueError, match="NaN or infinity for"):
        semantic_classification(nothing, series, labels)


def test_a_learned_embedding_tells_groups_apart():
    text = load_docstrings(packages=["numpy"])
    X, y = load_paraphrase_groups(return_X_y=True)
    model = CBOSVectorizer(20, max_iter=2, random_state=0).fit(text.data[:3000], groups=text.groups[:3000])
    ours = semantic_classification(model, X, y)
    frozen = make_pipeline(FrozenEstimator(model), LinearSVC(class_weight="balanced", random_state=0))
    np.testing.assert_allclose(ours.fold_accuracies, cross_val_score(frozen, X, y, cv=StratifiedKFold(3)))
    assert ours.accuracy > 10 / 99


def test_nested_accuracy_and_f1():
    data = sentences(80, 0)
    noisy = data.target.copy()
    noisy[::7] = 1 - noisy[::7]
    result = nested_classification(BOWPCA(n_components=None), data.data, noisy, cv=4, inner_cv=3)
    assert result.accuracy == np.mean(result.predictions == noisy)
    assert result.f1 == f1_score(noisy, result.predictions)
    assert len(result.C) == 4 and 0.7 < result.accuracy < 1
    again = nested_classification(BOWPCA(n_components=None), data.data, noisy, cv=4, inner_cv=3)
    np.testing.assert_array_equal(result.predictions, again.predictions)


def test_the_penalty_is_tuned():
    """Tiny clean vectors want a weak penalty; a weak signal among a hundred columns of noise a strong one."""
    data = sentences(200, 0)
    model = CountVectorizer(vocabulary=[*COLOURS, *ANIMALS]).fit(data.data)
    clean = SimpleNamespace(transform=lambda X: 3e-2 * model.transform(X).toarray())
    noise = np.random.default_rng(0).normal(size=(200, 100))
    noise[:, 0] += data.target
    noisy = SimpleNamespace(transform=lambda X: noise)
    result = split_classification(clean, data, data, inner_cv=3)
    assert result.accuracy == 1 and result.C[0] >= 100
    assert split_classification(noisy, data, data, inner_cv=3).C[0] <= 0.1


def test_more_labels_than_two():
    train = Bunch(data=["red a", "cat b", "sea c"] * 6, target=["x", "y", "z"] * 6)
    test = Bunch(data=["red", "cat", "sea", "sea"], target=["x", "y", "z", "y"])
    for model in (BOWPCA(n_components=None), BOWPCA(n_components=3)):
        result = split_classification(model, train, test, inner_cv=3)
        assert result.predictions.tolist() == ["x", "y", "z", "z"]
        assert result.f1 == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)  # the plain mean over the labels


def test_paraphrases_are_found_whichever_sentence_is_first():
    generator = np.random.default_rng(0)
    words = [*COLOURS, *ANIMALS]
    data = [(" ".join(generator.choice(words, 3)), " ".join(generator.choice(words, 3))) for _ in range(60)]
    data = [(a, a) if i % 2 else (a, b) for i, (a, b) in enumerate(data)]
    pairs = Bunch(data=data, target=np.arange(60) % 2)
    swapped = Bunch(data=[(b, a) for a, b in data], target=pairs.target)
    results = [
        pair_classification(BOWPCA(n_components=None), pairs, test, inner_cv=3).predictions for test in (pairs, swapped)
    ]
    np.testing.assert_array_equal(*results)
    assert np.mean(results[0] == pairs.target) > 0.9


def test_agreement_by_hand():
    y = np.array([0, 1, 2, 3, 4])
    said = {"a": [0, 0, 0, 0, 4], "b": [1, 0, 1, 0, 4], "right": y}
    result = error_agreement(y, said)
    assert result.names == ["a", "b", "right"] and result.n_errors.tolist() == [3, 4, 0]
    assert result.n_compared.tolist() == [[3, 3, 0], [3, 4, 0], [0, 0, 0]]
    assert result.n_shared.tolist() == [[3, 2, 0], [2, 4, 0], [0, 0, 0]]
    np.testing.assert_allclose(result.agreement[0], [1, 2 / 3, 0])
    assert error_agreement(y, list(said.values())).n_shared.tolist() == result.n_shared.tolist()
    with pytest.raises(ValueError, match="y_true and predictions of b must have the same length, got 5 and 4"):
        error_agreement(y, {"a": y, "b": y[1:]})


def test_results_as_data_frames():
    """As their docstrings say."""
    pandas = pytest.importorskip("pandas")
    data = sentences(30, 0)
    model = BOWPCA(n_components=None)
    nested = {"bag": nested_classification(model, data.data, data.target, cv=2, inner_cv=2)}
    rows = [{"method": name, "accuracy": r.accuracy, "f1": r.f1} for name, r in nested.items()]
    assert pandas.DataFrame(rows).shape == (1, 3)
    result = semantic_classification(model, data.data, data.target)
    assert pandas.DataFrame({"prediction": result.predictions, "error": result.errors}).shape == (30, 2)
    assert pandas.DataFrame({"accuracy": result.fold_accuracies}).shape == (3, 1)
    agreement = error_agreement(data.target, {"a": result.predictions, "b": 1 - data.target})
    frame = pandas.DataFrame(agreement.agreement, index=agreement.names, columns=agreement.names)
    assert frame.loc["b", "b"] == 1


def test_mteb_encoder():
    """The interface that mteb 2 asks for, without the package."""
    model = BOWPCA(n_components=None).fit(["a cat", "the dog"])
    encoder = MTEBEncoder(model)
    batches = [{"text": ["a cat", "?"], "id": [1, 2]}, {"text": ["the dog"]}]
    vectors = encoder.encode(
        (batch for batch in batches), task_metadata=None, hf_split="test", hf_subset="default", batch_size=32
    )
    np.testing.assert_array_equal(vectors, model.transform(["a cat", "?", "the dog"]).toarray())
    np.testing.assert_allclose(encoder.similarity(vectors, vectors), np.diag([1, 0, 1]), atol=1e-12)
    np.testing.assert_allclose(encoder.similarity(vectors[0], vectors), [[1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(encoder.similarity_pairwise(vectors, vectors[::-1]), [0, 0, 0])
    with pytest.raises(TypeError, match="text"):
        encoder.encode([{"image": []}], task_metadata=None, hf_split="test", hf_subset="default")
    with pytest.raises(ValueError, match="slash"):
        MTEBEncoder(model, name="bag")


def test_mteb_metadata(monkeypatch):
    encoder = MTEBEncoder(BOWPCA(n_components=None), name="me/bag", revision="1")
    monkeypatch.setitem(sys.modules, "mteb", None)  # as if it were not installed
    assert encoder.mteb_model_meta is None
    mteb, models = ModuleType("mteb"), ModuleType("mteb.models")
    models.ModelMeta = SimpleNamespace(create_empty=lambda overwrites: SimpleNamespace(**overwrites))
    monkeypatch.setitem(sys.modules, "mteb", mteb)
    monkeypatch.setitem(sys.modules, "mteb.models", models)
    assert (encoder.mteb_model_meta.name, encoder.mteb_model_meta.revision) == ("me/bag", "1")


def test_f1_of_a_test_part_with_one_label():
    """Whether F1 is that of one label or a mean is decided by the labels of both parts."""
    train = Bunch(data=["red a", "cat b"] * 6, target=[0, 1] * 6)
    test = Bunch(data=["cat", "cat b"], target=[1, 1])
    only = split_classification(BOWPCA(n_components=None), train, test, inner_cv=3)
    assert (only.accuracy, only.f1) == (1.0, 1.0)
    train = Bunch(data=["red a", "cat b", "sea c"] * 6, target=["x", "y", "z"] * 6)
    test = Bunch(data=["red", "cat", "sea"], target=["x", "y", "x"])
    result = split_classification(BOWPCA(n_components=None), train, test, inner_cv=3)
    assert result.f1 == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_rows_whose_sum_overflows_are_finite():
    data = sentences(24, 0)
    rows = np.full((24, 2), 3e38, np.float32)
    model = SimpleNamespace(transform=lambda X: rows)
    assert semantic_classification(model, data.data, data.target).accuracy >= 0


def test_the_search_has_one_thread_of_blas(monkeypatch):
    data, found, fit = sentences(40, 0), set(), LogisticRegression.fit

    def counts():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    monkeypatch.setattr(LogisticRegression, "fit", lambda self, *args: found.update(counts()) or fit(self, *args))
    with threadpool_limits(2, user_api="blas"):
        nested_classification(BOWPCA(n_components=2), data.data, data.target, cv=2, inner_cv=2)
        assert found == {1} and counts() == {2}
