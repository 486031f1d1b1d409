"""The convolutional encoder: windows and steps against slow twins, and what is particular to it."""

import copy

import numpy as np
import pandas as pd
import pytest
import reference
from estimators import learned
from kernel_cases import tiny_text
from reference import adam_step
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import CBOSVectorizer, CSEVectorizer, PairCorpus, ParaphraseVectorizer, SentenceCorpus
from skembed._compiled import rows, simd
from skembed._compiled.products import product_by_row
from skembed._encoders import convolution
from skembed._encoders.convolution import (
    Convolution,
    IndexedSentences,
    LinearFilters,
    Shape,
    embed_bags,
    embed_windows,
    start_filters,
)
from skembed.research import GRANVectorizer

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of random bits, without JIT

PAIRS = [
    ("A dog bites a man", "A man is bitten by a dog"),
    ("A man bites a dog", "A dog is bitten by a man"),
    ("Rain fell all day", "It rained the whole day"),
    ("Cheap flights to Rome", "Low cost air tickets to Rome"),
    ("The bank lends money", "Loans from a bank"),
    ("He bakes bread", "Bread comes out of his oven"),
] * 4
FAST = {"n_components": 8, "n_filters": 6, "max_iter": 3, "random_state": 0}
WORDS = sorted({word for pair in PAIRS for side in pair for word in side.lower().split()} - {"oven"})
GIVEN = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 10)).astype(np.float32)))
WIDTHS = [(1, 2, 3), (2,), (5, 1)]
FORMS = {
    f"{'wide' if wide else 'narrow'}-{'tanh' if tanh else 'identity'}": (wide, tanh)
    for wide in (True, False)
    for tanh in (True, False)
}


