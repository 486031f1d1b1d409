"""What a fit has learned is one value: read-only, checked where it is made, never mixed with that of another fit."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from estimators import NAMES, OTHER_TEXT, TEXT, bits, dense, fitted, learned, make, published, with_state

import skembed
from skembed._training.state import Fitted

CLASSES = sorted(name for name in NAMES if "-" not in name) + ["BOWPCA-plain", "CSEVectorizer-linear"]
CLASSES += ["CBOSVectorizer-given", "MeanEmbeddingVectorizer-removed", "Sent2VecVectorizer-bigrams"]


def fitted_attributes(model):
    """Names of the public fitted attributes of a class."""
    return sorted({name for cls in type(model).__mro__ for name, value in vars(cls).items() if type(value) is Fitted})


@pytest.mark.parametrize("name", CLASSES)
def test_fitted_attributes_are_read_only(name):
    model = published(copy.deepcopy(fitted(name)))
    before, names = learned(model), fitted_attributes(model)
    assert {"vocabulary_", "word_counts_", "coverage_", "n_features_out_"} <= set(names)
    for attribute in names:
        with pytest.raises(AttributeError, match=f"{attribute} of {type(model).__name__} is what a fit has learned"):
            setattr(model, attribute, 1)
        with pytest.raises(AttributeError, match="Fit again, or change a copy of the array"):
            delattr(model, attribute)
        value = getattr(model, attribute, None)
        if isinstance(value, np.ndarray) and value.size:
            with pytest.raises(ValueError, match="read-only"):
                value[...] = 0
    for change in (lambda words: words.update(zzz=1), lambda words: words.pop("cat"), lambda words: words.clear()):
        with pytest.raises(TypeError, match="vocabulary_ cannot be changed"):
            change(model.vocabulary_)
    with pytest.raises(FrozenInstanceError):
        model._state.n_features_out_ = 7
    with pytest.raises(TypeError):
        model._state.arrays["word_vectors_"] = np.zeros(3)
    assert learned(model) == before


@pytest.mark.parametrize("name", CLASSES)
def test_an_attribute_says_that_there_was_no_fit(name):
    model = published(make(name))
    for attribute in fitted_attributes(model):
        with pytest.raises(AttributeError, match=f"has no attribute '{attribute}': this {type(model).__name__} is not"):
            getattr(model, attribute)
    assert not hasattr(model, "vocabulary_")


def pickled_with(model, arrays=(), **changes):
    """A pickle of a model that has other values than a fit could give it."""
    return pickle.dumps(with_state(published(copy.copy(model)), arrays, **changes))


@pytest.mark.parametrize("name", CLASSES)
def test_arrays_of_other_shapes_are_refused_before_a_kernel_reads_them(name):
    model = fitted(name)
    records = [record for record in model._records(model._state) if record.name != "_processed_vectors"]
    assert {record.name for record in records} >= set(model._state.arrays) - {"_processed_vectors"}
    for record in records:
        array = model._state.arrays[record.name]
        wrong = [array[None], array.astype(str)]
        wrong += [array[..., :-1]] if record.shape[-1] is not None else []
        wrong += [array[:-1]] if record.shape[0] is not None else []  # else there may be any number
        for value in wrong:
            with pytest.raises(ValueError, match=f"{record.name} is|expected float"):
                pickle.loads(pickled_with(model, {record.name: value}))
    counts = model.word_counts_
    for wrong in (counts[:-1], counts.astype(float), -counts, None):
        with pytest.raises(ValueError, match="word_counts_"):
            pickle.loads(pickled_with(model, word_counts_=wrong))
    if model._state.word_weights_ is not None:
        with pytest.raises(ValueError, match="word_weights_"):
            pickle.loads(pickled_with(model, word_weights_=model._state.word_weights_[:-1]))
    if not name.startswith("BOWPCA-plain"):
        with pytest.raises(ValueError, match="expected|n_features_out_ is|other words or columns"):
            pickle.loads(pickled_with(model, n_features_out_=model.n_features_out_ + 1))


VOCABULARIES = {
    "new": lambda words: words | {"zzz": 5_000_000},
    "known": lambda words: words | {"cat": 5_000_000},
    "negative": lambda words: words | {"cat": -5},
    "huge": lambda words: words | {"cat": 2**70},
    "text": lambda words: words | {"cat": "cat"},
    "fewer": lambda words: {word: row for word, row in words.items() if word != "cat"},
    "none": lambda words: {},
}


@pytest.mark.parametrize("change", VOCABULARIES)
@pytest.mark.parametrize("name", CLASSES)
def test_a_vocabulary_with_other_rows_is_refused(name, change):
    words = VOCABULARIES[change](dict(fitted(name).vocabulary_))
    with pytest.raises(ValueError, match="vocabulary_|expected|word_counts_"):
        pickle.loads(pickled_with(fitted(name), vocabulary_=words))


@pytest.mark.parametrize("name", CLASSES)
def test_values_of_other_types_are_refused(name):
    state = fitted(name)._state
    kinds = {"coverage_", "unknown_length", "unknown_weight", "n_features_out_", "n_iter_", "n_tokens", "loss_curve_"}
    for each in fields(state):
        if each.name in kinds and getattr(state, each.name) is not each.default:
            with pytest.raises(ValueError, match=f"{each.name.strip('_')}_? is 'x'"):
                pickle.loads(pickled_with(fitted(name), **{each.name: "x"}))


@pytest.mark.parametrize("name", ["CBOSVectorizer-given", "Sent2VecVectorizer-bigrams"])
def test_buckets_beyond_the_rows_are_refused(name):
    model = copy.deepcopy(fitted(name)).set_params(n_buckets=2**30)
    with pytest.raises(ValueError, match="n_buckets=1073741824 differs from"):
        model.transform(TEXT)
    layout = {**model._state.layout, "n_buckets": 2**30}
    for changed in (layout, None):
        with pytest.raises(ValueError, match="_source_vectors|_layout is missing"):
            pickle.loads(pickled_with(model, layout=changed))


@pytest.mark.parametrize("row", [-1, 10**6, 2**40])
def test_noise_that_is_no_word_is_refused(row, tmp_path):
    model = fitted("ParagraphVectorizer")
    noise = model._state.arrays["_noise"].copy()
    noise[3] = row
    model = with_state(published(copy.copy(model)), {"_noise": noise})
    for use in (lambda: pickle.loads(pickle.dumps(model)), lambda: skembed.save(model, tmp_path / "model")):
        with pytest.raises(ValueError, match="_noise has a row that is not from 0"):
            use()


@pytest.mark.parametrize("name", CLASSES)
def test_a_state_is_the_same_from_its_values(name):
    state = fitted(name)._state
    again = type(state).of(state.values())
    assert bits(again) == bits(state)
    if state.n_frozen:
        assert again.n_frozen == state.n_frozen
    with pytest.raises(ValueError, match="has no 'note_'"):
        type(state).of({**state.values(), "note_": "mine"})


@pytest.mark.parametrize("name", ["CBOSVectorizer", "BOWPCA", "MeanEmbeddingVectorizer-removed"])
def test_a_copy_keeps_what_it_has_when_the_other_learns(name):
    model = make(name).fit(TEXT)
    held, rows = copy.copy(model), dense(model.transform(OTHER_TEXT))
    model.fit([*TEXT[::-1], "an okapi eats"])
    assert bits(dense(held.transform(OTHER_TEXT))) == bits(rows)
    assert "okapi" not in held.vocabulary_
