"""Vocabulary: order, pruning, messages; packed words."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skembed._text.vocabulary as vocabulary_module
from skembed._compiled.threads import Threads
from skembed._text.vocabulary import Vocabulary, check_limits, decode_words, encode_words

WORDS = st.text(st.characters() | st.sampled_from("ab\ud800\udc00\x00\n"), max_size=5)


def from_counts(words, counts, **limits):
    text, ptr = encode_words(words)
    return Vocabulary.from_bytes(text, ptr[:-1], ptr[1:], counts, **limits)


@given(st.dictionaries(WORDS, st.integers(1, 5), min_size=1), st.integers(1, 6), st.none() | st.integers(1, 10))
def test_order_and_limits(counts, min_count, max_features):
    words, n_times = list(counts), list(counts.values())
    expected = sorted((word for word in words if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    expected = expected[:max_features]
    if not expected:
        with pytest.raises(ValueError, match=f"{len(words)} distinct words .* {max(n_times)} times.*Lower min_count"):
            from_counts(words, n_times, min_count=min_count, max_features=max_features)
        return
    vocabulary, remap = from_counts(words, n_times, min_count=min_count, max_features=max_features)
    assert vocabulary.words == expected
    assert vocabulary.counts.tolist() == [counts[word] for word in expected]
    assert vocabulary.counts.dtype == np.int64 and remap.dtype == np.int32
    assert remap.tolist() == [vocabulary.index.get(word, -1) for word in words]
    # Pruning later gives what counting with the same limits gives: ids are a prefix.
    assert from_counts(words, n_times)[0].prune(min_count, max_features) == vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@pytest.mark.kernel
@pytest.mark.parametrize(("n_words", "n_threads"), [(1, 1), (1, 2), (40, 1), (3000, 1), (3000, 2)])
def test_order_of_words_that_begin_alike(n_words, n_threads, monkeypatch):
    monkeypatch.setattr(vocabulary_module, "_MANY", 0)
    rng = np.random.default_rng(n_words)
    stems = [
        "a",
        "b",
        "\x00",
        "_",
        "\u00e9",
        "\ufffd",
        "\U00010400",
        "eightbyt",
        "sixteenbyteslong",
        "twentybytesandmore",
    ]
    words = list({"".join(rng.choice(stems, rng.integers(0, 9), p=[0.1] * 10)) for _ in range(n_words)})
    counts = rng.choice([0, 1, 2, 65534, 65535, 65536, 10**12], len(words)).tolist()
    counts[0] = 1
    vocabulary, remap = from_counts(words, counts, threads=Threads(n_threads))
    expected = sorted(((word, n) for word, n in zip(words, counts) if n), key=lambda pair: (-pair[1], pair[0]))
    assert list(zip(vocabulary.words, vocabulary.counts.tolist())) == expected
    assert [i < 0 or vocabulary.words[i] == word for i, word in zip(remap.tolist(), words)] == [True] * len(words)
    assert np.array_equal(remap < 0, np.array(counts) == 0)


def test_many_words_that_only_end_differently():
    words = [f"https_example_org_page_{i}" for i in range(60_000)]
    vocabulary, _ = from_counts(words, np.ones(len(words)))
    assert vocabulary.words == sorted(words)


def test_words_are_made_when_asked_for():
    words, counts = ["b", "\u00e9_", "", "\ud800"], [4, 3, 3, 1]
    listed, packed = Vocabulary(words, counts), Vocabulary.from_packed(*encode_words(words), counts)
    assert packed == listed and len(packed) == 4 and repr(packed) == repr(listed)
    assert pickle.loads(pickle.dumps(packed)) == listed and packed.prune(3) == listed.prune(3)
    assert packed != Vocabulary(["b", "\u00e9_", "x", "\ud800"], counts) and packed != Vocabulary(words, [4, 3, 2, 1])
    assert [packed.words_of(slice(first, last)) for first, last in ((0, 1), (1, 3), (0, 4))] == [
        words[:1],
        words[1:3],
        words,
    ]
    assert "words" not in vars(packed)
    assert packed.words == words and packed.words is packed.words
    assert packed.index == listed.index and packed == listed
    with pytest.raises(ValueError, match="4 words but counts of shape"):
        Vocabulary.from_packed(*encode_words(words), [1])


def test_no_words_at_all():
    with pytest.raises(ValueError, match="The text has no words: it is empty, .*or token_pattern, stop_words"):
        from_counts([], [])
    with pytest.raises(ValueError, match="no words"):
        Vocabulary([], np.zeros(0)).prune()


def test_prune_keeps_itself_if_nothing_goes():
    vocabulary = Vocabulary(["a", "b"], [2, 1])
    assert vocabulary.prune(1) is vocabulary
    assert vocabulary.prune(2).words == ["a"]
    with pytest.raises(ValueError, match=r"Lower min_count to 2\.$"):
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
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    assert [text[first:last].tobytes() for first, last in pairwise(ptr)] == encoded
    assert decode_words(text, ptr) == words


def test_packed_words_with_every_ascii_character():
    words = ["".join(map(chr, range(128))), "f\u00fcr", "", "\ud800", "\udc00"]
    text, ptr = encode_words(words)
    assert decode_words(text, ptr) == words, "there is no character to put between them"
    with pytest.raises(UnicodeDecodeError):
        decode_words(text, np.array([0, 130, len(text)]))


def test_packed_words_that_begin_within_a_character():
    text, ptr = encode_words(["cat", "für", "\ud800", "\udc00"])
    assert decode_words(text, ptr) == ["cat", "für", "\ud800", "\udc00"], "surrogates of two words stay two"
    with pytest.raises(UnicodeDecodeError):
        decode_words(text, np.array([0, 5, len(text)]))
    with pytest.raises(UnicodeDecodeError):
        decode_words(text[:-1], ptr)
