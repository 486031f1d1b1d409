"""Siamese CBOW against its slow twin, its numeric gradient, its paper (002), and the bugs of the published program."""

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    N_BUCKETS,
    N_COMPONENTS,
    UNCAPPED,
    assert_large_block_is,
    assert_same_state,
    doubles,
    draws_of,
    encode,
    kernel_gradients,
    make_plan,
    run_block,
    start,
    starts_of,
    tiny_text,
    weights_after_passes,
)
from reference import cosine, numeric_gradient, siamese_block, take_steps
from sklearn.exceptions import NotFittedError

from skembed import SiameseCBOWVectorizer
from skembed._training.encoded_text import Plan
from skembed._training.learned_arrays import start_arrays
from skembed._training.state import FittedState

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def make_objective(n_words=9, **options):
    estimator = SiameseCBOWVectorizer(**{"negative": 3, "temperature": 0.5, **options})
    return estimator._make_objective(start(estimator, n_words=n_words))


def twin(text, vectors, plan, window=1, temperature=0.5, pooling="mean", negative=3):
    draws = draws_of(plan, negative)
    return siamese_block(text, vectors, starts_of(plan), plan.run_length, draws, window, temperature, pooling)


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("kind", ["plain", "weighted", "labelled", "trigrams"])
@pytest.mark.parametrize("pooling", ["sum", "mean"])
@pytest.mark.parametrize("window", [1, 2])
def test_a_block_is_the_twin(window, pooling, kind, solver, max_steps):
    ngrams = {"ngram_range": (1, 3), "n_buckets": N_BUCKETS} if kind == "trigrams" else {}
    objective = make_objective(window=window, pooling=pooling, **ngrams)
    text, slow_text = tiny_text(kind)
    expected = doubles(objective)
    vectors, accumulator = expected[0]
    for block in BLOCKS:
        plan = make_plan(objective, block)
        loss, n_targets, entries = twin(slow_text, vectors, plan, window, 0.5, pooling)
        take_steps(vectors, accumulator, entries, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0 and entries
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("temperature", [0.1, 1.0])
@pytest.mark.parametrize("window", [1, 2])
def test_gradient_is_the_numeric_one(window, temperature):
    objective = make_objective(window=window, temperature=temperature)
    text, slow_text = tiny_text("weighted")
    plan = make_plan(objective)
    vectors = doubles(objective)[0][0]
    expected = numeric_gradient(lambda: twin(slow_text, vectors, plan, window, temperature)[0], vectors)
    (gradient,) = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=3e-5)
    assert np.abs(expected).max() > 0.1


def loss_of(documents, vectors, negative=7, window=1, temperature=1.0, run_length=None):
    """Loss and number of targets of a whole text in one block."""
    sentences = [sentence for document in documents for sentence in document]
    owner = [d for d, document in enumerate(documents) for _ in document]
    objective = make_objective(len(vectors), negative=negative, window=window, temperature=temperature)
    objective.matrices[0].weights[:] = vectors
    text = encode(sentences, owner, np.ones(len(vectors), np.float32))
    length = run_length or len(sentences)
    starts = np.arange(0, len(sentences), length)
    return run_block(objective, text, Plan(starts, length, window, len(starts), 0, 1, 5), learn=False)


def expected_loss(rows, near, others, i, temperature=1.0):
    scores = np.array([cosine(rows[i], rows[j]) for j in [*near, *others]]) / temperature
    logs = scores - np.log(np.exp(scores).sum())
    return -logs[: len(near)].mean()


