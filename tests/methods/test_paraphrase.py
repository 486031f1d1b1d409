"""Paraphrases: losses and steps against slow twins and numeric gradients, and what is particular to the method."""

import copy

import numpy as np
import pytest
import reference
from estimators import learned
from kernel_cases import tiny_text
from paraphrases import FAST, PAIRS, SENTENCES, TOPICS
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from skembed import MeanEmbeddingVectorizer, PairCorpus, ParaphraseVectorizer, SentenceCorpus
from skembed._encoders.word_sums import Moves, WordSums
from skembed._objectives.paraphrase import HingeLoss, SoftmaxLoss
from skembed._training.pairs import Evidence, PairTrainer, exclude
from skembed._training.state import FittedState
from skembed._training.trainer import HELD_OUT_PASS

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

WORDS = sorted({word for pair in PAIRS for side in pair for word in side.lower().strip(".").split()} - {"oven", "car"})
GIVEN = dict(zip(WORDS, np.random.default_rng(1).normal(size=(len(WORDS), 10)).astype(np.float32)))
GIVEN["never"] = np.ones(10, np.float32)
AS_GIVEN = FAST | {"n_components": 10}


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
@pytest.mark.parametrize(("n", "d"), [(1, 5), (5, 16), (17, 21)])
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
        fitted["_directions_accumulator"] = random.uniform(0.0, 1e-2, (9, 2, d)).astype(np.float32)
    if moves.scales:
        fitted["_scales_accumulator"] = random.uniform(0.0, 1e-2, (9, 2)).astype(np.float32)
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
        "direction_moments": fitted.get("_directions_accumulator", np.zeros((0, 2, d))).astype(np.float64),
        "scale_moments": fitted.get("_scales_accumulator", np.zeros((0, 2))).astype(np.float64),
    }
    which = np.array([0, 1, 3, 6, 8, 0])
    known = [[word for word in slow.sentences[i] if word < 9] for i in which]
    encoder = WordSums(FittedState.of(fitted), MOVES[learn], alpha, 0.0)
    sums = encoder.encode(text, which, 0, True)
    expected = [sum((doubles["scales"][w] * doubles["directions"][w] for w in words), np.zeros(d)) for words in known]
    np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-6)

    gradient = np.random.default_rng(2).normal(size=sums.shape).astype(np.float32)
    unit = np.median(np.linalg.norm(doubles["start"], axis=1))
    reference.step_words(known, gradient, doubles, MOVES[learn], (0.01 * unit, 0.01 * d**0.5), alpha, 5)
    encoder.step(gradient, 0.01)
    assert encoder.n_steps == 5
    np.testing.assert_allclose(fitted["_directions"], doubles["directions"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(fitted["_scales"], doubles["scales"], rtol=1e-4, atol=1e-5)
    for name, twin in (("_directions_accumulator", "direction_moments"), ("_scales_accumulator", "scale_moments")):
        if name in fitted:
            np.testing.assert_allclose(fitted[name], doubles[twin], rtol=1e-3, atol=1e-6)


@pytest.mark.kernel
def test_memory_of_a_block_is_what_its_sums_have():
    text, _ = tiny_text()
    encoder, which = WordSums(FittedState.of(words_of(5, MOVES["both"])), MOVES["both"], 0.0, 0.0), np.arange(4)
    encoder.encode(text, which, 0, True)
    *arrays, buffer = encoder._entries
    of_words = sum(array.nbytes for array in arrays) - encoder._entries.ptr.nbytes  # which has a number a sentence
    assert buffer.nbytes < 100 and encoder.scratch_bytes(4, int(text.sent_ptr[4])) == of_words


@pytest.mark.kernel
def test_dropped_words():
    text, slow = tiny_text()
    fitted = words_of(5, MOVES["both"])
    which = np.arange(len(slow.sentences))
    n_words = [sum(word < 9 for word in sentence) for sentence in slow.sentences]
    kept = []
    for seed in range(200):
        encoder = WordSums(FittedState.of(fitted), MOVES["both"], 0.0, 0.5)
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
        pairs = sorted(map(sorted, zip(plan.firsts.tolist(), plan.partners.tolist())))
        assert len(pairs) == 3  # one of group 0, two of the four known sentences of group 1
        assert [1, 2] in pairs
        seen |= {tuple(pair) for pair in pairs}
    assert seen == {(1, 2), *((a, b) for a in (3, 4, 6, 7) for b in (3, 4, 6, 7) if a < b)}


@pytest.mark.parametrize(
    ("epoch", "number"), [(3, 0), (4, 0), (5, 1), (6, 1), (HELD_OUT_PASS, 0), (HELD_OUT_PASS + 1, 1)]
)
def test_each_set_has_its_passes_and_its_held_out_pairs(epoch, number):
    """Two passes a set, after three of an earlier fit."""
    zeros = np.zeros(8, np.int64)
    evidence = Evidence(group=np.arange(8) // 2, set=np.arange(8) // 4, cluster=zeros, text=zeros)
    text, _ = tiny_text()
    text = text._replace(
        tokens=np.arange(8, dtype=np.int32), sent_ptr=np.arange(9), document=np.arange(8), annotations=tuple(evidence)
    )
    plan = PairTrainer(None, None, 2, 0, first_pass=3, passes=2).plan(text, epoch)
    assert {*plan.firsts, *plan.partners} == {*range(4 * number, 4 * number + 4)}


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


def test_it_starts_where_a_model_stands():
    source = MeanEmbeddingVectorizer(word_vectors=GIVEN, weighting="sif", hash_numbers=True).fit(SENTENCES)
    model = ParaphraseVectorizer(init=source, learning_rate=1e-12, **AS_GIVEN).fit(PAIRS)
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
    start, end = (ParaphraseVectorizer(init=GIVEN, interpolation=part, **AS_GIVEN).fit(PAIRS) for part in (0.0, 1.0))
    rows = [GIVEN[word] for word in list(GIVEN)]
    np.testing.assert_allclose(start.word_vectors_[: len(rows)], rows, rtol=1e-5)
    assert (start.word_weights_ == 1).all() and (end.word_weights_ != 1).any()
    half = ParaphraseVectorizer(init=GIVEN, interpolation=0.5, **AS_GIVEN).fit(PAIRS)
    np.testing.assert_allclose(half.word_weights_, (1 + end.word_weights_) / 2, rtol=1e-5)
    np.testing.assert_allclose(*(np.linalg.norm(m.word_vectors_, axis=1) for m in (half, start)), rtol=1e-5)
    # What is learned next goes on from the end of the way.
    again = [copy.deepcopy(m).partial_fit(PAIRS) for m in (half, end)]
    assert (again[0]._state.arrays["_directions"] == again[1]._state.arrays["_directions"]).all()


def test_alpha_holds_the_vectors():
    free, held = (ParaphraseVectorizer(init=GIVEN, alpha=alpha, **AS_GIVEN).fit(PAIRS) for alpha in (0.0, 10.0))
    way = [np.linalg.norm(m._state.arrays["_directions"] - m._state.arrays["_start_vectors"]) for m in (free, held)]
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
    arrays = (model._state.arrays["_directions"], model._state.arrays["_scales"], model._state.arrays["_start_vectors"])
    assert memory["weights"] == sum(array.nbytes for array in arrays)
    assert memory["accumulators"] == sum(
        model._state.arrays[f"_{name}_accumulator"].nbytes for name in ("directions", "scales")
    )
    assert memory == ParaphraseVectorizer(**FAST).estimate_memory(PAIRS)
    assert memory["total"] == sum(size for part, size in memory.items() if part != "total")


def test_a_hinge_loss_of_zero_is_a_success(recwarn):
    pairs = [("a cat", "a cat sleeps"), ("b dog", "b dog barks"), ("rain", "rain falls"), ("sun", "sun shines")] * 4
    model = ParaphraseVectorizer(20, loss="hinge", margin=0.01, min_count=1, max_iter=30, random_state=0).fit(pairs)
    assert model.loss_curve_[-1] == 0.0 and not recwarn
