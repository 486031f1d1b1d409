"""Compiled character n-grams against CountVectorizer."""

import pickle
import threading
from itertools import pairwise

import numpy as np
import pytest
from numba import config
from sklearn.feature_extraction.text import CountVectorizer

from skembed._compiled.threads import Threads
from skembed._text import character_counts, characters
from skembed._text.character_counts import learn_ngrams
from skembed._text.character_ngrams import CharacterNgrams
from skembed._text.sources import decode_words

pytestmark = pytest.mark.kernel

SPACES = [chr(code) for code in range(0x3100) if chr(code).isspace()]
SCRIPTS = [
    "abcdefghij",
    "aAbB.,-'_\x00\x7f09",
    "straße ẞ ǅ ﬁ é e\u0301 İIıi",  # the capital I with a dot becomes two characters
    "ΟΔΟΣσς.'",  # the lowered capital sigma depends on what is around
    "жЖёЁйи\u0306",
    "ابتث\u0640\u064b\u0651\u200f\u200e\u202b\u202c",
    "אבגש\u05c1\u05b8\u200f",
    "कखि\u094d\u200d\u0902",
    "กขแำ\u0e48\u0e4a",
    "日本語ひらカタ、。",
    "漢字汉字，",
    "한국어\u1112\u1161\u11ab",
    "👩\u200d🔬🏽❤\ufe0f🇩🇪",
    "\ud83d\ude00\udfff\ud800",
    "\ufeff\uffff\U0010ffff\ue000",
]
RANGES = [(1, 1), (1, 3), (2, 5), (3, 3), (4, 6), (7, 9)]


def random_texts(n, seed=0):
    n //= 6 if config.DISABLE_JIT else 1
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        script = SCRIPTS[rng.integers(len(SCRIPTS))]
        letters = [script[i] for i in rng.integers(len(script), size=rng.integers(25))]
        for at in rng.integers(len(letters) + 1, size=rng.integers(6)):
            letters[at:at] = [SPACES[rng.integers(len(SPACES))] if rng.random() < 0.5 else " "] * rng.integers(1, 4)
        texts.append("".join(letters))
    return [*texts, "", " ", "  ", "\n\n", "a", " a ", "\u0130", "\u03a3"]


def assert_equal(counts, names, expected, expected_names):
    assert names == expected_names
    expected = expected.tocsr()
    expected.sort_indices()
    assert np.array_equal(counts.data, expected.data)
    assert np.array_equal(counts.columns, expected.indices)
    assert np.array_equal(counts.ptr, expected.indptr)


@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("kind", ["char", "char_wb"])
def test_counts_are_those_of_count_vectorizer(kind, ngram_range):
    texts, others = random_texts(300, seed=1), random_texts(200, seed=2)
    for min_df in (1, 3, 0.05):
        reference = CountVectorizer(analyzer=kind, ngram_range=ngram_range, min_df=min_df)
        try:
            expected = reference.fit_transform(texts)
        except ValueError:  # no n-gram is in so many texts
            with pytest.raises(ValueError, match="No n-gram of characters is left"):
                learn_ngrams(texts, CharacterNgrams(kind, ngram_range), min_df, Threads(1))
            continue
        analyzer = CharacterNgrams(kind, ngram_range)
        vocabulary, n_texts, counts = learn_ngrams(texts, analyzer, min_df, Threads(1))
        names = list(reference.get_feature_names_out())
        assert_equal(counts, vocabulary.names(), expected, names)
        assert np.array_equal(n_texts, np.bincount(expected.indices))
        assert_equal(
            vocabulary.count(others, analyzer, Threads(1)), vocabulary.names(), reference.transform(others), names
        )


@pytest.mark.parametrize("kind", ["char", "char_wb"])
def test_case_is_kept_on_request(kind):
    texts = random_texts(100)
    vocabulary, _, counts = learn_ngrams(texts, CharacterNgrams(kind, (1, 2), lowercase=False), 1, Threads(1))
    reference = CountVectorizer(analyzer=kind, ngram_range=(1, 2), lowercase=False)
    assert_equal(counts, vocabulary.names(), reference.fit_transform(texts), list(reference.get_feature_names_out()))


def test_every_white_space_separates_words():
    texts = ["a" + space + "b" for space in SPACES]
    analyzer = CharacterNgrams("char_wb", (3, 3))
    assert learn_ngrams(texts, analyzer, 1, Threads(1))[0].names() == [" a ", " b "]


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_and_batches_change_nothing(monkeypatch, n_threads):
    texts, analyzer = random_texts(300), CharacterNgrams("char_wb", (1, 4))
    vocabulary, n_texts, counts = learn_ngrams(texts, analyzer, 2, Threads(1))
    monkeypatch.setattr(character_counts, "BATCH_LENGTH", 100)
    for again in (Threads(n_threads), Threads(1)):
        other, its_n_texts, its_counts = learn_ngrams(texts, analyzer, 2, again)
        assert other.names() == vocabulary.names()
        assert np.array_equal(n_texts, its_n_texts)
        for mine, its, transformed in zip(counts, its_counts, vocabulary.count(texts, analyzer, again)):
            assert np.array_equal(mine, its)
            assert np.array_equal(mine, transformed)


