"""The sequential denoising autoencoder: units, gradients and samples against slow twins, and what it learns."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import recurrent_reference
from estimators import GIVEN, GROUPS, TEXT, learned
from kernel_cases import N_WORDS, SENTENCES, tiny_text

from skembed._training.dense import Chunk, RowGradients
from skembed.research import SequentialDenoisingAutoencoder
from skembed.research._denoising_autoencoder import corrupted
from skembed.research._gru import Gru, Steps
from skembed.research._next_word import Sample, Sampler, inclusion, predict
from skembed.research._recurrent import Network, SentenceIds, SentencePrediction, Target, list_known

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of random bits, without JIT

FAST = {"n_components": 12, "word_components": 8, "learning_rate": 0.02, "min_count": 1, "random_state": 0}
BOTH = [(("forward", False), ("backward", True)), "decoders", "targets"]
ALONE = [(("alone", False),), "decoder", "others"]


def words_of(sentences):
    return SentenceIds(np.concatenate(sentences).astype(np.int64), np.cumsum([0, *map(len, sentences)]))


def arrays(n_units, n_inputs=4):
    """Weights of a network of two units and of one of the same length, each with two decoders."""
    random = np.random.default_rng(5)

    def normal(*shape):
        return random.normal(scale=0.5, size=shape).astype(np.float32)

    ends = {name: normal(3, n_units, n_inputs + n_units + 1) for name in ("forward", "backward")}
    wide = 2 * n_units
    return {
        **ends,
        "alone": normal(3, wide, n_inputs + wide + 1),
        "decoders": normal(2, 3, wide, n_inputs + 2 * wide + 1),
        "decoder": normal(2, 3, wide, n_inputs + 2 * wide + 1),
        "word_vectors_": normal(N_WORDS, n_inputs),
        "targets": normal(N_WORDS, wide + 1),
        "others": normal(N_WORDS, wide + 1),
        "word_counts_": np.arange(1, N_WORDS + 1)[::-1],
    }


SOURCES = [[0, 1, 2, 4, 7, 5], [3, 3, 4], [2], [5, 1, 1, 5]]
TARGETS = [[(0, [3, 4]), (1, [0, 0, 0, 6, 2]), (3, [1])], [(2, [8, 1, 2]), (0, [4, 4, 5])]]
SAMPLE = {0: 1.0, 3: 0.5, 5: 0.25, 8: 0.7}


def objective_of(fitted, networks=(BOTH, ALONE)):
    def examples(chunk, learn):
        pairs = [tuple(zip(*of_decoder)) for of_decoder in TARGETS]
        return words_of(SOURCES), [Target(words_of(words), np.array(source)) for source, words in pairs]

    sampler = Sampler(fitted["word_counts_"], N_WORDS)
    options = {"largest_norm": None, "longest_run": 1}
    objective = SentencePrediction(fitted, [Network(*network) for network in networks], examples, sampler, **options)
    sample = Sample(np.array(list(SAMPLE)), np.log(np.array(list(SAMPLE.values()), np.float32)))
    objective.sampler.draw = lambda random: sample
    return objective


def dense(gradient, like):
    if not isinstance(gradient, RowGradients):
        return gradient
    whole = np.zeros(like.shape)
    np.add.at(whole, gradient.rows, gradient.vectors)
    return whole


@pytest.mark.kernel
@pytest.mark.parametrize("n_units", [1, 9])  # states of 2 and 18 numbers: inside they are 16 and 32
def test_loss_and_gradients_are_the_twins(n_units):
    fitted = arrays(n_units)
    doubles = {name: array.astype(np.float64) for name, array in fitted.items()}

    def twin(probability=SAMPLE):
        return recurrent_reference.prediction_loss(SOURCES, TARGETS, doubles, [BOTH, ALONE], probability)

    objective = objective_of(fitted)
    found = objective.gradients(Chunk(None, None, None), True)
    assert found.loss == pytest.approx(twin(), rel=1e-5)
    assert found.n_targets == 2 * sum(len(words) for pairs in TARGETS for _, words in pairs)
    assert set(found.of) == set(fitted) - {"word_counts_"}
    random = np.random.default_rng(0)
    for name, gradient in found.of.items():
        array, given, found_slopes, slopes = doubles[name], dense(gradient, fitted[name]), [], []
        for _ in range(5):  # derivatives along random directions: a loop over all numbers would be slow
            direction, losses = random.normal(size=array.shape), []
            for sign in (1, -1):
                doubles[name] = array + sign * 1e-6 * direction
                losses.append(twin())
            doubles[name] = array
            found_slopes.append((given * direction).sum())
            slopes.append((losses[0] - losses[1]) / 2e-6)
        np.testing.assert_allclose(found_slopes, slopes, rtol=1e-3)
    certain = dict.fromkeys(range(N_WORDS), 1.0)
    exact = objective.gradients(Chunk(None, None, None), False)
    assert exact.loss == pytest.approx(twin(certain), rel=1e-5) and not exact.of


@pytest.mark.kernel
@pytest.mark.parametrize("backwards", [False, True])
def test_a_sentence_is_read_alike_in_any_company(backwards):
    random = np.random.default_rng(0)
    sentences = [random.integers(0, 20, n).tolist() for n in [*range(1, 8), 3, 3, 20]]
    vectors, weights = (random.normal(scale=0.3, size=size).astype(np.float32) for size in [(20, 7), (3, 21, 29)])
    unit = Gru(weights, 7)
    found = unit.encode(vectors, *words_of(sentences), backwards)
    for sentence, row in zip(sentences, found):
        assert unit.encode(vectors, *words_of([sentence]), backwards)[0].tobytes() == row.tobytes()
        slow = recurrent_reference.gru_states(vectors[sentence[::-1] if backwards else sentence], weights)
        np.testing.assert_allclose(row, slow[-1], rtol=1e-4, atol=1e-4)
    learning = unit.read(vectors, words_of(sentences).ids, Steps.of(words_of(sentences).ptr, backwards))
    np.testing.assert_allclose(learning.last, found, rtol=1e-4, atol=1e-5)


def test_a_sample_holds_each_word_as_often_as_it_says():
    counts = np.array([500, 200, 100, 50, 20, 10, 5, 5, 1, 1])
    probability = inclusion(counts.astype(float), 4)
    assert probability.sum() == pytest.approx(4) and probability.max() == 1
    uncertain = probability < 1
    np.testing.assert_allclose(probability[uncertain] / counts[uncertain], (probability / counts)[-1])
    sampler, random, drawn = Sampler(counts, 4), np.random.default_rng(0), np.zeros(10)
    for _ in range(4000):
        sample = sampler.draw(random)
        assert len(sample.words) == 4 == len(set(sample.words.tolist()))
        np.testing.assert_allclose(np.exp(sample.log_probability), probability[sample.words], rtol=1e-5)
        drawn[sample.words] += 1
    np.testing.assert_allclose(drawn / 4000, probability, atol=0.02)
    everything = Sampler(counts, 100).draw(random)
    assert everything.words.tolist() == list(range(10))
    np.testing.assert_allclose(everything.log_probability, 0, atol=1e-6)


@pytest.mark.kernel
def test_the_mean_over_samples_is_the_softmax():
    random = np.random.default_rng(1)
    counts = np.array([60, 30, 20, 9, 5, 3, 2, 1])
    rows, states = random.normal(size=(8, 5)).astype(np.float32), random.normal(size=(6, 4)).astype(np.float32)
    targets, sampler = np.array([0, 1, 7, 3, 3, 5]), Sampler(counts, 3)

    def normaliser(sample):
        return np.exp(
            [
                predict(states[i : i + 1], targets[i : i + 1], rows, sample, False).loss
                + states[i] @ rows[targets[i], :-1]
                + rows[targets[i], -1]
                for i in range(6)
            ]
        )

    exact = normaliser(sampler.all_words())
    np.testing.assert_allclose(exact, np.exp(states @ rows[:, :-1].T + rows[:, -1]).sum(axis=1), rtol=1e-4)
    starts = (np.arange(300) + 0.5) / 300  # of the points of a sample: all that may be drawn, up to rounding
    mean = np.mean(
        [normaliser(sampler.draw(SimpleNamespace(random=partial(float, start)))) for start in starts], axis=0
    )
    np.testing.assert_allclose(mean, exact, rtol=0.03)


def test_words_are_dropped_and_swapped():
    words = words_of([[1, 2, 3, 4, 5], [6], [7, 8]])
    random = np.random.default_rng(0)
    assert [part.tolist() for part in corrupted(words, 0.0, 0.0, random)] == [words.ids.tolist(), words.ptr.tolist()]
    swapped = corrupted(words, 0.0, 1.0, random)
    assert swapped.ids.tolist() == [2, 1, 4, 3, 5, 6, 8, 7]
    assert words.ids.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    lengths, exchanged = [], 0
    for _ in range(2000):
        found = corrupted(words, 0.4, 0.5, random)
        lengths.append(np.diff(found.ptr))
        exchanged += found.ids[-2:].tolist() == [8, 7]
        assert sorted(set(found.ids.tolist())) == sorted(found.ids.tolist())
    assert np.min(lengths, axis=0).tolist() == [1, 1, 1]
    np.testing.assert_allclose(np.mean(lengths, axis=0), [3 + 5 * 0.4**5, 1, 1.2 + 2 * 0.4**2], atol=0.05)
    assert exchanged / 2000 == pytest.approx((0.6**2 + 0.4**2) / 2, abs=0.03)  # both are kept


def test_known_words_are_listed():
    text, _ = tiny_text()
    found, which = list_known(text, np.arange(len(SENTENCES)))
    known = [[word for word in sentence if word < N_WORDS] for sentence in SENTENCES]
    assert which.tolist() == [i for i, sentence in enumerate(known) if sentence]
    parts = np.split(found.ids, found.ptr[1:-1])
    assert [part.tolist() for part in parts] == [sentence for sentence in known if sentence]


def test_it_predicts_better_than_the_frequency_of_words():
    model = SequentialDenoisingAutoencoder(**FAST, max_iter=12, early_stopping=True).fit(TEXT * 3)
    shares = model.word_counts_ / model.word_counts_.sum()
    unigram = -(shares * np.log(shares)).sum()
    assert model.validation_loss_curve_[-1] < model.validation_loss_curve_[0] < unigram + 0.2
    assert model.validation_loss_curve_[-1] < 0.8 * unigram


def test_the_order_of_words_counts():
    model = SequentialDenoisingAutoencoder(**FAST, max_iter=1).fit(TEXT, groups=GROUPS)
    one, other = model.transform(["cat the dog", "dog the cat"])
    assert np.abs(one - other).max() > 0.01


def test_given_words_may_stay_as_they_are():
    options = FAST | {"init": GIVEN, "word_components": 10, "max_iter": 2}
    fixed = SequentialDenoisingAutoencoder(**options, learn_words=False).fit(TEXT)
    words = list(GIVEN)
    np.testing.assert_array_equal(
        fixed.word_vectors_[[fixed.vocabulary_[word] for word in words]], np.stack([*GIVEN.values()])
    )
    free = SequentialDenoisingAutoencoder(**options).fit(TEXT)
    assert np.abs(free.word_vectors_ - fixed.word_vectors_).max() > 1e-3
    assert fixed.n_features_out_ == 12 and fixed.word_vectors_.shape[1] == 10


def test_a_gradient_that_is_too_long_is_cut():
    fits = {
        limit: SequentialDenoisingAutoencoder(**FAST, max_iter=1, max_gradient_norm=limit).fit(TEXT)
        for limit in (None, 1e3, 1e-3)
    }
    assert learned(fits[None]) == learned(fits[1e3])
    squares = [np.square(fits[limit]._state.arrays["_encoder_weights_accumulator"][1]).sum() for limit in (1e3, 1e-3)]
    assert squares[1] < 1e-3 * squares[0]


def test_sentences_without_known_words():
    model = SequentialDenoisingAutoencoder(**FAST, max_iter=1).fit(TEXT)
    rows = model.transform(["", "zzz", "cat", "zzz cat qqq"])
    assert not rows[:2].any() and rows[2].any()
    assert rows[2].tobytes() == rows[3].tobytes()
