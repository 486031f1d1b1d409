"""What every estimator keeps to, on sentences: scikit-learn's own suite runs next to nothing on text."""

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import (
    CLASSES,
    GROUPS,
    HASHING,
    KINDS,
    METHODS,
    NAMES,
    OTHER_TEXT,
    SPARSE,
    SPELLING,
    SUPERVISED,
    TEXT,
    TRAINED,
    TRAINED_CLASSES,
    bits,
    corpus,
    dense,
    evidence,
    fitted,
    learned,
    make,
    published,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skembed import SentenceCorpus

every = pytest.mark.parametrize("name", NAMES)
every_method = pytest.mark.parametrize("name", METHODS)
every_kind = pytest.mark.parametrize("name", KINDS)
every_trained = pytest.mark.parametrize("name", TRAINED)


def test_enough_is_tested():
    assert len(CLASSES) >= 5
    assert len(NAMES) >= 15
    assert len(TRAINED) >= 10


# -- parameters and copies -------------------------------------------------------------------------------------------


@every
def test_clone_has_the_parameters_and_nothing_learned(name):
    original = fitted(name)
    copied = clone(original)
    assert bits(copied.get_params()) == bits(original.get_params())
    assert not learned(copied)
    with pytest.raises(NotFittedError):
        copied.transform(TEXT)
    assert learned(copied.fit(TEXT, groups=GROUPS)) == learned(original)


@every_method
def test_get_and_set_params(name):
    estimator = make(name)
    for key, value in estimator.get_params(deep=False).items():
        assert getattr(estimator, key) is value
        assert estimator.set_params(**{key: value}) is estimator
    with pytest.raises(ValueError, match="no_such_parameter"):
        estimator.set_params(no_such_parameter=1)


@every_method
@pytest.mark.parametrize("is_fitted", [False, True])
def test_repr_and_html(name, is_fitted):
    estimator = fitted(name) if is_fitted else make(name)
    assert type(estimator).__name__ in repr(estimator)
    assert type(estimator).__name__ in estimator._repr_html_()
    with_corpus = clone(estimator).set_params(corpus=corpus())
    assert "SentenceCorpus(n_documents=10" in repr(with_corpus)
    assert len(repr(with_corpus)) < 3000


@every_method
def test_tags_tell_that_it_takes_text(name):
    tags = make(name).__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.transformer_tags.preserves_dtype == ["float32"]
    assert tags.target_tags.required == (name in SUPERVISED)


@every_method
def test_not_fitted(name):
    estimator = make(name)
    for call in (estimator.transform, lambda X: estimator.get_feature_names_out()):
        with pytest.raises(NotFittedError, match=type(estimator).__name__):
            call(TEXT)


# -- fit -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "container"), [(name, list) for name in NAMES] + [(name, pd.Series) for name in KINDS]
)
def test_fit_returns_self_and_changes_neither_parameters_nor_input(name, container):
    estimator = make(name)
    X, groups = container(TEXT), container(GROUPS)
    X_before, groups_before, params = copy.deepcopy(X), copy.deepcopy(groups), estimator.get_params()
    params_before = bits(params)
    assert estimator.fit(X, groups=groups) is estimator
    estimator.transform(X)
    assert list(X) == list(X_before)
    assert list(groups) == list(groups_before)
    for key, value in estimator.get_params().items():
        assert value is params[key]
    assert bits(params) == params_before


@every
def test_fit_again_gives_the_same_bits(name):
    estimator = make(name).fit(OTHER_TEXT * 6)
    estimator.fit(TEXT, groups=GROUPS)
    assert learned(estimator) == learned(fitted(name))


@pytest.mark.parametrize(("name", "container"), [(name, iter) for name in NAMES] + [(name, list) for name in KINDS])
def test_fit_transform_is_fit_then_transform(name, container):
    estimator = make(name)
    rows = estimator.fit_transform(container(TEXT), groups=GROUPS)
    assert bits(rows) == bits(fitted(name).transform(TEXT))
    assert learned(estimator) == learned(fitted(name))


@pytest.mark.parametrize("name", [name for name in METHODS if name not in SUPERVISED])
def test_y_is_ignored(name):
    assert learned(make(name).fit(TEXT, np.arange(len(TEXT)), groups=GROUPS)) == learned(fitted(name))


