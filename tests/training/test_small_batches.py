"""`partial_fit` of small texts one after the other: it changes the rows of a text, and the model before stays whole."""

import copy

import numpy as np
import pytest
from estimators import TEXT, bits, changed, fitted, learned, with_state

from skembed import Word2VecVectorizer

pytestmark = pytest.mark.filterwarnings("ignore:.* found nothing to predict")  # in so little text

STEPPING = [
    "CSEVectorizer",
    "GRANVectorizer-hinge",
    "ParaphraseVectorizer",
    "ParaphraseVectorizer-given",
    "ParaphraseVectorizer-hinge",
    "ParaphraseVectorizer-weights",
    "RecursiveAutoencoderVectorizer",
    "RecursiveAutoencoderVectorizer-learned words",
    "SequentialDenoisingAutoencoder",
    "SkipThoughtVectorizer-combine",
    "TargetVectorizer",
    "TargetVectorizer-hinge",
    "TargetVectorizer-similarity",
]
BATCHES = [  # of which every two sentences may be a pair
    TEXT[:4],
    ["The zebra and a cat.", "A quagga in the rain.", "The zebra, the quagga.", "A cat in the rain."],
    TEXT[8:12],
    TEXT[4:10],
    ["The gnu and the zebra.", "A gnu and the rain.", "A cat and a dog.", "The rain and the gnu."],
    TEXT[20:26],
    TEXT[2:6],
]


SHARDED = ["CBOSVectorizer", "ParagraphVectorizer-dm", "Sent2VecVectorizer-bigrams"]


@pytest.mark.parametrize("name", SHARDED)
def test_one_trainer_learns_from_a_small_text(name):
    one, shards = (copy.deepcopy(fitted(name)).set_params(min_count=1, n_shards=n) for n in (None, 2))
    for batch in BATCHES:
        assert learned(one.partial_fit(batch)) == learned(shards.partial_fit(batch))


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize(
    "name", ["FastSentVectorizer", "ParaphraseVectorizer", "ParaphraseVectorizer-given", "TargetVectorizer"]
)
def test_arrays_of_an_earlier_model_stay_as_they_are(name, limited):
    model = copy.deepcopy(fitted(name))
    changed(model, min_count=1, **({"max_features": len(model.vocabulary_) + 1} if limited else {}))
    views, copies = [], []
    for batch in BATCHES * 2:
        model.partial_fit(batch)
        views.append((model.word_vectors_[3:], copy.copy(model)))
        copies.append((np.array(model.word_vectors_[3:]), learned(model), model.transform(TEXT)))
    for (view, snapshot), (vectors, all_learned, rows) in zip(views, copies):
        assert bits(np.asarray(view)) == bits(vectors) and learned(snapshot) == all_learned
        assert bits(snapshot.transform(TEXT)) == bits(rows)


@pytest.mark.parametrize("name", ["GRANVectorizer", "ParaphraseVectorizer", "TargetVectorizer", "Word2VecVectorizer"])
def test_the_median_length_is_that_of_all_rows(name):
    model = copy.deepcopy(fitted(name))
    for batch in BATCHES:
        model.partial_fit(batch)
        assert model._state.unknown_length == np.median(np.linalg.norm(model.word_vectors_, axis=1))


@pytest.mark.parametrize("name", ["CBOSVectorizer", "ParaphraseVectorizer", "TargetVectorizer", "Word2VecVectorizer"])
def test_a_call_that_fails_in_the_middle(name):
    model, other = copy.deepcopy(fitted(name)), copy.deepcopy(fitted(name))
    for batch in BATCHES[:3]:
        model.partial_fit(batch)
        other.partial_fit(batch)
    before = learned(model)
    too_large = {"learning_rate": 1e12} if name in STEPPING else {"learning_rate": 1e12, "solver": "sgd"}
    kept = {option: value for option, value in model.get_params().items() if option in too_large}
    model.set_params(**too_large)
    with pytest.raises(ValueError, match="diverged"):
        model.partial_fit(TEXT)
    assert learned(model) == before == learned(other)
    model.set_params(**kept)
    for batch in BATCHES[3:]:
        model.partial_fit(batch)
        other.partial_fit(batch)
        assert learned(model) == learned(other)


@pytest.mark.parametrize("name", ["CBOSVectorizer-given", "ParaphraseVectorizer-given"])
def test_another_interpolation_counts_for_all_words(name):
    model = copy.deepcopy(fitted(name))
    for batch, share in zip(BATCHES, [0.5, 0.5, 0.2, 0.2, 0.5, 1.0, 0.5]):
        model.set_params(interpolation=share)
        other = copy.deepcopy(model).partial_fit(batch)
        assert learned(model.partial_fit(batch)) == learned(other)


def test_an_array_that_a_user_has_put_there():
    model, other = copy.deepcopy(fitted("Word2VecVectorizer")), copy.deepcopy(fitted("Word2VecVectorizer"))
    for batch in BATCHES[:3]:
        model.partial_fit(batch)
        other.partial_fit(batch)
    with pytest.raises(ValueError, match="read-only"):  # a change in place would be lost
        model.word_vectors_[0] = 1
    changed_vectors = model.word_vectors_.copy()
    changed_vectors[5] *= 2
    with_state(model, {"word_vectors_": changed_vectors})
    other = copy.deepcopy(other)
    with_state(other, {"word_vectors_": changed_vectors.copy()})
    assert learned(model.partial_fit(BATCHES[3])) == learned(other.partial_fit(BATCHES[3]))


def test_words_only_before_and_after_are_one_vocabulary():
    """No new word: the dict, and so the table that `transform` looks words up in, stays."""
    model = Word2VecVectorizer(4, min_count=1, random_state=0).fit(TEXT)
    assert model.vocabulary_ is model.partial_fit(TEXT[:3]).vocabulary_
    before = model.vocabulary_
    assert "zebra" in model.partial_fit(["the zebra and the cat"]).vocabulary_ and "zebra" not in before


@pytest.mark.parametrize("name", ["FastSentVectorizer", "ParaphraseVectorizer", "TargetVectorizer"])
def test_a_transform_that_goes_on_during_several_calls(name):
    model = copy.deepcopy(fitted(name))
    for batch in BATCHES[:3]:
        model.partial_fit(batch)
    texts = TEXT * 200
    expected = model.transform(texts)

    def sentences():
        for row, text in enumerate(texts):
            if row % 2000 == 1000:
                model.partial_fit(TEXT[:6])
            yield text

    n_before = model.n_iter_
    assert bits(model.transform(sentences())) == bits(expected) and model.n_iter_ > n_before + 2
