"""Training of the head with its encoder: slow twin, gradients by differences, stopping, passes, progress."""

import copy
import importlib.util
import re
from dataclasses import replace

import numpy as np
import pytest
import reference
from scored_pairs import ENCODERS, make, scored, state
from sklearn.base import clone

from skembed import CSEVectorizer, PairCorpus, ParaphraseVectorizer
from skembed._base.paired_words import MOVES
from skembed._training.encoded_text import encode_text
from skembed.evaluation._relatedness import backward, run_layers, sparse_targets
from skembed.evaluation._relatedness_training import EmbeddedPairs, RelatednessTrainer, hold_out_pairs


def test_gradient_by_the_vectors():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(12, 20)).astype(np.float32)
    layers = [random.normal(size=shape) for shape in [(40, 5), (5,), (5, 3), (3,)]]
    targets = sparse_targets(random.uniform(1, 3, 6), np.arange(1.0, 4.0))
    factor = (random.random((6, 40)) > 0.3) / 0.7
    direction = random.normal(size=vectors.shape)

    def loss(step):
        pairs = EmbeddedPairs(np.asarray(vectors + step * direction, np.float32))
        log_p = run_layers(pairs.features * factor, layers)[1]
        return -(targets * log_p).sum() / 6

    pairs = EmbeddedPairs(vectors.copy())
    d_hidden = backward(pairs.features * factor, targets, layers)[2]
    gradient = pairs.backward(((d_hidden @ layers[0].T) * factor).astype(np.float32))
    expected = (loss(1e-2) - loss(-1e-2)) / 2e-2
    assert abs((gradient * direction).sum() - expected) < 1e-2 * abs(expected)


def slow_loss(sentences, layers, scale, factor, targets):
    """Mean divergence of some pairs, a pair at a time; `sentences` holds the first ones, then the second ones."""
    first, first_bias, second, second_bias = layers
    total, n = 0.0, len(sentences) // 2
    for i in range(n):
        u, v = (vector / np.linalg.norm(vector) for vector in (sentences[i], sentences[i + n]))
        x = np.concatenate([u * v, abs(u - v)]) / scale * factor[i]
        hidden = np.array([reference.sigmoid(number) for number in x @ first + first_bias])
        p = reference.softmax(hidden @ second + second_bias)
        total += sum(t * np.log(t / q) for t, q in zip(targets[i], p) if t > 0)
    return total / n


class SlowTraining:
    """The same training in double precision: differences in place of gradients, and Adam as the paper has it."""

    def __init__(self, training, learned, text):
        self.moves, self.head = MOVES["both"], training.head
        self.layers = [layer.astype(np.float64) for layer in training.head.layers]
        self.moments = [np.zeros((2, *layer.shape)) for layer in self.layers]
        self.words = {
            "directions": learned.arrays["_directions"].astype(np.float64),
            "scales": learned.arrays["_scales"].astype(np.float64),
            "start": learned.arrays["_start_vectors"].astype(np.float64),
            "direction_moments": learned.arrays["_directions_accumulator"].astype(np.float64),
            "scale_moments": learned.arrays["_scales_accumulator"].astype(np.float64),
        }
        self.sentences = [text.tokens[a:b].tolist() for a, b in zip(text.sent_ptr, text.sent_ptr[1:])]
        self.targets, self.random, self.options = training.targets.astype(float), training.random, training.options
        self.n_steps = 0

    def run_pass(self, rates_left):
        """A step for each share that is left of the rates; returns the losses."""
        random = copy.deepcopy(self.random)
        order = random.permutation(len(self.targets))
        n = self.options.batch_size
        return [self.step(order[i * n : (i + 1) * n], left, random) for i, left in enumerate(rates_left)]

    def step(self, rows, left, random):
        options, words = self.options, self.words
        self.n_steps += 1
        scale, d = self.head.scale, words["directions"].shape[1]
        factor = (random.random_sample((len(rows), 2 * d)) >= options.dropout) / (1 - options.dropout)
        which = [self.sentences[2 * row] for row in rows] + [self.sentences[2 * row + 1] for row in rows]
        sums = np.array([sum(words["scales"][w] * words["directions"][w] for w in sentence) for sentence in which])

        def loss():
            return slow_loss(sums, self.layers, scale, factor, self.targets[rows])

        found = loss()
        of_sums, *of_layers = (reference.numeric_gradient(loss, rows) for rows in (sums, *self.layers))
        for layer, moments, gradient in zip(self.layers, self.moments, of_layers):
            gradient = gradient + options.alpha * layer
            moments[0] = 0.9 * moments[0] + 0.1 * gradient
            moments[1] = 0.999 * moments[1] + 0.001 * gradient**2
            mean, square = moments[0] / (1 - 0.9**self.n_steps), moments[1] / (1 - 0.999**self.n_steps)
            layer -= options.learning_rate * left * mean / (np.sqrt(square) + 1e-8)
        rate, unit = options.encoder_learning_rate * left, np.median(np.linalg.norm(words["start"], axis=1))
        rates = rate * unit, rate * d**0.5
        reference.step_words(which, of_sums, words, self.moves, rates, options.encoder.alpha, self.n_steps)
        return found


