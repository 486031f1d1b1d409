"""Word2vec against its slow twin."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    UNCAPPED,
    assert_runs_are_their_sentences,
    assert_same_state,
    below,
    bits,
    doubles,
    draw_negative,
    encode,
    halves_of,
    kernel_gradients,
    make_plan,
    negative_probability,
    run_block,
    start,
    starts_of,
    tiny_text,
    uniform,
    weights_after_passes,
)
from reference import keep_probability, numeric_gradient, take_steps, word2vec_sentence

from skembed import MeanEmbeddingVectorizer, Word2VecVectorizer
from skembed._training.encoded_text import Plan

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.usefixtures("two_halves"),
]
MODELS = [
    {"algorithm": "skipgram", "window": 2, "negative": 4},
    {"algorithm": "skipgram", "window": 1, "negative": 2, "subsample": 0.05},
    {"algorithm": "cbow", "window": 2, "negative": 4},
    {"algorithm": "cbow", "window": 5, "negative": 1, "subsample": 0.05},
    {"algorithm": "cbow", "window": 1, "negative": 3},
]


def make_objective(**options):
    estimator = Word2VecVectorizer(**{"subsample": 1e9, **options})
    return estimator._make_objective(start(estimator))


def random_choices(options, seed, i, sentence, n_words, half):
    """Words that are kept, their windows and negatives, from the generator that has its own tests."""
    words = [
        word
        for position, word in enumerate(sentence)
        if word < n_words and uniform(bits(seed, 3, i, position)) < options.keep[word]
    ]
    near = [1 + int(below(bits(seed, 4, i, position), options.window)) for position in range(len(words))]
    negatives = [draw_negative(options.negatives, half, bits(seed, 5, i, j)) for j in range(options.negative)]
    return words, near, negatives


def twin(text, source, target, objective, plan):
    options = objective.options
    loss, n_targets, source_entries, target_entries = 0.0, 0, [], []
    halves = halves_of(objective.options.negatives, plan)
    assert len(set(halves)) == 2
    for i, half in zip(starts_of(plan), halves):
        words, near, negatives = random_choices(options, plan.seed, i, text.sentences[i], len(text.weights), half)
        algorithm = "skipgram" if options.skipgram else "cbow"
        result = word2vec_sentence(words, source, target, near, negatives, algorithm)
        loss += result[0]
        n_targets += result[1]
        source_entries += result[2]
        target_entries += result[3]
    return loss, n_targets, source_entries, target_entries


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS)
@pytest.mark.parametrize("seed", range(4))  # a window that is full on both sides is rare in so small a text
def test_a_block_is_the_twin(seed, options, solver, max_steps):
    objective = make_objective(**options)
    text, slow_text = tiny_text("weighted")  # word2vec itself knows no word weights
    expected = doubles(objective)
    for block in BLOCKS:
        plan = make_plan(objective, block)._replace(seed=seed)
        loss, n_targets, *entries = twin(slow_text, expected[0][0], expected[1][0], objective, plan)
        for (weights, accumulator), of_matrix in zip(expected, entries):
            take_steps(weights, accumulator, of_matrix, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_gradient_is_the_numeric_one(options):
    objective = make_objective(**options)
    text, slow_text = tiny_text()
    plan = make_plan(objective)
    (source, _), (target, _) = doubles(objective)

    def loss():
        return twin(slow_text, source, target, objective, plan)[0]

    expected = [numeric_gradient(loss, source), numeric_gradient(loss, target)]
    gradients = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    for gradient, numeric in zip(gradients, expected):
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)
        assert np.abs(numeric).max() > 0.05


@pytest.mark.kernel
@pytest.mark.parametrize("window", [1, 3])
def test_window_is_drawn_evenly_and_stays_in_the_sentence(window):
    # A sentence of n words has 2 b n - b (b + 1) pairs at most b apart; skip-gram counts one target a pair and end.
    objective = make_objective(algorithm="skipgram", window=window)
    n, n_sentences = 8, 300
    text = encode([[i % 9 for i in range(n)]] * n_sentences, [0] * n_sentences, np.ones(9, np.float32))
    plan = Plan(np.arange(n_sentences), 1, 0, n_sentences, 0, 1, 7)
    n_targets = run_block(objective, text, plan, learn=False)[1]
    expected = n_sentences * np.mean([2 * b * n - b * (b + 1) for b in range(1, window + 1)])
    assert abs(n_targets - expected) <= (0 if window == 1 else 0.03 * expected)


@pytest.mark.kernel
@pytest.mark.parametrize("algorithm", ["skipgram", "cbow"])
def test_subsampling_and_negatives(algorithm):
    counts = np.array([5000, 400, 20, 3])
    estimator = Word2VecVectorizer(algorithm=algorithm, subsample=1e-3)
    state = replace(start(estimator, n_words=4), word_counts_=counts, n_tokens=counts.sum())
    options = estimator._make_objective(state).options
    expected = [keep_probability(count, counts.sum(), 1e-3) for count in counts]
    np.testing.assert_allclose(options.keep, expected, rtol=1e-6)
    np.testing.assert_allclose(negative_probability(options.negatives), counts**0.75 / (counts**0.75).sum(), atol=1e-6)


@pytest.mark.kernel
def test_subsampling_closes_the_gap():
    # With word 0 never kept, words 1 and 2 are neighbours.
    objective = make_objective(algorithm="cbow", window=1, negative=1)
    objective.options.keep[0] = 0.0
    text = encode([[1, 0, 2], [0, 0, 0], [3, 0]], [0] * 3, np.ones(9, np.float32))
    n_targets = run_block(objective, text, Plan(np.arange(3), 1, 0, 3, 0, 1, 5), learn=False)[1]
    assert n_targets == 2


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", MODELS[:3])
def test_any_number_of_threads_gives_the_same_bits(options, solver):
    estimator = Word2VecVectorizer(**{"subsample": 0.01, **options})
    results = [weights_after_passes(estimator, solver, n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.kernel
@pytest.mark.parametrize("options", MODELS)
def test_a_run_is_its_sentences(options):
    assert_runs_are_their_sentences(Word2VecVectorizer(**{"subsample": 0.01, **options}))


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("options", MODELS[:3])
def test_runs_of_short_sentences_give_the_same_bits(options):
    estimator = Word2VecVectorizer(**{"subsample": 0.01, **options})
    short = {"n_sentences": 701, "batch_size": 160}  # about six words each, so runs of two, the last one short
    results = [weights_after_passes(estimator, "adagrad", n, **short) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.parametrize(("algorithm", "rate"), [("skipgram", 0.025), ("cbow", 0.05)])
def test_the_baselines_of_the_papers_learn(algorithm, rate):
    # Siamese CBOW, section 3.3: window 5, 5 negatives, 300 dimensions; the text is too small for its threshold of 1e-5.
    rng = np.random.default_rng(0)
    n_components, n_sentences = (8, 40) if numba.config.DISABLE_JIT else (300, 500)
    words = [[f"{topic}{i}" for i in range(20)] for topic in "abcde"]
    X = [" ".join(rng.choice(words[i % 5], 10)) for i in range(n_sentences)]
    model = Word2VecVectorizer(
        n_components,
        algorithm=algorithm,
        window=5,
        negative=5,
        subsample=1e-2,
        solver="sgd",
        learning_rate=rate,
        batch_size=1,
        max_iter=20 if numba.config.DISABLE_JIT else 5,
        min_count=1,
        pooling="mean",
        weighting=None,
        unknown="zero",
        random_state=0,
    ).fit(X)
    assert model.loss_curve_[-1] < model.loss_curve_[0] <= 6 * np.log(2) + 0.05
    assert model.transform(X[:2]).shape == (2, n_components)


@pytest.mark.kernel
@pytest.mark.parametrize("options", [{}, {"unknown": "zero", "weighting": "sif"}, {"pooling": "sum"}])
def test_it_is_the_default_source_of_means(options):
    X = ["the cat sat on the mat and a dog ran in the park", "a dog on the mat sat in the park with the cat"] * 40
    learning = {"min_count": 2, "max_features": 9, "random_state": 3}
    model = Word2VecVectorizer(7, **learning, **options).fit(X)
    mean = MeanEmbeddingVectorizer(7, **learning, **options).fit(X)
    assert mean.word_vectors_.tobytes() == model.word_vectors_.tobytes()
    assert mean.transform([*X, "a zebra"]).tobytes() == model.transform([*X, "a zebra"]).tobytes()
    assert mean.word2vec_.loss_curve_ == model.loss_curve_
    unfitted = Word2VecVectorizer(7, min_count=2, max_features=9)
    given = MeanEmbeddingVectorizer(word_vectors=unfitted, random_state=3, **options).fit(X)
    assert given.transform(X).tobytes() == model.transform(X).tobytes()
    assert not hasattr(unfitted, "vocabulary_") and given.word2vec_.n_iter_ == model.n_iter_


def test_no_warm_start_from_weights_of_another_shape():
    X = ["the cat sat on the mat", "a dog ran in the park"] * 10
    model = Word2VecVectorizer(4, min_count=1, max_iter=1, random_state=0, warm_start=True).fit(X)
    with pytest.raises(ValueError, match="n_components=5 differs"):
        model.set_params(n_components=5).fit(X)
