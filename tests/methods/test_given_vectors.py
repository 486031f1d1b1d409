"""Word vectors that a user brings: shown by their size, shared by clones, stored once, summed within float32."""

import copy
import pickle
import tracemalloc

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from estimators import with_state
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from skembed import CBOSVectorizer, MeanEmbeddingVectorizer, MetaEmbeddingVectorizer
from skembed._compiled.arrays import row_norms
from skembed._training.state import has_empty_rows
from skembed.metrics import paired_cosine_similarity

X = ["The cat sat on the mat.", "A dog in 1914.", "cat dog", "the mat and the cat in 1939"] * 3
WORDS = sorted({word.strip(".").lower() for sentence in X for word in sentence.split()})
N = 400  # components, so that vectors outweigh all else in a pickle


def array(n_components=N, *, writeable=False):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), n_components)).astype(np.float32)
    vectors.flags.writeable = writeable
    return vectors


# -- showing -----------------------------------------------------------------------------------------------------------


class Watched(dict):
    """A dict that says so when somebody reads what it holds."""

    def _read(self, *_):
        raise AssertionError("showing must not read the values")

    __getitem__ = __iter__ = items = values = __repr__ = __eq__ = keys = _read
    __hash__ = None


class KeyedVectors:
    """What gensim's class of this name has."""

    def __init__(self, words, vectors):
        self.index_to_key, self.vectors = words, vectors

    def __len__(self):
        return len(self.index_to_key)

    def __getitem__(self, key):
        raise AssertionError("showing must not read the values")


def test_a_fitted_vocabulary_is_not_sorted_to_be_shown(monkeypatch):
    estimator = MeanEmbeddingVectorizer(word_vectors=(WORDS, array(5))).fit(X)
    with_state(estimator, vocabulary_=Watched(dict.fromkeys(range(1000))))
    assert len(estimator._repr_html_()) < 1e6


# -- cloning -----------------------------------------------------------------------------------------------------------


def test_no_fold_copies_the_vectors():
    given = (WORDS, array())
    frozen = FrozenEstimator(MeanEmbeddingVectorizer(word_vectors=given).fit(X))
    frame = pd.DataFrame(given[1], index=WORDS)
    for source in (given, dict(zip(*given)), KeyedVectors(*given), frame, [given, frame], [frozen]):
        pipeline = make_pipeline(MeanEmbeddingVectorizer(word_vectors=source, unknown="zero"), BOWPCAFree())
        results = cross_validate(pipeline, X, cv=2, scoring=lambda *_: 0.0, return_estimator=True, error_score="raise")
        for fold in results["estimator"]:
            found = fold[0].word_vectors
            assert type(found) is type(source)
            for mine, theirs in zip(*([v if isinstance(v, list) else [v] for v in (found, source)])):
                assert mine is theirs
            if source is given:
                assert fold[0].word_vectors_ is given[1]
                assert fold[0]._state.arrays["_processed_vectors"] is given[1]


