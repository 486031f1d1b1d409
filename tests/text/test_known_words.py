"""Words of texts are looked at once: the same bits for any history, order of calls and number of threads."""

import copy
import pickle
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from estimators import GROUPS, OTHER_TEXT, TEXT, bits, dense, make

import skembed._text.known_words as module
import skembed._text.sources as sentences_module
from skembed import BOWPCA, CBOSVectorizer, MeanEmbeddingVectorizer, SentenceCorpus
from skembed._text.known_words import KnownTokens
from skembed._text.scanner import KnownWords

hashes = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of uint64, as in compiled code
WAYS = {
    "stemmer": {},
    "stemmer and stop words": {"stop_words": ["the", "in", "ends"]},
    "pattern": {"token_pattern": r"(?u)\b\w\w+\b"},
    "capitals": {"lowercase": False},
    "analyzer": {"analyzer": str.split},
}


class CountingStemmer:
    """Counts how often it sees each word; as with those of libraries, only one thread may be in it."""

    def __init__(self):
        self.seen, self.lock = Counter(), threading.Lock()

    def __call__(self, word):
        assert self.lock.acquire(blocking=False), "two threads in one stemmer"
        self.seen[word] += 1
        stem = word.lower().removesuffix("s")
        self.lock.release()
        return stem


def model_with(stemmer, **options):
    return CBOSVectorizer(8, min_count=2, random_state=0, stemmer=stemmer, **options).fit(TEXT, groups=GROUPS)


@pytest.mark.parametrize("way", WAYS)
def test_each_word_is_stemmed_once_after_the_fit(way):
    stemmer = CountingStemmer()
    model = model_with(stemmer, **WAYS[way])
    stemmer.seen.clear()
    for X in (TEXT, TEXT[:5], OTHER_TEXT, TEXT):
        model.transform(X)
    assert len(stemmer.seen) > 50 and set(stemmer.seen.values()) == {1}
    for sentence in TEXT:
        model.transform([sentence])
    assert set(stemmer.seen.values()) == {1}


def test_bags_of_words_stem_once_too():
    stemmer = CountingStemmer()
    bags = BOWPCA(None, stemmer=stemmer, min_count=2).fit(TEXT)
    expected = bags.transform(SentenceCorpus.from_sentences(TEXT, stemmer=stemmer))
    stemmer.seen.clear()
    for _ in range(3):
        assert bits(bags.transform(TEXT)) == bits(expected)
    assert set(stemmer.seen.values()) == {1}
    assert bags.transform([]).shape == (0, len(bags.vocabulary_))


@pytest.mark.filterwarnings("ignore:stop_words is not used, since analyzer is a callable")
@pytest.mark.parametrize("name", ["CBOSVectorizer-stem", "BOWPCA-plain-idf", "MeanEmbeddingVectorizer-once"])
@pytest.mark.parametrize("way", WAYS)
def test_rows_do_not_depend_on_what_was_transformed_before(monkeypatch, name, way):
    options = {"stemmer": str.upper, **WAYS[way]} if "stemmer" in way else WAYS[way]
    model = make(name, **options).fit(TEXT, groups=GROUPS)
    expected = bits(np.vstack([dense(pickle.loads(pickle.dumps(model)).transform([s])) for s in OTHER_TEXT]))
    corpus = SentenceCorpus.from_sentences(OTHER_TEXT, **model._state.tokenizer.__getstate__())
    inputs = [OTHER_TEXT, tuple(OTHER_TEXT), pd.Series(OTHER_TEXT), np.array(OTHER_TEXT), corpus]
    assert all(bits(dense(model.transform(X))) == expected for X in inputs)
    model.transform(TEXT)
    assert all(bits(dense(model.transform(X))) == expected for X in inputs)
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 2)
    if hasattr(model, "n_jobs"):
        model.n_jobs = 3
    for X in inputs:
        assert bits(dense(model.transform(X))) == expected


