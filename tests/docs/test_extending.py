"""The method of one's own that the documentation shows, `doc/extending/next_sentence.py`, does what the page says."""

import doctest
import importlib.util
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from kernel_cases import (
    BLOCKS,
    UNCAPPED,
    assert_same_state,
    doubles,
    draws_of,
    kernel_gradients,
    make_plan,
    run_block,
    start,
    starts_of,
    tiny_text,
    weights_after_passes,
)
from reference import (
    logistic_loss,
    neighbours,
    numeric_gradient,
    random_sentences,
    sentence_vector,
    sigmoid,
    take_steps,
    targets_of,
    word_entries,
)
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

FOLDER = Path(__file__).resolve().parents[2] / "doc" / "extending"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


next_sentence = load(FOLDER / "next_sentence.py")
NextSentenceVectorizer = next_sentence.NextSentenceVectorizer


def make_objective(**options):
    estimator = NextSentenceVectorizer(**{"negative": 3, **options})
    return estimator._make_objective(start(estimator))


def twin(text, vectors, plan, negative=3):
    """Loss, number of targets and sparse gradient of a block, from the formula, in double precision."""
    starts = starts_of(plan)
    draws = draws_of(plan, negative)
    s = [sentence_vector(text, vectors, i, "sum") for i in range(len(text.sentences))]
    alive = [len(text.words(i)) > 0 for i in range(len(text.sentences))]
    targets = targets_of(text, starts, plan.run_length)
    gradients, loss, n_targets = {}, 0.0, 0
    for t, (run, i) in enumerate(targets):
        if i is None or not alive[i]:
            continue
        near = neighbours(text, i, 1, alive)
        if i + 1 not in near:
            continue
        n_targets += 1
        pairs = [(run, i + 1, -1), *((r, j, 1) for r, j in random_sentences(text, targets, t, draws, near, alive))]
        for r, j, sign in pairs:
            loss += logistic_loss(-sign * s[i] @ s[j])
            error = sign * sigmoid(sign * s[i] @ s[j])
            gradients[run, i] = gradients.get((run, i), 0.0) + error * s[j]
            gradients[r, j] = gradients.get((r, j), 0.0) + error * s[i]
    return loss, n_targets, word_entries(text, starts, plan.run_length, 1, gradients, "sum")


@pytest.mark.kernel
@pytest.mark.parametrize("max_steps", [2, UNCAPPED])
@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
@pytest.mark.parametrize("kind", ["plain", "weighted"])
def test_a_block_is_the_twin(kind, solver, max_steps):
    objective = make_objective()
    text, slow_text = tiny_text(kind)
    expected = doubles(objective)
    vectors, accumulator = expected[0]
    for block in BLOCKS:
        plan = make_plan(objective, block)
        loss, n_targets, entries = twin(slow_text, vectors, plan)
        take_steps(vectors, accumulator, entries, 0.2, solver, max_steps)
        total = run_block(objective, text, plan, solver, 0.2, max_steps)
        assert n_targets > 0 and entries
        np.testing.assert_allclose(total, (loss, n_targets), rtol=1e-5)
        assert_same_state(objective, expected)


@pytest.mark.kernel
def test_gradient_is_the_numeric_one():
    objective = make_objective()
    text, slow_text = tiny_text("weighted")
    plan = make_plan(objective)
    vectors = doubles(objective)[0][0]
    expected = numeric_gradient(lambda: twin(slow_text, vectors, plan)[0], vectors)
    (gradient,) = kernel_gradients(objective, lambda rate: run_block(objective, text, plan, rate=rate))
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)
    assert np.abs(expected).max() > 0.1


@pytest.mark.kernel
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads meet only in compiled code")
def test_any_number_of_threads_gives_the_same_bits():
    results = [weights_after_passes(NextSentenceVectorizer(), "adagrad", n) for n in (1, 2, 3)]
    assert results[0] == results[1] == results[2]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long in plain Python")
def test_it_is_an_estimator():
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{i}" for i in range(8)] for topic in "abcd"]
    sentences = [" ".join(rng.choice(topics[d % 4], 5)) for d in range(60) for _ in range(6)]
    documents = np.repeat(np.arange(60), 6)
    emb = NextSentenceVectorizer(16, min_count=1, random_state=0)
    assert clone(emb).get_params() == emb.get_params()
    rows = emb.fit(sentences, groups=documents).transform(sentences)
    assert emb.loss_curve_[-1] < emb.loss_curve_[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    same = documents[:, None] % 4 == documents % 4
    assert (rows @ rows.T)[same].mean() > (rows @ rows.T)[~same].mean() + 0.3
    assert emb.estimate_memory(sentences)["weights"] == emb.word_vectors_.nbytes
    pipeline = make_pipeline(clone(emb), LinearSVC(random_state=0))
    pipeline.fit(sentences, documents % 4, nextsentencevectorizer__groups=documents)
    assert pipeline.score(sentences, documents % 4) > 0.9
    with pytest.raises(ValueError, match="'negative' parameter of NextSentenceVectorizer"):
        clone(emb).set_params(negative=0).fit(sentences)
    with pytest.warns(UserWarning, match="NextSentenceVectorizer"):
        clone(emb).fit(sentences, groups=np.arange(len(sentences)))


def test_example_in_its_docstring():
    result = doctest.testmod(next_sentence, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0 and result.failed == 0


def test_the_page_shows_this_file():
    page = (FOLDER / "code.rst").read_text(encoding="utf-8")
    assert ".. literalinclude:: next_sentence.py" in page
