"""A length of "auto": that of given vectors, or the usual one. Any number beside them is asked for, also the usual."""

from inspect import signature

import pytest
from estimators import CLASSES, GIVEN, GROUPS, PUBLIC, TEXT, bits, learned, make, published
from sklearn.base import clone

import skembed
from skembed import MeanEmbeddingVectorizer, MetaEmbeddingVectorizer, Word2VecVectorizer

LENGTH = len(next(iter(GIVEN.values())))
# The option of each estimator that starts from given vectors.
OPTIONS = {
    cls.__name__: "word_components" if "word_components" in signature(cls).parameters else "n_components"
    for cls in CLASSES
    if "init" in signature(cls).parameters
}
every = pytest.mark.parametrize("name", OPTIONS)


def unfitted(name, length, **options):
    return make(name, max_iter=1, **{OPTIONS[name]: length} | options)


def fit(name, length, **options):
    return unfitted(name, length, **options).fit(TEXT, groups=GROUPS)


def width(model):
    return model.word_vectors_.shape[1]


def test_all_that_start_from_given_vectors_are_tested():
    assert len(OPTIONS) == 12
    assert all(signature(PUBLIC[name]).parameters[option].default == "auto" for name, option in OPTIONS.items())


@every
def test_without_given_vectors_it_is_the_usual_length(name):
    model, expected = fit(name, "auto"), fit(name, 100)
    assert width(model) == 100 and learned(model) == learned(expected)
    assert model.estimate_memory(TEXT) == expected.estimate_memory(TEXT)


@every
def test_with_given_vectors_it_is_their_length(name):
    model, expected = fit(name, "auto", init=GIVEN), fit(name, LENGTH, init=GIVEN)  # a warning is an error
    assert width(model) == LENGTH and learned(model) == learned(expected)
    assert model.estimate_memory(TEXT) == expected.estimate_memory(TEXT)
    assert model.get_params()[OPTIONS[name]] == clone(model).get_params()[OPTIONS[name]] == "auto"


@every
@pytest.mark.parametrize("length", [7, 100])
def test_another_number_beside_given_vectors_is_named(name, length):
    message = f"^{OPTIONS[name]}={length} is not used: init has vectors of length {LENGTH}, and so has the model. Pass"
    with pytest.warns(UserWarning, match=message):
        model = fit(name, length, init=GIVEN)
    assert width(model) == LENGTH
    assert bits(model.transform(TEXT)) == bits(fit(name, "auto", init=GIVEN).transform(TEXT))


@every
def test_what_it_became_stays(name, tmp_path):
    option, fitted = OPTIONS[name], fit(name, "auto", init=GIVEN)

    def loaded(**options):
        skembed.save(published(fitted), tmp_path / "model", **options)
        model = skembed.load(tmp_path / "model")
        model.__class__ = type(fitted)  # which makes up what it needs beside the text
        return model

    small = loaded(inference_only=True)
    assert bits(small.transform(TEXT)) == bits(fitted.transform(TEXT))
    with pytest.raises(ValueError, match="inference_only"):
        small.partial_fit(TEXT)
    models = [loaded().set_params(**{option: value}).partial_fit(TEXT, groups=GROUPS) for value in ("auto", LENGTH)]
    assert models[0].init is None and width(models[0]) == LENGTH
    assert learned(models[0]) == learned(models[1])
    with pytest.raises(ValueError, match=f"{option}=100 differs from {LENGTH}, with which {name} was fitted"):
        loaded().set_params(**{option: 100}).partial_fit(TEXT, groups=GROUPS)
    assert width(loaded().fit(TEXT, groups=GROUPS)) == 100  # a new fit, without init


@every
def test_it_goes_on_with_any_length(name):
    model = fit(name, 6, warm_start=True).set_params(**{OPTIONS[name]: "auto"}).fit(TEXT, groups=GROUPS)
    assert width(model) == 6 and model.n_iter_ == 2
    assert learned(model) == learned(fit(name, 6, warm_start=True).fit(TEXT, groups=GROUPS))


@every
def test_other_words_are_refused(name):
    with pytest.raises(ValueError, match=f"'{OPTIONS[name]}' parameter of {name} must be an int .* or a str among"):
        fit(name, "long")


# -- vectors that are used, not learned on ----------------------------------------------------------------------------


@pytest.mark.parametrize("length", [7, 100])
def test_a_mean_of_given_vectors(length):
    model = MeanEmbeddingVectorizer(word_vectors=GIVEN).fit(TEXT)
    assert model.n_features_out_ == LENGTH
    with pytest.warns(UserWarning, match=f"n_components={length} is not used: word_vectors has vectors of length"):
        again = MeanEmbeddingVectorizer(length, word_vectors=GIVEN).fit(TEXT)
    assert bits(again.transform(TEXT)) == bits(model.transform(TEXT))


def test_a_mean_of_learned_and_of_joined_vectors():
    for options in ({}, {"word_vectors": [GIVEN, Word2VecVectorizer(95, min_count=1, max_iter=1)]}):
        auto, hundred = (MeanEmbeddingVectorizer(n, random_state=0, **options).fit(TEXT) for n in ("auto", 100))
        assert auto.n_features_out_ == 100
        assert bits(auto.transform(TEXT)) == bits(hundred.transform(TEXT))
    with pytest.raises(ValueError, match="n_removed_components=100 must be smaller than n_components=100"):
        MeanEmbeddingVectorizer(n_removed_components=100).fit(TEXT)
    with pytest.raises(ValueError, match="'n_components' parameter of MetaEmbeddingVectorizer must be an int"):
        MetaEmbeddingVectorizer([GIVEN], "auto").fit(TEXT)  # it is the largest length there
