"""Gated recurrent averages: vectors and gradients against a slow twin, and what is particular to them."""

import copy
import tracemalloc

import numpy as np
import pytest
import recurrent_reference
import reference
from estimators import learned
from kernel_cases import tiny_text
from reference import adam_step

from skembed import CBOSVectorizer, PairCorpus, ParaphraseVectorizer
from skembed._training.pairs import IndexedSentences
from skembed.research import GRANVectorizer
from skembed.research import _gated_averages as gated_averages
from skembed.research._gated_averages import GatedAverages, embed_gated

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of random bits, without JIT

# What is ignored is told by the word before it alone.
COLOURS = ["red", "blue", "green"]
PAIRS = [(f"ignore {one} take {other}", other) for one in COLOURS for other in COLOURS if one != other] * 10
FAST = {"n_components": 8, "n_units": 6, "max_iter": 3, "random_state": 0, "batch_size": 16}
D, N_UNITS = 5, 3
# An empty sentence, unknown words, repeated words, one word.
WHICH = np.array([0, 1, 2, 3, 4, 6, 8, 0])


class Words:
    """An encoder of words that does not move, and keeps the gradient that it is given."""

    def __init__(self, vectors):
        self.vectors, self.n_steps = vectors, 5

    def encode(self, text, sentences, seed, learn):
        self.ids = text.tokens
        return self.vectors[text.tokens]

    def step(self, gradient, rate):
        self.gradient = np.zeros(self.vectors.shape)
        self.gradient[self.ids] = gradient

    def scratch_bytes(self, n_sentences, n_words):
        return n_words


def make_encoder(**options):
    random = np.random.default_rng(3)
    fitted = {
        "_unit_weights": random.normal(size=(3, N_UNITS, D + N_UNITS + 1)).astype(np.float32),
        "_gate_weights": random.normal(size=(D, D + N_UNITS + 1)).astype(np.float32),
        "_start_vectors": random.normal(size=(9, D)).astype(np.float32),
    }
    for name in ("_unit_weights", "_gate_weights"):
        fitted[f"{name}_accumulator"] = random.uniform(0, 0.1, (2, *fitted[name].shape)).astype(np.float32)
    words = Words(random.normal(size=(9, D)).astype(np.float32))
    return GatedAverages(words, fitted, **{"alpha": 0.0, "dropout": 0.0, "shuffled": 0.0} | options)


@pytest.mark.kernel
def test_averages_and_gradients_are_the_twins(monkeypatch):
    text, slow = tiny_text()
    encoder = make_encoder()
    known = [[word for word in slow.sentences[i] if word < 9] for i in WHICH]
    arrays = encoder.words.vectors, encoder.arrays["_unit_weights"], encoder.arrays["_gate_weights"]
    doubles = [array.astype(np.float64) for array in arrays]

    def twin():
        rows, *weights = doubles
        return np.array([recurrent_reference.gated_average(rows[words], *weights) for words in known])

    found = encoder.encode(text, WHICH, 0, True)
    np.testing.assert_allclose(found, twin(), rtol=1e-4, atol=1e-5)
    assert found.any(axis=1).tolist() == [len(words) > 0 for words in known]
    listed = np.concatenate(known).astype(np.int32), np.cumsum([0, *map(len, known)])
    sentences = IndexedSentences.of(*listed, np.zeros(9, np.int32))
    embedded = embed_gated(sentences, arrays[0][sentences.distinct], *arrays[1:])
    np.testing.assert_allclose(embedded, twin(), rtol=1e-4, atol=1e-5)

    monkeypatch.setattr(gated_averages, "_WINDOW", 2)  # the unit goes on from its states after two words
    in_windows = embed_gated(sentences, arrays[0][sentences.distinct], *arrays[1:])
    np.testing.assert_allclose(in_windows, twin(), rtol=1e-4, atol=1e-5)
    assert not np.array_equal(in_windows, embedded)

    gradient = np.random.default_rng(2).normal(0, 10, found.shape).astype(np.float32)
    moved = []
    encoder._move = lambda name, of_array, *others: moved.append(of_array)
    encoder.step(gradient, 0.1)
    for array, given in zip(doubles, (encoder.words.gradient, *moved)):
        numeric = reference.numeric_gradient(lambda: float((gradient * twin()).sum()), array, 1e-6)
        np.testing.assert_allclose(given, numeric, rtol=1e-3, atol=1e-4)
        assert np.abs(numeric).max() > 0.1


