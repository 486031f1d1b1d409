"""Sets of pairs, learned one after the other: what each holds out, when it stops, what the next begins with."""

import numpy as np
import pytest

from skembed import CSEVectorizer, PairCorpus, ParaphraseVectorizer
from skembed._training.pairs import Evidence, hold_out_clusters, hold_out_of_sets

OPTIONS = {"n_components": 8, "max_iter": 40, "learning_rate": 0.01, "random_state": 0}
STOPPING = {"early_stopping": True, "n_iter_no_change": 2, "tol": 0.05}
METHODS = {
    "ParaphraseVectorizer": ParaphraseVectorizer(**OPTIONS),
    "CSEVectorizer": CSEVectorizer(n_filters=4, **OPTIONS),
}


@pytest.fixture(scope="module")
def sets():
    return [
        PairCorpus.from_pairs([(f"{a}{i} {b}{i % 40}", f"{b}{i} {b}{i % 40}") for i in range(200)])
        for a, b in (("a", "b"), ("x", "y"))
    ]


def model_of(method, **options):
    return METHODS[method].__class__(**METHODS[method].get_params() | options)


def moved(model, start, letters):
    """How far the vectors of the words of a set are from where they started."""
    words = [word for word in model.vocabulary_ if word[0] in letters]
    return np.abs(
        [model.word_vectors_[model.vocabulary_[w]] - start.word_vectors_[start.vocabulary_[w]] for w in words]
    ).max()


@pytest.mark.parametrize("method", METHODS)
def test_a_set_that_stops_goes_on_to_the_next(method, sets):
    start = model_of(method, learning_rate=1e-12, max_iter=1).fit(sets)
    model = model_of(method, **STOPPING).fit(sets)
    assert model.n_iter_ == len(model.loss_curve_) == len(model.validation_loss_curve_) < 80
    assert moved(model, start, "ab") > 0.05 and moved(model, start, "xy") > 0.05
    # The held-out loss rises where the next set begins, of which nothing was learned.
    n_first = int(np.argmax(np.diff(model.validation_loss_curve_))) + 1
    assert 2 < n_first < min(40, model.n_iter_ - 2)


@pytest.mark.parametrize("method", METHODS)
def test_a_set_begins_with_the_best_weights_of_the_last(method, sets):
    """No pass has a fall of `tol`, so that the first pass of a set is its best one, however many follow."""
    stopping = {"early_stopping": True, "tol": 100.0}
    models = [model_of(method, **stopping, n_iter_no_change=n).fit(sets) for n in (1, 3)]
    assert [model.n_iter_ for model in models] == [4, 8]
    words = [row for word, row in models[0].vocabulary_.items() if word[0] in "ab"]  # that the second set has not
    assert (models[0].word_vectors_[words] == models[1].word_vectors_[words]).all()
    to_the_end = [model_of(method, **stopping, n_iter_no_change=9, max_iter=n).fit(sets) for n in (1, 3)]
    assert [model.n_iter_ for model in to_the_end] == [2, 6]  # a set that does not stop hands on its best weights too


def test_without_early_stopping_each_set_has_all_its_passes(sets):
    model = model_of("ParaphraseVectorizer", max_iter=3).fit(sets)
    assert model.n_iter_ == len(model.loss_curve_) == 6 and model.validation_loss_curve_ == []


def test_each_set_holds_out_its_own_part():
    group = np.repeat(np.arange(100), 2)
    which = np.repeat([0, 1], [160, 40])
    evidence = Evidence(group, group, np.arange(200), which)
    held = hold_out_of_sets(evidence, 0.1, 0)
    assert [held[which == index].sum() for index in (0, 1)] == [16, 4]
    of_first = evidence.of(which == 0)
    assert (held[:160] == hold_out_clusters(of_first, 0.1, 0)).all()


ONE_MEANING = [("q r", "s t")] * 9


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (ONE_MEANING, r"All 9 pairs of X\[{}\] hang together"),
        (ONE_MEANING[:1], r"X\[{}\] is one pair, so no pair"),
        ([("hub", f"s{i}") for i in range(1200)], r"All 1200 pairs of X\[{}\] hang together"),
    ],
)
def test_each_set_needs_two_pairs_to_compare(pairs, message, at, sets):
    sets = sets[:1]
    sets.insert(at, PairCorpus.from_pairs(pairs))
    with pytest.raises(ValueError, match=message.format(at)):
        ParaphraseVectorizer(**OPTIONS).fit(sets)


def test_a_first_set_without_known_words_is_warned_of(sets):
    rare = PairCorpus.from_pairs([(f"r{i}", f"s{i}") for i in range(9)])
    with pytest.warns(UserWarning, match="found nothing to predict in the text"):
        model = ParaphraseVectorizer(**OPTIONS | {"max_iter": 2}, min_count=2).fit([rare, sets[0]])
    assert model.loss_curve_[:2] == [0.0, 0.0] < model.loss_curve_[2:]
