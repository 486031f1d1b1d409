"""Pairs to learn from: their forms, `PairCorpus`, which ones hang together, and what is wrong with others."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimators import learned
from paraphrases import FAST, PAIRS, SENTENCES, TOPICS

from skembed import PairCorpus, ParaphraseVectorizer, SentenceCorpus
from skembed._base.paired import texts_of
from skembed._corpus.pairs import LARGEST_COMPONENT, linked
from skembed._training.pairs import Evidence, hold_out_clusters
from skembed.evaluation import FineTunedRelatednessRegressor


def test_pairs_that_hang_together():
    pairs = PairCorpus.from_pairs([("a", "b"), ("c", "d"), ("b!", "e"), ("f", "C"), ("g", "h")])
    texts, group = texts_of(pairs.sentences), pairs.sentences.doc_of()
    assert texts[1] == texts[4] and texts[2] == texts[7]
    found = linked(group, texts)[::2]
    assert found[0] == found[2] and found[1] == found[3]
    assert len(set(found.tolist())) == 3


def test_texts_are_equal_where_their_words_are():
    text = ["a b", "b a", "", "a b", "a", "", "b a a"]
    assert texts_of(SentenceCorpus.from_sentences(text)).tolist() == [0, 1, 2, 0, 4, 5, 6]


def test_a_chain_of_pairs_is_not_one_meaning():
    def clusters(n):
        groups = np.repeat(np.arange(n), 2)
        return len(set(linked(groups, groups + np.tile([0, 1], n)).tolist()))

    assert clusters(LARGEST_COMPONENT) == 1
    assert clusters(LARGEST_COMPONENT + 1) == LARGEST_COMPONENT + 1


FORMS = {
    "tuples": lambda: PAIRS,
    "generator": lambda: (list(pair) for pair in PAIRS),
    "array": lambda: np.array(PAIRS),
    "objects": lambda: np.array(PAIRS, object),
    "mapping": lambda: dict(zip(("a", "b"), zip(*PAIRS))),
    "pandas": lambda: pd.DataFrame(PAIRS, columns=["a", "b"]),
    "polars": lambda: pl.DataFrame(PAIRS, schema=["a", "b"], orient="row"),
    "encoded": lambda: PairCorpus.from_pairs(PAIRS),
    "a list of one": lambda: [PairCorpus.from_pairs(PAIRS)],
}


@pytest.mark.parametrize("form", FORMS)
def test_pairs_in_any_form(form):
    model = ParaphraseVectorizer(**FAST).fit(FORMS[form]())
    assert learned(model) == learned(ParaphraseVectorizer(**FAST).fit(PAIRS))
    as_parameter = ParaphraseVectorizer(**FAST, corpus=PairCorpus.from_pairs(PAIRS)).fit(["anything"], [1])
    assert learned(as_parameter) == learned(model)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (SENTENCES, None, "X holds sentences, not pairs. Pass pairs"),
        ([*PAIRS[:2], ("alone",)], None, "Row 2 of X is not a pair"),
        ([*PAIRS[:2], ("alone", None)], None, "Row 2 of X lacks a sentence"),
        (
            pd.DataFrame({"a": ["x", "y"], "b": ["z", np.nan]}),
            None,
            r"Row 1 of 'b' of X is missing \(nan\). Leave such",
        ),
        (
            pd.DataFrame([("x", "z"), ("y", None)]),
            None,
            r"Row 1 of column 1 of X is missing \((nan|None)\). Leave such pairs",
        ),
        ([*PAIRS[:2], ("a word", "?!")], None, r"Pair 2 has no word in its second sentence: '\?!'. Leave"),
        ([*PAIRS[:2], ("", "a word")], None, "Pair 2 has no word in its first sentence"),
        ([*PAIRS[:2], ("a word", 3)], None, "Row 2 is 3 of type int, not a string"),
        ([("a", "b"), ("b", "c"), ("c", "d")], None, "All 3 pairs of X hang together"),
        ([], None, "X has no pairs"),
        (SENTENCES, TOPICS[:3], "y has 3 values, but X has 16 sentences"),
        (SENTENCES, [1] * 16, "y: all sentences are of one group"),
        (SENTENCES, range(16), "y: no two sentences are of one group"),
        (["a", "b", "c", "d"], [0, 0, 0, 1], "y: only one group has two sentences, so there is no other pair"),
        ([("hub", f"s{i}") for i in range(LARGEST_COMPONENT + 1)], None, "All 1001 pairs of X hang together"),
        (lambda: PairCorpus.from_pairs(PAIRS), [0] * len(PAIRS), "must be None where X is pairs"),
    ],
)
def test_errors_say_what_is_wrong(X, y, message):
    model = ParaphraseVectorizer(**FAST)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X() if callable(X) else X, y)
    assert not hasattr(model, "vocabulary_")


def test_whole_clusters_are_held_out():
    cluster = np.repeat(np.arange(40), 6)
    evidence = Evidence(np.repeat(np.arange(120), 2), cluster, np.arange(240), np.zeros(240, np.int64))
    held = hold_out_clusters(evidence, 0.1, 0)
    assert held.sum() == 24
    assert not set(cluster[held].tolist()) & set(cluster[~held].tolist())
    few = hold_out_clusters(evidence._replace(cluster=cluster // 4), 0.1, 0)
    assert few.sum() == 24 and not set(evidence.group[few].tolist()) & set(evidence.group[~few].tolist())
    assert hold_out_clusters(evidence._replace(cluster=cluster // 4, group=cluster // 4), 0.1, 0).sum() == 24
    with pytest.raises(ValueError, match="leaves nothing to learn from"):
        hold_out_clusters(evidence, 0.999, 0)


def test_a_pair_corpus_is_a_value():
    pairs = PairCorpus.from_pairs(PAIRS)
    assert len(pairs) == pairs.n_pairs == 32 and pairs.shape == (32,)
    assert pairs[2] == (["cheap", "flights", "to", "rome"], ["low", "cost", "air", "tickets", "to", "rome"])
    assert pairs[-1] == pairs[31] and list(pairs)[1] == pairs[1]
    assert repr(pairs[:2]) == "PairCorpus(n_pairs=2, n_tokens=21, n_words=16)"
    assert pairs[:8] == PairCorpus.from_pairs(PAIRS[:8]) == pairs[np.arange(32) < 8] == pairs[list(range(8))]
    assert pairs != pairs[:8] and pairs != PAIRS and len({pairs, pairs[:]}) == 1
    assert copy.deepcopy(pairs) is copy.copy(pairs) is pairs
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    with pytest.raises(IndexError):
        pairs[32]


def test_a_pair_corpus_on_disk(tmp_path):
    pairs = PairCorpus.from_pairs(PAIRS)
    pairs.sentences.save(tmp_path / "pairs")
    loaded = PairCorpus(SentenceCorpus.load(tmp_path / "pairs"))
    assert loaded == pairs
    assert learned(ParaphraseVectorizer(**FAST).fit(loaded)) == learned(ParaphraseVectorizer(**FAST).fit(pairs))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairCorpus(PAIRS), "must be a SentenceCorpus"),
        (lambda: PairCorpus(SentenceCorpus.from_sentences(SENTENCES, TOPICS)), "must be a pair, of two sentences"),
        (lambda: PairCorpus(SentenceCorpus.from_sentences(["a", "", "b", "c"], [0, 0, 1, 1])), "Pair 0 has no word"),
        (lambda: PairCorpus.from_pairs(PairCorpus.from_pairs(PAIRS)), "a PairCorpus already"),
    ],
)
def test_no_pair_corpus(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_held_out_pairs_are_not_learned_from():
    pairs = [(f"a{i} b{i} c{i}", f"a{i} d{i}") for i in range(40)]
    options = FAST | {"early_stopping": True, "tol": 0.0}
    first = ParaphraseVectorizer(**options).fit(pairs)
    group = np.repeat(np.arange(40), 2)
    held = hold_out_clusters(Evidence(group, group, np.arange(80), np.zeros(80, np.int64)), 0.1, first._state.seed)[::2]
    assert held.sum() == 4
    # The same words in other sentences, so that the vectors start the same.
    others = [(f"a{i} a{i} d{i}", f"b{i} c{i}") if out else pair for i, (pair, out) in enumerate(zip(pairs, held))]
    other = ParaphraseVectorizer(**options).fit(others)
    assert first.vocabulary_ == other.vocabulary_
    assert first.validation_loss_curve_ != other.validation_loss_curve_
    assert (first.word_vectors_ == other.word_vectors_).all() and (
        first._state.arrays["_scales"] == other._state.arrays["_scales"]
    ).all()


@pytest.mark.parametrize("more", ["y", "groups"])
@pytest.mark.parametrize("form", [name for name in FORMS if name not in ("generator", "mapping")])
def test_pairs_have_no_labels(form, more):
    for X in (FORMS[form](), [list(pair) for pair in PAIRS]):
        with pytest.raises(ValueError, match="must be None where X is pairs.*pass one column of sentences"):
            ParaphraseVectorizer().fit(X, **{more: np.arange(len(PAIRS)) % 2})


def test_words_are_no_pairs():
    for X in ([["a", "cat"], ["the", "dog", "barks"]], [["a", "b"], "c"]):
        with pytest.raises(TypeError, match="Row 0 is a list .* pass analyzer= a named function"):
            ParaphraseVectorizer().fit(X, [0, 1])
    with pytest.raises(TypeError, match="Row 0 is a list .* pass analyzer= a named function"):
        ParaphraseVectorizer().fit([(["a", "b"], ["c"]), (["d", "e"], ["f", "g"])])


NOT_ENCODED = {
    "lists": lambda: [PAIRS, PAIRS[:5]],
    "lists of two": lambda: [PAIRS[:2], [list(pair) for pair in PAIRS[2:4]]],
    "arrays": lambda: [np.array(PAIRS), np.array(PAIRS[:5])],
    "an array": lambda: np.array([PAIRS, PAIRS]),
    "tables": lambda: [pd.DataFrame(PAIRS), pd.DataFrame(PAIRS)],
    "one of two": lambda: [PAIRS, PairCorpus.from_pairs(PAIRS)],
    "generator of lists": lambda: iter([PAIRS, PAIRS]),
    "generator of PairCorpus": lambda: iter([PairCorpus.from_pairs(PAIRS)] * 2),
}


@pytest.mark.parametrize("form", NOT_ENCODED)
def test_sets_of_pairs_must_be_encoded(form):
    for learn in (ParaphraseVectorizer().fit, PairCorpus.from_pairs):
        with pytest.raises(
            ValueError, match=r"X holds sets of pairs.*\[PairCorpus.from_pairs\(pairs\) for pairs in X\]"
        ):
            learn(NOT_ENCODED[form]())


def test_pairs_are_no_sentences():
    pairs = PairCorpus.from_pairs(PAIRS)
    for read in (ParaphraseVectorizer(**FAST).fit(pairs).transform, SentenceCorpus.from_sentences):
        with pytest.raises(TypeError, match=r"is a PairCorpus, not sentences. Pass .*\.sentences"):
            read(pairs)


def empty():
    return PairCorpus.from_pairs(PAIRS)[:0]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: ParaphraseVectorizer().fit(empty()), "X"),
        (lambda: ParaphraseVectorizer().partial_fit(empty()), "X"),
        (lambda: ParaphraseVectorizer().estimate_memory(empty()), "X"),
        (lambda: ParaphraseVectorizer().fit([PairCorpus.from_pairs(PAIRS), empty()]), r"X\[1\]"),
        (lambda: ParaphraseVectorizer(corpus=empty()).fit(["a"]), "corpus"),
        (lambda: FineTunedRelatednessRegressor(ParaphraseVectorizer()).fit(empty(), []), "X"),
        (lambda: PairCorpus.from_pairs(iter([])), "X"),
    ],
)
def test_no_pairs_are_refused(call, name):
    with pytest.raises(ValueError, match=f"^{name} has no pairs. Pass at least two"):
        call()
