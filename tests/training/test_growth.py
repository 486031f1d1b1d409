"""A model that learns on from a text with new words: `partial_fit` with `new_words`."""

import copy

import numpy as np
import pytest
from estimators import GROUPS, TEXT, TRAINED, TRAINED_CLASSES, bits, changed, fitted, learned, make

from skembed import CBOSVectorizer, Sent2VecVectorizer, SentenceCorpus

# Some words of TEXT, and words that it has not: "zebra" and "quagga" often, "okapi" once.
MORE = ["The zebra and a cat.", "A quagga in the rain.", "The zebra, the quagga.", "An okapi and the zebra."]
MORE = MORE * 3 + ["The bread and the butter.", "The quagga and the okapi."]
WORDS = {word.strip(".,").lower() for sentence in MORE for word in sentence.split()}

GROWING = [name for name in TRAINED if getattr(make(name), "expand_with", None) is None]
trained = pytest.mark.parametrize("name", GROWING)
trained_classes = pytest.mark.parametrize("name", [name for name in GROWING if name in TRAINED_CLASSES])


def grown(name, text=MORE, **changes):
    return changed(copy.deepcopy(fitted(name)), **changes).partial_fit(text)


@trained
def test_new_words_are_learned_and_known_words_keep_their_rows(name):
    before, after = fitted(name), grown(name, min_count=1)
    n_words = len(before.vocabulary_)
    assert list(after.vocabulary_)[:n_words] == list(before.vocabulary_)
    added = [word for word in WORDS if word not in before.vocabulary_]
    assert set(added) >= {"an", "okapi", "quagga", "zebra"}
    assert len(after.vocabulary_) == n_words + len(added) and set(list(after.vocabulary_)[n_words:]) == set(added)
    assert len(after.word_counts_) == n_words + len(added)
    assert np.isfinite(after.transform([*TEXT, *MORE])).all()
    assert after.transform(["zebra"]).any()


@trained_classes
def test_words_that_the_text_has_not_keep_their_bits(name):
    before, after = fitted(name), grown(name)
    unseen = [row for word, row in before.vocabulary_.items() if word not in WORDS]
    arrays = [array for array in before._learned_arrays(before._state) if array.is_source]
    sources, is_frozen = [array.name for array in arrays], any(array.frozen for array in arrays[:1])
    assert len(unseen) > 20
    # PV-DBOW has only rows that are predicted, which every pass moves.
    assert len(sources) > 0 or name == "ParagraphVectorizer"
    for source in sources[:1]:
        assert bits(before._state.arrays[source][unseen]) == bits(after._state.arrays[source][unseen])
        same = bits(before._state.arrays[source]) == bits(after._state.arrays[source][: len(before.vocabulary_)])
        assert same == is_frozen


@trained
def test_growth_does_not_depend_on_the_threads(name):
    assert learned(grown(name, n_jobs=2)) == learned(grown(name))


@trained_classes
def test_a_grown_model_learns_on(name):
    estimator = grown(name)
    n_words = len(estimator.vocabulary_)
    estimator.partial_fit(["A gnu and the zebra.", "The gnu and a quagga.", "The cat, a gnu.", "The rain and a dog."])
    assert len(estimator.vocabulary_) == n_words + 1
    assert np.isfinite(estimator.transform(["gnu", "zebra gnu", "cat"])).all()


@trained_classes
def test_ignored_words_stay_unknown(name):
    before = fitted(name)
    after = copy.deepcopy(before).partial_fit(MORE, new_words="ignore")
    assert after.vocabulary_ == before.vocabulary_
    assert bits(after.word_counts_) == bits(before.word_counts_)


@trained_classes
def test_counts_are_those_of_all_texts(name):
    before, after = fitted(name), grown(name)
    counts = dict(zip(before.vocabulary_, before.word_counts_.tolist()))
    text = SentenceCorpus.from_sentences(MORE).vocabulary
    for word, count in zip(text.words, text.counts.tolist()):
        counts[word] = counts.get(word, 0) + count
    assert dict(zip(after.vocabulary_, after.word_counts_.tolist())) == counts
    assert after._state.n_tokens == before._state.n_tokens + text.counts.sum()
    assert after.coverage_ == 1.0


@pytest.mark.parametrize("weighting", ["sif", "idf"])
def test_word_weights_are_those_of_all_texts(weighting):
    settings = {"n_components": 4, "min_count": 1, "weighting": weighting, "random_state": 0}
    once = CBOSVectorizer(**settings).partial_fit(TEXT + MORE)
    after = CBOSVectorizer(**settings).partial_fit(TEXT).partial_fit(MORE).partial_fit(TEXT[:20])
    once = CBOSVectorizer(**settings).fit(TEXT + MORE + TEXT[:20])
    assert set(once.vocabulary_) == set(after.vocabulary_)
    weights = {word: once.word_weights_[row] for word, row in once.vocabulary_.items()}
    np.testing.assert_allclose(after.word_weights_, [weights[word] for word in after.vocabulary_], rtol=1e-6)
    np.testing.assert_allclose(after._state.unknown_weight, once._state.unknown_weight, rtol=1e-6)


