"""Learning from labels: the sentences of a class belong together, and are never negatives of each other."""

import pickle
import warnings

import numpy as np
import pytest
from estimators import CLASSES, GROUPS, TEXT, bits, corpus, learned
from kernel_cases import encode
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from skembed import MetaEmbeddingVectorizer
from skembed._base.context import ContextVectorizer
from skembed._training.encoded_text import by_class
from skembed._training.passes import hold_out
from skembed._validation.targets import NO_CLASS, _all_share

CONTEXT = [cls for cls in CLASSES if issubclass(cls, ContextVectorizer)]
every = pytest.mark.parametrize("cls", CONTEXT, ids=lambda cls: cls.__name__)
SMALL = {"n_components": 6, "max_iter": 3, "random_state": 0}
TOPIC = np.array([int(group.split()[1]) % 4 for group in GROUPS])
INDICATORS = (TOPIC[:, None] == np.arange(4)).astype(int)
NAMES = np.array(["cats", "rain", "soup", "trains"])[TOPIC]


def labelled_text(classes):
    sentences = [[i, i + 1] if i % 3 else [] for i in range(len(classes))]
    text = encode(sentences, [0] * len(sentences), np.ones(len(classes) + 1, np.float32))
    return text._replace(annotations=(np.array(classes, np.int64),)), sentences


def sentences_of(text):
    return [text.tokens[a:b].tolist() for a, b in zip(text.sent_ptr, text.sent_ptr[1:])]


def test_a_pass_holds_each_sentence_once_for_each_of_its_classes():
    classes = [[0, 2], [1, NO_CLASS], [2, 1], [NO_CLASS, NO_CLASS], [0, NO_CLASS], [1, NO_CLASS]]
    text, sentences = labelled_text(classes)
    passed = by_class(text, 3, 0)
    found = sorted(zip(passed.document.tolist(), sentences_of(passed)))
    expected = [(c, sentence) for row, sentence in zip(classes, sentences) for c in row if c != NO_CLASS]
    assert found == sorted(expected)
    assert (np.diff(passed.document) >= 0).all()  # a class is one document
    of_sentence = {tuple(sentence): row for row, sentence in zip(classes, sentences) if sentence}
    for sentence, row in zip(sentences_of(passed), passed.annotations[0].tolist()):
        assert not sentence or of_sentence[tuple(sentence)] == row
    for array in (passed.tokens, passed.sent_ptr):
        assert not array.flags.writeable  # as in a corpus: kernels are compiled for one of both


def test_the_order_is_drawn_anew_in_each_pass():
    text, _ = labelled_text([[i % 2] for i in range(40)])
    first, again, second, other_seed = (by_class(text, *seeds) for seeds in [(3, 0), (3, 0), (3, 1), (4, 0)])
    assert bits(first.tokens) == bits(again.tokens)
    assert len({bits(passed.tokens) for passed in (first, second, other_seed)}) == 3


