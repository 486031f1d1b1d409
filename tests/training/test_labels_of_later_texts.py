"""A fit that goes on learns from what the first one learned from: labels, or the order of the sentences."""

import pickle

import numpy as np
import pytest
from estimators import CLASSES, GROUPS, TEXT, corpus, learned, vectors

import skembed
from skembed._base.context import ContextVectorizer

CONTEXT = [cls for cls in CLASSES if issubclass(cls, ContextVectorizer)]
every = pytest.mark.parametrize("cls", CONTEXT, ids=lambda cls: cls.__name__)
both_ways = pytest.mark.parametrize("method", ["partial_fit", "fit"])
SMALL = {"n_components": 6, "max_iter": 3, "random_state": 0, "warm_start": True}
TOPIC = np.array([int(group.split()[1]) % 4 for group in GROUPS])
CHUNK = ["A zebra runs.", "A cat sleeps.", "Rain falls."]
NOTHING = {
    "classes of one sentence": ([0, 1, 2], "every class of y has one sentence"),
    "one class": (["a", "a", "a"], "y holds one class only"),
    "a common class": ([[1, 1], [1, 0], [1, 1]], "y gives every two sentences a common class"),
    "zeros": (np.zeros((3, 2), int), "y holds no class: every sentence is without a label"),
}
unheard = pytest.mark.filterwarnings("ignore:Only .* of the words of this text")  # the words of CHUNK
nothing = pytest.mark.parametrize(("y", "fault"), NOTHING.values(), ids=NOTHING)


def unchanged(model, call):
    """Whether a call that fails leaves the model as it was."""
    before = learned(model)
    call()
    return learned(model) == before


@every
@both_ways
@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (None, {}, "first fitted to labels, learns from classes y, but y is None. Pass y, or context='order'"),
        (TOPIC + 0.5, {}, "first fitted to labels, learns from classes, but y is continuous"),
        (TOPIC, {"corpus": corpus}, "first fitted to labels, learns from X and y. Leave corpus=None"),
    ],
    ids=["no y", "targets of a regression", "a corpus"],
)
def test_a_model_of_labels_needs_labels(cls, method, y, options, message):
    model = cls(**SMALL).fit(TEXT, TOPIC)
    model.set_params(**{name: value() for name, value in options.items()})

    def fails():
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(TEXT, y)

    assert unchanged(model, fails)


@every
@both_ways
def test_a_model_of_labels_goes_on_with_labels_beside_groups(cls, method):
    with_groups, without = (cls(**SMALL).fit(TEXT, TOPIC) for _ in range(2))
    getattr(with_groups, method)(TEXT, TOPIC, groups=GROUPS)
    assert vectors(with_groups) == vectors(getattr(without, method)(TEXT, TOPIC))


@every
@both_ways
def test_a_model_of_order_takes_labels_only_if_it_is_said(cls, method):
    model = cls(**SMALL).fit(TEXT, groups=GROUPS)

    def fails():
        with pytest.raises(ValueError, match="y holds classes, but this .* was first fitted to the order of sentences"):
            getattr(model, method)(TEXT, TOPIC)

    assert unchanged(model, fails)
    with_groups = getattr(pickle.loads(pickle.dumps(model)), method)(TEXT, TOPIC, groups=GROUPS)
    assert not with_groups._state.from_labels  # as in a first fit
    assert getattr(model.set_params(context="labels"), method)(TEXT, TOPIC)._state.from_labels
    assert not getattr(model.set_params(context="auto"), method)(TEXT, groups=GROUPS)._state.from_labels


@every
@both_ways
def test_the_order_of_later_texts_if_it_is_said(cls, method):
    model = cls(**SMALL).fit(TEXT, TOPIC).set_params(context="order")
    assert not getattr(model, method)(TEXT, groups=GROUPS)._state.from_labels
    with pytest.raises(ValueError, match="first fitted to labels, learns from classes y, but y is None"):
        getattr(model.set_params(context="auto"), method)(TEXT, groups=GROUPS)


@unheard
@every
@nothing
@pytest.mark.parametrize("context", ["auto", "labels"])
@pytest.mark.parametrize("new_words", ["append", "ignore"])
def test_a_later_text_without_classes_to_compare_is_skipped(cls, y, fault, context, new_words):
    model = cls(context=context, **SMALL).fit(TEXT, TOPIC)
    before, words, counts = model.word_vectors_.copy(), list(model.vocabulary_), model.word_counts_.tolist()
    curve, n_iter = list(model.loss_curve_), model.n_iter_
    with pytest.warns(UserWarning, match=f"skips this text and learns nothing from it, since {fault}. Pass larger"):
        model.partial_fit(CHUNK, y, new_words=new_words)
    np.testing.assert_array_equal(model.word_vectors_, before)
    assert model.n_iter_ == n_iter and model.loss_curve_ == curve and model._state.from_labels
    # New words would stay at a random start, which is noise for a classifier.
    assert list(model.vocabulary_) == words and model.word_counts_.tolist() == counts
    model.partial_fit(TEXT, TOPIC)
    assert model.n_iter_ == n_iter + 1 and (model.word_vectors_[: len(words)] != before).any()


@unheard
@every
@nothing
@pytest.mark.parametrize("options", [{}, {"early_stopping": True, "interpolation": 0.5}, {"n_shards": 2}], ids=str)
@pytest.mark.filterwarnings("ignore:.* leaves each shard")
def test_a_warm_start_skips_it_too(cls, y, fault, options, tmp_path):
    model = cls(**SMALL | options).fit(TEXT, TOPIC)
    before = learned(model)
    for checkpoint in (None, tmp_path, tmp_path):
        with pytest.warns(UserWarning, match=f"skips this text .* since {fault}"):
            assert learned(model.fit(CHUNK, y, checkpoint=checkpoint)) == before
    with pytest.warns(UserWarning, match="skips this text"):
        assert model.estimate_memory(CHUNK, y)["total"] > 0
    assert learned(model.fit(TEXT, TOPIC)) != before


@every
@nothing
def test_the_first_text_must_have_classes(cls, y, fault):
    for model in (cls(**SMALL), cls(context="labels", **SMALL)):
        if fault.startswith("every") and model.context == "auto":
            continue  # the target of a regression
        with pytest.raises(ValueError, match=fault):
            model.partial_fit(CHUNK, y)
        assert not hasattr(model, "vocabulary_")


@unheard
@every
def test_a_restored_model_remembers_what_it_learned_from(cls, tmp_path):
    model = cls(**SMALL).fit(TEXT, TOPIC, checkpoint=tmp_path / "fit")
    skembed.save(model, tmp_path / "model")
    found = [
        model,
        skembed.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(model)),
        cls(**SMALL).fit(TEXT, TOPIC, checkpoint=tmp_path / "fit"),
    ]
    for restored in found:
        with pytest.raises(ValueError, match="first fitted to labels, learns from classes y, but y is None"):
            restored.partial_fit(TEXT)
        with pytest.warns(UserWarning, match="skips this text"):
            restored.partial_fit(CHUNK, [0, 1, 2])
        restored.partial_fit(TEXT, TOPIC)
    assert all(vectors(restored) == vectors(model) for restored in found)