@pytest.mark.parametrize("way", WAYS)
def test_memory_stays_bounded(monkeypatch, way):
    monkeypatch.setattr(KnownTokens, "MOST_KEPT", 100)
    options = {"stemmer": str.lower, **WAYS[way]} if "stemmer" in way else WAYS[way]
    model = CBOSVectorizer(8, min_count=2, random_state=0, **options).fit(TEXT)
    rng = np.random.default_rng(0)
    most, kept = 100 + 2 * len(model.vocabulary_), []
    for _ in range(40):
        new = [f"{word} cat nr{number}" for word, number in zip(TEXT[:30], rng.integers(10**6, size=30))]
        rows = model.transform(new)
        met = model._state.known_tokens._seen
        kept.append(met.n_kept)
        assert bits(rows) == bits(pickle.loads(pickle.dumps(model)).transform(new))
    assert 100 < max(kept) <= most


@pytest.mark.filterwarnings("ignore:Only .* of the words of X are in the vocabulary")
@pytest.mark.parametrize("way", WAYS)
def test_threads_that_meet_new_words_at_once(monkeypatch, way):
    monkeypatch.setattr(KnownTokens, "MOST_KEPT", 60)  # they begin again under each other's feet
    monkeypatch.setattr(sentences_module, "BATCH_SIZE", 3)
    model = model_with(CountingStemmer() if "stemmer" in way else None, **WAYS[way]).set_params(n_jobs=2)
    rng = np.random.default_rng(0)
    texts = [[f"{TEXT[i]} zz{i} yy{j}s" for i in rng.integers(len(TEXT), size=12)] for j in range(60)]
    expected = [bits(model.transform(text)) for text in texts]
    fresh = copy.copy(model)  # which has met no word yet
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(fresh.transform, texts * 3))
    finally:
        sys.setswitchinterval(interval)
    assert [bits(rows) for rows in found] == expected * 3


@pytest.mark.filterwarnings("ignore:Only .* of the words of X are in the vocabulary")
def test_words_met_before_are_found_by_compiled_code(monkeypatch):
    """Python sees a word a few times at most, however often texts hold it."""
    model = model_with(str.lower)
    words = [f"word{i}" for i in range(5000)]
    looked_at = Counter()
    original = module.WordIds.of
    monkeypatch.setattr(module.WordIds, "of", lambda self, new: looked_at.update(new) or original(self, new))
    for _ in range(30):
        model.transform(words)
    assert set(looked_at) >= set(words) and max(looked_at.values()) <= 2


def test_a_stop_word_that_has_a_vector_is_left_out():
    vectors = {"the": [9.0, 9.0], "cat": [1.0, 0.0]}
    model = MeanEmbeddingVectorizer(word_vectors=vectors, stop_words=["the"], unknown="zero").fit(["a cat"])
    assert model.transform(["the cat", "the"]).tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_two_forms_of_an_unknown_word_are_one_word():
    vectors = {"cat": [1.0] * 9, "dog": [0.0] * 9}
    once = MeanEmbeddingVectorizer(word_vectors=vectors, stemmer=lambda w: w.removesuffix("s"), binary=True).fit(
        ["cat"]
    )
    one, two = once.transform(["cat zebra", "cats zebra zebras cat"])
    assert bits(one) == bits(two)


def test_a_stemmer_that_asks_the_model_itself():
    model = CBOSVectorizer(8, min_count=1, stemmer=str.lower, random_state=0).fit(TEXT)
    expected = copy.deepcopy(model).transform(TEXT)  # with words met of its own

    def stem(word):
        if word == "cat" and not asked:
            asked.append(word)
            model.transform(["a dog"])
        return word.lower()

    asked = []
    object.__setattr__(model._state.tokenizer, "stemmer", stem)
    assert bits(model.transform(TEXT)) == bits(expected) and asked


@pytest.mark.parametrize("stemmer", [lambda word: None, lambda word: 7])
def test_a_stemmer_that_gives_no_word_later(stemmer):
    model = CBOSVectorizer(8, min_count=1, stemmer=str.lower, random_state=0).fit(TEXT)
    object.__setattr__(model._state.tokenizer, "stemmer", stemmer)
    for _ in range(2):
        with pytest.raises(TypeError, match="stemmer must return a string, got (None|7) for the word 'cat'"):
            model.transform(["cat"])


@pytest.mark.kernel
@hashes
def test_unknown_words_of_one_text_are_not_those_of_the_next():
    known = KnownWords(["a", "b"])
    for unknown in (["x"], ["y", "x"], [f"w{i}" for i in range(100)], ["x"]):
        ids, _, new = known.scan(["a " + " ".join(unknown)])
        assert ids.tolist() == [0, *range(2, 2 + len(unknown))] and new == unknown