@every
def test_labels_decide_what_is_alike(cls):
    """Words of one class become alike, whatever stands beside them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = [" ".join(rng.choice([f"{'abc'[label]}{i}" for i in range(9)], 4)) for label in y]
    rows = cls(10, max_iter=10, random_state=0).fit(X, y).transform(X)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    same = y[:, None] == y
    assert (rows @ rows.T)[same].mean() > (rows @ rows.T)[~same].mean() + 0.5


@every
def test_names_and_numbers_of_classes_are_the_same(cls):
    number = cls(**SMALL).fit(TEXT, TOPIC)
    assert learned(cls(**SMALL).fit(TEXT, NAMES)) == learned(number)
    assert learned(cls(**SMALL).fit(TEXT, TOPIC * 10 - 7)) == learned(number)
    assert learned(cls(**SMALL).fit(TEXT, list(NAMES))) == learned(number)
    assert learned(cls(context="labels", **SMALL).fit(TEXT, TOPIC)) == learned(number)
    assert learned(cls(**SMALL).fit(TEXT)) != learned(number)


@every
def test_an_indicator_matrix_of_one_class_each_is_a_column_of_classes(cls):
    indicators = INDICATORS.copy()
    column = cls(**SMALL).fit(TEXT, TOPIC)
    assert learned(cls(**SMALL).fit(TEXT, indicators)) == learned(column)
    assert learned(cls(**SMALL).fit(TEXT, sparse.csr_matrix(indicators))) == learned(column)
    assert learned(cls(**SMALL).fit(TEXT, [[topic] for topic in TOPIC])) == learned(column)
    indicators[:20, 1] = 1
    indicators[40] = 0
    several = cls(**SMALL).fit(TEXT, indicators)
    assert learned(several) != learned(column) and np.isfinite(several.word_vectors_).all()


@every
def test_what_auto_stands_for(cls):
    ordered, labelled = cls(**SMALL).fit(TEXT * 3), cls(**SMALL).fit(TEXT * 3, np.tile(TOPIC, 3))
    assert ordered.word_counts_.min() >= 5 and labelled.word_counts_.min() == 3  # every word counts
    of_words = cls(analyzer="word", **SMALL).fit(TEXT * 3, np.tile(TOPIC, 3))
    assert ordered.transform(["qqq"]).any() and not of_words.transform(["qqq"]).any()
    assert labelled._state.tokenizer.characters and not ordered._state.tokenizer.characters
    with_groups = cls(**SMALL).fit(TEXT, TOPIC, groups=GROUPS)
    assert learned(with_groups) == learned(cls(**SMALL).fit(TEXT, groups=GROUPS))
    from_corpus = cls(corpus=corpus(), **SMALL)
    assert learned(clone(from_corpus).fit(TEXT, TOPIC)) == learned(clone(from_corpus).fit(TEXT))
    of_words = cls(analyzer="word", **SMALL).fit(TEXT, TOPIC)
    assert learned(cls(**SMALL).fit(corpus(), TOPIC)) == learned(of_words)


@every
def test_what_auto_stood_for_stays_with_the_model(cls):
    labelled = cls(analyzer="word", **SMALL).fit(TEXT, TOPIC)
    restored = pickle.loads(pickle.dumps(labelled))
    assert bits(restored.transform(["qqq cat", "rain"])) == bits(labelled.transform(["qqq cat", "rain"]))
    labelled.set_params(context="order").partial_fit(TEXT)  # words are pooled as before
    assert not labelled.transform(["qqq"]).any()
    assert labelled.set_params(unknown="hash").transform(["qqq"]).any()


@every
@pytest.mark.parametrize("options", [{}, {"word_dropout": 0.3, "window": 2}])
def test_the_number_of_threads_changes_no_bit(cls, options):
    X, y = TEXT * 8, np.tile(TOPIC, 8)
    models = [cls(n_jobs=n_jobs, **options, **SMALL).fit(X, y) for n_jobs in (1, 2, 3)]
    assert learned(models[0]) == learned(models[1]) == learned(models[2])
    assert models[0].loss_curve_ == models[1].loss_curve_ == models[2].loss_curve_


@every
def test_labels_in_a_grid_search(cls):
    pipeline = Pipeline([("emb", cls(**SMALL)), ("svm", LinearSVC(random_state=0))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = GridSearchCV(pipeline, {"emb__word_dropout": [0.0, 0.5]}, cv=3).fit(TEXT, NAMES)
    assert set(search.predict(["A cat and a dog.", "The oven bakes bread."])) <= set(NAMES)
    ordered = Pipeline([("emb", cls(corpus=corpus(), **SMALL)), ("svm", LinearSVC(random_state=0))])
    assert cross_val_score(pipeline, TEXT, NAMES, cv=3).mean() > 0.8
    assert cross_val_score(ordered, TEXT, NAMES, cv=3).shape == (3,)


@every
def test_early_stopping_holds_out_of_each_class(cls):
    model = cls(early_stopping=True, validation_fraction=0.2, **SMALL | {"max_iter": 8})
    model.fit(TEXT * 3, np.tile(TOPIC, 3))
    assert len(model.validation_loss_curve_) == model.n_iter_ and min(model.validation_loss_curve_) > 0
    classes = TOPIC[:, None]
    held = hold_out(corpus(), 0.2, 5, classes)
    assert held.sum() == 18
    shares = np.bincount(TOPIC[held], minlength=4) / np.bincount(TOPIC, minlength=4)
    assert (abs(shares - 0.2) < 0.1).all()
    assert (held != hold_out(corpus(), 0.2, 6, classes)).any()


@every
def test_partial_fit_and_warm_start_go_on_with_labels(cls):
    model = cls(**SMALL).partial_fit(TEXT, TOPIC)
    before = model.word_vectors_.copy()
    model.partial_fit(TEXT[:40], TOPIC[:40])
    assert (model.word_vectors_ != before).any() and model.n_iter_ == 2
    model.set_params(warm_start=True).fit(TEXT, TOPIC)
    assert model.n_iter_ == 5


@every
@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"context": "labels"}, None, "context='labels' learns from classes y, but y is None"),
        ({"context": "labels", "corpus": corpus}, TOPIC, "learns from X and y. Leave corpus=None"),
        ({"context": "labels"}, TOPIC + 0.5, "but y is continuous. Pass a class for each sentence"),
        ({}, np.zeros(90, int), "y holds one class only, so there is nothing to tell apart"),
        ({}, np.zeros((90, 3), int), "y holds no class: every sentence is without a label, so there is nothing"),
        ({}, np.array([[1, 0], [np.nan, 1]] * 45), "Row 1 of y has no number in column 0. Leave such rows out"),
        ({"context": "labels"}, sparse.csr_matrix([[1, 0], [0, np.nan]] * 45), "Row 1 of y has no number in column 1"),
        ({}, np.array([[1, 0], [None, 1]] * 45), "Row 1 of y has no number in column 0"),
        ({}, [["a", "b"], ["c"]] * 45, "MultiLabelBinarizer"),
        ({}, np.ones((90, 3), int), "y gives every two sentences a common class, so there is nothing to tell apart"),
        ({}, np.tile([[1, 1, 0], [1, 0, 1], [0, 1, 1]], (30, 1)), "y gives every two sentences a common class"),
        ({}, np.where(INDICATORS, 1, -1), "Row 0 of y has -1 in column .*Pass y > 0 if larger numbers mark a class"),
        ({}, sparse.csr_matrix(INDICATORS * 2), "Row 0 of y has 2 in column"),
        ({"context": "labels"}, INDICATORS * 0.5, r"Row 0 of y has 0\.5 in column"),
        ({}, TOPIC[:-1], "y has 89 values, but the text has 90 sentences"),
        ({}, [None] * 90, "y holds no class: every sentence is without a label"),
        ({}, np.where(TOPIC == 1, 3, -1), r"y holds one class only beside rows without a label \(None, NaN or -1\)"),
        ({}, [{name} for name in NAMES], "y holds no classes: they are neither numbers nor strings"),
        ({"context": "labels"}, np.arange(90), "but every class of y has one sentence"),
    ],
)
def test_clear_errors(cls, options, y, message):
    options = {name: value() if callable(value) else value for name, value in options.items()}
    model = cls(**options, **SMALL)
    with pytest.raises(ValueError, match=message):
        model.fit(TEXT, y)
    assert not hasattr(model, "vocabulary_")


@every
def test_labels_of_two_types(cls):
    with pytest.raises(TypeError, match="y mixes labels of the types text and number"):
        cls(**SMALL).fit(TEXT, [*NAMES[:-1], 1])
    with pytest.raises(TypeError, match="y must be a list, an array, a Series or another single column, got a str"):
        cls(**SMALL).fit(TEXT, "a" * 90)


@every
def test_sentences_without_a_class_are_left_out(cls):
    """The first sentence too, of which the kernels are compiled; a pass may have no sentence at all."""
    indicators = INDICATORS.copy()
    indicators[0] = 0
    assert np.isfinite(cls(**SMALL).fit(TEXT, indicators).word_vectors_).all()
    indicators[:72] = 0
    model = cls(early_stopping=True, validation_fraction=0.02, **SMALL)
    with pytest.warns(UserWarning, match="nothing to predict in the held-out text"):
        assert np.isfinite(model.fit(TEXT, indicators).word_vectors_).all()


@every
def test_whole_numbers_that_all_differ_are_the_target_of_a_regression(cls):
    with (
        pytest.warns(UserWarning, match="neighbouring"),
        pytest.warns(UserWarning, match="Every class of y has one sentence, so context='auto' learns from the order"),
    ):
        assert learned(cls(**SMALL).fit(TEXT, np.arange(90))) == learned(cls(**SMALL).fit(TEXT))


def test_a_class_of_all_sentences_is_found_at_once():
    generator = np.random.default_rng(0)
    classes = np.column_stack([np.zeros(200_000, int), generator.integers(1, 150_000, (200_000, 2))])
    assert _all_share(classes)
    classes[-1] = 200_000, NO_CLASS, NO_CLASS
    assert not _all_share(classes)


@every
def test_targets_of_a_regression_in_several_columns_are_order(cls):
    with pytest.warns(UserWarning, match="neighbouring"):
        assert learned(cls(**SMALL).fit(TEXT, INDICATORS * 0.5)) == learned(cls(**SMALL).fit(TEXT))


@every
def test_a_source_of_joined_vectors_learns_from_the_text_alone(cls):
    with pytest.raises(ValueError, match=r"\(context='labels'\) needs labels.*pass it fitted"):
        MetaEmbeddingVectorizer([cls(context="labels", **SMALL)]).fit(TEXT, TOPIC, groups=GROUPS)
    MetaEmbeddingVectorizer([cls(context="labels", **SMALL).fit(TEXT, TOPIC)]).fit(TEXT)


@every
def test_memory_of_labels_is_estimated(cls):
    estimator = cls(**SMALL)
    ordered, labelled = estimator.estimate_memory(corpus()), estimator.estimate_memory(corpus(), TOPIC)
    assert labelled["scratch"] > ordered["scratch"] and labelled["total"] == sum(labelled.values()) - labelled["total"]


@every
def test_words_are_dropped_from_training_alone(cls):
    X, y = TEXT * 8, np.tile(TOPIC, 8)
    whole, dropped = (cls(word_dropout=rate, **SMALL).fit(X, y) for rate in (0.0, 0.4))
    assert (dropped.word_vectors_ != whole.word_vectors_).any()
    given = clone(whole).fit(X, y)
    given.set_params(word_dropout=0.9)
    assert bits(given.transform(TEXT)) == bits(whole.transform(TEXT))
