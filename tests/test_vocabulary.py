"""Vocabulary: order, pruning, messages; packed words."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skembed._vocabulary import Vocabulary, check_limits, decode_words, encode_words

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
