"""The relatedness head over an encoder that learns with it: what it learns, as a scikit-learn regressor, its errors."""

import pickle

import numpy as np
import pytest
from estimators import CHECKS
from scored_pairs import ENCODERS, SENTENCES, make, scored, state
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags

import skembed
from skembed import CBOSVectorizer, CSEVectorizer, PairCorpus, ParaphraseVectorizer
from skembed.evaluation import FineTunedRelatednessRegressor, RelatednessRegressor, pair_features
from skembed.metrics import pearson_score


@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learn_check(check):
    getattr(estimator_checks, check)("FineTunedRelatednessRegressor", FineTunedRelatednessRegressor())


def test_is_a_scikit_learn_regressor():
    pairs, y = scored(60)
    model = make(max_iter=2)
    tags = get_tags(model)
    assert tags.estimator_type == "regressor" and tags.input_tags.string and not tags.input_tags.two_d_array
    with pytest.raises(NotFittedError):
        model.predict(pairs)
    params = model.get_params()
    assert model.fit(pairs, y) is model and model.get_params() == params
    expected = model.predict(pairs)
    assert expected.shape == (60,) and expected.dtype == np.float64
    assert not hasattr(clone(model), "encoder_")
    np.testing.assert_array_equal(clone(model).fit(pairs, y).predict(pairs), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(pairs), expected)
    np.testing.assert_allclose([model.predict([pair])[0] for pair in pairs[:9]], expected[:9], rtol=1e-12)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_learns_what_the_start_does_not_know(encoder):
    train, test = scored(400), scored(200, seed=1)
    tuned = make(encoder).fit(*train)
    assert pearson_score(test[1], tuned.predict(test[0])) > 0.95
    stays = make(encoder, encoder_learning_rate=0.0, n_hidden=4, max_iter=5).fit(*train)
    assert pearson_score(test[1], stays.predict(test[0])) < pearson_score(test[1], tuned.predict(test[0]))
    # The sentences of a kind have come together, which the encoder can be used for alone.
    rows = tuned.encoder_.transform(["a red cat", "a blue cat", "a red dog"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert tuned.loss_curve_[-1] < tuned.loss_curve_[0] and tuned.loss_ == tuned.loss_curve_[-1]
    assert tuned.n_iter_ == len(tuned.loss_curve_) == 15


@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoder_that_stays(encoder):
    """With a rate of zero it is a `RelatednessRegressor` on the vectors of length one."""
    pairs, y = scored(60)
    model = make(encoder, encoder_learning_rate=0.0).fit(pairs, y)
    start = np.asarray(model.encoder_.transform([sentence for pair in pairs for sentence in pair]), np.float64)
    start /= np.linalg.norm(start, axis=1)[:, None]
    features = pair_features(start[::2], start[1::2])
    np.testing.assert_allclose(model.scale_, np.sqrt(np.mean(features**2, axis=0)), rtol=1e-3, atol=1e-6)
    head = RelatednessRegressor(n_hidden=16, max_iter=1, tol=1e9).fit(features, y)
    head.scale_, head.coefs_, head.intercepts_ = model.scale_, model.coefs_, model.intercepts_
    np.testing.assert_allclose(head.predict(features), model.predict(pairs), rtol=1e-4)


def test_starts_from_a_model():
    paraphrases = ParaphraseVectorizer(24, max_iter=3, random_state=0).fit(
        SENTENCES, [s.split()[-1] for s in SENTENCES]
    )
    before = paraphrases.transform(SENTENCES)
    pairs, y = scored(60)
    for encoder in (paraphrases, ParaphraseVectorizer(init=paraphrases)):
        model = FineTunedRelatednessRegressor(encoder, encoder_learning_rate=0.0, max_iter=1, random_state=0).fit(
            pairs, y
        )
        np.testing.assert_allclose(model.encoder_.transform(SENTENCES), before, rtol=1e-5, atol=1e-6)
    FineTunedRelatednessRegressor(paraphrases, encoder_learning_rate=0.1, max_iter=2).fit(pairs, y)
    np.testing.assert_array_equal(paraphrases.transform(SENTENCES), before)


def fitted_encoder(name):
    pairs = [(sentence, f"a big {sentence.split()[-1]}") for sentence in SENTENCES]
    return clone(ENCODERS[name]).set_params(max_iter=1).fit(pairs)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_clone_starts_from_a_fitted_encoder_too(encoder):
    encoder, (pairs, y) = fitted_encoder(encoder), scored(40)
    model = make(encoder, max_iter=2)
    copied = clone(clone(model))
    assert copied.encoder.init is encoder and model.encoder is encoder and not hasattr(copied.encoder, "vocabulary_")
    expected = state(model.fit(pairs, y))
    for regressor in (copied, clone(make_pipeline(model))[-1], clone(model)):
        assert state(regressor.fit(pairs, y)) == expected
    kept = cross_val_score(model, pairs, y, cv=2)
    np.testing.assert_array_equal(kept, cross_val_score(copied, pairs, y, cv=2))
    given = make(clone(encoder).set_params(init=encoder), max_iter=2)
    np.testing.assert_array_equal(kept, cross_val_score(given, pairs, y, cv=2))


def test_a_clone_keeps_what_is_no_encoder():
    assert clone(make(None)).encoder is None and clone(make("PP")).encoder.init is None
    assert clone(make(encoder=("no", "encoder"))).encoder == ("no", "encoder")
    search = GridSearchCV(make(fitted_encoder("PP"), max_iter=1), {"encoder__learn": ["both", "directions"]}, cv=2)
    assert search.fit(*scored(40)).best_estimator_.encoder_.init is search.estimator.encoder


def test_an_init_that_is_not_fitted_says_what_to_do():
    model = make(encoder=ParaphraseVectorizer(init=CSEVectorizer(8)))
    for regressor in (model, clone(model)):
        with pytest.raises(NotFittedError, match="init is a CSEVectorizer that is not fitted. Fit it first."):
            regressor.fit(*scored(40))
        assert not hasattr(regressor, "encoder_")


def test_a_fitted_cse_is_a_start_with_its_filters():
    pairs = [(s, f"a big {s.split()[-1]}") for s in SENTENCES]
    first = CSEVectorizer(24, filter_widths=(1, 2), n_filters=16, max_iter=3, random_state=0).fit(pairs)
    settings = {"filter_widths": (1, 2), "n_filters": 16, "max_iter": 1, "learning_rate": 1e-12}
    same = CSEVectorizer(init=first, **settings).fit(pairs)
    np.testing.assert_allclose(same.transform(SENTENCES), first.transform(SENTENCES), rtol=1e-4, atol=1e-5)
    assert not np.allclose(first._state.arrays["_start_filters"], first.filters_)
    other = CSEVectorizer(init=first, **settings | {"padding": "narrow"}).fit(pairs)
    assert not np.allclose(other.filters_, first.filters_)  # which are for other windows
    frozen = CSEVectorizer(init=FrozenEstimator(first), **settings).fit(pairs)
    np.testing.assert_array_equal(frozen.filters_, same.filters_)
    words = ParaphraseVectorizer(init=first, max_iter=1, learning_rate=1e-12).fit(pairs)
    expected = first.word_vectors_ * first.word_weights_[:, None]
    np.testing.assert_allclose(words.word_vectors_[: len(expected)], expected, rtol=1e-5)


def test_the_encoder_is_a_model_like_others(tmp_path):
    pairs, y = scored(60)
    for name in ENCODERS:
        encoder = make(name, max_iter=2).fit(pairs, y).encoder_
        skembed.save(encoder, tmp_path / name)
        np.testing.assert_array_equal(skembed.load(tmp_path / name).transform(SENTENCES), encoder.transform(SENTENCES))
        encoder.partial_fit(SENTENCES, [sentence.split()[-1] for sentence in SENTENCES])


def test_same_bits_again_and_others_with_another_seed():
    pairs, y = scored(100)
    first, again, other = (make(random_state=seed, max_iter=2).fit(pairs, y).predict(pairs) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("encoder", [None, ParaphraseVectorizer(8), CSEVectorizer(8, n_filters=4)])
def test_an_encoder_without_a_seed_takes_one_from_here(encoder):
    pairs, y = scored(40)
    first, again, other = (
        make(encoder=encoder, random_state=seed, max_iter=2).fit(pairs, y) for seed in (0, 0, np.random.RandomState(1))
    )
    np.testing.assert_array_equal(first.predict(pairs), again.predict(pairs))
    np.testing.assert_array_equal(first.encoder_.transform(SENTENCES), again.encoder_.transform(SENTENCES))
    assert not np.array_equal(first.encoder_.transform(SENTENCES), other.encoder_.transform(SENTENCES))
    assert encoder is None or encoder.random_state is None


def test_an_encoder_keeps_its_seed_and_its_init():
    start = CBOSVectorizer(24, min_count=1).fit(SENTENCES)
    kept = make(encoder=ParaphraseVectorizer(init=start, random_state=7), max_iter=1).fit(*scored(40)).encoder_
    assert kept.random_state == 7 and kept.init is start and start.random_state is None


def test_forms_of_pairs():
    pd = pytest.importorskip("pandas")
    pairs, y = scored(40)
    expected = make(max_iter=2).fit(pairs, y).predict(pairs)
    for X in (np.array(pairs), pd.DataFrame(pairs), PairCorpus.from_pairs(pairs)):
        np.testing.assert_array_equal(make(max_iter=2).fit(X, pd.Series(y)).predict(X), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "sklearn._config._global_config", {"transform_output": "pandas"} | _config_without("transform_output")
        )
        np.testing.assert_array_equal(make(max_iter=2).fit(pairs, y).predict(pairs), expected)


def _config_without(name):
    import sklearn

    return {key: value for key, value in sklearn.get_config().items() if key != name}


def test_searches_and_folds():
    pairs, y = scored(90)
    search = GridSearchCV(make(max_iter=2), {"dropout": [0.0, 0.5], "encoder__learn": ["both", "directions"]}, cv=2)
    assert set(search.fit(pairs, y).best_params_) == {"dropout", "encoder__learn"}
    assert np.isfinite(cross_val_score(make(max_iter=2), PairCorpus.from_pairs(pairs), y, cv=3)).all()
    start = CBOSVectorizer(24, min_count=1, random_state=0).fit(SENTENCES)
    model = FineTunedRelatednessRegressor(ParaphraseVectorizer(init=start), max_iter=1)
    assert clone(model).encoder.init is start  # a fold starts from it too


def test_a_sentence_of_unknown_words_has_a_score():
    model = make(max_iter=2).fit(*scored(40))
    assert np.isfinite(model.predict([("xyzzy", "a red cat"), ("", "")])).all()


@pytest.mark.parametrize(
    "X, y, options, message",
    [
        (scored(4)[0], [1.0, 2.0], {}, "X and y must have the same length, got 4 and 2"),
        (scored(3)[0], [1.0, np.nan, 2.0], {}, "y has nan in row 1"),
        ([("a cat", "?"), ("a", "b")], [1.0, 2.0], {}, "Pair 0 has no word in its second sentence"),
        (SENTENCES[:2], [1.0, 2.0], {}, "Row 0 of X is not a pair of sentences"),
        ([("a cat", None), ("a", "b")], [1.0, 2.0], {}, "Row 0 of X lacks a sentence"),
        (scored(3)[0], [1.0, 7.0, 2.0], {"grades": [1, 2, 3]}, "y has 7.0 in row 1, outside the grades"),
        (scored(3)[0], [1.0, 2.0, 2.0], {"dropout": 1.0}, "'dropout' parameter"),
        (
            scored(3)[0],
            [1.0, 2.0, 2.0],
            {"encoder": CBOSVectorizer()},
            "a fitted or new ParaphraseVectorizer, CSEVectorizer, GRANVectorizer or None",
        ),
        (scored(3)[0], [1.0, 2.0, 2.0], {"learning_rate": 1e30}, "diverged in pass 1 with learning_rate=1e\\+30"),
        (
            scored(3)[0],
            [1.0, 2.0, 2.0],
            {"encoder_learning_rate": 1e30},
            "diverged in pass . with .*encoder_learning_rate=1e\\+30",
        ),
    ],
)
def test_errors(X, y, options, message):
    model = make().set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "encoder_")


def test_one_score_alone_is_predicted():
    pairs, _ = scored(20)
    np.testing.assert_allclose(make(max_iter=1).fit(pairs, np.full(20, 3.0)).predict(pairs), 3.0)