@trained_classes
def test_a_rare_new_word_is_not_learned(name):
    before, after = fitted(name), grown(name, min_count=5)
    assert set(after.vocabulary_) - set(before.vocabulary_) == {"quagga", "zebra"}
    tokens = [word.strip(".,").lower() for sentence in MORE for word in sentence.split()]
    n_known = before.coverage_ * before._state.n_tokens + sum(token in after.vocabulary_ for token in tokens)
    assert after.coverage_ == pytest.approx(n_known / (before._state.n_tokens + len(tokens))) and after.coverage_ < 1


@trained_classes
def test_a_full_vocabulary_drops_its_rarest_words(name):
    before = fitted(name)
    n_words = len(before.vocabulary_)
    after = grown(name, max_features=n_words + 1)
    assert len(after.vocabulary_) == n_words + 1
    # The most frequent new word has a row of its own; the next ones take rows of words that occurred once.
    assert after.vocabulary_["zebra"] == n_words
    dropped = set(before.vocabulary_) - set(after.vocabulary_)
    assert {"quagga", "okapi", "an"} <= set(after.vocabulary_) and len(dropped) == 3
    assert all(before.word_counts_[before.vocabulary_[word]] == 1 for word in dropped)
    stayed = [word for word in before.vocabulary_ if word in after.vocabulary_]
    assert all(before.vocabulary_[word] == after.vocabulary_[word] for word in stayed)
    assert sorted(after.vocabulary_.values()) == list(range(n_words + 1))


def test_a_new_word_does_not_take_the_row_of_a_more_frequent_one():
    before = CBOSVectorizer(4, min_count=1, max_features=3, random_state=0).fit(["a a a b b b c c c."] * 3)
    assert copy.deepcopy(before).partial_fit(["d d a", "a d d."] * 2).vocabulary_ == before.vocabulary_
    after = copy.deepcopy(before).partial_fit(["d d a", "d d d d."] * 2)
    assert list(after.vocabulary_) == ["a", "b", "d"]


def test_a_lower_limit_drops_nothing():
    before = CBOSVectorizer(4, min_count=1, random_state=0).fit(["a a a b b b c c c."] * 3)
    after = copy.deepcopy(before).set_params(max_features=1).partial_fit(["a b", "b c", "c a"] * 3)
    assert after.vocabulary_ == before.vocabulary_


@pytest.mark.parametrize("name", ["CBOSVectorizer", "Sent2VecVectorizer-bigrams", "Word2VecVectorizer"])
def test_a_new_word_starts_where_transform_had_put_it(name):
    before = (
        make(name, unknown="hash", learning_rate=1e-12, weighting=None, ngram_range=(1, 1))
        if (name != "Word2VecVectorizer")
        else make(name, learning_rate=1e-12)
    )
    before.fit(TEXT, groups=GROUPS)
    expected = before.transform(["zebra", "zebra quagga"])
    before.partial_fit(MORE)
    assert "zebra" in before.vocabulary_
    np.testing.assert_allclose(before.transform(["zebra", "zebra quagga"]), expected, rtol=1e-4, atol=1e-7)


def test_ngrams_of_known_words_keep_their_buckets():
    settings = {"n_components": 4, "min_count": 1, "ngram_range": (1, 2), "n_buckets": 50, "random_state": 0}
    before = Sent2VecVectorizer(learning_rate=1e-12, **settings).fit(TEXT)
    after = copy.deepcopy(before).set_params(max_features=len(before.vocabulary_) + 2).partial_fit(MORE)
    known = [s for s in TEXT if all(w.strip(".").lower() in after.vocabulary_ for w in s.split())]
    assert len(known) > 50
    np.testing.assert_allclose(after.transform(known), before.transform(known), rtol=1e-4, atol=1e-7)
    assert after.ngram_vectors_.shape == before.ngram_vectors_.shape


@trained_classes
def test_a_failed_pass_leaves_the_model(name):
    estimator = copy.deepcopy(fitted(name))
    before = learned(estimator)
    for value in ("add", None, True, ["append"]):
        with pytest.raises(ValueError, match="new_words must be one of 'append', 'ignore', got"):
            estimator.partial_fit(MORE, new_words=value)
    with pytest.raises(TypeError, match="Row 1"):
        estimator.partial_fit(["zebra", 3])
    assert learned(estimator) == before
