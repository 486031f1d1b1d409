"""Scalars and strings of numpy are parameters like Python's: the same bits, the same folder, the same errors."""

import json
import pickle

import numpy as np
import pytest
from estimators import (
    GROUPS,
    NAMES,
    OTHER_TEXT,
    TEXT,
    TRAINED_CLASSES,
    bits,
    changed,
    dense,
    fitted,
    learned,
    make,
    published,
)
from sklearn.base import clone

import skembed
from skembed import BOWPCA, CBOSVectorizer, PairCorpus, SentenceCorpus
from skembed._text.tokenizer import Tokenizer

# A uint8 overflows where Python's int does not; a float64 widens the float32 arrays that it is multiplied by.
OF_A_GRID, NARROW = (np.int64, np.float64), (np.uint8, np.float32)
OVERFLOWING_AND_WIDE = (np.uint8, np.float64)


def as_numpy(value, integer, floating):
    """A parameter as a grid of numpy gives it."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return integer(value) if value <= 255 else np.int64(value)
    if isinstance(value, float):
        return floating(value)
    if isinstance(value, str):
        return np.str_(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, (int, float, str)) for item in value):
        return type(value)(as_numpy(item, integer, floating) for item in value)
    return value


def as_python(value):
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_python, value))
    return value.item() if isinstance(value, np.generic) else value


def numpy_and_python(name, integer, floating):
    """Two unfitted estimators with the same parameters."""
    given = {key: as_numpy(value, integer, floating) for key, value in make(name).get_params(deep=False).items()}
    ours, same = make(name), make(name)
    return ours.set_params(**given), same.set_params(**{key: as_python(value) for key, value in given.items()})


def saved(estimator, folder):
    skembed.save(published(estimator), folder)
    header = json.loads((folder / "model.json").read_text())
    del header["save"]  # names the files of this save
    return header


@pytest.mark.parametrize(
    ("name", "scalars"), [(name, OVERFLOWING_AND_WIDE) for name in NAMES] + [("CBOSVectorizer", NARROW)]
)
def test_fit_save_and_load(name, scalars, tmp_path):
    ours, same = numpy_and_python(name, *scalars)
    given = ours.get_params(deep=False)
    assert any(isinstance(value, np.generic) for value in given.values())
    for model in (ours, same):
        model.fit(TEXT, groups=GROUPS)
    assert learned(ours) == learned(same)
    assert all(getattr(ours, key) is value for key, value in given.items())
    if "stem" not in name:  # a callable, which a folder does not hold
        assert saved(ours, tmp_path / "ours") == saved(same, tmp_path / "same")
        back = skembed.load(tmp_path / "ours")
        assert bits(dense(back.transform(OTHER_TEXT))) == bits(dense(same.transform(OTHER_TEXT)))


@pytest.mark.parametrize("name", TRAINED_CLASSES)
def test_learn_on(name):
    ours, same = numpy_and_python(name, *OVERFLOWING_AND_WIDE)
    assert ours.estimate_memory(TEXT) == same.estimate_memory(TEXT)
    for model in (ours, same):
        model.partial_fit(TEXT, groups=GROUPS).partial_fit(OTHER_TEXT * 2)
    assert learned(ours) == learned(same)
    ours = pickle.loads(pickle.dumps(changed(ours, warm_start=np.True_)))
    same.set_params(warm_start=True)
    assert learned(ours.fit(TEXT, groups=GROUPS)) == learned(same.fit(TEXT, groups=GROUPS))


def test_what_a_grid_gives(tmp_path):
    for n_components in np.arange(5, 15, 5):
        model = CBOSVectorizer(n_components, min_count=1, random_state=0).fit(TEXT)
        assert type(model.n_features_out_) is int and model.n_components is n_components
        skembed.save(model, tmp_path / str(n_components))
        assert skembed.load(tmp_path / str(n_components)).n_features_out_ == n_components


def test_checkpoints_of_one_fit(tmp_path):
    ours, same = numpy_and_python("CBOSVectorizer", *OF_A_GRID)
    folder, every = tmp_path / "checkpoint", np.int64(1)
    ours.fit(TEXT, groups=GROUPS, checkpoint=folder, checkpoint_every=every)
    assert learned(clone(same).fit(TEXT, groups=GROUPS, checkpoint=folder)) == learned(ours)


def test_what_is_set_in_a_fit_stays():
    def stem(word):
        models[0].set_params(verbose=7)
        return word

    models = [CBOSVectorizer(np.int64(5), min_count=1, stemmer=stem, verbose=np.int64(0), max_iter=1)]
    model = models[0].fit(TEXT)
    assert model.verbose == 7 and type(model.n_components) is np.int64


STOP_WORDS = [np.array(["the", "a"]), np.array(["the", "a"], object), [np.str_("the"), "a"], {np.str_("a"), "the"}]


@pytest.mark.parametrize("stop_words", STOP_WORDS, ids=lambda words: f"{type(words).__name__}")
@pytest.mark.parametrize("cls", [BOWPCA, CBOSVectorizer], ids=lambda cls: cls.__name__)
def test_arrays_of_stop_words(cls, stop_words, tmp_path):
    ours, same = (cls(5, stop_words=words, random_state=0) for words in (stop_words, ["a", "the"]))
    assert repr(ours) and learned(clone(ours).fit(TEXT)) == learned(same.fit(TEXT))
    assert saved(ours.fit(TEXT), tmp_path / "ours") == saved(same.fit(TEXT), tmp_path / "same")
    corpus = SentenceCorpus.from_sentences(TEXT, stop_words=["the", "a"])
    assert bits(dense(ours.fit(corpus).transform(corpus))) == bits(dense(same.fit(corpus).transform(corpus)))
    with pytest.raises(ValueError, match=r"^stop_words="):
        ours.fit(SentenceCorpus.from_sentences(TEXT))


def test_options_of_corpora(tmp_path):
    options = {"token_pattern": r"(?u)\b\w\w+\b", "lowercase": False, "stop_words": "english", "stemmer": "english"}
    given = {key: as_numpy(value, np.int64, np.float64) for key, value in options.items()}
    assert Tokenizer(**given) == Tokenizer(**options)
    assert all(type(getattr(Tokenizer(**given), key)) is type(value) for key, value in options.items())
    limits = {"min_count": np.uint8(2), "max_features": np.int64(30), "n_jobs": np.int64(2)}
    ours = SentenceCorpus.from_sentences(TEXT, GROUPS, **given, **limits)
    same = SentenceCorpus.from_sentences(TEXT, GROUPS, **options, min_count=2, max_features=30, n_jobs=2)
    assert ours.digest == same.digest
    ours.save(tmp_path / "corpus")
    assert SentenceCorpus.load(tmp_path / "corpus").digest == same.digest
    assert list(ours[np.int64(3)]) == list(same[3])
    pairs = [("A cat.", "The cat."), ("A dog.", "The dog.")]
    ours, same = (PairCorpus.from_pairs(pairs, lowercase=value) for value in (np.False_, False))
    assert ours.sentences.digest == same.sentences.digest


def test_arguments_of_queries_and_searches():
    model = fitted("CBOSVectorizer")
    assert model.most_similar(np.str_("cat"), np.uint8(3)) == model.most_similar("cat", 3)
    rows = model.transform(TEXT)
    few, high = np.uint8(3), np.float32(0.75)
    assert bits(skembed.search.nearest(rows, rows, few, n_jobs=few)) == bits(skembed.search.nearest(rows, rows, 3))
    assert bits(skembed.search.nearest(rows, rows, metric=np.str_("dot"), exclude=np.str_("self"))) == bits(
        skembed.search.nearest(rows, rows, metric="dot", exclude="self")
    )
    pairs = skembed.search.near_duplicates(rows, threshold=0.75)
    assert bits(skembed.search.near_duplicates(rows, threshold=high, max_pairs=np.int64(10**7))) == bits(pairs)
    groups = skembed.search.communities(rows, threshold=0.75, min_size=3)
    assert bits(skembed.search.communities(rows, threshold=high, min_size=few)) == bits(groups)