@every
def test_names_of_what_is_learned(name):
    estimator = fitted(name)
    assert list(estimator.vocabulary_.values()) == list(range(len(estimator.vocabulary_)))
    assert len(estimator.word_counts_) == len(estimator.vocabulary_)
    params = estimator.get_params(deep=False)
    if all(params.get(given) is None for given in ("word_vectors", "init", "expand_with")):
        assert all(a >= b for a, b in zip(estimator.word_counts_, estimator.word_counts_[1:]))
    assert not hasattr(estimator, "n_features_in_")
    if hasattr(estimator, "word_vectors_"):
        assert len(estimator.word_vectors_) == len(estimator.vocabulary_)
        if not hasattr(estimator, "filters_") and "word_components" not in params:  # else words have their own length
            assert estimator.word_vectors_.shape[1] == estimator.n_features_out_
        assert estimator.word_vectors_.dtype == np.float32
    if name in TRAINED:
        assert estimator.n_iter_ == len(estimator.loss_curve_) == estimator.max_iter
        assert all(isinstance(loss, float) and np.isfinite(loss) and loss > 0 for loss in estimator.loss_curve_)


# -- transform -------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("X", [TEXT, OTHER_TEXT, TEXT[:1], []], ids=["text", "other", "one", "none"])
def test_rows(name, X):
    estimator = fitted(name)
    rows = estimator.transform(X)
    assert rows.dtype == np.float32
    assert rows.shape == (len(X), estimator.n_features_out_)
    assert np.isfinite(dense(rows)).all()
    if name in SPARSE:
        assert rows.has_canonical_format
    else:
        assert type(rows) is np.ndarray
        assert rows.flags.c_contiguous


@every
def test_rows_of_a_generator(name):
    """Whose length nobody knows, so that an encoder makes the array for the rows itself."""
    assert bits(fitted(name).transform(sentence for sentence in TEXT)) == bits(fitted(name).transform(TEXT))


@every
def test_rows_are_not_all_alike(name):
    rows = dense(fitted(name).transform(TEXT))
    assert len(np.unique(rows, axis=0)) > 60


@every
def test_transform_changes_nothing(name):
    estimator = fitted(name)
    before = learned(estimator)
    first = bits(estimator.transform(OTHER_TEXT))
    estimator.transform(TEXT)
    assert bits(estimator.transform(OTHER_TEXT)) == first
    assert learned(estimator) == before