@pytest.mark.kernel
def test_a_product_is_exact_and_each_row_depends_on_it_alone():
    random = np.random.default_rng(0)
    for n, m, d in [(0, 3, 4), (1, 16, 1), (7, 21, 5), (200, 40, 33)]:
        rows, matrix = random.normal(size=(n, d)).astype(np.float32), random.normal(size=(m, d)).astype(np.float32)
        found = product_by_row(rows, matrix)
        np.testing.assert_allclose(found[:, :m], rows.astype(np.float64) @ matrix.T, rtol=1e-4, atol=1e-5)
        assert found.shape[1] % 16 == 0 and not found[:, m:].any()
        order = random.permutation(n)
        for which in (order, order[: n // 3], order[:1]):
            assert product_by_row(rows[which], matrix).tobytes() == found[which].tobytes()


def tanh_of(matrix, out):
    for i in range(matrix.shape[0]):
        simd.store(out, i, 0, rows.tanh(simd.load(matrix, i, 0)))


@pytest.mark.kernel
def test_the_hyperbolic_tangent():
    x = np.concatenate([np.linspace(-12, 12, 4000), np.geomspace(1e-30, 1, 94), [0.0, np.inf]]).astype(np.float32)
    matrix = x.reshape(-1, 16)
    found = np.empty_like(matrix)
    convolution.lean_kernel(tanh_of)(matrix, found)
    np.testing.assert_allclose(found.ravel(), np.tanh(x.astype(np.float64)), rtol=5e-7)


class Words:
    """An encoder of words that does not move, and remembers what it was asked."""

    def __init__(self, vectors):
        self.vectors, self.gradient, self.n_steps = vectors, None, 5

    def encode(self, text, sentences, seed, learn):
        self.ids = [text.tokens[text.sent_ptr[i] : text.sent_ptr[i + 1]] for i in sentences]
        return np.array([self.vectors[ids].sum(axis=0) for ids in self.ids], np.float32).reshape(-1, 5)

    def step(self, gradient, rate):
        self.gradient = np.zeros(self.vectors.shape)
        for ids, of_sentence in zip(self.ids, gradient):
            np.add.at(self.gradient, ids, of_sentence)


def arrays(widths, n_filters):
    random = np.random.default_rng(3)
    shape = sum(widths), n_filters, 5
    return {
        "_filters": random.normal(size=shape).astype(np.float32),
        "_start_filters": random.normal(size=shape).astype(np.float32),
        "_intercept": random.normal(size=(len(widths), n_filters)).astype(np.float32),
        "_filters_accumulator": random.uniform(0, 0.1, size=(2, *shape)).astype(np.float32),
        "_intercept_accumulator": random.uniform(0, 0.1, size=(2, len(widths), n_filters)).astype(np.float32),
    }


# An empty sentence, unknown words, repeated words, one word; 21 filters are one vector and five more, which overlap.
WHICH = np.array([0, 1, 2, 3, 4, 6, 8, 0])


@pytest.mark.kernel
@pytest.mark.parametrize("n_filters", [3, 21])
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("form", FORMS)
def test_sums_of_windows_and_their_gradients_are_the_twins(form, widths, n_filters):
    wide, tanh = FORMS[form]
    text, slow = tiny_text()
    fitted, vectors = arrays(widths, n_filters), np.random.default_rng(4).normal(size=(9, 5)).astype(np.float32)
    shape = Shape(np.array(widths, np.int64), wide, tanh)
    words = Words(vectors)
    encoder = (LinearFilters if shape.is_bag else Convolution)(words, fitted, shape, 0.0, 0.0)
    known = [[word for word in slow.sentences[i] if word < 9] for i in WHICH]
    doubles = [array.astype(np.float64) for array in (vectors, fitted["_filters"], fitted["_intercept"])]

    def twin():
        rows, *of_filters = doubles
        return np.array([reference.convolve(rows[words], *of_filters, widths, wide, tanh) for words in known])

    found = encoder.encode(text, WHICH, 0, True)
    np.testing.assert_allclose(found, twin(), rtol=1e-4, atol=1e-5)
    assert found.any(axis=1).tolist() == [len(words) > 0 for words in known]
    ids, ptr = np.concatenate(known).astype(np.int32), np.cumsum([0, *map(len, known)])
    listed = IndexedSentences.of(ids, ptr, np.zeros(9, np.int32))
    filters_and_intercept = fitted["_filters"], fitted["_intercept"]
    embedded = embed_windows(listed, vectors[listed.distinct], *filters_and_intercept, shape)
    np.testing.assert_allclose(embedded, twin(), rtol=1e-4, atol=1e-5)
    if shape.is_bag:
        sums = np.array([vectors[words].sum(axis=0) for words in known])
        embedded = embed_bags(sums, ptr, *filters_and_intercept, shape)
        np.testing.assert_allclose(embedded, twin(), rtol=1e-4, atol=1e-5)

    gradient = np.random.default_rng(2).normal(size=found.shape).astype(np.float32)
    steps = {}
    encoder._step = lambda of_words, *others: (words.step(of_words, 0.0), steps.update(of=others))
    encoder.step(gradient, 0.1)
    of_filters, of_intercept, rate = steps["of"]
    assert rate == 0.1
    for array, given in zip(doubles, (words.gradient, of_filters, of_intercept)):
        numeric = reference.numeric_gradient(lambda: float((gradient * twin()).sum()), array, 1e-6)
        np.testing.assert_allclose(given, numeric, rtol=1e-3, atol=1e-3)
        assert np.abs(numeric).max() > 0.1


@pytest.mark.kernel
def test_memory_of_a_block_is_what_its_arrays_have():
    encoder = Convolution(
        Words(np.ones((9, 5), np.float32)), arrays((1, 2), 16), Shape(np.array([1, 2]), True, True), 0.0, 0.0
    )
    encoder.words.scratch_bytes = lambda n_sentences, n_words: 0
    encoder.encode(tiny_text()[0], np.array([0]), 0, True)  # six words, all distinct
    of_words = encoder._terms.products.nbytes + encoder._vectors.nbytes  # as much again of their gradients
    ids_and_places = 6 * (4 + 8)
    of_sentence = 2 * encoder._terms.intercept.nbytes
    assert encoder.scratch_bytes(1, 6) == 2 * of_words + ids_and_places + of_sentence


@pytest.mark.kernel
def test_a_step_is_that_of_adam():
    fitted = arrays((1, 2), 16)
    encoder = Convolution(Words(np.ones((9, 5), np.float32)), fitted, Shape(np.array([1, 2]), True, True), 0.5, 0.0)
    before = copy.deepcopy(fitted)
    text, _ = tiny_text()
    encoder.encode(text, WHICH, 0, True)
    random = np.random.default_rng(5)
    of_filters = random.normal(size=(3, 16, 5)).astype(np.float32)
    of_intercept = random.normal(size=(2, 16)).astype(np.float32)
    encoder._step(np.zeros((len(encoder.words.ids), 5)), of_filters, of_intercept, 0.01)
    unit = convolution.FILTER_STEP * np.linalg.norm(before["_start_filters"], axis=2).mean(axis=1)
    gradient = of_filters + 0.5 * before["_filters"]
    step = adam_step(before["_filters_accumulator"], ..., gradient, 0.01, 5)
    np.testing.assert_allclose(fitted["_filters"], before["_filters"] - unit[:, None, None] * step, rtol=1e-5)
    step = (
        convolution.FILTER_STEP
        * convolution.GAIN
        * np.sqrt(32)
        * adam_step(before["_intercept_accumulator"], ..., of_intercept, 0.01, 5)
    )
    np.testing.assert_allclose(fitted["_intercept"], before["_intercept"] - step, rtol=1e-5, atol=1e-7)
    assert fitted["_filters_accumulator"].tobytes() == before["_filters_accumulator"].tobytes()


@pytest.mark.kernel
def test_words_are_dropped_by_position_and_never_all():
    text, _ = tiny_text()
    listed = []
    for seed in range(200):
        encoder = Convolution(Words(None), arrays((1,), 4), Shape(np.ones(1, np.int64), True, True), 0.0, 0.5)
        kept = encoder._listed(text, np.array([0, 1, 2, 4]), seed, True)
        listed.append(np.diff(kept.sent_ptr))
        assert kept.tokens.tobytes() == encoder._listed(text, np.array([0, 1, 2, 4]), seed, True).tokens.tobytes()
        assert len(encoder._listed(text, np.array([0, 1, 2, 4]), seed, False).tokens) == 10
    assert np.min(listed, axis=0).tolist() == [1, 1, 0, 1] and np.max(listed, axis=0).tolist() == [6, 3, 0, 1]
    np.testing.assert_allclose(np.mean(listed, axis=0), [3.0, 1.8, 0, 1], atol=0.3)


@pytest.mark.parametrize(("n_filters", "d"), [(4, 12), (2, 12), (8, 12)])
def test_filters_start_as_a_rotation(n_filters, d):
    filters = np.zeros((6, n_filters, d), np.float32)
    start_filters(filters, (1, 2, 3), 2.0, 0)
    rotation = np.concatenate([filters[:1].sum(axis=0), filters[1:3].sum(axis=0), filters[3:].sum(axis=0)])
    square = rotation.T @ rotation if 3 * n_filters >= d else rotation @ rotation.T
    np.testing.assert_allclose(square, square[0, 0] * np.eye(len(square)), atol=1e-5)
    assert np.abs(filters[1] - filters[2]).max() > 0.1


def cosines(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


def test_it_starts_where_a_model_stands():
    source = CBOSVectorizer(12, min_count=1, random_state=0).fit([side for pair in PAIRS for side in pair])
    text = ["a dog bites", "rome and bread", "never heard of", "bank"]
    expected = cosines(source.transform(text))
    options = FAST | {"n_components": 12, "init": source, "learning_rate": 1e-12}
    linear = CSEVectorizer(activation="identity", **options).fit(PAIRS)
    np.testing.assert_allclose(cosines(linear.transform(text)), expected, atol=1e-5)
    curved = CSEVectorizer(**options).fit(PAIRS)
    np.testing.assert_allclose(cosines(curved.transform(text)), expected, atol=0.1)
    assert linear.n_features_out_ == 18 and linear.word_vectors_.shape[1] == 12


def test_tanh_sees_the_order_of_words_and_the_linear_form_does_not():
    pairs = [("dog bites man", "man bitten by dog"), ("man bites dog", "dog bitten by man")]
    pairs += [("cat sees bird", "bird seen by cat"), ("bird sees cat", "cat seen by bird")]
    options = FAST | {"n_components": 16, "n_filters": 16, "max_iter": 60, "learning_rate": 0.01, "batch_size": 16}
    found = {}
    for activation in ("tanh", "identity"):
        model = CSEVectorizer(activation=activation, **options).fit(pairs * 16)
        found[activation] = cosines(model.transform([*pairs[0], *pairs[1]]))
    np.testing.assert_allclose(found["identity"][0, [2, 1]], [1, found["identity"][0, 3]], atol=1e-5)
    assert found["tanh"][0, 1] > found["tanh"][0, [2, 3]].max() + 0.5


@pytest.mark.parametrize("form", FORMS)
def test_every_sentence_has_a_row(form):
    wide, tanh = FORMS[form]
    options = {"padding": "wide" if wide else "narrow", "activation": "tanh" if tanh else "identity"}
    model = CSEVectorizer(**FAST, **options).fit(PAIRS)
    text = ["", "...", "dog", "a dog", "zzz", "zzz dog", "dog " * 50, "A dog bites a man", "rome", "dog"]
    rows = model.transform(text)
    assert np.isfinite(rows).all() and not rows[:2].any() and rows[2:].any(axis=1).all()
    assert rows[2].tobytes() == rows[9].tobytes()
    for sentence, row in zip(text, rows):
        assert model.transform([sentence])[0].tobytes() == row.tobytes()
    model.set_params(unknown="zero")
    without = model.transform(text)
    assert not without[4].any() and without[5].tobytes() == without[2].tobytes() == rows[2].tobytes()
    many = text * 300
    assert model.transform(many).tobytes() == np.tile(without, (300, 1)).tobytes()
    assert model.set_params(n_jobs=2).transform(many).tobytes() == np.tile(without, (300, 1)).tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_threads_change_no_bit(form):
    wide, tanh = FORMS[form]
    options = {"padding": "wide" if wide else "narrow", "activation": "tanh" if tanh else "identity"}
    fits = [CSEVectorizer(**FAST, **options, word_dropout=0.3, n_jobs=n_jobs).fit(PAIRS) for n_jobs in (1, 2)]
    assert learned(fits[0]) == learned(fits[1])


def test_the_linear_form_with_one_filter_is_the_paraphrase_method_with_a_map():
    words = ParaphraseVectorizer(10, init=GIVEN, random_state=0, learning_rate=1e-12).fit(PAIRS)
    linear = CSEVectorizer(init=GIVEN, filter_widths=(1,), n_filters=10, activation="identity", random_state=0)
    linear.set_params(learning_rate=1e-12).fit(PAIRS)
    np.testing.assert_allclose(linear.loss_curve_, words.loss_curve_, rtol=1e-4)


def test_learning_goes_on():
    sets = [PairCorpus.from_pairs(PAIRS[:6]), PairCorpus.from_pairs(PAIRS)]
    model = CSEVectorizer(**FAST).fit(sets)
    assert model.n_iter_ == 6
    before = model.filters_.copy()
    model.partial_fit(PAIRS)
    assert model.n_iter_ == 7 and np.abs(model.filters_ - before).max() > 1e-4
    again = CSEVectorizer(**FAST, warm_start=True).fit(PAIRS).fit(PAIRS)
    assert again.n_iter_ == 6
    with pytest.raises(ValueError, match="n_filters=7 differs from 6"):
        again.set_params(n_filters=7).fit(PAIRS)
    with pytest.raises(ValueError, match="padding='narrow' differs from 'wide'"):
        again.set_params(n_filters=6, padding="narrow").fit(PAIRS)


def test_part_of_the_way():
    options = FAST | {"n_components": 10, "init": GIVEN}
    start, half, end = (CSEVectorizer(interpolation=x, **options).fit(PAIRS) for x in (0.0, 0.5, 1.0))
    assert not start.intercept_.any() and end.intercept_.any()
    assert (start.filters_ == start._state.arrays["_start_filters"]).all()
    np.testing.assert_allclose(half.filters_, (start.filters_ + end.filters_) / 2, atol=1e-6)
    np.testing.assert_allclose(half.intercept_, end.intercept_ / 2, atol=1e-7)


def test_filter_alpha_shrinks_the_filters():
    free, held = (CSEVectorizer(filter_alpha=alpha, **FAST).fit(PAIRS) for alpha in (0.0, 10.0))
    assert np.linalg.norm(held.filters_) < np.linalg.norm(free.filters_)


@pytest.mark.parametrize("widths", [(), (0,), (1, 2.5), ("1",), (101,), (True,)])
def test_widths_that_are_none(widths):
    with pytest.raises(ValueError, match="filter_widths must be whole numbers from 1 to 100"):
        CSEVectorizer(filter_widths=widths).fit(PAIRS)


def test_divergence_changes_nothing():
    model = CSEVectorizer(**FAST, learn="vectors", warm_start=True).fit(PAIRS)
    before = learned(model)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e12, activation="tanh", temperature=1e-4).fit(PAIRS)
    assert learned(model) == before


@pytest.mark.parametrize("cls", [CSEVectorizer, GRANVectorizer, ParaphraseVectorizer])
@pytest.mark.parametrize("form", [list, np.array, iter, pd.DataFrame, PairCorpus.from_pairs])
def test_pairs_have_no_rows(cls, form):
    """Which is said before anything is learned."""
    model = cls(8)
    for learn in (model.fit_transform, make_pipeline(model, LinearSVC()).fit):
        with pytest.raises(ValueError, match=r"call fit\(pairs\), and then transform\(sentences\)"):
            learn(form(PAIRS))
    with pytest.raises(ValueError, match="in a pipeline, pass the pairs as the parameter corpus"):
        make_pipeline(model, LinearSVC()).fit(PAIRS, [i % 2 for i in range(len(PAIRS))])
    assert not hasattr(model, "vocabulary_")


def test_sentences_with_labels_have_rows():
    sentences = [sentence for pair in PAIRS for sentence in pair]
    meaning = np.arange(len(sentences)) // 2
    model = CSEVectorizer(**FAST)
    expected = model.fit(sentences, meaning).transform(sentences)
    encoded = SentenceCorpus.from_sentences(sentences, meaning)
    for X, more in [(sentences, {"y": meaning}), (sentences, {"groups": meaning}), (encoded, {})]:
        np.testing.assert_array_equal(model.fit_transform(X, **more), expected)
    model.set_params(corpus=PairCorpus.from_pairs(PAIRS))
    np.testing.assert_array_equal(model.fit_transform(sentences), model.fit(PAIRS).transform(sentences))
    with pytest.raises(ValueError, match="pass the pairs as the parameter corpus"):
        model.fit_transform(PAIRS)
