"""Fitted attributes that somebody changed, or that come from a changed file: an error, never a read out of bounds."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from estimators import NAMES, OTHER_TEXT, TEXT, TRAINED, fitted, published

from skembed import SentenceCorpus, save
from skembed._base.text import tokenizer_options

CHANGED = "fitted attributes were changed|vocabulary_|differs from|expected"
CLASSES = sorted(name for name in NAMES if "-" not in name) + ["BOWPCA-plain", "CSEVectorizer-linear"]
CLASSES += ["CBOSVectorizer-given", "MeanEmbeddingVectorizer-removed", "Sent2VecVectorizer-bigrams"]
ARRAYS = ("word_weights_", "_own_lengths", "learned_vectors_", "_source_vectors", "_processed_vectors", "components_")
MORE_ARRAYS = ("mean_", "filters_", "intercept_", "unit_weights_", "gate_weights_", "word_vectors_")


def changed(name, **changes):
    model = published(copy.deepcopy(fitted(name)))
    vars(model).update(changes)
    return model


def uses(model):
    """Everything that reads the model: text, a corpus, and questions."""
    yield lambda: model.transform(OTHER_TEXT)
    yield lambda: model.transform(text_of(model))
    if hasattr(model, "most_similar"):
        yield lambda: model.most_similar("cat")
        yield lambda: model.explain("the cat", "a dog")


@cache
def _text_with(tokenizer):
    return SentenceCorpus.from_sentences(TEXT, **tokenizer_options(tokenizer))


def text_of(model):
    return _text_with(model._tokenizer)


def check_refused(make):
    for index in range(len(list(uses(make())))):
        with pytest.raises(ValueError, match=CHANGED):
            list(uses(make()))[index]()


VOCABULARIES = {
    "new": lambda words: words.update(zzz=5_000_000),
    "known": lambda words: words.update(cat=5_000_000),
    "negative": lambda words: words.update(cat=-5),
    "huge": lambda words: words.update(cat=2**70),
    "text": lambda words: words.update(cat="cat"),
    "more": lambda words: words.update(zzz=0),
    "fewer": lambda words: words.pop("cat"),
    "none": lambda words: words.clear(),
}


@pytest.mark.parametrize("change", VOCABULARIES)
@pytest.mark.parametrize("name", CLASSES)
def test_a_changed_vocabulary_is_refused(name, change):
    def make():
        model = changed(name)
        VOCABULARIES[change](model.vocabulary_)
        return model

    check_refused(make)


@pytest.mark.parametrize("name", CLASSES)
def test_a_vocabulary_that_changes_after_its_first_use_is_refused_or_was_read_before(name):
    model = changed(name)
    expected = model.transform(OTHER_TEXT)
    model.vocabulary_["zzz"] = 5_000_000
    with pytest.raises(ValueError, match=CHANGED):
        model.transform(OTHER_TEXT)
    del model.vocabulary_["zzz"]
    model.vocabulary_["cat"] = 5_000_000
    assert np.array_equal(_dense(model.transform(OTHER_TEXT)), _dense(expected))
    with pytest.raises(ValueError, match=CHANGED):
        model.transform(text_of(model))


def _dense(rows):
    return rows.toarray() if hasattr(rows, "toarray") else rows


@pytest.mark.parametrize("name", CLASSES)
def test_arrays_of_other_shapes_are_refused(name):
    found = vars(fitted(name))
    arrays = [key for key in (*ARRAYS, *MORE_ARRAYS) if key in found and read_at_transform(found, key)]
    assert arrays or name.startswith("BOWPCA-plain")
    for key in arrays:
        array = found[key]
        wrong = [array[:-1], array[..., :-1], array[None], array.astype(str), array.tolist(), None]
        any_length = key == "learned_vectors_" or (key == "components_" and "_processed_vectors" in found)
        for value in wrong[1:] if any_length else wrong:
            check_refused(lambda key=key, value=value: changed(name, **{key: value}))
        check_refused(lambda key=key: without(name, key))
    if not name.startswith("BOWPCA-plain"):
        check_refused(lambda: changed(name, n_features_out_=fitted(name).n_features_out_ + 1))


def read_at_transform(found, key):
    replaced = {"_source_vectors": "_interpolated_vectors", "word_vectors_": "_processed_vectors"}.get(key)
    return found[key] is not None and found.get(replaced) is None


def without(name, key):
    model = changed(name)
    del vars(model)[key]
    return model


@pytest.mark.parametrize("name", CLASSES)
def test_values_of_other_types_are_refused(name):
    found = vars(fitted(name))
    for key in ("coverage_", "_unknown_length", "_unknown_weight", "_windows", "n_features_out_"):
        for value in (None, "x", [], ()) if key in found else ():
            check_refused(lambda key=key, value=value: changed(name, **{key: value}))
    with pytest.raises(ValueError, match="_tokenizer is {}, expected Tokenizer. .* were changed"):
        changed(name, _tokenizer={}).transform(TEXT)
    if not name.startswith("BOWPCA-plain"):  # whose rows are sparse
        check_refused(lambda: changed(name, n_features_out_=2**50))  # before there is memory for a row


@pytest.mark.parametrize("row", [-1, 10**6, 2**40])
def test_noise_that_is_no_word_is_refused(row, tmp_path):
    model = changed("ParagraphVectorizer", _noise=fitted("ParagraphVectorizer")._noise.copy())
    model._noise[3] = row
    for use in (lambda: model.transform(TEXT), lambda: save(model, tmp_path / "model")):
        with pytest.raises(ValueError, match="_noise has a row that is not from 0"):
            use()


@pytest.mark.parametrize("name", ["CBOSVectorizer-given", "Sent2VecVectorizer-bigrams"])
def test_buckets_beyond_the_rows_are_refused(name):
    check_refused(lambda: changed(name, n_buckets=2**30))
    layout = {**fitted(name)._layout, "n_buckets": 2**30}
    check_refused(lambda: changed(name, n_buckets=2**30, _layout=layout))

    def make():
        model = without(name, "_layout")
        model.n_buckets = 2**30
        return pickle.loads(pickle.dumps(model))

    check_refused(make)


@pytest.mark.parametrize("name", [name for name in CLASSES if name in TRAINED])
def test_training_does_not_go_on_from_a_changed_state(name):
    found = vars(fitted(name))
    accumulators = [key for key in found if key.endswith("_accumulator")]
    arrays = [key for key in (*ARRAYS, *MORE_ARRAYS, "target_vectors_", "coef_", "_directions") if key in found]
    derived = {"filters_", "intercept_", "unit_weights_", "gate_weights_"}  # which a fit makes anew, or does not read
    derived |= {"word_vectors_"} if "_directions" in found else set()
    derived |= {"word_weights_"} if name.startswith(("CSE", "GRAN")) else set()
    changes = [{key: found[key][:-1]} for key in (*accumulators, *arrays, "word_counts_") if key not in derived]
    changes += [{"word_counts_": -found["word_counts_"]}, {"word_counts_": found["word_counts_"].astype(float)}]
    for change in changes:
        model = copy.deepcopy(fitted(name))
        vars(model).update(change)
        before = dict(vars(model))
        with pytest.raises(ValueError, match="expected|word_counts_"):
            model.partial_fit(TEXT)
        assert all(vars(model)[key] is value for key, value in before.items())
    for key in ("_tokenizer", "loss_curve_", "n_iter_", "_n_tokens"):
        model = copy.deepcopy(fitted(name))
        vars(model)[key] = "x"
        with pytest.raises(ValueError, match=f"{key} is 'x', expected .*were changed"):
            model.partial_fit(TEXT)
    for change in ("known", "new", "fewer"):
        model = copy.deepcopy(fitted(name))
        VOCABULARIES[change](model.vocabulary_)
        with pytest.raises(ValueError, match="vocabulary_|word_counts_"):
            model.partial_fit(TEXT)