@every
def test_row_depends_on_its_sentence_alone(name):
    estimator = fitted(name)
    X = TEXT + OTHER_TEXT
    rows = dense(estimator.transform(X))
    for i in [*range(0, len(TEXT), 7), 13, 30, 31, 50, *range(len(TEXT), len(X))]:  # those out of the ordinary too
        assert bits(dense(estimator.transform([X[i]]))[0]) == bits(rows[i]), X[i]
    order = np.random.default_rng(0).permutation(len(X))
    assert bits(dense(estimator.transform([X[i] for i in order]))) == bits(rows[order])
    subset = order[: len(X) // 3]
    assert bits(dense(estimator.transform([X[i] for i in subset]))) == bits(rows[subset])


@every
def test_nothing_known_is_a_row_of_zeros(name):
    X = ["", "?! ...", "qqq zzz", "  \n\t"]
    rows = dense(fitted(name).transform(X))
    for sentence, row in zip(X, rows):
        assert row.any() == (name in [*HASHING, *SPELLING] and "qqq" in sentence), sentence
    assert not np.signbit(rows[0]).any()


@pytest.mark.parametrize("name", HASHING)
def test_hashed_unknown_word_has_a_direction_of_its_own(name):
    estimator = fitted(name)
    first, second, both, again = estimator.transform(["qqq", "zzz", "qqq zzz", "qqq"])
    assert first.any()
    assert bits(first) == bits(again)
    assert not np.array_equal(first, second)
    if hasattr(estimator, "pooling"):
        total = first + second if estimator._option("pooling") == "sum" else (first + second) / 2
        np.testing.assert_allclose(both, total, rtol=1e-4, atol=1e-6)
    assert bits(pickle.loads(pickle.dumps(estimator)).transform(["x y", "qqq"])[1]) == bits(first)


# -- same seed, same bits --------------------------------------------------------------------------------------------


@every_method
def test_seed(name):
    rng = np.random.RandomState
    assert learned(make(name, random_state=rng(3)).fit(TEXT)) == learned(make(name, random_state=rng(3)).fit(TEXT))


@every_trained
def test_another_seed_gives_other_vectors(name):
    other = make(name, random_state=1).fit(TEXT, groups=GROUPS)
    assert other.vocabulary_ == fitted(name).vocabulary_
    learned_first = ("encoder_weights_", "word_vectors_", "target_vectors_")  # words may be given
    vectors = next(key for key in learned_first if hasattr(other, key))
    assert not np.array_equal(getattr(other, vectors), getattr(fitted(name), vectors))
    assert other.loss_curve_ != fitted(name).loss_curve_


@pytest.mark.parametrize(
    ("name", "n_jobs"), [(name, 3) for name in TRAINED] + [(name, n) for name in TRAINED_CLASSES for n in (2, 7)]
)
def test_number_of_threads_changes_no_bit(name, n_jobs):
    estimator = make(name, n_jobs=n_jobs).fit(TEXT, groups=GROUPS)
    assert learned(estimator) == learned(fitted(name))


@pytest.mark.parametrize(
    ("name", "batch_size"),
    [(name, 7) for name in TRAINED] + [(name, size) for name in TRAINED_CLASSES for size in (6, 64, 4096)],
)
def test_number_of_threads_changes_no_bit_for_any_batch_size(name, batch_size):
    one, three = (make(name, batch_size=batch_size, n_jobs=n).fit(TEXT, groups=GROUPS) for n in (1, 3))
    assert learned(one) == learned(three)


# -- copies on disk --------------------------------------------------------------------------------------------------


def _by_pickle(estimator):
    return pickle.loads(pickle.dumps(estimator))


def _by_joblib(estimator):
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    return joblib.load(file)


def _by_cloudpickle(estimator):
    return pickle.loads(pytest.importorskip("cloudpickle").dumps(estimator))


def _by_skops(estimator):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(estimator)
    untrusted = skops.get_untrusted_types(data=data)
    allowed = [kind for kind in untrusted if kind.startswith("skembed.") or kind == "estimators.stem"]
    assert untrusted == allowed
    return skops.loads(data, trusted=allowed)


@pytest.mark.parametrize(
    ("name", "send"),
    [(name, _by_pickle) for name in NAMES]
    + [(name, _by_skops) for name in METHODS]
    + [(name, send) for name in KINDS for send in (_by_joblib, copy.deepcopy, copy.copy, _by_cloudpickle)],
)
def test_round_trip(name, send):
    estimator = published(fitted(name))
    found = send(estimator)
    assert type(found) is type(estimator)
    assert bits(found.transform(TEXT + OTHER_TEXT)) == bits(estimator.transform(TEXT + OTHER_TEXT))
    assert list(found.get_feature_names_out()) == list(estimator.get_feature_names_out())
    if send is not copy.copy:  # a shallow copy shares its arrays
        assert learned(found.fit(TEXT, **evidence(name))) == learned(estimator)
    unfitted = send(published(make(name)))
    assert learned(unfitted.fit(TEXT, **evidence(name))) == learned(estimator)


# -- kinds of input --------------------------------------------------------------------------------------------------

CONTAINERS = {
    "tuple": tuple,
    "object array": lambda X: np.array(X, dtype=object),
    "str array": np.array,
    "read-only array": lambda X: _read_only(np.array(X, dtype=object)),
    "pandas": lambda X: pd.Series(X, index=range(len(X), 0, -1)),
    "pandas string": lambda X: pd.Series(X, dtype="string"),
    "pandas index": pd.Index,
    "polars": lambda X: pl.Series("text", X),
    "pyarrow": pa.array,
    "pyarrow chunks": lambda X: pa.chunked_array([X[:40], X[40:]]),
    "generator": lambda X: (sentence for sentence in X),
}


def _read_only(array):
    array.flags.writeable = False
    return array


@every_kind
@pytest.mark.parametrize("kind", CONTAINERS)
def test_every_container_gives_the_same_bits(name, kind):
    container = CONTAINERS[kind]
    groups = container(GROUPS)
    estimator = make(name).fit(container(TEXT), groups=groups)
    assert learned(estimator) == learned(fitted(name))
    assert bits(estimator.transform(container(TEXT))) == bits(fitted(name).transform(TEXT))


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "as corpus=") for name in METHODS]
    + [(name, kind) for name in KINDS for kind in ("in memory", "saved", "sliced")],
)
def test_a_corpus_gives_the_same_bits(name, kind, tmp_path):
    options = {"stemmer": make(name).stemmer, "stop_words": make(name).stop_words}
    data = SentenceCorpus.from_sentences(TEXT, GROUPS, **options)
    if kind == "saved":
        data.save(tmp_path / "corpus")
        given = {} if options["stemmer"] is None else {"stemmer": options["stemmer"]}
        data = SentenceCorpus.load(tmp_path / "corpus", **given)
    elif kind == "sliced":
        longer = [*TEXT, "one more sentence", "and another"]
        data = SentenceCorpus.from_sentences(longer, [*GROUPS, "last", "last"], **options)[: len(TEXT)]
    if kind == "as corpus=":
        estimator = make(name, corpus=data).fit(["what X is", "does not matter"])
    else:
        estimator = make(name).fit(data)
    assert learned(estimator) == learned(fitted(name))
    assert bits(estimator.transform(data)) == bits(fitted(name).transform(TEXT))
    assert bits(estimator.transform(TEXT)) == bits(fitted(name).transform(TEXT))
