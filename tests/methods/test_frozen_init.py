"""The parameter `freeze_init`: words of `init` keep their bits, others are learned as they would be."""

import numpy as np
import pytest
from estimators import GIVEN, TEXT, bits, targets_of
from sklearn.base import clone

import skembed
from skembed import (
    CBOSVectorizer,
    CSEVectorizer,
    FastSentVectorizer,
    ParaphraseVectorizer,
    Sent2VecVectorizer,
    SiameseCBOWVectorizer,
    TargetVectorizer,
    Word2VecVectorizer,
)
from skembed.research import GRANVectorizer

FAST = {"max_iter": 2, "random_state": 0, "min_count": 1}
CLASSES = [
    CBOSVectorizer,
    SiameseCBOWVectorizer,
    ParaphraseVectorizer,
    CSEVectorizer,
    GRANVectorizer,
    TargetVectorizer,
    Sent2VecVectorizer,
    Word2VecVectorizer,
    FastSentVectorizer,
]
every = pytest.mark.parametrize("cls", CLASSES)
pytestmark = pytest.mark.filterwarnings("ignore:FastSentVectorizer learns from neighbouring sentences")
LABELS = [f"topic {i // 9 % 4}" for i in range(len(TEXT))]
N = len(GIVEN)


def evidence(cls, text=TEXT):
    """What a method learns from beside the sentences."""
    if cls is TargetVectorizer:
        return targets_of([sentence.lower().split() for sentence in text])
    return LABELS[: len(text)]


def fit(cls, **options):
    return cls(**{"init": GIVEN, "freeze_init": True} | FAST | options).fit(TEXT, evidence(cls))


def start(cls, **options):
    return fit(cls, freeze_init=False, learning_rate=1e-12, **options).word_vectors_


@every
def test_words_of_init_keep_their_bits_and_others_move(cls):
    frozen, before = fit(cls), start(cls)
    assert list(frozen.vocabulary_)[:N] == list(GIVEN) and len(frozen.vocabulary_) > N
    np.testing.assert_allclose(frozen.word_vectors_[:N], before[:N], rtol=1e-6)
    assert not np.allclose(frozen.word_vectors_[N:], before[N:], rtol=1e-3)
    if cls._learns_from == "pairs":  # which learn weights too
        assert bits(frozen.word_weights_[:N]) == bits(np.ones(N, np.float32))
        assert not (frozen.word_weights_[N:] == 1).all()
    free = fit(cls, freeze_init=False)
    assert not np.allclose(free.word_vectors_[:N], before[:N], rtol=1e-3)
    twice = fit(cls, max_iter=4)
    assert bits(twice.word_vectors_[:N]) == bits(frozen.word_vectors_[:N])
    assert bits(twice.word_vectors_[N:]) != bits(frozen.word_vectors_[N:])


@every
def test_it_stays_so_when_the_model_learns_on_and_is_saved(cls, tmp_path):
    model = fit(cls, max_features=40)
    before = model.word_vectors_[:N].copy()
    skembed.save(model, tmp_path / "model")
    for one in (model, skembed.load(tmp_path / "model")):
        more = ["quokka wombat quoll"] * 30 + list(TEXT[:30])  # more frequent than the words of init
        one.set_params(max_features=len(one.vocabulary_)).partial_fit(more, evidence(cls, more))
        assert "quokka" in one.vocabulary_ and list(one.vocabulary_)[:N] == list(GIVEN)
        assert bits(one.word_vectors_[:N]) == bits(before)


@every
@pytest.mark.filterwarnings("ignore:n_shards=2 leaves each shard")
@pytest.mark.parametrize("options", [{"n_jobs": 2}, {"interpolation": 0.3}, {"solver": "sgd"}, {"n_shards": 2}])
def test_with_other_options(cls, options):
    if not set(options) <= set(cls().get_params()):
        pytest.skip(f"{cls.__name__} has no {', '.join(options)}")
    frozen, before = fit(cls, **options), fit(cls)
    assert bits(frozen.word_vectors_[:N]) == bits(before.word_vectors_[:N])
    assert (bits(frozen.word_vectors_) == bits(before.word_vectors_)) == ("n_jobs" in options)


@every
def test_what_cannot_be(cls):
    with pytest.raises(ValueError, match="freeze_init=True keeps the vectors of init, but init is None"):
        fit(cls, init=None)
    model = fit(cls, warm_start=True)
    with pytest.raises(ValueError, match="freeze_init=False differs from True"):
        clone_of(model).set_params(freeze_init=False).fit(TEXT, evidence(cls))
    model.set_params(warm_start=False, freeze_init=False).fit(TEXT, evidence(cls))
    assert bits(model.word_vectors_) == bits(fit(cls, freeze_init=False).word_vectors_)


def clone_of(model):
    copy = clone(model)
    copy.__dict__.update(vars(model))
    return copy


@pytest.mark.parametrize("cls", [CBOSVectorizer, SiameseCBOWVectorizer, ParaphraseVectorizer])
def test_nothing_to_learn_is_said(cls):
    words = {word: np.random.default_rng(i).normal(size=4) for i, word in enumerate(" ".join(TEXT).lower().split())}
    model = cls(init=words, freeze_init=True, token_pattern=r"\S+", **FAST)
    with pytest.warns(UserWarning, match="Nothing is learned: freeze_init=True"):
        model.fit(TEXT, LABELS)
