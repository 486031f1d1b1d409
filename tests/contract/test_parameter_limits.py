"""Whatever values parameters have: a fit of finite numbers in little memory, or an error that names a parameter."""

import sys
import warnings
from functools import cache

import numpy as np
import pytest
import sklearn
from estimators import CLASSES, GROUPS, TEXT, TRAINED, TRAINED_CLASSES, bits, corpus, default, dense, learned, make
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skembed import SentenceCorpus
from skembed._compiled import arrays
from skembed._training.encoded_text import SentenceBlocks

SENTENCES, DOCUMENTS = TEXT[9:29], GROUPS[9:29]
ROOM = 2**28  # bytes: a larger array is refused, as on a small machine
JUNK = [
    "x",
    "",
    None,
    (),
    [1, 2],
    -1,
    0,
    1.5,
    float("nan"),
    float("inf"),
    True,
    np.bool_(True),
    1j,
    np.array(["x", "y"]),
]
INTEGERS = [
    1,
    2,
    3,
    17,
    1000,
    1.0,
    np.int64(2),
    np.uint8(3),
    10**9,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    10**20,
    -(10**30),
]
FLOATS = [1e-320, 1e-40, 1e-12, 1e-4, 0.5, 1.0, np.float32(0.25), 1e6, 1e12, 1e300, 10**30, sys.float_info.max]
RANGES = [
    (1, 0),
    (2, 1),
    (1, 2),
    (1, 3),
    (1, 2**31 - 1),
    (1, 10**30),
    (0, 1),
    (1, 2, 3),
    (1, 2.0),
    (np.int64(1), np.int64(2)),
]
UNBOUNDED = {"max_iter": [1, 2, np.int64(3), 0, 2**63, 10**20]}  # larger ones are possible, and take their time


def values_of(parameter, default):
    if parameter in UNBOUNDED:
        return UNBOUNDED[parameter]
    if parameter == "ngram_range":
        return RANGES + JUNK
    if isinstance(default, float):
        return FLOATS + JUNK
    return INTEGERS + JUNK


TEXT_OPTIONS = {"analyzer", "token_pattern", "lowercase", "stop_words", "stemmer", "corpus", "word_vectors"}


@st.composite
def changes(draw, name):
    defaults = make(name).get_params()
    names = draw(st.lists(st.sampled_from(sorted(set(defaults) - TEXT_OPTIONS)), min_size=1, max_size=3, unique=True))
    cls = type(make(name))
    return {key: draw(st.sampled_from(values_of(key, getattr(default(cls), key)))) for key in names}


def small_machine(monkeypatch):
    unshared_zeros = arrays.unshared_zeros

    def guarded(shape, dtype):
        if np.prod([float(n) for n in shape]) * np.dtype(dtype).itemsize > ROOM:
            raise MemoryError
        return unshared_zeros(shape, dtype)

    monkeypatch.setattr(arrays, "unshared_zeros", guarded)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("name", [cls.__name__ for cls in CLASSES])
def test_any_value(name, skip, monkeypatch):
    small_machine(monkeypatch)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(changes(name))
    def fit(options):
        estimator = make(name, **{"verbose": 0, **options} if "verbose" in make(name).get_params() else options)
        with sklearn.config_context(skip_parameter_validation=skip), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                estimator.fit(SENTENCES, groups=DOCUMENTS)
            except (ValueError, TypeError, MemoryError, FileNotFoundError) as error:
                assert any(key in str(error) for key in {*options, "n_components"}), (options, error)
                assert not learned(estimator)
                return
        assert np.isfinite(dense(estimator.transform(SENTENCES))).all()
        if name in TRAINED_CLASSES:
            assert estimator.estimate_memory(corpus())["total"] > 0

    fit()


WRONG = [
    {"solver": "x"},
    {"max_iter": 0},
    {"pooling": "median"},
    {"weighting": "foo"},
    {"unknown": 3},
    {"negative": 0},
    {"window": 0},
    {"ngram_range": (2, 1)},
    {"n_buckets": 0},
    {"dropout_k": -1},
    {"temperature": 0},
    {"n_components": 0},
    {"n_components": 8.0},
    {"batch_size": 2},
]


@cache
def compares_with_neighbours(name):
    """Whether its blocks are for comparing sentences with their neighbours and with others: two are too few."""
    found = []

    def shape(blocks, *args, original=SentenceBlocks.shape):
        found.append(blocks)
        return original(blocks, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SentenceBlocks, "shape", shape)
        make(name).estimate_memory(TEXT)
    return any(blocks.border > 0 for blocks in found)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "partial_fit again", "estimate_memory"])
