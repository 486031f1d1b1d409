"""Pickles: as small as what was learned, the same bits after them, and the version that wrote them."""

import copy
import pickle
import re
import warnings

import joblib
import numpy as np
import pytest
import skops.io
from estimators import NAMES, OTHER_TEXT, TEXT, bits, fitted, learned, make, with_state
from sklearn.exceptions import InconsistentVersionWarning

import skembed._base.text as text_module
import skembed._training.state as state_module
from skembed import CBOSVectorizer, Sent2VecVectorizer

OPTIONS = {"ngram_range": (1, 2), "min_count": 1, "random_state": 0, "subsample": 1e-2, "max_iter": 1}


def by_pickle(estimator, folder):
    return pickle.loads(pickle.dumps(estimator))


def by_joblib(estimator, folder):
    joblib.dump(estimator, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def by_memory_map(estimator, folder):
    joblib.dump(estimator, folder / "model.joblib")
    return joblib.load(folder / "model.joblib", mmap_mode="r")


def by_skops(estimator, folder):
    skops.io.dump(estimator, folder / "model.skops")
    types = skops.io.get_untrusted_types(file=folder / "model.skops")
    return skops.io.load(folder / "model.skops", trusted=types)


def by_deepcopy(estimator, folder):
    return copy.deepcopy(estimator)


def by_copy(estimator, folder):
    return copy.copy(estimator)


@pytest.fixture(scope="module")
def mostly_zeros():
    """500,000 rows for n-grams, of which a few hundred were ever learned."""
    return Sent2VecVectorizer(16, **OPTIONS).fit(TEXT)


def test_rows_of_zeros_are_not_saved(mostly_zeros):
    assert sum(array.nbytes for array in mostly_zeros._state.arrays.values()) > 30e6
    used = np.count_nonzero(mostly_zeros._state.arrays["_source_vectors"].any(axis=1))
    assert len(pickle.dumps(mostly_zeros)) < 100 * used + 50_000


@pytest.mark.parametrize("way", [by_pickle, by_joblib, by_memory_map, by_skops, by_deepcopy, by_copy])
def test_what_comes_back_is_the_same_and_goes_on_the_same(mostly_zeros, way, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        back = way(mostly_zeros, tmp_path)
    assert learned(back) == learned(mostly_zeros)
    assert bits(back.transform(OTHER_TEXT)) == bits(mostly_zeros.transform(OTHER_TEXT))
    before = learned(mostly_zeros)
    straight_on = copy.deepcopy(mostly_zeros).partial_fit(TEXT)
    assert learned(back.partial_fit(TEXT)) == learned(straight_on)
    again = way(mostly_zeros, tmp_path).set_params(warm_start=True).fit(TEXT[::-1])
    assert learned(again) == learned(copy.deepcopy(mostly_zeros).set_params(warm_start=True).fit(TEXT[::-1]))
    assert learned(mostly_zeros) == before, "saving, and what becomes of the copy, change nothing"


def test_numbers_that_look_like_zero_keep_their_bits(monkeypatch):
    matrix = np.zeros((30_000, 3), np.float32)
    matrix[[2, 7, 29_999]] = [[0, -0.0, 0], [1e-45, 0, 0], [np.nan, np.inf, 0]]
    model = CBOSVectorizer(3, min_count=1).fit(TEXT)
    arrays = {"matrix_": matrix, "falling_": np.asfortranarray(matrix), "row_": matrix[0]}
    arrays |= {"full_": np.ones((30_000, 3), np.float32)}
    arrays |= {"whole_": matrix.view(np.int32), "labels_": np.full((9000, 2), "", object)}
    state = with_state(model, arrays)._state
    taken = []
    original = state_module.rows_with_values
    monkeypatch.setattr(state_module, "rows_with_values", lambda value: taken.append(value) or original(value))
    back = pickle.loads(pickle.dumps(state))
    assert [value.dtype for value in taken] == [np.float32, np.int32]
    assert all(bits(back.arrays[name]) == bits(value) for name, value in state.arrays.items())
    found = back.arrays
    assert found["matrix_"].view(np.uint32).any(axis=1).sum() == 3 and found["falling_"].flags.f_contiguous


def test_a_copy_shares_the_arrays_and_a_deep_copy_does_not(mostly_zeros):
    name = "_source_vectors"
    assert copy.copy(mostly_zeros)._state is mostly_zeros._state
    assert not np.shares_memory(copy.deepcopy(mostly_zeros)._state.arrays[name], mostly_zeros._state.arrays[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_carries_the_version_that_wrote_it(monkeypatch, name):
    for estimator in (make(name), fitted(name)):
        with monkeypatch.context() as context:
            context.setattr(text_module, "__version__", "0.0.7")
            written = pickle.dumps(estimator)
        message = rf"estimator {type(estimator).__name__} from version 0\.0\.7 of skembed when using version "
        with pytest.warns(InconsistentVersionWarning) as caught:
            back = pickle.loads(written)
        assert re.search(message, str(caught[-1].message))  # after those of the estimators in it
        assert vars(back).keys() == vars(estimator).keys(), "the mark is no attribute"


@pytest.mark.parametrize("name", NAMES)
def test_dask_tells_fitted_models_apart(name):
    """By what they have learned, not by their parameters alone: otherwise it takes the result of another model."""
    tokenize = pytest.importorskip("dask.tokenize").tokenize
    model = fitted(name)
    other = with_state(copy.copy(model), word_counts_=model.word_counts_ + 1)
    assert tokenize(model) == tokenize(model) and tokenize(model.transform) == tokenize(model.transform)
    assert len({tokenize(each) for each in (model, other, make(name))}) == 3
    assert tokenize(model.transform) != tokenize(other.transform)


def test_a_pickle_without_a_version(monkeypatch):
    model = fitted("CBOSVectorizer")
    with monkeypatch.context() as context:
        context.setattr(text_module.TextEstimator, "__getstate__", lambda self: dict(vars(self)))
        written = pickle.dumps(model)
    with pytest.warns(InconsistentVersionWarning, match="CBOSVectorizer from version pre-0.1 of skembed"):
        back = pickle.loads(written)
    assert bits(back.transform(TEXT)) == bits(model.transform(TEXT))


def test_a_class_that_adds_to_its_state():
    class Noted(CBOSVectorizer):
        def __getstate__(self):
            return super().__getstate__() | {"note": "kept"}

        def __setstate__(self, state):
            self.read = state.pop("note")
            super().__setstate__(state)

    model = Noted(8, min_count=1).fit(TEXT)
    back = copy.deepcopy(model)
    assert back.read == "kept" and bits(back.word_vectors_) == bits(model.word_vectors_)