@pytest.mark.kernel
@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_target_is_shared_among_the_neighbours_that_exist(temperature):
    vectors = np.random.default_rng(0).normal(size=(4, N_COMPONENTS))
    loss, n_targets = loss_of([[[0], [1], [2]], [[3]]], vectors, 3, temperature=temperature)
    cases = [([1], [2, 3], 0), ([0, 2], [3], 1), ([1], [0, 3], 2)]  # 1 / |S+| is 1, 1/2 and 1
    expected = sum(expected_loss(vectors, *case, temperature) for case in cases)
    np.testing.assert_allclose((loss, n_targets), (expected, 3), rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("run_length", [2, 4, 8])
def test_a_negative_is_never_observed_next_to_the_sentence(run_length):
    vectors = np.random.default_rng(1).normal(size=(8, N_COMPONENTS))
    loss, n_targets = loss_of([[[i] for i in range(8)]], vectors, 7, run_length=run_length)
    expected = 0.0
    for i in range(8):
        near = [j for j in (i - 1, i + 1) if 0 <= j < 8]
        expected += expected_loss(vectors, near, [j for j in range(8) if abs(i - j) > 1], i)
    np.testing.assert_allclose((loss, n_targets), (expected, 8), rtol=1e-5)


@pytest.mark.kernel
def test_no_neighbours_across_documents():
    vectors = np.random.default_rng(2).normal(size=(5, N_COMPONENTS))
    assert loss_of([[[0]], [[1]], [[2, 3]], [[4]]], vectors) == (0.0, 0.0)


@pytest.mark.kernel
def test_no_stale_words_of_an_earlier_sentence():
    # Bug (a) of the published program: a short sentence kept the tail of a longer one that had its slot before.
    objective, fresh = make_objective(), make_objective()
    long, _ = tiny_text()
    scratch_text = encode([[0, 1, 2, 3, 4, 5, 6, 7, 8]] * 4, [0] * 4, long.word_weight)
    short = encode([[0], [1], [2], []], [0] * 4, long.word_weight)
    plan = Plan(np.array([0]), 4, 1, 1, 0, 1, 5)
    scratch = objective.make_scratch(scratch_text, plan, 1)
    objective.make_scratch = lambda *args: scratch  # both texts use the same scratch space
    run_block(objective, scratch_text, plan, learn=False)
    scratch.losses.total[:] = 0.0
    assert run_block(objective, short, plan) == run_block(fresh, short, plan)
    assert objective.matrices[0].weights.tobytes() == fresh.matrices[0].weights.tobytes()


@pytest.mark.kernel
def test_word_ids_beyond_two_bytes():
    # Bug (b): ids were kept in 16 bits, so that 65,536 became padding and 65,537 became word 1.
    n_words = 65_540
    vectors = np.zeros((n_words, N_COMPONENTS))
    vectors[[0, 1, 65_536, 65_537, 65_539]] = np.random.default_rng(3).normal(size=(5, N_COMPONENTS))
    loss, n_targets = loss_of([[[65_536], [65_537, 1], [65_539]], [[0]]], vectors, 3)
    rows = [vectors[65_536], vectors[65_537] + vectors[1], vectors[65_539], vectors[0]]
    expected = sum(expected_loss(rows, *case) for case in [([1], [2, 3], 0), ([0, 2], [3], 1), ([1], [0, 3], 2)])
    np.testing.assert_allclose((loss, n_targets), (expected, 3), rtol=1e-5)


@pytest.mark.kernel
def test_learning_brings_neighbours_together():
    # Bug (c): the sign of the objective was inverted.
    objective = make_objective(temperature=1.0)
    text, _ = tiny_text()
    plan = make_plan(objective)
    losses = [run_block(objective, text, plan, rate=0.1)[0] for _ in range(20)]
    assert (np.diff(losses) < 0).all()


@pytest.mark.kernel
def test_a_sentence_without_direction_takes_no_part():
    vectors = np.random.default_rng(4).normal(size=(6, N_COMPONENTS))
    vectors[2] = 0.0
    vectors[4] = -vectors[3]
    loss, n_targets = loss_of([[[0], [1], [2], [5]], [[3, 4]]], vectors, 4)  # words 3 and 4 cancel
    expected = expected_loss(vectors, [1], [5], 0) + expected_loss(vectors, [0], [5], 1)
    np.testing.assert_allclose((loss, n_targets), (expected, 2), rtol=1e-5)


@pytest.mark.kernel
def test_a_large_block_is_the_twin_too():
    assert_large_block_is(SiameseCBOWVectorizer(window=2, negative=3, temperature=0.5), twin)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", [{}, {"window": 2, "pooling": "sum", "negative": 5}])
@pytest.mark.parametrize("n_components", [1, 6, 16, 70])
def test_any_number_of_threads_gives_the_same_bits(options, solver, n_components):
    estimator = SiameseCBOWVectorizer(**options)
    results = [weights_after_passes(estimator, solver, n, n_components=n_components) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
def test_large_blocks_give_the_same_bits():
    options = {"n_sentences": 700, "batch_size": 332}
    results = [weights_after_passes(SiameseCBOWVectorizer(), "adagrad", n, **options) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


def topics(n_documents, length=8):
    rng = np.random.default_rng(0)
    words = [[f"{topic}{i}" for i in range(8)] for topic in "abcde"]
    sentences = [" ".join(rng.choice(words[d % 5], 5)) for d in range(n_documents) for _ in range(length)]
    return sentences, np.repeat(np.arange(n_documents), length)


@pytest.mark.kernel
def test_the_setting_of_the_paper_learns():
    # Siamese CBOW: 300 dimensions, two negatives, no temperature, SGD at 0.0001 in batches of 100, one pass.
    n_components, n_documents = (8, 20) if numba.config.DISABLE_JIT else (300, 50)
    X, groups = topics(n_documents)
    options = {"negative": 2, "temperature": 1, "solver": "sgd", "batch_size": 100, "min_count": 1, "random_state": 0}
    paper = SiameseCBOWVectorizer(n_components, learning_rate=1e-4, max_iter=1, **options).fit(X, groups=groups)
    assert paper.n_iter_ == 1 and paper.transform(X[:2]).shape == (2, n_components)
    assert np.log(2) < paper.loss_curve_[0] < np.log(4)  # two positives and two negatives at most
    longer = SiameseCBOWVectorizer(n_components, learning_rate=1e-4, max_iter=5, **options).fit(X, groups=groups)
    assert longer.loss_curve_[-1] < longer.loss_curve_[0]


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long in plain Python")
def test_neighbours_become_alike():
    X, groups = topics(60)
    rows = SiameseCBOWVectorizer(20, min_count=1, max_iter=5, random_state=0).fit(X, groups=groups).transform(X)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    alike = (rows @ rows.T)[(groups[:, None] % 5) == (groups % 5)].mean()
    different = (rows @ rows.T)[(groups[:, None] % 5) != (groups % 5)].mean()
    assert alike > different + 0.3


def test_not_fitted():
    with pytest.raises(NotFittedError):
        SiameseCBOWVectorizer().transform(["a"])


@pytest.mark.parametrize("n_components", [8, 300])
def test_start_values_are_as_wide_as_the_papers(n_components):
    started = FittedState(word_counts_=np.ones(2000), n_features_out_=n_components, seed=1)
    arrays = SiameseCBOWVectorizer(n_components)._learned_arrays(started)
    vectors = start_arrays(arrays, "adagrad", 1)["_source_vectors"]
    assert abs(vectors.mean()) < 5e-4 and abs(vectors.std() - 0.01) < 2e-4
