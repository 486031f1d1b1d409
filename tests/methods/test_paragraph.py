"""Paragraph vectors: training and inference against their slow twins, and what a fit and transform promise."""

from dataclasses import replace

import numba
import numpy as np
import pytest
import reference
from kernel_cases import (
    BLOCKS,
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    bits,
    doubles,
    draw_negative,
    halves_of,
    make_plan,
    run_block,
    start,
    starts_of,
    tiny_text,
    uniform,
    weights_after_passes,
)
from reference import numeric_gradient, paragraph_inference_loss, paragraph_sentence, take_steps
from scipy.optimize import minimize

from skembed import ParagraphVectorizer, SentenceCorpus
from skembed._encoders.paragraph_vectors import HELD_OUT_RIDGE, N_NOISE, N_STEPS, RIDGE, ParagraphEncoder, noise_sample

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.usefixtures("two_halves"),
]
MODELS = [
    {"algorithm": "dbow", "subsample": 0.05},
    {"algorithm": "dbow", "negative": 1},
    {"algorithm": "dm", "combine": "mean", "window": 2, "subsample": 0.05},
    {"algorithm": "dm", "combine": "sum", "window": 1},
    {"algorithm": "dm", "combine": "concatenate", "window": 2, "subsample": 0.05, "negative": 1},
]
SENTENCES = ["The cat drinks milk.", "The cat sleeps here.", "The bank lends money.", "A bank takes money."] * 20


def make_objective(**options):
    estimator = ParagraphVectorizer(**{"subsample": 1e9, "negative": 4, "combine": "sum", **options})
    return estimator, estimator._make_objective(start(estimator))


def twin(text, arrays, estimator, objective, plan):
    """Loss, number of predicted words, gradients of the sentences and sparse gradients of a block."""
    sentences, target, source = arrays
    loss, n_targets, of_sentences, of_target, of_source = 0.0, 0, [], [], []
    halves = halves_of(objective.options.negatives, plan)
    times = 4 if estimator.algorithm == "dbow" else 1
    for i, half in zip(starts_of(plan), halves):
        words = text.words(i)
        draws = [uniform(bits(plan.seed, 4, i, position)) for position in range(len(words))]
        words = [word for word, draw in zip(words, draws) if draw < objective.options.keep[word]]
        if not words:
            continue
        negatives = [
            draw_negative(objective.options.negatives, half, bits(plan.seed, 2, i, j))
            for j in range(estimator.negative * times)
        ]
        window = estimator.window if estimator.algorithm == "dm" else 0
        result = paragraph_sentence(
            words, sentences[i], source, target, negatives, 1 / times, window, estimator.combine
        )
        loss, n_targets = loss + result[0], n_targets + result[1]
        of_sentences.append((i, result[2], len(words)))
        of_source += result[3]
        of_target += result[4]
    return loss, n_targets, of_sentences, of_target, of_source