@pytest.mark.kernel
def test_it_learns_from_the_first_words_of_a_sentence(monkeypatch):
    text, slow = tiny_text()
    monkeypatch.setattr(gated_averages, "_LONGEST", 2)
    encoder = make_encoder()
    found = encoder.encode(text, WHICH, 0, True)
    listed = [[word for word in slow.sentences[i] if word < 9][:2] for i in WHICH]
    weights = encoder.arrays["_unit_weights"], encoder.arrays["_gate_weights"]
    twin = [recurrent_reference.gated_average(encoder.words.vectors[words], *weights) for words in listed]
    np.testing.assert_allclose(found, twin, rtol=1e-4, atol=1e-5)
    assert sorted(set(map(len, listed))) == [0, 1, 2]
    assert encoder.scratch_bytes(8, 10**9) == encoder.scratch_bytes(8, 10**6)


@pytest.mark.kernel
def test_a_step_is_that_of_adam():
    text, _ = tiny_text()
    encoder, free = make_encoder(alpha=0.5), make_encoder()
    before, of = copy.deepcopy(encoder.arrays), {}
    free._move = lambda name, gradient, *others: of.update({name: gradient})
    for one in (encoder, free):
        gradient = np.ones_like(one.encode(text, WHICH, 0, True))
        one.step(gradient, 0.01)
    unit = np.full(D + N_UNITS + 1, 0.1)
    unit[:D] *= D**0.5 / np.median(np.linalg.norm(before["_start_vectors"], axis=1))
    for name, gradient in of.items():
        step = adam_step(before[f"{name}_accumulator"], ..., gradient + np.float32(0.5) * before[name], 0.01, 5)
        np.testing.assert_allclose(encoder.arrays[name], before[name] - unit * step, rtol=1e-4, atol=1e-6)


@pytest.mark.kernel
def test_words_are_shuffled_within_their_sentences():
    text, _ = tiny_text()
    encoder = make_encoder(shuffled=0.5)
    listed = encoder._listed(text, np.arange(6), 0, True)
    n_changed = np.zeros(6)
    for seed in range(100):
        tokens = encoder._shuffle(listed, [seed])
        parts = [np.split(words, listed.sent_ptr[1:-1]) for words in (listed.tokens, tokens)]
        n_changed += [not np.array_equal(*pair) for pair in zip(*parts)]
        assert [sorted(part) for part in parts[0]] == [sorted(part) for part in parts[1]]
    # Half are shuffled, and by chance stay as they are: of six words hardly any, "3 3 4" in a third, of two words half.
    np.testing.assert_allclose(n_changed, [50, 33, 0, 25, 0, 25], atol=15)


def test_the_word_before_decides_whether_a_word_counts():
    options = {"n_components": 16, "max_iter": 20, "learning_rate": 0.03, "batch_size": 16, "random_state": 0}
    gated = GRANVectorizer(n_units=8, **options).fit(PAIRS)
    mean = ParaphraseVectorizer(**options).fit(PAIRS)
    for one, other in PAIRS[:6]:
        ignored = one.split()[1]
        assert gated.similarity(one, other) > gated.similarity(one, ignored) + 0.5
        assert abs(mean.similarity(one, other) - mean.similarity(one, ignored)) < 0.1


