"""Any text at all: rows are finite and independent, and fit either learns or says why not."""

import numpy as np
import pytest
from estimators import KINDS, METHODS, NAMES, PAIRED, TEXT, TRAINED, TRAINED_CLASSES, bits, dense, fitted, learned, make
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

every = pytest.mark.parametrize("name", NAMES)
every_method = pytest.mark.parametrize("name", METHODS)
# Texts of a few words have no neighbours, nothing to predict, or no word that a model knows: saying so is right.
LEARNS_LITTLE = pytest.mark.filterwarnings(
    "ignore:.*are alone in their document",
    "ignore:.*found nothing to predict",
    "ignore:.*Vectorizer has learned nothing",
    "ignore:Only .* of the words",
    "ignore:Words such as",
    "ignore:.* of the sentences of X have no word",
)
quick = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from(
    [
        "cat",
        "Dog",
        "rain",
        "SNOW",
        "the",
        "zzz",
        "Ärger",
        "北京",
        "e\u0301",
        "İ",
        "ß",
        "\ud800",
        "\udc00",
        "\x00",
        "a\x00b",
    ]
    + ["😀", "\u200b", "\ufeff", "1", "_", "'", "\u2028", "\u0660", "ﬁ", "ǅ", "\U0010ffff"]
)
SENTENCES = st.one_of(
    st.lists(WORDS, max_size=12).map(" ".join),
    st.lists(WORDS, max_size=6).map("".join),
    st.text(alphabet=st.characters(), max_size=30),  # every code point, lone surrogates too
    st.builds(lambda word, n: f"{word} " * n, WORDS, st.integers(0, 3000)),
    st.sampled_from(TEXT),
)
TEXTS = st.lists(SENTENCES, max_size=12)
LEARNABLE = st.lists(st.one_of(SENTENCES, st.lists(WORDS, min_size=2, max_size=8).map(" ".join)), max_size=30)


@every
@LEARNS_LITTLE
@quick
@given(X=TEXTS)
@example(X=["\ud800", "\x00", "", "cat\ud800dog", "cat\x00dog"])
def test_rows_of_any_text(name, X):
    estimator = fitted(name)
    rows = dense(estimator.transform(X))
    assert rows.shape == (len(X), estimator.n_features_out_)
    assert np.isfinite(rows).all()
    for i, sentence in enumerate(X):
        assert bits(dense(estimator.transform([sentence]))[0]) == bits(rows[i])
    assert bits(dense(estimator.transform(X[::-1]))) == bits(np.ascontiguousarray(rows[::-1]))


@pytest.mark.parametrize("name", sorted({*METHODS, *KINDS, "CBOSVectorizer-sgd", "CBOSVectorizer-given"}))
@quick
@given(X=LEARNABLE, data=st.data())
@example(X=["a"], data=None)
@example(X=["a a"], data=None)
@example(X=["a b", "a b"], data=None)
@example(X=["\ud800 \udc00", "\x00"], data=None)
@example(X=["cat cat cat"] * 20, data=None)
@example(X=["", "", "cat", ""], data=None)
@example(X=["cat dog", "", "rain"] * 9, data=None)
@LEARNS_LITTLE
@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # principal components of rows that are all alike
def test_fit_learns_or_says_why_not(name, X, data):
    groups = None if data is None else data.draw(st.one_of(st.none(), st.lists(st.integers(0, 3), min_size=len(X))))
    options = {} if data is None else data.draw(st.sampled_from([{}, {"min_count": 2}, {"max_features": 3}]))
    options = {key: value for key, value in options.items() if key in make(name).get_params()}
    estimator = make(name, **options)
    try:
        estimator.fit(X, groups=groups)
    except (TypeError, ValueError) as error:
        assert len(str(error)) > 20
        assert "diverged" not in str(error) or name == "CBOSVectorizer-sgd"  # a sum of 390 words, at a constant rate
        assert not learned(estimator)
        return
    assert np.isfinite(dense(estimator.transform(X))).all()
    assert np.isfinite(dense(estimator.transform(TEXT))).all()
    assert np.isfinite(getattr(estimator, "loss_curve_", [0.0])).all()
    assert learned(make(name, **options).fit(X, groups=groups)) == learned(estimator)


@pytest.mark.parametrize("name", TRAINED_CLASSES)
@LEARNS_LITTLE
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
@given(
    X=st.lists(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), min_size=1, max_size=40),
    batch_size=st.one_of(st.just("auto"), st.integers(1, 100)),
    n_jobs=st.integers(2, 5),
)
def test_number_of_threads_changes_no_bit_on_any_text(name, X, batch_size, n_jobs):
    options = {"batch_size": batch_size, "max_iter": 1, "min_count": 1}
    try:
        one = make(name, **options).fit(X)
    except ValueError:
        return
    assert learned(make(name, n_jobs=n_jobs, **options).fit(X)) == learned(one)


@every_method
@LEARNS_LITTLE
def test_one_giant_sentence(name):
    generator = np.random.default_rng(0)
    giant = " ".join(generator.choice("cat dog rain snow zzz soup train the".split(), 20_000))
    estimator = make(name, max_iter=1) if name in TRAINED else make(name)
    estimator.fit([*TEXT, giant, *TEXT[:5]])
    rows = dense(estimator.transform([giant, TEXT[0], giant]))
    assert np.isfinite(rows).all()
    assert rows[0].any()
    assert bits(rows[0]) == bits(rows[2])
    assert bits(rows[1]) == bits(dense(estimator.transform(TEXT[:1]))[0])
    alone = make(name, max_iter=1, n_jobs=2) if name in TRAINED else None
    if alone is not None:
        n_sentences = 4 if name in PAIRED else 1
        assert np.isfinite(alone.fit([giant] * n_sentences).transform([giant])).all()


@every_method
@LEARNS_LITTLE
def test_huge_words_and_many_distinct_ones(name):
    X = ["x" * 100_000 + " cat", " ".join(f"word{i}" for i in range(5000)), *TEXT]
    rows = dense(make(name, max_iter=1).fit_transform(X) if name in TRAINED else make(name).fit_transform(X))
    assert np.isfinite(rows).all()
