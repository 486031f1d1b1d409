"""The parameter `init`: the same for every estimator that has it."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from estimators import GIVEN, GROUPS, TEXT, bits, fitted, learned, targets_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from skembed import (
    CBOSVectorizer,
    FastSentVectorizer,
    MeanEmbeddingVectorizer,
    ParaphraseVectorizer,
    Sent2VecVectorizer,
    SentenceCorpus,
    SiameseCBOWVectorizer,
    TargetVectorizer,
    Word2VecVectorizer,
)
from skembed.research import SkipThoughtVectorizer

FAST = {"max_iter": 2, "random_state": 0, "min_count": 1}
CONTEXT = [CBOSVectorizer, SiameseCBOWVectorizer]
PREDICT_WORDS = [Sent2VecVectorizer, Word2VecVectorizer, FastSentVectorizer]
CLASSES = [*CONTEXT, ParaphraseVectorizer, TargetVectorizer, *PREDICT_WORDS]
every = pytest.mark.parametrize("cls", CLASSES)
pytestmark = pytest.mark.filterwarnings("ignore:FastSentVectorizer learns from neighbouring sentences")
LABELS = [f"topic {i // 9 % 4}" for i in range(len(TEXT))]
WORDS = [sentence.lower().split() for sentence in TEXT]


def evidence(cls):
    """What a method learns from beside the sentences."""
    return targets_of(WORDS) if cls is TargetVectorizer else LABELS


def fit(cls, init=GIVEN, X=TEXT, **options):
    model = cls(init=init, **FAST | options)
    return model.fit(X, evidence(cls)[: len(X)])


def at_start(cls, init=GIVEN, **options):
    return fit(cls, init, learning_rate=1e-12, **options)


def cosines(a, b):
    return (a * b).sum(axis=1) / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-12)


@every
def test_a_length_that_is_not_that_of_init_is_named(cls):
    length = len(next(iter(GIVEN.values())))
    with pytest.warns(UserWarning, match=f"n_components=7 is not used: init has vectors of length {length}"):
        assert fit(cls, n_components=7).n_features_out_ == length
    assert fit(cls, n_components=length).n_features_out_ == length


def test_a_length_of_words_below_units_that_is_not_that_of_init_is_named():
    with pytest.warns(UserWarning, match="word_components=7 is not used: init has vectors of length"):
        SkipThoughtVectorizer(3, word_components=7, init=GIVEN, **FAST).fit(TEXT)


# -- what it may be ---------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("form", ["dict", "table", "frame", "keyed", "path", "model", "frozen"])
def test_any_form_of_the_same_vectors(cls, form, tmp_path):
    words, vectors = list(GIVEN), np.array(list(GIVEN.values()))
    if form == "keyed":
        init = type("KeyedVectors", (), {"index_to_key": words, "vectors": vectors})()
    elif form == "path":
        init = tmp_path / "vectors.txt"
        init.write_text("\n".join(" ".join([word, *map(repr, map(float, row))]) for word, row in GIVEN.items()))
    else:
        model = MeanEmbeddingVectorizer(word_vectors=GIVEN).fit(TEXT)
        forms = {"dict": GIVEN, "table": (words, vectors), "frame": pd.DataFrame(vectors, words), "model": model}
        init = forms.get(form, FrozenEstimator(model))
    assert bits(fit(cls, init).transform(TEXT)) == bits(fit(cls).transform(TEXT))


@pytest.mark.parametrize(
    "name", ["RecursiveAutoencoderVectorizer", "SequentialDenoisingAutoencoder", "SkipThoughtVectorizer"]
)
def test_a_model_without_word_weights(name):
    model = fitted(name)
    given = list(model.vocabulary_), model.word_vectors_
    for cls in (CBOSVectorizer, SkipThoughtVectorizer):
        expected = cls(init=given, **FAST).fit(TEXT[:40])
        assert bits(cls(init=model, **FAST).fit(TEXT[:40]).transform(TEXT)) == bits(expected.transform(TEXT))


@every
def test_a_model_counts_as_it_sums_its_words(cls):
    source = MeanEmbeddingVectorizer(word_vectors=GIVEN, weighting="sif", hash_numbers=True).fit(TEXT)
    options = {"weighting": None} if "weighting" in cls().get_params() else {}
    model = at_start(cls, source, unknown="hash", **options)
    np.testing.assert_allclose(cosines(model.transform(TEXT[:9]), source.transform(TEXT[:9])), 1, atol=1e-5)


@every
def test_words_are_made_as_in_init(cls):
    source = CBOSVectorizer(6, min_count=1, max_iter=1, lowercase=False).fit(TEXT)
    model = fit(cls, source)
    assert source.vocabulary_ == dict(list(model.vocabulary_.items())[: len(source.vocabulary_)])
    assert model._state.tokenizer == source._state.tokenizer
    with pytest.raises(ValueError, match="X was made with lowercase=True, init with lowercase=False. Build X"):
        fit(cls, source, SentenceCorpus.from_sentences(TEXT))
    with pytest.raises(ValueError, match="init was made with .*Leave these options at their defaults"):
        fit(cls, source, stop_words="english")


# -- vocabulary and start ---------------------------------------------------------------------------------------------


@every
def test_words_of_init_come_first_and_new_ones_by_falling_count(cls):
    init = {"elsewhere": np.full(10, 3.0), **GIVEN}
    model = fit(cls, init)
    words, counts = list(model.vocabulary_), model.word_counts_
    assert list(model.vocabulary_.values()) == list(range(len(words)))
    assert words[: len(init)] == list(init) and counts[0] == 0
    assert set(words) == set(init) | set(SentenceCorpus.from_sentences(TEXT).vocabulary.words)
    assert (np.diff(counts[len(init) :]) <= 0).all() and model.coverage_ == 1
    start = at_start(cls, init)
    assert bits(model.word_vectors_[0]) == bits(start.word_vectors_[0])
    assert not np.allclose(model.word_vectors_[words.index("cat")], start.word_vectors_[words.index("cat")])
    rows = start.word_vectors_[: len(init)]
    np.testing.assert_allclose(cosines(rows, np.array(list(init.values()))), 1, atol=1e-5)


@every
def test_a_new_word_starts_by_its_text_alone(cls):
    first, other = (at_start(cls, random_state=seed) for seed in (0, 1))
    new = next(word for word in first.vocabulary_ if word not in GIVEN)
    rows = [model.word_vectors_[model.vocabulary_[new]] for model in (first, other)]
    np.testing.assert_allclose(*rows, rtol=1e-5)
    few = at_start(cls, min_count=60, unknown="hash")  # it is unknown now
    assert new not in few.vocabulary_ and set(GIVEN) <= set(few.vocabulary_)
    np.testing.assert_allclose(cosines(few.transform([new]), rows[0][None]), 1, atol=1e-5)


# -- clones and searches -----------------------------------------------------------------------------------------------


@every
def test_clones_share_it(cls):
    source = CBOSVectorizer(6, min_count=1, max_iter=1).fit(TEXT)
    for init in (source, FrozenEstimator(source), GIVEN, (list(GIVEN), np.array(list(GIVEN.values())))):
        model = cls(init=init, **FAST)
        copied = clone(clone(model).set_params(max_iter=1))
        assert copied.init is init and model.init is init
        assert learned(copied.fit(TEXT, evidence(cls))) == learned(fit(cls, init, max_iter=1))
    with pytest.raises(NotFittedError, match="init is a CBOSVectorizer that is not fitted. Fit it first.*Frozen"):
        fit(cls, clone(source))
    with pytest.raises(NotFittedError, match="init is a FrozenEstimator that is not fitted"):
        fit(cls, FrozenEstimator(clone(source)))


class FromLetters(TargetVectorizer):
    """Makes up the targets, since the `y` of a pipeline are labels."""

    def fit(self, X, y=None):
        return super().fit(X, targets_of([sentence.lower().split() for sentence in X]))


@every
def test_in_a_pipeline_under_cross_validation_and_search(cls):
    source = CBOSVectorizer(6, min_count=1, max_iter=1).fit(TEXT)
    cls = FromLetters if cls is TargetVectorizer else cls
    pipeline = make_pipeline(cls(init=source, **FAST), LogisticRegression(max_iter=1000))
    scores = cross_val_score(pipeline, TEXT, LABELS, cv=2, error_score="raise")
    assert np.isfinite(scores).all()
    frozen = [FrozenEstimator(source), FrozenEstimator(CBOSVectorizer(4, min_count=1, max_iter=1).fit(TEXT)), None]
    name = pipeline.steps[0][0]
    for grid in ({f"{name}__init": frozen}, {f"{name}__max_iter": [1, 2]}):
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXT, LABELS)
        assert search.predict(TEXT[:2]).shape == (2,)
    with pytest.raises(NotFittedError, match="grid of parameters.*FrozenEstimator"):
        GridSearchCV(pipeline, {f"{name}__init": [source]}, cv=2, error_score="raise").fit(TEXT, LABELS)


@every
def test_pickles_copies_and_parameters(cls):
    source = CBOSVectorizer(6, min_count=1, max_iter=1).fit(TEXT)
    model = fit(cls, source)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert learned(again) == learned(model) and learned(again.init) == learned(source)
    assert model.set_params(init=GIVEN).init is GIVEN and model.get_params()["init"] is GIVEN
    assert "CBOSVectorizer" in repr(cls(init=source))


# -- errors -----------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("init", "kind", "message"),
    [
        (3, TypeError, "init: Word vectors are read from a dict .* Got int"),
        ([1, 2], TypeError, "init: Word vectors are read from"),
        (CBOSVectorizer, TypeError, "init: .*Got <class"),
        ("nowhere.txt", FileNotFoundError, "init: There is no file at 'nowhere.txt'. Word vectors are read from"),
        ("random", FileNotFoundError, "There is no file at 'random'.*init=None starts at random"),
        ("x" * 5000, ValueError, "init: A string of 5,000 characters is no path of a file. Word vectors are read"),
        ({}, ValueError, "init: dict has 0 words"),
        ({"cat": [np.nan]}, ValueError, "init: .*'cat' has NaN or infinity.*Remove or correct it"),
        ({"cat": [1.0], "dog": [1.0, 2.0]}, ValueError, "init: .*'dog' has length 2, others 1"),
        ({"cat": [0.0]}, ValueError, "init: all vectors are zero"),
        ({"zebra": [1.0]}, ValueError, "None of the words of the text has a vector.*Words of init, 1 in all: 'zebra'"),
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, type) else value.__name__,
)
def test_errors_name_it(cls, init, kind, message):
    model = cls(init=init, **FAST)
    with pytest.raises(kind, match=message):
        model.fit(TEXT, evidence(cls))
    assert not learned(model)


@every
def test_an_empty_file(cls, tmp_path):
    (tmp_path / "empty.txt").touch()
    with pytest.raises(ValueError, match="init: .*empty.txt is empty or has no word vectors"):
        fit(cls, tmp_path / "empty.txt")


@every
def test_few_common_words_are_warned_of(cls):
    with pytest.warns(UserWarning, match="Only .* of the words of the text have a vector.*Words of init"):
        fit(cls, {"cat": [1.0, 2.0]})


# -- learning on -------------------------------------------------------------------------------------------------------


@every
def test_learning_goes_on_from_what_was_learned(cls):
    model = fit(cls, warm_start=True)
    before = copy.deepcopy(model)
    model.partial_fit(TEXT, evidence(cls))
    assert model.vocabulary_ == before.vocabulary_ and model.n_iter_ == 3
    assert learned(model.set_params(init=None).fit(TEXT, evidence(cls))) != learned(before)
    for init in ({"cat": [1.0, 2.0]}, (["cat"], np.ones((1, 2))), CBOSVectorizer(2, min_count=1).fit(TEXT)):
        model.set_params(init=init)
        message = "init has vectors of length 2, but this .* has learned vectors of length 10. Leave init as it was"
        for learn in (model.fit, model.partial_fit):
            with pytest.raises(ValueError, match=message):
                learn(TEXT, evidence(cls))


@every
def test_memory_counts_the_start(cls):
    words, vectors = list(GIVEN), np.array(list(GIVEN.values()), np.float32)
    memory = cls(init=(words, vectors), **FAST).estimate_memory(TEXT, evidence(cls))
    plain = cls(10, **FAST).estimate_memory(TEXT, evidence(cls))
    assert memory["copies"] == plain["copies"] + vectors.nbytes
    model = fit(cls, (words, vectors))
    assert memory["weights"] >= model.word_vectors_.nbytes
    assert model._state.start is None


# -- CBOS and Siamese CBOW --------------------------------------------------------------------------------------------

context = pytest.mark.parametrize("cls", CONTEXT)


@context
def test_part_of_the_way(cls):
    start, half, end = (fit(cls, interpolation=share, ngram_range=(1, 2), n_buckets=50) for share in (0.0, 0.5, 1.0))
    rows = np.array(list(GIVEN.values()))
    np.testing.assert_allclose(
        start.word_vectors_[: len(rows)], rows / np.median(np.linalg.norm(rows, axis=1)), rtol=1e-5
    )
    assert end.ngram_vectors_.any() and not start.ngram_vectors_.any()
    for name in ("word_vectors_", "ngram_vectors_"):
        rows = [getattr(model, name) for model in (start, half, end)]
        np.testing.assert_allclose(rows[1], (rows[0] + rows[2]) / 2, atol=1e-6)
    np.testing.assert_allclose(half.transform(TEXT), (start.transform(TEXT) + end.transform(TEXT)) / 2, atol=1e-5)
    # What is learned next goes on from the end of the way.
    again = [copy.deepcopy(model).partial_fit(TEXT, LABELS) for model in (half, end)]
    assert bits(again[0]._state.arrays["_source_vectors"]) == bits(again[1]._state.arrays["_source_vectors"])
    assert bits(half.set_params(interpolation=1.0).partial_fit(TEXT, LABELS).word_vectors_) == bits(
        again[1].word_vectors_
    )
    with pytest.raises(ValueError, match="interpolation=0.5 needs the start, which a fit with interpolation=1 does"):
        end.set_params(interpolation=0.5).partial_fit(TEXT, LABELS)
    assert "interpolation=0.5" in repr(end)


@context
def test_part_of_the_way_from_a_random_start(cls):
    start, end = (cls(8, interpolation=share, **FAST).fit(TEXT, LABELS) for share in (0.0, 1.0))
    assert bits(cls(8, learning_rate=1e-12, **FAST).fit(TEXT, LABELS).word_vectors_) == bits(start.word_vectors_)
    assert bits(start._state.arrays["_source_vectors"]) == bits(end.word_vectors_)


@context
@pytest.mark.parametrize("context", ["order", "labels"])
def test_threads_change_no_bit(cls, context):
    y = None if context == "order" else LABELS
    options = {"ngram_range": (1, 2), "n_buckets": 50, "interpolation": 0.3, "early_stopping": True, "context": context}
    models = [cls(init=GIVEN, n_jobs=n, **FAST | options).fit(TEXT, y, groups=GROUPS) for n in (1, 2, 3)]
    assert learned(models[0]) == learned(models[1]) == learned(models[2])
    assert len(models[0].validation_loss_curve_) == models[0].n_iter_
    again = [model.partial_fit(TEXT, y, groups=GROUPS) for model in models]
    assert learned(again[0]) == learned(again[1]) and again[0].n_iter_ > 2


@context
def test_own_text_then_own_labels(cls):
    text = cls(8, **FAST | {"max_iter": 20}).fit(TEXT, groups=GROUPS)
    model = cls(init=text, **FAST).fit(TEXT, LABELS)
    assert model._state.from_labels and not text._state.from_labels
    assert model.loss_curve_[0] < cls(8, **FAST).fit(TEXT, LABELS).loss_curve_[0]
    assert bits(at_start(cls, text).word_vectors_) == bits(text.word_vectors_)  # of the same class: lengths stay


@context
@pytest.mark.parametrize("source", [CBOSVectorizer, SiameseCBOWVectorizer, Sent2VecVectorizer])
def test_ngrams_of_a_model_are_taken(cls, source):
    options = {"ngram_range": (1, 2), "n_buckets": 50}
    init = source(8, min_count=1, max_iter=2, random_state=0, **options).fit(TEXT, groups=GROUPS)
    start = at_start(cls, init, **options)
    np.testing.assert_allclose(cosines(start.transform(TEXT), init.transform(TEXT))[:9], 1, atol=1e-5)
    assert start.ngram_vectors_.any()
    other = at_start(cls, init, ngram_range=(1, 2), n_buckets=49)
    assert not np.abs(other.ngram_vectors_).max() > 1e-6 and other.word_vectors_.any()


@context
def test_the_fit_that_fails_changes_nothing(cls):
    model = fit(cls, interpolation=0.5)
    before = learned(model)
    for options in ({"init": {"cat": [np.nan]}}, {"interpolation": 2.0}, {"learning_rate": 1e12, "solver": "sgd"}):
        other = copy.deepcopy(model).set_params(**options)
        with pytest.raises(ValueError):
            other.fit(TEXT, LABELS)
        assert learned(other) == before