@pytest.mark.parametrize(("rates", "rates_left"), [((0.6, 0.3), [0.6, 0.5, 0.4]), ((1.0, 1.0), [1.0] * 3)])
def test_a_pass_is_that_of_the_twin(rates, rates_left):
    """A pass whose rates fall with the blocks, or one whose rates stay."""
    pairs, y = scored(10)
    pairs = PairCorpus.from_pairs(pairs)
    encoder = ParaphraseVectorizer(5, alpha=0.05, random_state=0)
    options = make(encoder, n_hidden=3, batch_size=4, alpha=0.02, dropout=0.3, learning_rate=0.02)
    options.set_params(encoder_learning_rate=0.01)
    learned = replace(encoder._start(pairs.sentences, (), None), from_labels=False)
    text, targets = encode_text(encoder, pairs.sentences, learned), sparse_targets(y, np.linspace(1, 5, 3))
    random = np.random.RandomState(0)
    held_out = np.zeros(10, bool)
    training = RelatednessTrainer(options, encoder._make_encoder(learned), text, targets, held_out, random)
    twin, start = SlowTraining(training, learned, text), learned.arrays["_directions"].copy()
    losses = twin.run_pass(rates_left)
    assert training.run_pass(text, 1, rates=rates) == pytest.approx(np.average(losses, weights=[4, 4, 2]))
    assert training.head.n_steps == training.encoder.n_steps == 3
    for found, expected in zip(training.head.layers, twin.layers):
        np.testing.assert_allclose(found, expected, atol=2e-5)
    np.testing.assert_allclose(learned.arrays["_directions"], twin.words["directions"], atol=2e-5)
    np.testing.assert_allclose(learned.arrays["_scales"], twin.words["scales"], atol=2e-5)
    assert abs(learned.arrays["_directions"] - start).max() > 5e-3


def test_rates_fall_from_one_to_zero():
    pairs, y = scored(12)
    model, shares = make(batch_size=5, max_iter=2), []
    with pytest.MonkeyPatch.context() as patch:
        step = RelatednessTrainer._step
        patch.setattr(
            RelatednessTrainer, "_step", lambda self, block, left: shares.append(left) or step(self, block, left)
        )
        model.fit(pairs, y)
    np.testing.assert_allclose(shares, 1 - np.arange(6) / 6)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_same_bits_for_any_n_jobs(encoder):
    pairs, y = scored(3000)
    models = [
        make(clone(ENCODERS[encoder]).set_params(n_jobs=n), max_iter=2, batch_size=256).fit(pairs, y) for n in (1, 2, 3)
    ]
    assert state(models[0]) == state(models[1]) == state(models[2])


# -- early stopping --------------------------------------------------------------------------------------------------


def test_stops_early_with_the_best_weights():
    pairs, _ = scored(200)
    y = np.random.default_rng(0).uniform(1, 5, 200)  # of which nothing can be learned
    settings = {"max_iter": 200, "early_stopping": True, "n_iter_no_change": 4, "learning_rate": 0.02}
    model = make(**settings).fit(pairs, y)
    curve = model.validation_loss_curve_
    assert 5 <= model.n_iter_ == len(curve) == len(model.loss_curve_) < 200
    assert np.argmin(curve) == len(curve) - 5  # if each fall is above `tol`
    held = hold_out_pairs(PairCorpus.from_pairs(pairs), 0.1, model.encoder_._state.seed)
    assert 18 <= held.sum() <= 20
    targets, p = sparse_targets(y[held], model.grades_), model.predict_grades([pairs[i] for i in np.flatnonzero(held)])
    divergences = [sum(a * np.log(a / b) for a, b in zip(t, q) if a > 0) for t, q in zip(targets, p)]
    assert np.mean(divergences) == pytest.approx(min(curve), rel=1e-4)
    assert model.loss_ == model.loss_curve_[-1]
    assert make(**settings | {"tol": 10.0}).fit(pairs, y).n_iter_ == 5


def test_nothing_is_learned_from_what_is_held_out():
    pairs, y = scored(100)
    held = hold_out_pairs(PairCorpus.from_pairs(pairs), 0.3, make().fit(pairs, y).encoder_._state.seed)
    models = [
        make(max_iter=1, early_stopping=True, validation_fraction=0.3).fit(pairs, scores)
        for scores in (y, np.where(held, 6 - y, y), np.where(held, y, 6 - y))
    ]
    same, held_out_loss = ([getattr(m, f"{of}loss_curve_") for m in models] for of in ("", "validation_"))
    assert same[0] == same[1] != same[2]
    assert held_out_loss[0] != held_out_loss[1]
    np.testing.assert_array_equal(models[0].coefs_[0], models[1].coefs_[0])
    np.testing.assert_array_equal(models[0].scale_, models[2].scale_)
    assert make().fit(pairs, y).validation_loss_curve_ == []


