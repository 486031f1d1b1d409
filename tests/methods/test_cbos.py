"""CBOS against its slow twin, its numeric gradient, its paper (000) and its promises."""

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    DOCUMENTS,
    N_BUCKETS,
    N_COMPONENTS,
    RUN_LENGTH,
    UNCAPPED,
    assert_large_block_is,
    assert_same_state,
    doubles,
    draws_of,
    encode,
    kernel_gradients,
    make_plan,
    one_thread,
    run_block,
    start,
    starts_of,
    tiny_text,
    weights_after_passes,
)
from reference import Text, cbos_block, numeric_gradient, take_steps

from skembed import CBOSVectorizer, SiameseCBOWVectorizer
from skembed._training.encoded_text import Plan
from skembed._training.learned_arrays import Update
from skembed._training.trainer import Trainer

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def make_objective(**options):
    estimator = CBOSVectorizer(**{"negative": 3, **options})
    return estimator._make_objective(start(estimator))


def twin(text, vectors, plan, window=1, pooling="sum", negative=3):
    return cbos_block(text, vectors, starts_of(plan), plan.run_length, draws_of(plan, negative), window, pooling)


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
        loss, n_targets, entries = twin(slow_text, vectors, plan, window, pooling)
        take_steps(vectors, accumulator, entries, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0 and entries
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("pooling", ["sum", "mean"])
def test_gradient_is_the_numeric_one(window, pooling):
    objective = make_objective(window=window, pooling=pooling)
    text, slow_text = tiny_text("weighted")
    plan = make_plan(objective)
    vectors = doubles(objective)[0][0]
    expected = numeric_gradient(lambda: twin(slow_text, vectors, plan, window, pooling)[0], vectors)
    (gradient,) = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)
    assert np.abs(expected).max() > 0.1


@pytest.mark.kernel
def test_scoring_alone_changes_nothing():
    objective = make_objective()
    text, slow_text = tiny_text()
    plan = make_plan(objective)
    expected = doubles(objective)
    total = run_block(objective, text, plan, learn=False)
    assert_same_state(objective, expected)
    np.testing.assert_allclose(total, twin(slow_text, expected[0][0], plan)[:2], rtol=1e-5)


@pytest.mark.kernel
def test_blocks_of_one_call_are_blocks_of_many_and_the_rate_falls():
    objective, single = make_objective(), make_objective()
    text, _ = tiny_text()
    plan = make_plan(objective)._replace(first_block=0, last_block=2)
    rows = Trainer(objective, "adagrad", 8, 0, 1).rows
    scratch = objective.make_scratch(text, plan, 1)
    objective.train(text, rows, scratch, plan, Update(0.2, 0.05, True, 8, True), one_thread())
    totals = [run_block(single, text, make_plan(single, b), "adagrad", 0.2 - 0.05 * b, 8) for b in BLOCKS]
    assert objective.matrices[0].weights.tobytes() == single.matrices[0].weights.tobytes()
    np.testing.assert_allclose(scratch.losses.total, np.sum(totals, axis=0), rtol=1e-12)


def loss_of(documents, window, negative=1, run_length=None, vectors=None):
    """Loss and number of targets of a whole text in one block of one run."""
    sentences = [sentence for document in documents for sentence in document]
    owner = [d for d, document in enumerate(documents) for _ in document]
    objective = make_objective(window=window, negative=negative)
    if vectors is not None:
        objective.matrices[0].weights[: len(vectors)] = vectors
    text = encode(sentences, owner, np.ones(len(objective.matrices[0].weights), np.float32))
    length = run_length or len(sentences)
    starts = np.arange(0, len(sentences), length)
    plan = Plan(starts, length, window, len(starts), 0, 1, 5)
    return run_block(objective, text, plan, learn=False), objective.matrices[0].weights


@pytest.mark.kernel
def test_context_is_the_mean_of_the_neighbours_that_exist():
    # Sentences 0 and 2 have one neighbour each, sentence 1 has two; far sentence 3 is a document of its own.
    total, w = loss_of([[[0], [1], [2]], [[3]]], window=1, negative=3)
    # All four are negatives of each other, less the neighbours.
    expected = 0.0
    for i, near, others in [(0, [1], [2, 3]), (1, [0, 2], [3]), (2, [1], [0, 3])]:
        context = w[near].astype(float).mean(axis=0)
        scores = w[[i, *others]].astype(float) @ context
        expected += np.log(np.exp(scores).sum()) - scores[0]
    np.testing.assert_allclose(total, (expected, 3), rtol=1e-5)


@pytest.mark.kernel
@pytest.mark.parametrize("window", [1, 2, 3])
def test_no_context_across_documents(window):
    assert loss_of([[[0]], [[1]], [[2, 3]], [[4]]], window)[0] == (0.0, 0.0)
    assert loss_of([[[0], [], [9]], [[1], []]], window)[0] == (0.0, 0.0)


