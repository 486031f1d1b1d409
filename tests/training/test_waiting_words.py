"""Words that are too rare to learn in one text: `partial_fit` goes on counting them in the next."""

import copy
import pickle

import numpy as np
import pytest
from estimators import TEXT, TRAINED_CLASSES, fitted, learned, make, with_state

import skembed
from skembed import CBOSVectorizer, Sent2VecVectorizer
from skembed._base import reading

pytestmark = pytest.mark.filterwarnings("ignore:.* found nothing to predict")  # in so little text

# "cat" is learned at once; "zebra" occurs once in each text, "quagga" three times in all.
PART = ["the cat and the cat", "the cat and the dog and the dog", "and a zebra and the cat", "a dog and the dog"]
MORE = [*PART, "the quagga and the dog"]


def words_of(settings, *texts, cls=Sent2VecVectorizer, **more):
    model = cls(4, random_state=0, **settings)
    for text in texts:
        model.partial_fit(text, **more)
    return model


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_parts_learn_the_words_of_the_whole(name):
    whole = make(name, min_count=4).partial_fit(TEXT)
    parts = make(name, min_count=4)
    for start in range(0, len(TEXT), 20):
        parts.partial_fit(TEXT[start : start + 20])
    counts = [dict(zip(model.vocabulary_, model.word_counts_.tolist())) for model in (whole, parts)]
    # A word joins in the part in which it reaches the limit, so it is learned from there on; its count is whole.
    assert counts[0] == counts[1] and len(counts[0]) > 10
    assert parts.coverage_ == pytest.approx(whole.coverage_)
    assert parts._state.n_tokens == whole._state.n_tokens


def test_a_fit_remembers_its_rare_words_too():
    model = Sent2VecVectorizer(4, min_count=2, random_state=0).fit(PART)
    assert "zebra" not in model.vocabulary_
    assert model.partial_fit(PART).word_counts_[model.vocabulary_["zebra"]] == 2


def test_a_word_joins_when_its_summed_count_reaches_the_limit():
    for n_texts, is_known in ((2, False), (3, True)):
        model = words_of({"min_count": 3}, *[MORE] * n_texts)
        assert all((word in model.vocabulary_) == is_known for word in ("zebra", "quagga"))


def test_ignored_words_are_not_counted():
    model = words_of({"min_count": 3}, PART, PART)
    before = learned(model)["_waiting"]
    model.partial_fit(PART, new_words="ignore")
    assert learned(model)["_waiting"] == before and "zebra" not in model.vocabulary_
    assert "zebra" in model.partial_fit(PART).vocabulary_


def test_a_word_that_lost_its_row_keeps_its_count():
    settings = {"min_count": 1, "max_features": 2}
    model = words_of(settings, ["a a a b b", "a b"], ["c c c c", "c c a"])
    assert list(model.vocabulary_) == ["a", "c"] and model._state.waiting == {"b": 3}
    model.partial_fit(["b b b b", "b b"])
    assert dict(zip(model.vocabulary_, model.word_counts_.tolist())) == {"b": 9, "c": 6}
    assert model._state.waiting == {"a": 5} and model.coverage_ == pytest.approx(15 / 20)


@pytest.mark.parametrize("weighting", ["sif", "idf"])
def test_word_weights_are_those_of_all_texts(weighting):
    settings = {"min_count": 3, "weighting": weighting}
    parts = words_of(settings, *[MORE] * 3, cls=CBOSVectorizer)
    whole = words_of(settings, MORE * 3, cls=CBOSVectorizer)
    weights = dict(zip(whole.vocabulary_, whole.word_weights_))
    assert set(weights) == set(parts.vocabulary_) >= {"zebra", "quagga"}
    np.testing.assert_allclose(parts.word_weights_, [weights[word] for word in parts.vocabulary_], rtol=1e-6)


def test_they_are_saved(tmp_path):
    model = words_of({"min_count": 3}, MORE, MORE)
    skembed.save(model, tmp_path / "model")
    skembed.save(model, tmp_path / "small", inference_only=True)
    expected = learned(copy.deepcopy(model).partial_fit(MORE))
    for again in (pickle.loads(pickle.dumps(model)), skembed.load(tmp_path / "model")):
        assert again._state.waiting == model._state.waiting and list(again._state.waiting) == list(model._state.waiting)
        assert learned(again.partial_fit(MORE))["vocabulary_"] == expected["vocabulary_"]
    assert skembed.load(tmp_path / "small")._state.waiting is None
    for wrong in (-1, 1.0, True, 2**62):
        with_state(model, waiting={"zebra": wrong})
        with pytest.raises(ValueError, match="_waiting must hold how often"):
            skembed.save(model, tmp_path / "model")


def test_their_number_is_bounded(monkeypatch):
    monkeypatch.setattr(reading, "MOST_WAITING", 10)
    text = ["the cat the cat", "the cat the cat"]
    model = words_of({"min_count": 4}, [*text, " ".join(f"rare{i}" for i in range(30))])
    assert len(model._state.waiting) <= 10
    model = words_of({"min_count": 4}, [*text, "twice twice old1 old2 old3 old4 old5"])
    model.partial_fit(["old1 new1 new2 new3", "new4 new5 new6"])
    # The rarer half is forgotten, of words that occurred once those that were met longest ago.
    assert model._state.waiting == {"twice": 2, "old1": 2, "new4": 1, "new5": 1, "new6": 1}
    for i in range(50):
        model.partial_fit([f"the cat x{i} y{i} z{i}", "twice the cat" if i == 40 else "and"])
        assert len(model._state.waiting) <= 10
    assert model._state.waiting.get("twice", 0) < 4


def test_a_failed_call_counts_nothing():
    model = words_of({"min_count": 3}, PART, PART)
    before = learned(model)
    with pytest.raises(ValueError, match="diverged"):
        model.set_params(solver="sgd", learning_rate=1e12).partial_fit(PART * 20)
    assert learned(model) == before


def test_threads_do_not_matter():
    assert learned(words_of({"min_count": 3, "n_jobs": 2}, *[MORE] * 3)) == learned(
        words_of({"min_count": 3}, *[MORE] * 3)
    )
    assert fitted("CBOSVectorizer")._state.waiting is not None