def test_equal_pairs_are_held_out_together():
    pairs = scored(100)[0]
    pairs = list({frozenset(pair): pair for pair in pairs if len(set(pair)) == 2}.values())
    both = PairCorpus.from_pairs([*pairs, *(pair[::-1] for pair in pairs)])
    held = hold_out_pairs(both, 0.2, 0)
    np.testing.assert_array_equal(held[: len(pairs)], held[len(pairs) :])
    assert 0.15 <= held.mean() <= 0.2
    assert not np.array_equal(held, hold_out_pairs(both, 0.2, 1))


def test_one_pair_cannot_be_held_out():
    with pytest.raises(ValueError, match="leaves nothing to learn from"):
        make(early_stopping=True).fit([("a cat", "a dog")], [1.0])


# -- fits ------------------------------------------------------------------------------------------------------------


def test_the_same_fits_give_the_same_bits():
    pairs, y = scored(50)

    def learn(seed):
        return state(make(random_state=seed, max_iter=3).fit(pairs, y))

    assert learn(0) == learn(0) != learn(1)
    assert learn(np.random.RandomState(5)) == learn(np.random.RandomState(5))


def test_a_later_fit_changes_no_model_that_was_given_away():
    model = make(max_iter=2).fit(*scored(50))
    before, encoder = copy.copy(model), model.encoder_
    expected = state(before)
    model.fit(*scored(50, seed=1))
    assert model.encoder_ is not encoder and state(before) == expected != state(model)


@pytest.mark.parametrize(
    ("change", "call", "message"),
    [
        ({"grades": [1, 5]}, {"y": [9.0, 1.0]}, "y has 9.0 in row 0, outside the grades 1.0 to 5.0"),
        ({"grades": [5, 1]}, {}, r"grades must be two or more rising numbers, got \[5, 1\]"),
        ({"dropout": 1.0}, {}, "'dropout' parameter"),
        ({"learning_rate": 1e30}, {}, "diverged in pass 1 with learning_rate=1e\\+30"),
        ({"encoder_learning_rate": 1e30}, {}, "diverged in pass . with .*encoder_learning_rate=1e\\+30"),
        ({}, {"y": [1.0]}, "X and y must have the same length, got 2 and 1"),
        ({}, {"X": [("a zebra", "?"), ("a", "b")]}, "Pair 0 has no word in its second sentence"),
    ],
)
def test_a_failed_call_changes_nothing(change, call, message):
    model = make(max_iter=1).fit(*scored(40))
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.set_params(**change).fit(**{"X": [("a zebra", "a cat"), ("a dog", "a cat")], "y": [1.0, 5.0]} | call)
    assert state(model) == before


def test_parameters_of_the_encoder_are_checked():
    for encoder in (ParaphraseVectorizer(0), ParaphraseVectorizer(learn="all"), CSEVectorizer(filter_widths=())):
        model = make(encoder)
        with pytest.raises(ValueError, match="n_components|learn|filter_widths"):
            model.fit(*scored(4))


# -- progress and callbacks ------------------------------------------------------------------------------------------


def test_verbose_prints_a_line_a_pass(capsys):
    pairs, y = scored(100)
    model = make(max_iter=3, verbose=1, early_stopping=True).fit(pairs, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for epoch, (line, loss, held_out) in enumerate(zip(lines, model.loss_curve_, model.validation_loss_curve_), 1):
        figures = rf"loss {loss:.4f}, validation loss {held_out:.4f}, [\d,]+ words/s, \d+ s left"
        assert re.fullmatch(rf"\[FineTunedRelatednessRegressor\] pass {epoch}/3, {figures}", line)
    model.set_params(verbose=2, batch_size=9, max_iter=1, early_stopping=False).fit(pairs, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "100% done" in lines[0]
    assert "pass 1/1, loss" in lines[-1] and "validation" not in lines[-1]
    model.set_params(verbose=0).fit(pairs, y)
    assert capsys.readouterr().out == ""


has_callbacks = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None, reason="scikit-learn before 1.9 has no callbacks"
)


class Recorder:
    """A callback that predicts after every pass and stops after some."""

    def __init__(self, X, n_passes):
        self.X, self.n_passes, self.calls, self.states = X, n_passes, [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        assert X is self.X

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.calls.append(context.task_name)
        self.states.append((state(fitted_estimator), fitted_estimator.predict(self.X).tobytes()))
        return context.task_name == "pass" and context.task_id == self.n_passes - 1


@has_callbacks
def test_callback():
    pairs, y = scored(60)
    recorder, model = Recorder(pairs, 2), make(max_iter=5)
    model.set_callbacks(recorder)
    model.fit(pairs, y)
    assert recorder.calls == ["setup", "pass", "pass", *recorder.calls[3:]] and recorder.calls[-1] == "teardown"
    assert model.n_iter_ == len(model.loss_curve_) == 2
    assert (
        recorder.states[0] != recorder.states[1] == recorder.states[2] == (state(model), model.predict(pairs).tobytes())
    )
    with pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e30).fit(pairs, y)
    assert recorder.calls[-1] == "teardown" and recorder.states[2][0] == state(model)