def test_it_starts_as_the_mean_of_the_words():
    source = CBOSVectorizer(12, min_count=1, random_state=0).fit([side for pair in PAIRS for side in pair])
    text = ["ignore red", "take green and", "never heard of", "red"]
    start = GRANVectorizer(**FAST | {"n_components": 12, "learning_rate": 1e-12}, init=source).fit(PAIRS)
    rows, expected = start.transform(text), source.set_params(pooling="mean").transform(text)
    np.testing.assert_allclose(rows, expected / 2, rtol=1e-3, atol=1e-5)
    learned_on = GRANVectorizer(**FAST | {"n_components": 12}, init=source).fit(PAIRS)
    again = GRANVectorizer(**FAST | {"n_components": 12, "learning_rate": 1e-12}, init=learned_on).fit(PAIRS)
    np.testing.assert_allclose(again.transform(text), learned_on.transform(text), rtol=1e-3, atol=1e-5)
    options = FAST | {"n_components": 12, "learning_rate": 1e-12, "n_units": 5}
    other = GRANVectorizer(**options, init=learned_on).fit(PAIRS)
    assert np.abs(other.gate_weights_).max() < 1e-6  # the units are others


def test_every_sentence_has_a_row():
    model = GRANVectorizer(**FAST).fit(PAIRS)
    text = ["", "...", "red", "take red", "zzz", "zzz red", "red " * 50, "ignore red take blue", "blue", "red"]
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


def test_threads_change_no_bit():
    options = FAST | {"word_dropout": 0.3, "shuffled": 0.5}
    fits = [GRANVectorizer(**options, n_jobs=n_jobs).fit(PAIRS) for n_jobs in (1, 2)]
    assert learned(fits[0]) == learned(fits[1])
    assert learned(fits[0]) != learned(GRANVectorizer(**options | {"shuffled": 0.0}).fit(PAIRS))


def test_learning_goes_on():
    sets = [PairCorpus.from_pairs(PAIRS[:6]), PairCorpus.from_pairs(PAIRS)]
    model = GRANVectorizer(**FAST).fit(sets)
    assert model.n_iter_ == 6
    before = model.gate_weights_.copy()
    model.partial_fit(PAIRS)
    assert model.n_iter_ == 7 and np.abs(model.gate_weights_ - before).max() > 1e-4
    again = GRANVectorizer(**FAST, warm_start=True).fit(PAIRS).fit(PAIRS)
    assert again.n_iter_ == 6
    with pytest.raises(ValueError, match="n_units=7 differs from 6"):
        again.set_params(n_units=7).fit(PAIRS)


def test_interpolation_and_gate_alpha():
    start, half, end = (GRANVectorizer(**FAST, interpolation=x).fit(PAIRS) for x in (0.0, 0.5, 1.0))
    assert not start.gate_weights_.any() and end.gate_weights_.any()
    np.testing.assert_allclose(half.gate_weights_, end.gate_weights_ / 2, atol=1e-7)
    np.testing.assert_allclose(half.unit_weights_, (start.unit_weights_ + end.unit_weights_) / 2, atol=1e-6)
    held = GRANVectorizer(**FAST, gate_alpha=10.0).fit(PAIRS)
    assert np.linalg.norm(held.unit_weights_) < np.linalg.norm(end.unit_weights_)


def test_a_long_sentence_needs_little_memory_and_has_the_same_row_alone():
    """More than a gigabyte of states, were all of them kept."""
    words = " ".join(np.random.default_rng(0).choice(["red", "green", "blue", "take"], 150_000))
    beginning = " ".join(words.split()[:1000])
    emb = GRANVectorizer(**FAST).fit(PAIRS + [(words, "red and green")])
    tracemalloc.start()
    try:
        alone = emb.transform([words])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6
    text = ["red", words, beginning, "take green", words[:3000]] * 4
    np.testing.assert_array_equal(emb.transform(text)[[1, -4]], np.repeat(alone, 2, axis=0))
    rows = emb.transform([words + " red", beginning])
    assert np.isfinite(rows).all() and 0 < np.abs(alone - rows[0]).max() < 1e-3