def test_the_tries_of_threads_are_merged():
    analyzer = CharacterNgrams("char", (1, 3))
    encoder, texts = characters.CharacterEncoder(analyzer), [random_texts(40, seed=seed) for seed in range(3)]
    read = []
    for its_texts in texts:
        worker = threading.Thread(target=lambda its=its_texts: read.append(encoder.read(its)))
        worker.start()
        worker.join()
    assert [index for _, _, index in read] == [0, 1, 2]
    trie, nodes_of = encoder.merged()
    assert len(set(trie.edges.tolist())) == len(trie.edges)
    for (tokens, ptr, index), its_texts in zip(read, texts):
        found = decode_words(*trie.packed(nodes_of[index][tokens]))
        assert [found[a:b] for a, b in pairwise(ptr)] == [analyzer(text) for text in its_texts]


@pytest.mark.parametrize("ngram_range", RANGES)
@pytest.mark.parametrize("kind", ["char", "char_wb"])
def test_known_ngrams_are_found_in_order(kind, ngram_range):
    analyzer = CharacterNgrams(kind, ngram_range)
    known = sorted({ngram for text in random_texts(50) for ngram in analyzer(text)}, key=lambda ngram: hash(ngram))
    table = characters.KnownNgrams(known, analyzer)
    texts = random_texts(50, seed=3)
    ids, ptr, others = table.scan(texts)
    assert not set(others) & set(known)
    assert len(set(others)) == len(others)
    found = [[*known, *others][i] for i in ids.tolist()]
    assert [found[a:b] for a, b in pairwise(ptr)] == [analyzer(text) for text in texts]


def test_a_pickled_vocabulary_counts_the_same_and_has_no_table():
    texts, analyzer = random_texts(100), CharacterNgrams("char_wb", (2, 4))
    vocabulary, _, counts = learn_ngrams(texts, analyzer, 1, Threads(1))
    size = len(pickle.dumps(vocabulary))
    for mine, its in zip(counts, vocabulary.count(texts, analyzer, Threads(1))):
        assert np.array_equal(mine, its)
    assert len(pickle.dumps(vocabulary)) == size
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy.names() == vocabulary.names()
    for mine, its in zip(counts, copy.count(texts, analyzer, Threads(1))):
        assert np.array_equal(mine, its)


def test_names_are_sorted_and_distinct():
    vocabulary = learn_ngrams(random_texts(200), CharacterNgrams("char", (1, 4)), 1, Threads(1))[0]
    assert all(a < b for a, b in pairwise(vocabulary.names()))


def test_an_unknown_beginning_hides_no_ngram():
    # "ab" is in two texts, but is no n-gram of three characters; its beginnings are kept as nodes alone.
    vocabulary, _, _ = learn_ngrams(["xabc", "yabc"], CharacterNgrams("char", (3, 4)), 2, Threads(1))
    assert vocabulary.names() == ["abc"]
    counts = vocabulary.count(["abcabc", "ab"], CharacterNgrams("char", (3, 4)), Threads(1))
    assert counts.data.tolist() == [2.0]
    assert counts.ptr.tolist() == [0, 1, 1]


def test_a_long_run_of_combining_marks():
    text = "a" + "\u0301" * (2_000 if config.DISABLE_JIT else 200_000)
    for kind, n_spaces in (("char", 0), ("char_wb", 2)):
        analyzer = CharacterNgrams(kind, (2, 3))
        vocabulary, _, counts = learn_ngrams([text], analyzer, 1, Threads(1))
        assert counts.data.sum() == 2 * (len(text) + n_spaces) - 3
        assert "\u0301\u0301\u0301" in vocabulary.names()


def test_no_text_has_counts_too():
    analyzer = CharacterNgrams("char", (1, 1))
    vocabulary = learn_ngrams(["a"], analyzer, 1, Threads(1))[0]
    counts = vocabulary.count([], analyzer, Threads(1))
    assert counts.ptr.tolist() == [0]
    assert len(counts.data) == len(counts.columns) == 0


def test_a_row_that_is_no_string_is_named(monkeypatch):
    monkeypatch.setattr(character_counts, "BATCH_LENGTH", 1)
    with pytest.raises(TypeError, match=r"Row 2 is b'c' of type bytes, not a string\. Decode it"):
        learn_ngrams(["a", "b", b"c"], CharacterNgrams("char", (1, 1)), 1, Threads(1))


def test_too_many_ngrams_are_refused(monkeypatch):
    monkeypatch.setattr(characters, "MOST_NODES", 1500)
    texts = [chr(code) for code in range(0x4E00, 0x4E00 + 2000)]
    with pytest.raises(ValueError, match="More than 1500 distinct n-grams of characters"):
        learn_ngrams(texts, CharacterNgrams("char", (1, 1)), 1, Threads(1))
