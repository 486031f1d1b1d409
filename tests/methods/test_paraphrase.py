"""Paraphrases: losses and steps against slow twins and numeric gradients, and what is particular to the method."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from estimators import learned
from kernel_cases import tiny_text
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import MeanEmbeddingVectorizer, PairCorpus, ParaphraseVectorizer, SentenceCorpus
from skembed._base.paired import texts_of
from skembed._corpus.pairs import LARGEST_COMPONENT, linked
from skembed._encoders.word_sums import Moves, WordSums
from skembed._objectives.paraphrase import HingeLoss, SoftmaxLoss
from skembed._training.pairs import Evidence, PairTrainer, exclude, hold_out_clusters

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

PAIRS = [
    ("A cat sat on the mat.", "A kitten is on the rug"),
    ("Rain fell all day", "It rained the whole day"),
    ("Cheap flights to Rome", "Low cost air tickets to Rome"),
    ("I want to rent a car", "Car hire, please"),
    ("The bank lends money", "Loans from a bank"),
    ("He bakes bread", "Bread comes out of his oven"),
    ("A cat sat on the mat.", "There is a cat on the mat"),
    ("The train is late", "A delay of the train"),
] * 4
FAST = {"n_components": 8, "max_iter": 3, "random_state": 0}
WORDS = sorted({word for pair in PAIRS for side in pair for word in side.lower().strip(".").split()} - {"oven", "car"})
GIVEN = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 10)).astype(np.float32)))
GIVEN["never"] = np.ones(10, np.float32)
SENTENCES = [sentence for pair in PAIRS[:8] for sentence in pair]
TOPICS = [i // 4 for i in range(16)]


def block(n, d, seed=0):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(2 * n, d)).astype(np.float32)
    excluded = random.random((n, n)) < 0.2
    excluded = excluded | excluded.T | np.eye(n, dtype=bool)
    if n > 2:
        excluded[1] = excluded[:, 1] = True  # a pair without negatives
    return vectors, excluded


LOSSES = {
    "softmax": (SoftmaxLoss(0.3), lambda v, x: reference.paraphrase_softmax(v, x, 0.3)),
    "hinge": (HingeLoss(0.4), lambda v, x: reference.paraphrase_hinge(v, x, 0.4)),
}


@pytest.mark.kernel
@pytest.mark.parametrize(("n", "d"), [(1, 5), (5, 16), (6, 21), (17, 40)])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_and_its_gradient_are_the_twins(name, n, d):
    loss, twin = LOSSES[name]
    vectors, excluded = block(n, d)
    doubles = vectors.astype(np.float64)
    expected, n_targets = twin(doubles, excluded)
    found = loss(vectors, excluded, True)
    assert found.n_targets == n_targets and (n_targets > 0) == (n > 2)
    np.testing.assert_allclose(found.loss, expected, rtol=1e-5, atol=1e-5)
    assert loss(vectors, excluded, False).loss == found.loss
    numeric = reference.numeric_gradient(lambda: twin(doubles, excluded)[0], doubles, 1e-6)
    np.testing.assert_allclose(found.gradient, numeric, rtol=1e-3, atol=1e-4)
    assert n == 1 or np.abs(numeric).max() > 0.05


def test_a_vector_of_zeros_has_no_gradient():
    vectors, excluded = block(3, 5)
    vectors[2] = 0
    for loss, _ in LOSSES.values():
        assert np.isfinite(loss(vectors, np.eye(3, dtype=bool), True).gradient).all()


MOVES = {
    "both": Moves(True, True, True),
    "directions": Moves(True, False, True),
    "weights": Moves(False, True, True),
    "vectors": Moves(True, False, False),
}


def words_of(d, moves):
    random = np.random.default_rng(1)
    start = random.normal(size=(9, d)).astype(np.float32)
    fitted = {
        "_directions": start * random.uniform(0.9, 1.1, (9, 1)).astype(np.float32),
        "_scales": random.uniform(0.5, 1.5, 9).astype(np.float32),
        "_start_vectors": start,
        "_n_steps": 4,
    }
    if moves.directions:
        fitted["_directions_accumulator"] = random.uniform(0.0, 1e-2, (2, 9, d)).astype(np.float32)
    if moves.scales:
        fitted["_scales_accumulator"] = random.uniform(0.0, 1e-2, (2, 9)).astype(np.float32)
    return fitted


@pytest.mark.kernel
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("d", [5, 16, 40])
@pytest.mark.parametrize("learn", MOVES)
def test_sums_and_steps_are_the_twins(learn, d, alpha):
    text, slow = tiny_text()
    fitted = words_of(d, MOVES[learn])
    doubles = {
        "directions": fitted["_directions"].astype(np.float64),
        "scales": fitted["_scales"].astype(np.float64),
        "start": fitted["_start_vectors"].astype(np.float64),
        "direction_moments": fitted.get("_directions_accumulator", np.zeros((2, 0, d))).astype(np.float64),
        "scale_moments": fitted.get("_scales_accumulator", np.zeros((2, 0))).astype(np.float64),
    }
    which = np.array([0, 1, 3, 6, 8, 0])
    known = [[word for word in slow.sentences[i] if word < 9] for i in which]
    encoder = WordSums(fitted, MOVES[learn], alpha, 0.0)
    sums = encoder.encode(text, which, 0, True)
    expected = [sum((doubles["scales"][w] * doubles["directions"][w] for w in words), np.zeros(d)) for words in known]
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-6)

    gradient = np.random.default_rng(2).normal(size=sums.shape).astype(np.float32)
    unit = np.median(np.linalg.norm(doubles["start"], axis=1))
    reference.step_words(known, gradient, doubles, MOVES[learn], (0.01 * unit, 0.01 * d**0.5), alpha, 5)
    encoder.step(gradient, 0.01)
    assert fitted["_n_steps"] == 5
    np.testing.assert_allclose(fitted["_directions"], doubles["directions"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fitted["_scales"], doubles["scales"], rtol=1e-4, atol=1e-5)
    for name, twin in (("_directions_accumulator", "direction_moments"), ("_scales_accumulator", "scale_moments")):
        if name in fitted:
            np.testing.assert_allclose(fitted[name], doubles[twin], rtol=1e-3, atol=1e-6)


@pytest.mark.kernel
def test_dropped_words():
    text, slow = tiny_text()
    fitted = words_of(5, MOVES["both"])
    which = np.arange(len(slow.sentences))
    n_words = [sum(word < 9 for word in sentence) for sentence in slow.sentences]
    kept = []
    for seed in range(200):
        encoder = WordSums(fitted, MOVES["both"], 0.0, 0.5)
        rows = encoder.encode(text, which, seed, True)
        assert (encoder.encode(text, which, seed, True) == rows).all()
        of_sentence = np.diff(encoder._entries.ptr[: len(which) + 1])
        assert ((of_sentence > 0) == (np.array(n_words) > 0)).all()  # never all words of a sentence
        kept.append(of_sentence[0] / n_words[0])
        encoder.encode(text, which, seed, False)
        assert np.diff(encoder._entries.ptr[: len(which) + 1]).tolist() == n_words
    assert 0.45 < np.mean(kept) < 0.55


@pytest.mark.kernel
def test_what_is_excluded():
    #                     pair 0      pair 1      pair 2      pair 3
    text = np.array([0, 1, 2, 3, 1, 5, 6, 7])
    cluster = np.array([0, 0, 1, 1, 2, 2, 1, 1])
    excluded = np.zeros((4, 4), bool)
    exclude(cluster[::2].copy(), text[::2].copy(), text[1::2].copy(), excluded)
    expected = np.eye(4, dtype=bool)
    expected[0, 2] = expected[2, 0] = True  # share text 1
    expected[1, 3] = expected[3, 1] = True  # are of one cluster
    np.testing.assert_array_equal(excluded, expected)


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


def test_pairs_of_a_pass():
    evidence = Evidence(np.array([2, 0, 0, 1, 1, 1, 1, 1, 3]), *[np.zeros(9, np.int64)] * 3)
    trainer = PairTrainer(None, None, 2, 0)
    text, _ = tiny_text()
    text = text._replace(
        tokens=np.array([0, 1, 2, 3, 4, 70000, 5, 6, 7], np.int32),
        sent_ptr=np.arange(10),
        document=np.arange(9),
        annotations=tuple(evidence),
    )
    seen = set()
    for epoch in range(50):
        plan = trainer.plan(text, epoch)
        pairs = sorted(map(sorted, zip(plan.run_starts.tolist(), plan.partners.tolist())))
        assert len(pairs) == 3  # one of group 0, two of the four known sentences of group 1
        assert [1, 2] in pairs
        seen |= {tuple(pair) for pair in pairs}
    assert seen == {(1, 2), *((a, b) for a in (3, 4, 6, 7) for b in (3, 4, 6, 7) if a < b)}


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


def test_pairs_come_closer():
    model = ParaphraseVectorizer(**{**FAST, "max_iter": 60, "learning_rate": 0.01}).fit(PAIRS)
    for first, second in PAIRS[:6]:
        others = [other for pair in PAIRS[:6] if pair[0] != first for other in pair]
        assert model.similarity(first, second) > max(model.similarity(first, other) for other in others)
    assert model.loss_curve_[-1] < 0.1 * model.loss_curve_[0]


def test_equal_y_means_paraphrases():
    model = ParaphraseVectorizer(**{**FAST, "max_iter": 60, "learning_rate": 0.01}).fit(SENTENCES, TOPICS)
    rows = model.transform(SENTENCES)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    same = np.equal.outer(TOPICS, TOPICS)
    assert cosines[same].mean() > cosines[~same].mean() + 0.5
    names = [f"topic {topic}" for topic in TOPICS]
    assert learned(ParaphraseVectorizer(**FAST).fit(SENTENCES, names)) == learned(
        ParaphraseVectorizer(**FAST).fit(SentenceCorpus.from_sentences(SENTENCES, TOPICS))
    )
    in_groups = ParaphraseVectorizer(**FAST).fit(SENTENCES, [0] * 16, groups=TOPICS)
    assert learned(in_groups) == learned(ParaphraseVectorizer(**FAST).fit(SENTENCES, TOPICS))


def test_in_a_pipeline():
    model = make_pipeline(ParaphraseVectorizer(**FAST), LinearSVC(random_state=0))
    assert cross_val_score(model, SENTENCES * 3, [topic // 2 for topic in TOPICS] * 3, cv=3).mean() > 0.8


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
        (SENTENCES, [None, *TOPICS[1:]], "y has no label in row 0"),
        (lambda: PairCorpus.from_pairs(PAIRS), [0] * len(PAIRS), "must be None where X is pairs"),
    ],
)
def test_errors_say_what_is_wrong(X, y, message):
    model = ParaphraseVectorizer(**FAST)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X() if callable(X) else X, y)
    assert not hasattr(model, "vocabulary_")


def test_it_starts_where_a_model_stands():
    source = MeanEmbeddingVectorizer(word_vectors=GIVEN, weighting="sif", hash_numbers=True).fit(SENTENCES)
    model = ParaphraseVectorizer(init=source, learning_rate=1e-12, **FAST).fit(PAIRS)
    text = ["the cat and a dog", "soup", "never heard of 1914", "rain in the station"]
    cosine = (model.transform(text) * source.transform(text)).sum(axis=1)
    norms = [np.linalg.norm(m.transform(text), axis=1) for m in (model, source)]
    np.testing.assert_allclose(cosine / norms[0] / norms[1], 1, atol=1e-5)
    assert model.n_features_out_ == 10 and set(model.vocabulary_) > set(source.vocabulary_)


def test_direction_and_length_are_apart():
    start = ParaphraseVectorizer(**FAST, learning_rate=1e-12).fit(PAIRS)
    lengths = np.linalg.norm(start.word_vectors_, axis=1)
    found = {learn: ParaphraseVectorizer(**FAST, learn=learn).fit(PAIRS) for learn in MOVES}
    moved = {learn: np.abs(m.word_vectors_ - start.word_vectors_).max() > 1e-4 for learn, m in found.items()}
    weighed = {learn: np.abs(m.word_weights_ - 1).max() > 1e-4 for learn, m in found.items()}
    kept = {learn: np.allclose(np.linalg.norm(m.word_vectors_, axis=1), lengths) for learn, m in found.items()}
    assert moved == {"both": True, "directions": True, "weights": False, "vectors": True}
    assert weighed == {"both": True, "directions": False, "weights": True, "vectors": False}
    assert kept == {"both": True, "directions": True, "weights": True, "vectors": False}


def test_part_of_the_way():
    start, end = (ParaphraseVectorizer(init=GIVEN, interpolation=part, **FAST).fit(PAIRS) for part in (0.0, 1.0))
    rows = [GIVEN[word] for word in list(GIVEN)]
    np.testing.assert_allclose(start.word_vectors_[: len(rows)], rows, rtol=1e-5)
    assert (start.word_weights_ == 1).all() and (end.word_weights_ != 1).any()
    half = ParaphraseVectorizer(init=GIVEN, interpolation=0.5, **FAST).fit(PAIRS)
    np.testing.assert_allclose(half.word_weights_, (1 + end.word_weights_) / 2, rtol=1e-5)
    np.testing.assert_allclose(*(np.linalg.norm(m.word_vectors_, axis=1) for m in (half, start)), rtol=1e-5)
    # What is learned next goes on from the end of the way.
    again = [copy.deepcopy(m).partial_fit(PAIRS) for m in (half, end)]
    assert (again[0]._directions == again[1]._directions).all()


def test_alpha_holds_the_vectors():
    free, held = (ParaphraseVectorizer(init=GIVEN, alpha=alpha, **FAST).fit(PAIRS) for alpha in (0.0, 10.0))
    way = [np.linalg.norm(m._directions - m._start_vectors) for m in (free, held)]
    assert way[1] < 0.8 * way[0]


def test_sets_are_learned_one_after_the_other():
    words = PairCorpus.from_pairs([("cat", "kitten"), ("rain", "storm"), ("loan", "credit")] * 8)
    sentences = PairCorpus.from_pairs(PAIRS)
    model = ParaphraseVectorizer(**FAST).fit([words, sentences])
    assert model.n_iter_ == 6 and {"kitten", "credit", "oven"} <= set(model.vocabulary_)
    count = dict(zip(model.vocabulary_, model.word_counts_))
    assert count["kitten"] == 8 + 4
    assert model.loss_curve_[2] < model.loss_curve_[0] and model.loss_curve_[5] < model.loss_curve_[3]
    again = copy.deepcopy(model).partial_fit([words, sentences])
    assert again.n_iter_ == 8
    with pytest.raises(ValueError, match=r"X\[1\] was made with other options than X\[0\]"):
        model.fit([words, PairCorpus.from_pairs(PAIRS, stop_words="english")])


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


@pytest.mark.parametrize("loss", ["softmax", "hinge"])
def test_divergence_changes_nothing(loss):
    model = ParaphraseVectorizer(**FAST, loss=loss, learn="vectors", warm_start=True).fit(PAIRS)
    before = learned(model)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e12, temperature=1e-3).fit(PAIRS)
    assert learned(model) == before


def test_a_batch_of_unknown_words_changes_nothing():
    model = ParaphraseVectorizer(**FAST).fit(PAIRS)
    before = model.word_vectors_.copy()
    with pytest.warns(UserWarning, match="found nothing to predict in the text"):
        model.partial_fit([("qqq", "zzz"), ("xxx", "yyy")], new_words="ignore")
    assert (model.word_vectors_ == before).all()


def test_memory_is_what_a_fit_has():
    pairs = PairCorpus.from_pairs(PAIRS)
    memory = ParaphraseVectorizer(**FAST).estimate_memory(pairs)
    model = ParaphraseVectorizer(**FAST).fit(pairs)
    arrays = (model._directions, model._scales, model._start_vectors)
    assert memory["weights"] == sum(array.nbytes for array in arrays)
    assert memory["accumulators"] == model._directions_accumulator.nbytes + model._scales_accumulator.nbytes
    assert memory == ParaphraseVectorizer(**FAST).estimate_memory(PAIRS)
    assert memory["total"] == sum(size for part, size in memory.items() if part != "total")


def test_held_out_pairs_are_not_learned_from():
    pairs = [(f"a{i} b{i} c{i}", f"a{i} d{i}") for i in range(40)]
    options = FAST | {"early_stopping": True, "tol": 0.0}
    first = ParaphraseVectorizer(**options).fit(pairs)
    group = np.repeat(np.arange(40), 2)
    held = hold_out_clusters(Evidence(group, group, np.arange(80), np.zeros(80, np.int64)), 0.1, first._seed)[::2]
    assert held.sum() == 4
    # The same words in other sentences, so that the vectors start the same.
    others = [(f"a{i} a{i} d{i}", f"b{i} c{i}") if out else pair for i, (pair, out) in enumerate(zip(pairs, held))]
    other = ParaphraseVectorizer(**options).fit(others)
    assert first.vocabulary_ == other.vocabulary_
    assert first.validation_loss_curve_ != other.validation_loss_curve_
    assert (first.word_vectors_ == other.word_vectors_).all() and (first._scales == other._scales).all()


@pytest.mark.parametrize("more", [{"y": [0, 0]}, {"groups": [0, 0]}])
def test_pairs_have_no_labels(more):
    with pytest.raises(ValueError, match="must be None where X is pairs"):
        ParaphraseVectorizer().fit([("a b", "c d"), ("e f", "g h")], **more)


def test_a_hinge_loss_of_zero_is_a_success(recwarn):
    pairs = [("a cat", "a cat sleeps"), ("b dog", "b dog barks"), ("rain", "rain falls"), ("sun", "sun shines")] * 4
    model = ParaphraseVectorizer(20, loss="hinge", margin=0.01, min_count=1, max_iter=30, random_state=0).fit(pairs)
    assert model.loss_curve_[-1] == 0.0 and not recwarn