@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_kernels_meet_no_value_that_they_were_not_written_for(name, method):
    wrong = [options for options in WRONG if set(options) <= set(make(name).get_params())]
    if "window" not in make(name).get_params() or not compares_with_neighbours(name):
        wrong.remove({"batch_size": 2})
    for options in wrong:
        estimator = make(name)
        if method.endswith("again"):
            estimator.partial_fit(TEXT, groups=GROUPS)
        before = learned(estimator)
        estimator.set_params(**options)
        with (
            sklearn.config_context(skip_parameter_validation=True),
            pytest.raises(ValueError, match=next(iter(options))),
        ):
            getattr(estimator, method.split()[0])(TEXT)
        assert learned(estimator) == before


@pytest.mark.parametrize(
    ("name", "options"),
    [
        (name, {option: value})
        for name in TRAINED_CLASSES
        for option, value in (("pooling", "median"), ("unknown", 3), ("unknown", None))
        if option in make(name).get_params()
    ],
)
def test_transform_meets_none_either(name, options):
    estimator = make(name).fit(TEXT, groups=GROUPS).set_params(**options)
    with pytest.raises(ValueError, match=next(iter(options))):
        estimator.transform(["cat"])
    with pytest.raises(ValueError, match=next(iter(options))):
        estimator.similarity("cat", "dog")


# -- the scratch space follows the text --------------------------------------------------------------------------------

LARGEST = {
    "batch_size": (10**9, len(TEXT) * 8),
    "window": (10**9, 45),
    "ngram_range": ((1, 10**9), (1, 50)),
    "max_sentence_length": (2**63 - 1, 1000),
}


CASES = [
    (name, option)
    for name in TRAINED
    for option in LARGEST
    if option in make(name).get_params() and make(name).solver == "adagrad"
    if name in TRAINED_CLASSES or option == "ngram_range"
]


@pytest.mark.parametrize(("name", "option"), CASES)
def test_what_the_text_does_not_need_takes_no_memory_and_changes_no_bit(name, option):
    text = SentenceCorpus.from_sentences(TEXT, GROUPS, stemmer=make(name).stemmer)
    beyond, enough = (make(name, **{option: value}) for value in LARGEST[option])
    memory = beyond.estimate_memory(text)
    assert memory["scratch"] <= 2 * enough.estimate_memory(text)["scratch"] < 2**27
    learned_rows = "target_vectors_" if name == "ParagraphVectorizer" else "word_vectors_"
    rows = [getattr(estimator.fit(TEXT, groups=GROUPS), learned_rows) for estimator in (beyond, enough)]
    # Word2vec draws the size of each window, so there a larger one is another model.
    assert (bits(rows[0]) == bits(rows[1])) != (option == "window" and name.startswith("Word2Vec"))


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_estimate_takes_no_memory_for_what_it_counts(name, monkeypatch):
    monkeypatch.setattr(arrays.Allocator, "zeros", None)
    options = {"n_components": 2**31 - 1, "batch_size": 10**9}
    options |= {"ngram_range": (1, 2), "n_buckets": 2**31 - 1000} if name == "Sent2VecVectorizer" else {}
    memory = make(name, **options).estimate_memory(corpus())
    assert memory["weights"] >= 4 * (2**31 - 1) * len(corpus().vocabulary)
    assert memory["scratch"] > 4 * (2**31 - 1) * len(TEXT)


@pytest.mark.parametrize("name", TRAINED_CLASSES)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_lack_of_memory_names_parameters_and_bytes(name, method, monkeypatch):
    small_machine(monkeypatch)
    estimator = make(name, n_components=10**7)
    total = estimator.estimate_memory(corpus())["total"]
    with pytest.raises(MemoryError, match=rf"{name} needs {total / 2**30:,.1f} GiB .*n_components=10000000") as caught:
        getattr(estimator, method)(corpus())
    assert len(str(caught.value)) < 400 and not learned(estimator)


def test_more_rows_than_numbers_is_a_lack_of_memory():
    estimator = make("Sent2VecVectorizer", n_components=1, ngram_range=(1, 2), n_buckets=2**31 - 1)
    with pytest.raises(MemoryError, match="n_buckets=2147483647"):
        estimator.fit(TEXT)


def test_limits_of_a_corpus():
    for option in ("min_count", "max_features"):
        for value in (0, 2**63, 10**30):
            with pytest.raises(ValueError, match=rf"{option} must be an integer of at least 1 and at most 2\*\*63 - 1"):
                SentenceCorpus.from_sentences(TEXT, **{option: value})
    whole = SentenceCorpus.from_sentences(TEXT, GROUPS, max_features=2**63 - 1)
    assert whole.vocabulary.words == corpus().vocabulary.words


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_true_is_no_integer(name):
    for option in {"n_components", "window", "max_features", "batch_size"} & set(make(name).get_params()):
        with pytest.raises(ValueError, match=f"'{option}' parameter of .* must be an int .* Got True instead"):
            make(name, **{option: True}).fit(SENTENCES)
