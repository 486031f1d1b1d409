"""Vocabulary: order, pruning, messages; packed words; vectors of unknown words."""

import hashlib
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skembed._vocabulary import Vocabulary, check_limits, decode_words, encode_words, hash_vectors

WORDS = st.text(st.characters() | st.sampled_from("ab\ud800\udc00\x00\n"), max_size=5)


@given(st.dictionaries(WORDS, st.integers(1, 5), min_size=1), st.integers(1, 6), st.none() | st.integers(1, 10))
def test_order_and_limits(counts, min_count, max_features):
    words, numbers = list(counts), list(counts.values())
    expected = sorted((word for word in words if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    expected = expected[:max_features]
    if not expected:
        with pytest.raises(ValueError, match=f"{len(words)} distinct words .* {max(numbers)} times.*Lower min_count"):
            Vocabulary.from_counts(words, numbers, min_count=min_count, max_features=max_features)
        return
    vocabulary, remap = Vocabulary.from_counts(words, numbers, min_count=min_count, max_features=max_features)
    assert vocabulary.words == expected
    assert vocabulary.counts.tolist() == [counts[word] for word in expected]
    assert vocabulary.counts.dtype == np.int64 and remap.dtype == np.int32
    assert remap.tolist() == [vocabulary.index.get(word, -1) for word in words]
    # Pruning later gives what counting with the same limits gives: ids are a prefix.
    assert Vocabulary.from_counts(words, numbers)[0].prune(min_count, max_features) == vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


def test_no_words_at_all():
    with pytest.raises(ValueError, match="The text has no words: it is empty, or token_pattern, stop_words"):
        Vocabulary.from_counts([], [])
    with pytest.raises(ValueError, match="no words"):
        Vocabulary([], np.zeros(0)).prune()


def test_prune_keeps_itself_if_nothing_goes():
    vocabulary = Vocabulary(["a", "b"], [2, 1])
    assert vocabulary.prune(1) is vocabulary
    assert vocabulary.prune(2).words == ["a"]
    with pytest.raises(ValueError, match="Lower min_count to 2 or less"):
        vocabulary.prune(3)


def test_counts_cannot_be_changed():
    counts = np.array([2, 1])
    vocabulary = Vocabulary(["a", "b"], counts)
    counts[0] = 9
    assert vocabulary.counts[0] == 2
    for copy in (vocabulary, pickle.loads(pickle.dumps(vocabulary))):
        with pytest.raises(ValueError, match="read-only"):
            copy.counts[0] = 1
    with pytest.raises(ValueError, match="2 words but counts of shape"):
        Vocabulary(["a", "b"], [1])


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        ((0, None), ValueError),
        ((True, None), ValueError),
        ((1.5, None), TypeError),
        ((1, 0), ValueError),
        ((1, "2"), TypeError),
    ],
)
def test_wrong_limits(limits, error):
    with pytest.raises(error, match="must be an integer"):
        check_limits(*limits)
    assert check_limits(np.int64(2), np.int32(3)) == (2, 3)


@given(st.lists(WORDS))
def test_packed_words_round_trip(words):
    text, ptr = encode_words(words)
    assert text.dtype == np.uint8 and ptr.dtype == np.int64 and len(ptr) == len(words) + 1
    assert decode_words(text, ptr) == words


@given(st.lists(WORDS, max_size=5), st.integers(1, 70), st.integers(0, 2**64 - 1))
def test_hash_vectors_are_a_function_of_the_word(words, n_components, seed):
    vectors = hash_vectors(words, n_components, seed)
    assert vectors.shape == (len(words), n_components) and vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    for word, vector in zip(words, vectors):
        assert hash_vectors([word], n_components, seed)[0].tobytes() == vector.tobytes()


def slow_hash_vector(word, n_components, seed):
    """One word in Python's own integers."""
    text = word.encode("utf-8", "surrogatepass")
    key = int.from_bytes(hashlib.blake2b(text, digest_size=8, salt=seed.to_bytes(8, "little")).digest(), "little")
    entries = []
    for i in range(1, n_components + 1):
        z = (key + i * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        z ^= z >> 31
        entries.append(2 * sum(z >> shift & 0xFFFF for shift in (0, 16, 32, 48)) - 262139)
    return np.array([e / math.sqrt(sum(e * e for e in entries)) for e in entries], np.float32)


@given(WORDS, st.integers(1, 30), st.integers(0, 2**64 - 1))
def test_hash_vectors_against_a_slow_twin(word, n_components, seed):
    assert hash_vectors([word], n_components, seed)[0].tolist() == slow_hash_vector(word, n_components, seed).tolist()


def test_hash_vectors_stay_the_same_for_ever():
    # A saved model's unknown words must not move with a new version, another machine or another process.
    expected = np.array([[0.65292, 0.084756, 0.75267], [0.024992, 0.231244, 0.972575]])
    np.testing.assert_allclose(hash_vectors(["cat", "\ud800é"], 3, seed=7), expected, atol=1e-6)
    code = "from skembed._vocabulary import hash_vectors; print(hash_vectors(['cat'], 5).tobytes().hex())"
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
    other = hash_vectors(words, 50, seed=1)
    assert abs((vectors * other).sum(axis=1).mean()) < 0.02


def test_hash_vectors_wrong_arguments():
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        hash_vectors(["a"], 0)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=r"seed must be from 0 to 2\*\*64 - 1"):
            hash_vectors(["a"], 2, seed)
