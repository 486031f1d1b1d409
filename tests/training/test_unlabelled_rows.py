"""Rows of `y` without a label are left out; quantities are not classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from estimators import CLASSES, TEXT, learned
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import LinearSVC
from test_labels import CONTEXT, NAMES, SMALL, TOPIC, every

from skembed import ParaphraseVectorizer
from skembed._base.paired import PairedVectorizer
from skembed._validation.targets import split_labels

HIDDEN = np.arange(90) % 3 == 0
MINUS = np.where(HIDDEN, -1, TOPIC)
WAYS = {
    "-1": MINUS,
    "-1 in a column": MINUS[:, None],
    "float -1": MINUS.astype(float),
    "None beside numbers": [None if hidden else int(topic) for hidden, topic in zip(HIDDEN, TOPIC)],
    "None beside strings": [None if hidden else str(name) for hidden, name in zip(HIDDEN, NAMES)],
    "-1 beside strings": [-1 if hidden else str(name) for hidden, name in zip(HIDDEN, NAMES)],
    "NaN": np.where(HIDDEN, np.nan, TOPIC),
    "NA of pandas": pd.Series(TOPIC, dtype="Int64").mask(HIDDEN),
    "a missing category": pd.Series(pd.Categorical(NAMES)).mask(HIDDEN),
    "rows of zeros": ((TOPIC[:, None] == np.arange(4)) & ~HIDDEN[:, None]).astype(int),
}


@every
@pytest.mark.parametrize("y", WAYS.values(), ids=WAYS)
def test_every_way_to_leave_out_a_label_is_the_same(cls, y):
    model = cls(**SMALL).fit(TEXT, y)
    labelled = [sentence for sentence, hidden in zip(TEXT, HIDDEN) if not hidden]
    assert learned(model) == learned(cls(**SMALL).fit(labelled, TOPIC[~HIDDEN]))
    parts = cls(**SMALL).partial_fit(TEXT, y)
    assert learned(parts) == learned(cls(**SMALL).partial_fit(labelled, TOPIC[~HIDDEN]))


@every
def test_minus_one_and_one_are_two_classes(cls):
    assert learned(cls(**SMALL).fit(TEXT, np.where(TOPIC > 1, 1, -1))) == learned(cls(**SMALL).fit(TEXT, TOPIC > 1))
    assert learned(cls(**SMALL).fit(TEXT, TOPIC - 2)) == learned(cls(**SMALL).fit(TEXT, TOPIC))  # -2 to 1


@every
def test_three_signs_are_named(cls):
    with pytest.warns(UserWarning, match=r"y holds -1, 0 and 1. Its \d+ rows of -1 count .*pass strings: np.asarray"):
        model = cls(**SMALL).fit(TEXT, np.where(TOPIC == 1, -1, TOPIC > 2).astype(int))
    labels = [None if topic == 1 else bool(topic > 2) for topic in TOPIC]
    assert learned(model) == learned(cls(**SMALL).fit(TEXT, labels))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cls(**SMALL).fit(TEXT, np.where(TOPIC == 1, -1, TOPIC > 2).astype(str))


def test_self_training_behind_an_estimator():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    X = [
        " ".join([*(f"{'abc'[label]}{i}" for i in rng.integers(0, 40, 3)), *rng.choice(list("xyz"), 3)]) for label in y
    ]
    some = np.where(rng.random(400) < 0.7, -1, y)
    for cls in CONTEXT:
        emb = cls(8, max_iter=20, random_state=0)
        frozen = cls(8, max_iter=20, random_state=0).fit(np.array(X)[some >= 0], y[some >= 0])
        model = make_pipeline(emb, SelfTrainingClassifier(LogisticRegression())).fit(X, some)
        labelled = LinearSVC(random_state=0).fit(frozen.transform(np.array(X)[some >= 0]), y[some >= 0])
        assert model.score(X, y) >= labelled.score(frozen.transform(X), y) - 0.02


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if issubclass(cls, PairedVectorizer)])
def test_sentences_without_a_label_are_in_no_pair(cls):
    options = {"random_state": 0, "max_iter": 1}
    minus, none = (cls(6, **options).fit(TEXT, y) for y in (MINUS, WAYS["None beside numbers"]))
    assert learned(minus) == learned(none) != learned(cls(6, **options).fit(TEXT, TOPIC))
    assert minus.vocabulary_ == cls(6, **options).fit(TEXT, TOPIC).vocabulary_
    with pytest.raises(ValueError, match="no two sentences are of one group"):
        ParaphraseVectorizer(6, **options).fit(TEXT, [0, 1, 2] + [None] * 87)


@every
def test_a_later_text_without_labels_is_skipped(cls):
    model = cls(**SMALL).fit(TEXT, TOPIC)
    before = model.word_vectors_.copy()
    with pytest.warns(UserWarning, match="skips this text.* since y holds no class: every sentence is without a label"):
        model.partial_fit(TEXT, [None] * 90)
    assert (model.word_vectors_ == before).all()


@every
@pytest.mark.parametrize("kind", [int, float])
def test_quantities_are_named(cls, kind):
    X, ages = TEXT * 5, np.random.default_rng(0).integers(18, 90, 450).astype(kind)
    with pytest.warns(UserWarning, match=r"y holds 7\d different whole numbers from 18 to 89 in 450 rows.*'labels'"):
        model = cls(**SMALL).fit(X, ages)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learned(cls(context="labels", **SMALL).fit(X, ages)) == learned(model)
        cls(**SMALL).fit(X, np.unique(ages, return_inverse=True)[1])  # numbers of classes: 0, 1, 2 ...
        cls(**SMALL).fit(X, ages.astype(str))
        cls(**SMALL).fit(X, ages // 5)


def test_labels_of_one_type_beside_missing_ones():
    labels, has_label = split_labels(["a", None, "b", float("nan")])
    assert labels.tolist() == ["a", "b"] and has_label.tolist() == [True, False, True, False]
    labels, has_label = split_labels(np.array([-1, "a", -1.0, "b"], object))
    assert labels.tolist() == ["a", "b"] and has_label.tolist() == [False, True, False, True]
    assert split_labels([-1, -1])[1].tolist() == [False, False]
    assert split_labels([-1, 1])[1].tolist() == [True, True]
    assert split_labels([-1, 1], signs=False)[1].tolist() == [False, True]
    with pytest.raises(TypeError, match="mixes labels of the types number and text"):
        split_labels([1, None, "b"])


def test_infinity_is_no_label():
    for y in ([None, 1.5, np.inf], np.array([np.nan, 2, -np.inf])):
        with pytest.raises(ValueError, match="labels has infinity in row 2"):
            split_labels(y, "labels")