class BOWPCAFree(FrozenEstimator):
    """The end of a pipeline that takes anything."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y=None):
        return self

    def __sklearn_clone__(self):
        return self


def test_estimators_are_cloned_all_the_same():
    model = MeanEmbeddingVectorizer(word_vectors=[CBOSVectorizer(5), (WORDS, array(5))])
    copied = clone(model)
    assert copied.word_vectors[0] is not model.word_vectors[0]
    assert copied.word_vectors[1] is model.word_vectors[1]
    one = MeanEmbeddingVectorizer(word_vectors=CBOSVectorizer(5, min_count=1, max_iter=1).fit(X))
    assert not hasattr(clone(one).word_vectors, "vocabulary_")
    assert model.word_vectors is not copied.word_vectors
    assert not hasattr(clone(MeanEmbeddingVectorizer(word_vectors=(WORDS, array(5))).fit(X)), "vocabulary_")


# -- storing -----------------------------------------------------------------------------------------------------------

OPTIONS = [
    {},
    {"hash_numbers": True},
    {"spelling_weight": 0.4},
    {"n_removed_components": 1, "weighting": "sif"},
    {"hash_numbers": True, "spelling_weight": 0.4, "n_removed_components": 2},
]
SOURCES = {
    "table": lambda: (WORDS, array()),
    "writeable": lambda: (WORDS, array(writeable=True)),
    "dict": lambda: dict(zip(WORDS, array())),
    "frame": lambda: pd.DataFrame(array(), index=WORDS),
    "gensim": lambda: KeyedVectors(WORDS, array()),
    "model": lambda: FrozenEstimator(MeanEmbeddingVectorizer(word_vectors=(WORDS, array())).fit(X)),
}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_pickle_holds_the_vectors_once(source, options):
    model = MeanEmbeddingVectorizer(word_vectors=source(), **options).fit(X)
    expected = model.transform([*X, "zebra"])
    once = array().nbytes
    assert once < len(pickle.dumps(model)) < 1.4 * once
    for travel in (lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy):
        again = travel(model)
        assert again.transform([*X, "zebra"]).tobytes() == expected.tobytes()
        assert again.word_vectors_.tobytes() == model.word_vectors_.tobytes()
        assert set(vars(again)) == set(vars(model))
        assert again.fit(X).transform([*X, "zebra"]).tobytes() == expected.tobytes()


def test_joblib_holds_the_vectors_once(tmp_path):
    model = MeanEmbeddingVectorizer(word_vectors=(WORDS, array()), spelling_weight=0.4).fit(X)
    joblib.dump(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 1.4 * array().nbytes
    for mode in (None, "r"):
        again = joblib.load(tmp_path / "m", mmap_mode=mode)
        assert again.transform(X).tobytes() == model.transform(X).tobytes()
        assert np.shares_memory(again.word_vectors_, again.word_vectors[1])


def test_skops_holds_the_vectors_once():
    model = MeanEmbeddingVectorizer(word_vectors=(WORDS, array(4000)), spelling_weight=0.4).fit(X)
    data = skops.io.dumps(model)
    assert len(data) < 1.4 * array(4000).nbytes
    again = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    assert again.transform(X).tobytes() == model.transform(X).tobytes()


def test_shared_vectors_are_shared_after_a_journey():
    again = pickle.loads(pickle.dumps(MeanEmbeddingVectorizer(word_vectors=(WORDS, array())).fit(X)))
    assert again.word_vectors_ is again.word_vectors[1] is again._state.arrays["_processed_vectors"]
    assert not again.word_vectors_.flags.writeable
    assert again.fit(X).word_vectors_ is again.word_vectors[1]


def test_a_source_that_was_changed_after_the_fit_is_stored_beside_the_vectors():
    vectors = dict(zip(WORDS, array(5, writeable=True)))
    model = MeanEmbeddingVectorizer(word_vectors=vectors).fit(X)
    expected = model.transform(X).tobytes()
    vectors["cat"][:] = 0
    assert pickle.loads(pickle.dumps(model)).transform(X).tobytes() == expected
    vectors["cat"] = "nonsense"
    assert pickle.loads(pickle.dumps(model)).transform(X).tobytes() == expected
    model.set_params(word_vectors=None)
    assert pickle.loads(pickle.dumps(model)).transform(X).tobytes() == expected


def test_vectors_of_zeros_are_stored_as_rows_with_values():
    """Which are another way not to store the vectors, and must not be taken for those of a parameter."""
    vectors = array(1500, writeable=True)
    vectors[3:] = 0
    assert has_empty_rows(vectors) and not has_empty_rows(vectors[:3])
    for source in ([(WORDS, vectors)], (WORDS, vectors)):
        model = MeanEmbeddingVectorizer(word_vectors=source, unknown="zero").fit(X)
        for drop in (False, True):
            again = pickle.loads(pickle.dumps(model.set_params(word_vectors=None) if drop else model))
            assert again.transform(X).tobytes() == model.transform(X).tobytes()


def test_what_is_summed_waits_for_the_next_fit():
    model = MeanEmbeddingVectorizer(word_vectors=(WORDS, array(5)), hash_numbers=True).fit(X)
    expected = model.transform(X).tobytes()
    model.set_params(hash_numbers=False, spelling_weight=0.3)
    assert pickle.loads(pickle.dumps(model)).transform(X).tobytes() == expected


# -- memory ------------------------------------------------------------------------------------------------------------


def test_no_matrix_of_moments_without_need():
    one = {word: np.ones(20_000, np.float32) for word in ("cat", "dog")}  # its moments would take 3.2 GB
    tracemalloc.start()
    MeanEmbeddingVectorizer(word_vectors=one).fit(["cat dog"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


@pytest.mark.parametrize("options", [{"n_removed_components": 1}, {"n_components": 2}])
def test_a_matrix_that_is_too_large_is_refused_before_it_is_made(options):
    one = {"cat": np.ones(2_000_000, np.float32)}
    is_joined = "n_components" in options
    model = MeanEmbeddingVectorizer(word_vectors=[one] if is_joined else one, **options)
    with pytest.raises(MemoryError, match=r"shape \(2000000, 2000000\)"):
        model.fit(["cat dog"])
    assert not hasattr(model, "vocabulary_")


# -- numbers at the ends of float32 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-44, 1e-38, 1e-30, 1e-19, 1e19, 1e28])
@pytest.mark.parametrize(
    "options",
    [{}, {"spelling_weight": 0.4}, {"n_removed_components": 1}, {"whiten": True, "joined": True}, {"joined": True}],
    ids=str,
)
def test_vectors_of_any_magnitude(scale, options):
    options = dict(options)
    whiten = options.pop("whiten", False)
    rows = 1 + np.random.default_rng(0).random((len(WORDS), 4))
    given = (WORDS, rows * scale)
    sources = [(WORDS, rows), given]
    if options.pop("joined", False):
        sources = [MetaEmbeddingVectorizer([source] * 2, whiten=whiten) for source in sources]
    models = [MeanEmbeddingVectorizer(word_vectors=source, **options) for source in sources]
    usual, scaled = (model.fit(X) for model in models)
    for text in (X, ["zebra", "cat zebra"]):
        found = scaled.transform(text)
        assert np.isfinite(found).all()
        if scale > 1e-40:  # others are rounded to a few bits
            assert found.any(axis=1).all()
            cosine = paired_cosine_similarity(found, usual.transform(text))
            np.testing.assert_allclose(cosine, 1, atol=1e-4)
    if scale > 1e-40 and not whiten:
        for word in ("cat", "dog"):
            expected = dict(usual.most_similar(word, 3))
            assert dict(scaled.most_similar(word, 3)) == pytest.approx(expected, abs=1e-4)
        found, expected = (model.explain("the cat", "a dog zebra") for model in (scaled, usual))
        np.testing.assert_allclose(found.contributions, expected.contributions, atol=1e-4)
    lengths = row_norms(scaled.word_vectors_)
    assert np.isfinite(lengths).all() and (lengths > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_norms(dtype):
    rows = np.random.default_rng(0).normal(size=(2001, 7)).astype(dtype)
    assert row_norms(rows).tobytes() == np.linalg.norm(rows, axis=1).tobytes()
    largest, smallest = float(np.finfo(dtype).max) / 8, float(np.finfo(dtype).tiny)
    for scale in (largest / 8, smallest):
        scaled = (rows * dtype(scale)).astype(dtype)
        np.testing.assert_allclose(row_norms(scaled) / dtype(scale), np.linalg.norm(rows, axis=1), rtol=1e-5)
    assert row_norms(np.zeros((2, 3), dtype)).tolist() == [0, 0]
