"""Sums of word vectors, and the vectors of words that were never learned."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import random_bits
from scipy.sparse import csr_array

from skembed._compiled.products import sparse_product
from skembed._word_vectors.bag import MEAN, SUM, UNIT, hash_vectors, sum_rows
from skembed._word_vectors.character_ngrams import count_ngrams, from_8_bits, in_8_bits, sum_ngrams

WORDS = st.text(st.characters() | st.sampled_from("ab\ud800\udc00\x00\n"), max_size=5)
pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")]


@pytest.mark.parametrize("n", [7, 16, 37, 64, 150])
@pytest.mark.parametrize("form", [SUM, MEAN, UNIT])
def test_sum_rows(form, n):
    rng = np.random.default_rng(0)
    vectors, others = rng.normal(size=(5, n)).astype(np.float32), rng.normal(size=(2, n)).astype(np.float32)
    rows, ptr = np.array([0, 4, -1, -2, 4, -9, -9, 3]), np.array([0, 4, 4, 6, 7, 8])
    weights = rng.random(8).astype(np.float32)
    vectors.flags.writeable = others.flags.writeable = False
    out = np.full((5, n), np.nan, np.float32)
    sum_rows(rows, weights, ptr, vectors, others, form, out)
    both = np.concatenate([vectors, np.zeros((1, n)), others[::-1]])
    for i, (a, b) in enumerate(zip(ptr[:-1], ptr[1:])):
        expected = (weights[a:b, None] * both[np.maximum(rows[a:b], -3)]).sum(axis=0)
        n_summed = (rows[a:b] > -9).sum()
        divisor = {SUM: 1, MEAN: n_summed, UNIT: np.linalg.norm(expected)}[form] or 1
        np.testing.assert_allclose(out[i], expected / divisor, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e-20, 1e20, 1e28])
def test_rows_whose_squares_do_not_fit_have_length_one(scale):
    vectors = (np.random.default_rng(0).normal(size=(3, 20)) * scale).astype(np.float32)
    vectors.flags.writeable = False
    out = np.empty((2, 20), np.float32)
    sum_rows(np.arange(3), np.ones(3, np.float32), np.array([0, 3, 3]), vectors, vectors[:0], UNIT, out)
    expected = vectors.astype(float).sum(axis=0)
    np.testing.assert_allclose(out[0], expected / np.linalg.norm(expected), rtol=1e-5)
    assert not out[1].any()


@pytest.mark.parametrize("n", [1, 7, 16, 37, 150])
def test_sums_of_ngrams_in_8_bits(n):
    rows = np.random.default_rng(0).normal(size=(50, n)).astype(np.float32) * np.arange(50)[:, None]
    codes, scales = in_8_bits(rows)
    rounded = from_8_bits(codes, scales)
    assert codes.dtype == np.uint8 and not rounded[0].any()
    np.testing.assert_allclose(rounded, rows, atol=np.abs(rows).max() / 254 * 1.001)
    words = ["cat", "", "a", "naïve北京", "cat"]
    found = sum_ngrams(words, (2, 5), codes, scales)
    np.testing.assert_allclose(found, count_ngrams(words, (2, 5), 50) @ rounded, rtol=1e-4, atol=1e-3)
    assert sum_ngrams(words[3:4], (2, 5), codes, scales)[0].tobytes() == found[3].tobytes()
    assert sum_ngrams([], (2, 5), codes, scales).shape == (0, n)


@pytest.mark.parametrize("n", [3, 64, 100])
def test_sparse_product(n):
    generator = np.random.default_rng(0)
    rows = csr_array(generator.poisson(0.3, (20, 30)).astype(np.float32))
    matrix = generator.normal(size=(30, n)).astype(np.float32)
    np.testing.assert_allclose(sparse_product(rows, matrix), rows @ matrix, rtol=1e-5, atol=1e-5)


@given(st.lists(WORDS, max_size=5), st.integers(1, 70))
def test_hash_vectors_are_a_function_of_the_word(words, n_components):
    vectors = hash_vectors(words, n_components)
    assert vectors.shape == (len(words), n_components) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    for word, vector in zip(words, vectors):
        assert hash_vectors([word], n_components)[0].tobytes() == vector.tobytes()


def slow_hash_vector(word, n_components):
    """One word in Python's own integers."""
    seed = 0xCBF29CE484222325
    for byte in word.encode("utf-8", "surrogatepass"):
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    bits = [random_bits(seed, 0, 0, i) for i in range(n_components)]
    entries = [2 * sum(z >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - 262139 for z in bits]
    return np.array([e / math.sqrt(sum(e * e for e in entries)) for e in entries], np.float32)


@given(WORDS, st.integers(1, 30))
def test_hash_vectors_against_a_slow_twin(word, n_components):
    assert hash_vectors([word], n_components)[0].tolist() == slow_hash_vector(word, n_components).tolist()


def test_hash_vectors_stay_the_same_for_ever():
    # A saved model's unknown words must not move with a new version, another machine or another process.
    expected = np.array([[-0.338245, 0.074404, -0.938112], [0.204566, 0.574285, 0.792685]])
    np.testing.assert_allclose(hash_vectors(["cat", "\ud800é"], 3), expected, atol=1e-6)
    code = "from skembed._word_vectors.bag import hash_vectors; print(hash_vectors(['cat'], 5).tobytes().hex())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == hash_vectors(["cat"], 5).tobytes().hex()


def test_hash_vectors_are_random_directions():
    words = [f"word{i}" for i in range(3000)]
    vectors = hash_vectors(words, 50).astype(float)
    assert abs(vectors.mean()) < 0.002
    np.testing.assert_allclose(vectors.T @ vectors / len(words), np.eye(50) / 50, atol=0.003)
    fourth = (vectors**4).mean() / (vectors**2).mean() ** 2
    assert 2.6 < fourth < 3.0  # a Gaussian has 3; the sum of four uniform numbers 2.7
    cosines = vectors[:1500] @ vectors[1500:].T
    assert abs(cosines.std() - 50**-0.5) < 0.003