def state_of(objective):
    """Weights and accumulators in double precision: of the sentences, the target vectors and the source vectors."""
    of_sentences = tuple(array.astype(np.float64) for array in objective.sentences)
    return [(of_sentences[0], of_sentences[1][:, 0]), *doubles(objective)]


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS)
def test_a_block_is_the_twin(options, solver, max_steps):
    estimator, objective = make_objective(**options)
    text, slow_text = tiny_text()
    expected = state_of(objective)
    for block in BLOCKS:
        plan = make_plan(objective, block)
        weights = [matrix for matrix, _ in expected] + [None] * (3 - len(expected))
        loss, n_targets, of_sentences, *entries = twin(slow_text, weights, estimator, objective, plan)
        for (matrix, accumulator), of_matrix in zip(expected[1:], entries):
            take_steps(matrix, accumulator, of_matrix, 0.1, solver, max_steps)
        for i, gradient, n in of_sentences:
            rate = 0.1 * min(1, max_steps / n) if solver == "sgd" else 0.1
            take_steps(*expected[0], [(i, gradient)], rate, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.1, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected[1:])
        np.testing.assert_allclose(objective.sentences[0], expected[0][0], rtol=3e-5, atol=3e-6)
        np.testing.assert_allclose(objective.sentences[1][:, 0], expected[0][1], rtol=3e-5, atol=1e-9)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    estimator, objective = make_objective(**options)
    text, slow_text = tiny_text()
    plan, arrays = make_plan(objective), [weights for weights, _ in state_of(objective)]
    arrays += [None] * (3 - len(arrays))

    def loss():
        return twin(slow_text, arrays, estimator, objective, plan)[0]

    expected = [numeric_gradient(loss, array) for array in arrays if array is not None]
    before = [weights.copy() for weights, _ in state_of(objective)]
    run_block(objective, text, plan, rate=1.0)
    for old, (new, _), numeric in zip(before, state_of(objective), expected):
        np.testing.assert_allclose(old - new, numeric, rtol=1e-4, atol=1e-5)
        assert np.abs(numeric).max() > 0.05


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS[::2])
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = ParagraphVectorizer(**{"combine": "sum", **options})
    results = [weights_after_passes(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS[::2])
def test_a_run_is_its_sentences(options):
    assert_runs_are_their_sentences(ParagraphVectorizer(**{"combine": "sum", **options}))


def encoder_of(**options):
    """An encoder of random words, and the arrays that its twin reads."""
    estimator = ParagraphVectorizer(5, **{"combine": "sum", "subsample": 0.05, **options})
    fitted = start(estimator, n_components=5)
    weights, noise = np.linspace(0.3, 1, 9).astype(np.float32), noise_sample(np.arange(9, 0, -1))
    state = replace(fitted.with_arrays({"_noise": noise}), word_weights_=weights)
    layout = {name: getattr(estimator, name) for name in ("n_components", "algorithm", "combine", "window", "negative")}
    return ParagraphEncoder(state, layout), state.values(), estimator


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_inference_is_the_twin(options):
    encoder, fitted, estimator = encoder_of(**options)
    source, target, weights = (
        fitted[name].astype(float) for name in ("word_vectors_", "target_vectors_", "word_weights_")
    )
    window = estimator.window if estimator.algorithm == "dm" else 0
    sentences = [[3, 3, 4], [5], [0, 1, 2, 4, 7, 5, 8, 8]]
    found = encoder.vectors(
        np.concatenate(sentences), np.cumsum([0, *map(len, sentences)]), np.empty((3, 5), np.float32)
    )
    noise = target[fitted["_noise"], :5]
    top = np.linalg.eigvalsh(noise.T @ noise / len(noise))[-1]
    for words, row in zip(sentences, found):
        d, ahead, momentum = np.zeros(5), np.zeros(5), 1.0
        total, curvature = sum(weights[word] for word in words), 0.0
        squares = []
        for t, (factor, _) in enumerate(reference.paragraph_windows(words, window, estimator.combine)):
            n = (t + 1) * N_NOISE // len(words) - t * N_NOISE // len(words)
            square = target[words[t], :5] @ target[words[t], :5]
            squares.append(factor**2)
            curvature += factor**2 / 4 * (weights[words[t]] * square + n * total * estimator.negative / N_NOISE * top)

        def loss(point, words=words):
            of_model = (weights, fitted["_noise"], estimator.negative, source, target, window, estimator.combine)
            return paragraph_inference_loss(point, words, *of_model)

        for _ in range(N_STEPS):
            gradient = numeric_gradient(lambda: loss(ahead), ahead)  # noqa: B023
            now = ahead - gradient / (curvature + RIDGE * np.mean(squares))
            before, momentum = momentum, (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead, d = now + (before - 1) / momentum * (now - d), now
        np.testing.assert_allclose(row, d, rtol=2e-3, atol=2e-4)
        assert loss(d) < 0.99 * loss(np.zeros(5))


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS[::2])
def test_held_out_loss_is_that_of_words_that_the_vector_has_not_seen(options):
    encoder, fitted, estimator = encoder_of(**options)
    source, target, weights = (
        fitted[name].astype(float) for name in ("word_vectors_", "target_vectors_", "word_weights_")
    )
    text, _ = tiny_text()
    losses = encoder.losses_of(text, np.array([0, 2, 4, 6]))
    assert (losses[1:3] == 0).all()  # no word, and one alone
    assert encoder.losses_of(text, np.array([0])).tolist() == losses[:1].tolist()
    words = [0, 1, 2, 4, 7, 5]
    hidden = np.array([weights[word] for word in words])
    np.testing.assert_allclose(losses[0, 1], hidden[1::2].sum(), rtol=1e-6)
    if estimator.algorithm == "dbow":
        of_model = (weights, fitted["_noise"], estimator.negative, source, target, 0, "sum", HELD_OUT_RIDGE)
        found = minimize(lambda d: paragraph_inference_loss(d, words[::2], *of_model), np.zeros(5)).x
        noise = [np.log1p(np.exp(target[n] @ found)) for n in fitted["_noise"]]
        expected = sum(weights[word] * np.log1p(np.exp(-target[word] @ found)) for word in words[1::2])
        expected += hidden[1::2].sum() * estimator.negative * np.mean(noise)
        np.testing.assert_allclose(losses[0, 0], expected, rtol=0.02)
    assert losses[0, 0] > 0


@pytest.mark.parametrize("algorithm", ["dbow", "dm"])
def test_transform_is_a_function_of_the_sentence(algorithm):
    model = ParagraphVectorizer(8, algorithm=algorithm, min_count=1, random_state=0).fit(SENTENCES)
    X = ["the cat", "nothing known", "", "bank bank money", "the zzz cat"]
    rows = model.transform(X)
    assert (rows[1:3] == 0).all() and rows[0].any()
    assert all((model.transform([x])[0] == row).all() for x, row in zip(X, rows))
    assert (rows[0] == rows[4]).all()  # an unknown word is no word
    before = rows.copy()
    assert (model.set_params(subsample=1e9, window=1, negative=1).transform(X) == before).all()
    shuffled = model.transform(["cat the"])[0]
    if algorithm == "dbow":
        np.testing.assert_allclose(shuffled, rows[0], rtol=1e-3, atol=1e-5)


def test_training_vectors_are_kept_on_demand():
    options = {"min_count": 1, "random_state": 0, "max_iter": 20}
    X = [*SENTENCES, "?!"]
    kept = ParagraphVectorizer(8, store_training_vectors=True, **options).fit(X)
    assert kept.training_vectors_.shape == (len(X), 8) and (kept.training_vectors_[-1] == 0).all()
    plain = ParagraphVectorizer(8, **options).fit(X)
    assert plain.training_vectors_ is None
    assert (plain.target_vectors_ == kept.target_vectors_).all()
    found = kept.transform(X)[:-1]
    cosine = (found * kept.training_vectors_[:-1]).sum(1) / np.linalg.norm(found, axis=1)
    cosine /= np.linalg.norm(kept.training_vectors_[:-1], axis=1)
    assert cosine.mean() > 0.7
    kept.set_params(store_training_vectors=False).partial_fit(X[:5])
    assert kept.training_vectors_ is None


def test_a_second_call_goes_on_from_what_transform_finds():
    model = ParagraphVectorizer(8, min_count=1, random_state=0, store_training_vectors=True).fit(SENTENCES)
    expected = model.transform(SENTENCES[:5])
    model.set_params(learning_rate=1e-9).partial_fit(SENTENCES[:5], new_words="ignore")
    np.testing.assert_allclose(model.training_vectors_, expected, atol=1e-6)


def test_memory_counts_the_sentences():
    corpus = SentenceCorpus.from_sentences(SENTENCES)
    memory = ParagraphVectorizer(8, min_count=1).estimate_memory(corpus)
    n_words, n_sentences = len(corpus.vocabulary.words), len(SENTENCES)
    assert memory["weights"] == 4 * 8 * (n_words + n_sentences)
    assert memory["accumulators"] == 8 * (n_words + n_sentences)
    more = ParagraphVectorizer(8, min_count=1, algorithm="dm", combine="concatenate", window=2).estimate_memory(corpus)
    assert more["weights"] == 4 * 8 * (6 * n_words + n_sentences)


def test_early_stopping_watches_words_that_are_left_out():
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{i}" for i in range(12)] for topic in "abcde"]
    X = [" ".join(rng.choice(topics[i % 5], 8)) for i in range(400)]
    model = ParagraphVectorizer(8, min_count=1, random_state=0, early_stopping=True, max_iter=30).fit(X)
    curve = model.validation_loss_curve_
    assert min(curve) < 0.9 * curve[0]


@pytest.mark.parametrize("name", ParagraphVectorizer._paper_settings)
def test_the_settings_of_the_papers_learn(name):
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{i}" for i in range(12)] for topic in "abcde"]
    X = [" ".join(rng.choice(topics[i % 5], 8)) for i in range(300)]
    options = {**ParagraphVectorizer._paper_settings[name], "n_components": 20, "max_iter": 20, "learning_rate": 0.1}
    model = ParagraphVectorizer(**{**options, "min_count": 1}, random_state=0).fit(X)
    assert model.loss_curve_[-1] < 0.9 * model.loss_curve_[0]
    assert model.target_vectors_.shape[1] == (17 * 20 if name == "PV-DM" else 20)


@pytest.mark.parametrize("combine", ["concatenate", "mean", "sum"])
def test_a_sentence_is_like_those_of_its_words(combine):
    """Two topics that share no word but "the": what the paper shows for paragraphs of a subject."""
    for algorithm in ("dbow", "dm"):
        options = {"window": 2, "min_count": 1, "max_iter": 30, "random_state": 0}
        model = ParagraphVectorizer(8, algorithm=algorithm, combine=combine, **options).fit(SENTENCES)
        assert model.similarity("cat drinks milk", "cat sleeps") > model.similarity(
            "cat drinks milk", "bank lends money"
        )
