"""FastSent against its slow twin and its numeric gradient."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    N_WORDS,
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    bits,
    doubles,
    draw_negative,
    encode,
    halves_of,
    kernel_gradients,
    make_plan,
    negative_probability,
    one_thread,
    run_block,
    start,
    starts_of,
    tiny_text,
    uniform,
    weights_after_passes,
)
from reference import fastsent_sentence, keep_probability, numeric_gradient, take_steps

from skembed import FastSentVectorizer
from skembed._training.encoded_text import Plan
from skembed._training.learned_arrays import Update
from skembed._training.trainer import Trainer

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.usefixtures("two_halves"),
]
MODELS = [
    {},
    {"autoencode": True, "subsample": 0.05},
    {"window": 2, "negative": 1},
    {"window": 2, "autoencode": True, "pooling": "mean", "subsample": 0.02},
]


def make_objective(**options):
    estimator = FastSentVectorizer(**{"subsample": 1.0, "negative": 4, **options})
    return estimator._make_objective(start(estimator))


def words_around(text, i, objective, seed):
    """The words that sentence i predicts, thinned out by the generator that has its own tests."""
    found, position = [], 0
    for j, sentence in enumerate(text.sentences):
        is_near = abs(i - j) <= objective.blocks.border and text.documents[i] == text.documents[j]
        for word in sentence:
            if is_near and (i != j or objective.options.autoencode) and word < len(text.weights):
                if uniform(bits(seed, 4, i, position)) < objective.options.keep[word]:
                    found.append(word)
            position += 1
    return found


def twin(text, source, target, objective, plan):
    """Loss, number of sentences with a loss and sparse gradients of a block, sentence by sentence."""
    options, loss, n_targets, source_entries, target_entries = objective.options, 0.0, 0, [], []
    sentences = [i for run in starts_of(plan) for i in range(run, run + plan.run_length)]
    halves = halves_of(options.negatives, plan)
    assert len(set(halves)) == 2
    for i, half in zip(sentences, halves):
        if i >= len(text.sentences):
            continue
        around = words_around(text, i, objective, plan.seed)
        negatives = [draw_negative(options.negatives, half, bits(plan.seed, 2, i, j)) for j in range(options.negative)]
        pooling = "mean" if options.bag.mean else "sum"
        result = fastsent_sentence(text.words(i), around, source, target, text.weights, negatives, pooling)
        loss += result[0]
        n_targets += result[1]
        source_entries += result[2]
        target_entries += result[3]
    return loss, n_targets, source_entries, target_entries


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
@pytest.mark.parametrize("options", MODELS)
def test_a_block_is_the_twin(options, kind, solver, max_steps):
    objective = make_objective(**options)
    text, slow_text = tiny_text(kind)
    expected = doubles(objective)
    for block in BLOCKS:
        plan = make_plan(objective, block)
        loss, n_targets, *entries = twin(slow_text, expected[0][0], expected[1][0], objective, plan)
        for (weights, accumulator), of_matrix in zip(expected, entries):
            take_steps(weights, accumulator, of_matrix, 0.1, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.1, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    objective = make_objective(**options)
    text, slow_text = tiny_text("weighted")
    plan = make_plan(objective)
    (source, _), (target, _) = doubles(objective)

    def loss():
        return twin(slow_text, source, target, objective, plan)[0]

    expected = [numeric_gradient(loss, source), numeric_gradient(loss, target)]
    gradients = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    for gradient, numeric in zip(gradients, expected):
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
        assert np.abs(numeric).max() > 0.05


def run_without_learning(sentences, documents, **options):
    """Loss and number of sentences with a loss, and the number of words that they predict."""
    objective = make_objective(**options)
    text = encode(sentences, documents, np.ones(N_WORDS, np.float32))
    plan = Plan(np.arange(len(sentences)), 1, objective.blocks.border, len(sentences), 0, 1, 5)
    rows = Trainer(objective, "sgd", 8, 0, 1).rows
    scratch = objective.make_scratch(text, plan, 1)
    objective.train(text, rows, scratch, plan, Update(0.0, 0.0, False, 8, False), one_thread())
    loss, n_sentences = scratch.losses.total
    first, last = scratch.target.bounds[0, :2]
    return loss, n_sentences, last - first - n_sentences * objective.options.negative


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("options", "n_sentences", "n_words"),
    [({}, 3, 4 + (3 + 2) + 4), ({"window": 2}, 3, (4 + 2) + (3 + 2) + (3 + 4)), ({"autoencode": True}, 4, 13 + 9 + 2)],
)
def test_what_a_sentence_predicts(options, n_sentences, n_words):
    # Three, four and two words, and a document of one sentence, which has nothing around it but itself.
    sentences, documents = [[0, 1, 2], [3, 4, 70000, 5, 6], [7, 8], [1, 2]], [0, 0, 0, 1]
    assert run_without_learning(sentences, documents, **options)[1:] == (n_sentences, n_words)


@pytest.mark.kernel
@pytest.mark.parametrize("sentences", [[[], [4]], [[4, 5]], [[70000, 9], [3]]])
def test_nothing_to_learn_beside_an_empty_sentence(sentences):
    assert run_without_learning(sentences, [0] * len(sentences)) == (0.0, 0, 0)


@pytest.mark.kernel
def test_a_negative_counts_for_each_other_word():
    # With one word in the vocabulary every negative is the word itself.
    estimator = FastSentVectorizer(subsample=1.0, negative=5)
    objective = estimator._make_objective(start(estimator, [[0], [0, 0]], 1))
    text = encode([[0], [0, 0]], [0, 0], np.ones(1, np.float32))
    (source, _), (target, _) = doubles(objective)
    total = run_block(objective, text, Plan(np.arange(2), 1, 1, 2, 0, 1, 5))
    score = target[0] @ source[0]
    expected = np.log1p(np.exp(-score)) + np.log1p(np.exp(-2 * score))
    np.testing.assert_allclose(total, (expected, 2), rtol=1e-5)


@pytest.mark.kernel
def test_subsampling_and_negatives():
    counts = np.array([5000, 400, 20, 3])
    estimator = FastSentVectorizer(subsample=1e-3)
    state = replace(start(estimator, n_words=4), word_counts_=counts, n_tokens=counts.sum())
    options = estimator._make_objective(state).options
    expected = [keep_probability(count, counts.sum(), 1e-3) for count in counts]
    np.testing.assert_allclose(options.keep, expected, rtol=1e-6)
    np.testing.assert_allclose(negative_probability(options.negatives), counts**0.5 / (counts**0.5).sum(), atol=1e-6)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS)
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = FastSentVectorizer(**{"subsample": 0.01, **options})
    results = [weights_after_passes(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_a_run_is_its_sentences(options):
    assert_runs_are_their_sentences(FastSentVectorizer(**{"subsample": 0.01, **options}))


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
def test_runs_of_short_sentences_give_the_same_bits():
    estimator = FastSentVectorizer(window=2, autoencode=True, subsample=0.01)
    short = {"n_sentences": 701, "batch_size": 160}  # about six words each, so runs of two, the last one short
    results = [weights_after_passes(estimator, "adagrad", n, **short) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.parametrize("name", FastSentVectorizer._paper_settings)
def test_the_settings_of_the_paper_learn(name):
    # Each document keeps to a topic, so a sentence says which words are around it.
    rng = np.random.default_rng(0)
    n_components, n_sentences = (8, 80) if numba.config.DISABLE_JIT else (100, 1500)
    words = [[f"{topic}{i}" for i in range(12)] for topic in "abcde"]
    documents = np.arange(n_sentences) // 5
    X = [" ".join(rng.choice(words[d % 5], 8)) for d in documents]
    options = {**FastSentVectorizer._paper_settings[name], "n_components": n_components, "max_iter": 3, "min_count": 1}
    model = FastSentVectorizer(**options, random_state=0).fit(X, groups=documents)
    assert model.loss_curve_[-1] < model.loss_curve_[0] <= 11 * np.log(2) + 0.1
    assert model.transform(X[:2]).shape == (2, n_components)


def test_words_of_one_context_become_similar():
    # "ab" and "xy" share no sentence and no word, only what stands beside them.
    X = ["a b", "c d", "x y", "c d", "e f", "g h", "k l", "g h"] * 60
    documents = np.arange(len(X)) // 2
    model = FastSentVectorizer(8, min_count=1, subsample=1.0, random_state=0, max_iter=10).fit(X, groups=documents)
    assert model.similarity("a b", "x y") > 0.5 > model.similarity("a b", "e f")
