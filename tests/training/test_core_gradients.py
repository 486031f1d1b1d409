"""A dense matrix, and vectors that inference finds: gradients and steps against slow twins and numeric gradients."""

import math
from dataclasses import replace

import numpy as np
import pytest
from core_objectives import (
    MapObjective,
    MapVectorizer,
    ParagraphObjective,
    ParagraphVectorizer,
    find_vector,
    vector_loss,
)
from kernel_cases import tiny_text
from reference import numeric_gradient

from skembed._training.dense import Chunk, DenseTrainer
from skembed._training.learned_arrays import start_arrays
from skembed._training.state import FittedState

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def start(cls, seed=1, dtype=np.float64, **options):
    """A state for the tiny text before the first block, in double precision."""
    estimator = cls(5, **options)
    state = FittedState(word_counts_=np.arange(9, 0, -1), seed=3)
    records = estimator._learned_arrays(state)
    arrays = start_arrays(records, estimator.solver, seed)
    return state.with_arrays({name: array.astype(dtype) for name, array in arrays.items()}), records


def chunk_of(text, sentences=None):
    sentences = np.arange(len(text.document)) if sentences is None else np.array(sentences)
    return Chunk(text, sentences, np.random.default_rng(0))


def dense_gradients(gradients, fitted):
    """Whole arrays of the gradients of rows."""
    found = {}
    for name, value in gradients.of.items():
        found[name] = np.zeros_like(fitted[name])
        if isinstance(value, np.ndarray):
            found[name] += value
        else:
            np.add.at(found[name], value.rows, value.vectors)
    return found


def map_twin(text, fitted, sentences, labels=None):
    """Loss and number of targets in plain Python, from the formula."""
    rows, matrix = fitted["word_vectors_"], fitted["matrix_"]

    def mean(i):
        words = [w for w in text.tokens[text.sent_ptr[i] : text.sent_ptr[i + 1]] if w < len(text.word_weight)]
        return sum((rows[w] for w in words), np.zeros(rows.shape[1])) / max(1, len(words))

    def has_next(i):
        inside = i + 1 < len(text.document) and text.document[i] == text.document[i + 1]
        return inside and all(text.sent_ptr[j] < text.sent_ptr[j + 1] for j in (i, i + 1))

    targets, loss = [i for i in sentences if has_next(i)], 0.0
    for i in targets:
        others = [j for j in targets if j == i or labels is None or labels[j + 1] != labels[i + 1]]
        scores = {j: mean(i) @ matrix @ mean(j + 1) for j in others}
        loss += math.log(sum(math.exp(score) for score in scores.values())) - scores[i]
    return loss, len(targets)


@pytest.mark.parametrize("labels", [None, [0, 0, 1, 1, 2, 0, 1, 1, 0, 2, 2, 1, 0]])
def test_the_map_is_its_twin_and_its_gradient_the_numeric_one(labels):
    fitted = start(MapVectorizer)[0].arrays
    text = tiny_text()[0]
    labels = None if labels is None else np.resize(labels, len(text.document))
    text = text._replace(annotations=() if labels is None else (labels,))
    chunk = chunk_of(text)
    found = MapObjective(fitted).gradients(chunk, True)
    loss, n_targets = map_twin(text, fitted, chunk.sentences, labels)
    assert found.n_targets == n_targets > 4
    np.testing.assert_allclose(found.loss, loss, rtol=1e-10)
    for name, gradient in dense_gradients(found, fitted).items():
        expected = numeric_gradient(lambda: map_twin(text, fitted, chunk.sentences, labels)[0], fitted[name])
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
        assert np.abs(expected).max() > 0.1


def test_gradient_of_the_output_vectors_is_the_numeric_one():
    state, _ = start(ParagraphVectorizer)
    fitted = state.arrays
    objective, chunk = ParagraphObjective(state), chunk_of(tiny_text()[0])
    found = objective.gradients(chunk, True)
    text = chunk.text
    rows = np.where(text.tokens < 9, text.tokens, -1)
    listed = list(objective.words_and_noise(rows, text.sent_ptr))
    frozen = [find_vector(fitted["output_vectors_"][words], signs) for words, signs in listed]

    def loss():
        return sum(vector_loss(v, fitted["output_vectors_"][words], s) for v, (words, s) in zip(frozen, listed))

    np.testing.assert_allclose(found.loss, loss(), rtol=1e-10)
    expected = numeric_gradient(loss, fitted["output_vectors_"])
    gradient = dense_gradients(found, fitted)["output_vectors_"]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    assert np.abs(expected).max() > 0.05


def twin_steps(weights, state, gradient, solver, rate, n_steps, whole_rows):
    """One step of each element that the gradient touches, in plain Python."""
    for i in np.flatnonzero(gradient.any(axis=1)):
        squares = np.mean(gradient[i] ** 2)
        for c, g in enumerate(gradient[i]):
            if solver == "adam":
                state[0][i, c] = 0.9 * state[0][i, c] + 0.1 * g
                state[1][i, c] = 0.999 * state[1][i, c] + 0.001 * g * g
                first, second = state[0][i, c] / (1 - 0.9**n_steps), state[1][i, c] / (1 - 0.999**n_steps)
                weights[i, c] -= rate * first / (math.sqrt(second) + 1e-8 / math.sqrt(1 - 0.999**n_steps))
            elif solver == "sgd":
                weights[i, c] -= rate * g
            else:
                state[0][i, c] += squares if whole_rows else g * g
                weights[i, c] -= rate * g / math.sqrt(state[0][i, c])


@pytest.mark.parametrize("solver", ["adam", "adagrad", "sgd"])
def test_blocks_are_those_of_the_twin(solver):
    text, rate = tiny_text()[0], 0.05
    found_state, arrays = start(MapVectorizer, dtype=np.float32, solver=solver)
    fitted = found_state.arrays
    slow = {name: value.astype(float) for name, value in fitted.items() if name.endswith("s_") or name == "matrix_"}
    state = {array.name: np.zeros((2, *array.shape)) for array in arrays}
    found_state = replace(found_state, records=arrays)
    trainer = DenseTrainer(MapObjective(fitted), solver, len(text.document), 7, 1, state=found_state)
    for epoch in range(3):
        loss = trainer.run_pass(text, epoch, rates=(rate, rate))
        found = MapObjective(slow).gradients(chunk_of(text), True)  # in double precision, as one chunk
        expected, n_targets = map_twin(text, slow, range(len(text.document)))
        np.testing.assert_allclose(loss, expected / n_targets, rtol=1e-5)
        for name, gradient in dense_gradients(found, slow).items():
            twin_steps(slow[name], state[name], gradient / n_targets, solver, rate, epoch + 1, name != "matrix_")
        for name in ("word_vectors_", "matrix_"):
            np.testing.assert_allclose(fitted[name], slow[name], rtol=1e-4, atol=2e-6)