@pytest.mark.kernel
@pytest.mark.parametrize("run_length", [2, 4, 8])
@pytest.mark.parametrize("window", [1, 2])
def test_a_negative_is_never_the_context_or_the_target(window, run_length):
    # Each sentence a word of its own, as many negatives as there are sentences: only strangers may be among them, also
    # where a neighbour is the target of another run of the block.
    (loss, n_targets), w = loss_of([[[i] for i in range(8)]], window, negative=7, run_length=run_length)
    w = w.astype(float)
    expected = 0.0
    for i in range(8):
        near = [j for j in range(8) if 0 < abs(i - j) <= window]
        strangers = [j for j in range(8) if abs(i - j) > window]
        scores = w[[i, *strangers]] @ w[near].mean(axis=0)
        expected += np.log(np.exp(scores).sum()) - scores[0]
    assert n_targets == 8
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.kernel
def test_extreme_scores_stay_finite():
    vectors = np.full((9, N_COMPONENTS), 30.0)
    vectors[::2] *= -1
    (loss, _), _ = loss_of([[[i] for i in range(9)]], 1, negative=4, vectors=vectors)
    assert np.isfinite(loss)
    text, _ = tiny_text()
    objective = make_objective()
    objective.matrices[0].weights[:] = vectors
    run_block(objective, text, make_plan(objective), rate=0.01)
    assert np.isfinite(objective.matrices[0].weights).all()


@pytest.mark.kernel
def test_a_large_block_is_the_twin_too():
    assert_large_block_is(CBOSVectorizer(window=2, negative=3), twin)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("options", [{}, {"window": 2, "pooling": "mean", "negative": 5}])
@pytest.mark.parametrize("n_components", [1, 6, 16, 70])
def test_any_number_of_threads_gives_the_same_bits(options, solver, n_components):
    estimator = CBOSVectorizer(**options)
    results = [weights_after_passes(estimator, solver, n, n_components=n_components) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
def test_large_blocks_give_the_same_bits():
    options = {"n_sentences": 700, "batch_size": 332}
    results = [weights_after_passes(CBOSVectorizer(), "adagrad", n, **options) for n in (1, 2, 3, 4)]
    assert all(result == results[0] for result in results)


def topics(n_documents=30, length=8, seed=0):
    """Documents of one topic each, so that neighbours share words."""
    rng = np.random.default_rng(seed)
    words = [[f"{topic}{i}" for i in range(8)] for topic in "abcde"]
    sentences = [" ".join(rng.choice(words[d % 5], 5)) for d in range(n_documents) for _ in range(length)]
    return sentences, np.repeat(np.arange(n_documents), length)


@pytest.mark.kernel
def test_the_setting_of_the_paper_learns():
    # CBOS, section III: k = 1, m = 2, d = 100, batches of 10, 10 passes, rate 0.01, words seen 5 times.
    n_components, n_documents = (8, 6) if numba.config.DISABLE_JIT else (100, 40)
    X, groups = topics(n_documents)
    cbos = CBOSVectorizer(
        n_components=n_components,
        window=1,
        negative=2,
        solver="sgd",
        batch_size=10,
        max_iter=10,
        learning_rate=0.01,
        min_count=1,
        random_state=0,
    ).fit(X, groups=groups)
    assert cbos.n_iter_ == 10 and len(cbos.loss_curve_) == 10
    assert cbos.loss_curve_[-1] < cbos.loss_curve_[0]
    assert abs(cbos.loss_curve_[0] - np.log(3)) < 0.3  # a chance of one in three at the start
    assert cbos.transform(X[:3]).shape == (3, n_components)


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long in plain Python")
def test_neighbours_become_alike():
    X, groups = topics(60)
    cbos = CBOSVectorizer(20, min_count=1, max_iter=5, random_state=0).fit(X, groups=groups)
    rows = cbos.transform(X)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    alike = (rows @ rows.T)[(groups[:, None] % 5) == (groups % 5)].mean()
    different = (rows @ rows.T)[(groups[:, None] % 5) != (groups % 5)].mean()
    assert alike > different + 0.3


def test_twin_text_holds_what_it_promises():
    sentences = [sentence for document in DOCUMENTS for sentence in document]
    assert [] in sentences and [9, 9] in sentences and any(len(document) == 1 for document in DOCUMENTS)
    assert len(sentences) % RUN_LENGTH == 1
    assert Text(sentences, [], np.ones(9)).words(3) == [5, 1]


def test_a_block_too_small_for_random_sentences_is_refused():
    with pytest.raises(ValueError, match="batch_size=3 is too small for window=1.*at least 4"):
        CBOSVectorizer(4, min_count=1, batch_size=3).fit(["a b", "b c", "c d", "d e", "e f"])


@pytest.mark.parametrize("window", [5, 79, 80, 100, 10**9])  # of 80 sentences
@pytest.mark.parametrize("cls", [CBOSVectorizer, SiameseCBOWVectorizer])
def test_a_window_beyond_the_document_and_more_negatives_than_sentences_cost_nothing(cls, window):
    text = ["a b", "b c", "c d", "d e", "e a"] * 16
    groups = np.repeat(np.arange(16), 5)
    options = {"n_components": 4, "min_count": 1, "random_state": 0}
    whole = cls(window=4, negative=15, **options).fit(text, groups=groups)
    vast = cls(window=window, negative=10**9, **options).fit(text, groups=groups)
    assert (vast.word_vectors_ == whole.word_vectors_).all()
    assert vast.loss_curve_ == whole.loss_curve_
